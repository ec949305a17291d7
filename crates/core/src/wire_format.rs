//! The wire formats that model servers speak, as settings and provider files name them.
//!
//! Only their names: `model` writes requests and reads replies in them.

use serde::{Deserialize, Serialize};

/// A wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WireFormat {
    /// Chat completions of `OpenAI`, which most servers speak.
    OpenAi,
    /// Responses of `OpenAI`.
    Responses,
    /// Messages of Anthropic.
    Anthropic,
    /// `generateContent` of Google.
    Gemini,
    /// The chat of Ollama.
    Ollama,
}

impl WireFormat {
    /// Every format, for listings and tests.
    pub const ALL: [Self; 5] =
        [Self::OpenAi, Self::Responses, Self::Anthropic, Self::Gemini, Self::Ollama];

    /// The word for it in config files.
    pub fn word(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Responses => "responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }
}
