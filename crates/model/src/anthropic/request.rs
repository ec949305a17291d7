//! Writes a request in the messages format.

use crate::{
    Endpoint, Request, Tools,
    conversation::{Conversation, Turn},
    endpoint::Caching,
    tool,
};
use interpreter_core::message::EXECUTE;
use serde_json::{Value, json};

/// The limit where none was asked for: the format demands one, and every model allows this.
const MAX_TOKENS: u32 = 4096;

/// The person's message if the history begins with the model's, which the format does not allow.
const EARLIER: &str = "(Earlier messages are left out.)";

/// The body of a request.
pub(crate) fn request(request: &Request, endpoint: &Endpoint) -> Value {
    let conversation = Conversation::of(request);
    let mut body = json!({
        "model": endpoint.model,
        "max_tokens": request.max_tokens.unwrap_or(MAX_TOKENS),
        "stream": true,
    });
    if !conversation.system.is_empty() {
        body["system"] = json!([text_block(&conversation.system)]);
    }
    if let Some(temperature) = request.temperature() {
        body["temperature"] = json!(temperature);
    }
    match request.tools {
        Tools::Offer => body["tools"] = tools(),
        Tools::None => {}
    }
    body["messages"] = Value::Array(messages(conversation.turns));
    match endpoint.caching {
        Caching::Marked => mark(&mut body),
        Caching::Own => {}
    }
    body
}

/// Marks what the provider is to keep: the tools and our own words, which are the same in every
/// request, and the conversation so far, which the next request repeats.
fn mark(body: &mut Value) {
    let kept = json!({ "type": "ephemeral" });
    if let Some(block) = body["system"].as_array_mut().and_then(|blocks| blocks.last_mut()) {
        block["cache_control"] = kept.clone();
    }
    let newest = body["messages"].as_array_mut().and_then(|messages| messages.last_mut());
    let content = newest.and_then(|message| message["content"].as_array_mut());
    if let Some(block) = content.and_then(|blocks| blocks.last_mut()) {
        block["cache_control"] = kept;
    }
}

fn messages(turns: Vec<Turn>) -> Vec<Value> {
    let mut messages = Vec::new();
    if matches!(turns.first(), Some(Turn::Assistant { .. })) {
        messages.push(json!({ "role": "user", "content": [text_block(EARLIER)] }));
    }
    for turn in turns {
        match turn {
            Turn::User { answers, text, images } => {
                let answers = answers.into_iter().map(|answer| {
                    json!({
                        "type": "tool_result",
                        "tool_use_id": answer.call,
                        "content": answer.text,
                    })
                });
                // Answers come first: the format refuses them after text.
                let images = images.into_iter().map(|image| {
                    let source =
                        json!({ "type": "base64", "media_type": image.mime, "data": image.data() });
                    json!({ "type": "image", "source": source })
                });
                let content = answers.chain(images).chain(blocks(&text)).collect::<Vec<_>>();
                messages.push(json!({ "role": "user", "content": content }));
            }
            Turn::Assistant { text, calls } => {
                let calls = calls.into_iter().map(|call| {
                    json!({
                        "type": "tool_use",
                        "id": call.id,
                        "name": call.name,
                        "input": call.arguments.object,
                    })
                });
                let content = blocks(&text).into_iter().chain(calls).collect::<Vec<_>>();
                messages.push(json!({ "role": "assistant", "content": content }));
            }
        }
    }
    messages
}

/// A block of text, or none: the format refuses empty ones.
fn blocks(text: &str) -> Option<Value> {
    (!text.is_empty()).then(|| text_block(text))
}

fn text_block(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn tools() -> Value {
    json!([{
        "name": EXECUTE,
        "description": tool::DESCRIPTION,
        "input_schema": tool::parameters(),
    }])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::examples;
    use interpreter_core::WireFormat;

    fn body(request: &Request) -> Value {
        super::request(request, &Endpoint::new(WireFormat::Anthropic, "https://host", "claude-x"))
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
    fn history_that_begins_with_the_model_gets_a_first_message() {
        let mut request = examples::without_tools();
        std::sync::Arc::make_mut(&mut request.messages).drain(..2);
        let messages = &body(&request)["messages"];
        assert_eq!(messages[0]["content"][0]["text"], json!(EARLIER));
        assert_eq!(messages[1]["role"], json!("assistant"));
    }

    #[test]
    fn what_stays_the_same_is_marked_for_the_cache_where_the_provider_has_one() {
        let mut endpoint = Endpoint::new(WireFormat::Anthropic, "https://host", "claude-x");
        let request = examples::with_tools();
        assert!(!super::request(&request, &endpoint).to_string().contains("cache_control"));
        endpoint.caching = Caching::Marked;
        let body = super::request(&request, &endpoint);
        let mark = json!({ "type": "ephemeral" });
        assert_eq!(body["system"][0]["cache_control"], mark);
        let newest = body["messages"].as_array().unwrap().last().unwrap();
        let block = newest["content"].as_array().unwrap().last().unwrap();
        assert_eq!(block["cache_control"], mark);
        assert_eq!(body.to_string().matches("cache_control").count(), 2);
    }

    #[test]
    fn temperature_zero_is_sent() {
        let mut request = examples::with_tools();
        request.temperature = Some(0.0);
        assert_eq!(body(&request)["temperature"], json!(0.0));
    }
}
