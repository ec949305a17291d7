//! Reads a reply in the chat-completions format.
//!
//! Servers differ in the fields that they leave out, so every field is optional. Only an end is
//! required: a finish reason or `[DONE]`. Without one the reply is broken, however complete it
//! looks.

use crate::{
    assembly::{Assembly, CallPart},
    complaint::Complaint,
    fault::{Fault, said_by, text_in},
    sse::Event,
};
use interpreter_core::{Finish, Usage};
use serde_json::Value;

/// Adds the content of an event to a reply.
pub(crate) fn parse(event: &Event, reply: &mut Assembly) -> Result<(), Fault> {
    if event.data.trim() == "[DONE]" {
        reply.end();
        return Ok(());
    }
    let Some(chunk) = said_by(event)? else { return Ok(()) };
    if let Some(usage) = usage(&chunk["usage"]) {
        reply.usage = Some(usage);
    }
    // One choice is asked for; any other is not ours.
    let choices = chunk["choices"].as_array().map(Vec::as_slice).unwrap_or_default();
    for one in choices.iter().filter(|one| one["index"].as_u64().unwrap_or(0) == 0) {
        choice(reply, one)?;
    }
    Ok(())
}

fn choice(reply: &mut Assembly, choice: &Value) -> Result<(), Fault> {
    let delta = &choice["delta"];
    let words = |field: &str| delta[field].as_str().unwrap_or_default();
    // Two names for one thing; a server that fills both means the same text.
    let reasoning = match words("reasoning_content") {
        "" => words("reasoning"),
        reasoning => reasoning,
    };
    reply.reasoning(reasoning)?;
    content(reply, delta)?;
    // A refusal is the model's prose, too.
    reply.text(words("refusal"))?;
    for one in delta["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default() {
        call(reply, one)?;
    }
    match choice["finish_reason"].as_str() {
        None | Some("") => {}
        Some("error") => {
            let message = "the provider ended the reply with an error";
            return Err(Fault::Complaint(Complaint::of_message(message)));
        }
        Some(reason) => reply.finish = Some(finish(reason)),
    }
    Ok(())
}

/// Text, or a list of parts, as some servers send it to tell thoughts from prose.
fn content(reply: &mut Assembly, delta: &Value) -> Result<(), Fault> {
    let Some(parts) = delta["content"].as_array() else {
        return reply.content(delta);
    };
    for part in parts {
        reply.text(text_in(part, "text")?)?;
        let thoughts = part["thinking"].as_array().map(Vec::as_slice).unwrap_or_default();
        for thought in thoughts {
            reply.reasoning(thought["text"].as_str().unwrap_or_default())?;
        }
    }
    Ok(())
}

fn call(reply: &mut Assembly, call: &Value) -> Result<(), Fault> {
    let function = &call["function"];
    // Some servers send the arguments as an object instead of its text.
    let object = match &function["arguments"] {
        object @ Value::Object(_) => object.to_string(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            String::new()
        }
    };
    let part = CallPart {
        index: call["index"].as_u64(),
        id: call["id"].as_str().unwrap_or_default(),
        name: function["name"].as_str().unwrap_or_default(),
        arguments: function["arguments"].as_str().unwrap_or(&object),
    };
    reply.call(part)
}

fn finish(reason: &str) -> Finish {
    match reason {
        "length" | "max_tokens" | "model_length" => Finish::Length,
        "content_filter" => Finish::Filtered,
        // "stop", "tool_calls", "function_call", and whatever else a server calls a normal end.
        _ => Finish::Stop,
    }
}

fn usage(usage: &Value) -> Option<Usage> {
    let tokens = |field: &str| usage[field].as_u64();
    let (input, output) = (tokens("prompt_tokens"), tokens("completion_tokens"));
    if input.is_none() && output.is_none() {
        return None;
    }
    // Two places for one figure.
    let cached = usage["prompt_tokens_details"]["cached_tokens"].as_u64();
    let cached = cached.or_else(|| tokens("prompt_cache_hit_tokens")).unwrap_or(0);
    Some(Usage {
        input: input.unwrap_or(0),
        output: output.unwrap_or(0),
        cached,
        written: 0,
        nano_dollars: usage["cost"].as_f64().and_then(nano),
        context: None,
    })
}

/// Dollars as routers give them, in billionths.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be a cost that a reply can have"
)]
fn nano(dollars: f64) -> Option<u64> {
    (0.0..1e6).contains(&dollars).then(|| (dollars * 1e9).round() as u64)
}

#[cfg(test)]
mod tests;
