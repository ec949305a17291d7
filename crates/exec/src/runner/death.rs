//! How kernels and sandboxes end without anybody's wish, and what is said of it.

use super::{
    Happening,
    actor::Actor,
    live::{KernelState, Live, Next},
};
use crate::ExecError;
use interpreter_core::{Language, Reached, Stream, Untrusted, session::death};

/// The signal by which the kernel ends what has no memory left.
const KILLED: i32 = 9;

impl Actor {
    pub(super) fn kernel_failed(&mut self, kernel: u32, message: &str) -> Result<(), ExecError> {
        let gone = self.live.as_mut().and_then(|live| live.kernels.remove(&kernel));
        let Some(gone) = gone else { return Ok(()) };
        self.did_not_start(&gone.language, Untrusted::new(message).for_terminal_line(500))
    }

    /// Only somebody who waits for it needs to know; others find out when they do.
    fn did_not_start(&self, language: &Language, reason: String) -> Result<(), ExecError> {
        let awaited = self.awaited.as_ref() == Some(language);
        if !awaited && !self.restarting.as_ref().is_some_and(|one| one.awaits(language)) {
            return Ok(());
        }
        Err(ExecError::Kernel { language: language.name().into(), reason })
    }

    pub(super) async fn kernel_exited(
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
        // The kernel's own count, and not what anything inside says.
        let starved = signal == Some(KILLED)
            && gone.why.is_none()
            && self.live.as_mut().is_some_and(Live::memory_ran_out);
        if starved && let Some(cell) = self.cell.as_mut().filter(|cell| cell.kernel == kernel) {
            cell.ran_out_of_memory();
        }
        let how = gone.why.unwrap_or_else(|| death(status, signal));
        match gone.state {
            KernelState::Starting => self.did_not_start(&gone.language, how),
            KernelState::Ending(Next::Fresh) => self.replace(gone.language).await,
            KernelState::Ready if self.cell.as_ref().is_some_and(|cell| cell.kernel == kernel) => {
                self.finish_cell(kernel, status, signal).await
            }
            KernelState::Ready | KernelState::Ending(Next::Nothing) => {
                self.report(Happening::KernelEnded { language: gone.language, how }).await;
                Ok(())
            }
        }
    }

    /// The host had to end everything, because there was no room for another process.
    pub(super) fn crowded(&mut self, wanted: u32) {
        let Some(live) = &mut self.live else { return };
        let reached = Reached::Processes(live.confinement.limits.processes);
        for (_, kernel) in live.kernels.iter_mut().filter(|(number, _)| **number != wanted) {
            kernel.why = Some(format!(
                "was ended: what had been left running reached the limit on {reached}"
            ));
        }
        if let Some(cell) = self.cell.as_mut().filter(|cell| cell.kernel == wanted) {
            cell.remark(format!(
                "what had been left running reached the limit on {reached}; all of it was ended, \
                 the variables of every language are lost, and this ran afresh"
            ));
        }
    }

    /// The stream has ended without our doing. A sandbox that could not be built makes way for the
    /// next one that may be used instead: nothing has run in it.
    pub(super) async fn stream_ended(&mut self) -> Result<(), ExecError> {
        let Some(live) = self.live.as_ref().filter(|live| !live.answered) else {
            return Err(self.sandbox_ended().await);
        };
        let (backend, confinement) = (live.backend, live.confinement.clone());
        let awaited = self.awaited.clone();
        let Some(live) = self.live.take() else { return Ok(()) };
        let error = live.why_it_ended().await;
        self.search.refused(backend, error, confinement.sandbox.backend)?;
        match awaited {
            Some(language) => Box::pin(self.prepare(language, confinement)).await,
            None => Ok(()),
        }
    }

    /// The stream has ended without our doing.
    pub(super) async fn sandbox_ended(&mut self) -> ExecError {
        self.cell = None;
        self.budget = None;
        match self.live.take() {
            Some(live) => {
                for kernel in live.kernels.values() {
                    let (language, how) =
                        (kernel.language.clone(), "ended with its sandbox".into());
                    self.report(Happening::KernelEnded { language, how }).await;
                }
                live.why_it_ended().await
            }
            None => ExecError::SandboxEnded { reason: "it was not there".into() },
        }
    }
}
