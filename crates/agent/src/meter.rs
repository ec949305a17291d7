//! Counts what a session spends, and adds it to what was spent today.

use interpreter_core::{
    Message, Reply,
    budget::{Allowance, Counted, Spent},
};
use interpreter_store::{Ledger, StoreError};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// How long amounts may wait for the file where no budget of the day depends on it.
const WAIT: Duration = Duration::from_secs(10);

/// The amounts of a session.
pub(crate) struct Meter {
    ledger: Ledger,
    /// Whether there is a budget of the day: then every amount is in the file before the next call.
    is_limited: bool,
    session: Spent,
    /// Of those, amounts that are not in the file yet.
    pending: Spent,
    /// Amounts of today, when the file was last read.
    today: Spent,
    written: Option<Instant>,
}

impl Meter {
    pub(crate) fn new(ledger: Ledger, day: &Allowance) -> Self {
        let (session, pending, today) = Default::default();
        Self { ledger, is_limited: day.is_limited(), session, pending, today, written: None }
    }

    /// Adds amounts.
    pub(crate) fn count(&mut self, spent: Spent) -> Result<Counted, StoreError> {
        self.session = self.session.plus(spent);
        self.pending = self.pending.plus(spent);
        if self.is_limited || self.written.is_none_or(|at| at.elapsed() >= WAIT) {
            let written = self.write();
            // Without a budget of the day nothing depends on it.
            if self.is_limited {
                written?;
            }
        }
        Ok(Counted { session: self.session, today: self.today.plus(self.pending) })
    }

    /// Puts everything into the file.
    pub(crate) fn write(&mut self) -> Result<(), StoreError> {
        self.written = Some(Instant::now());
        self.today = self.ledger.add(self.pending)?;
        self.pending = Spent::default();
        Ok(())
    }
}

/// Bytes of a token, about, where nobody counts them.
const TOKEN: usize = 4;

/// A call that is under way.
pub(crate) struct Sent {
    messages: Arc<Vec<Message>>,
    since: Instant,
}

impl Sent {
    pub(crate) fn now(messages: Arc<Vec<Message>>) -> Self {
        Self { messages, since: Instant::now() }
    }

    /// The amounts of the call, by the provider's own count; without one, tokens are estimated.
    pub(crate) fn spent(self, reply: Option<&Reply>) -> Spent {
        let milliseconds = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        if let Some(usage) = reply.and_then(|reply| reply.usage.as_ref()) {
            return Spent {
                turns: 0,
                tokens: usage.input.saturating_add(usage.output),
                nano_dollars: usage.nano_dollars.unwrap_or(0),
                milliseconds,
            };
        }
        let sent: usize = self.messages.iter().map(Message::bytes).sum();
        let received = reply.map_or(0, |reply| reply.text.raw().len());
        let tokens = ((sent + received) / TOKEN) as u64;
        Spent { tokens, milliseconds, ..Spent::default() }
    }
}
