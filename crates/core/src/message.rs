//! The conversation as it is sent to a model.
//!
//! One shape for every provider and for models with and without tool calls, so that the model
//! can be changed in the middle of a session. Wire formats live in `interpreter-model`.

use crate::{Image, Printed, Untrusted};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One entry of the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// The task and its bounds.
    System {
        /// Our own words.
        text: String,
    },
    /// A summary of the oldest part of the conversation, which was too long.
    Earlier {
        /// A summary by a model, or that something was left out.
        text: Untrusted,
    },
    /// From the person.
    User {
        /// The prompt.
        text: String,
        /// Pictures that belong to it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
    },
    /// From the model.
    Assistant {
        /// Its prose, with any fenced code, exactly as it came.
        text: Untrusted,
        /// Its tool calls, if it used any.
        calls: Vec<ToolCall>,
    },
    /// The result of a proposal: output, or the reason why it did not run.
    Result {
        /// The tool call that this answers, or `None` for code in a fence.
        call: Option<String>,
        /// The text for the model. It contains a program's output, so it is data, not instructions.
        text: Untrusted,
        /// Pictures that the code made.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
        /// The parts that can be read again, and may therefore be shortened.
        #[serde(skip)]
        printed: Option<Printed>,
    },
}

impl Message {
    /// A message of the person, without images.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into(), images: Vec::new() }
    }

    /// The bytes of its text.
    pub fn bytes(&self) -> usize {
        match self {
            Self::System { text } | Self::User { text, .. } => text.len(),
            Self::Earlier { text } | Self::Result { text, .. } => text.raw().len(),
            Self::Assistant { text, calls } => {
                let calls = calls.iter().map(|call| call.arguments.raw().len());
                text.raw().len() + calls.sum::<usize>()
            }
        }
    }

    /// Puts words in the place of pictures, for a model that does not see them.
    pub fn hide_images(messages: &mut Arc<Vec<Self>>) {
        if messages.iter().any(Self::has_images) {
            for message in Arc::make_mut(messages) {
                message.hide();
            }
        }
    }

    /// The pictures in it.
    pub fn images(&self) -> &[Image] {
        match self {
            Self::User { images, .. } | Self::Result { images, .. } => images,
            Self::System { .. } | Self::Earlier { .. } | Self::Assistant { .. } => &[],
        }
    }

    /// Whether there are pictures in it.
    pub fn has_images(&self) -> bool {
        !self.images().is_empty()
    }

    /// Puts words in the place of its pictures. Whether it had any.
    pub(crate) fn hide(&mut self) -> bool {
        let words = |images: &mut Vec<Image>| {
            let words = images.drain(..).map(|image| format!("\n[a picture: {}]", image.words()));
            words.collect::<String>()
        };
        let said = match self {
            Self::User { text, images } => {
                let said = words(images);
                text.push_str(&said);
                said
            }
            Self::Result { text, images, .. } => {
                let said = words(images);
                text.push(&Untrusted::new(said.as_str()));
                said
            }
            Self::System { .. } | Self::Earlier { .. } | Self::Assistant { .. } => String::new(),
        };
        !said.is_empty()
    }

    /// The result of a proposal, which cannot be shortened.
    pub fn result(call: Option<String>, text: Untrusted) -> Self {
        Self::Result { call, text, images: Vec::new(), printed: None }
    }
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
