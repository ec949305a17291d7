//! What is on its way to the outside, in the order in which it goes: frames, and the descriptors
//! that go with some of them.

use crate::frame::encode;
use crate::kernel::Ends;
use crate::message::Outward;
use nix::errno::Errno;
use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg};
use std::collections::VecDeque;
use std::io::IoSlice;
use std::os::fd::{AsRawFd, OwnedFd};

/// Whether the stream to the outside goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Connection {
    Open,
    Ended,
}

/// What waits to be sent. Whoever asks for something asks for little, so there is little.
#[derive(Debug, Default)]
pub(crate) struct Outgoing(VecDeque<Waiting>);

#[derive(Debug)]
struct Waiting {
    bytes: Vec<u8>,
    /// How many have been sent.
    sent: usize,
    /// What goes with the first of them.
    ends: Option<Ends>,
}

impl Outgoing {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn push(&mut self, message: &Outward) {
        self.push_with(message, None);
    }

    /// The same, with the ends of a kernel.
    pub(crate) fn push_with(&mut self, message: &Outward, ends: Option<Ends>) {
        let mut bytes = Vec::new();
        encode(message, &mut bytes).expect("what the host says is bounded where it arises");
        self.0.push_back(Waiting { bytes, sent: 0, ends });
    }

    /// Sends as much as the stream takes.
    pub(crate) fn send(&mut self, output: &OwnedFd) -> Connection {
        while let Some(first) = self.0.front_mut() {
            match send(first, output) {
                Ok(count) => {
                    // They have arrived, and are the outside's alone now.
                    first.ends = None;
                    first.sent += count;
                    if first.sent == first.bytes.len() {
                        self.0.pop_front();
                    }
                }
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => break,
                // Nobody reads any more.
                Err(_) => return Connection::Ended,
            }
        }
        Connection::Open
    }
}

fn send(waiting: &Waiting, output: &OwnedFd) -> Result<usize, Errno> {
    let bytes = [IoSlice::new(&waiting.bytes[waiting.sent..])];
    let ends: Vec<_> = waiting.ends.iter().flatten().map(AsRawFd::as_raw_fd).collect();
    let handed = [ControlMessage::ScmRights(&ends)];
    let handed = if ends.is_empty() { &[][..] } else { &handed };
    let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
    sendmsg::<()>(output.as_raw_fd(), &bytes, handed, flags, None)
}
