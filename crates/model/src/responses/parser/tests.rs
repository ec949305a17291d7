//! Whole streams, in the shapes that servers were recorded to send, read in any pieces.

use crate::{
    ReplyPiece,
    complaint::Complaint,
    fault::Fault,
    format::testing::{cut, read},
};
use interpreter_core::{Finish, Reply, Usage, WireFormat};
use proptest::prelude::*;
use serde_json::json;

const TEXT: &str = r#"event: response.created
data: {"type":"response.created","response":{"id":"resp_1","status":"in_progress","error":null,"usage":null}}

event: response.output_item.added
data: {"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}

event: response.reasoning_summary_text.delta
data: {"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"Hm."}

event: response.reasoning_summary_text.done
data: {"type":"response.reasoning_summary_text.done","output_index":0,"text":"Hm."}

: keep-alive

event: response.content_part.added
data: {"type":"response.content_part.added","output_index":1,"content_index":0,"part":{"type":"output_text","text":""}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","output_index":1,"content_index":0,"delta":"Grüße, "}

event: response.output_text.delta
data: {"type":"response.output_text.delta","output_index":1,"content_index":0,"delta":""}

event: response.output_text.delta
data: {"type":"response.output_text.delta","output_index":1,"content_index":0,"delta":"漢字 😀"}

event: response.output_text.done
data: {"type":"response.output_text.done","output_index":1,"content_index":0,"text":"Grüße, 漢字 😀"}

event: response.completed
data: {"type":"response.completed","response":{"id":"resp_1","status":"completed","error":null,"usage":{"input_tokens":36,"input_tokens_details":{"cached_tokens":30},"output_tokens":87,"total_tokens":123}}}

"#;

const TWO_CALLS: &str = r#"event: response.output_item.added
data: {"type":"response.output_item.added","output_index":0,"item":{"id":"fc_1","type":"function_call","status":"in_progress","call_id":"call_a","name":"execute","arguments":""}}

event: response.output_item.added
data: {"type":"response.output_item.added","output_index":1,"item":{"id":"fc_2","type":"function_call","call_id":"call_b","name":"execute","arguments":""}}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":0,"delta":"{\"code\":"}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":0,"delta":"\"print('é')\"}"}

event: response.function_call_arguments.done
data: {"type":"response.function_call_arguments.done","item_id":"fc_1","output_index":0,"arguments":"{\"code\":\"print('é')\"}"}

event: response.output_item.done
data: {"type":"response.output_item.done","output_index":0,"item":{"id":"fc_1","type":"function_call","call_id":"call_a","name":"execute","arguments":"{\"code\":\"print('é')\"}"}}

event: response.output_item.done
data: {"type":"response.output_item.done","output_index":1,"item":{"id":"fc_2","type":"function_call","call_id":"call_b","name":"execute","arguments":"{\"code\":\"2\"}"}}

event: response.completed
data: {"type":"response.completed","response":{"status":"completed"}}

"#;

const WHOLE_ONLY: &str = r#"data: {"type":"response.output_text.done","text":"One. "}

data: {"type":"response.output_text.done","text":"Two."}

data: {"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}

"#;

const FAILED: &str = r#"data: {"type":"response.output_text.delta","delta":"Half"}

data: {"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"The model failed"}}}

"#;

const ERROR: &str = r#"data: {"type":"response.output_text.delta","delta":"Half"}

event: error
data: {"type":"error","code":"rate_limit_exceeded","message":"Slow down","param":null}

"#;

const CUT: &str = r#"data: {"type":"response.output_text.delta","delta":"Half"}

data: {"type":"response.output_text.del"#;

const STREAMS: [&str; 6] = [TEXT, TWO_CALLS, WHOLE_ONLY, FAILED, ERROR, CUT];

fn whole(stream: &str) -> (Vec<ReplyPiece>, Result<Reply, Fault>) {
    read(WireFormat::Responses, &[stream.as_bytes()])
}

fn reply(stream: &str) -> Reply {
    whole(stream).1.unwrap()
}

#[test]
fn text_and_thoughts_come_once_each_with_the_usage() {
    let reply = reply(TEXT);
    assert_eq!(reply.text.raw(), "Grüße, 漢字 😀");
    assert_eq!(reply.reasoning.raw(), "Hm.");
    assert_eq!(reply.finish, Finish::Stop);
    let usage = Usage { input: 36, output: 87, cached: 30, ..Usage::default() };
    assert_eq!(reply.usage, Some(usage));
}

#[test]
fn calls_come_once_whether_in_parts_or_whole() {
    let reply = reply(TWO_CALLS);
    let calls = reply.calls.iter().map(|call| (call.id.as_str(), call.arguments.raw()));
    let expected = [("call_a", r#"{"code":"print('é')"}"#), ("call_b", r#"{"code":"2"}"#)];
    assert_eq!(calls.collect::<Vec<_>>(), expected);
}

#[test]
fn what_comes_only_whole_is_taken() {
    let reply = reply(WHOLE_ONLY);
    assert_eq!((reply.text.raw(), reply.finish), ("One. Two.", Finish::Length));
}

#[test]
fn an_error_comes_after_the_text_before_it() {
    for (stream, error) in [
        (FAILED, json!({ "error": { "code": "server_error", "message": "The model failed" } })),
        (
            ERROR,
            json!({ "error": {
            "type": "error", "code": "rate_limit_exceeded", "message": "Slow down",
        } }),
        ),
    ] {
        let (pieces, end) = whole(stream);
        assert_eq!(pieces, [ReplyPiece::Text("Half".into())]);
        assert_eq!(end, Err(Fault::Complaint(Complaint::in_json(&error).unwrap())));
    }
}

#[test]
fn without_an_end_it_is_broken() {
    let (pieces, end) = whole(CUT);
    assert_eq!(pieces, [ReplyPiece::Text("Half".into())]);
    assert_eq!(end, Err(Fault::Broken));
    assert_eq!(whole("data: <html>\n\n").1, Err(Fault::Malformed("an event that is not JSON")));
}

#[test]
fn a_refusal_is_prose_and_a_filter_is_told() {
    let stream = "data: {\"type\":\"response.refusal.delta\",\"delta\":\"No.\"}\n\n\
        data: {\"type\":\"response.refusal.done\",\"refusal\":\"No.\"}\n\n\
        data: {\"type\":\"response.incomplete\",\"response\":{\"incomplete_details\":{\"reason\":\"content_filter\"}}}\n\n";
    let reply = reply(stream);
    assert_eq!((reply.text.raw(), reply.finish), ("No.", Finish::Filtered));
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
        prop_assert_eq!(read(WireFormat::Responses, &cut(&stream, &sizes)), whole(&stream));
    }
}
