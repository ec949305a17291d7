//! The lines that flow beside the replies, apart from records: live pieces, rows, beats, and the
//! end of a subscription that cannot go on.

use super::refusal::ProtocolError;
use serde::Serialize;
use serde_json::json;

/// A piece of a reply as it comes, or the state of a run. Nothing of it is on record.
pub(crate) fn live_line(
    session: &str,
    kind: &str,
    reply: u64,
    offset: u64,
    text: Option<&str>,
) -> String {
    let mut line =
        json!({ "v": 1, "session": session, "live": kind, "reply": reply, "offset": offset });
    if let Some(text) = text {
        line["text"] = text.into();
    }
    line.to_string()
}

/// A row of the list that has changed.
pub(crate) fn row_line(session: &str, row: &impl Serialize) -> String {
    json!({ "v": 1, "session": session, "row": row }).to_string()
}

/// How much of the embedded models is here, while one is downloaded.
pub(crate) fn weights_line(models: &impl Serialize) -> String {
    json!({ "v": 1, "weights": models }).to_string()
}

/// A sign of life, for carriers that can break unnoticed.
pub(crate) fn beat_line(number: u64) -> String {
    json!({ "v": 1, "beat": number }).to_string()
}

/// A subscription ends because its records cannot be read.
pub(crate) fn broken_line(session: &str, error: &ProtocolError) -> String {
    json!({ "v": 1, "session": session, "error": error }).to_string()
}
