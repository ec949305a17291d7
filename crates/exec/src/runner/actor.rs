//! The loop behind a runner: commands and frames in, happenings out.

use super::{
    Command, Happening, Report, RunnerSetup,
    cell::{Cell, Due},
    live::{KernelState, Live},
};
use crate::{
    ExecError, output,
    sandbox::native,
    workspace::{Conflict, Set, Shown},
};
use interpreter_core::{
    Confinement, Effects, FileChange, Language, Permit, Stream, Untrusted, Workspace,
    record::ChangesState,
    session::{Echo, InputWanted, Typed},
};
use interpreter_host::{Claim, Inward, Outward};
use std::{future::pending, time::Instant};
use tokio::sync::mpsc;

/// Characters of a question that code asks.
const LONGEST_PROMPT: usize = 1_000;

/// The signal that ends what heeds no other.
const KILLED: i32 = 9;

pub(super) struct Actor {
    setup: RunnerSetup,
    happenings: mpsc::Sender<Happening>,
    live: Option<Live>,
    set: Option<Set>,
    cell: Option<Cell>,
    /// The language whose readiness somebody waits for.
    awaited: Option<Language>,
    /// What the person was shown of the changes.
    shown: Option<Shown>,
    /// Changes that are being put back from inside.
    discarding: Option<Vec<FileChange>>,
    /// Whom output belongs to that comes between runs.
    last_proposal: String,
}

/// What woke the loop.
enum Woken {
    Told(Option<Box<Command>>),
    Read(Result<bool, ExecError>),
    Alarm,
}

impl Actor {
    pub(super) fn new(setup: RunnerSetup, happenings: mpsc::Sender<Happening>) -> Self {
        Self {
            setup,
            happenings,
            live: None,
            set: None,
            cell: None,
            awaited: None,
            shown: None,
            discarding: None,
            last_proposal: String::new(),
        }
    }

    pub(super) async fn run(mut self, mut inbox: mpsc::UnboundedReceiver<Command>) {
        loop {
            let alarm = self.cell.as_ref().and_then(Cell::alarm);
            let woken = tokio::select! {
                command = inbox.recv() => Woken::Told(command.map(Box::new)),
                read = read(self.live.as_mut()) => Woken::Read(read),
                () = wait_until(alarm) => Woken::Alarm,
            };
            let done = match woken {
                Woken::Told(None) => break,
                Woken::Told(Some(command)) if matches!(*command, Command::Stop) => break,
                Woken::Told(Some(command)) => self.told(*command).await,
                Woken::Read(Ok(true)) => self.take_frames().await,
                Woken::Read(Ok(false) | Err(_)) => Err(self.sandbox_ended().await),
                Woken::Alarm => self.alarm().await,
            };
            if let Err(error) = done {
                self.awaited = None;
                self.report(Happening::Failed(error)).await;
            }
        }
        self.stop().await;
    }

    async fn stop(mut self) {
        if let Some(live) = self.live.take() {
            live.stop().await;
        }
        let removed = self.set.take().map(Set::remove_if_empty).transpose();
        if let Err(error) = removed {
            self.report(Happening::Failed(error.into())).await;
        }
        self.report(Happening::Stopped).await;
    }

    /// Reports. If nobody listens any more, the session is over and the next command says so.
    async fn report(&self, happening: Happening) {
        _ = self.happenings.send(happening).await.is_ok();
    }

    async fn told(&mut self, command: Command) -> Result<(), ExecError> {
        match command {
            Command::Prepare { language, confinement } => self.prepare(language, confinement).await,
            Command::Run(permit) => self.execute(permit).await,
            Command::Interrupt => self.interrupt().await,
            Command::Answer(typed) => self.answer(typed).await,
            Command::Review => self.review().await,
            Command::Apply(conflict) => self.apply(conflict).await,
            Command::Discard => self.discard().await,
            Command::Diff(reply) => {
                let diff = match &self.set {
                    Some(set) => set.diff(&[]).map_err(ExecError::from),
                    None => Ok(Untrusted::default()),
                };
                // Whoever asked may have left.
                _ = reply.send(diff).is_ok();
                Ok(())
            }
            Command::Stop => Ok(()),
        }
    }

    async fn prepare(
        &mut self,
        language: Language,
        confinement: Confinement,
    ) -> Result<(), ExecError> {
        if self.live.as_ref().is_some_and(|live| live.confinement != confinement)
            && let Some(live) = self.live.take()
        {
            live.stop().await;
        }
        if self.live.is_none() {
            if self.set.is_none() && confinement.workspace == Workspace::Stage {
                let RunnerSetup { changes_folder, session, .. } = &self.setup;
                self.set = Some(Set::create(changes_folder, &confinement.work_folder, session)?);
            }
            let set = self.set.as_ref();
            self.live = Some(Live::start(confinement, set, &self.setup.machine).await?);
        }
        let live = self.live.as_mut().expect("it was just started");
        match live.kernel_of(&language) {
            Some((_, KernelState::Ready)) => self.ready(language).await,
            Some((_, KernelState::Starting)) => self.awaited = Some(language),
            None => {
                self.awaited = Some(language.clone());
                live.start_kernel(language, &self.setup.interpreters).await?;
            }
        }
        Ok(())
    }

    async fn ready(&self, language: Language) {
        let protection = native::protection();
        self.report(Happening::Ready(Report { language, protection })).await;
    }

    /// Spends the permit: sends its code to the kernel that stands ready.
    async fn execute(&mut self, permit: Permit) -> Result<(), ExecError> {
        let (proposal, confinement) = permit.spend();
        let live = self.live.as_mut().filter(|live| live.confinement == confinement);
        let kernel = live.and_then(|live| match live.kernel_of(&proposal.language) {
            Some((kernel, KernelState::Ready)) => Some((kernel, live)),
            Some((_, KernelState::Starting)) | None => None,
        });
        let Some((kernel, live)) = kernel.filter(|_| self.cell.is_none()) else {
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
        live.send(&Inward::Execute { kernel, code }).await
    }

    async fn interrupt(&mut self) -> Result<(), ExecError> {
        let (Some(cell), Some(live)) = (&mut self.cell, &mut self.live) else { return Ok(()) };
        cell.interrupted(Instant::now());
        live.send(&Inward::Interrupt { kernel: cell.kernel }).await
    }

    async fn alarm(&mut self) -> Result<(), ExecError> {
        let due = self.cell.as_mut().and_then(|cell| cell.due(Instant::now()));
        self.act(due).await
    }

    async fn act(&mut self, due: Option<Due>) -> Result<(), ExecError> {
        let (Some(cell), Some(live)) = (&self.cell, &mut self.live) else { return Ok(()) };
        let kernel = cell.kernel;
        match due {
            None => Ok(()),
            Some(Due::Interrupt) => live.send(&Inward::Interrupt { kernel }).await,
            Some(Due::End) => live.send(&Inward::Stop { kernel }).await,
            Some(Due::Abandon) => self.abandon().await,
        }
    }

    /// Ends a sandbox that does not do what it is told, and with it the run.
    async fn abandon(&mut self) -> Result<(), ExecError> {
        if let Some(live) = self.live.take() {
            live.stop().await;
        }
        let Some(cell) = self.cell.take() else { return Ok(()) };
        let mut ran = cell.ended(Instant::now(), None, Some(KILLED));
        ran.kernel_ended = true;
        ran.effects = self.effects()?;
        self.report(Happening::Ran(ran)).await;
        Ok(())
    }

    async fn take_frames(&mut self) -> Result<(), ExecError> {
        while let Some(live) = &mut self.live {
            let Some(frame) = live.next_frame()? else { break };
            self.take(frame).await?;
        }
        Ok(())
    }

    async fn take(&mut self, frame: Outward) -> Result<(), ExecError> {
        match frame {
            Outward::Stdout { kernel, bytes } => self.printed(kernel, Stream::Stdout, &bytes).await,
            Outward::Stderr { kernel, bytes } => self.printed(kernel, Stream::Stderr, &bytes).await,
            Outward::Claim { kernel, claim } => self.claimed(kernel, &claim).await,
            Outward::Started { .. } => Ok(()),
            Outward::Failed { kernel, message } => self.kernel_failed(kernel, &message),
            Outward::Exited { kernel, status, signal } => {
                self.kernel_exited(kernel, status, signal).await
            }
            Outward::Restored { .. } => self.restored().await,
        }
    }

    async fn printed(
        &mut self,
        kernel: u32,
        stream: Stream,
        bytes: &[u8],
    ) -> Result<(), ExecError> {
        let Some(from) = self.live.as_mut().and_then(|live| live.kernels.get_mut(&kernel)) else {
            return Ok(());
        };
        let decoder = match stream {
            Stream::Stdout | Stream::Result => &mut from.stdout,
            Stream::Stderr => &mut from.stderr,
        };
        if let Some(chunk) = decoder.feed(&self.last_proposal, stream, bytes) {
            self.report(Happening::Output(chunk)).await;
        }
        self.count(kernel, bytes.len()).await
    }

    /// Counts what a kernel says, in a run or between two. Too much ends the kernel.
    async fn count(&mut self, number: u32, bytes: usize) -> Result<(), ExecError> {
        let Some(live) = &mut self.live else { return Ok(()) };
        let most = live.confinement.limits.output_bytes;
        let Some(kernel) = live.kernels.get_mut(&number) else { return Ok(()) };
        let before = kernel.printed;
        kernel.printed += bytes as u64;
        if before > most || kernel.printed <= most {
            return Ok(());
        }
        if let Some(cell) = self.cell.as_mut().filter(|cell| cell.kernel == number) {
            cell.printed_too_much(Instant::now());
        }
        live.send(&Inward::Stop { kernel: number }).await
    }

    /// What a driver says. It shares a process with the code, so it is believed in nothing that
    /// matters: it can show something, or say that the code is done, which only its own code
    /// would suffer from if it were a lie.
    async fn claimed(&mut self, kernel: u32, line: &[u8]) -> Result<(), ExecError> {
        let Ok(claim) = Claim::parse(line) else { return Ok(()) };
        match claim {
            Claim::Ready { .. } => {
                let Some(from) = self.live.as_mut().and_then(|live| live.kernels.get_mut(&kernel))
                else {
                    return Ok(());
                };
                from.state = KernelState::Ready;
                if self.awaited.as_ref() == Some(&from.language) {
                    let language = from.language.clone();
                    self.awaited = None;
                    self.ready(language).await;
                }
                Ok(())
            }
            Claim::Result { bundle, display } => {
                let chunk = output::result(&self.last_proposal, bundle, display.as_deref());
                self.report(Happening::Output(chunk)).await;
                self.count(kernel, line.len()).await
            }
            Claim::Line { line } => {
                self.report(Happening::Line(line)).await;
                Ok(())
            }
            Claim::Asks { prompt, secret } => self.asked(kernel, &prompt, secret).await,
            // Its text has come by way of standard error.
            Claim::Raised { .. } => Ok(()),
            Claim::Finished { status } => self.finish_cell(kernel, Some(status), None).await,
        }
    }

    /// The code asks the person. Between runs there is nobody to ask.
    async fn asked(&mut self, kernel: u32, prompt: &str, secret: bool) -> Result<(), ExecError> {
        if self.cell.as_ref().is_none_or(|cell| cell.kernel != kernel) {
            return Ok(());
        }
        let prompt = prompt.chars().take(LONGEST_PROMPT).collect::<String>();
        let echo = if secret { Echo::Hidden } else { Echo::Shown };
        self.report(Happening::InputWanted(InputWanted {
            proposal: self.last_proposal.clone(),
            prompt: Untrusted::new(prompt),
            echo,
        }))
        .await;
        self.count(kernel, LONGEST_PROMPT).await
    }

    /// Hands the code what the person typed.
    async fn answer(&mut self, typed: Typed) -> Result<(), ExecError> {
        let (Some(cell), Some(live)) = (&self.cell, &mut self.live) else { return Ok(()) };
        let text = match typed {
            Typed::Line(text) => Some(text.into_bytes()),
            // One of the places where a secret goes to whom it was typed for: the code that asked.
            Typed::Hidden(secret) => Some(secret.reveal().as_bytes().to_vec()),
            Typed::End => None,
        };
        live.send(&Inward::Answer { kernel: cell.kernel, text }).await
    }

    /// Ends the run of `kernel`, if it has one: what was held back comes out, and then how it
    /// ended and what it did.
    async fn finish_cell(
        &mut self,
        kernel: u32,
        status: Option<i32>,
        signal: Option<i32>,
    ) -> Result<(), ExecError> {
        let mut held = Vec::new();
        let mut kernel_ended = true;
        if let Some(from) = self.live.as_mut().and_then(|live| live.kernels.get_mut(&kernel)) {
            kernel_ended = false;
            held.extend(from.stdout.finish(&self.last_proposal, Stream::Stdout));
            held.extend(from.stderr.finish(&self.last_proposal, Stream::Stderr));
        }
        for chunk in held {
            self.report(Happening::Output(chunk)).await;
        }
        let Some(cell) = self.cell.take_if(|cell| cell.kernel == kernel) else { return Ok(()) };
        let mut ran = cell.ended(Instant::now(), status, signal);
        ran.kernel_ended = kernel_ended;
        ran.effects = self.effects()?;
        self.report(Happening::Ran(ran)).await;
        Ok(())
    }

    fn effects(&self) -> Result<Effects, ExecError> {
        let Some(set) = &self.set else { return Ok(Effects::default()) };
        let files = set.changes()?;
        let changes = (!files.is_empty()).then(|| set.id().to_owned());
        Ok(Effects { changes, files, network: vec![] })
    }

    fn kernel_failed(&mut self, kernel: u32, message: &str) -> Result<(), ExecError> {
        let gone = self.live.as_mut().and_then(|live| live.kernels.remove(&kernel));
        Err(ExecError::Kernel {
            language: gone.map_or_else(String::new, |kernel| kernel.language.name().into()),
            reason: Untrusted::new(message).for_terminal_line(500),
        })
    }

    async fn kernel_exited(
        &mut self,
        kernel: u32,
        status: Option<i32>,
        signal: Option<i32>,
    ) -> Result<(), ExecError> {
        // What was held back comes out before the kernel is forgotten.
        let gone = self.live.as_mut().and_then(|live| live.kernels.remove(&kernel));
        let Some(mut gone) = gone else { return Ok(()) };
        for chunk in [
            gone.stdout.finish(&self.last_proposal, Stream::Stdout),
            gone.stderr.finish(&self.last_proposal, Stream::Stderr),
        ]
        .into_iter()
        .flatten()
        {
            self.report(Happening::Output(chunk)).await;
        }
        if gone.state == KernelState::Starting {
            let how = match (status, signal) {
                (_, Some(signal)) => format!("ended by signal {signal}"),
                (Some(status), None) => format!("ended with status {status}"),
                (None, None) => "ended".into(),
            };
            let language = gone.language.name().into();
            return Err(ExecError::Kernel { language, reason: how });
        }
        self.finish_cell(kernel, status, signal).await
    }

    /// The stream has ended without our doing.
    async fn sandbox_ended(&mut self) -> ExecError {
        self.cell = None;
        match self.live.take() {
            Some(live) => live.why_it_ended().await,
            None => ExecError::SandboxEnded { reason: "it was not there".into() },
        }
    }

    async fn review(&mut self) -> Result<(), ExecError> {
        let Some(set) = &self.set else { return Ok(()) };
        let shown = set.review()?;
        let (id, files) = (set.id().to_owned(), shown.files.clone());
        self.shown = Some(shown);
        self.report(Happening::Review { id, files }).await;
        Ok(())
    }

    async fn apply(&mut self, conflict: Conflict) -> Result<(), ExecError> {
        let (Some(set), Some(shown)) = (&mut self.set, self.shown.take()) else { return Ok(()) };
        let applied = set.apply_shown(&shown, conflict)?;
        let id = set.id().to_owned();
        let state = ChangesState::Applied;
        self.report(Happening::Settled { id, state, files: applied.files }).await;
        Ok(())
    }

    /// The overlay is mounted, so its layers must not be changed from outside: the host puts the
    /// files back from inside.
    async fn discard(&mut self) -> Result<(), ExecError> {
        let Some(set) = &mut self.set else { return Ok(()) };
        let Some(live) = &mut self.live else {
            let files = set.discard(&[])?;
            let id = set.id().to_owned();
            self.report(Happening::Settled { id, state: ChangesState::Discarded, files }).await;
            return Ok(());
        };
        let files = set.changes()?;
        let paths = files.iter().map(|file| file.path.clone()).collect();
        let work = live.confinement.work_folder.clone();
        self.discarding = Some(files);
        if live.send(&Inward::Restore { work, lower: native::LOWER.into(), paths }).await.is_err() {
            // Too much to say, or nobody listens: it is forgotten from outside.
            return self.restored().await;
        }
        Ok(())
    }

    /// What counts is what can be seen from outside, not what the inside says. What it could not
    /// put back is forgotten by ending it.
    async fn restored(&mut self) -> Result<(), ExecError> {
        let (Some(files), Some(set)) = (self.discarding.take(), &mut self.set) else {
            return Ok(());
        };
        if !set.changes()?.is_empty() {
            if let Some(live) = self.live.take() {
                live.stop().await;
            }
            set.discard(&[])?;
        }
        let id = set.id().to_owned();
        self.report(Happening::Settled { id, state: ChangesState::Discarded, files }).await;
        Ok(())
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
