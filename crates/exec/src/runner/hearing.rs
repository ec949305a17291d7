//! What comes from inside: output, claims, and what the host says.
//!
//! Must not believe any of it: it can show something, or say that code is done. Everything counts
//! towards the limit on output, and nothing counts as less than it costs to keep: otherwise many tiny
//! claims would fill the record while the limit saw only their few bytes.

use super::{
    Happening,
    actor::Actor,
    live::{KernelState, Next},
};
use crate::{ExecError, output};
use interpreter_core::{
    Reached, Stream, Untrusted,
    session::{Echo, InputWanted},
};
use interpreter_host::{Claim, Heard, Inward, Outward};
use std::time::Instant;

/// Characters of a question that code asks.
const LONGEST_PROMPT: usize = 1_000;

/// What a claim counts at least, whatever it says: about what a record of it takes.
const CLAIM: usize = 512;

/// What a piece of output counts at least.
const PIECE: usize = 256;

impl Actor {
    pub(super) async fn take_heard(&mut self) -> Result<(), ExecError> {
        while let Some(live) = &mut self.live {
            let Some(heard) = live.next_heard()? else { break };
            self.take(heard).await?;
        }
        Ok(())
    }

    async fn take(&mut self, heard: Heard) -> Result<(), ExecError> {
        match heard {
            Heard::Stdout { kernel, bytes } => self.printed(kernel, Stream::Stdout, bytes).await,
            Heard::Stderr { kernel, bytes } => self.printed(kernel, Stream::Stderr, bytes).await,
            Heard::Claim { kernel, claim } => self.claimed(kernel, &claim).await,
            Heard::Lost { kernel, process } => match &mut self.live {
                Some(live) => live.send(&Inward::Kill { kernel, process }).await,
                None => Ok(()),
            },
            Heard::Told(told) => self.host_says(told).await,
        }
    }

    async fn host_says(&mut self, told: Outward) -> Result<(), ExecError> {
        match told {
            Outward::Started { .. } | Outward::Tidied { .. } => Ok(()),
            Outward::Failed { kernel, message } => self.kernel_failed(kernel, &message),
            Outward::Exited { kernel, status, signal } => {
                self.kernel_exited(kernel, status, signal).await
            }
            Outward::Used { milliseconds } => self.measured(milliseconds).await,
            Outward::Crowded { kernel } => {
                self.crowded(kernel);
                Ok(())
            }
            Outward::Restored { .. } => self.restored().await,
        }
    }

    async fn printed(
        &mut self,
        kernel: u32,
        stream: Stream,
        bytes: Vec<u8>,
    ) -> Result<(), ExecError> {
        let size = bytes.len();
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
        self.count(kernel, size.max(PIECE)).await
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
        kernel.why =
            Some(format!("was ended: it printed past the limit on {}", Reached::Output(most)));
        match self.cell.as_mut().filter(|cell| cell.kernel == number) {
            Some(cell) => cell.printed_too_much(Instant::now()),
            None => kernel.state = KernelState::Ending(Next::Nothing),
        }
        live.send(&Inward::Stop { kernel: number }).await
    }

    /// What a driver says. It shares a process with the code, so it is believed in nothing that
    /// matters: it can show something, or say that the code is done, which only its own code
    /// would suffer from if it were a lie.
    async fn claimed(&mut self, kernel: u32, line: &[u8]) -> Result<(), ExecError> {
        self.count(kernel, line.len().max(CLAIM)).await?;
        let Ok(claim) = Claim::parse(line) else { return Ok(()) };
        match claim {
            Claim::Ready { completes, .. } => {
                let Some(from) = self.live.as_mut().and_then(|live| live.kernels.get_mut(&kernel))
                else {
                    return Ok(());
                };
                from.completes = completes;
                // One that is being ended may still say so.
                if from.state == KernelState::Starting {
                    from.state = KernelState::Ready;
                    let language = from.language.clone();
                    self.replaced(&language).await;
                    if self.awaited.take_if(|awaited| *awaited == language).is_some() {
                        return self.ready(language).await;
                    }
                }
                Ok(())
            }
            Claim::Result { bundle, display } => {
                let chunk = output::result(&self.last_proposal, bundle, display.as_deref());
                self.report(Happening::Output(chunk)).await;
                Ok(())
            }
            Claim::Line { line } => {
                self.report(Happening::Line(line)).await;
                Ok(())
            }
            Claim::Asks { prompt, secret } => self.asked(kernel, &prompt, secret).await,
            // Its text has come by way of standard error.
            Claim::Raised { name, .. } => {
                let cell = self.cell.as_mut().filter(|cell| cell.kernel == kernel);
                if let Some(cell) = cell.filter(|_| name == "MemoryError") {
                    cell.wanted_memory();
                }
                Ok(())
            }
            // Told only if our own list says that it was our doing.
            Claim::Refused { code, path } => {
                let denied = self.live.as_ref().and_then(|live| live.view().denied(&path, &code));
                if let Some(denial) = denied {
                    self.refusals.note(denial);
                }
                Ok(())
            }
            Claim::Completions { start, end, matches } => {
                self.completed(kernel, start, end, matches);
                Ok(())
            }
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
        Ok(())
    }
}
