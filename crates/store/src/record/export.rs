//! Records with their links, one after another, to be taken elsewhere.
//!
//! A line of an export is the record as `--json` prints it, with a `link`: the hash of the record
//! before it, and its own. The hashed text of the body is in it byte for byte: after `seq`, `time`,
//! `session` and `link` the line goes on as the body does after its opening brace. So the line alone
//! is enough to compute the hash again.
//!
//! Reads one row at a time and sees one state of the record while others append. Must not check
//! anything: `exported.rs` checks what was exported.

use super::{Log, chain::Columns, failure::failure, log::kind_of, read::record};
use crate::StoreError;
use interpreter_core::Record;
use rusqlite::params;

/// The records that are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportFilter {
    /// Of this session alone.
    pub session: Option<String>,
    /// From this time on, as the record has it.
    pub since: Option<String>,
    /// Before this time, as the record has it.
    pub until: Option<String>,
}

/// A record as the file has it, with its link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedRecord {
    /// Its place in its session.
    pub seq: u64,
    /// When.
    pub time: String,
    /// Its session.
    pub session: String,
    /// The hash of the record before.
    pub prev: String,
    /// Its own hash.
    pub hash: String,
    /// What, as the text that was hashed.
    pub body: String,
}

impl LinkedRecord {
    /// It as a line of an export, without the end of the line.
    pub fn line(&self) -> String {
        let Self { seq, time, session, prev, hash, body } = self;
        let rest = body.strip_prefix('{').unwrap_or(body);
        format!(
            r#"{{"seq":{seq},"time":"{time}","session":"{session}","link":{{"prev":"{prev}","hash":"{hash}"}},{rest}"#
        )
    }

    /// The record that a line of an export holds, or `None` if it is no such line.
    pub fn parse(line: &str) -> Option<Self> {
        let (seq, rest) = line.strip_prefix(r#"{"seq":"#)?.split_once(r#","time":""#)?;
        let (time, rest) = rest.split_once(r#"","session":""#)?;
        let (session, rest) = rest.split_once(r#"","link":{"prev":""#)?;
        let (prev, rest) = rest.split_once(r#"","hash":""#)?;
        let (hash, rest) = rest.split_once(r#""},"#)?;
        let is_plain = |text: &&str| text.len() <= 64 && !text.contains(['"', '\\', '\n']);
        if ![time, session, prev, hash].iter().all(is_plain) || seq.starts_with(['+', '0']) {
            return None;
        }
        let body = format!("{{{rest}");
        body.strip_prefix(r#"{"v":"#)?;
        Some(Self {
            seq: seq.parse().ok()?,
            time: time.into(),
            session: session.into(),
            prev: prev.into(),
            hash: hash.into(),
            body,
        })
    }

    /// The record itself.
    pub fn record(self) -> Result<Record, StoreError> {
        let seq = i64::try_from(self.seq).unwrap_or(i64::MAX);
        record((seq, self.session, self.time, self.body))
    }

    /// Whether its hash is that of its content.
    pub(super) fn is_unaltered(&self) -> bool {
        let Ok(seq) = i64::try_from(self.seq) else { return false };
        let Some(kind) = kind_of(&self.body) else { return false };
        let columns = Columns {
            prev: self.prev.as_bytes(),
            seq,
            session: self.session.as_bytes(),
            time: self.time.as_bytes(),
            kind: kind.as_bytes(),
            body: self.body.as_bytes(),
        };
        columns.hash() == self.hash
    }
}

impl Log {
    /// Calls `take` with every wanted record, session by session, and gives their number.
    pub fn export<E: From<StoreError>>(
        &self,
        filter: &ExportFilter,
        mut take: impl FnMut(LinkedRecord) -> Result<(), E>,
    ) -> Result<u64, E> {
        let failed = |error| failure(&self.path, error);
        let ExportFilter { session, since, until } = filter;
        // The whole table by place, or one session by its places.
        let (from, condition) = match session {
            Some(_) => (
                "head JOIN record ON record.place > head.place - head.seq
                     AND record.place <= head.place",
                "head.session = ?1",
            ),
            None => ("record", "?1 IS NULL"),
        };
        let query = format!(
            "SELECT record.seq, time, record.session, prev, record.hash, body FROM {from}
             WHERE {condition} AND time >= ?2 AND time < ?3 ORDER BY record.place"
        );
        let (since, until) = (since.as_deref().unwrap_or(""), until.as_deref().unwrap_or("~"));
        let mut statement = self.connection.prepare(&query).map_err(failed)?;
        let mut rows = statement.query(params![session, since, until]).map_err(failed)?;
        let mut count = 0;
        while let Some(row) = rows.next().map_err(failed)? {
            let read = || -> rusqlite::Result<LinkedRecord> {
                let seq: i64 = row.get(0)?;
                Ok(LinkedRecord {
                    seq: seq.unsigned_abs(),
                    time: row.get(1)?,
                    session: row.get(2)?,
                    prev: row.get(3)?,
                    hash: row.get(4)?,
                    body: row.get(5)?,
                })
            };
            take(read().map_err(failed)?)?;
            count += 1;
        }
        Ok(count)
    }
}
