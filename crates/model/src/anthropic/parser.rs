//! Reads a reply in the messages format.
//!
//! Every field is looked for and none is demanded, but for the end: a stop reason or
//! `message_stop`. Kinds of event and of block that are not known are passed over, as the format
//! asks of its readers.

use crate::{
    assembly::{Assembly, CallPart},
    complaint::Complaint,
    fault::{Fault, said_by, text_in},
    sse::Event,
};
use interpreter_core::Finish;
use serde_json::Value;

/// Adds the content of an event to a reply.
pub(crate) fn parse(event: &Event, reply: &mut Assembly) -> Result<(), Fault> {
    let Some(data) = said_by(event)? else { return Ok(()) };
    match data["type"].as_str().unwrap_or(&event.name) {
        "message_start" => count(reply, &data["message"]["usage"]),
        "content_block_start" => block(reply, &data)?,
        "content_block_delta" => delta(reply, &data)?,
        "message_delta" => {
            count(reply, &data["usage"]);
            if let Some(reason) = data["delta"]["stop_reason"].as_str() {
                reply.finish = Some(finish(reason));
            }
        }
        "message_stop" => reply.end(),
        "error" => return Err(Fault::Complaint(Complaint::default())),
        _ => {}
    }
    Ok(())
}

fn block(reply: &mut Assembly, data: &Value) -> Result<(), Fault> {
    let block = &data["content_block"];
    let words = |field: &str| block[field].as_str().unwrap_or_default();
    match words("type") {
        "text" => reply.text(text_in(block, "text")?),
        "thinking" => reply.reasoning(words("thinking")),
        "tool_use" => {
            // Empty here as a rule, since the text of it follows; but some servers send all
            // of it at once.
            let input = block["input"].as_object().filter(|input| !input.is_empty());
            let input = input.map(|_| block["input"].to_string()).unwrap_or_default();
            let part = CallPart {
                index: data["index"].as_u64(),
                id: words("id"),
                name: words("name"),
                arguments: &input,
            };
            reply.call(part)
        }
        _ => Ok(()),
    }
}

fn delta(reply: &mut Assembly, data: &Value) -> Result<(), Fault> {
    let delta = &data["delta"];
    let words = |field: &str| delta[field].as_str().unwrap_or_default();
    match words("type") {
        "text_delta" => reply.text(text_in(delta, "text")?),
        "thinking_delta" => reply.reasoning(words("thinking")),
        "input_json_delta" => reply.continue_call(data["index"].as_u64(), words("partial_json")),
        _ => Ok(()),
    }
}

/// Takes up a count of tokens. Counts are totals, so a later one replaces an earlier.
fn count(reply: &mut Assembly, usage: &Value) {
    let tokens = |field: &str| usage[field].as_u64();
    if let Some(input) = tokens("input_tokens") {
        // Tokens from the provider's cache were sent all the same.
        let cached = tokens("cache_read_input_tokens").unwrap_or(0);
        let written = tokens("cache_creation_input_tokens").unwrap_or(0);
        let usage = reply.usage.get_or_insert_default();
        usage.input = input.saturating_add(cached).saturating_add(written);
        (usage.cached, usage.written) = (cached, written);
    }
    if let Some(output) = tokens("output_tokens") {
        reply.usage.get_or_insert_default().output = output;
    }
}

fn finish(reason: &str) -> Finish {
    match reason {
        "max_tokens" | "model_context_window_exceeded" => Finish::Length,
        "refusal" => Finish::Filtered,
        // "end_turn", "tool_use", "stop_sequence", and whatever else is a normal end.
        _ => Finish::Stop,
    }
}

#[cfg(test)]
mod tests;
