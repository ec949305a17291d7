//! Runs permitted code in a session's sandbox, and reports what happens.
//!
//! A runner is a separate task. [`Command`]s go in, [`Event`]s of the session come out. It starts
//! the sandbox and its kernels when they are first needed, or earlier on [`Command::Prepare`],
//! keeps them between runs, and replaces dead ones. Time, output and death are measured here,
//! outside the sandbox; messages from inside are claims.
//!
//! Running takes a [`Permit`](interpreter_core::Permit) by value. Nothing else makes code run.

use crate::ExecError;
use interpreter_core::session::Event;
use tokio::sync::mpsc;

mod actor;
pub mod attack;
mod bench;
mod budget;
mod cell;
mod check;
mod checkpoint;
mod command;
mod complete;
mod copies;
mod copying;
mod ending;
mod files_back;
mod hearing;
mod hosts;
mod input;
mod kernels;
mod live;
mod puts;
mod rewinding;
mod staged;
mod staging;
mod starting;
mod state;
#[cfg(test)]
mod tests;
mod typed_lines;

pub(crate) use self::{
    bench::{Bench, ProgramEnd, ToolCommand},
    staging::spare,
};
pub use self::{
    check::check,
    command::{Command, OpenedFile, PutOrder, RunnerSetup, StagedLook},
    complete::Completions,
    input::StandardInput,
    typed_lines::{HeldLines, TypedLines},
};

/// A handle to a runner. Dropping it ends everything.
#[derive(Debug)]
pub struct Runner {
    commands: mpsc::UnboundedSender<Command>,
}

impl Runner {
    /// Starts a runner, which reports to `events`: what happens, or why something that was asked
    /// for could not be done. It reports no more when everything has ended.
    pub fn start(setup: RunnerSetup, events: mpsc::Sender<Result<Event, ExecError>>) -> Self {
        let (commands, inbox) = mpsc::unbounded_channel();
        tokio::spawn(actor::Actor::new(setup, events).run(inbox));
        Self { commands }
    }

    /// Tells the runner something. Commands are few, so the channel has no bound; if the runner
    /// is gone its last report has said why.
    pub fn tell(&self, command: Command) {
        _ = self.commands.send(command).is_ok();
    }
}
