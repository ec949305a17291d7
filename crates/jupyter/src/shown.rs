//! Published messages of a kernel, as actions.

use crate::message::Heard;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Something that a kernel published.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    Stdout(String),
    Stderr(String),
    /// A value, in all its forms.
    Result {
        bundle: BTreeMap<String, String>,
        display: Option<String>,
    },
    Raised {
        name: String,
        message: String,
        /// The text to show.
        text: String,
    },
    /// It has done what the parent asked for.
    Idle,
    /// Nothing that we pass on: what runs, widgets, that a cell's output be cleared. The record
    /// keeps everything, so nothing is ever cleared.
    Nothing,
}

#[derive(Deserialize)]
struct Stream {
    name: String,
    text: String,
}

#[derive(Deserialize)]
struct Display {
    #[serde(default)]
    data: BTreeMap<String, Value>,
    #[serde(default)]
    transient: Transient,
}

#[derive(Default, Deserialize)]
struct Transient {
    display_id: Option<String>,
}

#[derive(Deserialize)]
struct Error {
    #[serde(default)]
    ename: String,
    #[serde(default)]
    evalue: String,
    #[serde(default)]
    traceback: Vec<String>,
}

#[derive(Deserialize)]
struct Status {
    execution_state: String,
}

/// The meaning of a message on the iopub channel. One that does not match its kind is noise.
pub(crate) fn shown(heard: &Heard) -> Shown {
    match heard.kind.as_str() {
        "stream" => heard.content().map(stream),
        "execute_result" | "display_data" | "update_display_data" => heard.content().map(result),
        "error" => heard.content().map(raised),
        "status" => heard.content().and_then(idle),
        _ => None,
    }
    .unwrap_or(Shown::Nothing)
}

fn stream(Stream { name, text }: Stream) -> Shown {
    if name == "stderr" { Shown::Stderr(text) } else { Shown::Stdout(text) }
}

fn result(Display { data, transient }: Display) -> Shown {
    let text = |value: Value| match value {
        Value::String(text) => text,
        // As notebooks keep them: lines in a list.
        Value::Array(lines) if lines.iter().all(Value::is_string) => {
            lines.iter().filter_map(Value::as_str).collect()
        }
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Array(_)
        | Value::Object(_)) => other.to_string(),
    };
    let bundle = data.into_iter().map(|(mime, value)| (mime, text(value))).collect();
    Shown::Result { bundle, display: transient.display_id }
}

fn raised(Error { ename: name, evalue: message, traceback }: Error) -> Shown {
    let mut text = traceback.join("\n");
    if text.is_empty() {
        text = format!("{name}: {message}");
    }
    text.push('\n');
    Shown::Raised { name, message, text }
}

fn idle(Status { execution_state }: Status) -> Option<Shown> {
    (execution_state == "idle").then_some(Shown::Idle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(kind: &str, content: &Value) -> Shown {
        shown(&Heard::of(kind, content))
    }

    #[test]
    fn values_come_in_all_their_forms() {
        let content = json!({
            "data": {"text/plain": "1", "application/json": {"a": [1]}, "text/html": ["<b>", "</b>"]},
            "metadata": {}, "transient": {"display_id": "d"},
        });
        let Shown::Result { bundle, display } = of("update_display_data", &content) else {
            panic!("not a result")
        };
        assert_eq!(display.as_deref(), Some("d"));
        assert_eq!(bundle["text/plain"], "1");
        assert_eq!(bundle["application/json"], "{\"a\":[1]}");
        assert_eq!(bundle["text/html"], "<b></b>");
    }

    #[test]
    fn an_error_has_something_to_read() {
        let text = |content: &Value| {
            let shown = of("error", content);
            let Shown::Raised { text, .. } = shown else { panic!("{shown:?}") };
            text
        };
        assert_eq!(text(&json!({"ename": "E", "evalue": "v", "traceback": ["a", "b"]})), "a\nb\n");
        assert_eq!(text(&json!({"ename": "E", "evalue": "v"})), "E: v\n");
    }

    #[test]
    fn only_idle_is_idle_and_the_rest_is_nothing() {
        assert_eq!(of("status", &json!({"execution_state": "idle"})), Shown::Idle);
        for (kind, content) in [
            ("status", json!({"execution_state": "busy"})),
            ("status", json!([])),
            ("stream", json!({"text": 1})),
            ("clear_output", json!({"wait": true})),
            ("comm_open", json!({})),
            ("execute_input", json!({"code": "x"})),
        ] {
            assert_eq!(of(kind, &content), Shown::Nothing, "{kind}");
        }
    }
}
