//! The price of tokens, and the cost of a reply.
//!
//! Figures of a provider's list, with the day on which they were read there: an estimate, which
//! the provider's own figure replaces wherever it gives one.

use interpreter_core::Usage;
use serde::Deserialize;

/// The prices of a model, in US dollars for a million tokens.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Of tokens sent.
    pub input: f64,
    /// Of tokens received.
    pub output: f64,
    /// Of tokens sent that the provider had in its cache; as `input` if none.
    pub cached: Option<f64>,
    /// Of tokens sent that the provider put into its cache; as `input` if none.
    pub written: Option<f64>,
    /// The day on which these were the prices, such as `2025-11-01`.
    pub as_of: String,
}

impl Price {
    /// An error in it, if there is one.
    pub fn problem(&self) -> Option<&'static str> {
        let all = [Some(self.input), Some(self.output), self.cached, self.written];
        let fits = |price: f64| (0.0..=100_000.0).contains(&price);
        if !all.into_iter().flatten().all(fits) {
            return Some("a price is a number of US dollars for a million tokens");
        }
        if self.as_of.parse::<jiff::civil::Date>().is_err() {
            return Some("`as_of` is a day, such as `2025-11-01`");
        }
        None
    }

    /// The cost of this usage, in billionths of a dollar.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate; prices are checked to be no less than zero, and casts saturate"
    )]
    pub fn nano_dollars(&self, usage: &Usage) -> u64 {
        let plain = usage.input.saturating_sub(usage.cached).saturating_sub(usage.written);
        let parts = [
            (plain, self.input),
            (usage.cached, self.cached.unwrap_or(self.input)),
            (usage.written, self.written.unwrap_or(self.input)),
            (usage.output, self.output),
        ];
        // A dollar for a million tokens is a thousand billionths for one.
        parts.iter().map(|&(tokens, price)| tokens as f64 * price * 1_000.0).sum::<f64>() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price() -> Price {
        Price {
            input: 3.0,
            output: 15.0,
            cached: Some(0.3),
            written: Some(3.75),
            as_of: "2025-11-01".into(),
        }
    }

    #[test]
    fn each_kind_of_token_has_its_price() {
        let usage =
            Usage { input: 1000, output: 10, cached: 600, written: 100, ..Usage::default() };
        // 300 · 3 + 600 · 0.3 + 100 · 3.75 + 10 · 15 millionths of a dollar.
        assert_eq!(price().nano_dollars(&usage), 1_605_000);
        let plain = Price { cached: None, written: None, ..price() };
        assert_eq!(plain.nano_dollars(&usage), 3_150_000);
    }

    #[test]
    fn counts_that_make_no_sense_do_no_harm() {
        let usage = Usage { input: 1, cached: u64::MAX, output: u64::MAX, ..Usage::default() };
        assert_eq!(price().nano_dollars(&usage), u64::MAX);
    }

    #[test]
    fn a_price_needs_a_day_and_a_sign() {
        assert_eq!(price().problem(), None);
        assert!(Price { input: -1.0, ..price() }.problem().is_some());
        assert!(Price { output: f64::NAN, ..price() }.problem().is_some());
        assert!(Price { as_of: "soon".into(), ..price() }.problem().is_some());
    }
}
