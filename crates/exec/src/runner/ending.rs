//! How a run ends: by itself, or because a limit or the person ends it.

use super::{Happening, actor::Actor, cell::Due, live::Live};
use crate::{ExecError, workspace::Set};
use interpreter_core::{Denial, Effects, Reached, Stream, session::Ran};
use interpreter_host::Inward;
use std::time::{Duration, Instant};

/// The signal that ends what heeds no other.
const KILLED: i32 = 9;

/// How long a run takes at least that uses up the memory of all processes together.
const NOTICED: Duration = Duration::from_millis(1);

impl Actor {
    pub(super) async fn act(&mut self, due: Option<Due>) -> Result<(), ExecError> {
        let (Some(cell), Some(live)) = (&self.cell, &mut self.live) else { return Ok(()) };
        let kernel = cell.kernel;
        match due {
            None => Ok(()),
            Some(Due::Interrupt) => live.send(&Inward::Interrupt { kernel }).await,
            Some(Due::End) => live.send(&Inward::Stop { kernel }).await,
            Some(Due::Abandon) => self.abandon().await,
        }
    }

    /// Ends a sandbox that does not do what it is told, and with it the run.
    pub(super) async fn abandon(&mut self) -> Result<(), ExecError> {
        self.budget = None;
        if let Some(live) = self.live.take() {
            live.stop().await;
        }
        let Some(cell) = self.cell.take() else { return Ok(()) };
        let limit = cell.limit_reached();
        let mut ran = cell.ended(Instant::now(), None, Some(KILLED));
        ran.kernel_ended = true;
        self.tell_effects(&mut ran, limit)?;
        self.report(Happening::Ran(ran)).await;
        Ok(())
    }

    /// Ends the run of `kernel`, if it has one: what was held back comes out, and then how it
    /// ended and what it did.
    pub(super) async fn finish_cell(
        &mut self,
        kernel: u32,
        status: Option<i32>,
        signal: Option<i32>,
    ) -> Result<(), ExecError> {
        let mut held = Vec::new();
        let mut kernel_ended = true;
        if let Some(from) = self.live.as_mut().and_then(|live| live.kernels.get_mut(&kernel)) {
            kernel_ended = false;
            held.extend(from.stdout.finish(&self.last_proposal, Stream::Stdout));
            held.extend(from.stderr.finish(&self.last_proposal, Stream::Stderr));
        }
        for chunk in held {
            self.report(Happening::Output(chunk)).await;
        }
        let Some(mut cell) = self.cell.take_if(|cell| cell.kernel == kernel) else { return Ok(()) };
        let now = Instant::now();
        // What takes no time uses up no memory, so it need not be asked after each small run.
        if cell.lasted(now) >= NOTICED && self.live.as_mut().is_some_and(Live::memory_ran_out) {
            cell.lost_a_process();
        }
        let limit = cell.limit_reached();
        let mut ran = cell.ended(now, status, signal);
        ran.kernel_ended = kernel_ended;
        self.tell_effects(&mut ran, limit)?;
        self.report(Happening::Ran(ran)).await;
        Ok(())
    }

    fn tell_effects(&mut self, ran: &mut Ran, limit: Option<Reached>) -> Result<(), ExecError> {
        ran.effects = self.effects(limit)?;
        if ran.effects.files.len() >= Set::LISTED {
            let text = format!(
                "more than {} files differ, of which so many are listed; what you are asked about \
                 has all of them, and so has `interpreter changes diff`",
                Set::LISTED
            );
            ran.remark.get_or_insert(text);
        }
        if ran.remark.is_none() {
            ran.remark = self.remark.take();
        }
        Ok(())
    }

    fn effects(&mut self, limit: Option<Reached>) -> Result<Effects, ExecError> {
        let network = self.tried();
        let limit = limit.map(|reached| reached.to_string());
        let denials = Denial::all(self.refusals.take(), &network, limit);
        let files = self.set.as_ref().map(Set::changes).transpose()?.unwrap_or_default();
        let set = self.set.as_ref().filter(|_| !files.is_empty());
        let changes = set.map(|set| set.id().to_owned());
        Ok(Effects { changes, files, network, denials })
    }
}
