//! Reads a reply in the chat format of Ollama.
//!
//! Every line is a document; every field is looked for and none is demanded, but for the end: the
//! line that says `done`. Tool calls come whole, without an id.

use crate::{
    assembly::{Assembly, CallPart},
    fault::{Fault, said_by},
    sse::Event,
};
use interpreter_core::{Finish, Usage};
use serde_json::Value;

/// Adds the content of an event to a reply.
pub(crate) fn parse(event: &Event, reply: &mut Assembly) -> Result<(), Fault> {
    let Some(line) = said_by(event)? else { return Ok(()) };
    let message = &line["message"];
    let words = |field: &str| message[field].as_str().unwrap_or_default();
    reply.reasoning(words("thinking"))?;
    reply.content(message)?;
    for one in message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default() {
        call(reply, one)?;
    }
    if line["done"].as_bool() != Some(true) {
        return Ok(());
    }
    reply.usage = usage(&line);
    reply.finish = Some(match line["done_reason"].as_str() {
        Some("length") => Finish::Length,
        Some(_) | None => Finish::Stop,
    });
    reply.end();
    Ok(())
}

fn call(reply: &mut Assembly, call: &Value) -> Result<(), Fault> {
    let function = &call["function"];
    let arguments = match &function["arguments"] {
        Value::String(text) => text.clone(),
        object @ Value::Object(_) => object.to_string(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => "{}".to_owned(),
    };
    let part = CallPart {
        index: None,
        id: call["id"].as_str().unwrap_or_default(),
        name: function["name"].as_str().unwrap_or_default(),
        arguments: &arguments,
    };
    reply.whole_call(part)
}

fn usage(line: &Value) -> Option<Usage> {
    let tokens = |field: &str| line[field].as_u64();
    let (input, output) = (tokens("prompt_eval_count"), tokens("eval_count"));
    (input.is_some() || output.is_some()).then(|| Usage {
        input: input.unwrap_or(0),
        output: output.unwrap_or(0),
        ..Usage::default()
    })
}

#[cfg(test)]
mod tests;
