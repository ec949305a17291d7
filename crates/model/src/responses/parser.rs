//! Reads a reply in the responses format.
//!
//! Every field is looked for and none is demanded, but for the end: one of the events that say
//! how the response ended.

use crate::{
    assembly::{Assembly, CallPart},
    complaint::Complaint,
    fault::{Fault, json_of, text_in},
    sse::Event,
};
use interpreter_core::{Finish, Usage};
use serde_json::Value;

/// Adds the content of an event to a reply.
pub(crate) fn parse(event: &Event, reply: &mut Assembly) -> Result<(), Fault> {
    let Some(data) = json_of(event)? else { return Ok(()) };
    let words = |field: &str| data[field].as_str().unwrap_or_default();
    match data["type"].as_str().unwrap_or(&event.name) {
        "response.output_text.delta" | "response.refusal.delta" => {
            reply.text(text_in(&data, "delta")?)?;
        }
        kind @ ("response.output_text.done" | "response.refusal.done") => {
            let field = if kind.ends_with("text.done") { "text" } else { "refusal" };
            reply.end_text(text_in(&data, field)?)?;
        }
        "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
            reply.reasoning(words("delta"))?;
        }
        "response.reasoning_text.done" | "response.reasoning_summary_text.done" => {
            reply.end_reasoning(words("text"))?;
        }
        "response.output_item.added" => call(reply, &data, false)?,
        "response.function_call_arguments.delta" => {
            let index = data["output_index"].as_u64();
            reply.continue_call(index, words("delta"))?;
        }
        "response.output_item.done" => call(reply, &data, true)?,
        "response.completed" => end(reply, &data["response"], Finish::Stop),
        "response.incomplete" => {
            let finish = match data["response"]["incomplete_details"]["reason"].as_str() {
                Some("content_filter") => Finish::Filtered,
                Some(_) | None => Finish::Length,
            };
            end(reply, &data["response"], finish);
        }
        "response.failed" => {
            let complaint = Complaint::in_json(&data["response"]).unwrap_or_default();
            return Err(Fault::Complaint(complaint));
        }
        "error" => return Err(Fault::Complaint(complaint(&data))),
        _ => {
            if let Some(complaint) = Complaint::in_json(&data) {
                return Err(Fault::Complaint(complaint));
            }
        }
    }
    Ok(())
}

/// A tool call, at the beginning of its item or at the end.
fn call(reply: &mut Assembly, data: &Value, is_end: bool) -> Result<(), Fault> {
    let item = &data["item"];
    let words = |field: &str| item[field].as_str().unwrap_or_default();
    if words("type") != "function_call" {
        return Ok(());
    }
    let index = data["output_index"].as_u64();
    let id = if words("call_id").is_empty() { words("id") } else { words("call_id") };
    let has_come = is_end && reply.has_arguments(index, id);
    let arguments = if has_come { "" } else { words("arguments") };
    reply.call(CallPart { index, id, name: words("name"), arguments })
}

fn end(reply: &mut Assembly, response: &Value, finish: Finish) {
    reply.finish = Some(finish);
    reply.usage = usage(&response["usage"]);
    reply.end();
}

/// The complaint of an `error` event, whose fields may stand in the event itself.
fn complaint(data: &Value) -> Complaint {
    let inner = Complaint::in_json(data);
    inner.unwrap_or_else(|| {
        Complaint::in_json(&serde_json::json!({ "error": data })).unwrap_or_default()
    })
}

fn usage(usage: &Value) -> Option<Usage> {
    let tokens = |field: &str| usage[field].as_u64();
    let (input, output) = (tokens("input_tokens"), tokens("output_tokens"));
    (input.is_some() || output.is_some()).then(|| Usage {
        input: input.unwrap_or(0),
        output: output.unwrap_or(0),
        cached: usage["input_tokens_details"]["cached_tokens"].as_u64().unwrap_or(0),
        ..Usage::default()
    })
}

#[cfg(test)]
mod tests;
