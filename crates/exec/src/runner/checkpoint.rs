//! Checkpoints of the kernels' memory, and going back to them.
//!
//! A checkpoint names the copy of each kernel that can be copied; nobody waits for a copy that is not
//! made yet. A kernel that cannot go back is ended, so that none stands with memory of a later time;
//! its cells are then replayed by whoever asked.
//!
//! Must not make a copy, nor decide whether there is one: see [`super::copying`].

use super::{
    copies::{ENDED, MemoryCopies},
    kernels::KernelState,
    rewinding::Rewinding,
    state::{Action, Phase, State},
};
use crate::ExecError;
use interpreter_core::{
    Checkpoint, FilesCheckpoint, FilesRewound, KernelCheckpoint, Language, MemoryCheckpoint,
    MemoryRewound, RewindScope, Rewound,
};
use interpreter_host::Inward;
use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};
use tokio::sync::oneshot;

/// Checkpoints that are kept; the oldest goes first.
pub(super) const MOST: usize = 16;

/// How long a kernel may take to answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// Why the memory of most kernels is not kept.
const CANNOT: &str = "its memory cannot be copied; its cells are replayed";
pub(super) const RUNNING: &str = "it is running code";

/// Who wants to know what came back.
/// The number of no kernel.
const NONE: u32 = 0;

pub(super) type RewoundReply = oneshot::Sender<Result<Rewound, ExecError>>;

/// The memory of a kernel at a checkpoint.
#[derive(Clone, Copy, Debug)]
enum Memory {
    /// This copy, if it is there.
    Copy(u32),
    /// None, for this reason.
    Not(&'static str),
}

impl Memory {
    fn told(self, copies: &MemoryCopies) -> MemoryCheckpoint {
        match self {
            Self::Copy(number) => copies.memory(number),
            Self::Not(reason) => MemoryCheckpoint::NotKept { reason: reason.into() },
        }
    }

    fn copy(self) -> Option<u32> {
        match self {
            Self::Copy(number) => Some(number),
            Self::Not(_) => None,
        }
    }
}

/// One kernel at a checkpoint.
#[derive(Debug)]
struct KernelPoint {
    language: Language,
    memory: Memory,
}

/// A checkpoint whose copies are awaited.
#[derive(Debug)]
struct Taking {
    /// The numbers of the copies.
    awaited: BTreeSet<u32>,
    files: FilesCheckpoint,
    reply: oneshot::Sender<Checkpoint>,
    until: Instant,
}

/// All checkpoints of a runner, by number; each has its kernels by theirs.
#[derive(Debug, Default)]
pub(super) struct Checkpoints {
    points: BTreeMap<u32, BTreeMap<u32, KernelPoint>>,
    taking: BTreeMap<u32, Taking>,
}

impl Checkpoints {
    pub(super) fn alarm(&self) -> Option<Instant> {
        self.taking.values().map(|taking| taking.until).min()
    }

    fn memory(&self, number: u32, kernel: u32) -> Option<Memory> {
        Some(self.points.get(&number)?.get(&kernel)?.memory)
    }

    /// The copies that some checkpoint names.
    pub(super) fn named(&self) -> BTreeSet<u32> {
        let all = self.points.values().flat_map(BTreeMap::values);
        all.filter_map(|point| point.memory.copy()).collect()
    }

    /// A copy is there, or never will be: the last one is the end of the wait.
    pub(super) fn answered(&mut self, copy: u32, copies: &MemoryCopies) {
        let mut done = Vec::new();
        for (&number, taking) in &mut self.taking {
            if taking.awaited.remove(&copy) && taking.awaited.is_empty() {
                done.push(number);
            }
        }
        for number in done {
            self.tell(number, copies);
        }
    }

    fn tell(&mut self, number: u32, copies: &MemoryCopies) {
        let Some(Taking { files, reply, .. }) = self.taking.remove(&number) else { return };
        let points = self.points.get(&number).into_iter().flat_map(BTreeMap::values);
        let kernels = points.map(|KernelPoint { language, memory }| KernelCheckpoint {
            language: language.clone(),
            memory: memory.told(copies),
        });
        // Whoever asked may have left.
        _ = reply.send(Checkpoint { number, kernels: kernels.collect(), files }).is_ok();
    }
}

fn forgotten(number: u32) -> String {
    format!("checkpoint {number} is not kept any more")
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
        self.copies.wanted = true;
        self.forget_checkpoints(|one| one >= number);
        let running = self.is_busy();
        let ready = self.kernels.iter_mut().filter(|(_, one)| one.is_ready());
        let ready = ready.map(|(kernel, one)| (kernel, one.language.clone(), one.checkpoints));
        let (mut point, mut awaited) = (BTreeMap::new(), BTreeSet::new());
        for (kernel, language, can) in ready.collect::<Vec<_>>() {
            let memory = match (running, can) {
                (true, _) => Memory::Not(RUNNING),
                (false, false) => Memory::Not(CANNOT),
                (false, true) => Memory::Copy(self.copy_for_checkpoint(kernel)),
            };
            awaited.extend(memory.copy().filter(|&copy| self.copies.is_awaited(copy)));
            point.insert(kernel, KernelPoint { language, memory });
        }
        self.checkpoints.points.insert(number, point);
        while self.checkpoints.points.len() > MOST
            && let Some((&oldest, _)) = self.checkpoints.points.first_key_value()
        {
            self.forget_checkpoints(|one| one <= oldest);
        }
        self.drop_unnamed_copies();
        let is_done = awaited.is_empty();
        let taking = Taking { awaited, files, reply, until: now + PATIENCE };
        self.checkpoints.taking.insert(number, taking);
        if is_done {
            self.checkpoints.tell(number, &self.copies);
        }
    }

    /// Somebody wants to know what is left of a checkpoint. They may have left meanwhile.
    pub(super) fn look_again(&self, taken: Checkpoint, reply: oneshot::Sender<Option<Checkpoint>>) {
        _ = reply.send(Some(self.left_of(taken))).is_ok();
    }

    /// The part of a checkpoint that can still be gone back to.
    pub(super) fn left_of(&self, taken: Checkpoint) -> Checkpoint {
        let Some(point) = self.checkpoints.points.get(&taken.number) else {
            let reason = forgotten(taken.number);
            let memory = MemoryCheckpoint::NotKept { reason: reason.clone() };
            let kernels = taken.kernels.into_iter();
            let kernels = kernels.map(|one| KernelCheckpoint { memory: memory.clone(), ..one });
            let files = FilesCheckpoint::NotKept { reason };
            return Checkpoint { kernels: kernels.collect(), files, ..taken };
        };
        let kernels = point.values().map(|KernelPoint { language, memory }| KernelCheckpoint {
            language: language.clone(),
            memory: memory.told(&self.copies),
        });
        Checkpoint { kernels: kernels.collect(), ..taken }
    }

    /// Forgets checkpoints. Their copies are ended when [`State::drop_unnamed_copies`] is called.
    fn forget_checkpoints(&mut self, is_meant: impl Fn(u32) -> bool) {
        let meant = self.checkpoints.points.keys().copied().filter(|&one| is_meant(one));
        for one in meant.collect::<Vec<_>>() {
            self.checkpoints.tell(one, &self.copies);
            self.checkpoints.points.remove(&one);
        }
    }

    /// There is no such kernel any more, and none of its copies.
    pub(super) fn lose_copies(&mut self, kernel: u32) {
        let lost = self.copies.lose(kernel);
        self.count_if_settled();
        for copy in lost {
            self.checkpoints.answered(copy, &self.copies);
        }
    }

    /// There is no kernel any more.
    pub(super) fn lose_all_copies(&mut self) {
        self.copies.lose_all();
        for number in self.checkpoints.taking.keys().copied().collect::<Vec<_>>() {
            self.checkpoints.tell(number, &self.copies);
        }
    }

    /// Kernels that did not answer in time have no copy, as far as anybody knows.
    pub(super) fn checkpoints_alarmed(&mut self, now: Instant) {
        let due = self.checkpoints.taking.iter().filter(|(_, taking)| taking.until <= now);
        for number in due.map(|(&number, _)| number).collect::<Vec<_>>() {
            self.checkpoints.tell(number, &self.copies);
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
        let rewound = Rewound { number, kernels: Vec::new(), files: FilesRewound::NotStaged };
        if scope == RewindScope::FilesAlone {
            return self.then(Action::RewindFiles { rewound, scope, reply });
        }
        if self.kernels.iter_mut().next().is_none() {
            // They are gone, and may have left something behind.
            self.then(Action::Send(Inward::Stop { kernel: NONE }));
        }
        let Some(point) = self.checkpoints.points.get(&number) else {
            return self.rewind_afresh(rewound, reply, now);
        };
        let known: Vec<_> =
            point.iter().map(|(&kernel, one)| (kernel, one.language.clone())).collect();
        self.forget_checkpoints(|one| one > number);
        let mut rewinding = Rewinding::new(rewound, reply, now);
        let alive: Vec<_> = self.kernels.iter_mut().map(|(kernel, _)| kernel).collect();
        let (mut waking, mut ending) = (Vec::new(), Vec::new());
        for kernel in alive {
            let ready = self.kernels.get_mut(kernel).filter(|one| one.is_ready());
            let copy = ready.and_then(|_| self.checkpoints.memory(number, kernel)?.copy());
            match copy.and_then(|copy| Some((copy, self.copies.wake(copy)?))) {
                Some((copy, beside)) => waking.push((kernel, copy, beside)),
                None => ending.push(kernel),
            }
        }
        self.drop_unnamed_copies();
        // Ends first: what a copy forks when it wakes must not be taken for something left behind.
        for kernel in ending {
            self.end_kernel(kernel, number, &known, &mut rewinding);
        }
        for (kernel, copy, beside) in waking {
            if let Some(one) = self.kernels.get_mut(kernel) {
                one.asked = 0;
            }
            rewinding.waking(kernel, copy, beside);
            self.then(Action::Send(Inward::Rewind { kernel, number: copy }));
        }
        let is_alive = |language: &Language| self.kernels.of_any(language);
        for (_, language) in known.iter().filter(|(_, language)| !is_alive(language)) {
            rewinding.ended(language.clone(), MemoryRewound::Lost { reason: ENDED.into() });
        }
        self.phase = Phase::Rewinding(rewinding);
        self.rewound_if_done();
    }

    /// Ends every kernel, because the checkpoint is not kept any more.
    fn rewind_afresh(&mut self, mut rewound: Rewound, reply: RewoundReply, now: Instant) {
        let reason = forgotten(rewound.number);
        rewound.files = FilesRewound::NotRestored { reason: reason.clone() };
        let mut rewinding = Rewinding::new(rewound, reply, now);
        let alive: Vec<_> = self.kernels.iter_mut().map(|(kernel, _)| kernel).collect();
        for kernel in alive {
            let memory = MemoryRewound::Lost { reason: reason.clone() };
            self.end_for_rewind(kernel, memory, &mut rewinding);
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
        let memory = self.checkpoints.memory(number, kernel);
        let lost = |reason: &str| MemoryRewound::Lost { reason: reason.into() };
        let memory = match memory.map(|memory| memory.told(&self.copies)) {
            Some(MemoryCheckpoint::NotKept { reason }) => lost(&reason),
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
