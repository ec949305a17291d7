//! Copies of kernels' memory, as they are known outside, and how far each has come.
//!
//! Checkpoints name copies by numbers of their own, and share a copy for as long as its kernel runs
//! nothing. Threads change a kernel that runs nothing, so a copy of one that had some does not last.
//!
//! Must not ask for anything: see [`super::copying`].

use interpreter_core::{Beside, MemoryCheckpoint};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
};

/// Copies of one kernel that are known, with those that it was asked for and does not answer about.
const MOST_KNOWN: usize = 32;

const SILENT: &str = "it did not answer";
pub(super) const ENDED: &str = "it has ended since then";
pub(super) const NOT_HELD: &str = "its copy could not be kept";
/// Why a copy that was held is not there.
pub(super) const GONE: &str = "its copy is gone; the oldest go first where memory is short";

/// How far a copy has come.
#[derive(Debug)]
pub(super) enum Progress {
    /// Its kernel was asked for it.
    Awaited,
    /// Its kernel claims that it is there, and the host was asked to hold it.
    Claimed(Beside),
    Held(Beside),
    Missing(String),
}

/// A copy of a kernel's memory.
#[derive(Debug)]
struct MemoryCopy {
    kernel: u32,
    progress: Progress,
    /// Whether another kernel was given code before it was known what this copy is like.
    overtaken: bool,
}

impl MemoryCopy {
    fn is_awaited(&self) -> bool {
        matches!(self.progress, Progress::Awaited | Progress::Claimed(_))
    }

    /// Whether it is still all that its kernel has in memory, if that has run nothing since.
    fn is_lasting(&self) -> bool {
        match &self.progress {
            Progress::Awaited => !self.overtaken,
            Progress::Claimed(beside) | Progress::Held(beside) => beside.threads == 0,
            Progress::Missing(_) => false,
        }
    }
}

/// All copies of a runner, by numbers that are never used twice.
#[derive(Debug, Default)]
pub(super) struct MemoryCopies {
    all: BTreeMap<u32, MemoryCopy>,
    last: u32,
    /// The last copies of kernels that have run nothing since, by their kernels.
    recent: BTreeMap<u32, u32>,
    /// Kernels whose last copy does not last.
    restless: BTreeSet<u32>,
    /// Whether somebody keeps checkpoints.
    pub(super) wanted: bool,
}

impl MemoryCopies {
    /// The part of a checkpoint that names a copy.
    pub(super) fn memory(&self, number: u32) -> MemoryCheckpoint {
        let reason = match self.all.get(&number).map(|copy| &copy.progress) {
            Some(Progress::Held(beside)) => return MemoryCheckpoint::Kept { beside: *beside },
            Some(Progress::Missing(reason)) => reason,
            Some(Progress::Awaited | Progress::Claimed(_)) => SILENT,
            None => ENDED,
        };
        MemoryCheckpoint::NotKept { reason: reason.into() }
    }

    /// Whether it is not known yet if there will be such a copy.
    pub(super) fn is_awaited(&self, number: u32) -> bool {
        self.all.get(&number).is_some_and(MemoryCopy::is_awaited)
    }

    /// Whether it is not known of any copy yet if there will be one.
    pub(super) fn has_awaited(&self) -> bool {
        self.all.values().any(MemoryCopy::is_awaited)
    }

    /// Forgets a copy that is about to be woken: until it has made another, there is none. Returns
    /// the state that it had beside its memory, if it was kept.
    pub(super) fn wake(&mut self, number: u32) -> Option<Beside> {
        let copy = self.all.get_mut(&number)?;
        let Progress::Held(beside) = copy.progress else { return None };
        copy.progress = Progress::Awaited;
        self.recent.insert(copy.kernel, number);
        Some(beside)
    }

    /// A kernel is given code: its last copy is not what it is any more. One that another kernel
    /// still owes may be made before that code has acted on its threads, and would not have it.
    pub(super) fn runs(&mut self, kernel: u32) {
        self.recent.remove(&kernel);
        for number in self.recent.values() {
            if let Some(copy) = self.all.get_mut(number) {
                copy.overtaken |= matches!(copy.progress, Progress::Awaited);
            }
        }
    }

    /// There is no such kernel any more. Returns the copies that are gone with it.
    pub(super) fn lose(&mut self, kernel: u32) -> Vec<u32> {
        self.recent.remove(&kernel);
        self.restless.remove(&kernel);
        let lost = self.all.extract_if(.., |_, copy| copy.kernel == kernel);
        lost.map(|(number, _)| number).collect()
    }

    /// There is no kernel any more.
    pub(super) fn lose_all(&mut self) {
        self.recent.clear();
        self.restless.clear();
        self.all.clear();
    }

    /// A number for another copy of a kernel. One that it owes for too long is forgotten.
    pub(super) fn add(&mut self, kernel: u32) -> u32 {
        let of_kernel = |(_, copy): &(&u32, &MemoryCopy)| copy.kernel == kernel;
        if self.all.iter().filter(of_kernel).count() >= MOST_KNOWN {
            let mut owed = self.all.iter().filter(of_kernel);
            let oldest = owed.find(|(_, copy)| matches!(copy.progress, Progress::Awaited));
            let oldest = oldest.map(|(&number, _)| number);
            oldest.and_then(|number| self.all.remove(&number));
        }
        self.last += 1;
        self.all.insert(
            self.last,
            MemoryCopy { kernel, progress: Progress::Awaited, overtaken: false },
        );
        self.recent.insert(kernel, self.last);
        self.last
    }

    /// The copy of a kernel as it is now, if there is one or is about to be.
    pub(super) fn lasting(&self, kernel: u32) -> Option<u32> {
        let number = *self.recent.get(&kernel)?;
        self.all.get(&number).is_some_and(MemoryCopy::is_lasting).then_some(number)
    }

    /// Whether a kernel is worth copying before a checkpoint asks for it.
    pub(super) fn is_copied_ahead(&self, kernel: u32) -> bool {
        self.wanted && !self.restless.contains(&kernel)
    }

    /// How far a copy of this kernel has come.
    pub(super) fn progress(&mut self, kernel: u32, number: u32) -> Option<&mut Progress> {
        let copy = self.all.get_mut(&number).filter(|copy| copy.kernel == kernel)?;
        Some(&mut copy.progress)
    }

    /// Takes out the copies that are neither `named` nor the last of a kernel that has run nothing
    /// since, with their kernels. One that is awaited stays until it is there.
    pub(super) fn take_unnamed(&mut self, mut named: BTreeSet<u32>) -> Vec<(u32, u32)> {
        named.extend(self.recent.values());
        let unnamed =
            |number: &u32, copy: &mut MemoryCopy| !named.contains(number) && !copy.is_awaited();
        let taken = self.all.extract_if(.., unnamed);
        taken.map(|(number, copy)| (copy.kernel, number)).collect()
    }

    /// A copy is there by now, or never will be.
    pub(super) fn answered(&mut self, kernel: u32, number: u32, progress: Progress) {
        let copy = self.all.get_mut(&number).filter(|copy| copy.kernel == kernel);
        let Some(copy) = copy else { return };
        copy.progress = progress;
        let is_lasting = copy.is_lasting();
        let later = (Bound::Excluded(number), Bound::Unbounded);
        if self.all.range(later).any(|(_, copy)| copy.kernel == kernel) {
            return;
        }
        if is_lasting {
            self.restless.remove(&kernel);
        } else {
            self.restless.insert(kernel);
        }
    }

    #[cfg(test)]
    pub(super) fn known(&self) -> usize {
        self.all.len()
    }
}
