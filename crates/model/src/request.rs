//! A request to a model, in no provider's format.

use interpreter_core::{Message, instructions::Protocol};
use std::sync::Arc;

/// One call of a model.
#[derive(Clone, Debug)]
pub struct Request {
    /// The conversation, oldest first.
    pub messages: Arc<Vec<Message>>,
    /// Whether the model may call the tool, or writes code in fences.
    pub tools: Tools,
    /// The most tokens it may write; the provider's own limit if none, or 4096 where the format
    /// demands a number.
    pub max_tokens: Option<u32>,
    /// How freely it writes; the provider's own default if none. Zero is sent like any other.
    pub temperature: Option<f32>,
}

impl Request {
    /// The intended temperature: 0.7 and not the 0.699999988 that widening makes of it. A value
    /// that is not a number cannot be written as JSON and is left out.
    pub(crate) fn temperature(&self) -> Option<f64> {
        let temperature = self.temperature.filter(|value| value.is_finite())?;
        temperature.to_string().parse().ok()
    }
}

/// How a model proposes code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tools {
    /// By the provider's tool calling: it is offered the one tool.
    Offer,
    /// In fenced blocks of plain Markdown: it is offered none.
    None,
}

impl Tools {
    /// The same, as the instructions name it.
    pub fn protocol(self) -> Protocol {
        match self {
            Self::Offer => Protocol::Tool,
            Self::None => Protocol::Fence,
        }
    }
}

/// The requests whose bodies all formats keep as snapshots.
#[cfg(test)]
pub(crate) mod examples {
    use super::*;
    use crate::trial::RED;
    use interpreter_core::{Image, ToolCall};

    /// A conversation of every kind of message, as a model with tools has it.
    pub(crate) fn with_tools() -> Request {
        let call = |id: &str, code: &str| ToolCall {
            id: id.into(),
            name: "execute".into(),
            arguments: format!(r#"{{"language": "python", "code": "{code}"}}"#).into(),
        };
        let result = |call: Option<&str>, text: &str| {
            Message::result(call.map(Into::into), text.to_owned().into())
        };
        Request {
            messages: Arc::new(vec![
                Message::System { text: "You write code.".into() },
                Message::user("Add two and two, twice."),
                Message::Assistant {
                    text: "Two calls.".to_owned().into(),
                    calls: vec![call("a", "print(2+2)"), call("b", "print(4)")],
                },
                result(Some("a"), "4"),
                result(Some("b"), "4"),
                Message::Assistant {
                    text: "And in a fence:\n```python\nprint(1)\n```\n".to_owned().into(),
                    calls: vec![],
                },
                result(None, "1"),
                Message::user("Thanks."),
            ]),
            tools: Tools::Offer,
            max_tokens: Some(320),
            temperature: None,
        }
    }

    /// The same conversation, after the model was changed for one without tools, with a picture.
    pub(crate) fn without_tools() -> Request {
        let mut request = with_tools();
        let images = vec![Image::decode(RED).unwrap()];
        let thanks = Message::User { text: "Thanks.".into(), images };
        let messages = Arc::make_mut(&mut request.messages);
        messages.pop();
        messages.push(thanks);
        Request { tools: Tools::None, max_tokens: None, temperature: Some(0.0), ..request }
    }
}
