//! Counts what a session spends, and adds it to what was spent today.

use interpreter_core::{
    Message, Usage,
    budget::{Allowance, Counted, Spent},
};
use interpreter_model::{Price, ReplyPiece};
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
    /// The price of whoever answers, if it is known.
    price: Option<Price>,
    /// Bytes that came so far.
    received: usize,
}

impl Sent {
    pub(crate) fn now(messages: Arc<Vec<Message>>) -> Self {
        Self { messages, since: Instant::now(), price: None, received: 0 }
    }

    /// Notes the next piece of the reply.
    pub(crate) fn hear(&mut self, piece: &ReplyPiece) {
        if let ReplyPiece::Price(price) = piece {
            self.price.clone_from(price);
        }
        self.received = self.received.saturating_add(piece.bytes());
    }

    /// The amounts of the call, by the provider's own count. Without one they are estimated: a call
    /// that broke off has none, and costs all the same.
    pub(crate) fn spent(self, counted: Option<Usage>) -> Spent {
        let usage = counted.unwrap_or_else(|| self.estimated());
        Spent {
            turns: 0,
            tokens: usage.input.saturating_add(usage.output),
            nano_dollars: usage.nano_dollars.unwrap_or(0),
            milliseconds: u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX),
        }
    }

    fn estimated(&self) -> Usage {
        let sent = self.messages.iter().map(Message::bytes).sum();
        let tokens = |bytes: usize| bytes.div_ceil(TOKEN) as u64;
        let (input, output) = (tokens(sent), tokens(self.received));
        let usage = Usage { input, output, ..Usage::default() };
        let nano_dollars = self.price.as_ref().map(|price| price.nano_dollars(&usage));
        Usage { nano_dollars, ..usage }
    }
}
