//! The log: appends to the record. `open.rs` opens it.
//!
//! One connection, one thread at a time; other processes may append to the same file meanwhile.
//! Must not change or remove what is there.

use super::{
    chain::Columns,
    end::{End, EndFile},
    failure::failure,
    files::Files,
    heads::{Head, Heads, Total},
};
use crate::StoreError;
use interpreter_core::{Body, Output, Record, Untrusted, hash::SealKey, record::VERSION};
use rusqlite::{Connection, TransactionBehavior, params};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// The record, open for reading, and for appending if it was opened for that.
#[derive(Debug)]
pub struct Log {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
    /// The file that says where the record ends.
    pub(super) end_path: PathBuf,
    /// Signs the list of heads.
    pub(super) key: SealKey,
    /// Whether nothing was ever recorded here, so that no end is expected either.
    pub(super) is_fresh: bool,
    /// The last record that this process added, and its session.
    pub(super) added: Option<(String, Added)>,
    /// Everything that an append needs.
    pub(super) appending: Option<Appending>,
}

/// Everything that an append needs, besides the database.
#[derive(Debug)]
pub(super) struct Appending {
    pub(super) end: EndFile,
    pub(super) files: Files,
}

impl Log {
    /// Where the record is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends to the record. When this returns, the record is in the file; on an error nothing
    /// was appended, and what was about to happen must not.
    pub fn append(&mut self, session: &str, body: &Body) -> Result<Record, StoreError> {
        let entry = LogEntry::now(body.clone());
        let seq = self.append_all(session, std::slice::from_ref(&entry))?;
        Ok(entry.into_record(seq, session))
    }

    /// Appends all of `entries`, or none of them, and gives the number of the first in its session:
    /// the others have those that follow. When this returns, they are in the file.
    pub fn append_all(&mut self, session: &str, entries: &[LogEntry]) -> Result<u64, StoreError> {
        check_session(session)?;
        // Read before the database: the end may lag behind that, and never leads.
        let known = match &self.appending {
            Some(Appending { end, files, .. }) => {
                files.check()?;
                end.read()?.map_or(0, |slot| slot.end.records)
            }
            None => 0,
        };
        let stored = stored(entries)?;
        let added = self
            .write(session, &stored, known)
            .map_err(|error| failure(&self.path, error))?
            .ok_or_else(|| StoreError::Broken { path: self.path.clone() })?;
        let first = added.head.seq.unsigned_abs() + 1 - entries.len() as u64;
        if let Some(Appending { end, .. }) = &mut self.appending {
            end.advance(added.end(session))?;
        }
        self.added = Some((session.into(), added));
        Ok(first)
    }

    /// Writes in one transaction, or gives `None` if that would not follow from what was written.
    fn write(
        &mut self,
        session: &str,
        new: &[(&str, String)],
        known: u64,
    ) -> rusqlite::Result<Option<Added>> {
        // Takes the write lock at once: what is read here stays true until the end.
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let heads = Heads { connection: &transaction, key: &self.key };
        let last = self.added.as_ref();
        let Some(total) = heads.total(last.map(|(_, last)| &last.total))? else { return Ok(None) };
        if total.records.unsigned_abs() < known {
            return Ok(None);
        }
        let last = last.filter(|(of, _)| of == session).map(|(_, last)| &last.head);
        let Some(head) = heads.head(&total, session, last)? else { return Ok(None) };
        let added = Added { total, head }.add(heads, session, new)?;
        transaction.commit()?;
        Ok(Some(added))
    }
}

/// The total and the head of a session after something was added to it.
#[derive(Debug)]
pub(super) struct Added {
    pub(super) total: Total,
    pub(super) head: Head,
}

impl Added {
    /// Adds records to a session, and moves its head and the total.
    pub(super) fn add(
        mut self,
        heads: Heads<'_>,
        session: &str,
        new: &[(&str, String)],
    ) -> rusqlite::Result<Self> {
        let mut statement = heads.connection.prepare_cached(
            "INSERT INTO record (place, session, seq, time, kind, body, prev, hash)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?;
        self.total.place = self.total.place.max(self.head.place - self.head.seq);
        for (time, body) in new {
            let place = self.head.place + 1;
            let (seq, prev, kind) = (self.head.seq + 1, self.head.hash, kind(body));
            let hash = Columns {
                prev: prev.as_bytes(),
                seq,
                session: session.as_bytes(),
                time: time.as_bytes(),
                kind: kind.as_bytes(),
                body: body.as_bytes(),
            }
            .hash();
            let rows = params![place, session, seq, time, kind, body, prev, hash];
            one_row(statement.execute(rows)?)?;
            self.head = Head { place, seq, hash };
            self.total.records += 1;
        }
        if !new.is_empty() {
            heads.set_head(&self.total.epoch, session, &self.head)?;
            heads.set_total(&self.total)?;
        }
        Ok(self)
    }

    /// The end of the record after that.
    pub(super) fn end(&self, session: &str) -> End {
        End {
            records: self.total.records.unsigned_abs(),
            session: session.into(),
            seq: self.head.seq.unsigned_abs(),
            hash: self.head.hash.clone(),
        }
    }
}

/// Fails unless one row was written: a table that was exchanged may take it and keep nothing.
pub(super) fn one_row(rows: usize) -> rusqlite::Result<()> {
    if rows == 1 { Ok(()) } else { Err(rusqlite::Error::StatementChangedRows(rows)) }
}

/// Something that happened, with its time, before it has a place in the record.
#[derive(Clone, Debug, PartialEq)]
pub struct LogEntry {
    /// When, as RFC 3339 in UTC with microseconds.
    pub time: String,
    /// The name of the client or person that caused it.
    pub who: Option<String>,
    /// What.
    pub body: Body,
}

impl LogEntry {
    /// Something that happens now.
    pub fn now(body: Body) -> Self {
        Self { time: now(), who: None, body }
    }

    /// The same, caused by this client.
    #[must_use]
    pub fn by(self, who: Option<String>) -> Self {
        Self { who, ..self }
    }

    /// It with its place.
    pub fn into_record(self, seq: u64, session: &str) -> Record {
        let Self { time, who, body } = self;
        Record { v: VERSION, seq, time, session: session.to_owned(), who, body }
    }
}

/// Entries as the record holds them: their times, and the texts of their bodies.
pub(super) fn stored(entries: &[LogEntry]) -> Result<Vec<(&str, String)>, StoreError> {
    entries
        .iter()
        .map(|entry| Ok((entry.time.as_str(), text(&entry.body, entry.who.as_deref())?)))
        .collect::<Result<_, serde_json::Error>>()
        .map_err(|source| StoreError::Unwritable { source })
}

/// The text of a body, without the part that has a file of its own.
fn text(body: &Body, who: Option<&str>) -> Result<String, serde_json::Error> {
    let Body::Output(Output { proposal, stream, mime, display, kept: Some(kept), .. }) = body
    else {
        return serde_json::to_string(&StoredRef { v: VERSION, who, body });
    };
    let body = &Body::Output(Output {
        proposal: proposal.clone(),
        stream: *stream,
        text: Untrusted::default(),
        mime: mime.clone(),
        bundle: BTreeMap::new(),
        display: display.clone(),
        bytes: None,
        kept: Some(kept.clone()),
    });
    serde_json::to_string(&StoredRef { v: VERSION, who, body })
}

/// A session's id is part of the hashed text and of messages, so it is plain.
pub(super) fn check_session(session: &str) -> Result<(), StoreError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if session.is_empty() || session.len() > 64 || !session.chars().all(plain) {
        return Err(StoreError::NotASessionId { text: Untrusted::new(session) });
    }
    Ok(())
}

/// Now, as RFC 3339 in UTC with microseconds.
fn now() -> String {
    format!("{:.6}", jiff::Timestamp::now())
}

/// The content of the column `body`: the version of the shapes, who caused the event if that has a
/// name, and the event.
#[derive(Serialize)]
struct StoredRef<'a> {
    v: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    who: Option<&'a str>,
    #[serde(flatten)]
    body: &'a Body,
}

/// The same, read back.
#[derive(Deserialize)]
pub(super) struct Stored {
    pub(super) v: u32,
    #[serde(default)]
    pub(super) who: Option<String>,
    #[serde(flatten)]
    pub(super) body: Body,
}

fn kind(stored: &str) -> &str {
    kind_of(stored).expect("every event is tagged with its kind")
}

/// The kind of the event in a body's text, which begins with version, name and kind. A quotation mark
/// in the name stands behind a backslash, so the name cannot hold the kind.
pub(super) fn kind_of(stored: &str) -> Option<&str> {
    let (_, after) = stored.split_once(r#""kind":""#)?;
    after.split_once('"').map(|(kind, _)| kind)
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
