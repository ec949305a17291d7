//! From a reply of the protocol to an answer of the API: its status and its body. Pure.

use super::calls::{ApiCall, Gives};
use crate::protocol::{ErrorCode, ProtocolError};
use serde_json::{Value, json};

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::http) struct ApiReply {
    pub(in crate::http) status: u16,
    pub(in crate::http) body: Value,
}

impl ApiReply {
    pub(super) fn ok(body: Value) -> Self {
        Self { status: 200, body }
    }

    /// A refusal, as the protocol words it.
    pub(in crate::http) fn refused(error: &ProtocolError) -> Self {
        Self::failed(&json!(error))
    }

    fn failed(error: &Value) -> Self {
        let code = error["code"].as_str().unwrap_or_default();
        let known = ErrorCode::ALL.into_iter().find(|known| json!(known) == code);
        let status = known.map_or(500, status_of);
        Self { status, body: json!({ "error": error }) }
    }

    /// The answer to a route whose request got this reply.
    pub(super) fn of(call: ApiCall, line: &str) -> Self {
        let mut reply: Value = serde_json::from_str(line).unwrap_or_default();
        if reply["error"].is_object() {
            return Self::failed(&reply["error"]);
        }
        let ok = reply["ok"].take();
        match call.description().gives {
            Gives::NewSession => Self { status: 201, body: ok },
            Gives::OneSession => Self::ok(one_session(ok)),
            Gives::OpenQuestions => Self::ok(json!({ "questions": ok["questions"] })),
            Gives::ModelList => Self::ok(model_list(&ok)),
            Gives::Reply(_) | Gives::Records | Gives::Document => Self::ok(ok),
        }
    }
}

/// The row of a session, with its open questions in place of their number.
fn one_session(mut ok: Value) -> Value {
    let mut row = ok["sessions"][0].take();
    if row.is_object() {
        row["open_questions"] = ok["questions"].take();
    }
    row
}

/// Models in the form of `OpenAI`'s list. The first is the one of the settings, for front ends that
/// want a name.
fn model_list(ok: &Value) -> Value {
    let mut data = vec![json!({
        "id": "interpreter", "object": "model", "created": 0, "owned_by": "interpreter",
    })];
    for place in ok["models"].as_array().into_iter().flatten() {
        let place_name = place["name"].as_str().unwrap_or_default();
        for model in place["models"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            // As it is named when a session is begun.
            let name = json!(format!("{place_name}/{model}"));
            let is_known = data.iter().any(|one: &Value| one["id"] == name);
            if !is_known {
                data.push(json!({
                    "id": name, "object": "model", "created": 0, "owned_by": place["name"],
                    "ready": place["ready"], "local": place["local"],
                }));
            }
        }
    }
    json!({ "object": "list", "data": data, "current": ok["current"] })
}

/// The status of a refusal of the protocol.
pub(in crate::http) const fn status_of(code: ErrorCode) -> u16 {
    match code {
        ErrorCode::Malformed | ErrorCode::UnknownVerb => 400,
        ErrorCode::NotAllowed | ErrorCode::YouWroteIt => 403,
        ErrorCode::UnknownSession
        | ErrorCode::NotOffered
        | ErrorCode::NoSuchFile
        | ErrorCode::NoSuchCell => 404,
        ErrorCode::Ended
        | ErrorCode::Running
        | ErrorCode::Busy
        | ErrorCode::Closed
        | ErrorCode::AnotherHash
        | ErrorCode::AlreadyApproved
        | ErrorCode::LookAgain
        | ErrorCode::OutlineUnseen
        | ErrorCode::NoModel => 409,
        ErrorCode::NotFitting | ErrorCode::Refused => 422,
        ErrorCode::TooMany => 429,
        ErrorCode::Failed => 500,
        ErrorCode::Ending => 503,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_has_a_status() {
        for code in ErrorCode::ALL {
            let reply = ApiReply::refused(&ProtocolError::new(code, "x"));
            assert_eq!(reply.status, status_of(code));
            assert!(reply.status >= 400);
        }
        assert_eq!(ApiReply::of(ApiCall::Run, "").body, Value::Null);
        let closed = r#"{"id":1,"error":{"code":"closed","message":"m","by":"anna"}}"#;
        let reply = ApiReply::of(ApiCall::Answer, closed);
        assert_eq!((reply.status, &reply.body["error"]["by"]), (409, &json!("anna")));
    }

    #[test]
    fn a_new_session_is_something_new() {
        let reply = ApiReply::of(ApiCall::Open, r#"{"id":1,"ok":{"session":"s7"}}"#);
        assert_eq!((reply.status, reply.body), (201, json!({ "session": "s7" })));
    }

    #[test]
    fn a_session_comes_with_its_questions_and_models_as_others_list_them() {
        let list = r#"{"id":1,"ok":{"sessions":[{"session":"s","questions":1}],
            "questions":[{"id":"q1"}]}}"#;
        let reply = ApiReply::of(ApiCall::Session, list);
        assert_eq!(reply.body["open_questions"][0]["id"], "q1");
        let questions = ApiReply::of(ApiCall::Questions, list).body;
        assert_eq!(questions, json!({ "questions": [{ "id": "q1" }] }));
        let models = r#"{"id":1,"ok":{"models":[{"name":"p","ready":true,"local":true,
            "models":["a","b"]},{"name":"q","models":["a"]}],"current":"a"}}"#;
        let reply = ApiReply::of(ApiCall::Models, models).body;
        let ids = |one: &Value| one["id"].as_str().unwrap().to_owned();
        let ids: Vec<_> = reply["data"].as_array().unwrap().iter().map(ids).collect();
        assert_eq!(ids, ["interpreter", "p/a", "p/b", "q/a"]);
        assert_eq!((&reply["object"], &reply["current"]), (&json!("list"), &json!("a")));
    }
}
