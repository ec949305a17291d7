//! Reads a reply in the messages format.
//!
//! Every field is looked for and none is demanded, but for the end: a stop reason or
//! `message_stop`. Kinds of event and of block that are not known are passed over, as the format
//! asks of its readers.

use crate::{
    Piece,
    assembly::{Assembly, CallPart},
    complaint::Complaint,
    format::{Fault, Parse, Progress, said_by, text_in},
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
}

impl Parse for Parser {
    fn event(&mut self, event: &Event, pieces: &mut Vec<Piece>) -> Result<Progress, Fault> {
        let Some(data) = said_by(event)? else { return Ok(Progress::More) };
        match data["type"].as_str().unwrap_or(&event.name) {
            "message_start" => self.count(&data["message"]["usage"]),
            "content_block_start" => self.block(&data, pieces)?,
            "content_block_delta" => self.delta(&data, pieces)?,
            "message_delta" => {
                self.count(&data["usage"]);
                if let Some(reason) = data["delta"]["stop_reason"].as_str() {
                    self.finish = Some(finish(reason));
                }
            }
            "message_stop" => {
                self.finish.get_or_insert(Finish::Stop);
                return Ok(Progress::Done);
            }
            "error" => return Err(Fault::Complaint(Complaint::default())),
            _ => {}
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

impl Parser {
    fn block(&mut self, data: &Value, pieces: &mut Vec<Piece>) -> Result<(), Fault> {
        let block = &data["content_block"];
        let words = |field: &str| block[field].as_str().unwrap_or_default();
        match words("type") {
            "text" => self.assembly.text(text_in(block, "text")?, pieces),
            "thinking" => self.assembly.reasoning(words("thinking"), pieces),
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
                self.assembly.call(part, pieces)
            }
            _ => Ok(()),
        }
    }

    fn delta(&mut self, data: &Value, pieces: &mut Vec<Piece>) -> Result<(), Fault> {
        let delta = &data["delta"];
        let words = |field: &str| delta[field].as_str().unwrap_or_default();
        match words("type") {
            "text_delta" => self.assembly.text(text_in(delta, "text")?, pieces),
            "thinking_delta" => self.assembly.reasoning(words("thinking"), pieces),
            "input_json_delta" => {
                self.assembly.continue_call(data["index"].as_u64(), words("partial_json"), pieces)
            }
            _ => Ok(()),
        }
    }

    /// Takes up a count of tokens. Counts are totals, so a later one replaces an earlier.
    fn count(&mut self, usage: &Value) {
        let tokens = |field: &str| usage[field].as_u64();
        if let Some(input) = tokens("input_tokens") {
            // What came from the provider's cache was sent all the same.
            let cached = tokens("cache_read_input_tokens").unwrap_or(0);
            let written = tokens("cache_creation_input_tokens").unwrap_or(0);
            let usage = self.usage.get_or_insert_default();
            usage.input = input.saturating_add(cached).saturating_add(written);
            (usage.cached, usage.written) = (cached, written);
        }
        if let Some(output) = tokens("output_tokens") {
            self.usage.get_or_insert_default().output = output;
        }
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
