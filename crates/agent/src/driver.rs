//! The one loop: record, decide, record, act.
//!
//! The order is the promise. An event is on record before the session sees it, an effect before
//! it is performed; if the record cannot be written, nothing more happens.

use self::calls::{Call, Purpose, next_piece};
use crate::{
    AgentError, Mode, Scene, Update, audience::Chosen, error::exec_failure, journal::Journal,
    network,
};
use interpreter_analyze::analyze;
use interpreter_core::{
    Body, Language, Permit,
    instructions::Strength,
    session::{Approval, Chunk, Effect, Event, Ran, Settle, State, step},
};
use interpreter_exec::{Command, Happening, Interpreters, Report, Runner, workspace::Conflict};
use interpreter_model::{Model, Piece};
use std::{collections::VecDeque, future::pending, rc::Rc, time::Instant};
use tokio::sync::mpsc;

mod calls;

/// Withheld changes that are named where nothing else is staged.
const NAMED: usize = 20;

/// Bytes of output from which on a record gets no more.
const GATHERED: usize = 128 << 10;

pub(crate) struct Driver {
    journal: Journal,
    state: Option<State>,
    /// The model that is talked to, and how it writes.
    model: Option<Rc<Model>>,
    sampling: Sampling,
    /// A model that was found, and that the session has not taken yet.
    found: Option<(Model, Sampling)>,
    runner: Rc<Runner>,
    happenings: mpsc::Receiver<Happening>,
    updates: mpsc::Sender<Update>,
    /// The call of the model that is under way.
    call: Option<Call>,
    /// What runs as soon as its kernel is ready.
    permit: Option<Permit>,
    /// Whether somebody waits for the runner, so that its failure is theirs.
    waiting: Waiting,
    /// Events that the loop owes itself.
    owed: VecDeque<Event>,
    /// What the runner said while its output was gathered.
    next: Option<Happening>,
    /// Where models come from, and where the person's config file is.
    scene: Rc<Scene>,
}

/// What the settings say about replies.
#[derive(Clone, Copy)]
pub(crate) struct Sampling {
    pub(crate) max_tokens: Option<u32>,
    pub(crate) temperature: Option<f32>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Waiting {
    Nobody,
    Session,
}

enum Woken {
    Event(Option<Event>),
    Happening(Option<Happening>),
    Piece(Option<Piece>),
}

impl Driver {
    pub(crate) fn new(
        scene: &Rc<Scene>,
        mode: Mode,
        approval: Approval,
        updates: mpsc::Sender<Update>,
    ) -> Result<Self, AgentError> {
        let (model, audience, sampling, notes) = match mode {
            Mode::Chat => {
                let Chosen { model, audience, sampling, notes } = scene.chosen(None)?;
                model.prepare();
                (Some(Rc::new(model)), audience, sampling, notes)
            }
            Mode::Run => {
                (None, scene.audience(None, &[]), scene.sampling(Strength::Usual), Vec::new())
            }
        };
        let id = interpreter_store::new_session_id();
        let setup = scene.setup(audience, approval);
        let mut log = scene.log()?;
        let started = log.append(
            &id,
            &Body::SessionStarted {
                version: env!("CARGO_PKG_VERSION").into(),
                model: model.as_ref().map(|model| model.name().to_owned()),
                confinement: Box::new(setup.confinement.clone()),
            },
        )?;
        // Nobody listens yet, and there is room for more than this.
        _ = updates.try_send(Update::Records(vec![started])).is_ok();
        // Each may be a quarter of a megabyte, and is taken in sooner while it is in a cache.
        let (tell, happenings) = mpsc::channel(4);
        let runner = Rc::new(Runner::start(scene.runner_setup(&id)?, tell));
        let mut journal = Journal::new(id, log, scene.outputs());
        for text in notes {
            journal.note(Body::Note { text });
        }
        let driver = Self {
            journal,
            model,
            sampling,
            found: None,
            runner,
            happenings,
            updates,
            call: None,
            permit: None,
            waiting: Waiting::Nobody,
            owed: VecDeque::new(),
            next: None,
            scene: Rc::clone(scene),
            state: Some(State::new(setup)),
        };
        if mode == Mode::Chat {
            driver.warm_up(scene.interpreters());
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

    pub(crate) fn runner(&self) -> Rc<Runner> {
        Rc::clone(&self.runner)
    }

    /// Starts the sandbox and the first language's kernel while the person types and the model
    /// thinks. Whether it works is found out when it is needed.
    fn warm_up(&self, interpreters: &Interpreters) {
        let Some(state) = &self.state else { return };
        let first = state.languages().names().next().and_then(|name| state.languages().find(name));
        if let Some(language) = first.filter(|first| interpreters.may_start_early(first)) {
            let confinement = state.confinement().clone();
            self.runner.tell(Command::Prepare { language, confinement });
        }
    }

    pub(crate) async fn run(mut self, mut inbox: mpsc::UnboundedReceiver<Event>) {
        let result = self.drive(&mut inbox).await;
        self.stop().await;
        let result = match result {
            Ok(()) => self.write_record().await,
            Err(error) => Err(error),
        };
        self.update(Update::Ended(result)).await;
    }

    async fn drive(
        &mut self,
        inbox: &mut mpsc::UnboundedReceiver<Event>,
    ) -> Result<(), AgentError> {
        while !self.state.as_ref().is_none_or(State::has_ended) {
            if let Some(event) = self.owed.pop_front() {
                self.happened(event).await?;
                continue;
            }
            // What is there already is taken in without waiting, the person first.
            let woken = if let Ok(event) = inbox.try_recv() {
                Woken::Event(Some(event))
            } else if let Some(happening) = self.next_happening() {
                Woken::Happening(Some(happening))
            } else if let Some(woken) = self.wait(inbox).await {
                woken
            } else {
                self.write_record().await?;
                continue;
            };
            self.woken(woken).await?;
            if self.journal.is_full() {
                let records = self.journal.make_room().await?;
                self.update(Update::Records(records)).await;
            }
        }
        self.write_record().await
    }

    /// Waits until something comes, but not past the moment when what was noted must be written.
    async fn wait(&mut self, inbox: &mut mpsc::UnboundedReceiver<Event>) -> Option<Woken> {
        Some(tokio::select! {
            event = inbox.recv() => Woken::Event(event),
            happening = self.happenings.recv() => Woken::Happening(happening),
            piece = next_piece(self.call.as_mut()) => Woken::Piece(piece),
            () = until(self.journal.due()) => return None,
        })
    }

    async fn woken(&mut self, woken: Woken) -> Result<(), AgentError> {
        match woken {
            // A front end that is gone cannot be asked anything: the session is over.
            Woken::Event(event) => self.happened(event.unwrap_or(Event::Quit)).await,
            Woken::Happening(Some(happening)) => self.runner_says(happening).await,
            Woken::Happening(None) => self.happened(Event::Quit).await,
            Woken::Piece(Some(piece)) => {
                self.hear(piece).await;
                Ok(())
            }
            Woken::Piece(None) => self.model_done().await,
        }
    }

    /// What the runner has said already, if it has.
    fn next_happening(&mut self) -> Option<Happening> {
        self.next.take().or_else(|| self.happenings.try_recv().ok())
    }

    /// Records an event, takes the step, records each effect and performs it.
    async fn happened(&mut self, event: Event) -> Result<(), AgentError> {
        for body in event.bodies() {
            self.journal.note(body);
        }
        let state = self.state.take().expect("only this function takes the state, and returns it");
        let (state, effects) = step(state, event);
        self.state = Some(state);
        let model = self.model_name().unwrap_or_default().to_owned();
        for effect in effects {
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

    /// Puts on record what was noted, and shows it.
    async fn write_record(&mut self) -> Result<(), AgentError> {
        if self.journal.is_written() {
            return Ok(());
        }
        let records = self.journal.write().await?;
        self.update(Update::Records(records)).await;
        Ok(())
    }

    /// Tells the front end. If it is gone, the loop finds out by its events' end.
    async fn update(&self, update: Update) {
        _ = self.updates.send(update).await.is_ok();
    }

    async fn perform(&mut self, effect: Effect) {
        match effect {
            // It was recorded, which is all.
            Effect::Note(_) | Effect::End => {}
            Effect::CallModel { messages, .. } => self.call_model(messages, Purpose::Reply),
            Effect::Summarise { messages } => self.call_model(messages, Purpose::Summary),
            Effect::CancelModel => self.cancel_model().await,
            Effect::Judge(proposal) => {
                let findings = analyze(&proposal.language, proposal.code().raw());
                self.owed.push_back(Event::Judged(findings));
            }
            Effect::Look(look) => {
                let seen = self.journal.look(&look);
                let seen = seen.unwrap_or_else(|error| Err(crate::error::chain(&error)));
                self.owed.push_back(Event::Looked(seen));
            }
            Effect::Ask(question) => self.update(Update::Ask(Box::new(question))).await,
            Effect::Run(permit) => {
                self.waiting = Waiting::Session;
                let language = permit.proposal().language.clone();
                let confinement = permit.confinement().clone();
                self.permit = Some(permit);
                self.runner.tell(Command::Prepare { language, confinement });
            }
            Effect::AskInput(wanted) => self.update(Update::Input(wanted)).await,
            Effect::AskHost(wanted) => self.update(Update::Host(wanted)).await,
            Effect::AnswerHost(answer) => {
                if let Some(text) = network::keep(&self.scene.folders, &answer) {
                    self.journal.note(Body::Note { text });
                }
                self.runner.tell(Command::AnswerHost(answer));
            }
            Effect::GiveInput(typed) => self.runner.tell(Command::Answer(typed)),
            Effect::Interrupt => match self.permit.take() {
                // It has not begun, so there is nothing to interrupt.
                Some(permit) => self.owed.push_back(Event::Ran(Ran {
                    proposal: permit.proposal().id.clone(),
                    status: Some(130),
                    ..Ran::default()
                })),
                None => self.runner.tell(Command::Interrupt),
            },
            Effect::Restart(language) => {
                self.waiting = Waiting::Session;
                self.runner.tell(Command::Restart(language));
            }
            Effect::FindModel(name) => {
                let found = self.find_model(&name);
                self.owed.push_back(Event::ModelFound(found));
            }
            Effect::UseModel => self.use_model(),
            Effect::Review { .. } => {
                self.waiting = Waiting::Session;
                self.runner.tell(Command::Review);
            }
            Effect::Settle { decision, .. } => {
                self.waiting = Waiting::Session;
                match decision {
                    Settle::Apply => self.runner.tell(Command::Apply(Conflict::Refuse)),
                    Settle::Discard => self.runner.tell(Command::Discard),
                    Settle::Later => {}
                }
            }
            Effect::FinishTurn(end) => self.update(Update::TurnFinished(end)).await,
        }
    }

    async fn runner_says(&mut self, happening: Happening) -> Result<(), AgentError> {
        match happening {
            Happening::Ready(report) => self.kernel_ready(report).await,
            Happening::Output(chunk) => {
                let whole = self.gather(chunk);
                self.happened(Event::Output(whole)).await
            }
            Happening::Line(line) => {
                self.update(Update::Line(line)).await;
                Ok(())
            }
            Happening::InputWanted(wanted) => self.happened(Event::InputWanted(wanted)).await,
            Happening::HostWanted(wanted) => self.happened(Event::HostWanted(wanted)).await,
            Happening::Ran(ran) => {
                self.waiting = Waiting::Nobody;
                self.happened(Event::Ran(ran)).await
            }
            Happening::KernelEnded { language, how } => {
                self.happened(Event::KernelEnded { language, how }).await
            }
            Happening::Restarted(languages) => {
                self.waiting = Waiting::Nobody;
                self.happened(Event::Restarted(languages)).await
            }
            Happening::Review { id, files, left_out } => {
                self.waiting = Waiting::Nobody;
                if files.is_empty() {
                    // All of it is withheld, or was taken back meanwhile.
                    for one in left_out.iter().take(NAMED) {
                        self.journal.note(Body::Note { text: one.line() });
                    }
                    if left_out.len() > NAMED {
                        let text = format!("left out {} more", left_out.len() - NAMED);
                        self.journal.note(Body::Note { text });
                    }
                    return self.happened(Event::Decided(Settle::Later)).await;
                }
                self.update(Update::Review { id, files, left_out }).await;
                Ok(())
            }
            Happening::Settled { id, state, files, left_out } => {
                self.waiting = Waiting::Nobody;
                self.happened(Event::Settled { id, state, files, left_out }).await
            }
            Happening::Failed(error) => {
                self.permit = None;
                match std::mem::replace(&mut self.waiting, Waiting::Nobody) {
                    Waiting::Session => self.happened(Event::Failed(exec_failure(&error))).await,
                    Waiting::Nobody => Ok(()),
                }
            }
            Happening::TriedLate(_) | Happening::DeniedLate(_) | Happening::Stopped => Ok(()),
        }
    }

    /// Joins a piece of output with those that have come right behind it: one record of much
    /// instead of many of little.
    #[expect(clippy::wildcard_enum_match_arm, reason = "whatever is not more of it comes after it")]
    fn gather(&mut self, mut chunk: Chunk) -> Chunk {
        while let Some(happening) = self.next_happening() {
            match happening {
                Happening::Output(more)
                    if chunk.goes_on_in(&more) && chunk.text.raw().len() < GATHERED =>
                {
                    chunk.text.push(&more.text);
                }
                other => {
                    self.next = Some(other);
                    break;
                }
            }
        }
        chunk
    }

    /// The last thing before code runs: what bounds it goes on record.
    async fn kernel_ready(&mut self, report: Report) -> Result<(), AgentError> {
        let fits = |language: &Language| *language == report.language;
        let Some(permit) = self.permit.take_if(|permit| fits(&permit.proposal().language)) else {
            return Ok(());
        };
        self.journal.note(Body::RunStarted {
            proposal: permit.proposal().id.clone(),
            hash: permit.proposal().hash().into(),
            backend: report.protection.backend.into(),
            enforced: report.protection.enforced,
            missing: report.protection.missing,
        });
        self.write_record().await?;
        self.runner.tell(Command::Run(permit));
        Ok(())
    }

    /// Ends everything and waits until it has ended.
    async fn stop(&mut self) {
        if let Some(call) = self.call.take() {
            call.task.abort();
        }
        self.runner.tell(Command::Stop);
        while let Some(happening) = self.happenings.recv().await {
            if let Happening::TriedLate(contacts) = &happening {
                for text in network::tried_late(contacts) {
                    self.journal.note(Body::Note { text });
                }
            }
            if let Happening::DeniedLate(denials) = &happening {
                for denial in denials {
                    let text = format!("after the last run: {}", denial.line());
                    self.journal.note(Body::Note { text });
                }
            }
            if matches!(happening, Happening::Stopped) {
                break;
            }
        }
    }
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due.into()).await,
        None => pending().await,
    }
}
