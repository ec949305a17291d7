//! The loop behind a runner: commands, frames and alarms in, actions performed, events out.
//!
//! [`State`] decides, this performs. Must not decide anything itself beyond what a system call has
//! just answered.

use super::{
    cell::Cell,
    command::{Command, RunnerSetup},
    files_back::Going,
    hosts::{Wanted, WayOut},
    live::Live,
    staged::Stage,
    state::{Action, State},
};
use crate::{
    ExecError,
    egress::AskedHost,
    sandbox::{Refusals, Search},
};
use interpreter_core::{
    ChangesState, Confinement, Denial, Effects, Invocation, Language, Limits, Prepared, Ran,
    Redactor, session::Event,
};
use interpreter_workspace::{Measured, Set};
use std::{
    future::pending,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::mpsc;

mod going_back;
mod late;
mod putting;
mod settling;

/// The shortest run that can use up the memory of all processes together.
const NOTICED: Duration = Duration::from_millis(1);

pub(super) struct Actor {
    setup: RunnerSetup,
    events: mpsc::Sender<Result<Event, ExecError>>,
    state: State,
    live: Option<Live>,
    /// Sandboxes that were tried in vain.
    search: Search,
    stage: Stage,
    way_out: WayOut,
    /// Refusals of the sandbox since the last run was reported.
    refusals: Refusals,
    /// A remark that goes with the next run.
    remark: Option<String>,
    /// The newest run that has begun.
    newest_run: Option<String>,
}

/// The reason why the loop woke up.
enum Woken {
    Told(Option<Box<Command>>),
    Read(Result<bool, ExecError>),
    Wanted(Wanted),
    Counted(std::io::Result<Measured>),
    Alarm,
}

impl Actor {
    pub(super) fn new(setup: RunnerSetup, events: mpsc::Sender<Result<Event, ExecError>>) -> Self {
        let stage = Stage::masked_with(Arc::clone(&setup.redactor));
        Self {
            setup,
            events,
            state: State::new(),
            live: None,
            search: Search::default(),
            stage,
            way_out: WayOut::default(),
            refusals: Refusals::default(),
            remark: None,
            newest_run: None,
        }
    }

    pub(super) async fn run(mut self, mut inbox: mpsc::UnboundedReceiver<Command>) {
        loop {
            let alarm = self.state.alarm().into_iter().chain(self.stage.disk.alarm()).min();
            let woken = tokio::select! {
                command = inbox.recv() => Woken::Told(command.map(Box::new)),
                read = read(self.live.as_mut()) => Woken::Read(read),
                wanted = self.way_out.wanted() => Woken::Wanted(wanted),
                found = self.stage.disk.counted() => Woken::Counted(found),
                () = wait_until(alarm) => Woken::Alarm,
            };
            let now = Instant::now();
            let decided = match woken {
                Woken::Told(None) => break,
                Woken::Told(Some(command)) if matches!(*command, Command::Stop) => break,
                Woken::Told(Some(command)) => self.told(*command, now).await,
                Woken::Read(Ok(true)) => self.take_heard().await,
                Woken::Read(Ok(false) | Err(_)) => self.stream_ended().await,
                Woken::Wanted(Wanted::Host(AskedHost { host, port, listed })) => {
                    self.state.host_wanted(host, port, listed);
                    Ok(())
                }
                Woken::Wanted(Wanted::Use(number, of)) => {
                    self.state.use_wanted(number, of);
                    Ok(())
                }
                Woken::Counted(found) => {
                    if let Some((kernel, reached)) = self.stage.disk.take_count(found, now) {
                        self.state.disk_filled(kernel, reached, now);
                    }
                    Ok(())
                }
                Woken::Alarm => {
                    if let Some((kernel, reached)) = self.stage.disk.alarmed(now) {
                        self.state.disk_filled(kernel, reached, now);
                    }
                    self.state.alarmed(now);
                    Ok(())
                }
            };
            let performed = self.perform_all().await;
            if let Err(error) = decided.and(performed) {
                self.state.failed();
                self.report(Err(error)).await;
            }
        }
        self.stop().await;
    }

    async fn stop(mut self) {
        self.end().await;
        self.way_out.end_run();
        let denials = self.refusals.take().list();
        self.report_late(denials).await;
        if let Err(error) = self.stage.close(&self.setup) {
            self.report(Err(error)).await;
        }
    }

    /// Reports. If nobody listens any more, the session is over and the next command says so.
    async fn report(&self, event: Result<Event, ExecError>) {
        _ = self.events.send(event).await.is_ok();
    }

    fn mask_with(&mut self, redactor: Arc<Redactor>) {
        self.way_out.mask_with(&redactor);
        self.stage.redactor = redactor;
    }

    async fn told(&mut self, command: Command, now: Instant) -> Result<(), ExecError> {
        match command {
            Command::Prepare { language, confinement } => {
                self.state.prepare(language, *confinement);
            }
            Command::Run(permit) => self.state.run(*permit, now)?,
            Command::Interrupt => self.state.interrupt(now),
            Command::Answer(typed) => self.state.answer(typed),
            Command::AnswerHost(answer) => self.state.host_answered(answer),
            Command::CloseHost(host, port) => self.way_out.close(host, port),
            Command::MaskWith(redactor) => self.mask_with(redactor),
            Command::AnswerUse { number, goes_out } => self.way_out.answer_use(number, goes_out),
            Command::Complete { language, code, cursor, reply } => {
                self.state.complete(&language, code, cursor, reply, now);
            }
            Command::Restart(language) => {
                self.report_between().await;
                self.state.restart(language.as_ref())?;
            }
            Command::Review => {
                if self.stage.set().is_some() {
                    let changes = self.review().await?;
                    self.report(Ok(Event::Reviewed(changes))).await;
                }
            }
            Command::Apply(order) => {
                if let Some(changes) = self.stage.apply(order).await? {
                    self.report(Ok(Event::Settled(changes))).await;
                }
            }
            Command::ApplyNow(picks) => self.apply_now(picks).await?,
            Command::ApplyShown { number, order } => self.apply_shown(number, order).await?,
            Command::Look { anew, decides, path, reply } => {
                let taken = self.look(anew).await;
                let look = taken.and_then(|()| self.stage.look(decides, path.as_deref()));
                _ = reply.send(look).is_ok();
            }
            Command::Undo(reach) => self.turn(ChangesState::Undone, reach).await?,
            Command::Redo(reach) => self.turn(ChangesState::Applied, reach).await?,
            Command::Discard(paths) => self.discard(&paths).await?,
            Command::DiscardShown { number, paths } => {
                self.stage.check_number(number)?;
                let paths = self.stage.shown_paths(paths)?;
                self.discard(&paths).await?;
            }
            Command::Put(order) => self.put(*order).await?,
            // Whoever wants files may have left.
            Command::OpenFile { path, confinement, reply } => {
                _ = reply.send(self.stage.open_file(path, *confinement).await).is_ok();
            }
            Command::Export { of, reply } => _ = reply.send(self.stage.export(of).await).is_ok(),
            Command::Patch { of, reply } => _ = reply.send(self.stage.patch(of).await).is_ok(),
            Command::DiffNow { paths, reply } => {
                let diff = self.review().await;
                _ = reply.send(diff.and_then(|_| self.stage.diff(&paths))).is_ok();
            }
            Command::ShowChanges(reply) => _ = reply.send(self.stage.show_changes()).is_ok(),
            Command::Diff(reply) => {
                let diff = self.diff().await;
                // Whoever asked may have left.
                _ = reply.send(diff).is_ok();
            }
            Command::Checkpoint { number, reply } => {
                let files = self.checkpoint_files(number).await;
                self.state.checkpoint(number, files, reply, now);
            }
            Command::LookAgain { checkpoint, reply } => self.state.look_again(checkpoint, reply),
            Command::Rewind { number, scope, reply } => {
                self.report_between().await;
                self.state.rewind(number, scope, reply, now);
            }
            Command::CountPrograms(reply) => self.state.count_programs(reply, now),
            Command::Stop => {}
        }
        Ok(())
    }

    async fn take_heard(&mut self) -> Result<(), ExecError> {
        while let Some(live) = &mut self.live {
            let Some(heard) = live.next_heard()? else { break };
            let decided = self.state.heard(heard, Instant::now(), || live.memory_ran_out());
            self.perform_all().await?;
            decided?;
        }
        Ok(())
    }

    async fn perform_all(&mut self) -> Result<(), ExecError> {
        while let Some(action) = self.state.next_action() {
            self.perform(action).await?;
        }
        Ok(())
    }

    async fn perform(&mut self, action: Action) -> Result<(), ExecError> {
        match action {
            Action::Report(event) => self.report(Ok(event)).await,
            Action::Fail(error) => return Err(error),
            Action::Build(confinement) => {
                let built = self.build(*confinement).await;
                if built.is_err() {
                    self.state.gone();
                }
                built?;
            }
            Action::End => self.end().await,
            Action::Start { kernel, language } => self.start(kernel, &language).await?,
            Action::Begin { kernel, code, invocation, limits, hosts, behind } => {
                self.report_late(Vec::new()).await;
                self.newest_run = Some(self.state.last_proposal.clone());
                self.way_out.begin_run(hosts);
                self.begin(kernel, code, invocation, &limits, behind).await?;
            }
            Action::AnswerHost { host, port, grant } => self.way_out.answer(host, port, grant),
            Action::AnswerUse { number, goes_out } => self.way_out.answer_use(number, goes_out),
            Action::Finish { cell, status, signal, kernel_ended } => {
                let ran = self.finished(*cell, status, signal, kernel_ended)?;
                self.report(Ok(Event::Ran(ran))).await;
            }
            Action::Restored if self.stage.is_going_back() => {
                if let Some(going) = self.stage.host_answered(true) {
                    self.files_are_back(going).await?;
                }
            }
            Action::Restored if self.stage.is_putting() => self.has_put().await?,
            Action::Restored => self.discarded().await?,
            Action::Send(frame) => {
                if let Some(live) = &mut self.live {
                    live.send(&frame).await?;
                }
            }
            Action::Answer { kernel, text } => {
                if let Some(live) = &mut self.live {
                    live.answer(kernel, text.as_deref());
                }
            }
            Action::Complete { kernel, code, cursor } => {
                if let Some(live) = &mut self.live {
                    live.complete(kernel, &code, cursor);
                }
            }
            Action::Copy { kernel, number } => {
                if let Some(live) = &mut self.live {
                    live.copy(kernel, number);
                }
            }
            Action::Emptied { clean } => {
                if let Some(going) = self.stage.host_answered(clean) {
                    self.files_are_back(going).await?;
                }
            }
            Action::RewindFiles { rewound, scope, reply } => {
                self.rewind_files(rewound, scope, reply).await?;
            }
            Action::Refused { code, path } => {
                let denied = self.live.as_ref().and_then(|live| live.view().denied(&path, &code));
                if let Some(denial) = denied {
                    self.refusals.note(denial);
                }
            }
            Action::Ready(language) => {
                if let Some(prepared) = self.live.as_ref().map(|live| prepared(live, language)) {
                    self.report(Ok(Event::Prepared(prepared))).await;
                }
            }
        }
        Ok(())
    }

    /// Starts the first sandbox that may be used. That it could not be built may also turn out
    /// later, see [`Actor::stream_ended`].
    async fn build(&mut self, confinement: Confinement) -> Result<(), ExecError> {
        self.end().await;
        loop {
            let backend = self.search.next(&confinement, &self.setup.machine)?;
            let remark = self.stage.open(backend, &confinement, &self.setup).await?;
            self.remark = remark.or(self.remark.take());
            self.way_out.open(&confinement, backend, &self.setup, &self.stage.redactor)?;
            let (set, door) = (self.stage.set(), self.way_out.doorway());
            let (machine, refusals) = (&self.setup.machine, &self.refusals);
            let started = Live::start(backend, confinement.clone(), set, door, refusals, machine);
            match started.await {
                Ok(live) => {
                    self.live = Some(live);
                    return Ok(());
                }
                Err(error) => self.search.refused(backend, error, confinement.sandbox.backend)?,
            }
        }
    }

    async fn end(&mut self) {
        if let Some(live) = self.live.take() {
            live.stop().await;
        }
    }

    async fn start(&mut self, kernel: u32, language: &Language) -> Result<(), ExecError> {
        let Some(live) = &mut self.live else { return Ok(()) };
        let Some(interpreter) = self.setup.interpreters.get(language) else {
            self.state.kernels.remove(kernel);
            return Err(ExecError::NoInterpreter { language: language.name().into() });
        };
        let started = live.start_kernel(kernel, interpreter, self.setup.input.of_kernel()).await;
        self.state.starts(kernel, self.setup.machine.patience.ready, Instant::now());
        match started {
            // It has ended; reading from it tells why.
            Err(ExecError::Stream(_)) => Ok(()),
            other => other,
        }
    }

    async fn begin(
        &mut self,
        kernel: u32,
        code: Vec<u8>,
        invocation: Option<Invocation>,
        limits: &Limits,
        behind: bool,
    ) -> Result<(), ExecError> {
        self.stage.forget_review();
        self.stage.give_up_discard()?;
        if let Some(live) = &mut self.live {
            let language = self.state.kernels.get_mut(kernel).map(|kernel| &kernel.language);
            let interpreters = &self.setup.interpreters;
            let takes = language.is_some_and(|language| interpreters.takes_arguments(language));
            let invocation = invocation.filter(|_| takes);
            live.execute(kernel, code, invocation, behind).await?;
            if let Some(end) = live.take_input(kernel) {
                self.setup.input.feed(end)?;
            }
        }
        // While the code begins.
        self.stage.begin_run(kernel, limits);
        Ok(())
    }

    /// How a run ended, with its effects.
    fn finished(
        &mut self,
        mut cell: Cell,
        status: Option<i32>,
        signal: Option<i32>,
        kernel_ended: bool,
    ) -> Result<Ran, ExecError> {
        let now = Instant::now();
        // A run that takes no time uses up no memory, so the count is not read after each of them.
        if cell.lasted(now) >= NOTICED && self.live.as_mut().is_some_and(Live::memory_ran_out) {
            cell.lost_a_process();
        }
        let limit = cell.limit_reached().map(|reached| reached.to_string());
        let mut ran = cell.ended(now, status, signal);
        ran.kernel_ended = kernel_ended;
        self.way_out.end_run();
        let (changes, files) = self.stage.changed()?;
        let (network, secrets) = self.way_out.contacts();
        let denials = Denial::all(self.refusals.take(), &network, limit);
        ran.effects = Effects { changes, files, network, denials, secrets };
        if ran.effects.files.len() >= Set::LISTED {
            ran.remark.get_or_insert(format!(
                "more than {} files differ, and only so many are listed here; the question at the \
                 end has all of them, and so has `interpreter changes diff`",
                Set::LISTED
            ));
        }
        if ran.remark.is_none() {
            ran.remark = self.remark.take();
        }
        Ok(ran)
    }

    /// The stream has ended without our doing. A sandbox that could not be built makes way for the
    /// next one that may be used instead: nothing has run in it.
    async fn stream_ended(&mut self) -> Result<(), ExecError> {
        let Some(live) = self.live.take() else { return Ok(()) };
        let (backend, confinement, answered) =
            (live.backend, live.confinement.clone(), live.answered);
        if let Some(going) = self.stage.take_going() {
            self.files_are_back(Going { clean: false, ..going }).await?;
        }
        if self.stage.is_putting() {
            self.has_put().await?;
        }
        let error = live.why_it_ended().await;
        if answered {
            self.state.sandbox_ended();
            self.perform_all().await?;
            return Err(error);
        }
        let awaited = self.state.not_built();
        self.search.refused(backend, error, confinement.sandbox.backend)?;
        if let Some(language) = awaited {
            self.state.prepare(language, confinement);
        }
        Ok(())
    }
}

fn prepared(live: &Live, language: Language) -> Prepared {
    let protection = live.protection();
    Prepared {
        language,
        backend: protection.backend.into(),
        enforced: protection.enforced,
        missing: protection.missing,
    }
}

async fn read(live: Option<&mut Live>) -> Result<bool, ExecError> {
    match live {
        Some(live) => live.read().await,
        None => pending().await,
    }
}

async fn wait_until(alarm: Option<Instant>) {
    match alarm {
        Some(alarm) => tokio::time::sleep_until(alarm.into()).await,
        None => pending().await,
    }
}
