//! Where a runner stands, and what it does next: decided here, performed by the loop.
//!
//! Commands, frames from inside and alarms go in, [`Action`]s come out, in order. Nothing here
//! waits, sends or looks at a clock, so a run can be told from its first frame to its last in a
//! test. Time, output and death are measured outside of the sandbox; a claim from inside is never
//! believed in anything that matters.

use super::{
    budget::{Budget, Next as BudgetNext},
    cell::{Cell, Due},
    checkpoint::{Checkpoints, RewoundReply},
    complete::{Completing, Completions},
    copies::MemoryCopies,
    kernels::{KernelState, Kernels},
    rewinding::Rewinding,
};
use crate::ExecError;
use interpreter_core::{
    Confinement, Grant, HostWanted, Invocation, Language, Limits, Permit, Reached, RewindScope,
    Rewound, SecretUse, Typed, WantedUse,
    egress::{Host, RunHosts},
    session::{Event, HostAnswer},
};
use interpreter_host::Inward;
use std::{collections::VecDeque, time::Instant};
use tokio::sync::oneshot;

/// Something to do.
#[derive(Debug)]
pub(super) enum Action {
    /// Send a frame to the host inside.
    Send(Inward),
    /// End the sandbox if there is one, and build one with these bounds.
    Build(Box<Confinement>),
    /// End the sandbox.
    End,
    /// Start a kernel.
    Start {
        kernel: u32,
        language: Language,
    },
    /// Give a kernel its code; `behind` all that the host was sent before.
    Begin {
        kernel: u32,
        code: Vec<u8>,
        invocation: Option<Invocation>,
        limits: Limits,
        /// The listed hosts that the code may reach.
        hosts: RunHosts,
        behind: bool,
    },
    /// Hand the code what the person typed; without a text, the end of input.
    Answer {
        kernel: u32,
        text: Option<Vec<u8>>,
    },
    /// Ask a kernel how code could go on.
    Complete {
        kernel: u32,
        code: Vec<u8>,
        cursor: u32,
    },
    /// Let code reach a host, or refuse it.
    AnswerHost {
        host: Host,
        port: u16,
        grant: Option<Grant>,
    },
    AnswerUse {
        number: u64,
        goes_out: bool,
    },
    /// Note a path that code says it was refused, if our own list confirms it.
    Refused {
        code: String,
        path: String,
    },
    /// Report that what was asked for has failed.
    Fail(ExecError),
    /// Report an event.
    Report(Event),
    /// Report that the kernel of a language is ready, and what bounds it.
    Ready(Language),
    /// Report how a run ended, with its effects.
    Finish {
        cell: Box<Cell>,
        status: Option<i32>,
        signal: Option<i32>,
        kernel_ended: bool,
    },
    /// The host has put back what it could of a discarded set.
    Restored,
    /// Ask a kernel for a copy of its memory.
    Copy {
        kernel: u32,
        number: u32,
    },
    /// The host has emptied the temporary folders, all or in part.
    Emptied {
        clean: bool,
    },
    /// Put the staged files back, and answer.
    RewindFiles {
        rewound: Rewound,
        scope: RewindScope,
        reply: RewoundReply,
    },
}

/// The event that somebody waits for.
#[derive(Debug)]
pub(super) enum Phase {
    Idle,
    /// For the kernel of this language.
    Preparing(Language),
    Running(Cell),
    /// For fresh kernels: all that are replaced, and those that are not ready yet.
    Restarting {
        languages: Vec<Language>,
        awaited: Vec<Language>,
    },
    /// For a kernel to say how code could go on.
    Completing(Completing),
    /// For kernels to go back to a checkpoint, or to end.
    Rewinding(Rewinding),
}

pub(super) struct State {
    pub(super) phase: Phase,
    /// The bounds of the sandbox that is up, or about to be.
    pub(super) bounds: Option<Confinement>,
    pub(super) kernels: Kernels,
    pub(super) checkpoints: Checkpoints,
    pub(super) copies: MemoryCopies,
    /// The processor time of the last run and of what it left.
    pub(super) budget: Option<Budget>,
    /// The proposal that output belongs to which comes between runs.
    pub(super) last_proposal: String,
    /// Whether an interrupt was sent since the last cell began. It goes by way of the host and code
    /// does not, so the next cell must not overtake it.
    interrupted: bool,
    /// Those who want to know how many programs run beside the kernels.
    pub(super) counting: Vec<oneshot::Sender<u32>>,
    /// When to count at the latest, if a copy is being made that would be counted.
    pub(super) count_by: Option<Instant>,
    actions: VecDeque<Action>,
}

impl State {
    pub(super) fn new() -> Self {
        Self {
            phase: Phase::Idle,
            bounds: None,
            kernels: Kernels::default(),
            checkpoints: Checkpoints::default(),
            copies: MemoryCopies::default(),
            budget: None,
            last_proposal: String::new(),
            interrupted: false,
            counting: Vec::new(),
            count_by: None,
            actions: VecDeque::new(),
        }
    }

    /// The next thing to do.
    pub(super) fn next_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    pub(super) fn then(&mut self, action: Action) {
        self.actions.push_back(action);
    }

    pub(super) fn report(&mut self, event: Event) {
        self.then(Action::Report(event));
    }

    /// The run of a kernel, if it has one.
    pub(super) fn cell_of(&mut self, kernel: u32) -> Option<&mut Cell> {
        self.cell().filter(|cell| cell.kernel == kernel)
    }

    pub(super) fn cell(&mut self) -> Option<&mut Cell> {
        match &mut self.phase {
            Phase::Running(cell) => Some(cell),
            Phase::Idle
            | Phase::Preparing(_)
            | Phase::Restarting { .. }
            | Phase::Completing(_)
            | Phase::Rewinding(_) => None,
        }
    }

    /// Takes the run out, so that nothing runs any more.
    pub(super) fn take_cell(&mut self) -> Option<Cell> {
        self.cell()?;
        let Phase::Running(cell) = std::mem::replace(&mut self.phase, Phase::Idle) else {
            return None;
        };
        Some(cell)
    }

    /// An action could not be performed. Those behind it are off, and nobody waits any more.
    pub(super) fn failed(&mut self) {
        self.actions.clear();
        if self.cell().is_none() {
            self.phase = Phase::Idle;
        }
    }

    /// Somebody wants the kernel of a language to be ready.
    pub(super) fn prepare(&mut self, language: Language, confinement: Confinement) {
        if self.bounds.as_ref() != Some(&confinement) {
            self.budget = None;
            self.kernels.clear();
            self.lose_all_copies();
            self.bounds = Some(confinement.clone());
            self.then(Action::Build(Box::new(confinement)));
        }
        let known = self.kernels.of(&language);
        if matches!(known, Some((_, KernelState::Ready))) {
            return self.then(Action::Ready(language));
        }
        if known.is_none() {
            self.start(language.clone());
        }
        if self.cell().is_none() {
            self.phase = Phase::Preparing(language);
        }
    }

    fn start(&mut self, language: Language) {
        let kernel = self.kernels.add(language.clone());
        self.then(Action::Start { kernel, language });
    }

    /// Spends a permit: gives its code to the kernel that stands ready. If that has died since,
    /// nothing of the code has run.
    pub(super) fn run(&mut self, permit: Permit, now: Instant) -> Result<(), ExecError> {
        let (seconds, hosts) = (permit.seconds(), permit.hosts().clone());
        let (proposal, confinement) = permit.spend();
        if matches!(self.phase, Phase::Running(_) | Phase::Rewinding(_)) {
            let (language, reason) = (proposal.language.name().into(), "it is running code".into());
            return Err(ExecError::Kernel { language, reason });
        }
        let up = self.bounds.as_ref() == Some(&confinement);
        let ready = self.kernels.of(&proposal.language).filter(|_| up);
        let Some((kernel, KernelState::Ready)) = ready else {
            self.report(Event::NotBegun);
            return Ok(());
        };
        let code = proposal.code().raw().as_bytes().to_vec();
        self.last_proposal.clone_from(&proposal.id);
        if let Some(given) = self.kernels.get_mut(kernel) {
            given.printed = 0;
        }
        let mut limits = confinement.limits;
        limits.wall_seconds = limits.wall_seconds.into_iter().chain(seconds).min();
        self.budget = limits.cpu_seconds.map(|seconds| Budget::open(kernel, seconds, now));
        if self.budget.is_some() {
            self.then(Action::Send(Inward::Measure));
        }
        let invocation = proposal.invocation;
        let cell = Cell::new(kernel, proposal.id, limits, now);
        self.phase = Phase::Running(cell.that_runs_again(proposal.again.is_some()));
        let behind = std::mem::take(&mut self.interrupted);
        self.then(Action::Begin { kernel, code, invocation, limits, hosts, behind });
        self.copies.runs(kernel);
        self.drop_unnamed_copies();
        Ok(())
    }

    pub(super) fn interrupt(&mut self, now: Instant) {
        let Some(cell) = self.cell() else { return };
        cell.interrupted(now);
        let kernel = cell.kernel;
        self.send_interrupt(kernel);
    }

    fn send_interrupt(&mut self, kernel: u32) {
        self.interrupted = true;
        self.then(Action::Send(Inward::Interrupt { kernel }));
    }

    /// Hands the code what the person typed.
    pub(super) fn answer(&mut self, typed: Typed) {
        let Some(kernel) = self.cell().map(|cell| cell.kernel) else { return };
        let text = match typed {
            Typed::Line(text) => Some(text.into_bytes()),
            // One of the places where a secret goes to whom it was typed for: the code that asked.
            Typed::Hidden(secret) => Some(secret.reveal().as_bytes().to_vec()),
            Typed::End => None,
        };
        self.then(Action::Answer { kernel, text });
    }

    /// Code wants to reach a host that is not listed, or not its to reach. Between runs there is
    /// nobody to ask.
    pub(super) fn host_wanted(&mut self, host: Host, port: u16, listed: bool) {
        match self.cell() {
            Some(cell) => {
                let proposal = cell.proposal.clone();
                self.report(Event::HostWanted(HostWanted { proposal, host, port, listed }));
            }
            None => self.then(Action::AnswerHost { host, port, grant: None }),
        }
    }

    /// The answer about a host. For one run alone it counts only while that run goes on: the person
    /// may have thought about it for longer.
    pub(super) fn host_answered(&mut self, answer: HostAnswer) {
        let HostAnswer { proposal, host, port, grant, .. } = answer;
        let goes_on = self.cell().is_some_and(|cell| cell.proposal == proposal);
        if goes_on || matches!(grant, Some(Grant::Session | Grant::Always)) {
            self.then(Action::AnswerHost { host, port, grant });
        }
    }

    /// A request of the code is to use a secret. Between runs nothing goes out.
    pub(super) fn use_wanted(&mut self, number: u64, of: SecretUse) {
        match self.cell() {
            Some(cell) => {
                let proposal = cell.proposal.clone();
                self.report(Event::SecretWanted(WantedUse { proposal, number, of }));
            }
            None => self.then(Action::AnswerUse { number, goes_out: false }),
        }
    }

    /// Ends the kernel of a language, or all kernels, and starts fresh ones. Not while something
    /// runs: that is what an interrupt is for.
    pub(super) fn restart(&mut self, language: Option<&Language>) -> Result<(), ExecError> {
        if matches!(self.phase, Phase::Running(_) | Phase::Rewinding(_)) {
            let language = language.map_or_else(String::new, |language| language.name().into());
            return Err(ExecError::Kernel { language, reason: "it is running code".into() });
        }
        let mut languages = Vec::new();
        let mut stopped = Vec::new();
        for (number, kernel) in self.kernels.iter_mut() {
            if language.is_none_or(|language| *language == kernel.language) {
                kernel.state = KernelState::Ending { fresh: true };
                stopped.push(number);
                languages.push(kernel.language.clone());
            }
        }
        if languages.is_empty() {
            self.report(Event::Restarted(languages));
            return Ok(());
        }
        self.phase = Phase::Restarting { awaited: languages.clone(), languages };
        for kernel in stopped {
            self.then(Action::Send(Inward::Stop { kernel }));
        }
        Ok(())
    }

    /// The old kernel is gone: a fresh one takes its place.
    pub(super) fn replace(&mut self, language: Language) {
        self.start(language);
    }

    /// A kernel is ready: perhaps the one that is waited for, or the last of several.
    pub(super) fn ready(&mut self, language: Language) {
        match &mut self.phase {
            Phase::Preparing(awaited) if *awaited == language => {
                self.phase = Phase::Idle;
                self.then(Action::Ready(language));
            }
            Phase::Restarting { languages, awaited } => {
                awaited.retain(|awaited| *awaited != language);
                if awaited.is_empty() {
                    let languages = std::mem::take(languages);
                    self.phase = Phase::Idle;
                    self.report(Event::Restarted(languages));
                }
            }
            Phase::Idle
            | Phase::Preparing(_)
            | Phase::Running(_)
            | Phase::Completing(_)
            | Phase::Rewinding(_) => {}
        }
    }

    /// Asks the kernel of a language how code could go on, if it has nothing else to do. An earlier
    /// question that is still open is given up.
    pub(super) fn complete(
        &mut self,
        language: &Language,
        code: String,
        cursor: usize,
        reply: oneshot::Sender<Completions>,
        now: Instant,
    ) {
        match self.phase {
            Phase::Idle | Phase::Completing(_) => self.phase = Phase::Idle,
            Phase::Preparing(_)
            | Phase::Running(_)
            | Phase::Restarting { .. }
            | Phase::Rewinding(_) => return,
        }
        let Some((kernel, KernelState::Ready)) = self.kernels.of(language) else { return };
        let (Ok(at), true) = (u32::try_from(cursor), code.is_char_boundary(cursor)) else { return };
        match self.kernels.get_mut(kernel) {
            Some(kernel) if kernel.completes => kernel.asked += 1,
            Some(_) | None => return,
        }
        self.then(Action::Complete { kernel, code: code.as_bytes().to_vec(), cursor: at });
        self.phase = Phase::Completing(Completing::new(kernel, code, reply, now));
    }

    /// When something is due, if nothing else happens before.
    pub(super) fn alarm(&self) -> Option<Instant> {
        let phase = match &self.phase {
            Phase::Running(cell) => cell.alarm(),
            Phase::Completing(completing) => Some(completing.until),
            Phase::Rewinding(rewinding) => Some(rewinding.until),
            Phase::Idle | Phase::Preparing(_) | Phase::Restarting { .. } => None,
        };
        let budget = self.budget.as_ref().map(Budget::alarm);
        let others = [self.checkpoints.alarm(), self.starting_alarm(), self.count_by];
        phase.into_iter().chain(budget).chain(others.into_iter().flatten()).min()
    }

    pub(super) fn alarmed(&mut self, now: Instant) {
        if matches!(&self.phase, Phase::Completing(one) if one.until <= now) {
            self.phase = Phase::Idle;
        }
        self.checkpoints_alarmed(now);
        self.counting_alarmed(now);
        self.rewinding_alarmed(now);
        self.starting_alarmed(now);
        if let Some(budget) = self.budget.as_mut().filter(|budget| now >= budget.alarm()) {
            match budget.next {
                BudgetNext::Ask(_) => {
                    budget.asked(now);
                    self.then(Action::Send(Inward::Measure));
                }
                // A host that does not answer is no use any more.
                BudgetNext::Answer(_) => return self.abandon(),
            }
        }
        let due = self.cell().and_then(|cell| cell.due(now));
        self.act(due);
    }

    fn act(&mut self, due: Option<Due>) {
        let (Some(due), Some(kernel)) = (due, self.cell().map(|cell| cell.kernel)) else { return };
        match due {
            Due::Interrupt => self.send_interrupt(kernel),
            Due::End => self.then(Action::Send(Inward::Stop { kernel })),
            Due::Abandon => self.abandon(),
        }
    }

    /// The host says how much processor time was used.
    pub(super) fn measured(&mut self, milliseconds: u64, now: Instant) {
        let running = self.cell().is_some();
        let Some(budget) = &mut self.budget else { return };
        if !budget.measured(milliseconds, running, now) {
            return;
        }
        let (kernel, reached) = (budget.kernel, Reached::Cpu(budget.seconds));
        if let Some(cell) = self.cell() {
            let due = cell.reached(reached, now);
            return self.act(due);
        }
        if let Some(guilty) = self.kernels.get_mut(kernel) {
            guilty.state = KernelState::Ending { fresh: false };
            guilty.why = Some(format!(
                "was ended: what it went on with after its run reached the limit on {reached}"
            ));
        }
        self.then(Action::Send(Inward::Stop { kernel }));
    }

    /// The code of a kernel wrote too much, in its run or after it. It gets no time to heed an
    /// interrupt.
    pub(super) fn disk_filled(&mut self, kernel: u32, reached: Reached, now: Instant) {
        let Some(guilty) = self.kernels.get_mut(kernel) else {
            // Something goes on without the kernel that it came from.
            return self.abandon();
        };
        guilty.why = Some(format!("was ended: what it wrote reached the limit on {reached}"));
        match &mut self.phase {
            Phase::Running(cell) if cell.kernel == kernel => cell.filled_the_disk(reached, now),
            Phase::Idle
            | Phase::Preparing(_)
            | Phase::Running(_)
            | Phase::Restarting { .. }
            | Phase::Completing(_)
            | Phase::Rewinding(_) => guilty.state = KernelState::Ending { fresh: false },
        }
        self.then(Action::Send(Inward::Stop { kernel }));
    }
}
