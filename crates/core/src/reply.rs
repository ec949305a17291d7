//! A model's complete reply.

use crate::{Body, ToolCall, Untrusted};
use serde::{Deserialize, Serialize};

/// A whole reply, or as much of it as came.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// Prose and fenced code, exactly as it came.
    pub text: Untrusted,
    /// Thoughts that the provider marks as such: shown, but never searched for code.
    pub reasoning: Untrusted,
    /// Tool calls, complete.
    pub calls: Vec<ToolCall>,
    /// Why it ended.
    pub finish: Finish,
    /// Its cost, as far as the provider reports it.
    pub usage: Option<Usage>,
}

impl Reply {
    /// The records of a reply and of its cost.
    pub(crate) fn with_usage(&self, said: Body) -> Vec<Body> {
        [said].into_iter().chain(self.usage.map(|usage| usage.body())).collect()
    }
}

/// Why a reply ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// The model was done.
    #[default]
    Stop,
    /// It reached its limit of tokens; the last block or call may be cut.
    Length,
    /// The provider withheld the rest.
    Filtered,
    /// The person stopped it.
    Interrupted,
}

/// Tokens, by the provider's own count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens sent, those from the provider's cache among them.
    pub input: u64,
    /// Tokens received, thoughts among them.
    pub output: u64,
    /// Of those sent, how many the provider had in its cache.
    #[serde(default)]
    pub cached: u64,
    /// Of those sent, how many the provider put into its cache.
    #[serde(default)]
    pub written: u64,
    /// Its cost in billionths of a US dollar, by the provider's own figure or by the known prices
    /// of the model, or `None` if neither is known.
    #[serde(default)]
    pub nano_dollars: Option<u64>,
    /// The most tokens that the model takes, what it is sent and its reply together.
    #[serde(default)]
    pub context: Option<u64>,
}

/// Tokens that one call can have at most: many times what any model takes.
const MOST_TOKENS: u64 = 100_000_000;

/// How many times what a model takes a count may be, because that may be set too low.
const MOST_TIMES: u64 = 4;

impl Usage {
    /// Whether a call can have used so much. A provider's count may be anything.
    pub fn is_believable(&self) -> bool {
        let counts = [self.input, self.output, self.cached, self.written];
        let most = self.context.map_or(MOST_TOKENS, |context| {
            context.saturating_mul(MOST_TIMES).clamp(1, MOST_TOKENS)
        });
        counts.iter().all(|count| *count <= most)
    }

    /// The record of it.
    pub fn body(&self) -> Body {
        Body::Usage {
            input: self.input,
            output: self.output,
            cached: self.cached,
            cost: self.dollars(),
            context: self.context,
        }
    }

    /// Its cost, in US dollars.
    #[expect(clippy::cast_precision_loss, reason = "the cost of one reply is far below 2^53")]
    pub fn dollars(&self) -> Option<f64> {
        self.nano_dollars.map(|nano| nano as f64 / 1e9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absurd_count_is_not_believed() {
        let usage = |input, output, context| Usage { input, output, context, ..Usage::default() };
        assert!(usage(9_000, 2_000, Some(8_000)).is_believable());
        assert!(usage(2_000_000, 60_000, None).is_believable());
        assert!(!usage(u64::MAX, 1, Some(8_000)).is_believable());
        assert!(!usage(1, u64::MAX, None).is_believable());
        assert!(!usage(40_000, 1, Some(8_000)).is_believable());
        assert!(!usage(1 << 62, 1, Some(u64::MAX)).is_believable());
    }
}
