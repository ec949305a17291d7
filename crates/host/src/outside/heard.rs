//! Everything that arrives from inside, in the order in which it is passed on.
//!
//! Output that was written before a claim, or before a death, comes before it.

use super::wires::{Received, Stream, Wires, noise_before_claim};
use crate::wire::Outward;
use std::collections::VecDeque;

/// Drivers are listened to only while less than this waits to be told. One claim and what the
/// pipes hold may come on top of it.
pub(crate) const ENOUGH: usize = 1 << 20;

/// The most that is read from a pipe at the end of a cell: what an unprivileged process can make
/// a pipe hold. Whatever writes on without end must not keep the end from being told.
const DRAINED: usize = 1 << 20;

/// The most writes that such a pipe can hold: one for each of its pages.
const WRITES: usize = DRAINED / 4096;

/// A message from inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// A kernel, or a program it started, wrote to its stdout.
    Stdout {
        /// The number of the kernel.
        kernel: u32,
        /// The bytes as they were written.
        bytes: Vec<u8>,
    },
    /// A kernel, or a program it started, wrote to its stderr.
    Stderr {
        /// The number of the kernel.
        kernel: u32,
        /// The bytes as they were written.
        bytes: Vec<u8>,
    },
    /// A kernel's driver said something, perhaps a [`crate::Claim`]. All output that was written
    /// before it has come before it.
    Claim {
        /// The number of the kernel.
        kernel: u32,
        /// One line, without its newline, as it came.
        claim: Vec<u8>,
    },
    /// A kernel's driver cannot be reached any more, so somebody has to kill it.
    Lost {
        /// The number of the kernel.
        kernel: u32,
        /// The number of its process inside.
        process: u32,
    },
    /// The host said something.
    Told(Outward),
}

/// Messages that were received and not fetched yet.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    heard: VecDeque<Heard>,
    pub(crate) size: usize,
}

impl Queue {
    pub(crate) fn push(&mut self, heard: Heard) {
        self.size += Self::size_of(&heard);
        self.heard.push_back(heard);
    }

    pub(crate) fn pop(&mut self) -> Option<Heard> {
        let heard = self.heard.pop_front()?;
        self.size -= Self::size_of(&heard);
        Some(heard)
    }

    /// With what each takes beside its bytes, so that many tiny ones are as few as they are heavy.
    fn size_of(heard: &Heard) -> usize {
        size_of::<Heard>()
            + match heard {
                Heard::Stdout { bytes, .. } | Heard::Stderr { bytes, .. } => bytes.len(),
                Heard::Claim { claim, .. } => claim.len(),
                Heard::Lost { .. } | Heard::Told(_) => 0,
            }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.heard.is_empty()
    }

    pub(crate) fn has_room(&self) -> bool {
        self.size < ENOUGH
    }
}

/// Passes on one piece of output: how many bytes.
pub(crate) fn receive_piece(
    kernel: u32,
    wires: &mut Wires,
    stream: Stream,
    scratch: &mut [u8],
    heard: &mut Queue,
) -> usize {
    let Received::Bytes(bytes) = wires.receive(stream, scratch) else { return 0 };
    let count = bytes.len();
    heard.push(match stream {
        Stream::Stdout => Heard::Stdout { kernel, bytes },
        Stream::Stderr => Heard::Stderr { kernel, bytes },
    });
    count
}

/// Passes on what is in the pipes now, and little of what comes after it.
pub(crate) fn drain(kernel: u32, wires: &mut Wires, scratch: &mut [u8], heard: &mut Queue) {
    for stream in Stream::BOTH {
        let mut left = DRAINED;
        // Not until a piece is short: code can have its pipe give one write at a time.
        for _ in 0..WRITES {
            let count = receive_piece(kernel, wires, stream, scratch, heard);
            left = left.saturating_sub(count);
            if count == 0 || left == 0 {
                break;
            }
        }
    }
}

/// Says once that a kernel's output is not seen any more, where its errors would be.
pub(crate) fn tell_of_closed_pipes(kernel: u32, wires: &mut Wires, heard: &mut Queue) {
    for stream in wires.newly_closed() {
        let name = match stream {
            Stream::Stdout => "standard output",
            Stream::Stderr => "standard error",
        };
        let text = format!(
            "the code closed this interpreter's {name} or led it elsewhere: what is written \
             there is not seen here; when the interpreter exits, a fresh one begins\n"
        );
        heard.push(Heard::Stderr { kernel, bytes: text.into_bytes() });
    }
}

/// Passes a line on, in two parts where a claim stands behind noise.
pub(crate) fn push_claim(kernel: u32, mut line: Vec<u8>, heard: &mut Queue) {
    let claim = line.split_off(noise_before_claim(&line));
    if !line.is_empty() {
        heard.push(Heard::Claim { kernel, claim: line });
    }
    heard.push(Heard::Claim { kernel, claim });
}
