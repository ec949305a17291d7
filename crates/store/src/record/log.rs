//! The log: opens the record's file and appends to it.
//!
//! One connection, one thread at a time; other processes may append to the same file meanwhile.
//! Must not change or remove what is there.

use super::{failure::failure, link::Columns, schema};
use crate::{Folders, StoreError, private};
use interpreter_core::{Body, Record, Untrusted, record::VERSION};
use rusqlite::{
    Connection, OpenFlags, OptionalExtension, TransactionBehavior, config::DbConfig, params,
};
use serde::{Deserialize, Serialize};
use std::{
    borrow::Cow,
    path::{Path, PathBuf},
    time::Duration,
};

/// How long to wait for another process that is appending.
const PATIENCE: Duration = Duration::from_secs(5);

/// The record, open for appending and reading.
#[derive(Debug)]
pub struct Log {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
}

impl Log {
    /// Opens the record, and makes it if there is none.
    pub fn open(folders: &Folders) -> Result<Self, StoreError> {
        private::make_folder(&folders.data)?;
        let path = folders.record_file();
        // SQLite would make it, and the files beside it, by the umask; so it finds it made.
        private::make_file(&path)?;
        let mut connection = connect(&path).map_err(|error| failure(&path, error))?;
        schema::prepare(&mut connection, &path)?;
        Ok(Self { connection, path })
    }

    /// Where the record is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends to the record. When this returns, the record is in the file; on an error nothing
    /// was appended, and what was about to happen must not.
    pub fn append(&mut self, session: &str, body: &Body) -> Result<Record, StoreError> {
        check_session(session)?;
        let stored = serde_json::to_string(&StoredRef { v: VERSION, body })
            .map_err(|source| StoreError::Unwritable { source })?;
        let (seq, time) = self
            .write(session, &stored)
            .map_err(|error| failure(&self.path, error))?
            .ok_or_else(|| StoreError::Broken { path: self.path.clone() })?;
        Ok(Record { v: VERSION, seq, time, session: session.to_owned(), body: body.clone() })
    }

    /// Number and time of the new record; none if there is no head to follow.
    fn write(&mut self, session: &str, body: &str) -> rusqlite::Result<Option<(u64, String)>> {
        let kind = kind(body);
        // Takes the write lock at once: the head that is read here stays the head until the end.
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let head = transaction
            .prepare_cached("SELECT seq, hash FROM head WHERE id = 1")?
            .query_row([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))
            .optional()?;
        let Some((last, prev)) = head else { return Ok(None) };
        let Some(seq) = last.checked_add(1) else { return Ok(None) };
        let Ok(number) = u64::try_from(seq) else { return Ok(None) };
        let time = now();
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
        transaction
            .prepare_cached("UPDATE head SET seq = ?1, hash = ?2 WHERE id = 1")?
            .execute(params![seq, hash])?;
        transaction.commit()?;
        Ok(Some((number, time)))
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    // What a file says of its own tables is not trusted further than we wrote it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    // Closing would copy the whole log into the main file and wait for the disk. The log is as good
    // where it is, and is copied when it has grown.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(connection)
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

/// The kind of the event in a body's text.
fn kind(stored: &str) -> String {
    #[derive(Deserialize)]
    struct Kind<'a> {
        #[serde(borrow)]
        kind: Cow<'a, str>,
    }
    let kind: Kind<'_> = serde_json::from_str(stored).expect("every event is tagged with its kind");
    kind.kind.into_owned()
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
