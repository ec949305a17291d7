//! Counts what a session spends, and adds it to what was spent today.
//!
//! Where a budget of the day depends on it, a call counts from the moment when it is made, by what
//! it takes at least: a process that is killed meanwhile has used it up all the same. A provider's
//! own count takes the place of that, unless it is far too small for the text that went to and fro.

use interpreter_core::{
    Message, Usage,
    budget::{Allowance, Counted, Spent},
};
use interpreter_model::{Price, ReplyPiece};
use interpreter_store::{Expected, Ledger, StoreError};
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
    /// Amounts of the call that is under way, which are in the file.
    expected: Option<Expected>,
    written: Option<Instant>,
}

impl Meter {
    pub(crate) fn new(ledger: Ledger, day: &Allowance) -> Self {
        let (session, pending, today) = Default::default();
        let (is_limited, expected, written) = (day.is_limited(), None, None);
        Self { ledger, is_limited, session, pending, today, expected, written }
    }

    /// Notes what the call that is under way takes at least.
    pub(crate) fn expect(&mut self, spent: Spent) -> Result<(), StoreError> {
        if self.is_limited {
            self.expected = Some(self.ledger.expect(self.expected.take(), spent)?);
        }
        Ok(())
    }

    /// Adds the amounts of a call that has ended, in place of those that were expected.
    pub(crate) fn count_call(&mut self, spent: Spent) -> Result<Counted, StoreError> {
        let expected = self.expected.take();
        self.add(spent, expected)
    }

    /// Adds amounts.
    pub(crate) fn count(&mut self, spent: Spent) -> Result<Counted, StoreError> {
        self.add(spent, None)
    }

    fn add(&mut self, spent: Spent, expected: Option<Expected>) -> Result<Counted, StoreError> {
        self.session = self.session.plus(spent);
        self.pending = self.pending.plus(spent);
        if self.is_limited || self.written.is_none_or(|at| at.elapsed() >= WAIT) {
            let written = self.settle(expected);
            // Without a budget of the day nothing depends on it.
            if self.is_limited {
                written?;
            }
        }
        Ok(Counted { session: self.session, today: self.today.plus(self.pending) })
    }

    /// Puts everything into the file.
    pub(crate) fn write(&mut self) -> Result<(), StoreError> {
        self.settle(None)
    }

    fn settle(&mut self, expected: Option<Expected>) -> Result<(), StoreError> {
        self.written = Some(Instant::now());
        self.today = self.ledger.settle(expected, self.pending)?;
        self.pending = Spent::default();
        Ok(())
    }
}

/// Bytes of a token, about, where nobody counts them.
const TOKEN: usize = 4;

/// How many times smaller than our estimate a provider's count may be. Only texts that are nearly
/// all blanks have tokens of so many bytes.
const LEAST: u64 = 8;

/// Bytes of a reply after which it is noted how much has come.
const STEP: usize = 4_096;

/// A call that is under way.
pub(crate) struct Sent {
    messages: Arc<Vec<Message>>,
    since: Instant,
    /// The price of whoever answers, if it is known.
    price: Option<Price>,
    /// Bytes that came so far.
    received: usize,
    /// Bytes and price when its amounts were noted last.
    noted: (usize, bool),
}

impl Sent {
    pub(crate) fn now(messages: Arc<Vec<Message>>) -> Self {
        let (price, received, noted) = Default::default();
        Self { messages, since: Instant::now(), price, received, noted }
    }

    /// Notes the next piece of the reply.
    pub(crate) fn hear(&mut self, piece: &ReplyPiece) {
        if let ReplyPiece::Price(price) = piece {
            self.price.clone_from(price);
        }
        self.received = self.received.saturating_add(piece.bytes());
    }

    /// The amounts so far.
    pub(crate) fn expected(&self) -> Spent {
        self.amounts(self.estimated())
    }

    /// The amounts so far, if they are many more than when they were noted last.
    pub(crate) fn grown(&mut self) -> Option<Spent> {
        let (received, has_price) = (self.received, self.price.is_some());
        let is_more = received - self.noted.0 >= STEP || has_price && !self.noted.1;
        is_more.then(|| {
            self.noted = (received, has_price);
            self.expected()
        })
    }

    /// The amounts of the call, by the provider's own count. Without one they are estimated: a call
    /// that broke off has none, and costs all the same.
    pub(crate) fn spent(self, counted: Option<Usage>) -> Spent {
        let estimated = self.estimated();
        let usage = counted.map_or(estimated, |counted| self.believed(counted, estimated));
        self.amounts(usage)
    }

    /// A provider's count, with the estimate in place of what is far too small.
    fn believed(&self, counted: Usage, estimated: Usage) -> Usage {
        let least = |counted: u64, estimated: u64| {
            if counted < estimated / LEAST { estimated } else { counted }
        };
        let (input, output) =
            (least(counted.input, estimated.input), least(counted.output, estimated.output));
        let usage = Usage { input, output, ..counted };
        if (input, output) == (counted.input, counted.output) {
            return usage;
        }
        let nano_dollars = self.price.as_ref().map(|price| price.nano_dollars(&usage));
        Usage { nano_dollars: counted.nano_dollars.max(nano_dollars), ..usage }
    }

    fn amounts(&self, usage: Usage) -> Spent {
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

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_store::Folders;

    fn sent(text: &str) -> Sent {
        Sent::now(Arc::new(vec![Message::user(text)]))
    }

    fn price() -> Price {
        let (cached, written) = (None, None);
        Price { input: 1.0, output: 10.0, cached, written, as_of: "2025-11-01".into() }
    }

    fn tokens(sent: Sent, input: u64, output: u64) -> u64 {
        sent.spent(Some(Usage { input, output, ..Usage::default() })).tokens
    }

    #[test]
    fn a_count_that_is_far_too_small_is_not_believed() {
        let heard = || {
            let mut sent = sent(&"x".repeat(8_000));
            sent.hear(&ReplyPiece::Text("y".repeat(4_000)));
            sent
        };
        // The texts have about 2,000 and 1,000 tokens.
        for (input, output, believed) in [
            (0, 0, 3_000),
            (1, 1, 3_000),
            (249, 124, 3_000),
            (0, 800, 2_800),
            (1_500, 0, 2_500),
            // The controls: more or less is the provider's to say.
            (250, 125, 375),
            (1_800, 900, 2_700),
            (9_000, 20_000, 29_000),
        ] {
            assert_eq!(tokens(heard(), input, output), believed, "{input} {output}");
        }
        assert_eq!(heard().spent(None).tokens, 3_000);
        assert_eq!(tokens(sent(""), 0, 0), 0);
        assert_eq!(tokens(sent("hi"), 90, 3), 93);
        assert_eq!(tokens(heard(), u64::MAX, u64::MAX), u64::MAX);
    }

    #[test]
    fn tokens_that_are_not_believed_cost_what_the_estimate_costs() {
        let cost = |nano_dollars, input| {
            let mut sent = sent(&"x".repeat(8_000));
            sent.hear(&ReplyPiece::Price(Some(price())));
            let usage = Usage { input, nano_dollars, ..Usage::default() };
            sent.spent(Some(usage)).nano_dollars
        };
        assert_eq!(cost(Some(0), 0), 2_000_000);
        assert_eq!(cost(None, 0), 2_000_000);
        assert_eq!(cost(Some(9_000_000), 0), 9_000_000);
        // The control: with a count that can be, the provider's own figure is taken.
        assert_eq!(cost(Some(5), 2_000), 5);
    }

    #[test]
    fn a_call_is_in_the_file_while_it_goes_on_and_a_lost_one_stays() {
        let root = tempfile::tempdir().unwrap();
        let ledger = Ledger::new(&Folders::under(root.path()));
        let day = Allowance { tokens: Some(1_000_000), ..Allowance::default() };
        let mut meter = Meter::new(ledger.clone(), &day);
        let mut call = sent(&"x".repeat(4_000));
        let seen = || ledger.today().unwrap();
        meter.expect(call.expected()).unwrap();
        assert_eq!((seen().tokens, seen().nano_dollars), (1_000, 0));
        call.hear(&ReplyPiece::Price(Some(price())));
        meter.expect(call.grown().unwrap()).unwrap();
        assert_eq!((seen().tokens, seen().nano_dollars), (1_000, 1_000_000));
        call.hear(&ReplyPiece::Text("y".repeat(STEP - 1)));
        assert_eq!(call.grown(), None);
        call.hear(&ReplyPiece::Text("y".into()));
        meter.expect(call.grown().unwrap()).unwrap();
        assert_eq!(seen().tokens, 2_024);
        // Something else is counted meanwhile, and the call stays.
        let turn = Spent { turns: 1, ..Spent::default() };
        assert_eq!(meter.count(turn).unwrap().today.tokens, 2_024);
        let usage = Usage { input: 900, output: 800, ..Usage::default() };
        let counted = meter.count_call(call.spent(Some(usage))).unwrap();
        assert_eq!((counted.session.tokens, counted.today.tokens), (1_700, 1_700));
        // The next is lost with its process.
        meter.expect(sent(&"x".repeat(400)).expected()).unwrap();
        drop(meter);
        assert_eq!((seen().tokens, seen().turns), (1_800, 1));
        // The control: without a budget of the day nothing is written before a call.
        let mut meter = Meter::new(ledger.clone(), &Allowance::default());
        meter.expect(sent(&"x".repeat(400)).expected()).unwrap();
        assert_eq!(seen().tokens, 1_800);
    }
}
