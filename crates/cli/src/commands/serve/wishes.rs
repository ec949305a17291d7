//! Whoever runs the server wants a new link: Enter at its terminal, or the signal USR1.

use crate::report::Error;
use std::{
    future::pending,
    io::{self, IsTerminal},
    thread,
};
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::mpsc,
};

/// Wishes for a new link.
pub(super) struct Wishes {
    signal: Signal,
    /// A line for each Enter, where there is a terminal.
    enter: mpsc::Receiver<()>,
}

impl Wishes {
    pub(super) fn new() -> Result<Self, Error> {
        let signal = signal(SignalKind::user_defined1())?;
        let (sender, enter) = mpsc::channel(1);
        if io::stdin().is_terminal() {
            thread::Builder::new().name("enter".into()).spawn(move || listen(&sender))?;
        }
        Ok(Self { signal, enter })
    }

    /// Waits for the next one. May be dropped at any time without losing one.
    pub(super) async fn next(&mut self) {
        let Self { signal, enter } = self;
        let pressed = async {
            if enter.recv().await.is_none() {
                pending::<()>().await;
            }
        };
        tokio::select! {
            Some(()) = signal.recv() => {}
            () = pressed => {}
        }
    }
}

/// Passes every line on, until the terminal or the server ends.
fn listen(sender: &mpsc::Sender<()>) {
    let mut line = String::new();
    while io::stdin().read_line(&mut line).is_ok_and(|count| count > 0) {
        line.clear();
        if sender.blocking_send(()).is_err() {
            return;
        }
    }
}
