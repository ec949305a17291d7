//! The handle that a front end holds.
//!
//! Events go in, updates come out. Nothing is special about the terminal: whatever holds the
//! handle can do what any other front end can, and no more.

use crate::{
    AgentError, Context, driver,
    update::{FilesWanted, Looker, Mode, NotBegun, Request, Update},
};
use interpreter_core::{
    Body, Checkpoint, Grantor, Language, ShownChange, Untrusted,
    session::{AnswerRefused, AnswerTaken, Approval, Event, GivenAnswer, QuestionAnswer, Voter},
};
use interpreter_exec::{Completions, ExecError, Interpreters, OpenedFile, StagedLook};
use interpreter_store::PackedOutput;
use interpreter_workspace::{Export, ExportOf, ReceivedFile};
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
}

impl Session {
    /// Starts a session, on the runtime that this is called in. Its steps are taken where the
    /// context says.
    pub fn start(
        context: &Arc<Context>,
        mode: Mode,
        approval: Approval,
    ) -> Result<Self, AgentError> {
        Self::start_as(None, context, mode, approval)
    }

    /// The same, for the client of this name.
    pub fn start_as(
        who: Option<&str>,
        context: &Arc<Context>,
        mode: Mode,
        approval: Approval,
    ) -> Result<Self, AgentError> {
        let (requests, inbox) = mpsc::unbounded_channel();
        let (updates_in, updates) = mpsc::channel(256);
        let driver = driver::Driver::new(context, mode, approval, who, updates_in)?;
        let (id, model) = (driver.id().to_owned(), driver.model_name().map(str::to_owned));
        match &context.steps {
            Some(steps) => drop(steps.spawn(driver.run(inbox))),
            None => drop(tokio::spawn(driver.run(inbox))),
        }
        let interpreters = context.interpreters().clone();
        Ok(Self { id, model, requests, updates, interpreters })
    }

    fn request(&self, request: Request) {
        _ = self.requests.send(request).is_ok();
    }

    /// Sends an event. If the session is over, its last update has said so.
    pub fn send(&self, event: Event) {
        self.request(Request::Happened { event, who: None });
    }

    /// Sends an event of the client of this name, which stands in the records that it causes.
    pub fn send_as(&self, who: &str, event: Event) {
        self.request(Request::Happened { event, who: Some(who.to_owned()) });
    }

    /// Answers the question of this id and hash, in the name of a client, and for a person where
    /// people are known. Returns once the answer counts and everything that it causes at once is on record or about to be; or says why it
    /// does not count, and then it has changed nothing.
    pub async fn answer(
        &self,
        question: impl Into<String>,
        hash: impl Into<String>,
        answer: GivenAnswer,
        who: Option<String>,
        voter: Option<Voter>,
    ) -> Result<AnswerTaken, AnswerRefused> {
        let (question, hash, by) = (question.into(), hash.into(), Grantor::Person);
        let given = Box::new(QuestionAnswer { question, hash, answer, by, who, voter });
        let (reply, answer) = oneshot::channel();
        self.request(Request::Answer { given, reply });
        // A session that is over takes no answer.
        answer.await.unwrap_or(Err(AnswerRefused::SessionOver))
    }

    /// Has the runner keep checkpoints from now on, so that the session can be rewound.
    pub fn keep_checkpoints(&self) {
        self.request(Request::KeepCheckpoints);
    }

    /// The rest of a checkpoint, if it was taken. Asked after [`Self::programs`], it knows of every
    /// copy that had ended by then.
    pub async fn checkpoint(&self, number: u32) -> Option<Checkpoint> {
        let (reply, answer) = oneshot::channel();
        self.request(Request::Checkpoint { number, reply });
        answer.await.ok().flatten()
    }

    /// How many programs code has left running, beside the interpreters. Going back ends them.
    pub async fn programs(&self) -> u32 {
        let (reply, answer) = oneshot::channel();
        self.request(Request::CountPrograms(reply));
        // Nothing runs where there is no sandbox.
        answer.await.unwrap_or(0)
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

    /// The updates by themselves, for a front end that sends and listens in different places. From
    /// now on [`Session::next`] gives none.
    pub fn take_updates(&mut self) -> SessionUpdates {
        let (_, closed) = mpsc::channel(1);
        SessionUpdates(std::mem::replace(&mut self.updates, closed))
    }

    /// Sends events that begin a turn or decide between two, if nothing is under way. Returns the
    /// number of the record before theirs.
    pub async fn begin(&self, events: Vec<Event>, who: Option<String>) -> Result<u64, NotBegun> {
        self.begin_after(events, who, None).await
    }

    /// The same, with pictures that are kept on the disk if the events are taken in, and only then.
    pub async fn begin_with(
        &self,
        events: Vec<Event>,
        beside: Vec<PackedOutput>,
        who: Option<String>,
    ) -> Result<u64, NotBegun> {
        let (reply, answer) = oneshot::channel();
        self.request(Request::Begin { events, beside, who, newest: None, reply });
        answer.await.unwrap_or(Err(NotBegun::Ended))
    }

    /// The same, but only if `newest` is the number of the newest record of changes: whoever decides
    /// has seen everything that was decided before.
    pub async fn begin_after(
        &self,
        events: Vec<Event>,
        who: Option<String>,
        newest: Option<u64>,
    ) -> Result<u64, NotBegun> {
        let (reply, answer) = oneshot::channel();
        self.request(Request::Begin { events, beside: Vec::new(), who, newest, reply });
        answer.await.unwrap_or(Err(NotBegun::Ended))
    }

    /// Stages a file of the person's own, if nothing is under way. Returns the number of the record
    /// before those that tell of it.
    pub async fn put(
        &self,
        path: String,
        file: ReceivedFile,
        who: String,
    ) -> Result<u64, NotBegun> {
        let (reply, answer) = oneshot::channel();
        self.request(Request::Put { path, file, who, reply });
        answer.await.unwrap_or(Err(NotBegun::Ended))
    }

    /// Opens a file for reading: the staged one, or that of the person's folder if code could read
    /// it.
    pub async fn open_file(&self, path: String) -> Result<OpenedFile, AgentError> {
        self.files(|reply| FilesWanted::One { path, reply }).await
    }

    /// Lists the files that are staged or were applied, to be taken elsewhere.
    pub async fn export(&self, of: ExportOf) -> Result<Export, AgentError> {
        self.files(|reply| FilesWanted::List { of, reply }).await
    }

    /// The same as a patch.
    pub async fn patch(&self, of: ExportOf) -> Result<OpenedFile, AgentError> {
        self.files(|reply| FilesWanted::Patch { of, reply }).await
    }

    async fn files<T>(
        &self,
        wanted: impl FnOnce(oneshot::Sender<Result<T, ExecError>>) -> FilesWanted,
    ) -> Result<T, AgentError> {
        let (reply, answer) = oneshot::channel();
        self.request(Request::Files(wanted(reply)));
        Ok(answer.await.unwrap_or(Err(ExecError::NothingStaged))?)
    }

    /// The changes that are staged, one by one with their hunks, for a decision that names them by
    /// their number. While somebody decides on a snapshot, it is that one; and whoever only watches
    /// sees the one that is held.
    pub async fn look_at_changes(&self, id: &str, by: Looker) -> Result<StagedLook, AgentError> {
        let (reply, answer) = oneshot::channel();
        self.request(Request::LookAtChanges { id: id.to_owned(), by, reply });
        let Ok(look) = answer.await else { return Err(ExecError::NothingStaged.into()) };
        Ok(look?)
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
        Ok(answer.await.unwrap_or_else(|_| Ok(Untrusted::default()))?)
    }

    /// The changes that are being reviewed one by one, with their hunks.
    pub async fn shown_changes(&self, id: &str) -> Result<Vec<ShownChange>, AgentError> {
        let (reply, answer) = oneshot::channel();
        self.request(Request::ShowChanges { id: id.to_owned(), reply });
        Ok(answer.await.unwrap_or_else(|_| Ok(Vec::new()))?)
    }

    /// The change set that is being reviewed, as a diff.
    pub async fn diff(&self, id: &str) -> Result<Untrusted, AgentError> {
        let (reply, answer) = oneshot::channel();
        self.request(Request::Diff { id: id.to_owned(), reply });
        // A runner that is gone has nothing staged.
        Ok(answer.await.unwrap_or_else(|_| Ok(Untrusted::default()))?)
    }
}

/// The updates of a session.
#[derive(Debug)]
pub struct SessionUpdates(mpsc::Receiver<Update>);

impl SessionUpdates {
    /// Waits for the next one; none after the last. May be dropped at any time without losing one.
    pub async fn next(&mut self) -> Option<Update> {
        self.0.recv().await
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
