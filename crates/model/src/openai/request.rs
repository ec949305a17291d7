//! Writes a request in the chat-completions format.

use crate::{
    Endpoint, Request, Tools,
    conversation::{Conversation, Turn},
    endpoint::UsageReport,
    tool,
};
use serde_json::{Value, json};

/// The body of a request.
pub(crate) fn request(request: &Request, endpoint: &Endpoint) -> Value {
    let mut body = json!({
        "model": endpoint.model,
        "messages": messages(Conversation::of(request)),
        "stream": true,
    });
    match endpoint.usage {
        UsageReport::Asked => body["stream_options"] = json!({ "include_usage": true }),
        UsageReport::Unasked => {}
    }
    if let Some(most) = request.max_tokens {
        body[limit_name(endpoint)] = json!(most);
    }
    if let Some(temperature) = request.temperature() {
        body["temperature"] = json!(temperature);
    }
    match request.tools {
        Tools::Offer => body["tools"] = tool::functions(),
        Tools::None => {}
    }
    body
}

/// The newer models of the format's own maker refuse `max_tokens`; other servers know nothing
/// else.
fn limit_name(endpoint: &Endpoint) -> &'static str {
    let own = endpoint.url().is_ok_and(|url| {
        let host = url.host_str().unwrap_or_default();
        host == "api.openai.com" || host.ends_with(".openai.azure.com")
    });
    if own { "max_completion_tokens" } else { "max_tokens" }
}

fn messages(conversation: Conversation) -> Vec<Value> {
    let mut messages = Vec::new();
    if !conversation.system.is_empty() {
        messages.push(json!({ "role": "system", "content": conversation.system }));
    }
    for turn in conversation.turns {
        match turn {
            Turn::User { answers, text, images } => {
                messages.extend(answers.into_iter().map(|answer| {
                    json!({ "role": "tool", "tool_call_id": answer.call, "content": answer.text })
                }));
                if !images.is_empty() {
                    let text = (!text.is_empty()).then(|| json!({ "type": "text", "text": text }));
                    let images = images.iter().map(|image| {
                        json!({ "type": "image_url", "image_url": { "url": image.data_url() } })
                    });
                    let content = text.into_iter().chain(images).collect::<Vec<_>>();
                    messages.push(json!({ "role": "user", "content": content }));
                } else if !text.is_empty() {
                    messages.push(json!({ "role": "user", "content": text }));
                }
            }
            Turn::Assistant { text, calls } if calls.is_empty() => {
                messages.push(json!({ "role": "assistant", "content": text }));
            }
            Turn::Assistant { text, calls } => {
                let calls = calls.into_iter().map(|call| {
                    json!({
                        "id": call.id,
                        "type": "function",
                        "function": { "name": call.name, "arguments": call.arguments.text },
                    })
                });
                messages.push(json!({
                    "role": "assistant",
                    "content": (!text.is_empty()).then_some(text),
                    "tool_calls": calls.collect::<Vec<_>>(),
                }));
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
        super::request(
            request,
            &Endpoint::new(WireFormat::OpenAi, "http://localhost:8080/v1", "gpt-x"),
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
    fn temperature_zero_is_sent_and_none_is_not() {
        let mut request = examples::with_tools();
        request.temperature = Some(0.0);
        assert_eq!(body(&request)["temperature"], json!(0.0));
        request.temperature = Some(0.7);
        assert_eq!(body(&request)["temperature"], json!(0.7));
        for absent in [None, Some(f32::NAN)] {
            request.temperature = absent;
            assert_eq!(body(&request).get("temperature"), None);
        }
    }

    #[test]
    fn the_limit_has_the_name_that_the_host_knows() {
        let request = examples::with_tools();
        let own = Endpoint::new(WireFormat::OpenAi, "https://api.openai.com/v1", "gpt-x");
        assert_eq!(super::request(&request, &own)["max_completion_tokens"], json!(320));
        assert_eq!(body(&request)["max_tokens"], json!(320));
    }
}
