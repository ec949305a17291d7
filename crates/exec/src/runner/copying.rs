//! When kernels are copied, which copies count, and which are dropped.
//!
//! While a kernel is copied it runs nothing. So it is asked for a copy right after a run has been
//! reported, when a person reads or a model writes, and the checkpoint before the next cell only
//! names that copy. A cell that comes before the copy is made waits for it in the kernel's own queue,
//! and nobody else waits.
//!
//! A kernel whose last copy does not last, or that could not be copied, is copied only when a
//! checkpoint asks. Cells that run again follow each other at once and are no place to go back to,
//! so no copy is made between them.
//!
//! Must not believe a kernel in more than its own memory: its claim that there is a copy counts
//! once the host holds that process. Must not keep a copy that nobody can go back to.

use super::{
    copies::{GONE, NOT_HELD, Progress},
    state::{Action, State},
};
use interpreter_core::{Beside, Untrusted};
use interpreter_host::Inward;

/// The part of the limit on memory that all copies of a kernel may take, beside what they share
/// with it.
const SHARE: u64 = 4;

/// Characters of a reason that a driver gives.
const LONGEST_REASON: usize = 200;

impl State {
    /// A kernel has nothing to do: it is copied for the checkpoint that may come, if checkpoints are
    /// kept at all.
    pub(super) fn copy_ahead(&mut self, kernel: u32) {
        let can = self.kernels.get_mut(kernel).is_some_and(|one| one.is_ready() && one.checkpoints);
        if can && self.copies.is_copied_ahead(kernel) {
            self.copy(kernel);
        }
    }

    /// The copy of a kernel as it is now, for a checkpoint to name.
    pub(super) fn copy_for_checkpoint(&mut self, kernel: u32) -> u32 {
        self.copies.lasting(kernel).unwrap_or_else(|| self.copy(kernel))
    }

    fn copy(&mut self, kernel: u32) -> u32 {
        let number = self.copies.add(kernel);
        self.then(Action::Copy { kernel, number });
        number
    }

    /// Ends the copies that no checkpoint names and that none can name any more. One that is not
    /// made yet is ended once it is.
    pub(super) fn drop_unnamed_copies(&mut self) {
        for (kernel, number) in self.copies.take_unnamed(self.checkpoints.named()) {
            self.then(Action::Send(Inward::Release { kernel, number }));
        }
    }

    /// A driver claims that there is a copy: the host holds it, if one was asked for.
    pub(super) fn checkpointed(&mut self, kernel: u32, number: u32, process: u32, beside: Beside) {
        let Some(bounds) = &self.bounds else { return };
        let most = bounds.limits.memory_bytes / SHARE;
        let Some(progress) = self.copies.progress(kernel, number) else { return };
        if matches!(progress, Progress::Awaited) {
            *progress = Progress::Claimed(beside);
            self.then(Action::Send(Inward::Hold { kernel, number, process, most }));
        }
    }

    /// A driver says that there is no copy.
    pub(super) fn not_checkpointed(&mut self, kernel: u32, number: u32, reason: &str) {
        let reason = Untrusted::new(reason).for_terminal_line(LONGEST_REASON);
        self.copy_answered(kernel, number, Progress::Missing(reason));
    }

    /// The host holds a copy, or does not, or does so no longer.
    pub(super) fn held(&mut self, kernel: u32, number: u32, held: bool) {
        let Some(progress) = self.copies.progress(kernel, number) else { return };
        let progress = match (progress, held) {
            (Progress::Claimed(beside), true) => Progress::Held(*beside),
            (Progress::Claimed(_), false) => Progress::Missing(NOT_HELD.into()),
            (Progress::Held(_), false) => Progress::Missing(GONE.into()),
            (Progress::Held(_) | Progress::Awaited | Progress::Missing(_), _) => return,
        };
        self.copy_answered(kernel, number, progress);
    }

    fn copy_answered(&mut self, kernel: u32, number: u32, progress: Progress) {
        self.copies.answered(kernel, number, progress);
        self.checkpoints.answered(number, &self.copies);
        self.rewound_answered(kernel, number);
        self.drop_unnamed_copies();
        self.count_if_settled();
    }
}
