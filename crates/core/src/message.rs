//! The conversation as it is sent to a model.
//!
//! One shape for every provider and for models with and without tool calls, so that the model
//! can be changed in the middle of a session. Wire formats live in `interpreter-model`.

use crate::Untrusted;
use serde::{Deserialize, Serialize};

/// One entry of the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// What we tell the model about its task and its bounds.
    System {
        /// Our own words.
        text: String,
    },
    /// What the person said.
    User {
        /// The prompt.
        text: String,
    },
    /// What the model said.
    Assistant {
        /// Its prose, with any fenced code, exactly as it came.
        text: Untrusted,
        /// Its tool calls, if it used any.
        calls: Vec<ToolCall>,
    },
    /// What came of a proposal: output, or why it did not run.
    Result {
        /// The tool call that is answered; none if the code stood in a fence.
        call: Option<String>,
        /// What the model is told. Holds a program's output, so it is data, not instructions.
        text: Untrusted,
    },
}

/// A model's request to run something, by the provider's tool-calling protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id for this call; the answer names it.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments, as the JSON text the model wrote.
    pub arguments: Untrusted,
}

/// The one tool that models are offered.
pub const EXECUTE: &str = "execute";
