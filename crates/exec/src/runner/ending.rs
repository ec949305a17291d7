//! How runs, kernels and sandboxes end, on somebody's wish or without.

use super::{
    kernels::KernelState,
    starting::SILENT,
    state::{Action, Phase, State},
};
use crate::ExecError;
use interpreter_core::{
    Language, Reached, Stream, Untrusted,
    session::{Event, death},
};

/// The signal that ends what heeds no other, and what has no memory left.
pub(super) const KILLED: i32 = 9;

impl State {
    /// Ends a sandbox that does not do what it should, and with it the run. Whoever waits for a kernel
    /// hears of it.
    pub(super) fn abandon(&mut self) {
        let cell = self.take_cell();
        let awaited = match &self.phase {
            Phase::Preparing(language) => Some(language.clone()),
            Phase::Restarting { awaited, .. } => awaited.first().cloned(),
            Phase::Idle | Phase::Running(_) | Phase::Completing(_) | Phase::Rewinding(_) => None,
        };
        self.gone();
        self.then(Action::End);
        if let Some(cell) = cell {
            let (status, signal) = (None, Some(KILLED));
            self.then(Action::Finish { cell: Box::new(cell), status, signal, kernel_ended: true });
        }
        if let Some(language) = awaited {
            let (language, reason) = (language.name().into(), SILENT.into());
            self.then(Action::Fail(ExecError::Kernel { language, reason }));
        }
    }

    /// There is no sandbox any more.
    pub(super) fn gone(&mut self) {
        self.phase = Phase::Idle;
        self.bounds = None;
        self.budget = None;
        self.counting.clear();
        self.count_by = None;
        self.kernels.clear();
        self.lose_all_copies();
    }

    /// The stream has ended without our doing, and with it every kernel. Nobody learns from here
    /// how the run ended: the failure that is reported says it.
    pub(super) fn sandbox_ended(&mut self) {
        for event in self.lose_kernels("ended with its sandbox") {
            self.report(event);
        }
    }

    /// There is no sandbox any more, and its kernels have gone with it: how each of them ended.
    pub(super) fn lose_kernels(&mut self, how: &str) -> Vec<Event> {
        let lost = self.kernels.clear().into_iter();
        let ended = |language| Event::KernelEnded { language, how: how.into() };
        let told = lost.map(|kernel| ended(kernel.language)).collect();
        self.gone();
        told
    }

    /// The sandbox could not be built, and nothing has run in it: another one may take its place.
    pub(super) fn not_built(&mut self) -> Option<Language> {
        let awaited = match std::mem::replace(&mut self.phase, Phase::Idle) {
            Phase::Preparing(language) => Some(language),
            Phase::Idle
            | Phase::Running(_)
            | Phase::Restarting { .. }
            | Phase::Completing(_)
            | Phase::Rewinding(_) => None,
        };
        self.gone();
        awaited
    }

    /// Ends the run of `kernel`, if it has one: output that was held back comes first, and then how
    /// it ended and its effects. Then there is time to copy the kernel.
    pub(super) fn finish_cell(&mut self, kernel: u32, status: Option<i32>, signal: Option<i32>) {
        let mut kernel_ended = true;
        let mut held = [None, None];
        if let Some(from) = self.kernels.get_mut(kernel) {
            kernel_ended = false;
            held = [
                from.stdout.finish(&self.last_proposal, Stream::Stdout),
                from.stderr.finish(&self.last_proposal, Stream::Stderr),
            ];
        }
        for output in held.into_iter().flatten() {
            self.report(Event::Output(output));
        }
        if self.cell_of(kernel).is_some()
            && let Some(cell) = self.take_cell()
        {
            let again = cell.runs_again;
            let cell = Box::new(cell);
            self.then(Action::Finish { cell, status, signal, kernel_ended });
            if !again {
                self.copy_ahead(kernel);
            }
        }
    }

    pub(super) fn kernel_failed(&mut self, kernel: u32, message: &str) -> Result<(), ExecError> {
        let Some(gone) = self.kernels.remove(kernel) else { return Ok(()) };
        self.did_not_start(&gone.language, Untrusted::new(message).for_terminal_line(500))
    }

    /// Only somebody who waits for it needs to know; others find out when they do.
    fn did_not_start(&self, language: &Language, reason: String) -> Result<(), ExecError> {
        let awaited = match &self.phase {
            Phase::Preparing(awaited) => awaited == language,
            Phase::Restarting { awaited, .. } => awaited.contains(language),
            Phase::Idle | Phase::Running(_) | Phase::Completing(_) | Phase::Rewinding(_) => false,
        };
        if !awaited {
            return Ok(());
        }
        Err(ExecError::Kernel { language: language.name().into(), reason })
    }

    /// Whether somebody waits for a kernel of this language, and none is being started.
    fn waits_in_vain(&self, language: &Language) -> bool {
        matches!(&self.phase, Phase::Preparing(awaited) if awaited == language)
            && self.kernels.of(language).is_none()
    }

    /// A kernel has exited. `starved` says that the system has killed for want of memory: its own
    /// count, and not what anything inside says.
    pub(super) fn kernel_exited(
        &mut self,
        kernel: u32,
        status: Option<i32>,
        signal: Option<i32>,
        starved: bool,
    ) -> Result<(), ExecError> {
        let Some(mut gone) = self.kernels.remove(kernel) else { return Ok(()) };
        // Output that was held back comes before the kernel is forgotten.
        let held = [
            gone.stdout.finish(&self.last_proposal, Stream::Stdout),
            gone.stderr.finish(&self.last_proposal, Stream::Stderr),
        ];
        for output in held.into_iter().flatten() {
            self.report(Event::Output(output));
        }
        if starved
            && gone.why.is_none()
            && let Some(cell) = self.cell_of(kernel)
        {
            cell.ran_out_of_memory();
        }
        let how = gone.why.unwrap_or_else(|| death(status, signal));
        self.lose_copies(kernel);
        if self.ended_in_rewind(kernel, &gone.language, &how) {
            return Ok(());
        }
        match gone.state {
            KernelState::Starting => return self.did_not_start(&gone.language, how),
            KernelState::Ending { fresh: true } => self.replace(gone.language),
            KernelState::Ready if self.cell_of(kernel).is_some() => {
                self.finish_cell(kernel, status, signal);
            }
            // It was ended before it was ready, so that nobody waits for another.
            KernelState::Ending { fresh: false } if self.waits_in_vain(&gone.language) => {
                return self.did_not_start(&gone.language, how);
            }
            KernelState::Ready | KernelState::Ending { fresh: false } | KernelState::Leaving => {
                self.report(Event::KernelEnded { language: gone.language, how });
            }
        }
        Ok(())
    }

    /// The host had to end everything, because there was no room for another process.
    pub(super) fn crowded(&mut self, wanted: u32) {
        let Some(bounds) = &self.bounds else { return };
        let reached = Reached::Processes(bounds.limits.processes);
        for (_, kernel) in self.kernels.iter_mut().filter(|(number, _)| *number != wanted) {
            kernel.why = Some(format!(
                "was ended: what had been left running reached the limit on {reached}"
            ));
        }
        if let Some(cell) = self.cell_of(wanted) {
            cell.remark(format!(
                "what had been left running reached the limit on {reached}; all of it was ended, \
                 the variables of every language are lost, and this ran afresh"
            ));
        }
    }
}
