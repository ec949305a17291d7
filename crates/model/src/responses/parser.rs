//! Reads a reply in the responses format.
//!
//! Every field is looked for and none is demanded, but for the end: one of the events that say
//! how the response ended. Some servers send a part only when it is whole, so what ends a part is
//! taken if nothing of it came before.

use crate::{
    Piece,
    assembly::{Assembly, CallPart},
    complaint::Complaint,
    format::{Fault, Parse, Progress, json_of, text_in},
    sse::Event,
};
use interpreter_core::{Finish, Reply, Usage};
use serde_json::Value;

/// A reply that is being read.
#[derive(Debug, Default)]
pub(crate) struct Parser {
    assembly: Assembly,
    finish: Option<Finish>,
    usage: Option<Usage>,
    /// Whether something of the part that is under way has come.
    begun: Begun,
}

#[derive(Debug, Default)]
struct Begun {
    text: bool,
    thoughts: bool,
}

impl Parse for Parser {
    fn event(&mut self, event: &Event, pieces: &mut Vec<Piece>) -> Result<Progress, Fault> {
        let Some(data) = json_of(event)? else { return Ok(Progress::More) };
        let words = |field: &str| data[field].as_str().unwrap_or_default();
        match data["type"].as_str().unwrap_or(&event.name) {
            "response.output_text.delta" | "response.refusal.delta" => {
                let text = text_in(&data, "delta")?;
                self.begun.text |= !text.is_empty();
                self.assembly.text(text, pieces)?;
            }
            kind @ ("response.output_text.done" | "response.refusal.done") => {
                let field = if kind.ends_with("text.done") { "text" } else { "refusal" };
                if !std::mem::take(&mut self.begun.text) {
                    self.assembly.text(text_in(&data, field)?, pieces)?;
                }
            }
            "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
                self.begun.thoughts |= !words("delta").is_empty();
                self.assembly.reasoning(words("delta"), pieces)?;
            }
            "response.reasoning_text.done" | "response.reasoning_summary_text.done" => {
                if !std::mem::take(&mut self.begun.thoughts) {
                    self.assembly.reasoning(words("text"), pieces)?;
                }
            }
            "response.output_item.added" => self.call(&data, Whole::Begins, pieces)?,
            "response.function_call_arguments.delta" => {
                let index = data["output_index"].as_u64();
                self.assembly.continue_call(index, words("delta"), pieces)?;
            }
            "response.output_item.done" => self.call(&data, Whole::Ends, pieces)?,
            "response.completed" => return Ok(self.end(&data["response"], Finish::Stop)),
            "response.incomplete" => {
                let finish = match data["response"]["incomplete_details"]["reason"].as_str() {
                    Some("content_filter") => Finish::Filtered,
                    Some(_) | None => Finish::Length,
                };
                return Ok(self.end(&data["response"], finish));
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
        Ok(Progress::More)
    }

    fn has_finish(&self) -> bool {
        self.finish.is_some()
    }

    fn finish(self: Box<Self>) -> Result<Reply, Fault> {
        let finish = self.finish.ok_or(Fault::Broken)?;
        Ok(self.assembly.into_reply(finish, self.usage))
    }
}

/// Which end of an item an event tells of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whole {
    Begins,
    Ends,
}

impl Parser {
    fn call(&mut self, data: &Value, whole: Whole, pieces: &mut Vec<Piece>) -> Result<(), Fault> {
        let item = &data["item"];
        let words = |field: &str| item[field].as_str().unwrap_or_default();
        if words("type") != "function_call" {
            return Ok(());
        }
        let index = data["output_index"].as_u64();
        let id = if words("call_id").is_empty() { words("id") } else { words("call_id") };
        let begun = self.assembly.has_arguments(index, id);
        let arguments = match whole {
            Whole::Ends if begun => "",
            Whole::Begins | Whole::Ends => words("arguments"),
        };
        self.assembly.call(CallPart { index, id, name: words("name"), arguments }, pieces)
    }

    fn end(&mut self, response: &Value, finish: Finish) -> Progress {
        self.finish = Some(finish);
        self.usage = usage(&response["usage"]);
        Progress::Done
    }
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
