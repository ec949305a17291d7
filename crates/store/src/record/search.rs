//! Full-text search over the record.
//!
//! The words of prompts, replies, code and the beginnings of outputs are in an index of their own,
//! `search.db`, which can be made again at any time. Appending does not touch it: whoever searches
//! adds what is new first, some thousand records at a time, and remembers how far it is in each
//! session. The index holds no text; what is shown comes from the record.
//!
//! Hits come newest first, so that a search ends as soon as there are enough of them, however many
//! records there are. Must not let words of the person be taken for the syntax of a query.

use super::{Log, failure::failure, heads::Heads, read::record};
use crate::{Folders, Outputs, StoreError, private};
use interpreter_core::{Body, Record, Untrusted, output::is_words};
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior, params};
use std::{collections::BTreeMap, fs, path::Path, time::Duration};

/// The format of the index, kept in the file as `user_version`. Another one is made again.
const VERSION: i64 = 2;

/// Records that are added at once.
const BATCH: u64 = 5_000;

/// Bytes of a text that are searched.
const MOST_TEXT: usize = 64 << 10;

/// Bytes of an output that are searched: its beginning.
const MOST_OUTPUT: usize = 4 << 10;

/// Bytes of the largest stored output that is opened for its beginning.
const MOST_KEPT: u64 = 4 << 20;

/// Characters around a hit that are shown.
const BEFORE: usize = 30;
const AFTER: usize = 130;

const TABLES: &str = "
CREATE VIRTUAL TABLE words USING fts5 (
    text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2',
    prefix = '1 2 3 4'
);
CREATE TABLE progress (
    session TEXT PRIMARY KEY NOT NULL,
    seq     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE state (records INTEGER NOT NULL) STRICT;
INSERT INTO state VALUES (0);
";

/// A record that has the words.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchHit {
    /// The record. An output is only as long as it is searched.
    pub record: Record,
    /// The words, with what is around them, on one line.
    pub excerpt: Untrusted,
}

impl Log {
    /// The newest records that have all of these words, at most so many. Words in quotes, or with
    /// other signs between them, stand next to each other; `*` at the end stands for the rest of a
    /// word. `tell` hears how many records are still to be added to the index.
    pub fn search(
        &self,
        folders: &Folders,
        words: &[String],
        most: usize,
        mut tell: impl FnMut(u64),
    ) -> Result<Vec<SearchHit>, StoreError> {
        let path = folders.search_file();
        let Some(query) = query(words) else { return Ok(Vec::new()) };
        let mut found = self.search_once(folders, &query, most, &mut tell);
        if let Err(SearchFailure::Index(error)) = &found
            && is_damaged(error)
        {
            // It is only an index: it is made again.
            remove_index(&path)?;
            found = self.search_once(folders, &query, most, &mut tell);
        }
        let places = found.map_err(|error| error.of(&path))?;
        let outputs = Outputs::new(folders);
        let mut hits = Vec::new();
        for place in places {
            let row = self
                .connection
                .prepare_cached("SELECT seq, session, time, body FROM record WHERE place = ?1")
                .and_then(|mut one| {
                    one.query_row([place], |row| {
                        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
                    })
                });
            // Removed since it was found, or damaged: it is no hit.
            let Ok(mut record) = row.map_err(|error| failure(&self.path, error)).and_then(record)
            else {
                continue;
            };
            let Some(text) = text_of(&mut record.body, &outputs) else { continue };
            let excerpt = Untrusted::new(excerpt(&text, words));
            hits.push(SearchHit { record, excerpt });
        }
        Ok(hits)
    }

    fn search_once(
        &self,
        folders: &Folders,
        query: &str,
        most: usize,
        tell: &mut impl FnMut(u64),
    ) -> Result<Vec<i64>, SearchFailure> {
        let mut index = open(&folders.search_file())?;
        self.catch_up(&mut index, folders, tell)?;
        let mut statement = index
            .prepare("SELECT rowid FROM words WHERE words MATCH ?1 ORDER BY rowid DESC LIMIT ?2")?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let rows = statement.query_map(params![query, most], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Adds what is new in the record, and takes out what was removed from it.
    fn catch_up(
        &self,
        index: &mut Connection,
        folders: &Folders,
        tell: &mut impl FnMut(u64),
    ) -> Result<(), SearchFailure> {
        let store = |error| SearchFailure::Store(failure(&self.path, error));
        let heads = Heads { connection: &self.connection, key: &self.key };
        let total = heads.total(None).map_err(store)?.map_or(0, |total| total.records);
        let known: i64 = index.query_row("SELECT records FROM state", [], |row| row.get(0))?;
        if known == total {
            return Ok(());
        }
        let mut progress: BTreeMap<String, i64> = BTreeMap::new();
        {
            let mut statement = index.prepare("SELECT session, seq FROM progress")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                progress.insert(row.get(0)?, row.get(1)?);
            }
        }
        let removed = self.tombstones()?;
        let gone: Vec<_> =
            removed.keys().filter(|one| progress.contains_key(*one)).cloned().collect();
        take_out(index, &gone, |session| self.places(session), false)?;
        let mut behind = Vec::new();
        {
            let query = "SELECT session, place, seq FROM head WHERE session < '~'";
            let mut statement = self.connection.prepare(query).map_err(store)?;
            let mut rows = statement.query([]).map_err(store)?;
            while let Some(row) = rows.next().map_err(store)? {
                let read = || Ok((row.get::<_, String>(0)?, row.get(1)?, row.get(2)?));
                let (session, last, seq): (String, i64, i64) = read().map_err(store)?;
                let have = progress.get(&session).copied().unwrap_or(0);
                if have < seq && !removed.contains_key(&session) {
                    behind.push((session, last - seq, have, seq));
                }
            }
        }
        let missing = |behind: &[(String, i64, i64, i64)]| {
            behind.iter().map(|(_, _, have, seq)| (seq - have).unsigned_abs()).sum::<u64>()
        };
        let outputs = Outputs::new(folders);
        // The newest sessions last, so that they are whole in the newest part of the index.
        while !behind.is_empty() {
            tell(missing(&behind));
            let transaction = index.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let mut room = BATCH;
            while let Some((session, before, have, seq)) = behind.last_mut() {
                if room == 0 {
                    break;
                }
                let upto = (*seq).min(have.saturating_add(i64::try_from(room).unwrap_or(1)));
                self.add(&transaction, (*before + *have, *before + upto), &outputs)?;
                transaction
                    .prepare_cached("REPLACE INTO progress (session, seq) VALUES (?1, ?2)")?
                    .execute(params![&*session, upto])?;
                room -= (upto - *have).unsigned_abs().min(room);
                *have = upto;
                if *have >= *seq {
                    behind.pop();
                }
            }
            transaction.commit()?;
        }
        index.execute("UPDATE state SET records = ?1", [total])?;
        Ok(())
    }

    /// Adds the records after one place and up to another.
    fn add(
        &self,
        index: &Connection,
        (after, upto): (i64, i64),
        outputs: &Outputs,
    ) -> Result<(), SearchFailure> {
        let store = |error| SearchFailure::Store(failure(&self.path, error));
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT place, seq, session, time, body FROM record
                 WHERE place > ?1 AND place <= ?2 AND kind IN
                     ('prompt', 'reply', 'proposal', 'answer', 'output', 'file', 'summary', 'note',
                      'error')",
            )
            .map_err(store)?;
        // Another process may have added some of them meanwhile.
        let mut insert =
            index.prepare_cached("INSERT OR REPLACE INTO words (rowid, text) VALUES (?1, ?2)")?;
        let mut rows = statement.query([after, upto]).map_err(store)?;
        while let Some(row) = rows.next().map_err(store)? {
            let place: i64 = row.get(0).map_err(store)?;
            // A record that cannot be read is not found either.
            let Ok(stored) = super::read::stored_row(row) else { continue };
            let Ok(Record { mut body, .. }) = record(stored) else { continue };
            if let Some(text) = text_of(&mut body, outputs) {
                insert.execute(params![place, text])?;
            }
        }
        Ok(())
    }

    /// Takes sessions that are about to be removed out of the index. Where it must not hold their
    /// words for a while either, it is written anew.
    pub(super) fn forget(
        &self,
        folders: &Folders,
        sessions: &[String],
        is_urgent: bool,
    ) -> Result<(), StoreError> {
        let path = folders.search_file();
        if !private::check_file(&path)? {
            return Ok(());
        }
        let forgotten = open(&path).and_then(|mut index| {
            take_out(&mut index, sessions, |session| self.places(session), is_urgent)
        });
        match forgotten {
            Err(SearchFailure::Index(error)) if is_damaged(&error) => remove_index(&path),
            other => other.map_err(|error| error.of(&path)),
        }
    }

    /// The places of a session's records, also of one that was removed.
    fn places(&self, session: &str) -> rusqlite::Result<(i64, i64)> {
        self.connection
            .prepare_cached("SELECT place - seq + 1, place FROM head WHERE session = ?1")?
            .query_row([session], |row| Ok((row.get(0)?, row.get(1)?)))
    }
}

/// Why the index could not be used.
enum SearchFailure {
    Index(rusqlite::Error),
    Store(StoreError),
}

impl From<rusqlite::Error> for SearchFailure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Index(error)
    }
}

impl From<StoreError> for SearchFailure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl SearchFailure {
    fn of(self, path: &Path) -> StoreError {
        match self {
            Self::Index(error) => failure(path, error),
            Self::Store(error) => error,
        }
    }
}

fn take_out(
    index: &mut Connection,
    sessions: &[String],
    places: impl Fn(&str) -> rusqlite::Result<(i64, i64)>,
    is_urgent: bool,
) -> Result<(), SearchFailure> {
    if sessions.is_empty() {
        return Ok(());
    }
    let transaction = index.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for session in sessions {
        let (first, last) = places(session)?;
        let count = transaction.execute("DELETE FROM progress WHERE session = ?1", [session])?;
        if count > 0 {
            transaction
                .execute("DELETE FROM words WHERE rowid BETWEEN ?1 AND ?2", [first, last])?;
        }
    }
    transaction.commit()?;
    if is_urgent {
        index.execute_batch("INSERT INTO words (words) VALUES ('optimize'); VACUUM")?;
        _ = index.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).is_ok();
    }
    Ok(())
}

fn open(path: &Path) -> Result<Connection, SearchFailure> {
    private::make_file(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut index = Connection::open_with_flags(path, flags)?;
    index.busy_timeout(Duration::from_secs(30))?;
    index.pragma_update(None, "journal_mode", "wal")?;
    index.pragma_update(None, "synchronous", "NORMAL")?;
    index.pragma_update(None, "secure_delete", "ON")?;
    let version = |index: &Connection| -> rusqlite::Result<i64> {
        index.pragma_query_value(None, "user_version", |row| row.get(0))
    };
    match version(&index)? {
        VERSION => Ok(index),
        0 => {
            let transaction = index.transaction_with_behavior(TransactionBehavior::Immediate)?;
            if version(&transaction)? == 0 {
                transaction.execute_batch(TABLES)?;
                transaction.pragma_update(None, "user_version", VERSION)?;
            }
            transaction.commit()?;
            Ok(index)
        }
        _ => {
            drop(index);
            remove_index(path)?;
            open(path)
        }
    }
}

/// Whether an index cannot be used and must be made again.
fn is_damaged(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown)
    )
}

fn remove_index(path: &Path) -> Result<(), StoreError> {
    for ending in ["", "-wal", "-shm"] {
        let path = path.with_file_name(format!("search.db{ending}"));
        match fs::remove_file(&path) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                return Err(StoreError::Keep { path, source });
            }
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

/// The words of a person as a query: every one in quotes, so that none is an operator. `None` if
/// there is nothing to search for.
fn query(words: &[String]) -> Option<String> {
    let phrase = |word: &str| {
        let prefix = if word.ends_with('*') { " *" } else { "" };
        format!("\"{}\"{prefix}", word.replace('"', " "))
    };
    let has_letters = |word: &&str| word.chars().any(char::is_alphanumeric);
    let words: Vec<_> = phrases(words).filter(has_letters).map(phrase).collect();
    (!words.is_empty()).then(|| words.join(" AND "))
}

/// Words of the command line: an argument with blanks in it is one phrase only if it is in quotes.
fn phrases(words: &[String]) -> impl Iterator<Item = &str> {
    words.iter().flat_map(|argument| {
        argument.split('"').enumerate().flat_map(|(at, part)| {
            let is_quoted = at % 2 == 1;
            let whole = is_quoted.then_some(part);
            let pieces = (!is_quoted).then(|| part.split_whitespace());
            whole.into_iter().chain(pieces.into_iter().flatten())
        })
    })
}

/// The part of a record that is searched.
#[expect(clippy::wildcard_enum_match_arm, reason = "the rest has no words of anybody")]
fn text_of(body: &mut Body, outputs: &Outputs) -> Option<String> {
    if let Body::Output(output) = body
        && output.kept.as_ref().is_some_and(|kept| kept.bytes <= MOST_KEPT)
    {
        // One that is gone or was changed has no words.
        _ = outputs.restore(body).is_ok();
    }
    let (text, most) = match body {
        Body::Prompt { text } | Body::Note { text } => (text.as_str(), MOST_TEXT),
        Body::Reply { text, .. } | Body::Summary { text } | Body::File { text, .. } => {
            (text.raw(), MOST_TEXT)
        }
        Body::Proposal { code, .. } | Body::Answer { code: Some(code), .. } => {
            (code.raw(), MOST_TEXT)
        }
        Body::Error { message, .. } => (message.as_str(), MOST_TEXT),
        Body::Output(output) if is_words(&output.mime) => (output.text.raw(), MOST_OUTPUT),
        _ => return None,
    };
    let cut = text.floor_char_boundary(most);
    Some(text[..cut].to_owned()).filter(|text| !text.trim().is_empty())
}

/// The first of the words in a text, with what is around it, on one line.
fn excerpt(text: &str, words: &[String]) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let lower = line.to_lowercase();
    let found = phrases(words)
        .filter_map(|word| lower.find(&word.trim_end_matches('*').to_lowercase()))
        .min();
    // Lower case may have another length; then the place is a guess.
    let at = line.floor_char_boundary(found.unwrap_or(0).min(line.len()));
    let start = line[..at].char_indices().rev().nth(BEFORE - 1).map_or(0, |(place, _)| place);
    let end = line[at..].char_indices().nth(AFTER).map_or(line.len(), |(place, _)| at + place);
    let (from, to) = (if start > 0 { "…" } else { "" }, if end < line.len() { "…" } else { "" });
    format!("{from}{}{to}", &line[start..end])
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
