//! Whole streams, in the shapes that servers were recorded to send, read in any pieces.

use crate::{
    ReplyPiece,
    complaint::Complaint,
    fault::Fault,
    format::testing::{cut, read},
};
use interpreter_core::{Finish, Reply, Usage, WireFormat};
use proptest::prelude::*;
use serde_json::{Value, json};

const TEXT: &str = r#": OPENROUTER PROCESSING

data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"finish_reason":null}],"usage":null}

data: {"choices":[{"index":0,"delta":{"content":"Grüße, "},"finish_reason":null}]}

: keep-alive

data: {"choices":[{"index":0,"delta":{},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{"content":"漢字 😀"},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: {"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":5,"total_tokens":17,"prompt_tokens_details":{"cached_tokens":8}}}

data: [DONE]

"#;

const REASONING: &str = r#"data: {"choices":[{"delta":{"role":"assistant","content":null,"reasoning_content":"Hm. "}}]}

data: {"choices":[{"delta":{"reasoning":"Yes."}}]}

data: {"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":" So."}]},{"type":"text","text":"Four"}]}}]}

data: {"choices":[{"delta":{"content":"."},"finish_reason":"length"}]}

data: [DONE]

"#;

const CALL: &str = r#"data: {"choices":[{"index":0,"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"execute","arguments":""}}]},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"language\":\"pyt"}}]},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"hon\",\"code\":\"print('é')\"}"}}]},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: [DONE]

"#;

const TWO_CALLS: &str = r#"data: {"choices":[{"index":0,"delta":{"content":"Both."}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"execute","arguments":"{\"code\":"}},{"index":1,"id":"b","function":{"name":"execute","arguments":"{\"code\":"}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"\"2\"}"}},{"index":0,"function":{"arguments":"\"1\"}"}}]}}]}

data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: [DONE]

"#;

const ERROR: &str = r#"data: {"choices":[{"index":0,"delta":{"content":"Half"}}]}

data: {"error":{"message":"The server is overloaded","type":"server_error","code":503}}

"#;

const NO_DONE: &str = r#"data: {"choices":[{"index":0,"delta":{"content":"All"},"finish_reason":"stop"}]}
"#;

const CUT: &str = r#"data: {"choices":[{"index":0,"delta":{"content":"Half"},"finish_reason":null}]}

data: {"choices":[{"index":0,"del"#;

const STREAMS: [&str; 7] = [TEXT, REASONING, CALL, TWO_CALLS, ERROR, NO_DONE, CUT];

fn whole(stream: &str) -> (Vec<ReplyPiece>, Result<Reply, Fault>) {
    read(WireFormat::OpenAi, &[stream.as_bytes()])
}

fn reply(stream: &str) -> Reply {
    whole(stream).1.unwrap()
}

/// A stream of one event for each of `chunks`.
fn stream(chunks: &[Value]) -> String {
    let events = chunks.iter().map(|chunk| format!("data: {chunk}\n\n"));
    events.collect::<Vec<_>>().concat()
}

#[test]
fn text_comes_whole_with_its_usage() {
    let reply = reply(TEXT);
    assert_eq!(reply.text.raw(), "Grüße, 漢字 😀");
    assert_eq!(reply.finish, Finish::Stop);
    assert_eq!(reply.usage, Some(Usage { input: 12, output: 5, cached: 8, ..Usage::default() }));
    assert_eq!(reply.calls, []);
}

#[test]
fn pieces_come_as_they_were_sent() {
    let (pieces, _) = whole(TWO_CALLS);
    let started =
        |index, id: &str| ReplyPiece::CallStarted { index, id: id.into(), name: "execute".into() };
    let arguments = |index, text: &str| ReplyPiece::CallArguments { index, text: text.into() };
    let expected = [
        ReplyPiece::Text("Both.".into()),
        started(0, "a"),
        arguments(0, "{\"code\":"),
        started(1, "b"),
        arguments(1, "{\"code\":"),
        arguments(1, "\"2\"}"),
        arguments(0, "\"1\"}"),
    ];
    assert_eq!(pieces, expected);
}

#[test]
fn thoughts_are_kept_apart_under_every_name() {
    let reply = reply(REASONING);
    assert_eq!(reply.reasoning.raw(), "Hm. Yes. So.");
    assert_eq!(reply.text.raw(), "Four.");
    assert_eq!(reply.finish, Finish::Length);
}

#[test]
fn calls_are_put_together_from_their_parts() {
    let one = reply(CALL);
    assert_eq!(one.calls[0].id, "call_a");
    assert_eq!(one.calls[0].name, "execute");
    assert_eq!(one.calls[0].arguments.raw(), r#"{"language":"python","code":"print('é')"}"#);

    let two = reply(TWO_CALLS);
    let arguments = two.calls.iter().map(|call| call.arguments.raw()).collect::<Vec<_>>();
    assert_eq!(arguments, [r#"{"code":"1"}"#, r#"{"code":"2"}"#]);
    assert_eq!(two.text.raw(), "Both.");
}

#[test]
fn arguments_may_come_as_an_object_and_without_number_or_id() {
    let call = json!({ "function": { "name": "execute", "arguments": { "code": "1" } } });
    let delta =
        json!({ "choices": [{ "delta": { "tool_calls": [call] }, "finish_reason": "stop" }] });
    let reply = reply(&stream(&[delta]));
    assert_eq!(reply.calls[0].id, "call_0");
    assert_eq!(reply.calls[0].arguments.raw(), r#"{"code":"1"}"#);
}

#[test]
fn an_error_in_mid_stream_comes_after_the_text_before_it() {
    let (pieces, end) = whole(ERROR);
    assert_eq!(pieces, [ReplyPiece::Text("Half".into())]);
    let error = json!({ "error": {
        "message": "The server is overloaded", "type": "server_error", "code": 503,
    } });
    assert_eq!(end, Err(Fault::Complaint(Complaint::in_json(&error).unwrap())));
}

#[test]
fn done_may_be_missing_only_after_a_finish_reason() {
    assert_eq!(reply(NO_DONE).text.raw(), "All");
    let (pieces, end) = whole(CUT);
    assert_eq!(pieces, [ReplyPiece::Text("Half".into())]);
    assert_eq!(end, Err(Fault::Broken));
    assert_eq!(whole("").1, Err(Fault::Broken));
    assert_eq!(reply("data: [DONE]\n\n").finish, Finish::Stop);
}

#[test]
fn a_finish_reason_is_told_by_its_meaning() {
    for (reason, finish) in [
        ("stop", Finish::Stop),
        ("tool_calls", Finish::Stop),
        ("eos", Finish::Stop),
        ("length", Finish::Length),
        ("content_filter", Finish::Filtered),
    ] {
        let chunk = json!({ "choices": [{ "delta": {}, "finish_reason": reason }] });
        assert_eq!(reply(&stream(&[chunk])).finish, finish, "{reason}");
    }
    let chunk = json!({ "choices": [{ "delta": {}, "finish_reason": "error" }] });
    assert!(matches!(whole(&stream(&[chunk])).1, Err(Fault::Complaint(_))));
}

#[test]
fn another_choice_is_not_ours() {
    let choice = |index: u64, text: &str| json!({ "choices": [{ "index": index, "delta": { "content": text }, "finish_reason": "stop" }] });
    assert_eq!(reply(&stream(&[choice(0, "a"), choice(1, "b")])).text.raw(), "a");
}

#[test]
fn what_is_not_json_is_malformed() {
    let (_, end) = whole("data: <html>\n\ndata: [DONE]\n\n");
    assert_eq!(end, Err(Fault::Malformed("an event that is not JSON")));
}

/// JSON of the right names and the wrong kinds.
fn odd_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        "[a-z]{0,4}".prop_map(Value::from),
    ];
    let name = prop::sample::select(vec![
        "choices",
        "delta",
        "content",
        "tool_calls",
        "function",
        "arguments",
        "index",
        "id",
        "name",
        "finish_reason",
        "usage",
        "prompt_tokens",
        "error",
        "message",
        "thinking",
    ]);
    leaf.prop_recursive(6, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name.clone(), inner), 0..6).prop_map(|fields| {
                Value::Object(
                    fields.into_iter().map(|(name, value)| (name.into(), value)).collect(),
                )
            }),
        ]
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
        prop_assert_eq!(read(WireFormat::OpenAi, &cut(&stream, &sizes)), whole(&stream));
    }

    #[test]
    fn odd_chunks_are_survived(chunks in prop::collection::vec(odd_json(), 0..8)) {
        let too_large = matches!(whole(&stream(&chunks)).1, Err(Fault::TooLarge { .. }));
        prop_assert!(!too_large);
    }
}

#[test]
fn content_that_is_no_text_is_an_error() {
    let reply = |content: &str| {
        let stream = format!(
            "data: {{\"choices\":[{{\"delta\":{{\"content\":{content}}},\
             \"finish_reason\":\"stop\"}}]}}\n\ndata: [DONE]\n\n"
        );
        read(WireFormat::OpenAi, &[stream.as_bytes()]).1
    };
    for content in ["{\"text\":\"hi\"}", "3", "true", "null", "[{\"text\":{}}]"] {
        assert!(matches!(reply(content), Err(Fault::Malformed(_))), "{content}");
    }
    // The control: text, even none of it.
    assert_eq!(reply("\"hi\"").unwrap().text.raw(), "hi");
    assert_eq!(reply("\"\"").unwrap().text.raw(), "");
}
