//! Writes a request in the `generateContent` format.

use crate::{
    Endpoint, Request, Tools,
    conversation::{Callees, Conversation, Turn},
    tool,
};
use interpreter_core::message::EXECUTE;
use serde_json::{Map, Value, json};

/// The replacement for the signature of a call, which newer models require and which is lost when a
/// conversation comes from another model: the provider's own word for "do not check".
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// The body of a request.
pub(crate) fn request(request: &Request, endpoint: &Endpoint) -> Value {
    let conversation = Conversation::of(request);
    let mut body = json!({});
    if !conversation.system.is_empty() {
        body["systemInstruction"] = json!({ "parts": [{ "text": conversation.system }] });
    }
    let mut generation = Map::new();
    if let Some(most) = request.max_tokens {
        generation.insert("maxOutputTokens".into(), json!(most));
    }
    if let Some(temperature) = request.temperature() {
        generation.insert("temperature".into(), json!(temperature));
    }
    if !generation.is_empty() {
        body["generationConfig"] = Value::Object(generation);
    }
    match request.tools {
        Tools::Offer => body["tools"] = tools(),
        Tools::None => {}
    }
    body["contents"] = Value::Array(contents(conversation.turns, wants_signatures(endpoint)));
    body
}

/// Whether the model refuses calls without a signature: those from the third generation on.
fn wants_signatures(endpoint: &Endpoint) -> bool {
    let generation = endpoint.model.rsplit('/').next().unwrap_or_default();
    let number = generation.strip_prefix("gemini-").and_then(|rest| rest.split(['.', '-']).next());
    number.and_then(|number| number.parse::<u32>().ok()).is_some_and(|number| number >= 3)
}

fn contents(turns: Vec<Turn>, signatures: bool) -> Vec<Value> {
    let mut callees = Callees::default();
    let mut contents = Vec::new();
    for turn in turns {
        match turn {
            Turn::User { answers, text, images } => {
                let answers = callees.named(answers).into_iter().map(|(name, answer)| {
                    json!({ "functionResponse": {
                        "name": name,
                        "response": { "output": answer.text },
                    } })
                });
                let images = images.into_iter().map(
                    |image| json!({ "inlineData": { "mimeType": image.mime, "data": image.data() } }),
                );
                let parts = answers.chain(images).chain(text_part(&text)).collect::<Vec<_>>();
                contents.push(json!({ "role": "user", "parts": parts }));
            }
            Turn::Assistant { text, calls } => {
                let mut parts = text_part(&text).into_iter().collect::<Vec<_>>();
                for call in calls {
                    callees.add(&call);
                    let mut part = json!({ "functionCall": {
                        "name": call.name,
                        "args": call.arguments.object,
                    } });
                    if signatures {
                        part["thoughtSignature"] = json!(NO_SIGNATURE);
                    }
                    parts.push(part);
                }
                contents.push(json!({ "role": "model", "parts": parts }));
            }
        }
    }
    contents
}

fn text_part(text: &str) -> Option<Value> {
    (!text.is_empty()).then(|| json!({ "text": text }))
}

fn tools() -> Value {
    let mut parameters = tool::parameters();
    // The format's own kind of schema does not know it and refuses it.
    if let Some(schema) = parameters.as_object_mut() {
        schema.remove("additionalProperties");
    }
    json!([{ "functionDeclarations": [{
        "name": EXECUTE,
        "description": tool::DESCRIPTION,
        "parameters": parameters,
    }] }])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::examples;
    use interpreter_core::WireFormat;

    fn body(request: &Request) -> Value {
        super::request(
            request,
            &Endpoint::new(WireFormat::Gemini, "https://host/v1", "gemini-2.5-x"),
        )
    }

    #[test]
    fn a_request_with_tools() {
        insta::with_settings!({ sort_maps => true }, {
            insta::assert_json_snapshot!(body(&examples::with_tools()));
        });
    }

    #[test]
    fn a_request_without_tools() {
        insta::with_settings!({ sort_maps => true }, {
            insta::assert_json_snapshot!(body(&examples::without_tools()));
        });
    }

    #[test]
    fn only_models_that_want_a_signature_get_one() {
        for (model, wanted) in [
            ("gemini-3-pro-preview", true),
            ("gemini-3.1-flash", true),
            ("gemini-2.5-pro", false),
            ("gemini-flash-latest", false),
            ("gemma-3-27b-it", false),
        ] {
            let endpoint = Endpoint::new(WireFormat::Gemini, "https://host", model);
            let body = super::request(&examples::with_tools(), &endpoint).to_string();
            assert_eq!(body.contains(NO_SIGNATURE), wanted, "{model}");
        }
    }
}
