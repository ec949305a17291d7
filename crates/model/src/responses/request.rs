//! Writes a request in the responses format.
//!
//! Nothing is left with the provider (`store` is false): the whole conversation is sent each time,
//! as in every other format, so that the model can be changed in the middle of a session.

use crate::{
    Endpoint, Request, Tools,
    conversation::{Conversation, Turn},
    tool,
};
use interpreter_core::message::EXECUTE;
use serde_json::{Value, json};

/// The body of a request.
pub(crate) fn request(request: &Request, endpoint: &Endpoint) -> Value {
    let conversation = Conversation::of(request);
    let mut body = json!({ "model": endpoint.model, "stream": true, "store": false });
    if !conversation.system.is_empty() {
        body["instructions"] = json!(conversation.system);
    }
    if let Some(most) = request.max_tokens {
        body["max_output_tokens"] = json!(most);
    }
    if let Some(temperature) = request.temperature() {
        body["temperature"] = json!(temperature);
    }
    match request.tools {
        Tools::Offer => body["tools"] = tools(),
        Tools::None => {}
    }
    body["input"] = Value::Array(input(conversation.turns));
    body
}

fn input(turns: Vec<Turn>) -> Vec<Value> {
    let mut items = Vec::new();
    for turn in turns {
        match turn {
            Turn::User { answers, text, images } => {
                items.extend(answers.into_iter().map(|answer| {
                    json!({
                        "type": "function_call_output",
                        "call_id": answer.call,
                        "output": answer.text,
                    })
                }));
                let text =
                    (!text.is_empty()).then(|| json!({ "type": "input_text", "text": text }));
                let images = images
                    .iter()
                    .map(|image| json!({ "type": "input_image", "image_url": image.data_url() }));
                let content = text.into_iter().chain(images).collect::<Vec<_>>();
                if !content.is_empty() {
                    items.push(json!({ "type": "message", "role": "user", "content": content }));
                }
            }
            Turn::Assistant { text, calls } => {
                if !text.is_empty() {
                    let content = [json!({ "type": "output_text", "text": text })];
                    items.push(
                        json!({ "type": "message", "role": "assistant", "content": content }),
                    );
                }
                items.extend(calls.into_iter().map(|call| {
                    json!({
                        "type": "function_call",
                        "call_id": call.id,
                        "name": call.name,
                        "arguments": call.arguments.text,
                    })
                }));
            }
        }
    }
    items
}

fn tools() -> Value {
    json!([{
        "type": "function",
        "name": EXECUTE,
        "description": tool::DESCRIPTION,
        "parameters": tool::parameters(),
        "strict": true,
    }])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::examples;
    use interpreter_core::WireFormat;

    fn body(request: &Request) -> Value {
        super::request(request, &Endpoint::new(WireFormat::Responses, "https://host/v1", "gpt-x"))
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
}
