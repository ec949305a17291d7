//! Sessions as the record shows them: which there are, and which one a person means.

use super::{Log, failure::failure, read::record};
use crate::StoreError;
use interpreter_core::{
    Body, QuestionAbout, Record, RecordedQuestion, Untrusted, record::SessionHead,
};
use rusqlite::{OptionalExtension, params};
use std::{
    collections::BTreeSet,
    path::PathBuf,
    sync::Mutex,
    time::{SystemTime, UNIX_EPOCH},
};
use uuid::{ContextV7, Timestamp, Uuid};

/// Records at the beginning of a session among which it says from which one it goes on.
const EARLY: i64 = 256;

/// Records at the end of a session among which a question is that is still open: approvals and notes
/// may follow it.
const LATE: i64 = 128;

/// Sessions that are named when one was meant.
const MOST_NAMED: u8 = 5;

/// Tells sessions of the same moment apart, in the order in which they began.
static SEQUENCE: Mutex<ContextV7> = Mutex::new(ContextV7::new());

/// Kinds of records behind which no earlier question is open.
const CLOSING: [&str; 6] =
    ["question_closed", "answer", "run_started", "prompt", "turn_finished", "resumed"];

/// A record near the beginning of a session, which may be damaged, and the id of that session.
type Beginning = (String, Result<Record, StoreError>);

/// How a session goes on in another one.
enum Continuation {
    None,
    In(String),
    /// In one whose record cannot be read.
    Unreadable,
}

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
    /// The first code of a session without prompts, cut likewise.
    pub first_code: Option<String>,
    /// How many records it has.
    pub records: u64,
    /// The folder it worked in.
    pub work_folder: Option<PathBuf>,
    /// Whether it is a conversation of another program.
    pub is_imported: bool,
}

/// Characters of the short form of an id.
const SHORT: usize = 8;

/// Characters of an id's end by which a session is found.
const SHORTEST: usize = 4;

/// Records at the beginning of a session among which its first code is looked for.
const NEAR: i64 = 20;

impl SessionSummary {
    /// The end of the id. Ids begin with the time, so sessions of one minute begin alike; they end
    /// by chance.
    pub fn short_id(&self) -> &str {
        short_id(&self.id)
    }
}

/// The end of an id, by which people call a session.
pub fn short_id(id: &str) -> &str {
    id.get(id.len().saturating_sub(SHORT)..).unwrap_or(id)
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

/// The sessions that a list has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionFilter {
    /// So many at most, the newest.
    pub newest: usize,
    /// Those of this folder alone.
    pub work_folder: Option<PathBuf>,
}

impl SessionFilter {
    /// All of them.
    pub const ALL: Self = Self { newest: usize::MAX, work_folder: None };
}

impl Log {
    /// Sessions, the newest first. Of those that are not wanted, only the first record is read.
    /// Decisions and accounts that have ids of their own are none, nor are removed ones.
    pub fn sessions(&self, which: &SessionFilter) -> Result<Vec<SessionSummary>, StoreError> {
        self.listed(which, None, None).map_err(|error| failure(&self.path, error))
    }

    /// The same of those that began before the session `before`.
    pub fn sessions_before(
        &self,
        which: &SessionFilter,
        before: &str,
    ) -> Result<Vec<SessionSummary>, StoreError> {
        self.listed(which, None, Some(before)).map_err(|error| failure(&self.path, error))
    }

    /// Whether nothing was ever recorded.
    pub fn is_empty(&self) -> Result<bool, StoreError> {
        let query = "SELECT NOT EXISTS (SELECT 1 FROM head WHERE session < '~')";
        let found = self.connection.query_row(query, [], |row| row.get(0));
        found.map_err(|error| failure(&self.path, error))
    }

    /// The list entry of one session.
    pub fn session(&self, id: &str) -> Result<Option<SessionSummary>, StoreError> {
        self.listed(&SessionFilter { newest: 1, work_folder: None }, Some(id), None)
            .map(|found| found.into_iter().next())
            .map_err(|error| failure(&self.path, error))
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
    fn listed(
        &self,
        which: &SessionFilter,
        id: Option<&str>,
        before: Option<&str>,
    ) -> rusqlite::Result<Vec<SessionSummary>> {
        // A damaged session lacks its first record, and is one all the same.
        let mut statement = self.connection.prepare_cached(
            "SELECT head.session, head.place, head.seq, first.time,
                 iif(json_valid(body), body ->> '$.confinement.work_folder', NULL),
                 iif(json_valid(body), body ->> '$.imported', NULL) IS 1
             FROM head LEFT JOIN record AS first ON first.place = head.place - head.seq + 1
             WHERE head.session < '~' AND (?1 IS NULL OR head.session = ?1)
                 AND (?2 IS NULL OR head.session < ?2)
                 AND coalesce(first.kind, '') NOT IN
                     ('anchored', 'record_accepted', 'sessions_removed', 'changes_wanted')
                 AND EXISTS (SELECT 1 FROM record WHERE place > head.place - head.seq
                                 AND place <= head.place)
             ORDER BY head.session DESC",
        )?;
        let mut rows = statement.query([id, before])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            if found.len() >= which.newest {
                break;
            }
            let folder: Option<String> = row.get(4)?;
            let folder = folder.map(PathBuf::from);
            if which.work_folder.is_some() && which.work_folder != folder {
                continue;
            }
            let started: Option<String> = row.get(3)?;
            let summary = SessionSummary {
                id: row.get(0)?,
                started: started.unwrap_or_default(),
                ended: None,
                first_prompt: None,
                first_code: None,
                records: 0,
                work_folder: folder,
                is_imported: row.get(5)?,
            };
            found.push(self.completed(summary, row.get(1)?, row.get(2)?)?);
        }
        Ok(found)
    }

    /// A list entry with the rest of it, for a session with `seq` records, the last of them at
    /// `last`. A damaged record loses only its own part.
    fn completed(
        &self,
        summary: SessionSummary,
        last: i64,
        seq: i64,
    ) -> rusqlite::Result<SessionSummary> {
        let before = last.saturating_sub(seq);
        let ended = self
            .connection
            .prepare_cached("SELECT time FROM record WHERE place = ?1 AND kind = 'session_ended'")?
            .query_row([last], |row| row.get(0))
            .optional()?;
        let first_prompt = self
            .connection
            .prepare_cached(FIRST_PROMPT)?
            .query_row([before, last], |row| row.get::<_, Option<_>>(0))
            .optional()?
            .flatten();
        let first_code = match first_prompt {
            Some(_) => None,
            None => self
                .connection
                .prepare_cached(FIRST_CODE)?
                .query_row([before, last.min(before.saturating_add(NEAR))], |row| {
                    row.get::<_, Option<_>>(0)
                })
                .optional()?
                .flatten(),
        };
        Ok(SessionSummary {
            ended,
            first_prompt,
            first_code,
            records: seq.unsigned_abs(),
            ..summary
        })
    }

    /// The earlier session whose conversation goes on in this one.
    #[expect(clippy::wildcard_enum_match_arm, reason = "nothing else says so")]
    pub fn resumed_from(&self, session: &str) -> Result<Option<String>, StoreError> {
        for record in self.records(session) {
            match record?.body {
                // Ids sort by age: nothing goes on from itself, or from a later one.
                Body::Resumed { from, .. } => {
                    return Ok(Some(from).filter(|earlier| earlier.as_str() < session));
                }
                Body::Prompt { .. } | Body::Request { .. } => break,
                _ => {}
            }
        }
        Ok(None)
    }

    /// Whether another session goes on from this one at the question that was open in it. A record
    /// that cannot be read counts if it names this session, and costs nobody else.
    pub fn is_continued(&self, session: &str) -> Result<bool, StoreError> {
        Ok(!matches!(self.continuation(session)?, Continuation::None))
    }

    /// The session that goes on from this one at its question, if its record can be read.
    pub fn continued_in(&self, session: &str) -> Result<Option<String>, StoreError> {
        Ok(match self.continuation(session)? {
            Continuation::In(id) => Some(id),
            Continuation::None | Continuation::Unreadable => None,
        })
    }

    /// Looks at all sessions: the order of their ids is that of a clock that may have been set back.
    fn continuation(&self, session: &str) -> Result<Continuation, StoreError> {
        for (_, resumed) in self.at_beginnings("resumed", EARLY, "", session)? {
            match resumed {
                Ok(Record {
                    body: Body::Resumed { from, question: Some(_), .. },
                    session: id,
                    ..
                }) if from == session => {
                    return Ok(Continuation::In(id));
                }
                Ok(_) => {}
                Err(_) => return Ok(Continuation::Unreadable),
            }
        }
        Ok(Continuation::None)
    }

    /// The sessions from which others go on at their question, as far as those say that have later ids
    /// than `oldest`. One look for a whole list: whoever goes on makes sure with `is_continued`.
    pub fn continued_since(&self, oldest: &str) -> Result<BTreeSet<String>, StoreError> {
        // One that cannot be read costs nobody their place in a list.
        let readable = self
            .at_beginnings("resumed", EARLY, oldest, "")?
            .into_iter()
            .filter_map(|(_, one)| one.ok());
        let from = readable.filter_map(|one| {
            let Body::Resumed { from, question: Some(_), .. } = one.body else { return None };
            Some(from)
        });
        Ok(from.collect())
    }

    /// The newest session that was removed on purpose, as far as sessions with later ids than `oldest`
    /// say. One that went on from another may be among them. An account that cannot be read may name
    /// any session before it.
    pub fn newest_removed(&self, oldest: &str) -> Result<Option<String>, StoreError> {
        let newest = |(id, account): Beginning| match account {
            Ok(Record { body: Body::SessionsRemoved { sessions, .. }, .. }) => {
                sessions.into_iter().map(|head| head.session).max()
            }
            Ok(_) => None,
            Err(_) => Some(id),
        };
        Ok(self
            .at_beginnings("sessions_removed", 1, oldest, "")?
            .into_iter()
            .filter_map(newest)
            .max())
    }

    /// The records of a kind among the first so many of each session behind `since`, if this is part
    /// of their text; each with the id of its session.
    fn at_beginnings(
        &self,
        kind: &str,
        most: i64,
        since: &str,
        part: &str,
    ) -> Result<Vec<Beginning>, StoreError> {
        let failed = |error| failure(&self.path, error);
        let mut statement = self.connection.prepare_cached(AT_BEGINNINGS).map_err(failed)?;
        let rows = statement.query_map(params![kind, most, since, part], |row| {
            let id: String = row.get(1)?;
            Ok((id.clone(), record((row.get(0)?, id, row.get(2)?, row.get(3)?))))
        });
        rows.map_err(failed)?.collect::<Result<_, _>>().map_err(failed)
    }

    /// The question about code that is still open at the end of a session on record, whether or not
    /// that session runs or another one goes on with it. Reads only the end.
    pub fn open_question(&self, session: &str) -> Result<Option<RecordedQuestion>, StoreError> {
        let failed = |error| failure(&self.path, error);
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT kind, record.seq, record.session, time, body FROM head JOIN record
                     ON record.place <= head.place
                     AND record.place > head.place - min(head.seq, ?2)
                 WHERE head.session = ?1 ORDER BY record.place DESC",
            )
            .map_err(failed)?;
        let mut rows = statement.query(params![session, LATE]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let kind: String = row.get(0).map_err(failed)?;
            if CLOSING.contains(&kind.as_str()) {
                return Ok(None);
            }
            if kind == "question" {
                let columns = (row.get(1), row.get(2), row.get(3), row.get(4));
                let (Ok(seq), Ok(id), Ok(time), Ok(body)) = columns else { return Ok(None) };
                // One that cannot be read cannot be answered.
                let Ok(Record { body: Body::Question(open), .. }) = record((seq, id, time, body))
                else {
                    return Ok(None);
                };
                return Ok(Some(open).filter(|open| matches!(open.about, QuestionAbout::Code(_))));
            }
        }
        Ok(None)
    }

    /// The record of a session with this number, and its hash.
    pub fn head_at(&self, session: &str, seq: u64) -> Result<Option<SessionHead>, StoreError> {
        let failed = |error| failure(&self.path, error);
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT record.hash FROM head
                     JOIN record ON record.place = head.place - head.seq + ?2
                 WHERE head.session = ?1 AND ?2 BETWEEN 1 AND head.seq",
            )
            .map_err(failed)?;
        let number = i64::try_from(seq).unwrap_or(i64::MAX);
        let hash = statement.query_row(params![session, number], |row| row.get(0));
        let head = |hash| SessionHead { session: session.to_owned(), seq, hash };
        Ok(hash.optional().map_err(failed)?.map(head))
    }

    /// The one session whose id begins or ends with `prefix`.
    pub fn find_session(&self, prefix: &str) -> Result<String, StoreError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        if prefix.is_empty() || !prefix.chars().all(plain) {
            return Err(StoreError::NotASessionId { text: Untrusted::new(prefix) });
        }
        let mut found = self.from(prefix).map_err(|error| failure(&self.path, error))?;
        found.retain(|session| session.starts_with(prefix));
        if found.is_empty() && prefix.len() >= SHORTEST {
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
                 AND EXISTS (SELECT 1 FROM record WHERE place > head.place - head.seq
                                 AND place <= head.place)
             ORDER BY session DESC LIMIT ?2",
        )?;
        let rows = statement.query_map(params![end, MOST_NAMED + 1], |row| row.get(0))?;
        rows.collect()
    }

    /// The sessions from `first` on by name, one more than is named.
    fn from(&self, first: &str) -> rusqlite::Result<Vec<String>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT session FROM head WHERE session >= ?1 AND session < '~'
                 AND EXISTS (SELECT 1 FROM record WHERE place > head.place - head.seq
                                 AND place <= head.place)
             ORDER BY session LIMIT ?2",
        )?;
        let rows = statement.query_map(params![first, MOST_NAMED + 1], |row| row.get(0))?;
        rows.collect()
    }
}

/// Records of a kind at the beginnings of sessions.
const AT_BEGINNINGS: &str = "SELECT record.seq, record.session, time, body FROM head JOIN record
         ON record.place > head.place - head.seq
         AND record.place <= min(head.place, head.place - head.seq + ?2)
     WHERE kind = ?1 AND head.session > ?3 AND instr(body, ?4) > 0";

/// The index `record_prompt` serves only queries that name the kind as it is named there.
const FIRST_PROMPT: &str =
    "SELECT iif(json_valid(body), substr(json_extract(body, '$.text'), 1, 500), NULL)
     FROM record WHERE place > ?1 AND place <= ?2 AND kind = 'prompt' ORDER BY place LIMIT 1";

/// Of a session without prompts, near its beginning.
const FIRST_CODE: &str =
    "SELECT iif(json_valid(body), substr(json_extract(body, '$.code'), 1, 500), NULL)
     FROM record WHERE place > ?1 AND place <= ?2 AND kind = 'proposal' ORDER BY place LIMIT 1";

#[cfg(test)]
#[path = "sessions_tests.rs"]
mod tests;
