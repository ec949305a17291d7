//! What is on its way to the outside, in the order in which it goes.
//!
//! Little output is copied into a frame. Of much output only the frame's head is made here: the
//! bytes are moved from pipe to pipe and never come into this process. They pass through a pipe
//! of our own, because code can take back what stands in its pipe and not what stands in ours.

use crate::buffer::Buffer;
use crate::claim::Claim;
use crate::frame::{encode, encode_parts, head};
use crate::kernel::{Kernel, NextClaim, PIECE, ROOM, Received, Stream, noise_before_claim};
use crate::message::{Outward, STDERR, STDOUT};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, SpliceFFlags, fcntl, splice};
use nix::unistd::{pipe2, write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Kernels are read only while less than this waits to be sent. One claim and what the pipes
/// hold may come on top of it.
const ENOUGH: usize = 1 << 20;

/// The most that is read of a dead kernel's socket, which a child of it may still write to.
const LAST_WORDS: usize = 1 << 20;

/// Said where the code's own errors go, because it is the code's doing.
const TOO_LONG: &[u8] =
    b"the code wrote too much to the kernel's control socket; the kernel ends\n";

/// The most that is moved in one frame. Whoever takes it in then has the last in its cache.
const FREIGHT: usize = 256 << 10;

/// Whether the stream to the outside goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Connection {
    Open,
    Ended,
}

/// What waits to be sent.
#[derive(Debug)]
pub(crate) struct Outgoing {
    /// What is being moved, if there was ever so much; goes before the frames.
    freight: Option<Freight>,
    frames: Buffer,
    pub(crate) scratch: Vec<u8>,
    /// Whose last piece was as long as a piece can be: there may be much more.
    much: Option<(u32, Stream)>,
}

impl Default for Outgoing {
    fn default() -> Self {
        let (freight, frames, much) = (None, Buffer::default(), None);
        Self { freight, frames, scratch: vec![0; PIECE], much }
    }
}

impl Outgoing {
    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.frames.is_empty() && self.freight.as_ref().is_none_or(Freight::is_empty)
    }

    pub(crate) fn has_room(&self) -> bool {
        self.frames.len() < ENOUGH && self.freight.as_ref().is_none_or(Freight::is_empty)
    }

    pub(crate) fn push(&mut self, message: &Outward) {
        encode(message, self.frames.end()).expect("what the host says is bounded where it arises");
    }

    /// Sends as much as the stream takes.
    pub(crate) fn send(&mut self, output: &OwnedFd) -> Connection {
        if let Some(freight) = &mut self.freight {
            match freight.send(output) {
                Ok(()) | Err(Errno::EAGAIN) => {}
                // Nobody reads any more.
                Err(_) => return Connection::Ended,
            }
            if !freight.is_empty() {
                return Connection::Open;
            }
        }
        while !self.frames.is_empty() {
            match write(output, self.frames.unused()) {
                Ok(count) => self.frames.consume(count),
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => break,
                Err(_) => return Connection::Ended,
            }
        }
        Connection::Open
    }

    /// Passes on what a driver said, each line after all output that was written before it.
    pub(crate) fn forward_claims(&mut self, number: u32, kernel: &mut Kernel) {
        while self.has_room() {
            match kernel.next_claim() {
                NextClaim::Line(line) => {
                    let claim = &line[noise_before_claim(&line)..];
                    let finished = matches!(Claim::parse(claim), Ok(Claim::Finished { .. }));
                    self.drain(number, kernel);
                    if finished {
                        kernel.finish_cell();
                        self.tell_of_closed_pipes(number, kernel);
                    }
                    self.push_claim(number, &line);
                }
                NextClaim::None => return,
                NextClaim::TooLong => {
                    self.drain(number, kernel);
                    self.push(&Outward::Stderr { kernel: number, bytes: TOO_LONG.to_vec() });
                    return kernel.silence();
                }
            }
        }
    }

    /// Says once that a kernel's output is not seen any more, where its errors would be.
    fn tell_of_closed_pipes(&mut self, number: u32, kernel: &mut Kernel) {
        for stream in kernel.newly_closed() {
            let name = match stream {
                Stream::Stdout => "standard output",
                Stream::Stderr => "standard error",
            };
            let text = format!(
                "the code closed this interpreter's {name} or led it elsewhere: what is written \
                 there is not seen here; when the interpreter exits, a fresh one begins\n"
            );
            self.push(&Outward::Stderr { kernel: number, bytes: text.into_bytes() });
        }
    }

    /// Passes on what a dead kernel had still written.
    pub(crate) fn last_words(&mut self, number: u32, kernel: &mut Kernel) {
        let mut left = LAST_WORDS;
        while let Received::Bytes(count) = kernel.receive_claims(&mut self.scratch) {
            left = left.saturating_sub(count);
            if left == 0 {
                break;
            }
        }
        // Before the claims and not for each: nothing is written any more.
        self.drain(number, kernel);
        while let NextClaim::Line(line) = kernel.next_claim() {
            self.push_claim(number, &line);
        }
    }

    /// Passes a line on, in two parts where a claim stands behind noise.
    fn push_claim(&mut self, kernel: u32, line: &[u8]) {
        let (noise, claim) = line.split_at(noise_before_claim(line));
        if !noise.is_empty() {
            self.push(&Outward::Claim { kernel, claim: noise.to_vec() });
        }
        self.push(&Outward::Claim { kernel, claim: claim.to_vec() });
    }

    /// Passes on what is in the pipes now, and not what comes after it.
    fn drain(&mut self, number: u32, kernel: &mut Kernel) {
        for stream in Stream::BOTH {
            let mut left = kernel.capacity(stream);
            while left > 0 {
                match self.forward_output(number, kernel, stream, left) {
                    Received::Bytes(count) => left = left.saturating_sub(count),
                    Received::Nothing | Received::End => break,
                }
            }
        }
    }

    /// Passes on one piece of output.
    pub(crate) fn forward_output(
        &mut self,
        number: u32,
        kernel: &mut Kernel,
        stream: Stream,
        most: usize,
    ) -> Received {
        let kind = match stream {
            Stream::Stdout => STDOUT,
            Stream::Stderr => STDERR,
        };
        let much = self.much == Some((number, stream)) && self.is_empty();
        if much && self.freight.is_none() {
            // Where there is no pipe to be had, everything is copied.
            self.freight = Freight::new().ok();
        }
        let received = match &mut self.freight {
            Some(freight) if much => freight.take(number, kind, kernel, stream, most),
            Some(_) | None => self.copy(number, kind, kernel, stream, most),
        };
        match received {
            Received::Bytes(count) if count >= PIECE => self.much = Some((number, stream)),
            Received::Bytes(_) | Received::Nothing | Received::End if much => self.much = None,
            Received::Bytes(_) | Received::Nothing | Received::End => {}
        }
        received
    }

    /// Copies one piece of output into a frame.
    fn copy(
        &mut self,
        number: u32,
        kind: u8,
        kernel: &mut Kernel,
        stream: Stream,
        most: usize,
    ) -> Received {
        let most = most.min(self.scratch.len());
        let received = kernel.receive(stream, &mut self.scratch[..most]);
        if let Received::Bytes(count) = received {
            encode_parts::<Outward>(kind, number, &self.scratch[..count], self.frames.end())
                .expect("a piece is shorter than the longest output");
        }
        received
    }
}

/// One frame of much output: its head, and its bytes in a pipe of our own.
#[derive(Debug)]
struct Freight {
    head: Buffer,
    /// Bytes in the pipe.
    left: usize,
    into: OwnedFd,
    from: OwnedFd,
}

impl Freight {
    fn new() -> Result<Self, Errno> {
        let (from, into) = pipe2(OFlag::O_CLOEXEC | OFlag::O_NONBLOCK)?;
        // Where it is refused the usual size does.
        fcntl(&into, FcntlArg::F_SETPIPE_SZ(ROOM)).unwrap_or_default();
        Ok(Self { head: Buffer::default(), left: 0, into, from })
    }

    fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// Takes what stands in a kernel's pipe, as far as there is room. There must be nothing left.
    fn take(
        &mut self,
        number: u32,
        kind: u8,
        kernel: &mut Kernel,
        stream: Stream,
        most: usize,
    ) -> Received {
        let most = most.min(FREIGHT);
        let received = kernel.take(stream, |pipe| moved(pipe, self.into.as_fd(), most));
        if let Received::Bytes(count) = received {
            self.head.push(&head(kind, number, count));
            self.left = count;
        }
        received
    }

    /// Sends as much as the stream takes, until nothing is left.
    fn send(&mut self, output: &OwnedFd) -> Result<(), Errno> {
        while !self.head.is_empty() {
            match write(output, self.head.unused()) {
                Ok(count) => self.head.consume(count),
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error),
            }
        }
        while self.left > 0 {
            match moved(self.from.as_fd(), output.as_fd(), self.left) {
                Ok(0) => return Err(Errno::EPIPE),
                Ok(count) => self.left -= count,
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Moves bytes from a pipe, without waiting.
fn moved(from: BorrowedFd<'_>, to: BorrowedFd<'_>, most: usize) -> Result<usize, Errno> {
    splice(
        from,
        None,
        to,
        None,
        most,
        SpliceFFlags::SPLICE_F_NONBLOCK | SpliceFFlags::SPLICE_F_MOVE,
    )
}
