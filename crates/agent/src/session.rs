//! The handle that a front end holds.
//!
//! Events go in, updates come out. Nothing is special about the terminal: whatever holds the
//! handle can do what any other front end can, and no more.

use crate::{AgentError, Scene, driver};
use interpreter_core::{
    FileChange, Record, Untrusted,
    record::TurnEnd,
    session::{Approval, Event, InputWanted, Question},
};
use interpreter_exec::{Command, Runner};
use std::rc::Rc;
use tokio::sync::{mpsc, oneshot};

/// What a session is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A model writes code.
    Chat,
    /// The person hands over code; no model is needed.
    Run,
}

/// What a front end is told.
#[derive(Debug)]
pub enum Update {
    /// Something was recorded.
    Record(Box<Record>),
    /// A piece of a reply, as it comes. It is recorded when the reply is whole.
    Live(Live),
    /// The person is to be asked whether code may run.
    Ask(Box<Question>),
    /// The run has come to this line of its code.
    Line(u32),
    /// The code asks the person for a line.
    Input(InputWanted),
    /// The person is to be asked what becomes of staged changes.
    Review {
        /// The change set.
        id: String,
        /// What is in it.
        files: Vec<FileChange>,
    },
    /// The turn is over.
    TurnFinished(TurnEnd),
    /// The session is over: well, or because it could not go on.
    Ended(Result<(), AgentError>),
}

/// A piece of a reply, for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Live {
    /// More prose.
    Text(Untrusted),
    /// More of the model's thoughts.
    Reasoning(Untrusted),
    /// Code begins, in the language that the model named.
    CodeBegins(Option<Untrusted>),
    /// More code.
    Code(Untrusted),
    /// Code ends.
    CodeEnds,
    /// The reply is over.
    ReplyEnds,
}

/// A running session.
#[derive(Debug)]
pub struct Session {
    /// Its id in the record.
    pub id: String,
    events: mpsc::UnboundedSender<Event>,
    updates: mpsc::Receiver<Update>,
    runner: Rc<Runner>,
}

impl Session {
    /// Starts a session. Must be called within a `LocalSet`.
    pub fn start(scene: &Scene, mode: Mode, approval: Approval) -> Result<Self, AgentError> {
        let (events, inbox) = mpsc::unbounded_channel();
        let (updates_in, updates) = mpsc::channel(256);
        let driver = driver::Driver::new(scene, mode, approval, updates_in)?;
        let (id, runner) = (driver.id().to_owned(), driver.runner());
        tokio::task::spawn_local(driver.run(inbox));
        Ok(Self { id, events, updates, runner })
    }

    /// Sends an event. If the session is over, its last update has said so.
    pub fn send(&self, event: Event) {
        _ = self.events.send(event).is_ok();
    }

    /// Waits for the next update; none after the last. May be dropped at any time without losing
    /// one.
    pub async fn next(&mut self) -> Option<Update> {
        self.updates.recv().await
    }

    /// What is staged, as a diff.
    pub async fn diff(&self) -> Result<Untrusted, AgentError> {
        let (reply, answer) = oneshot::channel();
        self.runner.tell(Command::Diff(reply));
        // A runner that is gone has nothing staged.
        Ok(answer.await.unwrap_or_else(|_| Ok(Untrusted::default()))?)
    }
}
