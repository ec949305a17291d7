//! The verb `look`: views of the server that change nothing, and the rights that each takes.

use super::refusal::{ErrorCode, ProtocolError};
use crate::caller::Right;
use serde::Deserialize;

/// A view of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LookAt {
    /// The settings in force, and where each comes from.
    Settings,
    /// Whether this machine is ready.
    Doctor,
    /// Whether the record is whole; or the records of a session, as they are kept.
    Record,
    /// The models, and how much of the embedded ones is here.
    Models,
    /// Who the caller is, and what they may do.
    Me,
}

/// Look at something of the server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LookWish {
    /// The view.
    pub at: LookAt,
    /// The session whose records are to be shown.
    pub session: Option<String>,
    /// The number of the record behind which a page begins.
    pub after: Option<u64>,
    /// Records of a page.
    pub limit: Option<usize>,
    /// Words that each record of a page has.
    pub search: Option<String>,
    /// The line of an anchor, to be held against the record.
    pub anchor: Option<String>,
}

impl LookWish {
    /// The rights that it takes, all of them.
    pub(super) fn rights(&self) -> &'static [Right] {
        match (self.at, &self.session) {
            (LookAt::Models | LookAt::Me, _) | (LookAt::Record, Some(_)) => &[Right::Watch],
            // The whole record counts everybody's sessions.
            (LookAt::Settings | LookAt::Doctor | LookAt::Record, _) => &[Right::Admin],
        }
    }

    /// Refuses fields that do not go together.
    pub(super) fn check(&self) -> Result<(), ProtocolError> {
        let is_record = self.at == LookAt::Record;
        let is_page = self.after.is_some() || self.limit.is_some() || self.search.is_some();
        let why = if self.session.is_some() && !is_record {
            "look: `session` comes with `record`"
        } else if is_page && self.session.is_none() {
            "look: `after`, `limit` and `search` come with `session`"
        } else if self.anchor.is_some() && (!is_record || self.session.is_some()) {
            "look: `anchor` comes with the whole `record`"
        } else {
            return Ok(());
        };
        Err(ProtocolError::new(ErrorCode::Malformed, why))
    }
}
