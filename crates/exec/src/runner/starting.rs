//! The time that a start may take.
//!
//! A host says at once that it has started a kernel, and the kernel says when it is ready. Either
//! message may never come: a machine can be out of memory or processes, and Node, for one, waits
//! for ever for threads that the system does not let it have. A kernel that is not ready in time is
//! ended. If the host does not do that in time either, the whole sandbox is, so no start hangs.

use super::{
    kernels::{Kernel, Start},
    state::{Action, State},
};
use interpreter_host::Inward;
use std::time::{Duration, Instant};

/// How long the host may take to end a kernel.
const GRACE: Duration = Duration::from_secs(10);

/// The reason given for ending a sandbox that does not answer.
pub(super) const SILENT: &str = "the sandbox did not answer in time, and was ended";

impl State {
    /// A kernel was asked for, and may take so long.
    pub(super) fn starts(&mut self, kernel: u32, patience: Duration, now: Instant) {
        if let Some(kernel) = self.kernels.get_mut(kernel) {
            kernel.start = Some(Start { patience, until: now + patience, is_there: false });
        }
    }

    /// The host has started the process of a kernel.
    pub(super) fn is_there(&mut self, kernel: u32) {
        if let Some(start) = self.kernels.get_mut(kernel).and_then(|one| one.start.as_mut()) {
            start.is_there = true;
        }
    }

    /// When the first start is given up.
    pub(super) fn starting_alarm(&self) -> Option<Instant> {
        self.kernels.iter().filter_map(Kernel::due).min()
    }

    /// Ends kernels that are not ready in time, or the sandbox if nobody there does that.
    pub(super) fn starting_alarmed(&mut self, now: Instant) {
        let mut stopped = Vec::new();
        let mut is_silent = false;
        for (number, kernel) in self.kernels.iter_mut() {
            let is_late = kernel.due().is_some_and(|due| due <= now);
            let Some(start) = kernel.start.as_mut().filter(|_| is_late) else { continue };
            if !start.is_there || kernel.why.is_some() {
                is_silent = true;
                break;
            }
            start.until = now + GRACE;
            kernel.why = Some(format!(
                "it was not ready after {} s, and was ended. The machine may be busy, or out of \
                 memory or processes",
                start.patience.as_secs()
            ));
            stopped.push(number);
        }
        if is_silent {
            return self.abandon();
        }
        for kernel in stopped {
            self.then(Action::Send(Inward::Stop { kernel }));
        }
    }
}

#[cfg(test)]
mod tests;
