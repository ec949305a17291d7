//! The handle that a front end holds.
//!
//! Events go in, updates come out. Nothing is special about the terminal: whatever holds the
//! handle can do what any other front end can, and no more.

use crate::{AgentError, Scene, driver};
use interpreter_core::{
    Body, Confinement, FileChange, Language, LeftOut, Record, Untrusted,
    record::TurnEnd,
    session::{Approval, Event, HostWanted, InputWanted, Question},
};
use interpreter_exec::{Command, Completions, Interpreters, Runner};
use std::{rc::Rc, time::Duration};
use tokio::sync::{mpsc, oneshot};

/// How long completion may take.
const PATIENCE: Duration = Duration::from_secs(4);

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
    /// Something was recorded, all of it at once.
    Records(Vec<Record>),
    /// A piece of a reply, as it comes. It is recorded when the reply is whole.
    Live(Live),
    /// The person is to be asked whether code may run.
    Ask(Box<Question>),
    /// The run has come to this line of its code.
    Line(u32),
    /// The code asks the person for a line.
    Input(InputWanted),
    /// The code wants to reach a host that is not listed, and waits.
    Host(HostWanted),
    /// The person is to be asked what becomes of staged changes.
    Review {
        /// The change set.
        id: String,
        /// What is in it.
        files: Vec<FileChange>,
        /// The changes that are withheld, and why.
        left_out: Vec<LeftOut>,
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
    /// The name of the model that is talked to; none where only the person writes code.
    pub model: Option<String>,
    events: mpsc::UnboundedSender<Event>,
    updates: mpsc::Receiver<Update>,
    runner: Rc<Runner>,
    interpreters: Interpreters,
    confinement: Confinement,
}

impl Session {
    /// Starts a session. Must be called within a `LocalSet`.
    pub fn start(scene: &Rc<Scene>, mode: Mode, approval: Approval) -> Result<Self, AgentError> {
        let (events, inbox) = mpsc::unbounded_channel();
        let (updates_in, updates) = mpsc::channel(256);
        let driver = driver::Driver::new(scene, mode, approval, updates_in)?;
        let (id, runner) = (driver.id().to_owned(), driver.runner());
        let model = driver.model_name().map(str::to_owned);
        tokio::task::spawn_local(driver.run(inbox));
        let (interpreters, confinement) = (scene.interpreters().clone(), scene.confinement());
        Ok(Self { id, model, events, updates, runner, interpreters, confinement })
    }

    /// Sends an event. If the session is over, its last update has said so.
    pub fn send(&self, event: Event) {
        _ = self.events.send(event).is_ok();
    }

    /// Starts the sandbox and the kernel of a language while the person types, unless that would
    /// run something of the project's. Whether it works is found out when it is needed.
    pub fn prepare(&self, language: &Language) {
        if self.interpreters.may_start_early(language) {
            let (language, confinement) = (language.clone(), self.confinement.clone());
            self.runner.tell(Command::Prepare { language, confinement });
        }
    }

    /// How code could go on at the cursor, which is counted in bytes. Nothing while something
    /// runs, or if the kernel is not there or does not answer soon.
    pub async fn complete(&self, language: &Language, code: String, cursor: usize) -> Completions {
        let (reply, answer) = oneshot::channel();
        let language = language.clone();
        self.runner.tell(Command::Complete { language, code, cursor, reply });
        // The runner itself gives up before that, unless it waits for us.
        let answer = tokio::time::timeout(PATIENCE, answer).await;
        answer.ok().and_then(Result::ok).unwrap_or_default()
    }

    /// Waits for the next update; none after the last. May be dropped at any time without losing
    /// one.
    pub async fn next(&mut self) -> Option<Update> {
        let update = self.updates.recv().await;
        if let Some(Update::Records(records)) = &update {
            for record in records {
                if let Body::ModelChanged { model } = &record.body {
                    self.model = Some(model.clone());
                }
            }
        }
        update
    }

    /// What is staged, as a diff.
    pub async fn diff(&self) -> Result<Untrusted, AgentError> {
        let (reply, answer) = oneshot::channel();
        self.runner.tell(Command::Diff(reply));
        // A runner that is gone has nothing staged.
        Ok(answer.await.unwrap_or_else(|_| Ok(Untrusted::default()))?)
    }
}
