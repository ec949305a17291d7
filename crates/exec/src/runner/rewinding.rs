//! A rewind that is under way: which kernels have gone back, and which have been ended.
//!
//! The host answers each request, and a copy that was woken claims a copy of itself. Where either
//! fails to come in time the kernel is ended, so that every rewind ends.

use super::{
    checkpoint::{PATIENCE, RewoundReply},
    copies::GONE,
    state::{Action, Phase, State},
};
use interpreter_core::{Beside, KernelRewound, Language, MemoryRewound, RewindScope, Rewound};
use interpreter_host::Inward;
use std::{collections::BTreeMap, time::Instant};
use tokio::sync::oneshot;

const SILENT: &str = "its copy did not wake";

/// The news that is awaited of one kernel.
#[derive(Debug)]
enum Step {
    /// The copy of this number, from the host and from itself.
    Waking { copy: u32, beside: Beside, woken: bool, answered: bool },
    /// Its end.
    Ending(MemoryRewound),
}

/// A rewind that is under way.
#[derive(Debug)]
pub(super) struct Rewinding {
    rewound: Rewound,
    reply: RewoundReply,
    awaited: BTreeMap<u32, Step>,
    pub(super) until: Instant,
}

impl Rewinding {
    pub(super) fn new(rewound: Rewound, reply: RewoundReply, now: Instant) -> Self {
        Self { rewound, reply, awaited: BTreeMap::new(), until: now + PATIENCE }
    }

    /// A copy was asked for.
    pub(super) fn waking(&mut self, kernel: u32, copy: u32, beside: Beside) {
        self.awaited.insert(kernel, Step::Waking { copy, beside, woken: false, answered: false });
    }

    /// A kernel is being ended, and with it comes this.
    pub(super) fn ending(&mut self, kernel: u32, memory: MemoryRewound) {
        self.awaited.insert(kernel, Step::Ending(memory));
    }

    /// A kernel is done with.
    pub(super) fn ended(&mut self, language: Language, memory: MemoryRewound) {
        self.rewound.kernels.push(KernelRewound { language, memory });
    }
}

impl State {
    /// Somebody wants to know how many programs code has left running. Where there is no sandbox there
    /// are none, and nobody answers.
    pub(super) fn count_programs(&mut self, reply: oneshot::Sender<u32>, now: Instant) {
        if self.bounds.is_none() {
            return;
        }
        self.counting.push(reply);
        // The host would take a copy that it doesn't hold yet for a program of the code.
        if self.copies.has_awaited() {
            self.count_by.get_or_insert(now + PATIENCE);
        } else {
            self.then(Action::Send(Inward::Count));
        }
    }

    /// A copy is held, or there will be none: programs can be counted if that was all.
    pub(super) fn count_if_settled(&mut self) {
        if self.count_by.is_some() && !self.copies.has_awaited() {
            self.count_by = None;
            self.then(Action::Send(Inward::Count));
        }
    }

    /// A kernel owes its copy for too long.
    pub(super) fn counting_alarmed(&mut self, now: Instant) {
        if self.count_by.is_some_and(|until| until <= now) {
            self.count_by = None;
            self.then(Action::Send(Inward::Count));
        }
    }

    /// The host has counted.
    pub(super) fn counted_programs(&mut self, count: u32) {
        for reply in self.counting.drain(..) {
            // Whoever asked may have left.
            _ = reply.send(count).is_ok();
        }
    }

    fn rewinding(&mut self) -> Option<&mut Rewinding> {
        match &mut self.phase {
            Phase::Rewinding(rewinding) => Some(rewinding),
            Phase::Idle
            | Phase::Preparing(_)
            | Phase::Running(_)
            | Phase::Restarting { .. }
            | Phase::Completing(_) => None,
        }
    }

    /// The host has let a copy take a kernel's place, or there was none.
    pub(super) fn rewound(&mut self, kernel: u32, number: u32, process: u32) {
        let Some(rewinding) = self.rewinding() else { return };
        match rewinding.awaited.get_mut(&kernel) {
            Some(Step::Waking { copy, woken, .. }) if *copy == number => {
                *woken = process > 0;
                if process == 0 {
                    self.give_up_on(kernel, GONE);
                }
                self.woken(kernel);
            }
            Some(Step::Waking { .. } | Step::Ending(_)) | None => {}
        }
    }

    /// A copy that was woken has one of its own, or says why not.
    pub(super) fn rewound_answered(&mut self, kernel: u32, number: u32) {
        let Some(rewinding) = self.rewinding() else { return };
        if let Some(Step::Waking { copy, answered, .. }) = rewinding.awaited.get_mut(&kernel)
            && *copy == number
        {
            *answered = true;
            self.woken(kernel);
        }
    }

    /// A kernel has gone back, once both have said so.
    fn woken(&mut self, kernel: u32) {
        let language = self.kernels.get_mut(kernel).map(|kernel| kernel.language.clone());
        let (Some(language), Some(rewinding)) = (language, self.rewinding()) else { return };
        if let Some(Step::Waking { beside, woken: true, answered: true, .. }) =
            rewinding.awaited.get(&kernel)
        {
            let memory = MemoryRewound::Restored { beside: *beside };
            rewinding.awaited.remove(&kernel);
            rewinding.ended(language, memory);
        }
        self.rewound_if_done();
    }

    /// A kernel has ended: whether a rewind has to do with it, which then tells of it.
    pub(super) fn ended_in_rewind(&mut self, kernel: u32, language: &Language, how: &str) -> bool {
        let Some(rewinding) = self.rewinding() else { return false };
        let memory = match rewinding.awaited.remove(&kernel) {
            Some(Step::Ending(memory)) => memory,
            Some(Step::Waking { .. }) => MemoryRewound::Lost { reason: how.into() },
            None => return false,
        };
        rewinding.ended(language.clone(), memory);
        self.rewound_if_done();
        true
    }

    /// When all kernels are done with, the files follow.
    pub(super) fn rewound_if_done(&mut self) {
        if self.rewinding().is_none_or(|rewinding| !rewinding.awaited.is_empty()) {
            return;
        }
        if let Phase::Rewinding(Rewinding { rewound, reply, .. }) =
            std::mem::replace(&mut self.phase, Phase::Idle)
        {
            let scope = RewindScope::Everything;
            self.then(Action::RewindFiles { rewound, scope, reply });
        }
    }

    /// Ends a kernel whose copy does not take its place.
    fn give_up_on(&mut self, kernel: u32, reason: &str) {
        if let Phase::Rewinding(mut rewinding) = std::mem::replace(&mut self.phase, Phase::Idle) {
            let memory = MemoryRewound::Lost { reason: reason.into() };
            self.end_for_rewind(kernel, memory, &mut rewinding);
            self.phase = Phase::Rewinding(rewinding);
        }
    }

    /// Too much time has passed: copies that do not wake are ended, and where even that does not
    /// come to an end the sandbox is.
    pub(super) fn rewinding_alarmed(&mut self, now: Instant) {
        let Some(rewinding) = self.rewinding().filter(|rewinding| rewinding.until <= now) else {
            return;
        };
        rewinding.until = now + PATIENCE;
        let silent: Vec<_> = rewinding
            .awaited
            .iter()
            .filter(|(_, step)| matches!(step, Step::Waking { .. }))
            .map(|(&kernel, _)| kernel)
            .collect();
        if silent.is_empty() {
            return self.abandon();
        }
        for kernel in silent {
            self.give_up_on(kernel, SILENT);
        }
    }
}
