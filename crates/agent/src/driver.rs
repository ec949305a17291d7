//! The one loop: record, decide, record, act.
//!
//! The order is the promise. An event is on record before the session sees it, an effect before
//! it is performed; if the record cannot be written, nothing more happens.

use self::{
    calls::{Call, next_piece},
    rewinding::Checkpoints,
};
use crate::{
    AgentError, Context,
    error::exec_failure,
    journal::Journal,
    meter::Meter,
    profile::{Chosen, Sampling},
    update::{Mode, NotBegun, Request, Update},
};
use interpreter_analyze::Past;
use interpreter_core::{
    Body, Message, Output, Record, Redactor,
    budget::Spent,
    hash::sha256,
    instructions::Strength,
    redact::RedactedOutput,
    session::{Approval, Effect, Event, State},
};
use interpreter_exec::{Command, ExecError, Runner};
use interpreter_model::{Model, ReplyPiece};
use interpreter_store::{Log, LogEntry, RunningSession};
use interpreter_workspace::ReceivedFile;
use std::{
    collections::VecDeque,
    future::pending,
    sync::{Arc, Mutex},
    time::Instant,
};
use tokio::{sync::mpsc, task::JoinHandle};

mod asked;
mod calls;
mod performing;
mod redacting;
mod resuming;
mod rewinding;

/// Bytes of output from which on a record gets no more.
const GATHERED: usize = 128 << 10;

pub(crate) struct Driver {
    journal: Journal,
    state: State,
    /// The model that is talked to, and how it writes.
    model: Option<Arc<Model>>,
    sampling: Sampling,
    /// A model that was found and that the session has not taken yet, with the opening of its
    /// conversations.
    found: Option<(Model, Sampling, Vec<Message>)>,
    runner: Runner,
    reports: mpsc::Receiver<Report>,
    updates: mpsc::Sender<Update>,
    /// The call of the model that is under way.
    call: Option<Call>,
    /// Slow work on another thread, and the event that it ends in.
    work: Option<JoinHandle<Event>>,
    /// Events that the loop owes itself.
    owed: VecDeque<Event>,
    /// Counts what is spent.
    meter: Meter,
    /// A report that came while output was gathered.
    next: Option<Report>,
    /// The names that the code has set so far, for the analysis of later code.
    past: Past,
    /// The same after the proposal that was analysed last, if it runs.
    learned: Arc<Mutex<Option<(String, Past)>>>,
    /// Scanners that are set and do not run, to be named once.
    missing_scanners: Option<String>,
    /// The checkpoints, if somebody may want to go back to them.
    checkpoints: Option<Checkpoints>,
    /// Takes secrets out of everything that is taken in.
    redactor: Arc<Redactor>,
    /// Output that may still turn out to be a secret.
    output: RedactedOutput,
    /// A file of the person's own, until the runner gets it.
    received: Option<ReceivedFile>,
    /// The number of the newest record of changes.
    newest_changes: u64,
    /// The number of the newest record that says how the session stands.
    newest_standing: u64,
    /// Where models come from, and where the person's config file is.
    context: Arc<Context>,
}

/// A report of the runner.
type Report = Result<Event, ExecError>;

enum Woken {
    Asked(Option<Request>),
    Reported(Option<Report>),
    ReplyPiece(Option<ReplyPiece>),
    CallIsDue,
    Worked(Event),
}

impl Driver {
    pub(crate) fn new(
        context: &Arc<Context>,
        mode: Mode,
        approval: Approval,
        who: Option<&str>,
        updates: mpsc::Sender<Update>,
    ) -> Result<Self, AgentError> {
        let (model, profile, sampling, notes) = match mode {
            Mode::Chat => {
                let Chosen { model, profile, sampling, notes } = context.chosen(None)?;
                model.prepare(&profile.opening);
                (Some(Arc::new(model)), profile, sampling, notes)
            }
            Mode::Run => {
                (None, context.profile(None, &[]), context.sampling(Strength::Usual), Vec::new())
            }
        };
        context.make_packages_folder()?;
        let id = interpreter_store::new_session_id();
        let setup = context.setup(profile, approval, mode);
        let meter = Meter::new(context.ledger(), &setup.budget.day);
        let mut log = context.log()?;
        let running = RunningSession::begin(&context.folders, &id)?;
        let redactor = Arc::clone(&context.redactor);
        let started = redactor.body(Body::SessionStarted {
            version: env!("CARGO_PKG_VERSION").into(),
            model: model.as_ref().map(|model| model.name().to_owned()),
            confinement: Box::new(setup.confinement.clone()),
            opening: Some(setup.profile.opening.len()),
            asks: Some(context.how_asked(approval)),
            imported: false,
        });
        let started = LogEntry::now(started).by(who.map(str::to_owned));
        let seq = log.append_all(&id, std::slice::from_ref(&started))?;
        let started = started.into_record(seq, &id);
        // Nobody listens yet, and there is room for more than this.
        _ = updates.try_send(Update::Records(vec![started])).is_ok();
        // Each may be a quarter of a megabyte, and is taken in sooner while it is in a cache.
        let (tell, reports) = mpsc::channel(4);
        let runner = Runner::start(context.runner_setup(&id)?, tell);
        let (folders, outputs) = (&context.folders, context.outputs());
        let mut journal = Journal::new(running, folders, log, outputs, Arc::clone(&redactor));
        for text in notes.into_iter().chain(context.unremoved()) {
            journal.note(Body::Note { text });
        }
        let mut driver = Self {
            journal,
            state: State::new(setup),
            model,
            sampling,
            found: None,
            runner,
            reports,
            updates,
            call: None,
            work: None,
            missing_scanners: context.missing_scanners(),
            owed: VecDeque::new(),
            meter,
            past: Past::default(),
            learned: Arc::default(),
            checkpoints: None,
            next: None,
            redactor,
            output: RedactedOutput::default(),
            received: None,
            newest_changes: 0,
            newest_standing: 0,
            context: Arc::clone(context),
        };
        if mode == Mode::Chat {
            driver.warm_up();
        }
        Ok(driver)
    }

    pub(crate) fn id(&self) -> &str {
        self.journal.session()
    }

    /// The name of the model that is talked to.
    pub(crate) fn model_name(&self) -> Option<&str> {
        self.model.as_ref().map(|model| model.name())
    }

    /// Starts the sandbox and the first language's kernel while the person types and the model
    /// thinks. Whether it works is found out when it is needed.
    fn warm_up(&mut self) {
        let languages = self.state.languages();
        let first = languages.names().next().and_then(|name| languages.find(name));
        let early = first.filter(|first| self.context.interpreters().may_start_early(first));
        self.owed.extend(early.map(Event::Expected));
    }

    pub(crate) async fn run(mut self, mut inbox: mpsc::UnboundedReceiver<Request>) {
        let result = self.drive(&mut inbox).await;
        self.stop().await;
        let result = match result {
            Ok(()) => self.write_record().await,
            Err(error) => Err(error),
        };
        if cfg!(debug_assertions) && result.is_ok() {
            self.check_replay();
        }
        if result.is_ok() {
            self.journal.retain(&self.context.folders, self.context.retention());
        }
        self.update(Update::Ended(result)).await;
    }

    async fn drive(
        &mut self,
        inbox: &mut mpsc::UnboundedReceiver<Request>,
    ) -> Result<(), AgentError> {
        while !self.state.has_ended() {
            if let Some(event) = self.owed.pop_front() {
                self.happened(event).await?;
                continue;
            }
            // Pending requests are taken in without waiting, the person's first.
            let woken = if let Ok(request) = inbox.try_recv() {
                Woken::Asked(Some(request))
            } else if let Some(report) = self.next_report() {
                Woken::Reported(Some(report))
            } else if let Some(woken) = self.wait(inbox).await {
                woken
            } else {
                self.write_record().await?;
                continue;
            };
            self.woken(woken).await?;
            if self.journal.is_full() {
                let records = self.journal.make_room().await?;
                self.show_records(records).await;
            }
        }
        self.write_record().await
    }

    /// Waits until something comes, but not past the moment when what was noted must be written.
    async fn wait(&mut self, inbox: &mut mpsc::UnboundedReceiver<Request>) -> Option<Woken> {
        let due = self.call.as_ref().and_then(Call::due);
        Some(tokio::select! {
            request = inbox.recv() => Woken::Asked(request),
            report = self.reports.recv() => Woken::Reported(report),
            piece = next_piece(self.call.as_mut()) => Woken::ReplyPiece(piece),
            () = until(due) => Woken::CallIsDue,
            event = worked(self.work.as_mut()) => Woken::Worked(event),
            () = until(self.journal.due()) => return None,
        })
    }

    async fn woken(&mut self, woken: Woken) -> Result<(), AgentError> {
        match woken {
            Woken::Asked(Some(request)) => self.requested(request).await,
            // A front end that is gone cannot be asked anything: the session is over.
            Woken::Asked(None) | Woken::Reported(None) => self.happened(Event::Quit).await,
            Woken::Reported(Some(Ok(Event::Output(output)))) => {
                let whole = self.gather(output);
                self.happened(Event::Output(whole)).await
            }
            Woken::Reported(Some(Ok(Event::Ran(ran)))) => {
                if self.model.is_some() {
                    self.count(Spent { milliseconds: ran.ms, ..Spent::default() }).await?;
                }
                self.happened(Event::Ran(ran)).await
            }
            Woken::Reported(Some(Ok(event))) => self.happened(event).await,
            Woken::Reported(Some(Err(error))) => {
                self.happened(Event::RunnerFailed(exec_failure(&error))).await
            }
            Woken::ReplyPiece(Some(piece)) => {
                self.hear(piece).await;
                Ok(())
            }
            Woken::ReplyPiece(None) => self.model_done().await,
            Woken::CallIsDue => self.call_is_due().await,
            Woken::Worked(event) => {
                self.work = None;
                self.happened(event).await
            }
        }
    }

    /// Does what a front end asks for. Like an event, it is on record first.
    async fn requested(&mut self, request: Request) -> Result<(), AgentError> {
        match request {
            Request::Happened { event, who } => {
                self.journal.heard(who);
                let taken = self.asked_for(event).await;
                self.journal.heard(None);
                return taken;
            }
            Request::Answer { given, reply } => {
                let checked = self.state.check_answer(&given);
                let counts = checked.is_ok();
                // Whoever answered may have left.
                _ = reply.send(checked).is_ok();
                if counts {
                    self.journal.heard(given.who.clone());
                    let taken = self.happened(Event::QuestionAnswered(given)).await;
                    self.journal.heard(None);
                    return taken;
                }
            }
            Request::KeepCheckpoints => self.checkpoints = Some(Checkpoints::default()),
            Request::Checkpoint { number, reply } => {
                match self.checkpoints.as_mut().and_then(|all| all.of(number)) {
                    Some(checkpoint) => {
                        self.runner.tell(Command::LookAgain { checkpoint, reply });
                    }
                    // Whoever asked may have left.
                    None => _ = reply.send(None).is_ok(),
                }
            }
            Request::CountPrograms(reply) => self.runner.tell(Command::CountPrograms(reply)),
            Request::Begin { events, beside, who, newest, reply } => {
                if self.state.is_idle() && self.journal.keep_packed(beside).await.is_err() {
                    // Whoever asked may have left.
                    _ = reply.send(Err(NotBegun::NotKept)).is_ok();
                    return Ok(());
                }
                return self.begin(events, who, newest, reply).await;
            }
            Request::Put { path, file, who, reply } => {
                return self.put(path, file, who, reply).await;
            }
            Request::Files(wanted) => self.open_files(wanted),
            Request::LookAtChanges { id, by, reply } => {
                return self.look_at_changes(id, by, reply).await;
            }
            Request::Written(reply) => {
                self.write_record().await?;
                // Whoever asked may have left.
                _ = reply.send(()).is_ok();
            }
            Request::Complete { language, code, cursor, reply } => {
                let (name, hash) = (language.name().into(), sha256(code.as_bytes()));
                self.journal.note(Body::CompletionWanted { language: name, hash });
                self.write_record().await?;
                self.runner.tell(Command::Complete { language, code, cursor, reply });
            }
            Request::ShowChanges { id, reply } => {
                self.journal.note(Body::DiffShown { id });
                self.write_record().await?;
                self.runner.tell(Command::ShowChanges(reply));
            }
            Request::Diff { id, reply } => {
                self.journal.note(Body::DiffShown { id });
                self.write_record().await?;
                self.runner.tell(Command::Diff(reply));
            }
            Request::DiffNow { id, paths, reply } => {
                self.journal.note(Body::DiffShown { id });
                self.write_record().await?;
                self.runner.tell(Command::DiffNow { paths, reply });
            }
        }
        Ok(())
    }

    /// Takes in an event of a front end.
    async fn asked_for(&mut self, event: Event) -> Result<(), AgentError> {
        if let Event::Asked(prompt) = &event
            && self.state.wants_file_headers()
        {
            for header in self.context.file_headers(prompt) {
                self.happened(Event::HeaderGiven(header)).await?;
            }
        }
        if let Event::Asked(_) | Event::Retried = &event {
            self.count(Spent { turns: 1, ..Spent::default() }).await?;
        }
        if let Event::Resumed(earlier) = event {
            return self.resume(earlier).await;
        }
        self.happened(event).await
    }

    /// A report of the runner that is there already.
    fn next_report(&mut self) -> Option<Report> {
        self.next.take().or_else(|| self.reports.try_recv().ok())
    }

    /// Records an event, takes the step, records each effect and performs it.
    async fn take_in(&mut self, event: Event) -> Result<(), AgentError> {
        for body in self.state.bodies(&event) {
            self.journal.note(body);
        }
        let effects = self.state.step(event);
        let model = self.model_name().unwrap_or_default().to_owned();
        for effect in effects {
            if matches!(effect, Effect::End) {
                // Whatever was left running may have done more, and that is part of the session.
                self.stop().await;
            }
            if let Some(body) = effect.body(&model) {
                self.journal.note(body);
            }
            if effect.reaches_out() {
                self.write_record().await?;
            }
            self.perform(effect).await;
        }
        Ok(())
    }

    /// Counts what was spent, and tells the session.
    async fn count(&mut self, spent: Spent) -> Result<(), AgentError> {
        let counted = self.meter.count(spent)?;
        self.happened(Event::Counted(counted)).await
    }

    /// The same for a call that has ended, in place of what was expected of it.
    async fn count_call(&mut self, spent: Spent) -> Result<(), AgentError> {
        let counted = self.meter.count_call(spent)?;
        self.happened(Event::Counted(counted)).await
    }

    /// Puts on record what was noted, and shows it.
    async fn write_record(&mut self) -> Result<(), AgentError> {
        if self.journal.is_written() {
            return Ok(());
        }
        let records = self.journal.write().await?;
        self.show_records(records).await;
        Ok(())
    }

    async fn show_records(&mut self, records: Vec<Record>) {
        let newest = records.iter().rev().find(|one| matches!(one.body, Body::Changes(_)));
        self.newest_changes = newest.map_or(self.newest_changes, |record| record.seq);
        let standing = records.iter().rfind(|one| !one.body.is_passing());
        self.newest_standing = standing.map_or(self.newest_standing, |record| record.seq);
        self.update(Update::Records(records)).await;
    }

    /// Tells the front end. If it is gone, the loop finds out by its events' end.
    async fn update(&mut self, update: Update) {
        _ = self.updates.send(update).await.is_ok();
    }

    /// Joins a piece of output with those that have come right behind it: one record of much
    /// instead of many of little.
    fn gather(&mut self, mut output: Output) -> Output {
        while let Some(report) = self.next_report() {
            match report {
                Ok(Event::Output(more))
                    if output.goes_on_in(&more) && output.text.raw().len() < GATHERED =>
                {
                    output.text.push(&more.text);
                }
                other => {
                    self.next = Some(other);
                    break;
                }
            }
        }
        output
    }

    /// The record of every session is its replay. Every session of a test is checked for that.
    fn check_replay(&self) {
        let Ok(log) = Log::open_to_read(&self.context.folders) else { return };
        let records: Result<Vec<_>, _> =
            log.records(self.id()).map(|record| record.map(|record| record.body)).collect();
        if let Ok(records) = records {
            assert!(self.state.is_told_by(records), "the record tells another conversation");
        }
    }

    /// Ends everything and waits until it has ended.
    async fn stop(&mut self) {
        self.drop_call();
        if let Some(work) = self.work.take() {
            work.abort();
        }
        if self.model.is_some() {
            // Budgets of the day count with it; there is nobody left to tell.
            _ = self.meter.write().is_ok();
        }
        self.runner.tell(Command::Stop);
        let mut next = self.next.take();
        while let Some(report) = match next.take() {
            Some(report) => Some(report),
            None => self.reports.recv().await,
        } {
            // A run that has ended just now has contacts too.
            if let Ok(event @ (Event::TriedLate { .. } | Event::Ran(_))) = report {
                for body in self.state.bodies(&event) {
                    self.journal.note(body);
                }
            }
        }
    }
}

/// Waits for the work on another thread.
async fn worked(work: Option<&mut JoinHandle<Event>>) -> Event {
    match work {
        // A panic is a bug, which must not pass for a result.
        Some(work) => {
            work.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
        }
        None => pending().await,
    }
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due.into()).await,
        None => pending().await,
    }
}
