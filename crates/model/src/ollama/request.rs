//! Writes a request in the chat format of Ollama.

use crate::{
    Endpoint, Request, Tools,
    conversation::{Callees, Conversation, Turn},
    tool,
};
use interpreter_core::Image;
use serde_json::{Map, Value, json};

/// The body of a request.
pub(crate) fn request(request: &Request, endpoint: &Endpoint) -> Value {
    let mut body = json!({
        "model": endpoint.model,
        "messages": messages(Conversation::of(request)),
        "stream": true,
    });
    let mut options = Map::new();
    // Without it the server cuts the beginning of a long conversation off, and does not say so.
    if let Some(context) = endpoint.context {
        options.insert("num_ctx".into(), json!(context));
    }
    if let Some(most) = request.max_tokens {
        options.insert("num_predict".into(), json!(most));
    }
    if let Some(temperature) = request.temperature() {
        options.insert("temperature".into(), json!(temperature));
    }
    if !options.is_empty() {
        body["options"] = Value::Object(options);
    }
    match request.tools {
        Tools::Offer => body["tools"] = tool::functions(),
        Tools::None => {}
    }
    body
}

fn messages(conversation: Conversation) -> Vec<Value> {
    let mut callees = Callees::default();
    let mut messages = Vec::new();
    if !conversation.system.is_empty() {
        messages.push(json!({ "role": "system", "content": conversation.system }));
    }
    for turn in conversation.turns {
        match turn {
            Turn::User { answers, text, images } => {
                messages.extend(callees.named(answers).into_iter().map(|(name, answer)| {
                    json!({ "role": "tool", "tool_name": name, "content": answer.text })
                }));
                if !images.is_empty() {
                    let images = images.iter().map(Image::data).collect::<Vec<_>>();
                    messages.push(json!({ "role": "user", "content": text, "images": images }));
                } else if !text.is_empty() {
                    messages.push(json!({ "role": "user", "content": text }));
                }
            }
            Turn::Assistant { text, calls } => {
                let mut message = json!({ "role": "assistant", "content": text });
                let calls = calls.into_iter().map(|call| {
                    callees.add(&call);
                    json!({ "function": { "name": call.name, "arguments": call.arguments.object } })
                });
                let calls = calls.collect::<Vec<_>>();
                if !calls.is_empty() {
                    message["tool_calls"] = Value::Array(calls);
                }
                messages.push(message);
            }
        }
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::examples;
    use interpreter_core::WireFormat;

    fn body(request: &Request) -> Value {
        let mut endpoint = Endpoint::new(WireFormat::Ollama, "http://localhost:11434", "qwen");
        endpoint.context = Some(8192);
        super::request(request, &endpoint)
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
