//! Whole streams, in the shapes that the provider was recorded to send, read in any pieces.

use crate::{
    ReplyPiece,
    complaint::Complaint,
    fault::Fault,
    format::testing::{cut, read},
};
use interpreter_core::{Finish, Reply, Usage, WireFormat};
use proptest::prelude::*;
use serde_json::json;

const TEXT: &str = r#"data: {"candidates":[{"content":{"parts":[{"text":"Hm.","thought":true}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":12,"totalTokenCount":12},"modelVersion":"gemini-2.5-flash","responseId":"r"}

data: {"candidates":[{"content":{"parts":[{"text":"Grüße, "}],"role":"model"},"index":0}]}

data: {"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"index":0}]}

data: {"candidates":[{"content":{"parts":[{"text":"漢字 😀","thoughtSignature":"Eq=="}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":12,"candidatesTokenCount":5,"thoughtsTokenCount":20,"cachedContentTokenCount":4,"totalTokenCount":37}}

"#;

const TWO_CALLS: &str = r#"data: {"candidates":[{"content":{"parts":[{"text":"Both."},{"functionCall":{"name":"execute","args":{"code":"print('é')"}},"thoughtSignature":"Eq=="},{"functionCall":{"name":"execute","args":{"code":"2"}}}],"role":"model"},"index":0}]}

data: {"candidates":[{"content":{"parts":[{"functionCall":{"id":"f3","name":"execute"}}],"role":"model"},"index":0}]}

data: {"candidates":[{"content":{"role":"model"},"finishReason":"STOP","index":0}]}

"#;

const ERROR: &str = r#"data: {"candidates":[{"content":{"parts":[{"text":"Half"}]}}]}

data: {"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}

"#;

const BLOCKED: &str = "data: {\"promptFeedback\":{\"blockReason\":\"PROHIBITED_CONTENT\"}}\r\n\r\n";

const CUT: &str = r#"data: {"candidates":[{"content":{"parts":[{"text":"Half"}]}}]}

data: {"candidates":[{"cont"#;

const STREAMS: [&str; 5] = [TEXT, TWO_CALLS, ERROR, BLOCKED, CUT];

fn whole(stream: &str) -> (Vec<ReplyPiece>, Result<Reply, Fault>) {
    read(WireFormat::Gemini, &[stream.as_bytes()])
}

fn reply(stream: &str) -> Reply {
    whole(stream).1.unwrap()
}

#[test]
fn text_and_thoughts_are_told_apart_and_counted_together() {
    let reply = reply(TEXT);
    assert_eq!(reply.text.raw(), "Grüße, 漢字 😀");
    assert_eq!(reply.reasoning.raw(), "Hm.");
    let usage = Usage { input: 12, output: 25, cached: 4, ..Usage::default() };
    assert_eq!((reply.finish, reply.usage), (Finish::Stop, Some(usage)));
}

#[test]
fn several_calls_in_one_part_or_many_are_all_there() {
    let reply = reply(TWO_CALLS);
    let calls = reply.calls.iter().map(|call| (call.id.as_str(), call.arguments.raw()));
    let expected =
        [("call_0", r#"{"code":"print('é')"}"#), ("call_1", r#"{"code":"2"}"#), ("f3", "{}")];
    assert_eq!(calls.collect::<Vec<_>>(), expected);
    assert_eq!(reply.text.raw(), "Both.");
}

#[test]
fn an_error_in_mid_stream_comes_after_the_text_before_it() {
    let (pieces, end) = whole(ERROR);
    assert_eq!(pieces, [ReplyPiece::Text("Half".into())]);
    let error = json!({ "error": {
        "code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE",
    } });
    assert_eq!(end, Err(Fault::Complaint(Complaint::in_json(&error).unwrap())));
}

#[test]
fn a_stream_may_end_only_after_a_reason() {
    assert_eq!(reply(BLOCKED).finish, Finish::Filtered);
    let (pieces, end) = whole(CUT);
    assert_eq!(pieces, [ReplyPiece::Text("Half".into())]);
    assert_eq!(end, Err(Fault::Broken));
}

#[test]
fn a_finish_reason_is_told_by_its_meaning() {
    for (reason, finish) in [
        ("STOP", Finish::Stop),
        ("MAX_TOKENS", Finish::Length),
        ("SAFETY", Finish::Filtered),
        ("OTHER", Finish::Stop),
    ] {
        let chunk = json!({ "candidates": [{ "finishReason": reason }] });
        assert_eq!(reply(&format!("data: {chunk}\n\n")).finish, finish, "{reason}");
    }
    let chunk = json!({ "candidates": [{ "finishReason": "MALFORMED_FUNCTION_CALL" }] });
    assert!(matches!(whole(&format!("data: {chunk}\n\n")).1, Err(Fault::Complaint(_))));
}

proptest! {
    #[test]
    fn any_pieces_give_the_same_reply(
        which in 0..STREAMS.len(),
        sizes in prop::collection::vec(1usize..60, 1..30),
    ) {
        let stream = STREAMS[which];
        prop_assert_eq!(read(WireFormat::Gemini, &cut(stream, &sizes)), whole(stream));
    }
}
