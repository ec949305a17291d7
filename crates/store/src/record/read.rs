//! Reads a session back, in order, a few records at a time.

use super::{Log, failure::failure, log::Stored};
use crate::StoreError;
use interpreter_core::{Record, record::VERSION, unquoted::unquoted};
use rusqlite::{OptionalExtension, Row, params};
use std::collections::VecDeque;

/// Records held in memory at once.
const PAGE: i64 = 32;

/// The records of one session. Ends after the first error.
#[derive(Debug)]
pub struct Records<'a> {
    log: &'a Log,
    session: String,
    /// How many of its first records are passed over.
    passed: i64,
    /// The place of the last record that was read.
    after: i64,
    page: VecDeque<StoredRow>,
    is_at_end: bool,
}

/// Number, session, time and body, as the file has them.
pub(super) type StoredRow = (i64, String, String, String);

impl Log {
    /// The records of one session, in the order they were appended.
    pub fn records(&self, session: &str) -> Records<'_> {
        self.records_after(session, 0)
    }

    /// The same, from the one behind number `seq` on. Those before it are not read.
    pub fn records_after(&self, session: &str, seq: u64) -> Records<'_> {
        Records {
            log: self,
            session: session.to_owned(),
            passed: i64::try_from(seq).unwrap_or(i64::MAX),
            after: i64::MIN,
            page: VecDeque::new(),
            is_at_end: false,
        }
    }

    /// The record of a session with this number.
    pub fn record(&self, session: &str, seq: u64) -> Result<Option<Record>, StoreError> {
        let failed = |error| failure(&self.path, error);
        let number = i64::try_from(seq).unwrap_or(i64::MAX);
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT record.place, record.seq, record.session, time, body FROM head
                     JOIN record ON record.place = head.place - head.seq + ?2
                 WHERE head.session = ?1 AND ?2 BETWEEN 1 AND head.seq",
            )
            .map_err(failed)?;
        let row = statement.query_row(params![session, number], stored_row).optional();
        row.map_err(failed)?.map(record).transpose()
    }
}

impl Iterator for Records<'_> {
    type Item = Result<Record, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.page.is_empty() && !self.is_at_end {
            match self.next_page() {
                Ok(page) => self.page = page,
                Err(error) => {
                    self.is_at_end = true;
                    return Some(Err(failure(&self.log.path, error)));
                }
            }
        }
        let row = self.page.pop_front()?;
        let record = record(row);
        if record.is_err() {
            self.page.clear();
            self.is_at_end = true;
        }
        Some(record)
    }
}

impl Records<'_> {
    fn next_page(&mut self) -> rusqlite::Result<VecDeque<StoredRow>> {
        let mut statement = self.log.connection.prepare_cached(
            "SELECT record.place, record.seq, record.session, time, body FROM head JOIN record
                 ON record.place > max(head.place - head.seq + min(?4, head.seq), ?2)
                     AND record.place <= head.place
             WHERE head.session = ?1 ORDER BY record.place LIMIT ?3",
        )?;
        let mut rows = statement.query(params![self.session, self.after, PAGE, self.passed])?;
        let mut page = VecDeque::new();
        while let Some(row) = rows.next()? {
            self.after = row.get(0)?;
            page.push_back(stored_row(row)?);
        }
        self.is_at_end = page.is_empty();
        Ok(page)
    }
}

pub(super) fn stored_row(row: &Row<'_>) -> rusqlite::Result<StoredRow> {
    Ok((row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
}

/// A row of the file as the record that it is.
pub(super) fn record((seq, session, time, body): StoredRow) -> Result<Record, StoreError> {
    let unreadable = |source| StoreError::Unreadable { seq, source };
    let stored: Stored = serde_json::from_str(&body)
        .map_err(|error| unreadable(unquoted(&error.to_string()).into()))?;
    if stored.v > VERSION {
        let reason = format!("its version is {}, and this interpreter knows {VERSION}", stored.v);
        return Err(unreadable(reason.into()));
    }
    let number = u64::try_from(seq).map_err(|error| unreadable(error.into()))?;
    let Stored { v, who, body } = stored;
    Ok(Record { v, seq: number, time, session, who, body })
}
