//! A model's reply as it comes: live pieces first, then its record, and nothing twice. Pure.
//!
//! Live pieces come only while nobody is behind, so any number of them may be missing when the
//! record is there. Both are split in the same way, so the record tells what is missing by place.

use interpreter_core::extract::fences::{FencePiece, Fences};
use serde_json::Value;

/// Bytes of live text that are compared with the record.
const MOST_COMPARED: usize = 1 << 20;

/// A piece of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ReplyPart {
    Prose(String),
    /// A block begins, in the language that it names.
    BlockBegins(String),
    BlockCode(String),
    BlockEnds,
}

/// How much of the current reply was seen.
#[derive(Debug, Default)]
pub(super) struct ReplySeen {
    /// Prose and code, one behind the other.
    text: String,
    /// Beginnings and ends of blocks.
    marks: usize,
    /// Whether the code of a call is being written, which comes with its proposal.
    is_in_call: bool,
    /// Whether the model sums up, which is not for the client.
    is_muted: bool,
    /// Whether live pieces are still taken.
    is_cut: bool,
}

impl ReplySeen {
    /// The model is asked.
    pub(super) fn begin(&mut self, is_summary: bool) {
        *self = Self { is_muted: is_summary, ..Self::default() };
    }

    /// The next live piece.
    pub(super) fn live(&mut self, kind: &str, text: &str) -> Option<ReplyPart> {
        if self.is_muted || self.is_cut {
            return None;
        }
        match kind {
            "call_begins" => self.is_in_call = true,
            "code_ends" if self.is_in_call => self.is_in_call = false,
            "code" if self.is_in_call => {}
            "text" | "code" => {
                if self.text.len() + text.len() > MOST_COMPARED {
                    self.is_cut = true;
                    return None;
                }
                self.text.push_str(text);
                let text = text.to_owned();
                let is_code = kind == "code";
                return Some(if is_code {
                    ReplyPart::BlockCode(text)
                } else {
                    ReplyPart::Prose(text)
                });
            }
            "code_begins" => {
                self.marks += 1;
                return Some(ReplyPart::BlockBegins(text.to_owned()));
            }
            "code_ends" => {
                self.marks += 1;
                return Some(ReplyPart::BlockEnds);
            }
            _ => {}
        }
        None
    }

    /// The rest, by the record.
    pub(super) fn recorded(&mut self, record: &Value) -> Vec<ReplyPart> {
        let seen = std::mem::take(self);
        if seen.is_muted {
            return Vec::new();
        }
        let mut fences = Fences::default();
        let mut pieces = fences.feed(record["text"].as_str().unwrap_or_default());
        pieces.extend(fences.finish());
        let parts: Vec<_> = pieces.into_iter().map(part).collect();
        let whole: String = parts.iter().filter_map(words).collect();
        let (mut bytes, mut marks) = if whole.starts_with(&seen.text) {
            (seen.text.len(), seen.marks)
        } else {
            // Never on purpose. Rather all of it once more than a part of it never.
            (0, 0)
        };
        let mut rest = Vec::new();
        for part in parts {
            match words(&part) {
                Some(text) if text.len() <= bytes => bytes -= text.len(),
                Some(text) => {
                    let text = text.get(bytes..).unwrap_or_default().to_owned();
                    bytes = 0;
                    rest.push(match part {
                        ReplyPart::BlockCode(_) => ReplyPart::BlockCode(text),
                        ReplyPart::Prose(_) | ReplyPart::BlockBegins(_) | ReplyPart::BlockEnds => {
                            ReplyPart::Prose(text)
                        }
                    });
                }
                None if marks > 0 => marks -= 1,
                None => rest.push(part),
            }
        }
        rest
    }
}

fn words(part: &ReplyPart) -> Option<&str> {
    match part {
        ReplyPart::Prose(text) | ReplyPart::BlockCode(text) => Some(text),
        ReplyPart::BlockBegins(_) | ReplyPart::BlockEnds => None,
    }
}

fn part(piece: FencePiece) -> ReplyPart {
    match piece {
        FencePiece::Text(text) => ReplyPart::Prose(text),
        FencePiece::Open { tag } => ReplyPart::BlockBegins(tag.unwrap_or_default()),
        FencePiece::Code(code) => ReplyPart::BlockCode(code),
        FencePiece::Close(_) => ReplyPart::BlockEnds,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    /// A reply as a client writes it down.
    fn written(parts: &[ReplyPart]) -> String {
        let one = |part: &ReplyPart| match part {
            ReplyPart::Prose(text) | ReplyPart::BlockCode(text) => text.clone(),
            ReplyPart::BlockBegins(tag) => format!("<{tag}>"),
            ReplyPart::BlockEnds => "</>".into(),
        };
        parts.iter().map(one).collect()
    }

    fn live(seen: &mut ReplySeen, piece: FencePiece) -> Option<ReplyPart> {
        let (kind, text) = match piece {
            FencePiece::Text(text) => ("text", text),
            FencePiece::Open { tag } => ("code_begins", tag.unwrap_or_default()),
            FencePiece::Code(code) => ("code", code),
            FencePiece::Close(_) => ("code_ends", String::new()),
        };
        seen.live(kind, &text)
    }

    proptest! {
        /// However many of the pieces come live, the client has the reply once.
        #[test]
        fn nothing_is_lost_and_nothing_comes_twice(
            text in "(a|é|`|\n|```py\n|```\n| ){0,60}", size in 1_usize..7, taken in 0_usize..80,
        ) {
            let record = json!({ "text": text });
            let whole = written(&ReplySeen::default().recorded(&record));
            let (mut seen, mut fences, mut parts) = (ReplySeen::default(), Fences::default(), vec![]);
            let letters: Vec<char> = text.chars().collect();
            let mut pieces: Vec<_> = letters
                .chunks(size)
                .flat_map(|chunk| fences.feed(&chunk.iter().collect::<String>()))
                .collect();
            pieces.extend(fences.finish());
            for piece in pieces.into_iter().take(taken) {
                parts.extend(live(&mut seen, piece));
            }
            parts.extend(seen.recorded(&record));
            prop_assert_eq!(written(&parts), whole);
        }
    }

    #[test]
    fn the_code_of_a_call_and_summaries_are_not_for_the_client() {
        let mut seen = ReplySeen::default();
        assert_eq!(seen.live("call_begins", "python"), None);
        assert_eq!(seen.live("code", "1"), None);
        assert_eq!(seen.live("code_ends", ""), None);
        assert_eq!(seen.live("text", "a"), Some(ReplyPart::Prose("a".into())));
        assert_eq!(seen.live("reasoning", "hm"), None);
        seen.begin(true);
        assert_eq!(seen.live("text", "b"), None);
        assert_eq!(seen.recorded(&json!({ "text": "b" })), []);
        // A record that says something else comes whole.
        seen.live("text", "x");
        assert_eq!(written(&seen.recorded(&json!({ "text": "yx" }))), "yx");
    }
}
