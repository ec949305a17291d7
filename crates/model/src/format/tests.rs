//! Properties of every format: where requests go, and that no stream does harm.

use super::{
    testing::{cut, read},
    *,
};
use proptest::prelude::*;

#[test]
fn requests_go_to_the_path_of_the_format() {
    for (format, base, url) in [
        (WireFormat::OpenAi, "https://a/v1", "https://a/v1/chat/completions"),
        (WireFormat::Responses, "https://a/v1", "https://a/v1/responses"),
        (
            WireFormat::Gemini,
            "https://a/v1beta",
            "https://a/v1beta/models/m%2F1:streamGenerateContent?alt=sse",
        ),
        (WireFormat::Ollama, "http://a:11434", "http://a:11434/api/chat"),
        (WireFormat::Anthropic, "https://a", "https://a/v1/messages"),
        (WireFormat::Anthropic, "https://a/v1/", "https://a/v1/messages"),
        (WireFormat::Anthropic, "https://a/anthropic", "https://a/anthropic/v1/messages"),
    ] {
        assert_eq!(super::url(format, Url::parse(base).unwrap(), "m/1").as_str(), url);
    }
}

#[test]
fn a_format_is_known_by_one_word() {
    for format in WireFormat::ALL {
        let json = serde_json::json!(format.word());
        assert_eq!(serde_json::from_value::<WireFormat>(json).unwrap(), format);
    }
}

#[test]
fn a_line_of_ten_megabytes_is_refused_and_what_came_before_it_stays() {
    for format in WireFormat::ALL {
        let (data, end) = match format {
            WireFormat::OpenAi => (r#"{"choices":[{"delta":{"content":"Half"}}]}"#, "\n\n"),
            WireFormat::Responses => {
                (r#"{"type":"response.output_text.delta","delta":"Half"}"#, "\n\n")
            }
            WireFormat::Anthropic => (
                r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"Half"}}"#,
                "\n\n",
            ),
            WireFormat::Gemini => {
                (r#"{"candidates":[{"content":{"parts":[{"text":"Half"}]}}]}"#, "\n\n")
            }
            WireFormat::Ollama => (r#"{"message":{"content":"Half"},"done":false}"#, "\n"),
        };
        let prefix = if format == WireFormat::Ollama { "" } else { "data: " };
        let stream = format!("{prefix}{data}{end}{prefix}{}", "x".repeat(10 << 20));
        let (pieces, reply) = read(format, &cut(&stream, &[65_536]));
        assert_eq!(pieces, [ReplyPiece::Text("Half".into())], "{format:?}");
        assert!(matches!(reply, Err(Fault::TooLarge { .. })), "{format:?} {reply:?}");
    }
}

/// Names and words that mean something in one of the formats.
const NAMES: &[&str] = &[
    "type",
    "index",
    "delta",
    "content",
    "choices",
    "tool_calls",
    "function",
    "arguments",
    "id",
    "name",
    "finish_reason",
    "usage",
    "error",
    "message",
    "text",
    "thinking",
    "parts",
    "candidates",
    "functionCall",
    "args",
    "thought",
    "finishReason",
    "usageMetadata",
    "promptTokenCount",
    "promptFeedback",
    "blockReason",
    "item",
    "output_index",
    "call_id",
    "response",
    "incomplete_details",
    "reason",
    "content_block",
    "input",
    "partial_json",
    "stop_reason",
    "input_tokens",
    "output_tokens",
    "done",
    "done_reason",
    "eval_count",
    "cost",
];
const WORDS: &[&str] = &[
    "message_start",
    "content_block_start",
    "content_block_delta",
    "text_delta",
    "tool_use",
    "input_json_delta",
    "thinking_delta",
    "message_delta",
    "function_call",
    "error",
    "response.output_text.delta",
    "response.output_text.done",
    "response.output_item.added",
    "response.function_call_arguments.delta",
    "response.output_item.done",
    "response.incomplete",
    "response.failed",
    "STOP",
    "MALFORMED_FUNCTION_CALL",
    "x",
];

/// JSON of the right names and the wrong kinds.
fn odd_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(WORDS).prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 40, 6, |inner| {
        let fields = prop::collection::vec((prop::sample::select(NAMES), inner.clone()), 0..6);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::from),
            fields.prop_map(|fields| {
                let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
                Value::Object(fields.collect())
            }),
        ]
    })
}

/// Bytes that are often nearly a stream.
fn any_stream() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        odd_json().prop_map(|json| format!("data: {json}\n\n").into_bytes()),
        odd_json().prop_map(|json| format!("{json}\n").into_bytes()),
        Just(b"data: [DONE]\n\n".to_vec()),
        Just(b": keep-alive\n\n".to_vec()),
        prop::collection::vec(any::<u8>(), 0..40),
    ];
    prop::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
}

/// How many bytes pieces hold.
fn size(pieces: &[ReplyPiece]) -> usize {
    pieces.iter().map(ReplyPiece::bytes).sum()
}

proptest! {
    #[test]
    fn any_bytes_give_the_same_in_any_pieces_and_never_more_than_came(
        which in 0..WireFormat::ALL.len(),
        stream in any_stream(),
        sizes in prop::collection::vec(1usize..40, 1..20),
    ) {
        let format = WireFormat::ALL[which];
        let whole = read(format, &[&stream]);
        // A byte that is no text becomes three; a number may be written longer than it came; a
        // call without an id gets one.
        prop_assert!(size(&whole.0) <= 4 * stream.len() + 16);
        prop_assert_eq!(read(format, &cut(&stream, &sizes)), whole);
    }
}
