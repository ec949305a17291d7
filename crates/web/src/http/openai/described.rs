//! The two routes, as the description of the API has them. Pure.

use super::{
    content::message_schema,
    parameters::{parameters, schema},
};
use serde_json::{Map, Value, json};

/// One of the two routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::http) enum OpenAiCall {
    Chat,
    Responses,
}

impl OpenAiCall {
    /// A word for it.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
        }
    }
}

/// The description of a route.
pub(in crate::http) fn operation(call: OpenAiCall) -> Value {
    let (name, about, needed, answer) = match call {
        OpenAiCall::Chat => ("createChatCompletion", "a chat completion", "messages", "ChatAnswer"),
        OpenAiCall::Responses => ("createResponse", "a response", "input", "ResponseAnswer"),
    };
    let mut properties = Map::new();
    for (name, fate) in parameters(call) {
        let described = schema(name, fate).unwrap_or_else(|| match name {
            "messages" => json!({ "type": "array", "minItems": 1, "items": message_schema() }),
            _ => json!({ "anyOf": [
                { "type": "string", "minLength": 1 },
                { "type": "array", "minItems": 1, "items": { "anyOf": [
                    message_schema(),
                    { "type": "object", "required": ["type"], "properties": {
                        "type": { "enum": ["reasoning", "code_interpreter_call"] },
                    } },
                ] } },
            ] }),
        });
        properties.insert(name.into(), described);
    }
    let refers = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
    let mut responses = json!({ "200": {
        "description": "All of it; or events, with `stream`",
        "content": {
            "application/json": { "schema": refers(answer) },
            "text/event-stream": { "schema": { "type": "string" } },
        },
    } });
    for (status, about) in [
        ("400", "A parameter is wrong, or is not supported"),
        ("401", "There is no valid token"),
        ("403", "The token does not allow it"),
        ("404", "There is no such session"),
        ("408", "It took too long"),
        ("409", "The conversation is in another state, or there is no model"),
        ("413", "The body is too large"),
        ("415", "The body is not JSON"),
        ("422", "It cannot be done as it is"),
        ("429", "A limit is reached"),
        ("500", "It failed"),
        ("503", "The server is full or ending"),
    ] {
        let content = json!({ "application/json": { "schema": refers("OpenAiRefusal") } });
        responses[status] = json!({ "description": about, "content": content });
    }
    json!({
        "operationId": name,
        "summary": format!("Ask the model in the form of OpenAI: {about}"),
        "description": "Takes the rights `prompt` and `watch`. Code that needs a yes ends the \
            answer with a link to its question.",
        "requestBody": { "required": true, "content": { "application/json": { "schema": {
            "type": "object", "properties": properties, "required": [needed],
            "additionalProperties": false,
        } } } },
        "responses": responses,
    })
}

/// The forms that the two routes have beside those of the API.
pub(in crate::http) fn shapes() -> Vec<(&'static str, Value)> {
    let text = || json!({ "type": "string" });
    let number = || json!({ "type": "integer", "minimum": 0 });
    let objects = || json!({ "type": "array", "items": { "type": "object" } });
    let object = |properties: Value, required: &[&str]| json!({ "type": "object", "properties": properties, "required": required });
    let chat = json!({
        "id": text(), "object": { "const": "chat.completion" }, "created": number(),
        "model": text(), "choices": objects(), "usage": { "type": ["object", "null"] },
    });
    let response = json!({
        "id": text(), "object": { "const": "response" }, "created_at": number(), "model": text(),
        "status": { "enum": ["completed", "incomplete", "failed"] }, "output": objects(),
        "incomplete_details": { "type": ["object", "null"] },
    });
    let refusal = json!({
        "message": text(), "type": text(), "code": text(),
        "param": { "type": ["string", "null"] },
    });
    let refusal = object(refusal, &["message", "type", "code", "param"]);
    vec![
        ("ChatAnswer", object(chat, &["id", "object", "created", "model", "choices"])),
        ("ResponseAnswer", object(response, &["id", "object", "status", "output"])),
        ("OpenAiRefusal", object(json!({ "error": refusal }), &["error"])),
    ]
}
