//! Reads a reply in the chat-completions format.
//!
//! Servers differ in which fields they leave out, so every field is looked for and none is
//! demanded. What must be there is an end: a finish reason or `[DONE]`. Without one the reply is
//! broken, however whole it looks.

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
        if event.data.trim() == "[DONE]" {
            self.finish.get_or_insert(Finish::Stop);
            return Ok(Progress::Done);
        }
        let Some(chunk) = said_by(event)? else { return Ok(Progress::More) };
        if let Some(usage) = usage(&chunk["usage"]) {
            self.usage = Some(usage);
        }
        // One choice is asked for; any other is not ours.
        let choices = chunk["choices"].as_array().map(Vec::as_slice).unwrap_or_default();
        for choice in choices.iter().filter(|choice| choice["index"].as_u64().unwrap_or(0) == 0) {
            self.choice(choice, pieces)?;
        }
        Ok(Progress::More)
    }

    fn has_finish(&self) -> bool {
        self.finish.is_some()
    }

    fn finish(self: Box<Self>) -> Result<Reply, Fault> {
        let finish = self.finish.ok_or(Fault::Broken)?;
        self.assembly.check_content()?;
        Ok(self.assembly.into_reply(finish, self.usage))
    }
}

impl Parser {
    fn choice(&mut self, choice: &Value, pieces: &mut Vec<Piece>) -> Result<(), Fault> {
        let delta = &choice["delta"];
        let words = |field: &str| delta[field].as_str().unwrap_or_default();
        // Two names for one thing; a server that fills both means the same text.
        let reasoning = match words("reasoning_content") {
            "" => words("reasoning"),
            reasoning => reasoning,
        };
        self.assembly.reasoning(reasoning, pieces)?;
        self.content(delta, pieces)?;
        // A refusal is the model's prose, too.
        self.assembly.text(words("refusal"), pieces)?;
        for call in delta["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default() {
            self.call(call, pieces)?;
        }
        match choice["finish_reason"].as_str() {
            None | Some("") => {}
            Some("error") => {
                let message = "the provider ended the reply with an error";
                return Err(Fault::Complaint(Complaint::of_message(message)));
            }
            Some(reason) => self.finish = Some(finish(reason)),
        }
        Ok(())
    }

    /// Text, or a list of parts, as some servers send it to tell thoughts from prose.
    fn content(&mut self, delta: &Value, pieces: &mut Vec<Piece>) -> Result<(), Fault> {
        let Some(parts) = delta["content"].as_array() else {
            return self.assembly.content(delta, pieces);
        };
        for part in parts {
            self.assembly.text(text_in(part, "text")?, pieces)?;
            let thoughts = part["thinking"].as_array().map(Vec::as_slice).unwrap_or_default();
            for thought in thoughts {
                self.assembly.reasoning(thought["text"].as_str().unwrap_or_default(), pieces)?;
            }
        }
        Ok(())
    }

    fn call(&mut self, call: &Value, pieces: &mut Vec<Piece>) -> Result<(), Fault> {
        let function = &call["function"];
        // Some servers send the arguments as an object instead of its text.
        let object = match &function["arguments"] {
            object @ Value::Object(_) => object.to_string(),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => String::new(),
        };
        let part = CallPart {
            index: call["index"].as_u64(),
            id: call["id"].as_str().unwrap_or_default(),
            name: function["name"].as_str().unwrap_or_default(),
            arguments: function["arguments"].as_str().unwrap_or(&object),
        };
        self.assembly.call(part, pieces)
    }
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
