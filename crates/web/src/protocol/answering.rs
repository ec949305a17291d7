//! Answers to questions: read strictly, and the rights that each of them takes.
//!
//! # Threat
//! A caller that may answer questions and nothing else: it writes to the person's folder, or to
//! their settings, because a question asked whether to.
//!
//! # Mechanism
//! An answer takes the right to answer, and the right of whatever it does besides: changes are
//! applied and discarded with the right for that, and whatever stays in the settings is for whoever
//! has them all. Texts of an answer are no longer than a prompt may be.

use super::refusal::{ErrorCode, ProtocolError};
use crate::caller::Right;
use interpreter_core::{Grant, Span, session::GivenAnswer};
use serde_json::{Map, Value};

/// Bytes of a text that goes to the model or to code: of a prompt, and of an answer.
pub(crate) const MOST_TEXT: usize = 1 << 20;

/// Answers that have no fields.
const PLAIN: [&str; 6] = ["run", "end", "refuse", "install", "discard", "later"];

/// The answer of these fields.
pub(crate) fn given_answer(fields: Map<String, Value>) -> Result<GivenAnswer, ProtocolError> {
    let malformed = |text: String| ProtocolError::new(ErrorCode::Malformed, text);
    // Of an answer without fields, others would be ignored.
    let is_plain = |word: &str| PLAIN.contains(&word);
    if fields.get("decision").and_then(Value::as_str).is_some_and(is_plain)
        && let Some((other, _)) = fields.iter().find(|(name, _)| *name != "decision")
    {
        return Err(malformed(format!("answer: unknown field `{other}`")));
    }
    let answer = serde_json::from_value(Value::Object(fields))
        .map_err(|error| malformed(format!("answer: {error}")))?;
    let (name, length) = text_of(&answer);
    if length > MOST_TEXT {
        return Err(malformed(format!("answer: `{name}` is longer than 1 MiB")));
    }
    Ok(answer)
}

/// The name and the bytes of an answer's text. Code has a bound of its own, and picks are paths.
fn text_of(answer: &GivenAnswer) -> (&'static str, usize) {
    match answer {
        GivenAnswer::Reject { reason } => ("reason", reason.as_ref().map_or(0, String::len)),
        GivenAnswer::Give { text } => ("text", text.reveal().len()),
        GivenAnswer::Run
        | GivenAnswer::Edit { .. }
        | GivenAnswer::Stand { .. }
        | GivenAnswer::End
        | GivenAnswer::Allow { .. }
        | GivenAnswer::Refuse
        | GivenAnswer::Install
        | GivenAnswer::Apply { .. }
        | GivenAnswer::Discard
        | GivenAnswer::Later => ("", 0),
    }
}

/// The rights that an answer takes, all of them.
pub(crate) fn answer_rights(answer: &GivenAnswer) -> &'static [Right] {
    match answer {
        GivenAnswer::Apply { .. } | GivenAnswer::Discard => &[Right::Answer, Right::Change],
        // These become settings of the person's.
        GivenAnswer::Stand { span: Span::Always, .. }
        | GivenAnswer::Allow { span: Grant::Always } => &[Right::Answer, Right::Admin],
        GivenAnswer::Run
        | GivenAnswer::Edit { .. }
        | GivenAnswer::Reject { .. }
        | GivenAnswer::Stand { span: Span::Turn | Span::Session, .. }
        | GivenAnswer::Give { .. }
        | GivenAnswer::End
        | GivenAnswer::Allow { span: Grant::Once | Grant::Session }
        | GivenAnswer::Refuse
        | GivenAnswer::Install
        | GivenAnswer::Later => &[Right::Answer],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn given(answer: Value) -> Result<GivenAnswer, ProtocolError> {
        let Value::Object(fields) = answer else { unreachable!() };
        given_answer(fields)
    }

    #[test]
    fn an_answer_takes_the_rights_of_all_that_it_does() {
        let answers = [
            (json!({ "decision": "run" }), None),
            (json!({ "decision": "edit", "code": "1" }), None),
            (json!({ "decision": "reject" }), None),
            (json!({ "decision": "stand", "span": "turn", "covers": "all" }), None),
            (json!({ "decision": "stand", "span": "session", "covers": "kind" }), None),
            (json!({ "decision": "stand", "span": "always", "covers": "kind" }), Some("admin")),
            (json!({ "decision": "stand", "span": "always", "covers": "all" }), Some("admin")),
            (json!({ "decision": "give", "text": "x" }), None),
            (json!({ "decision": "end" }), None),
            (json!({ "decision": "allow", "for": "once" }), None),
            (json!({ "decision": "allow", "for": "session" }), None),
            (json!({ "decision": "allow", "for": "always" }), Some("admin")),
            (json!({ "decision": "refuse" }), None),
            (json!({ "decision": "install" }), None),
            (json!({ "decision": "apply" }), Some("change")),
            (json!({ "decision": "apply", "picks": [{ "path": "a" }] }), Some("change")),
            (json!({ "decision": "discard" }), Some("change")),
            (json!({ "decision": "later" }), None),
        ];
        for (answer, more) in answers {
            let rights = answer_rights(&given(answer.clone()).unwrap());
            let words: Vec<_> = rights.iter().map(|right| right.word()).collect();
            let expected: Vec<_> = ["answer"].into_iter().chain(more).collect();
            assert_eq!(words, expected, "{answer}");
        }
    }

    #[test]
    fn an_answer_has_its_own_fields_and_no_others() {
        for wrong in [
            json!({}),
            json!({ "decision": "yes" }),
            json!({ "decision": "run", "code": "other" }),
            json!({ "decision": "later", "picks": [] }),
            json!({ "decision": "allow", "for": "ever" }),
        ] {
            assert_eq!(given(wrong.clone()).unwrap_err().code, ErrorCode::Malformed, "{wrong}");
        }
    }

    #[test]
    fn a_text_is_as_long_as_a_prompt_may_be_and_no_longer() {
        for (decision, name) in [("reject", "reason"), ("give", "text")] {
            let sent = |length| json!({ "decision": decision, name: "x".repeat(length) });
            assert!(given(sent(MOST_TEXT)).is_ok(), "{decision}");
            let refused = given(sent(MOST_TEXT + 1)).unwrap_err();
            assert_eq!(refused.code, ErrorCode::Malformed, "{decision}");
            assert_eq!(refused.message, format!("answer: `{name}` is longer than 1 MiB"));
        }
    }
}
