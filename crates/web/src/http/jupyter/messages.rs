//! The messages of a Jupyter kernel, as JSON text with their channel. Pure.
//!
//! A message names the request that it belongs to by that one's header. Of a header only the known
//! fields are repeated, and short ones, so that a client cannot make each answer as large as its
//! request.

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The version of the messages.
const VERSION: &str = "5.3";

/// Fields of a header that are repeated.
const FIELDS: [&str; 6] = ["msg_id", "msg_type", "username", "session", "date", "version"];

/// Bytes of such a field.
const LONGEST_FIELD: usize = 256;

/// A request of a client.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct KernelRequest {
    /// Its header, as far as it is repeated.
    pub(super) parent: Value,
    pub(super) wish: KernelWish,
}

/// The content of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum KernelWish {
    /// Run code; silently, if nothing is to be counted.
    Execute {
        code: String,
        is_silent: bool,
    },
    Describe,
    Interrupt,
    /// Another one, which kernels pass over.
    Other,
}

#[derive(Deserialize)]
struct Received {
    header: Map<String, Value>,
    #[serde(default)]
    content: Value,
}

/// Reads a message. Nothing if it is none.
pub(super) fn read(text: &str) -> Option<KernelRequest> {
    let Received { header, content } = serde_json::from_str(text).ok()?;
    let mut parent = Map::new();
    for name in FIELDS {
        match header.get(name) {
            Some(Value::String(value)) if value.len() <= LONGEST_FIELD => {
                parent.insert(name.into(), value.as_str().into());
            }
            Some(Value::Null) | None => {}
            Some(_) => return None,
        }
    }
    parent.get("msg_id")?;
    let wish = match parent.get("msg_type")?.as_str()? {
        "execute_request" => KernelWish::Execute {
            code: content["code"].as_str()?.to_owned(),
            is_silent: content["silent"] == true,
        },
        "kernel_info_request" => KernelWish::Describe,
        "interrupt_request" => KernelWish::Interrupt,
        _ => KernelWish::Other,
    };
    Some(KernelRequest { parent: Value::Object(parent), wish })
}

/// The part of an answer that is a message.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct KernelMessage {
    channel: &'static str,
    kind: &'static str,
    content: Value,
}

impl KernelMessage {
    fn everybody(kind: &'static str, content: Value) -> Self {
        Self { channel: "iopub", kind, content }
    }

    fn reply(kind: &'static str, content: Value) -> Self {
        Self { channel: "shell", kind, content }
    }

    pub(super) fn status(state: &str) -> Self {
        Self::everybody("status", json!({ "execution_state": state }))
    }

    pub(super) fn input(code: &str, count: u64) -> Self {
        Self::everybody("execute_input", json!({ "code": code, "execution_count": count }))
    }

    /// Text of `stdout` or `stderr`.
    pub(super) fn stream(name: &str, text: &str) -> Self {
        Self::everybody("stream", json!({ "name": name, "text": text }))
    }

    /// A result in several forms.
    pub(super) fn display(data: &Map<String, Value>) -> Self {
        Self::everybody("display_data", json!({ "data": data, "metadata": {}, "transient": {} }))
    }

    pub(super) fn error(name: &str, words: &str) -> Self {
        Self::everybody("error", error(name, words))
    }

    pub(super) fn executed(count: u64) -> Self {
        let content = json!({
            "status": "ok", "execution_count": count, "payload": [], "user_expressions": {},
        });
        Self::reply("execute_reply", content)
    }

    pub(super) fn not_executed(count: u64, name: &str, words: &str) -> Self {
        let mut content = error(name, words);
        content["status"] = "error".into();
        content["execution_count"] = count.into();
        Self::reply("execute_reply", content)
    }

    /// The kernel as it describes itself.
    pub(super) fn description() -> Self {
        let content = json!({
            "status": "ok",
            "protocol_version": VERSION,
            "implementation": "interpreter",
            "implementation_version": env!("CARGO_PKG_VERSION"),
            "language_info": {
                "name": "python", "version": "3", "mimetype": "text/x-python",
                "file_extension": ".py",
            },
            "banner": "Python in a sandbox",
            "help_links": [],
        });
        Self::reply("kernel_info_reply", content)
    }

    pub(super) fn interrupted() -> Self {
        Self { channel: "control", kind: "interrupt_reply", content: json!({ "status": "ok" }) }
    }

    /// All of it, as text.
    pub(super) fn text(&self, kernel: &str, id: &str, parent: &Value) -> String {
        let header = json!({
            "msg_id": id, "msg_type": self.kind, "username": "interpreter", "session": kernel,
            "date": "", "version": VERSION,
        });
        json!({
            "header": header, "msg_id": id, "msg_type": self.kind, "parent_header": parent,
            "metadata": {}, "content": self.content, "buffers": [], "channel": self.channel,
        })
        .to_string()
    }
}

fn error(name: &str, words: &str) -> Value {
    json!({ "ename": name, "evalue": words, "traceback": [format!("{name}: {words}")] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn request(kind: &str, content: &Value) -> String {
        json!({
            "header": { "msg_id": "m1", "msg_type": kind, "username": "u", "session": "s",
                "date": "", "version": "5.3", "more": "x".repeat(1 << 16) },
            "parent_header": {}, "metadata": {}, "content": content, "channel": "shell",
        })
        .to_string()
    }

    #[test]
    fn a_request_is_answered_by_its_header_and_no_more_of_it() {
        let text = request("execute_request", &json!({ "code": "1", "silent": false }));
        let KernelRequest { parent, wish } = read(&text).unwrap();
        assert_eq!(wish, KernelWish::Execute { code: "1".into(), is_silent: false });
        let told = KernelMessage::status("busy").text("k", "k_1", &parent);
        assert!(told.len() < 1_000, "{told}");
        let told: Value = serde_json::from_str(&told).unwrap();
        assert_eq!(told["parent_header"]["msg_id"], "m1");
        assert_eq!(told["msg_type"], told["header"]["msg_type"]);
        assert_eq!(told["channel"], "iopub");
        assert_eq!(read(&request("comm_open", &json!({}))).unwrap().wish, KernelWish::Other);
    }

    #[test]
    fn whatever_is_no_message_is_none() {
        let long = json!({ "header": { "msg_id": "x".repeat(257), "msg_type": "a" } });
        let number = json!({ "header": { "msg_id": 1, "msg_type": "a" } });
        for text in [
            "",
            "[]",
            "{}",
            r#"{"header":{}}"#,
            r#"{"header":{"msg_id":"1"}}"#,
            &long.to_string(),
            &number.to_string(),
            &request("execute_request", &json!({})),
            &request("execute_request", &json!({ "code": 1 })),
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_is_too_strange(text in any::<String>()) {
            _ = read(&text).is_some();
        }
    }
}
