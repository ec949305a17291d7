//! Which records are of which session.
//!
//! A *span* is a run of records, one after another, of one session. The span that is still growing
//! stands in the head, which every append writes anyway; when another session appends, it goes to
//! the table `span`. So finding a session's records costs an append nothing, where an index over
//! all records would cost it some pages each time.

use super::Log;
use rusqlite::{Connection, OptionalExtension, Transaction, params};

/// All spans, as a table for queries: `session`, `first`, `last`.
pub(super) const SPANS: &str = "(SELECT session, first, last FROM span
     UNION ALL SELECT session, since, seq FROM head WHERE session IS NOT NULL)";

/// The last record, as the head has it.
pub(super) struct Head {
    pub(super) seq: i64,
    pub(super) hash: String,
    /// The session that appended last; none in an empty record.
    session: Option<String>,
}

impl Head {
    /// The head; none if there is none to follow.
    pub(super) fn read(transaction: &Transaction<'_>) -> rusqlite::Result<Option<Self>> {
        transaction
            .prepare_cached("SELECT seq, hash, session FROM head WHERE id = 1")?
            .query_row([], |row| {
                Ok(Self { seq: row.get(0)?, hash: row.get(1)?, session: row.get(2)? })
            })
            .optional()
    }

    /// Moves it to the record `seq`, which `session` appended together with all since the head.
    pub(super) fn advance(
        self,
        transaction: &Transaction<'_>,
        session: &str,
        seq: i64,
        hash: &str,
    ) -> rusqlite::Result<()> {
        if self.session.as_deref() == Some(session) {
            let same = "UPDATE head SET seq = ?1, hash = ?2 WHERE id = 1";
            return transaction.prepare_cached(same)?.execute(params![seq, hash]).map(drop);
        }
        transaction
            .prepare_cached(
                "INSERT INTO span SELECT session, since, seq FROM head WHERE session IS NOT NULL",
            )?
            .execute([])?;
        transaction
            .prepare_cached(
                "UPDATE head SET seq = ?1, hash = ?2, session = ?3, since = ?4 WHERE id = 1",
            )?
            .execute(params![seq, hash, session, self.seq.saturating_add(1)])
            .map(drop)
    }
}

impl Log {
    /// The first span of a session that has records after `after`: its first and last record.
    pub(super) fn span_after(
        &self,
        session: &str,
        after: i64,
    ) -> rusqlite::Result<Option<(i64, i64)>> {
        let query = format!(
            "SELECT first, last FROM {SPANS} WHERE session = ?1 AND last > ?2
             ORDER BY first LIMIT 1"
        );
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        self.connection.prepare_cached(&query)?.query_row(params![session, after], row).optional()
    }
}

/// Finds the spans of a record that has none yet.
pub(super) fn find(connection: &Connection) -> rusqlite::Result<()> {
    let mut records = connection.prepare("SELECT seq, session FROM record ORDER BY seq")?;
    let mut rows = records.query([])?;
    let mut growing: Option<(String, i64, i64)> = None;
    while let Some(row) = rows.next()? {
        let (seq, session): (i64, String) = (row.get(0)?, row.get(1)?);
        match &mut growing {
            Some((of, _, last)) if *of == session => *last = seq,
            other => {
                if let Some((of, first, last)) = other.replace((session, seq, seq)) {
                    let insert = "INSERT INTO span (session, first, last) VALUES (?1, ?2, ?3)";
                    connection.prepare_cached(insert)?.execute(params![of, first, last])?;
                }
            }
        }
    }
    if let Some((session, first, _)) = growing {
        let update = "UPDATE head SET session = ?1, since = ?2 WHERE id = 1";
        connection.execute(update, params![session, first])?;
    }
    Ok(())
}

/// The spans as the file lists them, compared with the records as they are read in order.
pub(super) struct Check {
    /// What is listed and has not been compared, the first one last.
    listed: Vec<(Vec<u8>, i64, i64)>,
    growing: Option<(Vec<u8>, i64, i64)>,
    /// The first record that is not listed as what it is.
    pub(super) unlisted: Option<i64>,
}

impl Check {
    pub(super) fn new(connection: &Connection) -> rusqlite::Result<Self> {
        let query = format!(
            "SELECT CAST(session AS BLOB), CAST(first AS INTEGER), CAST(last AS INTEGER)
             FROM {SPANS} ORDER BY 2 DESC, 3 DESC"
        );
        let mut statement = connection.prepare(&query)?;
        let rows = statement.query_map([], |row| {
            Ok((
                row.get::<_, Option<_>>(0)?,
                row.get::<_, Option<_>>(1)?,
                row.get::<_, Option<_>>(2)?,
            ))
        })?;
        let listed = rows
            .map(|row| {
                row.map(|(session, first, last)| {
                    (
                        session.unwrap_or_default(),
                        first.unwrap_or(i64::MIN),
                        last.unwrap_or(i64::MIN),
                    )
                })
            })
            .collect::<rusqlite::Result<_>>()?;
        Ok(Self { listed, growing: None, unlisted: None })
    }

    /// Takes the next record.
    pub(super) fn take(&mut self, session: &[u8], seq: i64) {
        match &mut self.growing {
            Some((of, _, last)) if of == session => *last = seq,
            other => {
                let ended = other.replace((session.to_vec(), seq, seq));
                self.compare(ended);
            }
        }
    }

    /// The first record that is not listed as what it is, once all have been taken.
    pub(super) fn finish(mut self) -> Option<i64> {
        let ended = self.growing.take();
        self.compare(ended);
        // What is listed beyond the end is noticed by the first record of it.
        self.unlisted.or_else(|| self.listed.pop().map(|(_, first, _)| first))
    }

    fn compare(&mut self, ended: Option<(Vec<u8>, i64, i64)>) {
        let Some(span) = ended else { return };
        if self.listed.pop().as_ref() != Some(&span) {
            self.unlisted.get_or_insert(span.1);
        }
    }
}
