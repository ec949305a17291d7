//! The loop behind a runner: commands and frames in, happenings out.

use super::{
    Command, Happening, Report, RunnerSetup,
    budget::Budget,
    cell::Cell,
    complete::Completing,
    hosts,
    live::{KernelState, Live},
    restart::Restarting,
    staging::{self, Staging},
};
use crate::{
    ExecError,
    egress::Egress,
    sandbox::{Refusals, Search},
    workspace::{Measured, Review, Set},
};
use interpreter_core::{
    Confinement, FileChange, HostContact, Language, Permit, Workspace,
    egress::Host,
    session::{Ran, Typed},
};
use interpreter_host::Inward;
use std::{future::pending, time::Instant};
use tokio::sync::mpsc;

pub(super) struct Actor {
    pub(super) setup: RunnerSetup,
    happenings: mpsc::Sender<Happening>,
    pub(super) live: Option<Live>,
    /// Sandboxes that were tried in vain.
    pub(super) search: Search,
    pub(super) set: Option<Set>,
    pub(super) cell: Option<Cell>,
    /// What runs as soon as its kernel is ready.
    held: Option<Permit>,
    /// The processor time of the last run and of what it left.
    pub(super) budget: Option<Budget>,
    /// The disk space of what is staged.
    pub(super) staging: Option<Staging>,
    /// Kernels that are being replaced by fresh ones.
    pub(super) restarting: Option<Restarting>,
    /// Somebody waits to hear how code could go on.
    pub(super) completing: Option<Completing>,
    /// The language whose readiness somebody waits for.
    pub(super) awaited: Option<Language>,
    /// The snapshot that the person decides on.
    pub(super) shown: Option<Review>,
    /// Changes that are being put back from inside.
    pub(super) discarding: Option<Vec<FileChange>>,
    /// Whom output belongs to that comes between runs.
    pub(super) last_proposal: String,
    /// The way out of the sandbox that is up.
    pub(super) egress: Option<Egress>,
    /// Hosts that were granted for the session.
    pub(super) granted: Vec<(Host, u16)>,
    /// What was tried from a sandbox that is gone, and not told yet.
    pub(super) tried_before: Vec<HostContact>,
    /// What the sandbox refused since the last run was told of.
    pub(super) refusals: Refusals,
    /// What is to be said with the next run.
    pub(super) remark: Option<String>,
}

/// What woke the loop.
enum Woken {
    Told(Option<Box<Command>>),
    Read(Result<bool, ExecError>),
    Host(Host, u16),
    Counted(std::io::Result<Measured>),
    Alarm,
}

impl Actor {
    pub(super) fn new(setup: RunnerSetup, happenings: mpsc::Sender<Happening>) -> Self {
        Self {
            setup,
            happenings,
            live: None,
            search: Search::default(),
            set: None,
            cell: None,
            held: None,
            budget: None,
            staging: None,
            restarting: None,
            completing: None,
            awaited: None,
            shown: None,
            discarding: None,
            last_proposal: String::new(),
            egress: None,
            granted: Vec::new(),
            tried_before: Vec::new(),
            refusals: Refusals::default(),
            remark: None,
        }
    }

    pub(super) async fn run(mut self, mut inbox: mpsc::UnboundedReceiver<Command>) {
        loop {
            let alarm = self.next_alarm();
            let woken = tokio::select! {
                command = inbox.recv() => Woken::Told(command.map(Box::new)),
                read = read(self.live.as_mut()) => Woken::Read(read),
                (host, port) = hosts::wanted(self.egress.as_mut()) => Woken::Host(host, port),
                found = staging::counted(self.staging.as_mut()) => Woken::Counted(found),
                () = wait_until(alarm) => Woken::Alarm,
            };
            let done = match woken {
                Woken::Told(None) => break,
                Woken::Told(Some(command)) if matches!(*command, Command::Stop) => break,
                Woken::Told(Some(command)) => self.told(*command).await,
                Woken::Read(Ok(true)) => self.take_heard().await,
                Woken::Read(Ok(false) | Err(_)) => self.stream_ended().await,
                Woken::Host(host, port) => {
                    self.host_wanted(host, port).await;
                    Ok(())
                }
                Woken::Counted(found) => self.staging_counted(found).await,
                Woken::Alarm => self.alarm().await,
            };
            if let Err(error) = done {
                self.awaited = None;
                self.restarting = None;
                self.held = None;
                self.report(Happening::Failed(error)).await;
            }
        }
        self.stop().await;
    }

    async fn stop(mut self) {
        if let Some(live) = self.live.take() {
            live.stop().await;
        }
        self.forget_review();
        let tried = self.tried();
        if !tried.is_empty() {
            self.report(Happening::TriedLate(tried)).await;
        }
        let denied = self.refusals.take();
        if !denied.is_empty() {
            self.report(Happening::DeniedLate(denied.list())).await;
        }
        // Only an application keeps copies, so only after one can there be too many.
        let applied = self.set.as_ref().is_some_and(Set::was_applied);
        let removed = self.set.take().map(Set::remove_if_empty).transpose();
        if let Err(error) = removed {
            self.report(Happening::Failed(error.into())).await;
        }
        if applied && let Err(error) = Set::prune(&self.setup.changes, self.setup.undo_bytes) {
            self.report(Happening::Failed(error.into())).await;
        }
        self.report(Happening::Stopped).await;
    }

    /// Reports. If nobody listens any more, the session is over and the next command says so.
    pub(super) async fn report(&self, happening: Happening) {
        _ = self.happenings.send(happening).await.is_ok();
    }

    async fn told(&mut self, command: Command) -> Result<(), ExecError> {
        match command {
            Command::Prepare { language, confinement } => self.prepare(language, confinement).await,
            Command::Run(permit) => self.execute(permit).await,
            Command::Interrupt => self.interrupt().await,
            Command::Answer(typed) => {
                self.answer(typed);
                Ok(())
            }
            Command::AnswerHost(answer) => {
                self.host_answered(answer);
                Ok(())
            }
            Command::Complete { language, code, cursor, reply } => {
                self.complete(&language, code, cursor, reply);
                Ok(())
            }
            Command::Restart(language) => self.restart(language.as_ref()).await,
            Command::Review => self.review().await,
            Command::Apply(conflict) => self.apply(conflict).await,
            Command::Discard => self.discard().await,
            Command::Diff(reply) => {
                let diff = self.diff().await;
                // Whoever asked may have left.
                _ = reply.send(diff).is_ok();
                Ok(())
            }
            Command::Stop => Ok(()),
        }
    }

    pub(super) async fn prepare(
        &mut self,
        language: Language,
        confinement: Confinement,
    ) -> Result<(), ExecError> {
        if self.live.as_ref().is_some_and(|live| live.confinement != confinement)
            && let Some(live) = self.live.take()
        {
            self.budget = None;
            live.stop().await;
        }
        if self.live.is_none() {
            self.build(confinement).await?;
        }
        let live = self.live.as_mut().expect("it was just started");
        match live.kernel_of(&language) {
            Some((_, KernelState::Ready)) => return self.ready(language).await,
            Some((_, KernelState::Starting)) => self.awaited = Some(language),
            Some((_, KernelState::Ending(_))) | None => {
                self.awaited = Some(language.clone());
                let started = live.start_kernel(language, &self.setup.interpreters).await;
                match started {
                    // It has ended; reading from it tells why.
                    Err(ExecError::Stream(_)) => {}
                    other => other?,
                }
            }
        }
        Ok(())
    }

    /// Starts the first sandbox that may be used. That it could not be built may also turn out
    /// later, see [`Actor::stream_ended`].
    async fn build(&mut self, confinement: Confinement) -> Result<(), ExecError> {
        loop {
            let backend = self.search.next(&confinement, &self.setup.machine)?;
            if self.set.is_none() && confinement.workspace == Workspace::Stage {
                let RunnerSetup { changes, session, .. } = &self.setup;
                self.set = Some(Set::create(changes, &confinement.work_folder, session)?);
            }
            self.copy_for(backend, &confinement).await?;
            if let Some(set) = &self.set {
                set.clear_work()?;
            }
            self.open_egress(&confinement, backend)?;
            let (set, door) = (self.set.as_ref(), self.egress.as_ref().map(Egress::door));
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

    /// A kernel stands ready: for the run that waits for it, or for whoever wanted to know.
    pub(super) async fn ready(&mut self, language: Language) -> Result<(), ExecError> {
        let held = self.held.take_if(|permit| permit.proposal().language == language);
        if let Some(permit) = held {
            return self.give(permit).await;
        }
        let Some(live) = &self.live else { return Ok(()) };
        let protection = live.protection();
        self.report(Happening::Ready(Report { language, protection })).await;
        Ok(())
    }

    /// Runs what is permitted. A kernel that was ready may have died since.
    async fn execute(&mut self, permit: Permit) -> Result<(), ExecError> {
        let language = permit.proposal().language.clone();
        if self.cell.is_some() || self.held.is_some() {
            let reason = "it is running code".into();
            return Err(ExecError::Kernel { language: language.name().into(), reason });
        }
        let confinement = permit.confinement().clone();
        self.held = Some(permit);
        Box::pin(self.prepare(language, confinement)).await
    }

    /// Spends the permit: sends its code to the kernel that stands ready.
    async fn give(&mut self, permit: Permit) -> Result<(), ExecError> {
        self.forget_review();
        let (proposal, confinement) = permit.spend();
        let live = self.live.as_mut().filter(|live| live.confinement == confinement);
        let kernel = live.and_then(|live| match live.kernel_of(&proposal.language) {
            Some((kernel, KernelState::Ready)) => Some((kernel, live)),
            Some((_, KernelState::Starting | KernelState::Ending(_))) | None => None,
        });
        let Some((kernel, live)) = kernel else {
            return Err(ExecError::Kernel {
                language: proposal.language.name().into(),
                reason: "it is not ready".into(),
            });
        };
        let code = proposal.code().raw().as_bytes().to_vec();
        self.last_proposal.clone_from(&proposal.id);
        if let Some(given) = live.kernels.get_mut(&kernel) {
            given.printed = 0;
        }
        self.cell = Some(Cell::new(kernel, proposal.id, confinement.limits, Instant::now()));
        self.begin_egress();
        self.open_budget(kernel).await?;
        if let Some(live) = &mut self.live {
            live.execute(kernel, code).await?;
        }
        // While the code begins.
        self.bound_staging(kernel, &confinement.limits);
        Ok(())
    }

    async fn interrupt(&mut self) -> Result<(), ExecError> {
        if let Some(permit) = self.held.take() {
            // It has not begun, so there is nothing to interrupt.
            let (proposal, status) = (permit.proposal().id.clone(), Some(130));
            self.report(Happening::Ran(Ran { proposal, status, ..Ran::default() })).await;
            return Ok(());
        }
        let (Some(cell), Some(live)) = (&mut self.cell, &mut self.live) else { return Ok(()) };
        cell.interrupted(Instant::now());
        live.send(&Inward::Interrupt { kernel: cell.kernel }).await
    }

    /// When something is due, if nothing else happens before.
    fn next_alarm(&self) -> Option<Instant> {
        let cell = self.cell.as_ref().and_then(Cell::alarm);
        let completing = self.completing.as_ref().map(|one| one.until);
        let budget = self.budget.as_ref().map(Budget::alarm);
        let staging = self.staging.as_ref().map(Staging::alarm);
        cell.into_iter().chain(completing).chain(budget).chain(staging).min()
    }

    async fn alarm(&mut self) -> Result<(), ExecError> {
        self.give_up_completing(Instant::now());
        self.check_budget(Instant::now()).await?;
        self.check_staging(Instant::now()).await?;
        let due = self.cell.as_mut().and_then(|cell| cell.due(Instant::now()));
        self.act(due).await
    }

    /// Hands the code what the person typed.
    fn answer(&mut self, typed: Typed) {
        let (Some(cell), Some(live)) = (&self.cell, &mut self.live) else { return };
        let text = match typed {
            Typed::Line(text) => Some(text.into_bytes()),
            // One of the places where a secret goes to whom it was typed for: the code that asked.
            Typed::Hidden(secret) => Some(secret.reveal().as_bytes().to_vec()),
            Typed::End => None,
        };
        live.answer(cell.kernel, text.as_deref());
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
