//! Frames from inside: output, claims, and what the host says.
//!
//! Must not believe any of it: it can show something, or say that code is done. Everything counts
//! towards the limit on output, and nothing counts as less than it costs to keep: otherwise many
//! tiny claims would fill the record while the limit saw only their few bytes.

use super::{
    complete::Completions,
    kernels::KernelState,
    state::{Action, Phase, State},
};
use crate::{ExecError, output};
use interpreter_core::{Beside, InputWanted, Reached, Stream, Untrusted, session::Event};
use interpreter_host::{Claim, Heard, Inward, Outward};
use std::time::Instant;

/// Characters of a question that code asks.
const LONGEST_PROMPT: usize = 1_000;

/// The least that a claim counts, whatever it says: about what a record of it takes.
const CLAIM: usize = 512;

/// The least that a piece of output counts.
const PIECE: usize = 256;

impl State {
    /// Takes in what came from inside. `starved` says whether the system has killed something in
    /// the sandbox for want of memory; it is asked only when a kernel was killed.
    pub(super) fn heard(
        &mut self,
        heard: Heard,
        now: Instant,
        starved: impl FnOnce() -> bool,
    ) -> Result<(), ExecError> {
        match heard {
            Heard::Stdout { kernel, bytes } => self.printed(kernel, Stream::Stdout, bytes, now),
            Heard::Stderr { kernel, bytes } => self.printed(kernel, Stream::Stderr, bytes, now),
            Heard::Claim { kernel, claim } => self.claimed(kernel, &claim, now),
            Heard::Lost { kernel, process } => {
                self.then(Action::Send(Inward::Kill { kernel, process }));
            }
            Heard::Told(told) => return self.host_says(told, now, starved),
        }
        Ok(())
    }

    fn host_says(
        &mut self,
        told: Outward,
        now: Instant,
        starved: impl FnOnce() -> bool,
    ) -> Result<(), ExecError> {
        match told {
            Outward::Started { kernel, .. } => self.is_there(kernel),
            Outward::Tidied { .. } => {}
            Outward::Failed { kernel, message } => return self.kernel_failed(kernel, &message),
            Outward::Exited { kernel, status, signal } => {
                let starved = signal == Some(super::ending::KILLED) && starved();
                return self.kernel_exited(kernel, status, signal, starved);
            }
            Outward::Used { milliseconds } => self.measured(milliseconds, now),
            Outward::Programs { count } => self.counted_programs(count),
            Outward::Crowded { kernel } => self.crowded(kernel),
            Outward::Restored { .. } => self.then(Action::Restored),
            Outward::Emptied { clean } => self.then(Action::Emptied { clean }),
            Outward::Held { kernel, number, held } => self.held(kernel, number, held),
            Outward::Rewound { kernel, number, process } => self.rewound(kernel, number, process),
        }
        Ok(())
    }

    fn printed(&mut self, kernel: u32, stream: Stream, bytes: Vec<u8>, now: Instant) {
        let size = bytes.len();
        let Some(from) = self.kernels.get_mut(kernel) else { return };
        let decoder = match stream {
            Stream::Stdout | Stream::Result => &mut from.stdout,
            Stream::Stderr => &mut from.stderr,
        };
        if let Some(output) = decoder.feed(&self.last_proposal, stream, bytes) {
            self.report(Event::Output(output));
        }
        self.count(kernel, size.max(PIECE), now);
    }

    /// Counts what a kernel says, in a run or between two. Too much ends the kernel.
    fn count(&mut self, number: u32, bytes: usize, now: Instant) {
        let Some(most) = self.bounds.as_ref().map(|bounds| bounds.limits.output_bytes) else {
            return;
        };
        let Some(kernel) = self.kernels.get_mut(number) else { return };
        let before = kernel.printed;
        kernel.printed += bytes as u64;
        if before > most || kernel.printed <= most {
            return;
        }
        kernel.why =
            Some(format!("was ended: it printed past the limit on {}", Reached::Output(most)));
        match &mut self.phase {
            Phase::Running(cell) if cell.kernel == number => cell.printed_too_much(now),
            Phase::Idle
            | Phase::Preparing(_)
            | Phase::Running(_)
            | Phase::Restarting { .. }
            | Phase::Completing(_)
            | Phase::Rewinding(_) => kernel.state = KernelState::Ending { fresh: false },
        }
        self.then(Action::Send(Inward::Stop { kernel: number }));
    }

    /// A driver's claim. It shares a process with the code, so it is believed in nothing that
    /// matters: it can show something, or say that the code is done, which only its own code would
    /// suffer from if it were a lie.
    fn claimed(&mut self, kernel: u32, line: &[u8], now: Instant) {
        self.count(kernel, line.len().max(CLAIM), now);
        let Ok(claim) = Claim::parse(line) else { return };
        match claim {
            Claim::Ready { completes, checkpoints, .. } => {
                let Some(from) = self.kernels.get_mut(kernel) else { return };
                (from.completes, from.checkpoints) = (completes, checkpoints);
                // One that is being ended may still say so.
                if from.state == KernelState::Starting && from.why.is_none() {
                    from.state = KernelState::Ready;
                    let language = from.language.clone();
                    self.ready(language);
                    self.copy_ahead(kernel);
                }
            }
            Claim::Result { bundle, display } => {
                let shown = output::result(&self.last_proposal, bundle, display.as_deref());
                self.report(Event::Output(shown));
            }
            Claim::Line { line } => self.report(Event::Line(line)),
            Claim::Asks { prompt, secret } => self.asked(kernel, &prompt, secret),
            // Its text has come by way of standard error.
            Claim::Raised { name, .. } => {
                if let Some(cell) = self.cell_of(kernel).filter(|_| name == "MemoryError") {
                    cell.wanted_memory();
                }
            }
            Claim::Refused { code, path } => self.then(Action::Refused { code, path }),
            Claim::Completions { start, end, matches } => {
                self.completed(kernel, start, end, matches);
            }
            Claim::Checkpointed { number, process, threads, sockets, files, programs } => {
                let beside = Beside { threads, sockets, files, programs };
                self.checkpointed(kernel, number, process, beside);
            }
            Claim::NotCheckpointed { number, reason } => {
                self.not_checkpointed(kernel, number, &reason);
            }
            Claim::Finished { status } => self.finish_cell(kernel, Some(status), None),
        }
    }

    /// The code asks the person. Between runs there is nobody to ask.
    fn asked(&mut self, kernel: u32, prompt: &str, secret: bool) {
        if self.cell_of(kernel).is_none() {
            return;
        }
        let prompt = Untrusted::new(prompt.chars().take(LONGEST_PROMPT).collect::<String>());
        let proposal = self.last_proposal.clone();
        self.report(Event::InputWanted(InputWanted { proposal, prompt, secret }));
    }

    /// Takes what a driver says of how code could go on. Each question has one answer, in order, so
    /// an answer that comes late is not taken for the one that is waited for.
    fn completed(&mut self, kernel: u32, start: usize, end: usize, matches: Vec<String>) {
        let Some(from) = self.kernels.get_mut(kernel) else { return };
        from.asked = from.asked.saturating_sub(1);
        if from.asked > 0 || !matches!(&self.phase, Phase::Completing(one) if one.kernel == kernel)
        {
            return;
        }
        if let Phase::Completing(waiting) = std::mem::replace(&mut self.phase, Phase::Idle) {
            waiting.answer(Completions::checked(start, end, matches));
        }
    }
}
