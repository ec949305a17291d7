//! Back to before an earlier cell: the cells, what going back means, and then the decision.
//!
//! # Threat
//! A decision on something else than was shown: another cell has run meanwhile, or a copy of an
//! interpreter's memory that was promised is gone.
//!
//! # Mechanism
//! The plan for going back is shown with its hash, and a decision names that hash. The plan is then
//! worked out again and must be the same. It holds the number of the newest record that says how the
//! session stands, and the session's own loop takes the decision only if that is still the newest.
//! Rights were checked before: see [`crate::protocol::Verb::rights`].

use super::{
    held::HeldSession,
    outcome::begun,
    reading::{elsewhere, failed},
};
use crate::protocol::{ErrorCode, ProtocolError};
use interpreter_agent::{Context, NotBegun};
use interpreter_core::session::{Event, PastCell, Rewind, checkpoint_number};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Cells that are listed, the newest. Any other can be named all the same.
const LISTED: usize = 200;

/// Performs the verb.
pub(super) async fn rewind(
    held: &HeldSession,
    before: Option<String>,
    hash: Option<String>,
    undo: bool,
    who: &str,
) -> Result<Value, ProtocolError> {
    held.session.written().await;
    let Some(before) = before else { return cells(held).await };
    let Planned { mut rewind, shown, hash: now } = plan(held, before).await?;
    match hash {
        None => Ok(shown),
        Some(hash) if hash == now => {
            rewind.undo = undo;
            let wish = vec![Event::RewindWanted(Box::new(rewind))];
            match held.session.begin(wish, Some(who.to_owned())).await {
                Err(NotBegun::LookAgain) => Err(another()),
                given => begun(held, given).await.map(|_| Value::Object(Map::new())),
            }
        }
        Some(_) => Err(another()),
    }
}

fn another() -> ProtocolError {
    let text = "going back no longer means what was shown";
    ProtocolError::new(ErrorCode::LookAgain, text).hint("`rewind` with `before` shows it anew")
}

/// Works something out of the session's record, aside. One at a time: whoever asks again and again
/// keeps one thread from others, and not all.
pub(super) async fn worked_out<T: Send + 'static>(
    held: &HeldSession,
    work: impl FnOnce(&Context, &str) -> Result<T, ProtocolError> + Send + 'static,
) -> Result<T, ProtocolError> {
    let (context, id) = (Arc::clone(&held.context), held.id.clone());
    let alone = Arc::clone(&held.rewinding).lock_owned().await;
    elsewhere(move || {
        // Also if nobody waits for it any more.
        let _alone = alone;
        work(&context, &id)
    })
    .await
}

/// The cells that ran in the session itself, the newest last.
async fn cells(held: &HeldSession) -> Result<Value, ProtocolError> {
    worked_out(held, |context, id| {
        let cells = context.own_cells(id).map_err(|error| failed(&error))?;
        let older = cells.len().saturating_sub(LISTED);
        let told = |cell: &PastCell| {
            json!({
                "id": cell.id, "language": cell.language, "time": cell.time, "files": cell.files,
            })
        };
        let listed: Vec<_> = cells[older..].iter().map(told).collect();
        Ok(json!({ "cells": listed, "older": older }))
    })
    .await
}

/// The way back to before a cell, and what it means, with its hash.
struct Planned {
    rewind: Rewind,
    shown: Value,
    hash: String,
}

async fn plan(held: &HeldSession, before: String) -> Result<Planned, ProtocolError> {
    let programs = held.session.programs().await;
    let kept = held.session.checkpoint(checkpoint_number(&PastCell::named(&before))).await;
    worked_out(held, move |context, id| {
        let found = context.rewind(id, &before).map_err(|error| failed(&error))?;
        let mut rewind = found.ok_or_else(|| {
            let short: String = before.chars().take(64).collect();
            let text = format!("no cell `{short}` ran in this session");
            ProtocolError::new(ErrorCode::NoSuchCell, text)
                .hint("`rewind` without `before` lists them")
        })?;
        rewind.programs = programs;
        let plan = rewind.plan(kept.as_ref());
        let hash = plan.hash();
        let mut shown = serde_json::to_value(plan).unwrap_or_default();
        shown["hash"] = hash.clone().into();
        Ok(Planned { rewind, shown, hash })
    })
    .await
}
