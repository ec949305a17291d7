//! Signals that a person, their shell or their system sends to this program.

use crate::report::Error;
use std::future::pending;
use tokio::signal::unix::{Signal, SignalKind, signal};

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
}

impl Signals {
    /// Those that everything heeds.
    pub(crate) fn new() -> Result<Self, Error> {
        let interrupt = signal(SignalKind::interrupt())?;
        let terminate = signal(SignalKind::terminate())?;
        let hang_up = signal(SignalKind::hangup())?;
        Ok(Self { interrupt, terminate, hang_up, suspend: None })
    }

    /// The same, and those of a program that has a terminal.
    pub(crate) fn at_terminal() -> Result<Self, Error> {
        let kind = |signal: rustix::process::Signal| SignalKind::from_raw(signal.as_raw());
        let stop = signal(kind(rustix::process::Signal::TSTP))?;
        let go_on = signal(kind(rustix::process::Signal::CONT))?;
        Ok(Self { suspend: Some((stop, go_on)), ..Self::new()? })
    }

    /// Waits for the next one. May be dropped at any time without losing one.
    pub(crate) async fn next(&mut self) -> Asked {
        let Self { interrupt, terminate, hang_up, suspend } = self;
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
        }
    }
}
