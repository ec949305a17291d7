//! Reads a session back, in order, a few records at a time.

use super::{Log, failure::failure, log::Stored};
use crate::StoreError;
use interpreter_core::{Record, record::VERSION};
use rusqlite::{Row, params};
use std::collections::VecDeque;

/// Records held in memory at once.
const PAGE: i64 = 32;

/// The records of one session. Ends after the first error.
#[derive(Debug)]
pub struct Records<'a> {
    log: &'a Log,
    session: String,
    /// The last record that was read.
    after: i64,
    /// The last record of the span that is being read.
    until: i64,
    page: VecDeque<StoredRow>,
    state: State,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    MayHaveMore,
    AtEnd,
}

/// Number, session, time and body, as the file has them.
pub(super) type StoredRow = (i64, String, String, String);

impl Log {
    /// The records of one session, in the order they were appended.
    pub fn records(&self, session: &str) -> Records<'_> {
        Records {
            log: self,
            session: session.to_owned(),
            after: i64::MIN,
            until: i64::MIN,
            page: VecDeque::new(),
            state: State::MayHaveMore,
        }
    }
}

impl Iterator for Records<'_> {
    type Item = Result<Record, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.page.is_empty() && self.state == State::MayHaveMore {
            match self.next_page() {
                Ok(page) => self.page = page,
                Err(error) => {
                    self.state = State::AtEnd;
                    return Some(Err(failure(&self.log.path, error)));
                }
            }
        }
        let row = self.page.pop_front()?;
        let record = record(row);
        if record.is_err() {
            self.page.clear();
            self.state = State::AtEnd;
        }
        Some(record)
    }
}

impl Records<'_> {
    fn next_page(&mut self) -> rusqlite::Result<VecDeque<StoredRow>> {
        if self.after >= self.until {
            let Some((first, last)) = self.log.span_after(&self.session, self.after)? else {
                self.state = State::AtEnd;
                return Ok(VecDeque::new());
            };
            (self.after, self.until) = (self.after.max(first.saturating_sub(1)), last);
        }
        let mut statement = self.log.connection.prepare_cached(
            "SELECT seq, session, time, body FROM record
             WHERE seq > ?1 AND seq <= ?2 ORDER BY seq LIMIT ?3",
        )?;
        let rows = statement.query_map(params![self.after, self.until, PAGE], stored_row)?;
        let page: VecDeque<_> = rows.collect::<rusqlite::Result<_>>()?;
        // Where records are missing, the check tells; what is there is read.
        self.after = page.back().map_or(self.until, |(seq, ..)| *seq);
        Ok(page)
    }
}

pub(super) fn stored_row(row: &Row<'_>) -> rusqlite::Result<StoredRow> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
}

/// A row of the file as the record that it is.
pub(super) fn record((seq, session, time, body): StoredRow) -> Result<Record, StoreError> {
    let unreadable = |source| StoreError::Unreadable { seq, source };
    let stored: Stored = serde_json::from_str(&body).map_err(|error| unreadable(error.into()))?;
    if stored.v > VERSION {
        let reason = format!("its version is {}, and this interpreter knows {VERSION}", stored.v);
        return Err(unreadable(reason.into()));
    }
    let number = u64::try_from(seq).map_err(|error| unreadable(error.into()))?;
    Ok(Record { v: stored.v, seq: number, time, session, body: stored.body })
}
