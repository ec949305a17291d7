//! The terminal that a person sits at: where standard input and output are, or else the controlling
//! terminal of this program.
//!
//! # Threat
//! A question that is put on a terminal where somebody else works, or whose keys belong to another
//! program; data that is piped in and answers.
//!
//! # Mechanism
//! Keys come from a terminal and from nothing else. The controlling terminal is opened by its own
//! name, `/dev/tty`, which is nobody else's; and it is used only while this program is in its
//! foreground.

use rustix::{
    fs::{Mode, OFlags},
    process::{getpgrp, getsid},
    termios::{tcgetpgrp, tcgetsid, tcgetwinsize},
};
use std::{
    fs::File,
    io::{self, Write},
    os::fd::{AsFd, BorrowedFd},
    sync::Arc,
};

/// A terminal with a person at it.
#[derive(Clone, Debug)]
pub(crate) enum Device {
    /// At standard input and standard output.
    Standard,
    /// The controlling terminal, wherever standard input and output lead.
    Controlling(Arc<File>),
}

impl Device {
    /// The controlling terminal, if this program has one.
    pub(crate) fn controlling() -> Option<Self> {
        // Without O_NOCTTY a program without a terminal could get one by this.
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOCTTY;
        let opened = rustix::fs::open("/dev/tty", flags, Mode::empty()).ok()?;
        Some(Self::Controlling(Arc::new(File::from(opened))))
    }

    /// Where keys come from.
    pub(super) fn keys(&self) -> BorrowedFd<'_> {
        match self {
            Self::Standard => rustix::stdio::stdin(),
            Self::Controlling(file) => file.as_fd(),
        }
    }

    /// Whether this program is in the foreground of the terminal. One in the background that reads
    /// or changes it is stopped by the system, and the keys are somebody else's.
    pub(super) fn is_ours(&self) -> bool {
        tcgetpgrp(self.keys()).is_ok_and(|group| group == getpgrp())
    }

    /// The columns of its window at this moment.
    pub(super) fn columns(&self) -> usize {
        let columns = tcgetwinsize(self.keys()).map_or(0, |size| size.ws_col);
        if columns == 0 { 80 } else { columns.into() }
    }

    /// Writes to the terminal: sequences, and the marks of rows that a person types in.
    #[expect(clippy::disallowed_methods, reason = "sequences and marks of our own, no text")]
    pub(super) fn put(&self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Standard => {
                let mut out = io::stdout().lock();
                out.write_all(bytes)?;
                out.flush()
            }
            Self::Controlling(file) => (&**file).write_all(bytes),
        }
    }
}

/// Whether this stream leads to the controlling terminal.
pub(super) fn is_controlling(stream: impl AsFd) -> bool {
    match (tcgetsid(stream), getsid(None)) {
        (Ok(of_terminal), Ok(ours)) => of_terminal == ours,
        (Err(_), _) | (_, Err(_)) => false,
    }
}
