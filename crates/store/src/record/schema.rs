//! The tables of the record, and how a new file comes to have them.
//!
//! The triggers guard against mistakes of our own and of curious hands; against intent there are
//! links and seals. A change here needs a new [`VERSION`].

use super::{
    failure::failure,
    heads::{Heads, Total},
};
use crate::StoreError;
use interpreter_core::hash::SealKey;
use rusqlite::{Connection, ErrorCode, TransactionBehavior};
use std::path::Path;

/// The format that this program writes, kept in the file as `user_version`.
pub(super) const VERSION: i64 = 5;

/// Tries to switch to write-ahead logging while others open the same new file.
const ATTEMPTS: usize = 20;

/// The records of a session lie one after another by `place`, so that it is read without an index;
/// `heads.rs` gives the places. Ids of newer sessions sort after those of older ones.
const TABLES: &str = "
CREATE TABLE record (
    place   INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    seq     INTEGER NOT NULL,
    time    TEXT NOT NULL,
    kind    TEXT NOT NULL,
    body    TEXT NOT NULL,
    prev    TEXT NOT NULL,
    hash    TEXT NOT NULL
) STRICT;
CREATE INDEX record_prompt ON record (place) WHERE kind = 'prompt';

CREATE TABLE head (
    session TEXT PRIMARY KEY NOT NULL,
    place   INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    hash    TEXT NOT NULL,
    seal    TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER record_no_update BEFORE UPDATE ON record
    BEGIN SELECT RAISE(ABORT, 'the record is append-only'); END;
";

/// Put aside only by `remove.rs`, within one transaction.
pub(super) const DELETE_GUARD: &str = "
CREATE TRIGGER record_no_delete BEFORE DELETE ON record
    BEGIN SELECT RAISE(ABORT, 'the record is append-only'); END;
";

/// Makes the tables in a new file; refuses a file that is not ours or has another format.
pub(super) fn prepare(
    connection: &mut Connection,
    path: &Path,
    key: &SealKey,
) -> Result<(), StoreError> {
    let failed = |error| failure(path, error);
    if version(connection).map_err(failed)? != VERSION {
        // Whether to make them is decided under the write lock: another process may be doing it.
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        match version(&transaction).map_err(failed)? {
            0 if !is_empty(&transaction).map_err(failed)? => {
                return Err(StoreError::NotARecord { path: path.into() });
            }
            0 => {
                transaction.execute_batch(TABLES).map_err(failed)?;
                transaction.execute_batch(DELETE_GUARD).map_err(failed)?;
                Heads { connection: &transaction, key }
                    .set_total(&Total { records: 0, place: 0, epoch: String::new() })
                    .map_err(failed)?;
                transaction.pragma_update(None, "user_version", VERSION).map_err(failed)?;
                transaction.commit().map_err(failed)?;
            }
            VERSION => {}
            found => {
                return Err(StoreError::OtherFormat { path: path.into(), found, known: VERSION });
            }
        }
    }
    use_write_ahead_log(connection).map_err(failed)
}

/// Whether a file has no tables yet.
pub(super) fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))
}

/// The format of a file, 0 in a new one.
pub(super) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Switches a new file to write-ahead logging, for good.
///
/// `SQLite` does not wait for other processes here, whatever the busy timeout; but it does wait
/// for the write lock, so that is what is waited for between two attempts.
fn use_write_ahead_log(connection: &mut Connection) -> rusqlite::Result<()> {
    let mut attempts = 0;
    loop {
        match connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(())) {
            Err(error)
                if attempts < ATTEMPTS
                    && error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) =>
            {
                attempts += 1;
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?.commit()?;
            }
            other => return other,
        }
    }
}
