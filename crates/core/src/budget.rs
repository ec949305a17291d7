//! Budgets: how much a session, and a day, may take of a model.
//!
//! A budget is looked at before each call of the model. The call that uses up one of tokens or of
//! money is still answered, so it can be exceeded by one call of each session that runs at the time.
//! Calls and code get the time that is left, and at least a second. Must not count by itself: amounts
//! come from whoever measures them.

use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// Billionths of a dollar.
const DOLLAR: u64 = 1_000_000_000;

/// Amounts that were spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spent {
    /// Prompts.
    pub turns: u64,
    /// Tokens, sent and received.
    pub tokens: u64,
    /// Billionths of a US dollar, where the price is known.
    pub nano_dollars: u64,
    /// Milliseconds in which a model wrote or its code ran.
    pub milliseconds: u64,
}

/// The most that may be spent. Without a number there is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowance {
    /// Prompts.
    pub turns: Option<u64>,
    /// Tokens, sent and received.
    pub tokens: Option<u64>,
    /// Billionths of a US dollar.
    pub nano_dollars: Option<u64>,
    /// Seconds in which a model writes or its code runs.
    pub seconds: Option<u64>,
}

/// The allowances of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Its own.
    pub session: Allowance,
    /// That of all sessions of one day.
    pub day: Allowance,
}

/// The amounts of a session and of all sessions of the day, its own included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// This session.
    pub session: Spent,
    /// Today.
    pub today: Spent,
}

/// A budget that is used up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedUp {
    /// The setting.
    pub setting: String,
    /// The amounts, in words.
    pub words: String,
    /// The moment from which on it can go on by itself.
    pub next: &'static str,
}

impl Spent {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            turns: self.turns.saturating_add(other.turns),
            tokens: self.tokens.saturating_add(other.tokens),
            nano_dollars: self.nano_dollars.saturating_add(other.nano_dollars),
            milliseconds: self.milliseconds.saturating_add(other.milliseconds),
        }
    }

    /// These without others.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self {
            turns: self.turns.saturating_sub(other.turns),
            tokens: self.tokens.saturating_sub(other.tokens),
            nano_dollars: self.nano_dollars.saturating_sub(other.nano_dollars),
            milliseconds: self.milliseconds.saturating_sub(other.milliseconds),
        }
    }

    /// Them in words, for a person.
    pub fn words(&self) -> String {
        let turns = if self.turns == 1 { "prompt" } else { "prompts" };
        format!(
            "{} {turns}, {} tokens, {}, {}",
            self.turns,
            self.tokens,
            dollars(self.nano_dollars),
            seconds(self.milliseconds / 1_000)
        )
    }
}

impl Allowance {
    /// Whether anything is limited.
    pub fn is_limited(&self) -> bool {
        *self != Self::default()
    }

    /// The first limit that is reached: its name, what was spent, and the limit.
    fn reached(&self, spent: &Spent) -> Option<(&'static str, String, String)> {
        let is_over = |limit: Option<u64>, spent: u64| limit.filter(|limit| spent >= *limit);
        if let Some(limit) = self.turns.filter(|limit| spent.turns > *limit) {
            // The prompt at hand was counted already.
            let done = spent.turns.saturating_sub(1);
            return Some(("turns", format!("{done} prompts"), limit.to_string()));
        }
        if let Some(limit) = is_over(self.tokens, spent.tokens) {
            return Some(("tokens", format!("{} tokens", spent.tokens), limit.to_string()));
        }
        if let Some(limit) = is_over(self.nano_dollars, spent.nano_dollars) {
            return Some(("cost", dollars(spent.nano_dollars), dollars(limit)));
        }
        if let Some(limit) = is_over(self.seconds, spent.milliseconds / 1_000) {
            return Some(("time", seconds(spent.milliseconds / 1_000), seconds(limit)));
        }
        None
    }
}

impl Budget {
    /// The seconds that a call of the model or code may take before a budget of time is used up; at
    /// least one, because code of the call that used it up still runs. Without such a budget there is
    /// no bound.
    pub fn seconds_left(&self, counted: &Counted) -> Option<NonZeroU32> {
        let left = |allowance: &Allowance, spent: &Spent| {
            let seconds = allowance.seconds?.saturating_sub(spent.milliseconds / 1_000);
            let seconds = u32::try_from(seconds).unwrap_or(u32::MAX);
            Some(NonZeroU32::new(seconds).unwrap_or(NonZeroU32::MIN))
        };
        let session = left(&self.session, &counted.session);
        session.into_iter().chain(left(&self.day, &counted.today)).min()
    }

    /// The budget that is used up, if one is.
    pub fn used_up(&self, counted: &Counted) -> Option<UsedUp> {
        let of = |span: &str, next, reached: Option<(&'static str, String, String)>| {
            let (name, spent, limit) = reached?;
            let setting = format!("budget.{span}.{name}");
            Some(UsedUp { setting, words: format!("{spent} of {limit}"), next })
        };
        let session = self.session.reached(&counted.session);
        let day = self.day.reached(&counted.today);
        of("session", "start a new session", session)
            .or_else(|| of("day", "wait until tomorrow", day))
    }
}

fn dollars(nano: u64) -> String {
    format!("${}.{:04}", nano / DOLLAR, nano % DOLLAR / 100_000)
}

fn seconds(count: u64) -> String {
    if count < 60 { format!("{count} s") } else { format!("{} min {} s", count / 60, count % 60) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SPENT: Spent =
        Spent { turns: 3, tokens: 1_000, nano_dollars: 250_000_000, milliseconds: 61_000 };

    fn on(session: Allowance, day: Allowance) -> Option<String> {
        let counted = Counted { session: SPENT, today: SPENT.plus(SPENT) };
        let over = Budget { session, day }.used_up(&counted)?;
        Some(format!("{}: {}; {}", over.setting, over.words, over.next))
    }

    #[test]
    fn the_limit_that_is_reached_is_named() {
        let none = Allowance::default();
        assert_eq!(on(none, none), None);
        for (limit, said) in [
            (Allowance { turns: Some(2), ..none }, "turns: 2 prompts of 2"),
            (Allowance { tokens: Some(1_000), ..none }, "tokens: 1000 tokens of 1000"),
            (Allowance { nano_dollars: Some(200_000_000), ..none }, "cost: $0.2500 of $0.2000"),
            (Allowance { seconds: Some(60), ..none }, "time: 1 min 1 s of 1 min 0 s"),
        ] {
            let said = format!("budget.session.{said}; start a new session");
            assert_eq!(on(limit, none), Some(said));
        }
        let today = on(none, Allowance { tokens: Some(2_000), ..none }).unwrap();
        assert_eq!(today, "budget.day.tokens: 2000 tokens of 2000; wait until tomorrow");
        assert_eq!(on(Allowance { turns: Some(3), tokens: Some(1_001), ..none }, none), None);
    }

    #[test]
    fn calls_and_code_get_the_time_that_is_left_of_the_tighter_budget() {
        let counted = Counted { session: SPENT, today: SPENT.plus(SPENT) };
        let of = |session, day| {
            let allowance = |seconds| Allowance { seconds, ..Allowance::default() };
            Budget { session: allowance(session), day: allowance(day) }
                .seconds_left(&counted)
                .map(NonZeroU32::get)
        };
        assert_eq!(of(None, None), None);
        assert_eq!(of(Some(100), None), Some(39));
        assert_eq!(of(None, Some(130)), Some(8));
        assert_eq!(of(Some(100), Some(130)), Some(8));
        assert_eq!(of(Some(10), Some(1_000)), Some(1), "used up, and still answered");
    }

    proptest! {
        /// Spending more never frees a budget.
        #[test]
        fn a_budget_that_is_used_up_stays_so(
            limit in prop::option::of(0..100_u64), spent in 0..200_u64, more in 0..200_u64,
        ) {
            let allowance =
                Allowance { turns: limit, tokens: limit, nano_dollars: limit, seconds: limit };
            let budget = Budget { session: allowance, day: Allowance::default() };
            let of = |tokens| {
                let session = Spent { tokens, ..Spent::default() };
                budget.used_up(&Counted { session, today: Spent::default() }).is_some()
            };
            prop_assert!(!of(spent) || of(spent + more));
        }
    }
}
