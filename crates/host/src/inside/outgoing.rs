//! The queue to the outside: frames, and the descriptors that go with some of them.

use super::kernel::Ends;
use crate::wire::{Outward, encode};
use rustix::{
    io::Errno,
    net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg},
};
use std::{
    collections::VecDeque,
    io::IoSlice,
    mem::MaybeUninit,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

/// Whether the stream to the outside goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Connection {
    Open,
    Ended,
}

/// Bytes that wait to be sent. Requests are small, so there are few.
#[derive(Debug, Default)]
pub(crate) struct Outgoing(VecDeque<Waiting>);

#[derive(Debug)]
struct Waiting {
    bytes: Vec<u8>,
    /// How many have been sent.
    sent: usize,
    /// Descriptors that go with the first of them.
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
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                // Nobody reads any more.
                Err(_) => return Connection::Ended,
            }
        }
        Connection::Open
    }
}

fn send(waiting: &Waiting, output: &OwnedFd) -> Result<usize, Errno> {
    let bytes = [IoSlice::new(&waiting.bytes[waiting.sent..])];
    let ends: Vec<BorrowedFd<'_>> = waiting.ends.iter().flatten().map(AsFd::as_fd).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
    let mut handed = SendAncillaryBuffer::new(&mut space);
    if !ends.is_empty() {
        handed.push(SendAncillaryMessage::ScmRights(&ends));
    }
    sendmsg(output, &bytes, &mut handed, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)
}
