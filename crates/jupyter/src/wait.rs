//! Sleeping until something can be done, and what signals say.

use crate::error::JupyterError;
use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::{
        signal::{SigSet, Signal},
        signalfd::{SfdFlags, SignalFd},
    },
};
use std::{
    os::fd::{AsFd, BorrowedFd},
    time::Instant,
};

/// Signals, as something to wait for.
#[derive(Debug)]
pub(crate) struct Signals(SignalFd);

/// What signals said since they were last looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    /// Somebody wants the code to stop.
    pub(crate) interrupt: bool,
}

impl Signals {
    /// Takes over SIGINT and SIGCHLD. What is started after this has them blocked, so the kernel
    /// is started before.
    pub(crate) fn take() -> Result<Self, Errno> {
        let mut mask = SigSet::empty();
        mask.add(Signal::SIGINT);
        mask.add(Signal::SIGCHLD);
        mask.thread_block()?;
        SignalFd::with_flags(&mask, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC).map(Self)
    }

    /// What they said.
    pub(crate) fn read(&self) -> Said {
        let mut said = Said::default();
        while let Ok(Some(signal)) = self.0.read_signal() {
            said.interrupt |= signal.ssi_signo == Signal::SIGINT as u32;
        }
        said
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Sleeps until one of these can be read, or until the time has come. Says for each whether it
/// can be.
pub(crate) fn wait(
    sources: &[Option<BorrowedFd<'_>>],
    until: Option<Instant>,
) -> Result<Vec<bool>, JupyterError> {
    let mut polled: Vec<_> =
        sources.iter().flatten().map(|fd| PollFd::new(*fd, PollFlags::POLLIN)).collect();
    let timeout = until.map_or(PollTimeout::NONE, |until| {
        // Rounded up, so that the time has come when it is over.
        let left = until.saturating_duration_since(Instant::now()).as_nanos().div_ceil(1_000_000);
        PollTimeout::from(u16::try_from(left).unwrap_or(u16::MAX))
    });
    match poll(&mut polled, timeout) {
        Ok(_) | Err(Errno::EINTR) => {}
        Err(source) => return Err(JupyterError::Wait(source)),
    }
    let mut woken = polled.iter().map(|one| one.any().unwrap_or(true));
    Ok(sources.iter().map(|one| one.is_some() && woken.next().unwrap_or(false)).collect())
}
