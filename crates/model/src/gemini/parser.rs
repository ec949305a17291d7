//! Reads a reply in the `generateContent` format.
//!
//! Every field is looked for and none is demanded, but for the end: a finish reason, or the
//! reason why the prompt was blocked. There is no mark after it; the stream just ends.

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
    let Some(chunk) = said_by(event)? else { return Ok(()) };
    if let Some(usage) = usage(&chunk["usageMetadata"]) {
        reply.usage = Some(usage);
    }
    if chunk["promptFeedback"]["blockReason"].is_string() {
        reply.finish = Some(Finish::Filtered);
    }
    let candidates = chunk["candidates"].as_array().map(Vec::as_slice).unwrap_or_default();
    // One candidate is asked for; any other is not ours.
    for one in candidates.iter().filter(|one| one["index"].as_u64().unwrap_or(0) == 0) {
        candidate(reply, one)?;
    }
    Ok(())
}

fn candidate(reply: &mut Assembly, candidate: &Value) -> Result<(), Fault> {
    let parts = candidate["content"]["parts"].as_array().map(Vec::as_slice);
    for part in parts.unwrap_or_default() {
        let text = text_in(part, "text")?;
        if part["thought"].as_bool() == Some(true) {
            reply.reasoning(text)?;
        } else {
            reply.text(text)?;
        }
        let call = &part["functionCall"];
        if call.is_object() {
            // A call always comes whole.
            let whole = call["args"].as_object().map(|_| call["args"].to_string());
            let part = CallPart {
                index: None,
                id: call["id"].as_str().unwrap_or_default(),
                name: call["name"].as_str().unwrap_or_default(),
                arguments: whole.as_deref().unwrap_or("{}"),
            };
            reply.whole_call(part)?;
        }
    }
    match candidate["finishReason"].as_str() {
        None | Some("" | "FINISH_REASON_UNSPECIFIED") => {}
        Some("MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL") => {
            let message = "the model wrote a tool call that the provider could not read";
            return Err(Fault::Complaint(Complaint::of_message(message)));
        }
        Some(reason) => reply.finish = Some(finish(reason)),
    }
    Ok(())
}

fn finish(reason: &str) -> Finish {
    match reason {
        "MAX_TOKENS" => Finish::Length,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "LANGUAGE"
        | "IMAGE_SAFETY" => Finish::Filtered,
        // "STOP", and whatever else is a normal end.
        _ => Finish::Stop,
    }
}

fn usage(usage: &Value) -> Option<Usage> {
    let tokens = |field: &str| usage[field].as_u64();
    let input = tokens("promptTokenCount");
    let output = tokens("candidatesTokenCount");
    (input.is_some() || output.is_some()).then(|| Usage {
        input: input.unwrap_or(0),
        // Thoughts are counted apart, and paid for like the rest.
        output: output.unwrap_or(0).saturating_add(tokens("thoughtsTokenCount").unwrap_or(0)),
        cached: tokens("cachedContentTokenCount").unwrap_or(0),
        ..Usage::default()
    })
}

#[cfg(test)]
mod tests;
