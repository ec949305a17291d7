//! What a model said, once it has finished.

use crate::{ToolCall, Untrusted};
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
    /// What it cost, as far as the provider said.
    pub usage: Option<Usage>,
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
    /// Tokens sent.
    pub input: u64,
    /// Tokens received.
    pub output: u64,
}
