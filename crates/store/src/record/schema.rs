//! The tables of the record, and how a new file comes to have them.
//!
//! # Threat
//! Somebody who may write the file and plants a trigger, a view or a table of another form, so that
//! what this program writes goes nowhere or elsewhere, and code runs unrecorded.
//!
//! # Mechanism
//! Before anything is appended, everything in the file's own list is compared with what this program
//! makes there, text for text: anything else is refused. For what is planted later, `open.rs` has our
//! connections run no triggers and read no views, and whoever inserts counts the rows.
//!
//! The triggers of our own guard against curious hands in other programs; against intent there are
//! links and seals. That they are gone keeps nothing from being recorded, so it is not refused. A
//! change here needs a new [`VERSION`].

use super::{
    failure::failure,
    heads::{Heads, Total},
};
use crate::StoreError;
use interpreter_core::{Untrusted, hash::SealKey};
use rusqlite::{Connection, ErrorCode, TransactionBehavior};
use std::path::Path;

/// The format that this program writes, kept in the file as `user_version`.
pub(super) const VERSION: i64 = 5;

/// Tries to switch to write-ahead logging while others open the same new file.
const ATTEMPTS: usize = 20;

/// The records of a session lie one after another by `place`, so that it is read without an index;
/// `heads.rs` gives the places. Ids of newer sessions sort after those of older ones.
const RECORD: &str = "CREATE TABLE record (
    place   INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    seq     INTEGER NOT NULL,
    time    TEXT NOT NULL,
    kind    TEXT NOT NULL,
    body    TEXT NOT NULL,
    prev    TEXT NOT NULL,
    hash    TEXT NOT NULL
) STRICT";

const PROMPTS: &str = "CREATE INDEX record_prompt ON record (place) WHERE kind = 'prompt'";

const HEAD: &str = "CREATE TABLE head (
    session TEXT PRIMARY KEY NOT NULL,
    place   INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    hash    TEXT NOT NULL,
    seal    TEXT NOT NULL
) STRICT, WITHOUT ROWID";

const UPDATE_GUARD: &str = "CREATE TRIGGER record_no_update BEFORE UPDATE ON record
    BEGIN SELECT RAISE(ABORT, 'the record is append-only'); END";

/// Put aside only by `remove.rs`, within one transaction.
pub(super) const DELETE_GUARD: &str = "CREATE TRIGGER record_no_delete BEFORE DELETE ON record
    BEGIN SELECT RAISE(ABORT, 'the record is append-only'); END";

/// The list of a file, as this program makes it: kind and name of each entry, and how it is made.
const ENTRIES: [(&str, &str, &str); 5] = [
    ("table", "record", RECORD),
    ("index", "record_prompt", PROMPTS),
    ("table", "head", HEAD),
    ("trigger", "record_no_update", UPDATE_GUARD),
    ("trigger", "record_no_delete", DELETE_GUARD),
];

/// Characters of a planted name that are shown.
const SHOWN: usize = 60;

/// The first entry in the list of a file that this program did not make like this, in words; or one
/// that is missing.
pub(super) fn foreign(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let mut statement = connection.prepare("SELECT type, name, sql FROM sqlite_schema")?;
    let mut rows = statement.query([])?;
    let mut missing: Vec<_> = ENTRIES.iter().filter(|(kind, ..)| *kind != "trigger").collect();
    while let Some(row) = rows.next()? {
        // Whoever plants something may give it a name that is no text.
        let text = |at| -> rusqlite::Result<String> {
            Ok(String::from_utf8_lossy(row.get_ref(at)?.as_bytes_or_null()?.unwrap_or_default())
                .into_owned())
        };
        let (kind, name, made) = (text(0)?, text(1)?, text(2)?);
        missing.retain(|(_, known, _)| *known != name);
        if !ENTRIES.contains(&(&kind, &name, &made)) {
            let [kind, name] =
                [kind, name].map(|text| Untrusted::new(text).for_terminal_line(SHOWN));
            return Ok(Some(format!("the {kind} `{name}` was not made by this program")));
        }
    }
    Ok(missing.first().map(|(kind, name, _)| format!("the {kind} `{name}` is missing")))
}

/// Takes everything out that this program did not make, and puts the guards back. Tables of ours that
/// have another form stay as they are.
pub(super) fn repair(connection: &Connection) -> rusqlite::Result<()> {
    let entries: Vec<(String, String, Option<String>)> = connection
        .prepare("SELECT type, name, sql FROM sqlite_schema")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<Result<_, _>>()?;
    let is_ours = |(kind, name, made): &(String, String, Option<String>)| {
        made.as_ref().is_some_and(|made| ENTRIES.contains(&(kind, name, made)))
    };
    for (kind, name, made) in entries.iter().filter(|entry| !is_ours(entry)) {
        // A table takes its own indexes and triggers with it. `head` and `record` are never taken.
        let is_safe = kind != "table" || !ENTRIES.iter().any(|(_, known, _)| known == name);
        // Without a text, it is part of a table.
        if is_safe
            && made.is_some()
            && matches!(kind.as_str(), "table" | "index" | "trigger" | "view")
        {
            let name = name.replace('"', "\"\"");
            connection.execute_batch(&format!("DROP {kind} IF EXISTS \"{name}\""))?;
        }
    }
    for (kind, name, making) in ENTRIES {
        let is_there = entries.iter().any(|entry| entry.1 == name && is_ours(entry));
        if kind != "table" && !is_there {
            connection.execute_batch(making)?;
        }
    }
    Ok(())
}

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
                for (_, _, making) in ENTRIES {
                    transaction.execute_batch(making).map_err(failed)?;
                }
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
