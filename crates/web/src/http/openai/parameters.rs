//! Each parameter of the two routes: read, ignored or refused. Pure.
//!
//! Sampling and limits are the server's, so a client's are ignored, as front ends always send some.
//! Whatever would give the answer another shape is refused, and so is an unknown name, as `OpenAI`
//! does it. One table serves the check and the description.

use super::{described::OpenAiCall, refusal::OpenAiRefusal};
use serde_json::{Map, Value, json};

/// The fate of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is looked at elsewhere.
    Read,
    /// Any value, without effect.
    Ignored,
    /// Only these values, as JSON, beside `null`: they change nothing.
    Only(&'static [&'static str]),
}

use Fate::{Ignored, Only, Read};

const BOTH: &[(&str, Fate)] = &[
    ("metadata", Ignored),
    ("model", Read),
    ("moderation", Only(&[])),
    ("parallel_tool_calls", Ignored),
    ("prompt_cache_key", Ignored),
    ("prompt_cache_options", Ignored),
    ("prompt_cache_retention", Ignored),
    ("safety_identifier", Read),
    ("service_tier", Ignored),
    ("store", Ignored),
    ("stream", Read),
    ("stream_options", Read),
    ("temperature", Ignored),
    ("tool_choice", Only(&["\"none\"", "\"auto\""])),
    ("top_logprobs", Only(&["0"])),
    ("top_p", Ignored),
    ("user", Read),
];

const CHAT: &[(&str, Fate)] = &[
    ("audio", Only(&[])),
    ("frequency_penalty", Ignored),
    ("function_call", Only(&["\"none\"", "\"auto\""])),
    ("functions", Only(&["[]"])),
    ("logit_bias", Ignored),
    ("logprobs", Only(&["false"])),
    ("max_completion_tokens", Ignored),
    ("max_tokens", Ignored),
    ("messages", Read),
    ("modalities", Only(&["[\"text\"]"])),
    ("n", Only(&["1"])),
    ("prediction", Only(&[])),
    ("presence_penalty", Ignored),
    ("reasoning_effort", Ignored),
    ("response_format", Only(&["{\"type\":\"text\"}"])),
    ("seed", Ignored),
    ("stop", Only(&["[]"])),
    ("tools", Only(&["[]"])),
    ("verbosity", Ignored),
    ("web_search_options", Only(&[])),
];

const RESPONSES: &[(&str, Fate)] = &[
    ("background", Only(&["false"])),
    ("context_management", Only(&["[]"])),
    ("conversation", Only(&[])),
    ("include", Ignored),
    ("input", Read),
    ("instructions", Read),
    ("max_output_tokens", Ignored),
    ("max_tool_calls", Ignored),
    ("previous_response_id", Read),
    ("prompt", Only(&[])),
    ("reasoning", Ignored),
    ("text", Read),
    ("tools", Read),
    ("truncation", Ignored),
];

/// The parameters of a route.
pub(super) fn parameters(call: OpenAiCall) -> impl Iterator<Item = (&'static str, Fate)> {
    let own = match call {
        OpenAiCall::Chat => CHAT,
        OpenAiCall::Responses => RESPONSES,
    };
    BOTH.iter().chain(own).copied()
}

/// The values that change nothing.
pub(super) fn neutral(texts: &[&str]) -> Vec<Value> {
    let parsed = texts.iter().filter_map(|text| serde_json::from_str(text).ok());
    parsed.chain([Value::Null]).collect()
}

/// Refuses a parameter that would change the answer's shape, and one that there is not.
pub(super) fn check(call: OpenAiCall, fields: &Map<String, Value>) -> Result<(), OpenAiRefusal> {
    for (name, value) in fields {
        let short: String = name.chars().take(64).collect();
        let Some((_, fate)) = parameters(call).find(|(known, _)| known == name) else {
            let message = format!("Unrecognized request argument supplied: {short}");
            let refusal = OpenAiRefusal::parameter(short, message);
            return Err(refusal.with_code("unknown_parameter"));
        };
        match fate {
            Read | Ignored => {}
            Only(texts) if neutral(texts).iter().any(|known| is_same(known, value)) => {}
            Only(_) => {
                let message = format!("Unsupported parameter: '{short}' is not supported here");
                let refusal = OpenAiRefusal::parameter(short, message);
                return Err(refusal.with_code("unsupported_parameter"));
            }
        }
    }
    if call == OpenAiCall::Responses {
        check_tools(fields)?;
        check_text(fields)?;
    }
    Ok(())
}

/// Whether two values are the same; 1 and 1.0 are.
fn is_same(known: &Value, value: &Value) -> bool {
    let same_number = known.is_number() && known.as_f64() == value.as_f64();
    same_number || known == value
}

/// The one tool that there is: the code interpreter.
fn check_tools(fields: &Map<String, Value>) -> Result<(), OpenAiRefusal> {
    let is_ours = |tool: &Value| tool["type"] == "code_interpreter";
    match fields.get("tools") {
        None | Some(Value::Null) => Ok(()),
        Some(Value::Array(tools)) if tools.iter().all(is_ours) => Ok(()),
        Some(_) => {
            let message = "Unsupported parameter: 'tools' takes only the type 'code_interpreter'";
            Err(OpenAiRefusal::parameter("tools", message).with_code("unsupported_parameter"))
        }
    }
}

/// The one format that there is: text.
fn check_text(fields: &Map<String, Value>) -> Result<(), OpenAiRefusal> {
    let is_plain = |format: &Value| format["type"] == "text";
    match fields.get("text") {
        None | Some(Value::Null) => Ok(()),
        Some(Value::Object(text)) if text.get("format").is_none_or(is_plain) => Ok(()),
        Some(_) => {
            let message = "Unsupported parameter: 'text.format' takes only the type 'text'";
            Err(OpenAiRefusal::parameter("text", message).with_code("unsupported_parameter"))
        }
    }
}

/// The form of a parameter that is not read elsewhere, or whose form is the same on both routes.
pub(super) fn schema(name: &str, fate: Fate) -> Option<Value> {
    match (fate, name) {
        (Ignored, _) => Some(json!({ "description": "Taken, without effect" })),
        (Only(texts), _) => Some(json!({ "enum": neutral(texts) })),
        (
            Read,
            "model" | "user" | "safety_identifier" | "instructions" | "previous_response_id",
        ) => Some(json!({ "type": ["string", "null"] })),
        (Read, "stream") => Some(json!({ "type": ["boolean", "null"] })),
        (Read, "stream_options") => Some(json!({
            "type": ["object", "null"],
            "properties": { "include_usage": { "type": ["boolean", "null"] } },
        })),
        (Read, "tools") => Some(json!({
            "type": ["array", "null"],
            "items": {
                "type": "object", "required": ["type"],
                "properties": { "type": { "const": "code_interpreter" } },
            },
        })),
        (Read, "text") => Some(json!({
            "type": ["object", "null"],
            "properties": { "format": {
                "type": "object", "required": ["type"],
                "properties": { "type": { "const": "text" } },
            } },
        })),
        (Read, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn parameters_that_would_change_the_answer_are_refused_and_the_rest_is_taken() {
        let is_taken = |call, name: &str, value: Value| {
            let fields: Map<_, _> = [(name.to_owned(), value)].into_iter().collect();
            check(call, &fields).map_err(|refusal| refusal.code)
        };
        let chat = |name, value| is_taken(OpenAiCall::Chat, name, value);
        assert_eq!(chat("n", json!(1)), Ok(()));
        assert_eq!(chat("n", json!(1.0)), Ok(()));
        assert_eq!(chat("temperature", json!(0.7)), Ok(()));
        assert_eq!(chat("tools", json!([])), Ok(()));
        for (name, value) in [
            ("n", json!(2)),
            ("tools", json!([{}])),
            ("logprobs", json!(true)),
            ("audio", json!({})),
            ("modalities", json!(["text", "audio"])),
            ("response_format", json!({ "type": "json_object" })),
            ("stop", json!("x")),
        ] {
            assert_eq!(chat(name, value), Err("unsupported_parameter".into()), "{name}");
        }
        for name in ["approval", "auto_run", "profile", "folder", "yes", ""] {
            assert_eq!(chat(name, json!(true)), Err("unknown_parameter".into()), "{name}");
        }
        let responses = |name, value| is_taken(OpenAiCall::Responses, name, value);
        assert_eq!(responses("tools", json!([{ "type": "code_interpreter" }])), Ok(()));
        assert_eq!(responses("text", json!({ "format": { "type": "text" } })), Ok(()));
        for (name, value) in [
            ("tools", json!([{ "type": "web_search" }])),
            ("tools", json!("all")),
            ("text", json!({ "format": { "type": "json_schema" } })),
            ("background", json!(true)),
            ("conversation", json!("c")),
        ] {
            assert_eq!(responses(name, value), Err("unsupported_parameter".into()), "{name}");
        }
    }

    #[test]
    fn no_parameter_is_there_twice() {
        for call in [OpenAiCall::Chat, OpenAiCall::Responses] {
            let names: Vec<_> = parameters(call).map(|(name, _)| name).collect();
            assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        }
    }
}
