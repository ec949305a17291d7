//! The log: appends to the record. `open.rs` opens it.
//!
//! One connection, one thread at a time; other processes may append to the same file meanwhile.
//! Must not change or remove what is there.

use super::{end::EndFile, failure::failure, files::Files, link::Columns, spans::Head};
use crate::StoreError;
use interpreter_core::{Body, Record, Untrusted, record::VERSION};
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
    /// Whether nothing was ever recorded here, so that no end is expected either.
    pub(super) is_fresh: bool,
    /// What every append needs.
    pub(super) appending: Option<Appending>,
}

/// What every append needs, beside the database.
#[derive(Debug)]
pub(super) struct Appending {
    pub(super) end: EndFile,
    pub(super) files: Files,
}

/// What was appended in one transaction.
struct Appended {
    first: u64,
    last: u64,
    /// The hash of the last.
    hash: String,
}

impl Log {
    /// Where the record is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends to the record. When this returns, the record is in the file; on an error nothing
    /// was appended, and what was about to happen must not.
    pub fn append(&mut self, session: &str, body: &Body) -> Result<Record, StoreError> {
        let entry = Entry::now(body.clone());
        let seq = self.append_all(session, std::slice::from_ref(&entry))?;
        Ok(entry.into_record(seq, session))
    }

    /// Appends all of `entries`, or none of them, and gives the number of the first: the others
    /// have those that follow. When this returns, they are in the file.
    pub fn append_all(&mut self, session: &str, entries: &[Entry]) -> Result<u64, StoreError> {
        check_session(session)?;
        if let Some(Appending { files, .. }) = &self.appending {
            files.check()?;
        }
        let stored = entries
            .iter()
            .map(|entry| Ok((entry.time.as_str(), stored(&entry.body)?)))
            .collect::<Result<Vec<_>, serde_json::Error>>()
            .map_err(|source| StoreError::Unwritable { source })?;
        let appended = self
            .write(session, &stored)
            .map_err(|error| failure(&self.path, error))?
            .ok_or_else(|| StoreError::Broken { path: self.path.clone() })?;
        if let Some(Appending { end, .. }) = &self.appending {
            end.advance(appended.last, &appended.hash)?;
        }
        Ok(appended.first)
    }

    /// Writes in one transaction, or gives `None` if there is no head to follow.
    fn write(
        &mut self,
        session: &str,
        new: &[(&str, String)],
    ) -> rusqlite::Result<Option<Appended>> {
        // Takes the write lock at once: the head that is read here stays the head until the end.
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let Some(head) = Head::read(&transaction)? else { return Ok(None) };
        let Ok(first) = u64::try_from(head.seq.saturating_add(1)) else { return Ok(None) };
        let mut prev = head.hash.clone();
        let mut seq = head.seq;
        if new.is_empty() {
            return Ok(Some(Appended { first, last: first - 1, hash: prev }));
        }
        for (time, body) in new {
            let Some(next) = seq.checked_add(1) else { return Ok(None) };
            seq = next;
            let kind = kind(body);
            let hash = Columns {
                prev: prev.as_bytes(),
                seq,
                session: session.as_bytes(),
                time: time.as_bytes(),
                kind: kind.as_bytes(),
                body: body.as_bytes(),
            }
            .hash();
            transaction
                .prepare_cached(
                    "INSERT INTO record (seq, session, time, kind, body, prev, hash)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                )?
                .execute(params![seq, session, time, kind, body, prev, hash])?;
            prev = hash;
        }
        let last = first - 1 + new.len() as u64;
        head.advance(&transaction, session, seq, &prev)?;
        transaction.commit()?;
        Ok(Some(Appended { first, last, hash: prev }))
    }
}

/// Something that happened, with its time, before it has a place in the record.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// When, as RFC 3339 in UTC with microseconds.
    pub time: String,
    /// What.
    pub body: Body,
}

impl Entry {
    /// Something that happens now.
    pub fn now(body: Body) -> Self {
        Self { time: now(), body }
    }

    /// It with its place.
    pub fn into_record(self, seq: u64, session: &str) -> Record {
        Record { v: VERSION, seq, time: self.time, session: session.to_owned(), body: self.body }
    }
}

/// The text of a body as the record holds it: without what has a file of its own.
fn stored(body: &Body) -> Result<String, serde_json::Error> {
    let Body::Output { proposal, stream, mime, display, kept: Some(kept), .. } = body else {
        return serde_json::to_string(&StoredRef { v: VERSION, body });
    };
    let body = &Body::Output {
        proposal: proposal.clone(),
        stream: *stream,
        text: Untrusted::default(),
        mime: mime.clone(),
        bundle: BTreeMap::new(),
        display: display.clone(),
        bytes: None,
        kept: Some(kept.clone()),
    };
    serde_json::to_string(&StoredRef { v: VERSION, body })
}

/// A session's id is part of the hashed text and of messages, so it is plain.
fn check_session(session: &str) -> Result<(), StoreError> {
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

/// What the column `body` holds: the version of the shapes, and the event.
#[derive(Serialize)]
struct StoredRef<'a> {
    v: u32,
    #[serde(flatten)]
    body: &'a Body,
}

/// The same, read back.
#[derive(Deserialize)]
pub(super) struct Stored {
    pub(super) v: u32,
    #[serde(flatten)]
    pub(super) body: Body,
}

/// The kind of the event in a body's text, which begins with version and kind.
fn kind(stored: &str) -> &str {
    let after = stored.split_once(r#""kind":""#).and_then(|(_, after)| after.split_once('"'));
    after.expect("every event is tagged with its kind").0
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
