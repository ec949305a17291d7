//! From the records of one run to messages of a kernel. Pure.
//!
//! Bounded: of the output of one run only the beginning is passed on, and the page has all of it.

use super::messages::KernelMessage;
use crate::http::open_question::OpenQuestion;
use serde_json::{Map, Value, json};

/// Bytes of text of one run, and of its results in all their forms.
const MOST_TEXT: usize = 1 << 20;
const MOST_RESULTS: usize = 8 << 20;

/// One run, as far as it was seen.
#[derive(Debug)]
pub(super) struct RunSeen {
    proposal: String,
    /// Whether its proposal came. Records before it belong to something else.
    has_begun: bool,
    /// The page of its session.
    link: String,
    text: usize,
    results: usize,
    is_cut: bool,
    failure: Option<RunFailure>,
}

/// Why a run did not succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RunFailure {
    pub(super) name: &'static str,
    pub(super) words: String,
}

/// The meaning of a record for the client.
#[derive(Debug, PartialEq)]
pub(super) enum RunNews {
    Messages(Vec<KernelMessage>),
    /// This answer to a question changes nothing, and the run goes on.
    Answer {
        question: Value,
        decision: &'static str,
        first: Option<KernelMessage>,
    },
    /// Only a person can answer: the client has no more of it.
    Asks(RunFailure),
    Ended(Option<RunFailure>),
}

fn text<'a>(record: &'a Value, name: &str) -> &'a str {
    record[name].as_str().unwrap_or_default()
}

fn failure(name: &'static str, words: impl Into<String>) -> RunFailure {
    RunFailure { name, words: words.into() }
}

impl RunSeen {
    pub(super) fn new(proposal: &str, link: &str) -> Self {
        let (proposal, link) = (proposal.to_owned(), link.to_owned());
        Self { proposal, has_begun: false, link, text: 0, results: 0, is_cut: false, failure: None }
    }

    /// Takes in a record.
    pub(super) fn record(&mut self, record: &Value) -> RunNews {
        let is_ours = record["proposal"] == self.proposal.as_str();
        let mut messages = Vec::new();
        if !self.has_begun {
            self.has_begun = record["kind"] == "proposal" && record["id"] == self.proposal.as_str();
            return RunNews::Messages(messages);
        }
        match text(record, "kind") {
            "question" => return self.question(record),
            "turn_finished" => return RunNews::Ended(self.end(text(record, "end"))),
            "verdict" if is_ours && record["decision"] == "deny" => {
                let rule = text(record, "rule");
                self.failure =
                    Some(failure("Denied", format!("it was not run: a rule denies it ({rule})")));
            }
            "output" if is_ours => messages = self.output(record),
            "error" => {
                let hint = text(record, "hint");
                let gap = if hint.is_empty() { "" } else { "; " };
                let words = format!("{}{gap}{hint}", text(record, "message"));
                self.failure = Some(failure("Failed", words));
            }
            "run_finished" if is_ours => self.finished(record),
            _ => {}
        }
        RunNews::Messages(messages)
    }

    fn question(&self, record: &Value) -> RunNews {
        let question = OpenQuestion::of(record);
        let answer = |decision, first| RunNews::Answer {
            question: json!({ "question": record["id"], "hash": record["hash"] }),
            decision,
            first,
        };
        match question.about.as_str() {
            // Kernels without a person have no lines to give.
            "input" => answer("end", None),
            "changes" => {
                let words = format!(
                    "{} Nothing was written: `interpreter changes` shows it, and so does the page \
                     while this kernel is there: {}\n",
                    question.words, self.link
                );
                answer("later", Some(KernelMessage::stream("stderr", &words)))
            }
            _ => {
                let words = format!("{} Answer here: {}", question.words, self.link);
                RunNews::Asks(failure("NeedsAnswer", words))
            }
        }
    }

    fn output(&mut self, record: &Value) -> Vec<KernelMessage> {
        let mut messages = Vec::new();
        match text(record, "stream") {
            "result" => {
                let data = self.forms(record);
                if !data.is_empty() {
                    messages.push(KernelMessage::display(&data));
                }
            }
            stream => {
                let (stream, words) =
                    (if stream == "stderr" { stream } else { "stdout" }, text(record, "text"));
                let room = MOST_TEXT.saturating_sub(self.text).min(words.len());
                let end = (0..=room).rev().find(|end| words.is_char_boundary(*end));
                let taken = &words[..end.unwrap_or_default()];
                self.text += taken.len();
                if !taken.is_empty() {
                    messages.push(KernelMessage::stream(stream, taken));
                }
                if taken.len() < words.len() {
                    messages.extend(self.cut());
                }
            }
        }
        if record["kept"].is_object() {
            messages.extend(self.cut());
        }
        messages
    }

    /// A result in the forms for which there is room.
    fn forms(&mut self, record: &Value) -> Map<String, Value> {
        let mut data = Map::new();
        let own = (text(record, "mime"), text(record, "text"));
        let others = record["bundle"].as_object().into_iter().flatten();
        let others = others.filter_map(|(kind, form)| Some((kind.as_str(), form.as_str()?)));
        for (kind, form) in std::iter::once(own).chain(others) {
            let is_room = self.results + form.len() <= MOST_RESULTS;
            if kind.is_empty() || form.is_empty() {
                continue;
            }
            if is_room {
                self.results += form.len();
                let form = if kind.starts_with("image/") { form.trim_end() } else { form };
                data.insert(kind.to_owned(), form.into());
            } else if !self.is_cut {
                self.is_cut = true;
                let words = format!("[too large to be passed on; the page has it: {}]", self.link);
                data.entry("text/plain").or_insert(words.into());
            }
        }
        data
    }

    fn cut(&mut self) -> Option<KernelMessage> {
        let is_first = !std::mem::replace(&mut self.is_cut, true);
        let words = format!("\n[There is more; the page has all of it: {}]\n", self.link);
        is_first.then(|| KernelMessage::stream("stderr", &words))
    }

    fn finished(&mut self, record: &Value) {
        let words = match (record["limit"].as_str(), &record["status"], &record["signal"]) {
            (Some(limit), _, _) => format!("a limit ended it: {limit}"),
            (None, Value::Number(status), _) if status.as_i64() == Some(0) => return,
            (None, Value::Number(status), _) => format!("the code failed with status {status}"),
            (None, _, Value::Number(signal)) => format!("signal {signal} ended it"),
            (None, _, _) => "the code did not end by itself".into(),
        };
        self.failure.get_or_insert_with(|| failure("CodeFailed", words));
    }

    fn end(&mut self, end: &str) -> Option<RunFailure> {
        match end {
            "done" => self.failure.take(),
            "interrupted" => Some(failure("KeyboardInterrupt", "it was interrupted")),
            _ => {
                let failed = self.failure.take();
                failed.or_else(|| Some(failure("Failed", format!("the run ended: {end}"))))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen() -> RunSeen {
        let mut run = RunSeen::new("p1", "LINK");
        // The end of what was before is not its own.
        assert_eq!(run.record(&end("interrupted")), RunNews::Messages(vec![]));
        run.record(&json!({ "kind": "proposal", "id": "p1" }));
        run
    }

    fn output(stream: &str, text: &str) -> Value {
        json!({ "kind": "output", "proposal": "p1", "stream": stream, "text": text,
            "mime": "text/plain" })
    }

    fn end(word: &str) -> Value {
        json!({ "kind": "turn_finished", "end": word })
    }

    #[test]
    fn output_becomes_streams_and_pictures_become_data() {
        let mut run = seen();
        let RunNews::Messages(told) = run.record(&output("stdout", "a\n")) else { panic!() };
        assert_eq!(told, [KernelMessage::stream("stdout", "a\n")]);
        let mut other = output("stdout", "not ours");
        other["proposal"] = "p2".into();
        assert_eq!(run.record(&other), RunNews::Messages(vec![]));
        let mut picture = output("result", "<Figure>");
        picture["bundle"] = json!({ "image/png": "iVBO\n" });
        let RunNews::Messages(told) = run.record(&picture) else { panic!() };
        let data = json!({ "text/plain": "<Figure>", "image/png": "iVBO" });
        assert_eq!(told, [KernelMessage::display(data.as_object().unwrap())]);
        assert_eq!(run.record(&end("done")), RunNews::Ended(None));
    }

    #[test]
    fn output_is_bounded_and_says_where_the_rest_is() {
        let mut run = seen();
        let (mut sent, mut notes) = (0, 0);
        for _ in 0..3 {
            let RunNews::Messages(told) = run.record(&output("stdout", &"é".repeat(MOST_TEXT / 2)))
            else {
                panic!()
            };
            for message in told {
                let text = message.text("k", "m", &Value::Null);
                sent += text.len();
                notes += usize::from(text.contains("LINK"));
            }
        }
        assert_eq!(notes, 1);
        assert!(sent < MOST_TEXT + 2_000, "{sent}");
        let mut picture = output("result", "");
        picture["bundle"] = json!({ "image/png": "A".repeat(MOST_RESULTS + 1) });
        let RunNews::Messages(told) = seen().record(&picture) else { panic!() };
        assert!(told[0].text("k", "m", &Value::Null).len() < 1_000);
    }

    #[test]
    fn a_question_that_needs_a_yes_ends_it_with_its_link() {
        let question = |about: &str| {
            json!({ "kind": "question", "id": "q1", "hash": "h", "about": about,
                "language": "python", "risk": "low", "files": [{ "path": "a" }] })
        };
        for about in ["code", "host", "packages", "replay", "something new"] {
            let RunNews::Asks(asks) = seen().record(&question(about)) else { panic!("{about}") };
            assert!(asks.words.contains("LINK"), "{about}");
        }
        for (about, expected) in [("input", "end"), ("changes", "later")] {
            let RunNews::Answer { decision, question, .. } = seen().record(&question(about)) else {
                panic!("{about}")
            };
            assert_eq!((decision, &question["hash"]), (expected, &json!("h")));
        }
    }

    #[test]
    fn every_end_that_is_no_success_has_its_reason() {
        let ended = |records: &[Value], word: &str| {
            let mut run = seen();
            for record in records {
                run.record(record);
            }
            let RunNews::Ended(end) = run.record(&end(word)) else { panic!() };
            end.map(|failure| failure.words)
        };
        let finished = |status: Value| json!({ "kind": "run_finished", "proposal": "p1", "status": status, "signal": null, "limit": null });
        assert_eq!(ended(&[finished(json!(0))], "done"), None);
        assert!(ended(&[finished(json!(1))], "code_failed").unwrap().contains("status 1"));
        assert!(ended(&[finished(Value::Null)], "done").is_some());
        let denied =
            json!({ "kind": "verdict", "proposal": "p1", "decision": "deny", "rule": "deny rm" });
        assert!(ended(&[denied], "refused").unwrap().contains("deny rm"));
        let error = json!({ "kind": "error", "message": "m", "hint": "h" });
        assert_eq!(ended(&[error], "failed").unwrap(), "m; h");
        for word in ["interrupted", "timed_out", "over_budget", "something new"] {
            assert!(ended(&[], word).is_some(), "{word}");
        }
    }
}
