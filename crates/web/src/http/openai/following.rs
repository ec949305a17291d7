//! From the records and live pieces of a session to the parts of an answer. Pure.
//!
//! Bounded: of the output of one run only the beginning is passed on, and the page has all of it.

use super::replies_seen::{ReplyPart, ReplySeen};
use crate::http::open_question::OpenQuestion;
use serde_json::Value;
use std::collections::BTreeMap;

/// Bytes of output of one run, and of the pictures in it.
const MOST_OUTPUT: usize = 64 << 10;
const MOST_PICTURES: usize = 2 << 20;

/// Proposals that are remembered.
const MOST_PROPOSALS: usize = 64;

/// Code that a model proposed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ProposedCode {
    pub(super) proposal: String,
    pub(super) language: String,
    pub(super) code: String,
}

/// Code that ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RunSeen {
    pub(super) of: ProposedCode,
    pub(super) output: String,
    /// Whether there was more of it.
    pub(super) is_cut: bool,
    /// Pictures, as data URLs.
    pub(super) pictures: Vec<String>,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TurnEnd {
    Done,
    /// A limit of the server cut it short.
    CutShort(String),
    Failed(String),
}

/// A part of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TurnPart {
    /// The model is asked.
    ReplyBegins,
    Reply(ReplyPart),
    Proposed(ProposedCode),
    Ran(RunSeen),
    /// A sentence of ours.
    Remark(String),
}

/// Tokens, by the provider's count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TokenSum {
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) cached: u64,
}

/// A session as far as it was seen.
#[derive(Debug, Default)]
pub(super) struct TurnFold {
    reply: ReplySeen,
    proposals: BTreeMap<String, ProposedCode>,
    runs: BTreeMap<String, RunSeen>,
    open: BTreeMap<String, OpenQuestion>,
    usage: Option<TokenSum>,
    failure: Option<String>,
    end: Option<TurnEnd>,
}

fn text<'a>(record: &'a Value, name: &str) -> &'a str {
    record[name].as_str().unwrap_or_default()
}

impl TurnFold {
    /// Begins where a client is: with code whose result it lacks, and the questions that are open.
    pub(super) fn new(pending: Vec<ProposedCode>, open: &Value) -> Self {
        let mut fold = Self::default();
        for proposed in pending {
            fold.proposals.insert(proposed.proposal.clone(), proposed);
        }
        for question in open.as_array().into_iter().flatten() {
            fold.ask(question);
        }
        fold
    }

    fn ask(&mut self, question: &Value) {
        let proposal = text(question, "proposal");
        let is_new =
            !self.proposals.contains_key(proposal) && self.proposals.len() < MOST_PROPOSALS;
        if question["about"] == "code" && is_new {
            let of = |name: &str| text(question, name).to_owned();
            let proposed = ProposedCode {
                proposal: of("proposal"),
                language: of("language"),
                code: of("code"),
            };
            self.proposals.insert(proposal.to_owned(), proposed);
        }
        let question = OpenQuestion::of(question);
        self.open.insert(question.id.clone(), question);
    }

    /// A question that is open.
    pub(super) fn question(&self) -> Option<&OpenQuestion> {
        self.open.values().next()
    }

    pub(super) fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// How the turn ended, if it has; the next one can begin then.
    pub(super) fn take_end(&mut self) -> Option<TurnEnd> {
        self.end.take()
    }

    pub(super) fn usage(&self) -> Option<TokenSum> {
        self.usage
    }

    /// Code whose result has not been seen.
    pub(super) fn pending(&self) -> Vec<ProposedCode> {
        self.proposals.values().cloned().collect()
    }

    /// The parts that a live piece adds.
    pub(super) fn live(&mut self, piece: &Value) -> Option<TurnPart> {
        self.reply.live(text(piece, "live"), text(piece, "text")).map(TurnPart::Reply)
    }

    /// The parts that a record adds.
    pub(super) fn record(&mut self, record: &Value) -> Vec<TurnPart> {
        match text(record, "kind") {
            "request" => {
                let is_summary = record["summary"] == true;
                self.reply.begin(is_summary);
                return if is_summary { vec![] } else { vec![TurnPart::ReplyBegins] };
            }
            "reply" => {
                return self.reply.recorded(record).into_iter().map(TurnPart::Reply).collect();
            }
            "usage" => self.add_usage(record),
            "proposal" => return vec![self.propose(record)],
            "answer" => return self.decided(record).into_iter().collect(),
            "verdict" if record["decision"] == "deny" => {
                self.proposals.remove(text(record, "proposal"));
                let rule = text(record, "rule");
                return vec![TurnPart::Remark(format!(
                    "It was not run: a rule denies it ({rule})."
                ))];
            }
            "run_started" => {
                let of = self.proposals.remove(text(record, "proposal")).unwrap_or_default();
                let run = RunSeen { of, ..RunSeen::default() };
                self.runs.insert(text(record, "proposal").into(), run);
            }
            "output" => self.add_output(record),
            "run_finished" => {
                let run = self.runs.remove(text(record, "proposal"));
                return run.map(TurnPart::Ran).into_iter().collect();
            }
            "question" => self.ask(record),
            "question_closed" => _ = self.open.remove(text(record, "id")),
            "error" => {
                let hint = text(record, "hint");
                let gap = if hint.is_empty() { "" } else { "; " };
                self.failure = Some(format!("{}{gap}{hint}", text(record, "message")));
            }
            "turn_finished" => return self.finish(text(record, "end")),
            _ => {}
        }
        Vec::new()
    }

    fn add_usage(&mut self, record: &Value) {
        let number = |name: &str| record[name].as_u64().unwrap_or_default();
        let sum = self.usage.get_or_insert_default();
        sum.input = sum.input.saturating_add(number("input"));
        sum.output = sum.output.saturating_add(number("output"));
        sum.cached = sum.cached.saturating_add(number("cached"));
    }

    fn propose(&mut self, record: &Value) -> TurnPart {
        let of = |name: &str| text(record, name).to_owned();
        let proposed =
            ProposedCode { proposal: of("id"), language: of("language"), code: of("code") };
        if self.proposals.len() < MOST_PROPOSALS {
            self.proposals.insert(proposed.proposal.clone(), proposed.clone());
        }
        TurnPart::Proposed(proposed)
    }

    /// The answer to a question about code.
    fn decided(&mut self, record: &Value) -> Option<TurnPart> {
        let id = text(record, "proposal");
        match text(record, "decision") {
            "edit" => {
                let proposed = self.proposals.get_mut(id)?;
                text(record, "code").clone_into(&mut proposed.code);
                Some(TurnPart::Proposed(proposed.clone()))
            }
            "reject" => {
                self.proposals.remove(id);
                let reason = text(record, "reason");
                let gap = if reason.is_empty() { "" } else { ": " };
                Some(TurnPart::Remark(format!("It was not run: the answer was no{gap}{reason}.")))
            }
            _ => None,
        }
    }

    fn add_output(&mut self, record: &Value) {
        let Some(run) = self.runs.get_mut(text(record, "proposal")) else { return };
        let words = text(record, "text");
        let room = MOST_OUTPUT.saturating_sub(run.output.len());
        let end = (0..=room.min(words.len())).rev().find(|end| words.is_char_boundary(*end));
        let (taken, rest) = words.split_at(end.unwrap_or_default());
        run.output.push_str(taken);
        run.is_cut |= !rest.is_empty() || record["kept"].is_object();
        let held: usize = run.pictures.iter().map(String::len).sum();
        for kind in ["image/png", "image/jpeg"] {
            let Some(base64) = record["bundle"][kind].as_str() else { continue };
            if held + base64.len() <= MOST_PICTURES {
                run.pictures.push(format!("data:{kind};base64,{}", base64.trim_end()));
            } else {
                run.is_cut = true;
            }
        }
    }

    fn finish(&mut self, end: &str) -> Vec<TurnPart> {
        let mut parts: Vec<_> =
            std::mem::take(&mut self.runs).into_values().map(TurnPart::Ran).collect();
        self.proposals.clear();
        let failure = self.failure.take();
        let because = || failure.clone().unwrap_or_else(|| format!("the turn ended: {end}"));
        let end = match end {
            "done" | "code_failed" | "refused" => TurnEnd::Done,
            "interrupted" => {
                parts.push(TurnPart::Remark("It was interrupted.".into()));
                TurnEnd::Done
            }
            "too_many_calls" | "timed_out" | "over_budget" => TurnEnd::CutShort(because()),
            _ => TurnEnd::Failed(because()),
        };
        if let (TurnEnd::Done, Some(words)) = (&end, failure) {
            parts.push(TurnPart::Remark(words));
        }
        self.end = Some(end);
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_run_comes_with_its_code_and_its_output_once() {
        let mut fold = TurnFold::default();
        let code = json!({ "kind": "proposal", "id": "p1", "language": "python", "code": "1" });
        assert!(matches!(fold.record(&code)[..], [TurnPart::Proposed(_)]));
        assert_eq!(fold.pending().len(), 1);
        let question = json!({ "kind": "question", "id": "q1", "about": "code", "risk": "low",
            "proposal": "p1" });
        fold.record(&question);
        assert_eq!(fold.question().map(|open| open.id.as_str()), Some("q1"));
        fold.record(&json!({ "kind": "question_closed", "id": "q1", "why": "answered" }));
        assert_eq!(fold.question(), None);
        fold.record(&json!({ "kind": "run_started", "proposal": "p1" }));
        for text in ["a\n", "é"] {
            fold.record(&json!({ "kind": "output", "proposal": "p1", "text": text }));
        }
        let ran = fold.record(&json!({ "kind": "run_finished", "proposal": "p1" }));
        let [TurnPart::Ran(run)] = &ran[..] else { panic!("{ran:?}") };
        assert_eq!((run.output.as_str(), run.of.code.as_str()), ("a\né", "1"));
        assert!(fold.pending().is_empty() && !run.is_cut);
        fold.record(&json!({ "kind": "turn_finished", "end": "done" }));
        assert_eq!(fold.take_end(), Some(TurnEnd::Done));
        assert_eq!(fold.take_end(), None);
    }

    #[test]
    fn output_is_bounded_and_failures_are_told() {
        let mut fold = TurnFold::default();
        fold.record(&json!({ "kind": "run_started", "proposal": "p1" }));
        let text = "é".repeat(MOST_OUTPUT);
        for _ in 0..3 {
            fold.record(&json!({ "kind": "output", "proposal": "p1", "text": text,
                "bundle": { "image/png": "A".repeat(MOST_PICTURES - 1) } }));
        }
        fold.record(&json!({ "kind": "error", "message": "m", "hint": "h" }));
        let parts = fold.record(&json!({ "kind": "turn_finished", "end": "model_failed" }));
        let [TurnPart::Ran(run)] = &parts[..] else { panic!("{}", parts.len()) };
        assert!(run.output.len() <= MOST_OUTPUT && run.is_cut);
        assert_eq!(run.pictures.len(), 1);
        assert_eq!(fold.take_end(), Some(TurnEnd::Failed("m; h".into())));
    }
}
