//! How code could go on, as the kernel says: asked between runs, answered soon or not at all.
//!
//! A kernel that does not answer in time gives nothing; the time is measured here. Each question
//! has one answer, in order, so an answer that comes late is told from the one that is waited for.

use super::{actor::Actor, live::KernelState};
use interpreter_core::{Language, Untrusted};
use interpreter_host::claim;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// How long a kernel may think about it: about as long as a person waits after a key.
const PATIENCE: Duration = Duration::from_secs(2);

/// How code could go on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completions {
    /// Where in the code the part begins that each of them replaces, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// What could stand there.
    pub matches: Vec<Untrusted>,
}

/// A question that is under way.
#[derive(Debug)]
pub(super) struct Completing {
    kernel: u32,
    code: String,
    reply: oneshot::Sender<Completions>,
    pub(super) until: Instant,
}

impl Actor {
    /// Asks the kernel of a language, if it has nothing else to do. An earlier question that is
    /// still open is given up.
    pub(super) fn complete(
        &mut self,
        language: &Language,
        code: String,
        cursor: usize,
        reply: oneshot::Sender<Completions>,
    ) {
        self.completing = None;
        let Some(live) = self.live.as_mut().filter(|_| self.cell.is_none()) else { return };
        let Some((kernel, KernelState::Ready)) = live.kernel_of(language) else { return };
        let (Ok(cursor), true) = (u32::try_from(cursor), code.is_char_boundary(cursor)) else {
            return;
        };
        match live.kernels.get_mut(&kernel) {
            Some(kernel) if kernel.completes => kernel.asked += 1,
            Some(_) | None => return,
        }
        live.complete(kernel, code.as_bytes(), cursor);
        let until = Instant::now() + PATIENCE;
        self.completing = Some(Completing { kernel, code, reply, until });
    }

    /// Takes what a driver says of it. Only what fits the code counts.
    pub(super) fn completed(
        &mut self,
        kernel: u32,
        start: usize,
        end: usize,
        matches: Vec<String>,
    ) {
        let Some(from) = self.live.as_mut().and_then(|live| live.kernels.get_mut(&kernel)) else {
            return;
        };
        from.asked = from.asked.saturating_sub(1);
        if from.asked > 0 {
            return;
        }
        let Some(waiting) = self.completing.take_if(|one| one.kernel == kernel) else { return };
        if waiting.code.get(start..end).is_none() {
            return;
        }
        let matches = matches
            .into_iter()
            .filter(|text| text.len() <= claim::LONGEST_MATCH)
            .take(claim::MOST_MATCHES)
            .map(Untrusted::new)
            .collect();
        // Whoever asked may have typed on.
        _ = waiting.reply.send(Completions { start, end, matches }).is_ok();
    }

    /// Gives up a question whose time is over.
    pub(super) fn give_up_completing(&mut self, now: Instant) {
        self.completing.take_if(|one| one.until <= now);
    }
}
