//! Reads a reply in the chat format of Ollama.
//!
//! Every line is a document; every field is looked for and none is demanded, but for the end: the
//! line that says `done`. Tool calls come whole, without an id.

use crate::{
    Piece,
    assembly::{Assembly, CallPart},
    format::{Fault, Parse, Progress, said_by},
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
        let Some(line) = said_by(event)? else { return Ok(Progress::More) };
        let message = &line["message"];
        let words = |field: &str| message[field].as_str().unwrap_or_default();
        self.assembly.reasoning(words("thinking"), pieces)?;
        self.assembly.content(message, pieces)?;
        for call in message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default() {
            self.call(call, pieces)?;
        }
        if line["done"].as_bool() != Some(true) {
            return Ok(Progress::More);
        }
        self.usage = usage(&line);
        self.finish = Some(match line["done_reason"].as_str() {
            Some("length") => Finish::Length,
            Some(_) | None => Finish::Stop,
        });
        Ok(Progress::Done)
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
    fn call(&mut self, call: &Value, pieces: &mut Vec<Piece>) -> Result<(), Fault> {
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
        self.assembly.whole_call(part, pieces)
    }
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
