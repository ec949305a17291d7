//! A conversation of the original as records of ours.

use crate::{Body, Finish, Message, Origin, Output, Stream, Untrusted, hash::sha256};
use serde::Deserialize;
use std::fmt::Write;

/// Messages of one conversation that are taken.
pub const MOST_MESSAGES: usize = 100_000;

/// Bytes of a conversation that can be gone on with. A longer one can only be read.
const MOST_RESUMED: usize = 4 << 20;

/// Tells a model what it goes on with.
const IMPORTED: &str = "This conversation was imported from another program. Its code ran there, \
                        and nothing of it ran here.";

/// One message, as the original wrote it.
#[derive(Deserialize)]
struct Imported {
    role: String,
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    format: Option<String>,
    #[serde(default)]
    content: Option<serde_json::Value>,
}

/// A conversation, in records.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conversation {
    /// Its records, in order.
    pub bodies: Vec<Body>,
    /// How many messages are not among them: pictures, files, marks of the screen.
    pub left: usize,
    /// How many pieces of code are among them.
    proposals: usize,
}

impl Conversation {
    /// Reads the JSON of a conversation.
    ///
    /// # Errors
    /// If it is none.
    pub fn parse(text: &str) -> Result<Self, String> {
        let messages: Vec<Imported> = serde_json::from_str(text)
            .map_err(|error| format!("it is not a conversation: {error}"))?;
        if messages.len() > MOST_MESSAGES {
            return Err(format!("it has more than {MOST_MESSAGES} messages"));
        }
        let mut conversation = Self::default();
        for message in messages {
            conversation.take(&message);
        }
        Ok(conversation)
    }

    /// The same conversation as a model is sent it, to go on with; `None` if it is too long for that.
    #[expect(clippy::wildcard_enum_match_arm, reason = "an import has no other records")]
    pub fn resumable(&self) -> Option<Body> {
        let mut messages = vec![Message::Earlier { text: Untrusted::new(IMPORTED) }];
        let mut bytes = 0;
        for body in &self.bodies {
            match body {
                Body::Prompt { text } => {
                    bytes += text.len();
                    messages.push(Message::user(text.as_str()));
                }
                Body::Reply { text, .. } => bytes += say(&mut messages, text.raw()),
                Body::Proposal { language, code, .. } => {
                    bytes += say(&mut messages, &fenced(language, code.raw()));
                }
                Body::Output(output) => {
                    bytes += output.text.raw().len();
                    let text = format!("[printed in the other program]\n{}", output.text.raw());
                    messages.push(Message::result(None, Untrusted::new(text)));
                }
                _ => {}
            }
            if bytes > MOST_RESUMED {
                return None;
            }
        }
        Some(Body::Conversation { after: 0, messages })
    }

    fn take(&mut self, message: &Imported) {
        let Imported { role, kind, format, content } = message;
        let kind = kind.as_deref().unwrap_or("message");
        let format = format.as_deref();
        let Some(text) = content.as_ref().and_then(serde_json::Value::as_str) else {
            self.left += 1;
            return;
        };
        let body = match (role.as_str(), kind) {
            ("user", "message") => Body::Prompt { text: text.to_owned() },
            ("assistant", "message") => Body::Reply {
                text: Untrusted::new(text),
                reasoning: Untrusted::default(),
                calls: Vec::new(),
                finish: Finish::Stop,
            },
            ("assistant", "code") => {
                self.proposals += 1;
                Body::Proposal {
                    id: format!("p{}", self.proposals),
                    origin: Origin::Model,
                    language: plain(format.unwrap_or("text")),
                    code: Untrusted::new(text),
                    hash: sha256(text.as_bytes()),
                    invocation: None,
                    again: None,
                    sealed: None,
                }
            }
            // The line that ran, while it ran.
            ("computer", "console") if format == Some("active_line") => return,
            ("computer", "console") => {
                let proposal = format!("p{}", self.proposals);
                Body::Output(Output::text(proposal, Stream::Stdout, text))
            }
            _ => {
                self.left += 1;
                return;
            }
        };
        self.bodies.push(body);
    }
}

/// Adds to what the model said last, or begins anew. Returns how many bytes that are.
fn say(messages: &mut Vec<Message>, more: &str) -> usize {
    match messages.last_mut() {
        Some(Message::Assistant { text, .. }) => {
            *text = Untrusted::new(format!("{}\n{more}", text.raw()));
        }
        _ => messages.push(Message::Assistant { text: Untrusted::new(more), calls: Vec::new() }),
    }
    more.len()
}

/// Code in a fence that is longer than any in it.
fn fenced(language: &str, code: &str) -> String {
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    let mut text = String::new();
    // Writing to a string cannot fail.
    _ = write!(text, "{fence}{language}\n{}\n{fence}\n", code.trim_end());
    text
}

/// The name of a language, with nothing in it that is not of a name.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_ascii_alphanumeric() || "+#-_".contains(*c)).take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_becomes_records() {
        let text = r#"[
            {"role": "user", "type": "message", "content": "count"},
            {"role": "assistant", "type": "message", "content": "I will."},
            {"role": "assistant", "type": "code", "format": "python\u001b[2J", "content": "print(1)"},
            {"role": "computer", "type": "console", "format": "active_line", "content": "1"},
            {"role": "computer", "type": "console", "format": "output", "content": "1\n"},
            {"role": "computer", "type": "image", "format": "base64.png", "content": "AAAA"},
            {"role": "assistant", "type": "message", "content": null}
        ]"#;
        let Conversation { bodies, left, .. } = Conversation::parse(text).unwrap();
        assert_eq!(left, 2);
        assert_eq!(bodies[0], Body::Prompt { text: "count".into() });
        assert!(matches!(&bodies[1], Body::Reply { text, .. } if text.raw() == "I will."));
        let Body::Proposal { id, language, code, .. } = &bodies[2] else { panic!() };
        assert_eq!((id.as_str(), language.as_str(), code.raw()), ("p1", "python2J", "print(1)"));
        let Body::Output(output) = &bodies[3] else { panic!() };
        assert_eq!((output.proposal.as_str(), output.text.raw()), ("p1", "1\n"));
        assert_eq!(bodies.len(), 4);
    }

    #[test]
    fn a_model_can_go_on_with_it_and_knows_where_it_ran() {
        let text = r#"[
            {"role": "user", "type": "message", "content": "count"},
            {"role": "assistant", "type": "message", "content": "I will."},
            {"role": "assistant", "type": "code", "format": "python", "content": "print('```')"},
            {"role": "computer", "type": "console", "format": "output", "content": "```\n"}
        ]"#;
        let Some(Body::Conversation { after: 0, messages }) =
            Conversation::parse(text).unwrap().resumable()
        else {
            panic!()
        };
        assert!(matches!(&messages[0], Message::Earlier { text } if text.raw() == IMPORTED));
        assert_eq!(messages[1], Message::user("count"));
        let said = "I will.\n````python\nprint('```')\n````\n";
        assert!(matches!(&messages[2], Message::Assistant { text, .. } if text.raw() == said));
        let Message::Result { call: None, text, .. } = &messages[3] else { panic!() };
        assert_eq!(text.raw(), "[printed in the other program]\n```\n");
        let long =
            format!(r#"[{{"role": "user", "content": "{}"}}]"#, "x".repeat(MOST_RESUMED + 1));
        assert_eq!(Conversation::parse(&long).unwrap().resumable(), None);
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", "{}", "[1]", "[{\"content\": \"x\"}]"] {
            assert!(Conversation::parse(text).is_err(), "{text}");
        }
        assert_eq!(Conversation::parse("[]").unwrap(), Conversation::default());
    }
}
