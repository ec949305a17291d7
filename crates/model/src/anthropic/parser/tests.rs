//! Whole streams, in the shapes that the provider was recorded to send, read in any pieces.

use crate::{
    ReplyPiece,
    complaint::Complaint,
    fault::Fault,
    format::testing::{cut, read},
};
use interpreter_core::{Finish, Reply, Usage, WireFormat};
use proptest::prelude::*;
use serde_json::{Value, json};

const TEXT: &str = r#"event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"stop_reason":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":3,"cache_read_input_tokens":2,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: ping
data: {"type": "ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Grüße, "}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"漢字 😀"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":7}}

event: message_stop
data: {"type":"message_stop"}

"#;

const TWO_CALLS: &str = r#"event: message_start
data: {"type":"message_start","message":{"usage":{"input_tokens":20,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"Eq=="}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":"Both."}}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_a","name":"execute","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"language\": \"python\","}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":" \"code\": \"print('é')\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":2}

event: content_block_start
data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_b","name":"execute","input":{"code":"2"}}}

event: content_block_start
data: {"type":"content_block_start","index":4,"content_block":{"type":"server_tool_use","id":"srv","name":"web_search","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":"{\"query\":1}"}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":89}}

event: message_stop
data: {"type":"message_stop"}

"#;

const ERROR: &str = r#"event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Half"}}

event: error
data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}

"#;

const NO_STOP: &str = r#"event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"All"}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"max_tokens"}}
"#;

const CUT: &str = r#"event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Half"}}

event: content_block_delta
data: {"type":"content_blo"#;

const STREAMS: [&str; 5] = [TEXT, TWO_CALLS, ERROR, NO_STOP, CUT];

fn whole(stream: &str) -> (Vec<ReplyPiece>, Result<Reply, Fault>) {
    read(WireFormat::Anthropic, &[stream.as_bytes()])
}

fn reply(stream: &str) -> Reply {
    whole(stream).1.unwrap()
}

#[test]
fn text_comes_whole_with_its_usage() {
    let reply = reply(TEXT);
    assert_eq!(reply.text.raw(), "Grüße, 漢字 😀");
    assert_eq!(reply.finish, Finish::Stop);
    assert_eq!(
        reply.usage,
        Some(Usage { input: 15, output: 7, cached: 2, written: 3, ..Usage::default() })
    );
}

#[test]
fn thoughts_text_and_calls_are_told_apart() {
    let (pieces, end) = whole(TWO_CALLS);
    let reply = end.unwrap();
    assert_eq!(reply.reasoning.raw(), "Hm.");
    assert_eq!(reply.text.raw(), "Both.");
    let calls = reply.calls.iter().map(|call| (call.id.as_str(), call.arguments.raw()));
    let expected = [
        ("toolu_a", r#"{"language": "python", "code": "print('é')"}"#),
        ("toolu_b", r#"{"code":"2"}"#),
    ];
    assert_eq!(calls.collect::<Vec<_>>(), expected);
    assert_eq!(pieces.len(), 2 + 3 + 2);
}

#[test]
fn an_error_in_mid_stream_comes_after_the_text_before_it() {
    let (pieces, end) = whole(ERROR);
    assert_eq!(pieces, [ReplyPiece::Text("Half".into())]);
    let error = json!({ "error": { "type": "overloaded_error", "message": "Overloaded" } });
    assert_eq!(end, Err(Fault::Complaint(Complaint::in_json(&error).unwrap())));
}

#[test]
fn the_end_may_be_missing_only_after_a_stop_reason() {
    let reply = reply(NO_STOP);
    assert_eq!((reply.text.raw(), reply.finish), ("All", Finish::Length));
    let (pieces, end) = whole(CUT);
    assert_eq!(pieces, [ReplyPiece::Text("Half".into())]);
    assert_eq!(end, Err(Fault::Broken));
}

#[test]
fn a_stop_reason_is_told_by_its_meaning() {
    for (reason, finish) in [
        ("end_turn", Finish::Stop),
        ("stop_sequence", Finish::Stop),
        ("refusal", Finish::Filtered),
        ("model_context_window_exceeded", Finish::Length),
    ] {
        let event = json!({ "type": "message_delta", "delta": { "stop_reason": reason } });
        assert_eq!(reply(&format!("data: {event}\n\n")).finish, finish, "{reason}");
    }
}

/// JSON of the right names and the wrong kinds.
fn odd_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<u64>().prop_map(Value::from),
        prop::sample::select(vec![
            "message_start",
            "content_block_start",
            "content_block_delta",
            "message_delta",
            "text",
            "text_delta",
            "tool_use",
            "input_json_delta",
            "thinking",
            "x",
        ])
        .prop_map(Value::from),
    ];
    let name = prop::sample::select(vec![
        "type",
        "index",
        "content_block",
        "delta",
        "usage",
        "message",
        "input",
        "partial_json",
        "text",
        "id",
        "name",
        "stop_reason",
        "input_tokens",
        "cache_read_input_tokens",
    ]);
    leaf.prop_recursive(4, 30, 6, move |inner| {
        prop::collection::vec((name.clone(), inner), 0..6).prop_map(|fields| {
            Value::Object(fields.into_iter().map(|(name, value)| (name.into(), value)).collect())
        })
    })
}

proptest! {
    #[test]
    fn any_pieces_give_the_same_reply(
        which in 0..STREAMS.len(),
        returns in any::<bool>(),
        sizes in prop::collection::vec(1usize..60, 1..30),
    ) {
        let stream = STREAMS[which];
        let stream = if returns { stream.replace('\n', "\r\n") } else { stream.to_owned() };
        prop_assert_eq!(read(WireFormat::Anthropic, &cut(&stream, &sizes)), whole(&stream));
    }

    #[test]
    fn odd_events_are_survived(events in prop::collection::vec(odd_json(), 0..8)) {
        let events = events.iter().map(|event| format!("data: {event}\n\n"));
        let stream = events.collect::<Vec<_>>().concat();
        let too_large = matches!(whole(&stream).1, Err(Fault::TooLarge { .. }));
        prop_assert!(!too_large);
    }
}
