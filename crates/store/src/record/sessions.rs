//! Sessions as the record shows them: which there are, and which one a person means.

use super::{
    Log,
    failure::failure,
    read::{record, stored_row},
    spans::SPANS,
};
use crate::StoreError;
use interpreter_core::{Body, Record, Untrusted};
use rusqlite::OptionalExtension;
use std::path::PathBuf;
use uuid::Uuid;

/// Sessions that are named when one was meant.
const MOST_NAMED: usize = 5;

/// Characters of the first prompt that a summary keeps.
const PROMPT_KEPT: usize = 500;

/// One line of the list of sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSummary {
    /// Its id.
    pub id: String,
    /// When it began, as RFC 3339 in UTC.
    pub started: String,
    /// When it ended; none if it goes on or broke off.
    pub ended: Option<String>,
    /// What was asked first, cut after some hundred characters; none if nothing was.
    pub first_prompt: Option<String>,
    /// How many records it has.
    pub records: u64,
    /// The folder it worked in.
    pub work_folder: Option<PathBuf>,
}

/// An id for a new session: later ones sort after earlier ones.
pub fn new_session_id() -> String {
    Uuid::now_v7().simple().to_string()
}

impl Log {
    /// All sessions, the newest first.
    pub fn sessions(&self) -> Result<Vec<SessionSummary>, StoreError> {
        let failed = |error| failure(&self.path, error);
        let mut statement = self
            .connection
            .prepare_cached(&format!(
                "SELECT session, sum(last - first + 1), min(first) AS began FROM {SPANS}
                 GROUP BY session ORDER BY began DESC"
            ))
            .map_err(failed)?;
        let rows = statement
            .query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?, row.get(2)?)))
            .map_err(failed)?;
        rows.map(|row| {
            let (id, records, first) = row.map_err(failed)?;
            self.summary(id, records.unsigned_abs(), first)
        })
        .collect()
    }

    fn summary(&self, id: String, records: u64, first: i64) -> Result<SessionSummary, StoreError> {
        let failed = |error| failure(&self.path, error);
        let work_folder = match self.first(&id, Landmark::Started)?.map(|record| record.body) {
            Some(Body::SessionStarted { confinement, .. }) => Some(confinement.work_folder),
            Some(_) | None => None,
        };
        let first_prompt = match self.first(&id, Landmark::Prompt)?.map(|record| record.body) {
            Some(Body::Prompt { text }) => Some(text.chars().take(PROMPT_KEPT).collect()),
            Some(_) | None => None,
        };
        let started = self
            .connection
            .prepare_cached("SELECT time FROM record WHERE seq = ?1")
            .and_then(|mut statement| statement.query_row([first], |row| row.get(0)))
            .map_err(failed)?;
        // A session that was taken up again has not ended, unless it ended after that.
        let ended = self
            .connection
            .prepare_cached(
                "SELECT time FROM record WHERE session = ?1 AND kind = 'session_ended'
                 AND seq > coalesce((SELECT max(seq) FROM record
                     WHERE session = ?1 AND kind = 'session_started'), 0)
                 ORDER BY seq DESC LIMIT 1",
            )
            .and_then(|mut statement| statement.query_row([&id], |row| row.get(0)).optional())
            .map_err(failed)?;
        Ok(SessionSummary { id, started, ended, first_prompt, records, work_folder })
    }

    fn first(&self, session: &str, landmark: Landmark) -> Result<Option<Record>, StoreError> {
        let row = self
            .connection
            .prepare_cached(landmark.query())
            .and_then(|mut statement| statement.query_row([session], stored_row).optional())
            .map_err(|error| failure(&self.path, error))?;
        row.map(record).transpose()
    }

    /// The one session whose id begins with `prefix`.
    pub fn find_session(&self, prefix: &str) -> Result<String, StoreError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        if prefix.is_empty() || !prefix.chars().all(plain) {
            return Err(StoreError::NotASessionId { text: Untrusted::new(prefix) });
        }
        let mut found: Vec<String> = Vec::new();
        let mut next = self.next_session(Start::This(prefix))?;
        while let Some(session) = next.filter(|session| session.starts_with(prefix)) {
            // The whole id counts even where it is the beginning of another.
            if session == prefix {
                return Ok(session);
            }
            if found.len() == MOST_NAMED {
                found.push("…".into());
                break;
            }
            next = self.next_session(Start::After(&session))?;
            found.push(session);
        }
        match found.len() {
            0 => Err(StoreError::NoSession { prefix: prefix.into() }),
            1 => Ok(found.remove(0)),
            _ => Err(StoreError::AmbiguousSession { prefix: prefix.into(), among: found }),
        }
    }

    /// The next session by name. A session with a million records costs no more than one with ten.
    fn next_session(&self, from: Start<'_>) -> Result<Option<String>, StoreError> {
        let (than, from) = match from {
            Start::This(from) => (">=", from),
            Start::After(from) => (">", from),
        };
        let query =
            format!("SELECT session FROM {SPANS} WHERE session {than} ?1 ORDER BY session LIMIT 1");
        self.connection
            .prepare_cached(&query)
            .and_then(|mut statement| statement.query_row([from], |row| row.get(0)).optional())
            .map_err(|error| failure(&self.path, error))
    }
}

/// Where to begin looking for a session.
#[derive(Clone, Copy)]
enum Start<'a> {
    This(&'a str),
    After(&'a str),
}

/// A kind of record that tells a session from others. Each has a place in the index
/// `record_landmark`, which serves only queries that name the kind as it is named there.
#[derive(Clone, Copy)]
enum Landmark {
    Started,
    Prompt,
}

impl Landmark {
    fn query(self) -> &'static str {
        match self {
            Self::Started => {
                "SELECT seq, session, time, body FROM record
                 WHERE session = ?1 AND kind = 'session_started' ORDER BY seq LIMIT 1"
            }
            Self::Prompt => {
                "SELECT seq, session, time, body FROM record
                 WHERE session = ?1 AND kind = 'prompt' ORDER BY seq LIMIT 1"
            }
        }
    }
}

#[cfg(test)]
#[path = "sessions_tests.rs"]
mod tests;
