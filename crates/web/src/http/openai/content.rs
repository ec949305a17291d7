//! The messages of a client: a role, text and pictures. Pure.
//!
//! Strict about what it cannot pass on: a file, a sound or the address of a picture is refused, not
//! dropped. Fields that clients send back with an answer of ours are ignored.

use super::refusal::OpenAiRefusal;
use serde_json::{Value, json};

/// Messages of one request.
const MOST_MESSAGES: usize = 4_096;

/// Who a client says wrote a message. All of it is the client's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClientRole {
    System,
    Developer,
    User,
    Assistant,
}

impl ClientRole {
    const ALL: [Self; 4] = [Self::System, Self::Developer, Self::User, Self::Assistant];

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Developer => "developer",
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// A picture, in base64.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClientPicture {
    /// The end of its name.
    pub(super) kind: &'static str,
    pub(super) base64: String,
}

/// One message of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClientMessage {
    pub(super) role: ClientRole,
    pub(super) text: String,
    pub(super) pictures: Vec<ClientPicture>,
}

impl ClientMessage {
    pub(super) fn new(role: ClientRole, text: &str) -> Self {
        Self { role, text: text.into(), pictures: Vec::new() }
    }
}

fn wrong(place: &str, message: &str) -> OpenAiRefusal {
    OpenAiRefusal::parameter(place, format!("Invalid value for '{place}': {message}"))
}

/// The messages of a chat.
pub(super) fn chat_messages(value: Option<&Value>) -> Result<Vec<ClientMessage>, OpenAiRefusal> {
    let Some(Value::Array(all)) = value else {
        return Err(wrong("messages", "it must be a list of messages"));
    };
    let messages = all.iter().map(|message| one_message(message, "messages")).collect();
    fitting(messages, all.len(), "messages")
}

/// The input of a response.
pub(super) fn input_items(value: Option<&Value>) -> Result<Vec<ClientMessage>, OpenAiRefusal> {
    match value {
        Some(Value::String(text)) => {
            fitting(Ok(vec![ClientMessage::new(ClientRole::User, text)]), 1, "input")
        }
        Some(Value::Array(all)) => {
            let items: Result<Vec<_>, _> = all.iter().map(input_item).collect();
            fitting(items.map(|items| items.into_iter().flatten().collect()), all.len(), "input")
        }
        Some(_) | None => Err(wrong("input", "it must be a text or a list of items")),
    }
}

/// Refuses messages that lead to nothing.
fn fitting(
    messages: Result<Vec<ClientMessage>, OpenAiRefusal>,
    count: usize,
    place: &str,
) -> Result<Vec<ClientMessage>, OpenAiRefusal> {
    if count > MOST_MESSAGES {
        return Err(wrong(place, &format!("there are more than {MOST_MESSAGES}")));
    }
    let messages = messages?;
    match messages.last() {
        Some(ClientMessage { role: ClientRole::User, text, .. }) if !text.trim().is_empty() => {
            Ok(messages)
        }
        Some(_) | None => Err(wrong(place, "the last message must be a text of the user")),
    }
}

/// One item of the input; nothing for one that says nothing.
fn input_item(item: &Value) -> Result<Option<ClientMessage>, OpenAiRefusal> {
    match item["type"].as_str() {
        None | Some("message") => one_message(item, "input").map(Some),
        // An answer of ours that comes back.
        Some("reasoning") => Ok(None),
        Some("code_interpreter_call") => {
            let code = item["code"].as_str().unwrap_or_default();
            let outputs = item["outputs"].as_array().into_iter().flatten();
            let logs: Vec<_> = outputs.filter_map(|output| output["logs"].as_str()).collect();
            let text = format!("{code}\n\n{}", logs.join("\n"));
            Ok(Some(ClientMessage::new(ClientRole::Assistant, text.trim())))
        }
        Some(_) => Err(wrong("input", "only messages and answers of ours can be sent")),
    }
}

fn one_message(message: &Value, place: &str) -> Result<ClientMessage, OpenAiRefusal> {
    let named = message["role"].as_str();
    let Some(role) = ClientRole::ALL.into_iter().find(|role| Some(role.word()) == named) else {
        return Err(wrong(place, "a role is system, developer, user or assistant"));
    };
    let calls = &message["tool_calls"];
    if !calls.is_null() && calls.as_array().is_none_or(|calls| !calls.is_empty()) {
        return Err(wrong(place, "tool calls are not supported"));
    }
    let mut read = ClientMessage::new(role, "");
    match &message["content"] {
        Value::Null => {}
        Value::String(text) => read.text.clone_from(text),
        Value::Array(parts) => {
            for part in parts {
                add_part(&mut read, part, place)?;
            }
        }
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            return Err(wrong(place, "a content is a text or a list of parts"));
        }
    }
    Ok(read)
}

fn add_part(message: &mut ClientMessage, part: &Value, place: &str) -> Result<(), OpenAiRefusal> {
    let text = |name: &str| {
        let text = part[name].as_str();
        text.ok_or_else(|| wrong(place, &format!("`{name}` of a part must be a text")))
    };
    match part["type"].as_str() {
        Some("text" | "input_text" | "output_text") => message.text.push_str(text("text")?),
        Some("refusal") => message.text.push_str(text("refusal")?),
        Some("image_url") => {
            let url = part["image_url"]["url"].as_str();
            let url = url.ok_or_else(|| wrong(place, "`image_url.url` must be a text"))?;
            message.pictures.push(picture(url, place)?);
        }
        Some("input_image") => message.pictures.push(picture(text("image_url")?, place)?),
        Some(_) | None => {
            return Err(wrong(place, "a part is text or a picture as a data URL"));
        }
    }
    Ok(())
}

/// A picture in the URL itself. Nothing is ever fetched.
fn picture(url: &str, place: &str) -> Result<ClientPicture, OpenAiRefusal> {
    let kinds = [
        ("data:image/png;base64,", "png"),
        ("data:image/jpeg;base64,", "jpg"),
        ("data:image/gif;base64,", "gif"),
        ("data:image/webp;base64,", "webp"),
    ];
    let found = kinds.into_iter().find_map(|(start, kind)| Some((url.strip_prefix(start)?, kind)));
    let Some((base64, kind)) = found else {
        let message = "a picture must be a data URL of PNG, JPEG, GIF or WebP in base64";
        return Err(wrong(place, message));
    };
    Ok(ClientPicture { kind, base64: base64.into() })
}

/// The form of a message, for the description.
pub(super) fn message_schema() -> Value {
    let part = |kinds: Value, field: Value, name: &str| {
        json!({
            "type": "object", "required": ["type", name],
            "properties": { "type": { "enum": kinds }, name: field },
        })
    };
    let text = json!({ "type": "string" });
    let url = json!({ "type": "string", "pattern": "^data:image/(png|jpeg|gif|webp);base64," });
    let held =
        json!({ "type": "object", "required": ["url"], "properties": { "url": url.clone() } });
    let texts = json!(["text", "input_text", "output_text"]);
    json!({
        "type": "object", "required": ["role"],
        "properties": {
            "type": { "enum": ["message"] },
            "role": { "enum": ClientRole::ALL.map(ClientRole::word) },
            "content": { "anyOf": [
                { "type": ["string", "null"] },
                { "type": "array", "items": { "anyOf": [
                    part(texts, text.clone(), "text"),
                    part(json!(["refusal"]), text, "refusal"),
                    part(json!(["image_url"]), held, "image_url"),
                    part(json!(["input_image"]), url, "image_url"),
                ] } },
            ] },
            "tool_calls": { "enum": [[], null] },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(message: &Value) -> Result<ClientMessage, OpenAiRefusal> {
        one_message(message, "messages")
    }

    #[test]
    fn text_and_pictures_are_read_and_nothing_is_dropped() {
        let parts = json!({ "role": "user", "content": [
            { "type": "text", "text": "look: " },
            { "type": "image_url", "image_url": { "url": "data:image/png;base64,AA==" } },
        ] });
        let message = read(&parts).unwrap();
        assert_eq!(message.text, "look: ");
        assert_eq!(message.pictures, [ClientPicture { kind: "png", base64: "AA==".into() }]);
        for wrong in [
            json!({ "role": "root", "content": "x" }),
            json!({ "role": "tool", "content": "x" }),
            json!({ "content": "x" }),
            json!({ "role": "user", "content": 1 }),
            json!({ "role": "user", "content": [{ "type": "input_audio" }] }),
            json!({ "role": "user", "content": [{ "type": "text" }] }),
            json!({ "role": "user", "content": ["x"] }),
            json!({ "role": "assistant", "content": "x", "tool_calls": [{}] }),
            json!("x"),
        ] {
            assert!(read(&wrong).is_err(), "{wrong}");
        }
        for url in ["http://a/b.png", "file:///etc/passwd", "data:text/html;base64,AA==", ""] {
            let part = json!({ "type": "image_url", "image_url": { "url": url } });
            assert!(read(&json!({ "role": "user", "content": [part] })).is_err(), "{url}");
        }
    }

    #[test]
    fn the_last_word_is_the_users() {
        let user = json!({ "role": "user", "content": "x" });
        let assistant = json!({ "role": "assistant", "content": "y" });
        assert!(chat_messages(Some(&json!([user]))).is_ok());
        for wrong in [json!([]), json!([user, assistant]), json!(user), Value::Null] {
            assert!(chat_messages(Some(&wrong)).is_err(), "{wrong}");
        }
        let many = Value::Array(vec![user.clone(); MOST_MESSAGES + 1]);
        assert!(chat_messages(Some(&many)).is_err());
        assert!(input_items(Some(&json!("hi"))).is_ok());
        assert!(input_items(Some(&json!(" "))).is_err());
        let ran = json!({ "type": "code_interpreter_call", "code": "1", "outputs": null });
        let items = input_items(Some(&json!([ran, { "type": "reasoning" }, user]))).unwrap();
        assert_eq!(items.len(), 2);
        assert!(input_items(Some(&json!([{ "type": "function_call_output" }, user]))).is_err());
    }
}
