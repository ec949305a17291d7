//! Back to before an earlier cell: the cells, what going back means, and then the decision.
//!
//! # Threat
//! A decision on something else than was shown: another cell has run meanwhile, or a copy of an
//! interpreter's memory that was promised is gone.
//!
//! # Mechanism
//! What going back means is shown with its hash, and a decision names that. It is worked out anew
//! then, and has to be the same; and the session's own loop takes the decision only if no record has
//! come since. Rights were checked before: see [`crate::protocol::Verb::rights`].

use super::{
    held::HeldSession,
    outcome::begin,
    reading::{elsewhere, failed},
};
use crate::protocol::{ErrorCode, ProtocolError};
use interpreter_core::session::{Event, PastCell, Rewind, RewindPlan};
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
    let (mut rewind, plan) = plan(held, before).await?;
    let now = plan.hash();
    match hash {
        None => {
            let mut shown = serde_json::to_value(plan).unwrap_or_default();
            shown["hash"] = now.into();
            Ok(shown)
        }
        Some(hash) if hash == now => {
            rewind.undo = undo;
            begin(held, vec![Event::RewindWanted(Box::new(rewind))], who).await?;
            Ok(Value::Object(Map::new()))
        }
        Some(_) => {
            let text = "going back means something else than was shown";
            Err(ProtocolError::new(ErrorCode::LookAgain, text))
        }
    }
}

/// The cells that ran in the session itself, the newest last.
async fn cells(held: &HeldSession) -> Result<Value, ProtocolError> {
    let (context, id) = (Arc::clone(&held.context), held.id.clone());
    let cells = elsewhere(move || context.own_cells(&id).map_err(|error| failed(&error))).await?;
    let older = cells.len().saturating_sub(LISTED);
    let told = |cell: &PastCell| {
        json!({
            "id": cell.id, "language": cell.language, "time": cell.time, "files": cell.files,
        })
    };
    let listed: Vec<_> = cells[older..].iter().map(told).collect();
    Ok(json!({ "cells": listed, "older": older }))
}

/// The way back to before a cell, and what it means.
async fn plan(held: &HeldSession, before: String) -> Result<(Rewind, RewindPlan), ProtocolError> {
    let (context, id) = (Arc::clone(&held.context), held.id.clone());
    let found = elsewhere(move || {
        let found = context.rewind(&id, &before).map_err(|error| failed(&error))?;
        found.ok_or_else(|| {
            let short: String = before.chars().take(64).collect();
            let text = format!("no cell `{short}` ran in this session");
            ProtocolError::new(ErrorCode::NoSuchCell, text)
                .hint("`rewind` without `before` lists them")
        })
    });
    let rewind = found.await?;
    let kept = held.session.checkpoint(rewind.number()).await;
    let plan = rewind.plan(kept.as_ref());
    Ok((rewind, plan))
}
