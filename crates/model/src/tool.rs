//! The one tool that models are offered, in words that no wire format changes.

use interpreter_core::message::EXECUTE;
use serde_json::{Value, json};

/// The description of the tool.
pub(crate) const DESCRIPTION: &str = "Runs code on the person's computer, in a session that \
    keeps its state from one call to the next, and returns what the code printed.";

/// Its parameters, as JSON Schema.
pub(crate) fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "language": {
                "type": "string",
                "description": "The language of the code, such as python, shell or javascript.",
            },
            "code": { "type": "string", "description": "The code, complete and ready to run." },
        },
        "required": ["language", "code"],
        "additionalProperties": false,
    })
}

/// The tool as a function, in the shape of chat completions, which Ollama has too.
pub(crate) fn functions() -> Value {
    json!([{
        "type": "function",
        "function": { "name": EXECUTE, "description": DESCRIPTION, "parameters": parameters() },
    }])
}
