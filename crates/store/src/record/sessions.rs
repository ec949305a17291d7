//! Sessions as the record shows them: which there are, and which one a person means.

use super::{Log, failure::failure};
use crate::StoreError;
use interpreter_core::{Body, Untrusted};
use rusqlite::{OptionalExtension, params};
use std::{
    path::PathBuf,
    sync::Mutex,
    time::{SystemTime, UNIX_EPOCH},
};
use uuid::{ContextV7, Timestamp, Uuid};

/// Sessions that are named when one was meant.
const MOST_NAMED: u8 = 5;

/// Tells sessions of the same moment apart, in the order in which they began.
static SEQUENCE: Mutex<ContextV7> = Mutex::new(ContextV7::new());

/// One line of the list of sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSummary {
    /// Its id.
    pub id: String,
    /// When it began, as RFC 3339 in UTC.
    pub started: String,
    /// When it ended, unless it goes on or broke off.
    pub ended: Option<String>,
    /// The first prompt, cut after some hundred characters, if there was one.
    pub first_prompt: Option<String>,
    /// How many records it has.
    pub records: u64,
    /// The folder it worked in.
    pub work_folder: Option<PathBuf>,
    /// Whether it is a conversation of another program.
    pub is_imported: bool,
}

/// Characters of the short form of an id.
const SHORT: usize = 8;

impl SessionSummary {
    /// The end of the id. Ids begin with the time, so sessions of one minute begin alike; they end
    /// by chance.
    pub fn short_id(&self) -> &str {
        self.id.get(self.id.len().saturating_sub(SHORT)..).unwrap_or(&self.id)
    }
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

    /// The session that began last. Decisions on changes after their session are on record under
    /// ids of their own, and are none.
    pub fn newest_session(&self) -> Result<Option<String>, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT head.session FROM head JOIN record ON record.place = head.place - head.seq + 1
                 WHERE head.session < '~' AND record.kind = 'session_started'
                 ORDER BY head.session DESC LIMIT 1",
            )
            .map_err(|error| failure(&self.path, error))?;
        statement.query_row([], |row| row.get(0)).optional().map_err(|e| failure(&self.path, e))
    }

    /// Ids sort by age, so the newest are at the end of the list.
    fn newest(&self, most: usize) -> rusqlite::Result<Vec<SessionSummary>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT session, place, seq FROM head WHERE session < '~' ORDER BY session DESC LIMIT ?1",
        )?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let rows =
            statement.query_map([most], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        rows.map(|row| row.and_then(|(session, last, seq)| self.summary(session, last, seq)))
            .collect()
    }

    /// The list entry of a session with `seq` records, the last of them at `last`. A damaged record
    /// loses only its own part.
    fn summary(&self, id: String, last: i64, seq: i64) -> rusqlite::Result<SessionSummary> {
        let before = last.saturating_sub(seq);
        let first = self
            .connection
            .prepare_cached(
                "SELECT time, iif(json_valid(body), body ->> '$.confinement.work_folder', NULL),
                 iif(json_valid(body), body ->> '$.imported', NULL) IS 1
                 FROM record WHERE place = ?1 + 1",
            )?
            .query_row([before], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .optional()?;
        let (started, work_folder, is_imported): (_, Option<String>, _) = first.unwrap_or_default();
        let ended = self
            .connection
            .prepare_cached("SELECT time FROM record WHERE place = ?1 AND kind = 'session_ended'")?
            .query_row([last], |row| row.get(0))
            .optional()?;
        let first_prompt = self
            .connection
            .prepare_cached(FIRST_PROMPT)?
            .query_row([before, last], |row| row.get::<_, Option<_>>(0))
            .optional()?;
        Ok(SessionSummary {
            started,
            ended,
            first_prompt: first_prompt.flatten(),
            records: seq.unsigned_abs(),
            work_folder: work_folder.map(PathBuf::from),
            is_imported,
            id,
        })
    }

    /// The earlier session whose conversation goes on in this one.
    #[expect(clippy::wildcard_enum_match_arm, reason = "nothing else says so")]
    pub fn resumed_from(&self, session: &str) -> Result<Option<String>, StoreError> {
        for record in self.records(session) {
            match record?.body {
                // Ids sort by age: nothing goes on from itself, or from a later one.
                Body::Resumed { from } => {
                    return Ok(Some(from).filter(|earlier| earlier.as_str() < session));
                }
                Body::Prompt { .. } | Body::Request { .. } => break,
                _ => {}
            }
        }
        Ok(None)
    }

    /// The one session whose id begins or ends with `prefix`.
    pub fn find_session(&self, prefix: &str) -> Result<String, StoreError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        if prefix.is_empty() || !prefix.chars().all(plain) {
            return Err(StoreError::NotASessionId { text: Untrusted::new(prefix) });
        }
        let mut found = self.from(prefix).map_err(|error| failure(&self.path, error))?;
        found.retain(|session| session.starts_with(prefix));
        if found.is_empty() && prefix.len() >= SHORT {
            found = self.ending(prefix).map_err(|error| failure(&self.path, error))?;
        }
        match found.len() {
            0 => Err(StoreError::NoSession { prefix: prefix.into() }),
            1 => Ok(found.remove(0)),
            // The whole id counts even where it is the beginning of another.
            _ if found[0] == prefix => Ok(found.remove(0)),
            _ => {
                if let Some(rest) = found.get_mut(usize::from(MOST_NAMED)) {
                    *rest = "…".into();
                }
                Err(StoreError::AmbiguousSession { prefix: prefix.into(), among: found })
            }
        }
    }

    /// The sessions whose ids end so, one more than is named.
    fn ending(&self, end: &str) -> rusqlite::Result<Vec<String>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT session FROM head WHERE session < '~' AND substr(session, -length(?1)) = ?1
             ORDER BY session DESC LIMIT ?2",
        )?;
        let rows = statement.query_map(params![end, MOST_NAMED + 1], |row| row.get(0))?;
        rows.collect()
    }

    /// The sessions from `first` on by name, one more than is named.
    fn from(&self, first: &str) -> rusqlite::Result<Vec<String>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT session FROM head WHERE session >= ?1 AND session < '~' ORDER BY session LIMIT ?2",
        )?;
        let rows = statement.query_map(params![first, MOST_NAMED + 1], |row| row.get(0))?;
        rows.collect()
    }
}

/// The index `record_prompt` serves only queries that name the kind as it is named there.
const FIRST_PROMPT: &str =
    "SELECT iif(json_valid(body), substr(json_extract(body, '$.text'), 1, 500), NULL)
     FROM record WHERE place > ?1 AND place <= ?2 AND kind = 'prompt' ORDER BY place LIMIT 1";

#[cfg(test)]
#[path = "sessions_tests.rs"]
mod tests;
