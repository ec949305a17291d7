//! Sessions as the record shows them: which there are, and which one a person means.

use super::{Log, failure::failure, spans::SPANS};
use crate::StoreError;
use interpreter_core::Untrusted;
use rusqlite::{OptionalExtension, params};
use std::{
    path::PathBuf,
    sync::Mutex,
    time::{SystemTime, UNIX_EPOCH},
};
use uuid::{ContextV7, Timestamp, Uuid};

/// Sessions that are named when one was meant.
const MOST_NAMED: usize = 5;

/// Tells sessions of the same moment apart, in the order in which they began.
static SEQUENCE: Mutex<ContextV7> = Mutex::new(ContextV7::new());

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
    session_id_at(SystemTime::now())
}

/// An id for a session that begins at this time. A clock that stands before 1970, the first year
/// that an id can hold, counts as that year.
fn session_id_at(now: SystemTime) -> String {
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let time = Timestamp::from_unix(&SEQUENCE, since.as_secs(), since.subsec_nanos());
    Uuid::new_v7(time).simple().to_string()
}

/// How many sessions a list has at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HowMany {
    /// So many, the newest.
    Newest(usize),
    /// All of them.
    All,
}

impl Log {
    /// Sessions, the newest first. Those that are not asked for cost nothing.
    pub fn sessions(&self, how_many: HowMany) -> Result<Vec<SessionSummary>, StoreError> {
        let most = match how_many {
            HowMany::Newest(most) => most,
            HowMany::All => usize::MAX,
        };
        self.newest(most).map_err(|error| failure(&self.path, error))
    }

    /// The session that began last.
    pub fn newest_session(&self) -> Result<Option<String>, StoreError> {
        let newest = self.newest(1).map_err(|error| failure(&self.path, error))?;
        Ok(newest.into_iter().next().map(|session| session.id))
    }

    /// Goes from span to span, the newest first. A session is where its first span is.
    fn newest(&self, most: usize) -> rusqlite::Result<Vec<SessionSummary>> {
        let mut found = Vec::new();
        let mut statement = self.connection.prepare_cached(
            "SELECT session, since FROM head WHERE session IS NOT NULL AND since IS NOT NULL",
        )?;
        let growing = statement
            .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?
            .into_iter()
            .map(Ok);
        let mut statement = self
            .connection
            .prepare_cached("SELECT session, first FROM span ORDER BY first DESC")?;
        let ended = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        for span in growing.chain(ended) {
            if found.len() == most {
                break;
            }
            let (session, first): (String, i64) = span?;
            if !self.has_span_before(&session, first)? {
                found.push(self.summary(session, first)?);
            }
        }
        Ok(found)
    }

    fn has_span_before(&self, session: &str, first: i64) -> rusqlite::Result<bool> {
        self.connection
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM span WHERE session = ?1 AND first < ?2)")?
            .query_row(params![session, first], |row| row.get(0))
    }

    /// What a list says of a session. A damaged record costs the part that it would have told.
    fn summary(&self, id: String, first: i64) -> rusqlite::Result<SessionSummary> {
        let started = self
            .connection
            .prepare_cached("SELECT time FROM record WHERE seq = ?1")?
            .query_row([first], |row| row.get(0))
            .optional()?
            .unwrap_or_default();
        let records: i64 = self
            .connection
            .prepare_cached(&format!(
                "SELECT sum(last - first + 1) FROM {SPANS} WHERE session = ?1"
            ))?
            .query_row([&id], |row| row.get(0))?;
        let work_folder: Option<String> = self.landmark(&id, Landmark::Started)?;
        // A session that was taken up again has not ended, unless it ended after that.
        let ended = self
            .connection
            .prepare_cached(
                "SELECT time FROM record WHERE session = ?1 AND kind = 'session_ended'
                 AND seq > coalesce((SELECT max(seq) FROM record
                     WHERE session = ?1 AND kind = 'session_started'), 0)
                 ORDER BY seq DESC LIMIT 1",
            )?
            .query_row([&id], |row| row.get(0))
            .optional()?;
        Ok(SessionSummary {
            started,
            ended,
            first_prompt: self.landmark(&id, Landmark::Prompt)?,
            records: records.unsigned_abs(),
            work_folder: work_folder.map(PathBuf::from),
            id,
        })
    }

    fn landmark(&self, session: &str, landmark: Landmark) -> rusqlite::Result<Option<String>> {
        let mut statement = self.connection.prepare_cached(landmark.query())?;
        Ok(statement.query_row([session], |row| row.get(0)).optional()?.flatten())
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
                "SELECT iif(json_valid(body), json_extract(body, '$.confinement.work_folder'), NULL)
                 FROM record
                 WHERE session = ?1 AND kind = 'session_started' ORDER BY seq LIMIT 1"
            }
            Self::Prompt => {
                "SELECT iif(json_valid(body), substr(json_extract(body, '$.text'), 1, 500), NULL)
                 FROM record
                 WHERE session = ?1 AND kind = 'prompt' ORDER BY seq LIMIT 1"
            }
        }
    }
}

#[cfg(test)]
#[path = "sessions_tests.rs"]
mod tests;
