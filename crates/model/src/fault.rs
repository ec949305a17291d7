//! Faults of a stream, and reading the JSON of its events so that none goes unnoticed.

use crate::{complaint::Complaint, sse::Event};
use serde_json::Value;

/// A fault of a stream, without the name of the host that sent it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It ended before the reply did.
    Broken,
    /// It does not follow the format; the words continue "sent …".
    Malformed(&'static str),
    /// Something in it is too large.
    TooLarge { limit: usize, place: &'static str },
    /// The provider reports an error.
    Complaint(Complaint),
}

/// The JSON of an event. An empty event has none, nor has the mark after the last one, which servers
/// that speak several formats add to all of them.
pub(crate) fn json_of(event: &Event) -> Result<Option<Value>, Fault> {
    match event.data.trim() {
        "" | "[DONE]" => Ok(None),
        data => serde_json::from_str(data)
            .map(Some)
            .map_err(|_| Fault::Malformed("an event that is not JSON")),
    }
}

/// The JSON of an event, or the complaint in it as a fault.
pub(crate) fn said_by(event: &Event) -> Result<Option<Value>, Fault> {
    let json = json_of(event)?;
    match json.as_ref().and_then(Complaint::in_json) {
        Some(complaint) => Err(Fault::Complaint(complaint)),
        None => Ok(json),
    }
}

/// The text of a field. A missing or null field is empty; any other type is a fault.
pub(crate) fn text_in<'a>(object: &'a Value, field: &str) -> Result<&'a str, Fault> {
    match object.get(field) {
        None | Some(Value::Null) => Ok(""),
        Some(Value::String(text)) => Ok(text),
        Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            Err(Fault::Malformed("a text that is not a string"))
        }
    }
}
