//! Sleeping until something can be done, and the signals that end a sleep.

use crate::error::JupyterError;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::Signal,
};
use signal_hook::low_level::pipe;
use std::{
    io::{self, Read},
    os::{
        fd::{AsFd, BorrowedFd},
        unix::net::UnixStream,
    },
    time::Instant,
};

/// Signals, as something to wait for.
#[derive(Debug)]
pub(crate) struct Signals {
    /// Readable after either signal.
    woken: UnixStream,
    interrupts: UnixStream,
}

/// Signals since the last check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    /// Somebody wants the code to stop.
    pub(crate) interrupt: bool,
}

impl Signals {
    /// Takes over SIGINT and SIGCHLD.
    pub(crate) fn take() -> io::Result<Self> {
        let (woken, wake) = UnixStream::pair()?;
        let (interrupts, interrupt) = UnixStream::pair()?;
        for stream in [&woken, &interrupts] {
            stream.set_nonblocking(true)?;
        }
        // In this order: whoever is woken finds the interrupt.
        pipe::register(Signal::INT.as_raw(), interrupt)?;
        pipe::register(Signal::INT.as_raw(), wake.try_clone()?)?;
        pipe::register(Signal::CHILD.as_raw(), wake)?;
        Ok(Self { woken, interrupts })
    }

    /// The signals that have come since the last look.
    pub(crate) fn read(&self) -> Said {
        drain(&self.woken);
        Said { interrupt: drain(&self.interrupts) }
    }
}

/// Takes everything out, and says whether there was something.
fn drain(mut stream: &UnixStream) -> bool {
    let mut some = false;
    while stream.read(&mut [0; 64]).is_ok_and(|count| count > 0) {
        some = true;
    }
    some
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.woken.as_fd()
    }
}

/// Sleeps until one of these can be read, or until the time has come. Says for each whether it
/// can be.
pub(crate) fn wait(
    sources: &[Option<BorrowedFd<'_>>],
    until: Option<Instant>,
) -> Result<Vec<bool>, JupyterError> {
    let mut polled: Vec<_> =
        sources.iter().flatten().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
    let left = until.map(|until| until.saturating_duration_since(Instant::now()));
    let left = left.and_then(|left| Timespec::try_from(left).ok());
    match poll(&mut polled, left.as_ref()) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(source) => return Err(JupyterError::Wait(source)),
    }
    let mut woken = polled.iter().map(|one| !one.revents().is_empty());
    Ok(sources.iter().map(|one| one.is_some() && woken.next().unwrap_or(false)).collect())
}
