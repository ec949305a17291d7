//! Signals that a person, their shell or their system sends to this program; and the end of its
//! terminal, which sends none to a program that was detached from it.

use crate::report::Error;
use rustix::event::{PollFd, PollFlags, poll};
use std::{future::pending, io, sync::Arc, thread};
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::Notify,
};

/// The meaning of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Stop what is under way (Ctrl-C).
    Interrupt,
    /// End: the system shuts down, or the terminal is closed.
    End,
    /// Nothing was asked: the terminal is gone. At a question that is the end of what is typed.
    Gone,
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
    /// Says that the terminal is gone.
    gone: Option<Arc<Notify>>,
}

impl Signals {
    /// Those that everything heeds.
    pub(crate) fn new() -> Result<Self, Error> {
        let interrupt = signal(SignalKind::interrupt())?;
        let terminate = signal(SignalKind::terminate())?;
        let hang_up = signal(SignalKind::hangup())?;
        Ok(Self { interrupt, terminate, hang_up, suspend: None, gone: None })
    }

    /// The same, and those by which a program that uses a terminal is stopped for a while.
    pub(crate) fn that_may_stop() -> Result<Self, Error> {
        let kind = |signal: rustix::process::Signal| SignalKind::from_raw(signal.as_raw());
        let stop = signal(kind(rustix::process::Signal::TSTP))?;
        let go_on = signal(kind(rustix::process::Signal::CONT))?;
        Ok(Self { suspend: Some((stop, go_on)), ..Self::new()? })
    }

    /// The same, and the end of the terminal at standard input.
    pub(crate) fn at_terminal() -> Result<Self, Error> {
        let gone = Arc::new(Notify::new());
        let notice = Arc::clone(&gone);
        thread::Builder::new().name("terminal".into()).spawn(move || watch(&notice))?;
        Ok(Self { gone: Some(gone), ..Self::that_may_stop()? })
    }

    /// Waits for the next one. May be dropped at any time without losing one.
    pub(crate) async fn next(&mut self) -> Asked {
        let Self { interrupt, terminate, hang_up, suspend, gone } = self;
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
            () = hung_up(gone.as_deref()) => Asked::Gone,
        }
    }
}

async fn hung_up(gone: Option<&Notify>) {
    match gone {
        Some(gone) => gone.notified().await,
        None => pending().await,
    }
}

/// Waits until the terminal is gone. Asks for nothing else, so keys do not wake it.
fn watch(gone: &Notify) {
    let terminal = io::stdin();
    loop {
        let mut watched = [PollFd::new(&terminal, PollFlags::empty())];
        match poll(&mut watched, None) {
            Err(rustix::io::Errno::INTR) => {}
            Ok(_) if watched[0].revents().is_empty() => {}
            Ok(_) | Err(_) => return gone.notify_one(),
        }
    }
}
