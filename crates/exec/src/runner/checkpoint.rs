//! Checkpoints of the kernels' memory, and going back to them.
//!
//! A kernel that can be copied is asked for a copy when nothing runs; nobody waits for it. Its claim
//! that there is one counts once the host holds that process. A kernel that cannot go back is ended, so
//! that none stands with memory of a later time; its cells are then replayed by whoever asked.
//!
//! Must not believe a kernel in more than its own memory.

use super::{
    kernels::KernelState,
    rewinding::Rewinding,
    state::{Action, Phase, State},
};
use crate::ExecError;
use interpreter_core::{
    Beside, Checkpoint, FilesCheckpoint, FilesRewound, KernelCheckpoint, KernelRewound, Language,
    MemoryCheckpoint, MemoryRewound, RewindScope, Rewound, Untrusted,
};
use interpreter_host::{Inward, ReleaseSide};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};
use tokio::sync::oneshot;

/// Checkpoints that are kept; the oldest goes first.
pub(super) const MOST: usize = 16;

/// The part of the limit on memory that all copies of a kernel may take, beside what they share
/// with it.
const SHARE: u64 = 4;

/// How long a kernel may take to answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// Characters of a reason that a driver gives.
const LONGEST_REASON: usize = 200;

/// Why the memory of most kernels is not kept.
const CANNOT: &str = "its memory cannot be copied; its cells are replayed";
pub(super) const RUNNING: &str = "it is running code";
const SILENT: &str = "it did not answer";
const ENDED: &str = "it has ended since then";
const NOT_HELD: &str = "its copy could not be kept";

/// Who wants to know what came back.
pub(super) type RewoundReply = oneshot::Sender<Result<Rewound, ExecError>>;

/// One kernel at a checkpoint.
#[derive(Debug)]
struct Copied {
    language: Language,
    memory: MemoryCheckpoint,
    /// The claim of the copy, until the host holds it.
    claimed: Beside,
}

/// A checkpoint that kernels are asked for.
#[derive(Debug)]
struct Taking {
    awaited: BTreeSet<u32>,
    files: FilesCheckpoint,
    reply: oneshot::Sender<Checkpoint>,
    until: Instant,
}

/// All checkpoints of a runner, by number; each has its kernels by theirs.
#[derive(Debug, Default)]
pub(super) struct Checkpoints {
    points: BTreeMap<u32, BTreeMap<u32, Copied>>,
    taking: BTreeMap<u32, Taking>,
}

impl Checkpoints {
    pub(super) fn alarm(&self) -> Option<Instant> {
        self.taking.values().map(|taking| taking.until).min()
    }

    fn copied(&mut self, number: u32, kernel: u32) -> Option<&mut Copied> {
        self.points.get_mut(&number)?.get_mut(&kernel)
    }

    /// Forgets a copy that is about to be woken: until it has made another, there is none.
    /// Returns the state that it had beside its memory, if it was kept.
    fn wake(&mut self, number: u32, kernel: u32) -> Option<Beside> {
        let copied = self.copied(number, kernel)?;
        let MemoryCheckpoint::Kept { beside } = copied.memory else { return None };
        copied.memory = MemoryCheckpoint::NotKept { reason: NOT_HELD.into() };
        Some(beside)
    }

    /// A kernel has answered, or never will: the last one is the end of the wait.
    fn answered(&mut self, number: u32, kernel: u32) {
        let Some(taking) = self.taking.get_mut(&number) else { return };
        taking.awaited.remove(&kernel);
        if taking.awaited.is_empty() {
            self.tell(number);
        }
    }

    fn tell(&mut self, number: u32) {
        let Some(Taking { files, reply, .. }) = self.taking.remove(&number) else { return };
        let copied = self.points.get(&number).into_iter().flat_map(BTreeMap::values);
        let kernels = copied.map(|Copied { language, memory, .. }| KernelCheckpoint {
            language: language.clone(),
            memory: memory.clone(),
        });
        // Whoever asked may have left.
        _ = reply.send(Checkpoint { number, kernels: kernels.collect(), files }).is_ok();
    }

    /// There is no such kernel any more.
    pub(super) fn lost(&mut self, kernel: u32) {
        for number in self.taking.keys().copied().collect::<Vec<_>>() {
            self.answered(number, kernel);
        }
    }

    /// There is no kernel any more.
    pub(super) fn lost_all(&mut self) {
        for number in self.taking.keys().copied().collect::<Vec<_>>() {
            self.tell(number);
        }
    }
}

impl State {
    /// Keeps the memory of the kernels that can be copied.
    pub(super) fn checkpoint(
        &mut self,
        number: u32,
        files: FilesCheckpoint,
        reply: oneshot::Sender<Checkpoint>,
        now: Instant,
    ) {
        self.release(number, ReleaseSide::From);
        let running = self.is_busy();
        let (mut point, mut awaited) = (BTreeMap::new(), BTreeSet::new());
        for (kernel, one) in self.kernels.iter_mut().filter(|(_, one)| one.is_ready()) {
            let reason = match (running, one.checkpoints) {
                (true, _) => RUNNING,
                (false, false) => CANNOT,
                (false, true) => {
                    awaited.insert(kernel);
                    SILENT
                }
            };
            let memory = MemoryCheckpoint::NotKept { reason: reason.into() };
            let (language, claimed) = (one.language.clone(), Beside::default());
            point.insert(kernel, Copied { language, memory, claimed });
        }
        for &kernel in &awaited {
            self.then(Action::Checkpoint { kernel, number });
        }
        self.checkpoints.points.insert(number, point);
        while self.checkpoints.points.len() > MOST
            && let Some((&oldest, _)) = self.checkpoints.points.first_key_value()
        {
            self.release(oldest, ReleaseSide::UpTo);
        }
        let is_done = awaited.is_empty();
        let taking = Taking { awaited, files, reply, until: now + PATIENCE };
        self.checkpoints.taking.insert(number, taking);
        if is_done {
            self.checkpoints.tell(number);
        }
    }

    /// Forgets checkpoints on one side of a number, which is on both.
    fn release(&mut self, number: u32, side: ReleaseSide) {
        let is_meant = |&one: &u32| match side {
            ReleaseSide::UpTo => one <= number,
            ReleaseSide::From => one >= number,
        };
        let meant: Vec<_> = self.checkpoints.points.keys().copied().filter(is_meant).collect();
        let mut kernels = BTreeSet::new();
        for one in meant {
            self.checkpoints.tell(one);
            let point = self.checkpoints.points.remove(&one).unwrap_or_default();
            kernels.extend(point.into_keys());
        }
        for kernel in kernels {
            if self.kernels.get_mut(kernel).is_some_and(|kernel| kernel.checkpoints) {
                self.then(Action::Send(Inward::Release { kernel, number, side }));
            }
        }
    }

    /// A driver claims that there is a copy: the host holds it, if one was asked for.
    pub(super) fn checkpointed(&mut self, kernel: u32, number: u32, process: u32, beside: Beside) {
        let Some(bounds) = &self.bounds else { return };
        let most = bounds.limits.memory_bytes / SHARE;
        let Some(copied) = self.checkpoints.copied(number, kernel) else { return };
        if matches!(copied.memory, MemoryCheckpoint::NotKept { .. }) {
            copied.claimed = beside;
            self.then(Action::Send(Inward::Hold { kernel, number, process, most }));
        }
    }

    /// A driver says that there is no copy.
    pub(super) fn not_checkpointed(&mut self, kernel: u32, number: u32, reason: &str) {
        let reason = Untrusted::new(reason).for_terminal_line(LONGEST_REASON);
        self.set_memory(kernel, number, MemoryCheckpoint::NotKept { reason });
    }

    /// The host holds a copy, or does not.
    pub(super) fn held(&mut self, kernel: u32, number: u32, held: bool) {
        let Some(copied) = self.checkpoints.copied(number, kernel) else { return };
        let memory = if held {
            MemoryCheckpoint::Kept { beside: copied.claimed }
        } else {
            MemoryCheckpoint::NotKept { reason: NOT_HELD.into() }
        };
        self.set_memory(kernel, number, memory);
    }

    fn set_memory(&mut self, kernel: u32, number: u32, memory: MemoryCheckpoint) {
        let Some(copied) = self.checkpoints.copied(number, kernel) else { return };
        copied.memory = memory;
        self.checkpoints.answered(number, kernel);
        self.rewound_answered(kernel, number);
    }

    /// Kernels that did not answer in time have no copy, as far as anybody knows.
    pub(super) fn checkpoints_alarmed(&mut self, now: Instant) {
        let due = self.checkpoints.taking.iter().filter(|(_, taking)| taking.until <= now);
        for number in due.map(|(&number, _)| number).collect::<Vec<_>>() {
            self.checkpoints.tell(number);
        }
    }

    /// Goes back to a checkpoint: asks the host to let copies take the place of their kernels, and
    /// ends the kernels that have none.
    pub(super) fn rewind(
        &mut self,
        number: u32,
        scope: RewindScope,
        reply: RewoundReply,
        now: Instant,
    ) {
        if self.is_busy() {
            let (language, reason) = (String::new(), RUNNING.into());
            _ = reply.send(Err(ExecError::Kernel { language, reason })).is_ok();
            return;
        }
        let mut rewound = Rewound { number, kernels: Vec::new(), files: FilesRewound::NotStaged };
        if scope == RewindScope::FilesAlone {
            return self.then(Action::RewindFiles { rewound, reply });
        }
        let Some(point) = self.checkpoints.points.get(&number) else {
            let reason = format!("checkpoint {number} is not kept any more");
            let languages = self.kernels.iter_mut().map(|(_, kernel)| kernel.language.clone());
            let lost = |language| {
                let memory = MemoryRewound::Lost { reason: reason.clone() };
                KernelRewound { language, memory }
            };
            rewound.kernels = languages.map(lost).collect();
            rewound.files = FilesRewound::NotRestored { reason: reason.clone() };
            _ = reply.send(Ok(rewound)).is_ok();
            return;
        };
        let known: Vec<_> =
            point.iter().map(|(&kernel, one)| (kernel, one.language.clone())).collect();
        self.release(number.saturating_add(1), ReleaseSide::From);
        let mut rewinding = Rewinding::new(rewound, reply, now);
        let alive: Vec<_> = self.kernels.iter_mut().map(|(kernel, _)| kernel).collect();
        // Ends first: what a copy forks when it wakes must not be taken for something left behind.
        let mut waking = Vec::new();
        for kernel in alive {
            let one = self.kernels.get_mut(kernel).filter(|one| one.is_ready());
            match one.and_then(|_| self.checkpoints.wake(number, kernel)) {
                Some(beside) => waking.push((kernel, beside)),
                None => self.end_kernel(kernel, number, &known, &mut rewinding),
            }
        }
        for (kernel, beside) in waking {
            if let Some(one) = self.kernels.get_mut(kernel) {
                one.asked = 0;
            }
            rewinding.waking(kernel, beside);
            self.then(Action::Send(Inward::Rewind { kernel, number }));
        }
        let is_alive = |language: &Language| self.kernels.of_any(language);
        for (_, language) in known.iter().filter(|(_, language)| !is_alive(language)) {
            rewinding.ended(language.clone(), MemoryRewound::Lost { reason: ENDED.into() });
        }
        self.phase = Phase::Rewinding(rewinding);
        self.rewound_if_done();
    }

    /// Ends a kernel that has no copy to go back to.
    fn end_kernel(
        &mut self,
        kernel: u32,
        number: u32,
        known: &[(u32, Language)],
        rewinding: &mut Rewinding,
    ) {
        let Some(language) = self.kernels.get_mut(kernel).map(|one| one.language.clone()) else {
            return;
        };
        let copied = self.checkpoints.copied(number, kernel);
        let lost = |reason: &str| MemoryRewound::Lost { reason: reason.into() };
        let memory = match copied.map(|copied| &copied.memory) {
            Some(MemoryCheckpoint::NotKept { reason }) => lost(reason),
            Some(MemoryCheckpoint::Kept { .. }) => lost(ENDED),
            None if known.iter().any(|(_, one)| *one == language) => lost(ENDED),
            None => MemoryRewound::Fresh,
        };
        self.end_for_rewind(kernel, memory, rewinding);
    }

    /// Ends a kernel that cannot go back.
    pub(super) fn end_for_rewind(
        &mut self,
        kernel: u32,
        memory: MemoryRewound,
        rewinding: &mut Rewinding,
    ) {
        if let Some(one) = self.kernels.get_mut(kernel) {
            one.state = KernelState::Leaving;
            rewinding.ending(kernel, memory);
            self.then(Action::Send(Inward::Stop { kernel }));
        }
    }

    /// Whether a kernel has something to do that must end first.
    pub(super) fn is_busy(&self) -> bool {
        match self.phase {
            Phase::Idle | Phase::Completing(_) => false,
            Phase::Preparing(_)
            | Phase::Running(_)
            | Phase::Restarting { .. }
            | Phase::Rewinding(_) => true,
        }
    }
}
