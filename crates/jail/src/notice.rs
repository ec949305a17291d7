//! Calls that the kernel asks about, outside of the sandbox.
//!
//! # Threat
//! Code that floods whoever is asked, or gets another answer than no.
//!
//! # Mechanism
//! The filter's second form makes the kernel stop a refused call and ask whoever holds the
//! descriptor that came of installing it. That descriptor leaves the sandbox before anything else
//! runs in it, through the socket that is standard input, and nobody inside ever has it. The one
//! answer that can be given here is an error: the kernel's "go on" is not offered.
//!
//! # Order
//! The descriptor is handed out after the filter is installed and before the program starts. It is
//! closed on execution, so a program that starts has none even if this were forgotten.
//!
//! # Limits
//! When nobody holds the descriptor any more the kernel answers that there is no such call.
//!
//! # See
//! [seccomp_unotify(2)] has the questions, and why "go on" is no answer where security is decided:
//! memory can change after it was read. [unix(7)] has how descriptors travel.
//!
//! [seccomp_unotify(2)]: https://man7.org/linux/man-pages/man2/seccomp_unotify.2.html
//! [unix(7)]: https://man7.org/linux/man-pages/man7/unix.7.html

use crate::sys;
use rustix::{
    event::{PollFd, PollFlags, poll},
    net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg},
};
use std::{
    io::{self, IoSlice},
    mem::MaybeUninit,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

/// The byte that comes with the descriptor.
const WITH: &[u8] = b"w";

/// The byte that comes where there is none: the kernel answers by itself.
const WITHOUT: &[u8] = b"n";

/// Installs the telling form of a filter and hands out the descriptor; where the kernel does not
/// have it, or somebody above us is asked already, installs the other form, and says so.
pub(crate) fn install(program: &[u64], telling: &[u64]) -> io::Result<()> {
    if let Ok(listener) = sys::install_telling_filter(telling) {
        return hand_out(WITH, Some(listener.as_fd()));
    }
    sys::install_filter(program)?;
    hand_out(WITHOUT, None)
}

fn hand_out(byte: &[u8], listener: Option<BorrowedFd<'_>>) -> io::Result<()> {
    let descriptors: Vec<_> = listener.into_iter().collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !control.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    sendmsg(io::stdin(), &[IoSlice::new(byte)], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// The descriptor by which the kernel asks.
#[derive(Debug)]
pub struct Listener(OwnedFd);

/// A call that waits for its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Identifies the request in the reply.
    id: u64,
    /// The process that made it, as it is known outside.
    pub process: u32,
    /// The number of the call.
    pub call: u32,
    /// Its arguments. Those that point somewhere say nothing of what is there.
    pub arguments: [u64; 6],
}

impl Listener {
    /// Takes what the sandbox handed out. Whatever else it may be answers no question of ours.
    pub fn new(descriptor: OwnedFd) -> Self {
        Self(descriptor)
    }

    /// Waits for the next call; none when nobody is left who could make one.
    pub fn next(&self) -> io::Result<Option<Notice>> {
        loop {
            let mut polled = [PollFd::new(&self.0, PollFlags::IN)];
            match poll(&mut polled, None) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let events = polled[0].revents();
            if events.contains(PollFlags::IN) {
                match sys::next_notice(self.0.as_fd()) {
                    Ok((id, process, call, arguments)) => {
                        return Ok(Some(Notice { id, process, call, arguments }));
                    }
                    // It was ended before it could be looked at, or a signal came.
                    Err(error) if is_over(&error) => {}
                    Err(error) => return Err(error),
                }
            } else if !events.is_empty() {
                return Ok(None);
            }
        }
    }

    /// Whether the process still waits, so that what was read about it was about it.
    pub fn still_waits(&self, notice: &Notice) -> bool {
        sys::notice_is_valid(self.0.as_fd(), notice.id)
    }

    /// Answers with an error. Whoever does not wait any more needs no answer.
    pub fn refuse(&self, notice: &Notice, errno: u16) -> io::Result<()> {
        match sys::refuse(self.0.as_fd(), notice.id, i32::from(errno.max(1))) {
            Err(error) if !is_over(&error) => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

fn is_over(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EINTR))
}
