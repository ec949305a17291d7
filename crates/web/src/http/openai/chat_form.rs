//! An answer as a chat completion: Markdown, whole or in chunks. Pure.

use super::{
    following::{RunSeen, TokenSum, TurnPart},
    replies_seen::ReplyPart,
    words::{block, tag_of},
};
use serde_json::{Value, json};

/// The fields that every chunk has.
#[derive(Clone, Debug)]
pub(super) struct AnswerHead {
    pub(super) id: String,
    /// Seconds since 1970.
    pub(super) created: u64,
    pub(super) model: String,
    /// Where the session is on the page.
    pub(super) link: String,
}

/// A chat completion that is being made.
#[derive(Debug)]
pub(super) struct ChatForm {
    head: AnswerHead,
    text: String,
    /// Whether the next words begin a paragraph.
    is_apart: bool,
    /// The code that this reply has shown.
    shown: Vec<String>,
}

impl ChatForm {
    pub(super) fn new(head: AnswerHead) -> Self {
        Self { head, text: String::new(), is_apart: false, shown: Vec::new() }
    }

    /// All of the text so far.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Adds a part. Returns the text that it adds.
    pub(super) fn take(&mut self, part: &TurnPart) -> String {
        let from = self.text.len();
        match part {
            TurnPart::ReplyBegins => (self.is_apart, self.shown) = (true, Vec::new()),
            TurnPart::Reply(part) => self.reply(part),
            TurnPart::Proposed(proposed) => {
                let code = proposed.code.trim();
                if !self.shown.iter().any(|shown| shown.trim() == code) {
                    self.line(&block(&proposed.language, &proposed.code));
                }
            }
            TurnPart::Ran(run) => self.ran(run),
            TurnPart::Remark(words) => self.paragraph(words),
        }
        self.text[from..].to_owned()
    }

    fn reply(&mut self, part: &ReplyPart) {
        match part {
            ReplyPart::Prose(text) => {
                if self.is_apart && !text.trim().is_empty() {
                    self.paragraph(text.trim_start());
                } else if !self.is_apart {
                    self.text.push_str(text);
                }
            }
            ReplyPart::BlockBegins(tag) => {
                self.line(&format!("```{}\n", tag_of(tag)));
                self.shown.push(String::new());
            }
            ReplyPart::BlockCode(code) => {
                self.text.push_str(code);
                if let Some(shown) = self.shown.last_mut() {
                    shown.push_str(code);
                }
            }
            ReplyPart::BlockEnds => self.line("```\n"),
        }
    }

    fn ran(&mut self, run: &RunSeen) {
        if !run.output.is_empty() {
            self.line(&block("output", &run.output));
        }
        if run.is_cut || !run.pictures.is_empty() {
            let words = format!("All of the output is at {}", self.head.link);
            self.paragraph(&words);
        }
        self.is_apart = true;
    }

    /// Adds words on a line of their own.
    fn line(&mut self, words: &str) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text.push_str(words);
        self.is_apart = false;
    }

    /// Adds words behind an empty line.
    pub(super) fn paragraph(&mut self, words: &str) {
        if !self.text.is_empty() {
            let ends = self.text.len() - self.text.trim_end_matches('\n').len();
            self.text.push_str(&"\n".repeat(2_usize.saturating_sub(ends)));
        }
        self.text.push_str(words);
        self.is_apart = false;
    }

    fn chunk(&self, delta: &Value, finish: Option<&str>) -> String {
        let chunk = json!({
            "id": self.head.id, "object": "chat.completion.chunk", "created": self.head.created,
            "model": self.head.model,
            "choices": [{ "index": 0, "delta": delta, "finish_reason": finish, "logprobs": null }],
        });
        format!("data: {chunk}\n\n")
    }

    /// The first chunk.
    pub(super) fn begin(&self) -> String {
        self.chunk(&json!({ "role": "assistant", "content": "" }), None)
    }

    /// A chunk with more text, if there is any.
    pub(super) fn more(&self, text: &str) -> String {
        if text.is_empty() { String::new() } else { self.chunk(&json!({ "content": text }), None) }
    }

    /// The last chunks.
    pub(super) fn end(&self, finish: &str, usage: Option<TokenSum>, tells_usage: bool) -> String {
        let last = self.chunk(&json!({}), Some(finish));
        let mut told = String::new();
        if tells_usage {
            let chunk = json!({
                "id": self.head.id, "object": "chat.completion.chunk",
                "created": self.head.created, "model": self.head.model, "choices": [],
                "usage": tokens(usage),
            });
            told = format!("data: {chunk}\n\n");
        }
        last + &told + "data: [DONE]\n\n"
    }

    /// All of it at once.
    pub(super) fn whole(&self, finish: &str, usage: Option<TokenSum>) -> Value {
        json!({
            "id": self.head.id, "object": "chat.completion", "created": self.head.created,
            "model": self.head.model,
            "choices": [{
                "index": 0, "finish_reason": finish, "logprobs": null,
                "message": { "role": "assistant", "content": self.text, "refusal": null },
            }],
            "usage": tokens(usage),
        })
    }
}

fn tokens(usage: Option<TokenSum>) -> Value {
    let Some(TokenSum { input, output, cached }) = usage else { return Value::Null };
    json!({
        "prompt_tokens": input, "completion_tokens": output,
        "total_tokens": input.saturating_add(output),
        "prompt_tokens_details": { "cached_tokens": cached },
    })
}

#[cfg(test)]
mod tests {
    use super::{super::following::ProposedCode, *};

    fn prose(text: &str) -> TurnPart {
        TurnPart::Reply(ReplyPart::Prose(text.into()))
    }

    fn form() -> ChatForm {
        let (id, model, link) = ("chatcmpl-s-1".into(), "m".into(), "LINK".into());
        ChatForm::new(AnswerHead { id, created: 1, model, link })
    }

    #[test]
    fn code_and_output_are_blocks_and_code_is_shown_once() {
        let of = |code: &str| ProposedCode {
            code: code.into(),
            language: "python".into(),
            ..Default::default()
        };
        let run = RunSeen { of: of("1"), output: "```\n".into(), ..RunSeen::default() };
        let mut form = form();
        let parts = [
            TurnPart::ReplyBegins,
            prose("See:"),
            TurnPart::Reply(ReplyPart::BlockBegins("python".into())),
            TurnPart::Reply(ReplyPart::BlockCode("1\n".into())),
            TurnPart::Reply(ReplyPart::BlockEnds),
            TurnPart::Proposed(of("1")),
            TurnPart::Ran(run),
            TurnPart::ReplyBegins,
            prose("\nDone"),
            prose("."),
            TurnPart::Proposed(of("2")),
            TurnPart::Remark("R.".into()),
        ];
        let deltas: String = parts.iter().map(|part| form.take(part)).collect();
        assert_eq!(deltas, form.text());
        assert_eq!(
            form.text(),
            "See:\n```python\n1\n```\n````output\n```\n````\n\nDone.\n```python\n2\n```\n\nR."
        );
    }

    #[test]
    fn the_end_tells_tokens_to_whoever_wants_them() {
        let usage = Some(TokenSum { input: 2, output: 3, cached: 1 });
        assert_eq!(form().whole("stop", usage)["usage"]["total_tokens"], 5);
        assert_eq!(form().whole("stop", None)["usage"], Value::Null);
        assert!(form().end("stop", usage, true).contains("\"prompt_tokens\":2"));
        assert!(!form().end("stop", usage, false).contains("prompt_tokens"));
        assert!(form().end("stop", None, false).ends_with("data: [DONE]\n\n"));
    }
}
