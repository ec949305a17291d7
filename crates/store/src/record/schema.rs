//! The tables of the record, and how a file comes to have them.
//!
//! The triggers guard against mistakes of our own and of curious hands; against intent there are
//! the links. A change here needs a new [`VERSION`] and a way from each older one.

use super::{failure::failure, link::BEFORE_THE_FIRST, spans};
use crate::StoreError;
use rusqlite::{Connection, ErrorCode, TransactionBehavior};
use std::path::Path;

/// The format that this program writes, kept in the file as `user_version`.
pub(super) const VERSION: i64 = 4;

/// Tries to switch to write-ahead logging while others open the same new file.
const ATTEMPTS: usize = 20;

const TABLES: &str = "
CREATE TABLE record (
    seq     INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    time    TEXT NOT NULL,
    kind    TEXT NOT NULL,
    body    TEXT NOT NULL,
    prev    TEXT NOT NULL,
    hash    TEXT NOT NULL
) STRICT;
CREATE INDEX record_landmark ON record (session, kind, seq)
    WHERE kind = 'session_started' OR kind = 'prompt' OR kind = 'session_ended';

CREATE TABLE head (
    id   INTEGER PRIMARY KEY CHECK (id = 1),
    seq  INTEGER NOT NULL,
    hash TEXT NOT NULL,
    session TEXT,
    since INTEGER
) STRICT;

CREATE TRIGGER record_no_update BEFORE UPDATE ON record
    BEGIN SELECT RAISE(ABORT, 'the record is append-only'); END;
CREATE TRIGGER record_no_delete BEFORE DELETE ON record
    BEGIN SELECT RAISE(ABORT, 'the record is append-only'); END;
CREATE TRIGGER record_no_replace BEFORE INSERT ON record
    WHEN EXISTS (SELECT 1 FROM record WHERE seq = NEW.seq)
    BEGIN SELECT RAISE(ABORT, 'the record is append-only'); END;
CREATE TRIGGER head_no_delete BEFORE DELETE ON head
    BEGIN SELECT RAISE(ABORT, 'the record is append-only'); END;
";

/// Which records are of which session.
const SPAN: &str = "
CREATE TABLE span (
    session TEXT NOT NULL,
    first   INTEGER NOT NULL,
    last    INTEGER NOT NULL,
    PRIMARY KEY (session, first)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER span_no_update BEFORE UPDATE ON span
    BEGIN SELECT RAISE(ABORT, 'the record is append-only'); END;
CREATE TRIGGER span_no_delete BEFORE DELETE ON span
    BEGIN SELECT RAISE(ABORT, 'the record is append-only'); END;
";

/// Spans in the order of their records, so that the newest sessions are found without the others.
const SPAN_FIRST: &str = "CREATE INDEX span_first ON span (first);";

/// The head goes on and never back.
const HEAD_FURTHER: &str = "
CREATE TRIGGER head_further BEFORE UPDATE ON head
    WHEN NEW.seq <= OLD.seq
    BEGIN SELECT RAISE(ABORT, 'the record is append-only'); END;
";

/// From the formats before: an index told which records are of which session. In the first one the
/// head went one record at a time. Both had a trigger that is in the way of what is added.
const FROM_BEFORE: &str = "
DROP TRIGGER IF EXISTS head_one_further;
DROP TRIGGER IF EXISTS head_further;
DROP INDEX record_session;
ALTER TABLE head ADD COLUMN session TEXT;
ALTER TABLE head ADD COLUMN since INTEGER;
";

/// Makes the tables in a new file, and brings an older file up to date; refuses a file that is not
/// ours or is newer than we are.
pub(super) fn prepare(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let failed = |error| failure(path, error);
    if version(connection).map_err(failed)? != VERSION {
        // Whether to make them is decided under the write lock: another process may be doing it.
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        match version(&transaction).map_err(failed)? {
            0 => {
                let tables = "SELECT count(*) FROM sqlite_schema";
                let tables: i64 =
                    transaction.query_row(tables, [], |row| row.get(0)).map_err(failed)?;
                if tables > 0 {
                    return Err(StoreError::NotARecord { path: path.into() });
                }
                for part in [TABLES, SPAN, SPAN_FIRST, HEAD_FURTHER] {
                    transaction.execute_batch(part).map_err(failed)?;
                }
                let head = "INSERT INTO head (id, seq, hash) VALUES (1, 0, ?1)";
                transaction.execute(head, [BEFORE_THE_FIRST]).map_err(failed)?;
            }
            1 | 2 => bring_up(&transaction).map_err(failed)?,
            3 => transaction.execute_batch(SPAN_FIRST).map_err(failed)?,
            VERSION => {}
            found => {
                return Err(StoreError::Newer { path: path.into(), found, known: VERSION });
            }
        }
        transaction.pragma_update(None, "user_version", VERSION).map_err(failed)?;
        transaction.commit().map_err(failed)?;
    }
    use_write_ahead_log(connection).map_err(failed)
}

fn bring_up(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(FROM_BEFORE)?;
    connection.execute_batch(SPAN)?;
    connection.execute_batch(SPAN_FIRST)?;
    spans::find(connection)?;
    connection.execute_batch(HEAD_FURTHER)
}

/// The format of a file; 0 before it has one.
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
