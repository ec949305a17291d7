//! Waits for what a request came to, by the records that follow it.

use super::{
    Shared,
    held::{HeldProgress, HeldSession},
    reading::{Page, page},
    row::Doing,
    tail::Lacking,
};
use crate::protocol::{ErrorCode, ProtocolError};
use interpreter_agent::NotBegun;
use interpreter_core::session::Event;
use serde_json::Value;
use std::sync::Arc;

/// Sends events that begin something, if nothing is under way, and waits until the first record of
/// them is known. Returns the number of the record before.
pub(super) async fn begin(
    held: &HeldSession,
    events: Vec<Event>,
    who: &str,
) -> Result<u64, ProtocolError> {
    begun(held, held.session.begin(events, Some(who.to_owned())).await).await
}

/// That nothing else begins meanwhile.
pub(super) fn busy() -> ProtocolError {
    let text = "something is under way in this session";
    ProtocolError::new(ErrorCode::Busy, text)
        .hint("wait for `turn_finished`, answer its question, or interrupt it")
}

/// Waits until the first record of what was begun is known; or says why it was not.
pub(super) async fn begun(
    held: &HeldSession,
    begun: Result<u64, NotBegun>,
) -> Result<u64, ProtocolError> {
    let after = match begun {
        Ok(after) => after,
        Err(NotBegun::LookAgain) => {
            let text = "something else was decided since";
            return Err(ProtocolError::new(ErrorCode::LookAgain, text)
                .hint("`newest` is the number of the newest record `changes`"));
        }
        Err(NotBegun::Busy) => return Err(busy()),
        Err(NotBegun::NotKept) => {
            return Err(ProtocolError::new(ErrorCode::Failed, "the pictures could not be kept"));
        }
        Err(NotBegun::Ended) => {
            return Err(ProtocolError::new(ErrorCode::Ended, "the session has ended"));
        }
    };
    let mut progress = held.progress();
    let is_seen = |at: &HeldProgress| at.seq > after || at.doing == Doing::Ended;
    // The sender is held by the session itself.
    _ = progress.wait_for(is_seen).await.is_ok();
    Ok(after)
}

/// The first record after number `after` that `is_it`, or the end of the turn if that comes before.
/// `None` if the session is over first.
pub(super) async fn first_after(
    shared: &Shared,
    held: &HeldSession,
    mut after: u64,
    is_it: impl Fn(&Value) -> bool,
) -> Result<Option<Value>, ProtocolError> {
    let mut progress = held.progress();
    loop {
        let at = *progress.borrow_and_update();
        while after < at.seq {
            let lines: Vec<Arc<str>> = match held.records_after(after) {
                Lacking::Here(lines) => lines,
                Lacking::OnRecord => {
                    let Page { lines, .. } = page(&shared.folders, &held.id, after).await?;
                    if lines.is_empty() {
                        let text = "the record cannot be read";
                        return Err(ProtocolError::new(ErrorCode::Failed, text));
                    }
                    lines
                }
            };
            after += lines.len() as u64;
            for line in lines {
                let record: Value = serde_json::from_str(&line).unwrap_or_default();
                if is_it(&record) || record["kind"] == "turn_finished" {
                    return Ok(Some(record));
                }
            }
        }
        if at.doing == Doing::Ended {
            return Ok(None);
        }
        // The sender is held by the session that is waited for.
        _ = progress.changed().await.is_ok();
    }
}

/// The outcome of a decision on staged changes: its record, or why there is none.
pub(super) async fn settled(
    shared: &Shared,
    held: &HeldSession,
    after: u64,
) -> Result<Value, ProtocolError> {
    let is_end = |record: &Value| record["kind"] == "changes" || record["kind"] == "error";
    let Some(record) = first_after(shared, held, after, is_end).await? else {
        return Err(ProtocolError::new(ErrorCode::Ended, "the session ended meanwhile"));
    };
    if record["kind"] == "changes" {
        let part = |name: &str| record.get(name).cloned().unwrap_or_else(|| Value::Array(vec![]));
        return Ok(serde_json::json!({
            "id": record["id"], "state": record["state"], "files": part("files"),
            "left_out": part("left_out"),
        }));
    }
    if record["kind"] == "error" {
        let text = |name: &str| record[name].as_str().map(str::to_owned);
        let message = text("message").unwrap_or_default();
        let code = if interpreter_agent::says_look_again(&message) {
            ErrorCode::LookAgain
        } else if interpreter_agent::says_outline_unseen(&message) {
            ErrorCode::OutlineUnseen
        } else {
            ErrorCode::Refused
        };
        return Err(ProtocolError { hint: text("hint"), ..ProtocolError::new(code, message) });
    }
    Ok(Value::Object(serde_json::Map::new()))
}
