//! Signals that a person, their shell or their system sends to this program; and the end of its
//! terminal, which sends none to a program that was detached from it.

use crate::report::Error;
use rustix::fd::{AsFd, OwnedFd};
use std::{future::pending, io};
use tokio::{
    io::{Interest, unix::AsyncFd},
    signal::unix::{Signal, SignalKind, signal},
};

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Stop what is under way (Ctrl-C).
    Interrupt,
    /// End: the system shuts down, or the terminal is closed.
    End,
    /// Stop for a while (Ctrl-Z).
    Suspend,
    /// Somebody let the program go on.
    Continue,
}

/// The signals that are heeded.
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
    /// Only where the terminal has to be given back before the program stops.
    suspend: Option<(Signal, Signal)>,
    /// The terminal, to notice that it is gone.
    terminal: Option<AsyncFd<OwnedFd>>,
}

impl Signals {
    /// Those that everything heeds.
    pub(crate) fn new() -> Result<Self, Error> {
        let interrupt = signal(SignalKind::interrupt())?;
        let terminate = signal(SignalKind::terminate())?;
        let hang_up = signal(SignalKind::hangup())?;
        Ok(Self { interrupt, terminate, hang_up, suspend: None, terminal: None })
    }

    /// The same, and those of a program that has a terminal.
    pub(crate) fn at_terminal() -> Result<Self, Error> {
        let kind = |signal: rustix::process::Signal| SignalKind::from_raw(signal.as_raw());
        let stop = signal(kind(rustix::process::Signal::TSTP))?;
        let go_on = signal(kind(rustix::process::Signal::CONT))?;
        let terminal = io::stdin().as_fd().try_clone_to_owned()?;
        let terminal = AsyncFd::with_interest(terminal, Interest::READABLE).ok();
        Ok(Self { suspend: Some((stop, go_on)), terminal, ..Self::new()? })
    }

    /// Waits for the next one. May be dropped at any time without losing one.
    pub(crate) async fn next(&mut self) -> Asked {
        let Self { interrupt, terminate, hang_up, suspend, terminal } = self;
        let suspended = async {
            match suspend {
                Some((stop, go_on)) => tokio::select! {
                    _ = stop.recv() => Asked::Suspend,
                    _ = go_on.recv() => Asked::Continue,
                },
                None => pending().await,
            }
        };
        tokio::select! {
            _ = interrupt.recv() => Asked::Interrupt,
            _ = terminate.recv() => Asked::End,
            _ = hang_up.recv() => Asked::End,
            asked = suspended => asked,
            () = gone(terminal.as_ref()) => Asked::End,
        }
    }
}

/// Waits until the terminal is gone. Keys that come are not read here.
async fn gone(terminal: Option<&AsyncFd<OwnedFd>>) {
    let Some(terminal) = terminal else { return pending().await };
    loop {
        let Ok(mut guard) = terminal.readable().await else { return pending().await };
        if guard.ready().is_read_closed() {
            return;
        }
        guard.clear_ready();
    }
}
