//! A part of a reply, shown while the model is still writing.

use crate::Price;

/// How far a model has come before its first word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Headway {
    /// It is being loaded into memory.
    Loading,
    /// It has read so many of the tokens that it has to.
    Reading {
        /// Tokens read.
        read: u64,
        /// Tokens to read.
        total: u64,
    },
    /// It was sent the conversation.
    Asked {
        /// The provider's host.
        host: String,
    },
    /// It is asked again after a while.
    Retrying {
        /// The provider's host.
        host: String,
        /// How long that is, rounded up.
        seconds: u64,
    },
}

/// A piece of a reply, in the order it came. All but the first three is the model's own text: it
/// goes to a terminal or a page through `Untrusted`, never as it is.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplyPiece {
    /// Something of ours that the person should know meanwhile: that we wait, or ask another
    /// model. No part of the reply. Holds a provider's words in their terminal-safe form only.
    Note(String),
    /// How far it has come before the first word. No part of the reply either, and not kept.
    Headway(Headway),
    /// The price of the tokens of whoever is asked now, if it is known. A reply that breaks off
    /// before its provider has counted is estimated by it.
    Price(Option<Price>),
    /// More of the prose, with its fenced code.
    Text(String),
    /// More of the thoughts that the provider marks as such.
    Reasoning(String),
    /// A tool call begins. Further pieces name it by `index`.
    CallStarted {
        /// Its place among the calls of this reply, from 0; ours, not the provider's.
        index: usize,
        /// The id that the finished reply has for it, too.
        id: String,
        /// The tool's name; empty if the provider has not said it yet.
        name: String,
    },
    /// More of a call's arguments, which are JSON text once they are whole.
    CallArguments {
        /// The call it belongs to.
        index: usize,
        /// The next part of the text.
        text: String,
    },
}

impl ReplyPiece {
    /// The bytes of it that are the model's own.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Text(text) | Self::Reasoning(text) | Self::CallArguments { text, .. } => {
                text.len()
            }
            Self::CallStarted { id, name, .. } => id.len() + name.len(),
            Self::Note(_) | Self::Headway(_) | Self::Price(_) => 0,
        }
    }
}
