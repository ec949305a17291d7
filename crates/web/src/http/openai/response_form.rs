//! An answer as a response: messages and calls of the code interpreter, as events or whole. Pure.
//!
//! Prose comes at once. From the first block of code in a reply on, pieces are held until it is
//! known which blocks are proposals: those become calls, and the others stay in the message.

use super::{
    chat_form::AnswerHead,
    following::{ProposedCode, RunSeen, TokenSum, TurnPart},
    replies_seen::ReplyPart,
    words::block,
};
use crate::http::open_question::OpenQuestion;
use serde_json::{Value, json};
use std::collections::VecDeque;

/// How a response ends.
#[derive(Clone, Debug)]
pub(super) enum ResponseEnd<'a> {
    Completed,
    /// A question is open, and these are the words for it.
    Asks {
        question: &'a OpenQuestion,
        words: &'a str,
    },
    /// A limit of the server cut it short.
    CutShort,
    Failed(&'a str),
}

/// A piece that waits.
#[derive(Debug)]
enum HeldPiece {
    Prose(String),
    Block { tag: String, code: String },
}

/// The item that is being made.
#[derive(Debug, Default)]
enum OpenItem {
    #[default]
    Nothing,
    Message(String),
    Call(ProposedCode),
}

/// A response that is being made.
#[derive(Debug)]
pub(super) struct ResponseForm {
    head: AnswerHead,
    session: String,
    previous: Option<String>,
    output: Vec<Value>,
    open: OpenItem,
    held: VecDeque<HeldPiece>,
    /// Events so far.
    count: u64,
    /// Those that are due.
    events: String,
}

impl ResponseForm {
    pub(super) fn new(head: AnswerHead, session: &str, previous: Option<&str>) -> Self {
        Self {
            head,
            session: session.into(),
            previous: previous.map(str::to_owned),
            output: Vec::new(),
            open: OpenItem::Nothing,
            held: VecDeque::new(),
            count: 0,
            events: String::new(),
        }
    }

    fn event(&mut self, kind: &str, mut fields: Value) {
        fields["type"] = kind.into();
        fields["sequence_number"] = self.count.into();
        self.count += 1;
        self.events.extend(["event: ", kind, "\ndata: ", &fields.to_string(), "\n\n"]);
    }

    /// The events that are due.
    pub(super) fn due(&mut self) -> String {
        std::mem::take(&mut self.events)
    }

    /// The id of the item at the end.
    fn item_id(&self, kind: &str) -> String {
        let start = self.head.id.strip_prefix("resp_").unwrap_or(&self.head.id);
        format!("{kind}_{start}_{}", self.output.len())
    }

    pub(super) fn begin(&mut self) {
        let response = self.response("in_progress", &ResponseEnd::Completed, None);
        self.event("response.created", json!({ "response": response }));
        self.event("response.in_progress", json!({ "response": response }));
    }

    /// Adds a part.
    pub(super) fn take(&mut self, part: &TurnPart) {
        match part {
            TurnPart::ReplyBegins => self.let_go(),
            TurnPart::Reply(part) => self.reply(part),
            TurnPart::Proposed(proposed) => self.propose(proposed),
            TurnPart::Ran(run) => self.ran(run),
            TurnPart::Remark(words) => self.paragraph(words),
        }
    }

    fn reply(&mut self, part: &ReplyPart) {
        match part {
            ReplyPart::Prose(text) if self.held.is_empty() => self.say(text),
            ReplyPart::Prose(text) => self.held.push_back(HeldPiece::Prose(text.clone())),
            ReplyPart::BlockBegins(tag) => {
                let (tag, code) = (tag.clone(), String::new());
                self.held.push_back(HeldPiece::Block { tag, code });
            }
            ReplyPart::BlockCode(more) => {
                if let Some(HeldPiece::Block { code, .. }) = self.held.back_mut() {
                    code.push_str(more);
                }
            }
            ReplyPart::BlockEnds => {}
        }
    }

    fn propose(&mut self, proposed: &ProposedCode) {
        let is_it = |piece: &HeldPiece| match piece {
            HeldPiece::Block { code, .. } => code.trim() == proposed.code.trim(),
            HeldPiece::Prose(_) => false,
        };
        if let Some(place) = self.held.iter().position(is_it) {
            for _ in 0..place {
                self.say_held();
            }
            self.held.pop_front();
        }
        self.close();
        self.open_call(proposed);
    }

    fn open_call(&mut self, proposed: &ProposedCode) {
        let (id, index) = (self.item_id("ci"), self.output.len());
        let item = self.call(&id, "in_progress", "", &Value::Null);
        self.event("response.output_item.added", json!({ "output_index": index, "item": item }));
        let at = || json!({ "item_id": id, "output_index": index });
        let with = |name: &str| {
            let mut fields = at();
            fields[name] = proposed.code.as_str().into();
            fields
        };
        self.event("response.code_interpreter_call.in_progress", at());
        self.event("response.code_interpreter_call_code.delta", with("delta"));
        self.event("response.code_interpreter_call_code.done", with("code"));
        self.open = OpenItem::Call(proposed.clone());
    }

    fn call(&self, id: &str, status: &str, code: &str, outputs: &Value) -> Value {
        json!({
            "id": id, "type": "code_interpreter_call", "status": status, "code": code,
            "container_id": self.session, "outputs": outputs,
        })
    }

    fn ran(&mut self, run: &RunSeen) {
        let is_open =
            matches!(&self.open, OpenItem::Call(open) if open.proposal == run.of.proposal);
        if !is_open {
            self.close();
            self.open_call(&run.of);
        }
        let mut outputs = Vec::new();
        if !run.output.is_empty() {
            let cut = if run.is_cut { format!("\n… {}", self.head.link) } else { String::new() };
            outputs.push(json!({ "type": "logs", "logs": format!("{}{cut}", run.output) }));
        }
        outputs.extend(run.pictures.iter().map(|url| json!({ "type": "image", "url": url })));
        let (id, index) = (self.item_id("ci"), self.output.len());
        let at = || json!({ "item_id": id, "output_index": index });
        self.event("response.code_interpreter_call.interpreting", at());
        self.event("response.code_interpreter_call.completed", at());
        self.close_call("completed", &run.of.code, &outputs.into());
    }

    fn close_call(&mut self, status: &str, code: &str, outputs: &Value) {
        let item = self.call(&self.item_id("ci"), status, code, outputs);
        self.end_item(item);
    }

    fn end_item(&mut self, item: Value) {
        let index = self.output.len();
        self.event("response.output_item.done", json!({ "output_index": index, "item": item }));
        self.output.push(item);
        self.open = OpenItem::Nothing;
    }

    fn message(&self, status: &str, text: Option<&str>) -> Value {
        let part = text.map(output_text);
        json!({
            "id": self.item_id("msg"), "type": "message", "role": "assistant", "status": status,
            "content": part.into_iter().collect::<Vec<_>>(),
        })
    }

    /// Adds to the message, and begins one if there is none.
    fn say(&mut self, text: &str) {
        let (id, index) = (self.item_id("msg"), self.output.len());
        let at = json!({ "item_id": id, "output_index": index, "content_index": 0 });
        if !matches!(self.open, OpenItem::Message(_)) {
            // Blanks between two blocks are no message.
            if text.trim().is_empty() {
                return;
            }
            self.close();
            return self.begin_message(text);
        }
        if let OpenItem::Message(all) = &mut self.open {
            all.push_str(text);
        }
        let mut fields = at;
        fields["delta"] = text.into();
        fields["logprobs"] = json!([]);
        self.event("response.output_text.delta", fields);
    }

    fn begin_message(&mut self, text: &str) {
        let (id, index) = (self.item_id("msg"), self.output.len());
        let item = self.message("in_progress", None);
        self.event("response.output_item.added", json!({ "output_index": index, "item": item }));
        let mut fields = json!({ "item_id": id, "output_index": index, "content_index": 0 });
        fields["part"] = output_text("");
        self.event("response.content_part.added", fields);
        self.open = OpenItem::Message(String::new());
        self.say(text.trim_start());
    }

    /// Words of ours, as a message of their own.
    pub(super) fn paragraph(&mut self, words: &str) {
        self.let_go();
        self.close();
        self.say(words);
        self.close();
    }

    /// Adds the first piece that was held to the message.
    fn say_held(&mut self) {
        match self.held.pop_front() {
            Some(HeldPiece::Prose(text)) => self.say(&text),
            Some(HeldPiece::Block { tag, code }) => self.say(&block(&tag, &code)),
            None => {}
        }
    }

    /// Adds everything that was held: it is no proposal.
    fn let_go(&mut self) {
        while !self.held.is_empty() {
            self.say_held();
        }
    }

    /// Ends the item that is being made.
    fn close(&mut self) {
        match std::mem::take(&mut self.open) {
            OpenItem::Nothing => {}
            OpenItem::Call(proposed) => {
                self.close_call("incomplete", &proposed.code, &Value::Null);
            }
            OpenItem::Message(text) => {
                let (id, index) = (self.item_id("msg"), self.output.len());
                let at = || json!({ "item_id": id, "output_index": index, "content_index": 0 });
                let (mut done, mut part) = (at(), at());
                done["text"] = text.as_str().into();
                done["logprobs"] = json!([]);
                part["part"] = output_text(&text);
                self.event("response.output_text.done", done);
                self.event("response.content_part.done", part);
                let item = self.message("completed", Some(&text));
                self.end_item(item);
            }
        }
    }

    /// Ends it, and gives all of it.
    pub(super) fn end(&mut self, end: &ResponseEnd<'_>, usage: Option<TokenSum>) -> Value {
        self.let_go();
        if let ResponseEnd::Asks { words, .. } = end {
            self.paragraph(words);
        }
        self.close();
        let (kind, status) = match end {
            ResponseEnd::Completed => ("response.completed", "completed"),
            ResponseEnd::Asks { .. } | ResponseEnd::CutShort => {
                ("response.incomplete", "incomplete")
            }
            ResponseEnd::Failed(_) => ("response.failed", "failed"),
        };
        let response = self.response(status, end, usage);
        self.event(kind, json!({ "response": response }));
        response
    }

    fn response(&self, status: &str, end: &ResponseEnd<'_>, usage: Option<TokenSum>) -> Value {
        let (error, incomplete) = match end {
            ResponseEnd::Completed => (Value::Null, Value::Null),
            ResponseEnd::Failed(why) => {
                (json!({ "code": "server_error", "message": why }), Value::Null)
            }
            ResponseEnd::CutShort => (Value::Null, json!({ "reason": "max_output_tokens" })),
            ResponseEnd::Asks { question: OpenQuestion { id, about, .. }, .. } => (
                Value::Null,
                json!({
                    "reason": "question", "question": id, "about": about,
                    "session": self.session, "link": self.head.link,
                }),
            ),
        };
        let usage = usage.map(|TokenSum { input, output, cached }| {
            json!({
                "input_tokens": input, "output_tokens": output,
                "total_tokens": input.saturating_add(output),
                "input_tokens_details": { "cached_tokens": cached, "cache_write_tokens": 0 },
                "output_tokens_details": { "reasoning_tokens": 0 },
            })
        });
        json!({
            "id": self.head.id, "object": "response", "created_at": self.head.created,
            "status": status, "model": self.head.model, "output": self.output, "error": error,
            "incomplete_details": incomplete, "usage": usage,
            "previous_response_id": self.previous, "instructions": null, "metadata": {},
            "parallel_tool_calls": false, "tool_choice": "auto",
            "tools": [{ "type": "code_interpreter", "container": { "type": "auto" } }],
            "temperature": null, "top_p": null, "store": true, "background": false,
            "text": { "format": { "type": "text" } }, "truncation": "disabled",
        })
    }
}

fn output_text(text: &str) -> Value {
    json!({ "type": "output_text", "text": text, "annotations": [], "logprobs": [] })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form() -> ResponseForm {
        let (id, model, link) = ("resp_s_1".into(), "m".into(), "LINK".into());
        ResponseForm::new(AnswerHead { id, created: 1, model, link }, "s", None)
    }

    fn reply(part: ReplyPart) -> TurnPart {
        TurnPart::Reply(part)
    }

    fn kinds(response: &Value) -> Vec<(&str, &str)> {
        let items = response["output"].as_array().unwrap().iter();
        items
            .map(|item| (item["type"].as_str().unwrap(), item["status"].as_str().unwrap()))
            .collect()
    }

    #[test]
    fn code_that_is_proposed_is_a_call_and_other_blocks_stay_in_the_message() {
        let mut form = form();
        let code = |text: &str| ProposedCode {
            proposal: "p1".into(),
            code: text.into(),
            ..Default::default()
        };
        form.begin();
        for part in [
            reply(ReplyPart::Prose("See:\n".into())),
            reply(ReplyPart::BlockBegins("json".into())),
            reply(ReplyPart::BlockCode("{}\n".into())),
            reply(ReplyPart::BlockEnds),
            reply(ReplyPart::BlockBegins("python".into())),
            reply(ReplyPart::BlockCode("1\n".into())),
            reply(ReplyPart::BlockEnds),
            reply(ReplyPart::Prose("\nand more".into())),
            TurnPart::Proposed(code("1")),
            TurnPart::Ran(RunSeen { of: code("1"), output: "1\n".into(), ..RunSeen::default() }),
            TurnPart::ReplyBegins,
        ] {
            form.take(&part);
        }
        let response = form.end(&ResponseEnd::Completed, None);
        let calls = ("code_interpreter_call", "completed");
        assert_eq!(kinds(&response), [("message", "completed"), calls, ("message", "completed")]);
        let text = |index: usize| response["output"][index]["content"][0]["text"].as_str().unwrap();
        assert_eq!((text(0), text(2)), ("See:\n```json\n{}\n```\n", "and more"));
        assert_eq!(response["output"][1]["outputs"][0]["logs"], "1\n");
        // Each event has the next number, and the last one has all of it.
        let events = form.due();
        let datas: Vec<Value> = events
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .map(|data| serde_json::from_str(data).unwrap())
            .collect();
        for (event, number) in datas.iter().zip(0_u64..) {
            assert_eq!(event["sequence_number"], number);
        }
        assert_eq!(datas.last().unwrap()["response"], response);
        let added = datas.iter().filter(|event| event["type"] == "response.output_item.added");
        let done = datas.iter().filter(|event| event["type"] == "response.output_item.done");
        let ids = |event: &Value| (event["output_index"].clone(), event["item"]["id"].clone());
        assert_eq!(added.map(ids).collect::<Vec<_>>(), done.map(ids).collect::<Vec<_>>());
    }

    #[test]
    fn a_question_leaves_the_response_incomplete() {
        let mut form = form();
        form.take(&TurnPart::Proposed(ProposedCode { code: "1".into(), ..Default::default() }));
        let question = OpenQuestion { id: "q1".into(), about: "code".into(), words: "?".into() };
        let response = form.end(&ResponseEnd::Asks { question: &question, words: "?" }, None);
        let call = ("code_interpreter_call", "incomplete");
        assert_eq!(kinds(&response), [call, ("message", "completed")]);
        assert_eq!(response["status"], "incomplete");
        assert_eq!(response["incomplete_details"]["link"], "LINK");
    }
}
