//! Whole streams, in the shapes that the server was recorded to send, read in any pieces.

use crate::{
    ReplyPiece,
    complaint::Complaint,
    fault::Fault,
    format::testing::{cut, read},
};
use interpreter_core::{Finish, Reply, Usage, WireFormat};
use proptest::prelude::*;
use serde_json::json;

const TEXT: &str = r#"{"model":"qwen3","created_at":"2025-07-01T10:00:00Z","message":{"role":"assistant","content":"","thinking":"Hm."},"done":false}
{"model":"qwen3","message":{"role":"assistant","content":"Grüße, "},"done":false}

{"model":"qwen3","message":{"role":"assistant","content":""},"done":false}
{"model":"qwen3","message":{"role":"assistant","content":"漢字 😀"},"done":false}
{"model":"qwen3","message":{"role":"assistant","content":""},"done_reason":"stop","done":true,"total_duration":1,"prompt_eval_count":26,"eval_count":9}
"#;

const TWO_CALLS: &str = r#"{"message":{"role":"assistant","content":"Both.","tool_calls":[{"function":{"index":0,"name":"execute","arguments":{"code":"print('é')"}}},{"function":{"index":0,"name":"execute","arguments":{"code":"2"}}}]},"done":false}
{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"execute","arguments":"{\"code\":\"3\"}"}}]},"done":false}
{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}
"#;

const ERROR: &str = r#"{"message":{"role":"assistant","content":"Half"},"done":false}
{"error":"an error was encountered while running the model: CUDA error"}
"#;

const CUT: &str = r#"{"message":{"role":"assistant","content":"Half"},"done":false}
{"message":{"role":"ass"#;

const NO_NEWLINE: &str = r#"{"message":{"content":"All"},"done":true,"done_reason":"length"}"#;

const STREAMS: [&str; 5] = [TEXT, TWO_CALLS, ERROR, CUT, NO_NEWLINE];

fn whole(stream: &str) -> (Vec<ReplyPiece>, Result<Reply, Fault>) {
    read(WireFormat::Ollama, &[stream.as_bytes()])
}

fn reply(stream: &str) -> Reply {
    whole(stream).1.unwrap()
}

#[test]
fn text_and_thoughts_are_told_apart_with_the_usage() {
    let reply = reply(TEXT);
    assert_eq!(reply.text.raw(), "Grüße, 漢字 😀");
    assert_eq!(reply.reasoning.raw(), "Hm.");
    let usage = Usage { input: 26, output: 9, ..Usage::default() };
    assert_eq!((reply.finish, reply.usage), (Finish::Stop, Some(usage)));
}

#[test]
fn calls_of_one_number_are_several_all_the_same() {
    let reply = reply(TWO_CALLS);
    let calls = reply.calls.iter().map(|call| (call.id.as_str(), call.arguments.raw()));
    let expected = [
        ("call_0", r#"{"code":"print('é')"}"#),
        ("call_1", r#"{"code":"2"}"#),
        ("call_2", r#"{"code":"3"}"#),
    ];
    assert_eq!(calls.collect::<Vec<_>>(), expected);
    assert_eq!(reply.text.raw(), "Both.");
}

#[test]
fn an_error_in_mid_stream_comes_after_the_text_before_it() {
    let (pieces, end) = whole(ERROR);
    assert_eq!(pieces, [ReplyPiece::Text("Half".into())]);
    let error = json!({ "error": "an error was encountered while running the model: CUDA error" });
    assert_eq!(end, Err(Fault::Complaint(Complaint::in_json(&error).unwrap())));
}

#[test]
fn only_a_line_that_says_done_ends_a_reply() {
    let (pieces, end) = whole(CUT);
    assert_eq!(pieces, [ReplyPiece::Text("Half".into())]);
    assert_eq!(end, Err(Fault::Broken));
    let reply = reply(NO_NEWLINE);
    assert_eq!((reply.text.raw(), reply.finish), ("All", Finish::Length));
    assert_eq!(whole("<html>\n").1, Err(Fault::Malformed("an event that is not JSON")));
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
        prop_assert_eq!(read(WireFormat::Ollama, &cut(&stream, &sizes)), whole(&stream));
    }
}

#[test]
fn content_that_is_no_text_is_an_error() {
    let reply = |content: &str| {
        let stream = format!("{{\"message\":{{\"content\":{content}}},\"done\":true}}\n");
        read(WireFormat::Ollama, &[stream.as_bytes()]).1
    };
    for content in ["{\"text\":\"hi\"}", "3", "null", "[]"] {
        assert!(matches!(reply(content), Err(Fault::Malformed(_))), "{content}");
    }
    assert_eq!(reply("\"hi\"").unwrap().text.raw(), "hi");
}
