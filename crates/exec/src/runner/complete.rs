//! How code could go on, as the kernel says: asked between runs, answered soon or not at all.
//!
//! A kernel that does not answer in time gives nothing; the time is measured outside.

use interpreter_core::Untrusted;
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
    /// The possible completions.
    pub matches: Vec<Untrusted>,
}

impl Completions {
    /// Within the bounds of what is shown.
    pub(super) fn checked(start: usize, end: usize, matches: Vec<String>) -> Self {
        let matches = matches
            .into_iter()
            .filter(|text| text.len() <= claim::LONGEST_MATCH)
            .take(claim::MOST_MATCHES)
            .map(Untrusted::new)
            .collect();
        Self { start, end, matches }
    }
}

/// A question that is under way.
#[derive(Debug)]
pub(super) struct Completing {
    pub(super) kernel: u32,
    code: String,
    reply: oneshot::Sender<Completions>,
    pub(super) until: Instant,
}

impl Completing {
    pub(super) fn new(
        kernel: u32,
        code: String,
        reply: oneshot::Sender<Completions>,
        now: Instant,
    ) -> Self {
        Self { kernel, code, reply, until: now + PATIENCE }
    }

    /// Passes an answer on, if it fits the code. Whoever asked may have typed on.
    pub(super) fn answer(self, completions: Completions) {
        if self.code.get(completions.start..completions.end).is_some() {
            _ = self.reply.send(completions).is_ok();
        }
    }
}
