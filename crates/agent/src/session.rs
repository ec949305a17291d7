//! The handle that a front end holds.
//!
//! Events go in, updates come out. Nothing is special about the terminal: whatever holds the
//! handle can do what any other front end can, and no more.

use crate::{
    AgentError, Context, driver,
    update::{Mode, Request, Update},
};
use interpreter_core::{
    Body, Checkpoint, Language, Redactor, ShownChange, Untrusted,
    redact::Scope,
    session::{Approval, Event},
};
use interpreter_exec::{Completions, Interpreters};
use std::{sync::Arc, time::Duration};
use tokio::sync::{mpsc, oneshot};

/// How long completion may take.
const PATIENCE: Duration = Duration::from_secs(4);

/// A running session. It may be held and moved by any thread; everything that it is asked for goes
/// through the one loop, which records it first.
#[derive(Debug)]
pub struct Session {
    /// Its id in the record.
    pub id: String,
    /// The name of the model that is talked to; none where only the person writes code.
    pub model: Option<String>,
    requests: mpsc::UnboundedSender<Request>,
    updates: mpsc::Receiver<Update>,
    interpreters: Interpreters,
    redactor: Arc<Redactor>,
}

impl Session {
    /// Starts a session, on the runtime that this is called in.
    pub fn start(
        context: &Arc<Context>,
        mode: Mode,
        approval: Approval,
    ) -> Result<Self, AgentError> {
        let (requests, inbox) = mpsc::unbounded_channel();
        let (updates_in, updates) = mpsc::channel(256);
        let driver = driver::Driver::new(context, mode, approval, updates_in)?;
        let (id, model) = (driver.id().to_owned(), driver.model_name().map(str::to_owned));
        tokio::spawn(driver.run(inbox));
        let (interpreters, redactor) =
            (context.interpreters().clone(), Arc::clone(&context.redactor));
        Ok(Self { id, model, requests, updates, interpreters, redactor })
    }

    fn request(&self, request: Request) {
        _ = self.requests.send(request).is_ok();
    }

    /// Sends an event. If the session is over, its last update has said so.
    pub fn send(&self, event: Event) {
        self.request(Request::Happened(event));
    }

    /// Has the runner keep checkpoints from now on, so that the session can be rewound.
    pub fn keep_checkpoints(&self) {
        self.request(Request::KeepCheckpoints);
    }

    /// The contents of a checkpoint, if it was taken.
    pub async fn checkpoint(&self, number: u32) -> Option<Checkpoint> {
        let (reply, answer) = oneshot::channel();
        self.request(Request::Checkpoint { number, reply });
        answer.await.ok().flatten()
    }

    /// Waits until everything that was sent so far is on record, for whoever reads it there.
    pub async fn written(&self) {
        let (reply, answer) = oneshot::channel();
        self.request(Request::Written(reply));
        // A session that is over has written everything.
        _ = answer.await.is_ok();
    }

    /// Starts the sandbox and the kernel of a language while the person types, unless that would
    /// run something of the project's. Whether it works is found out when it is needed.
    pub fn prepare(&self, language: &Language) {
        if self.interpreters.may_start_early(language) {
            self.send(Event::Expected(language.clone()));
        }
    }

    /// How code could go on at the cursor, which is counted in bytes. Nothing while something
    /// runs, or if the kernel is not ready or does not answer soon.
    pub async fn complete(&self, language: &Language, code: String, cursor: usize) -> Completions {
        let (reply, answer) = oneshot::channel();
        self.request(Request::Complete { language: language.clone(), code, cursor, reply });
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
                if let Body::ModelChanged { model, .. } = &record.body {
                    self.model = Some(model.clone());
                }
            }
        }
        update
    }

    /// The changes that are staged by now, at and below `paths` or all of them, as a diff. Not while
    /// somebody decides on them.
    pub async fn diff_now(&self, id: &str, paths: Vec<String>) -> Result<Untrusted, AgentError> {
        let (reply, answer) = oneshot::channel();
        self.request(Request::DiffNow { id: id.to_owned(), paths, reply });
        let diff = answer.await.unwrap_or_else(|_| Ok(Untrusted::default()))?;
        Ok(self.redactor.untrusted(diff, Scope::All))
    }

    /// The changes that are being reviewed one by one, with their hunks.
    pub async fn shown_changes(&self, id: &str) -> Result<Vec<ShownChange>, AgentError> {
        let (reply, answer) = oneshot::channel();
        self.request(Request::ShowChanges { id: id.to_owned(), reply });
        let changes = answer.await.unwrap_or_else(|_| Ok(Vec::new()))?;
        Ok(changes.into_iter().map(|one| self.redactor.shown_change(one)).collect())
    }

    /// The change set that is being reviewed, as a diff.
    pub async fn diff(&self, id: &str) -> Result<Untrusted, AgentError> {
        let (reply, answer) = oneshot::channel();
        self.request(Request::Diff { id: id.to_owned(), reply });
        // A runner that is gone has nothing staged.
        let diff = answer.await.unwrap_or_else(|_| Ok(Untrusted::default()))?;
        Ok(self.redactor.untrusted(diff, Scope::All))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_can_be_held_by_any_thread() {
        fn moves<T: Send + 'static>() {}
        moves::<Session>();
        moves::<driver::Driver>();
    }
}
