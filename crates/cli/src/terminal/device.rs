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
//! foreground. Every program of a pipeline or script is, so it is also used only while no other
//! one reads keys there: see `tty.rs`.

use rustix::{
    fs::{Mode, OFlags},
    process::{getpgrp, getsid},
    termios::{LocalModes, tcgetattr, tcgetpgrp, tcgetsid, tcgetwinsize},
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
    /// The controlling terminal, wherever standard input and output lead: to draw on, and for its
    /// keys. Reading these never waits: another program may have been faster.
    Controlling { screen: Arc<File>, keys: Arc<File> },
}

impl Device {
    /// The controlling terminal, if this program has one.
    pub(crate) fn controlling() -> Option<Self> {
        // Without O_NOCTTY a program without a terminal could get one by this.
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOCTTY;
        let open = |flags| rustix::fs::open("/dev/tty", flags, Mode::empty()).ok();
        let screen = Arc::new(File::from(open(flags)?));
        let keys = Arc::new(File::from(open(flags | OFlags::NONBLOCK)?));
        Some(Self::Controlling { screen, keys })
    }

    /// Where keys come from.
    pub(super) fn keys(&self) -> BorrowedFd<'_> {
        match self {
            Self::Standard => rustix::stdio::stdin(),
            Self::Controlling { keys, .. } => keys.as_fd(),
        }
    }

    /// Whether other programs of a pipeline or script may read it too.
    pub(super) fn is_shared(&self) -> bool {
        matches!(self, Self::Controlling { .. })
    }

    /// Whether this program is in the foreground of the terminal. One in the background that reads
    /// or changes it is stopped by the system, and the keys are somebody else's.
    pub(super) fn is_ours(&self) -> bool {
        tcgetpgrp(self.keys()).is_ok_and(|group| group == getpgrp())
    }

    /// Whether no program has taken the terminal for itself: one that reads single keys has it gather
    /// no lines, and one that asks for a password has it echo nothing.
    pub(super) fn is_free(&self) -> bool {
        let usual = LocalModes::ICANON | LocalModes::ECHO;
        tcgetattr(self.keys()).is_ok_and(|modes| modes.local_modes.contains(usual))
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
            Self::Controlling { screen, .. } => (&**screen).write_all(bytes),
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
