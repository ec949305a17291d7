//! Checks that the record is whole: recomputes every link from the first record to the head.
//!
//! Reads one row at a time, whatever the size of the file, and sees one state of it while others
//! append. Must not repair anything.

use super::{
    Ending, Log,
    failure::failure,
    link::{BEFORE_THE_FIRST, Columns},
    spans,
};
use crate::StoreError;
use rusqlite::{Connection, OptionalExtension, Row, types::ValueRef};
use std::fmt;

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verification {
    /// How many records are whole, counted from the first.
    pub records: u64,
    /// Where that ends; none if all are whole.
    pub first_break: Option<Break>,
    /// Whether the newest records are there.
    pub ending: Ending,
    /// The records by which the person went on after the end did not fit, and why it did not.
    pub accepted: Vec<(u64, String)>,
}

impl Verification {
    /// Whether every record is there as it was written.
    pub fn is_whole(&self) -> bool {
        self.first_break.is_none() && self.ending == Ending::Whole
    }
}

/// The first record that is not as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Break {
    /// Its number.
    pub seq: u64,
    /// What is wrong with it.
    pub reason: BreakReason,
}

/// What is wrong with a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BreakReason {
    /// It is gone, and later ones are there.
    Missing,
    /// It and all later ones up to this number are gone.
    EndMissing {
        /// The number of the last record, by the head.
        last: u64,
    },
    /// It was changed: its content has another hash.
    Altered,
    /// It does not name the record before it: one of the two is another.
    Unlinked,
    /// It was put there without the head knowing.
    Added,
    /// It is the last one, but the head knows another, or there is no head.
    NotTheHead,
    /// It is whole, but not listed under its session, or under another.
    Unlisted,
}

impl fmt::Display for BreakReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("it is missing"),
            Self::EndMissing { last } => {
                write!(f, "it and everything after it, up to record {last}, is missing")
            }
            Self::Altered => f.write_str("its content does not match its hash"),
            Self::Unlinked => f.write_str("it does not follow from the record before it"),
            Self::Added => f.write_str("it was added by something else"),
            Self::NotTheHead => f.write_str("the head of the record does not match it"),
            Self::Unlisted => f.write_str("it is not listed as one of its session"),
        }
    }
}

impl Log {
    /// Checks the whole record.
    pub fn verify(&self) -> Result<Verification, StoreError> {
        let ending = self.ending()?;
        // A transaction, so that records and head are of the same moment.
        let (chain, accepted) = self
            .connection
            .unchecked_transaction()
            .and_then(|transaction| Ok((check_chain(&transaction)?, accepted(&transaction)?)))
            .map_err(|error| failure(&self.path, error))?;
        let Chain { records, first_break } = chain;
        Ok(Verification { records, first_break, ending, accepted })
    }
}

/// How far the chain is whole.
struct Chain {
    records: u64,
    first_break: Option<Break>,
}

/// The records that say that the person went on, and what they say.
fn accepted(connection: &Connection) -> rusqlite::Result<Vec<(u64, String)>> {
    let mut statement = connection.prepare(
        "SELECT seq, coalesce(iif(json_valid(body), json_extract(body, '$.reason'), ''), '')
         FROM record WHERE kind = 'record_accepted' ORDER BY seq",
    )?;
    let rows = statement.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get(1)?)))?;
    rows.map(|row| row.map(|(seq, reason)| (seq.unsigned_abs(), reason))).collect()
}

fn check_chain(connection: &Connection) -> rusqlite::Result<Chain> {
    let head = head(connection)?;
    let mut statement = connection.prepare(
        "SELECT seq, session, time, kind, body, prev, hash FROM record NOT INDEXED ORDER BY seq",
    )?;
    let mut rows = statement.query([])?;
    let mut spans = spans::Check::new(connection)?;
    let mut whole: u64 = 0;
    let mut last = BEFORE_THE_FIRST.to_owned();
    while let Some(row) = rows.next()? {
        match check(row, whole + 1, &last, head.as_ref())? {
            Ok(hash) => last = hash,
            Err(reason) => return Ok(broken(whole, whole + 1, reason)),
        }
        spans.take(text(row, 1)?.unwrap_or_default(), row.get(0)?);
        whole += 1;
    }
    Ok(match head {
        Some((seq, hash)) if seq == whole && hash == last => {
            let unlisted = spans.finish().map(i64::unsigned_abs);
            let first_break = unlisted.map(|seq| Break { seq, reason: BreakReason::Unlisted });
            Chain { records: whole, first_break }
        }
        Some((seq, _)) if seq > whole => {
            broken(whole, whole + 1, BreakReason::EndMissing { last: seq })
        }
        Some(_) | None => broken(whole, whole, BreakReason::NotTheHead),
    })
}

fn broken(records: u64, seq: u64, reason: BreakReason) -> Chain {
    Chain { records, first_break: Some(Break { seq, reason }) }
}

/// Number and hash of the last record, if there is a head that can be read.
fn head(connection: &Connection) -> rusqlite::Result<Option<(u64, String)>> {
    let head = connection
        .query_row("SELECT seq, hash FROM head WHERE id = 1", [], |row| {
            let hash = text(row, 1)?.and_then(|hash| String::from_utf8(hash.to_vec()).ok());
            Ok((row.get::<_, i64>(0)?, hash))
        })
        .optional()?;
    Ok(head.and_then(|(seq, hash)| Some((u64::try_from(seq).ok()?, hash?))))
}

/// The hash of a row that is the record number `expected` and follows `last`.
fn check(
    row: &Row<'_>,
    expected: u64,
    last: &str,
    head: Option<&(u64, String)>,
) -> rusqlite::Result<Result<String, BreakReason>> {
    let seq: i64 = row.get(0)?;
    match u64::try_from(seq) {
        Ok(found) if found == expected => {}
        Ok(found) if found > expected => return Ok(Err(BreakReason::Missing)),
        // Numbers begin at 1 and are in order here, so this stands before the first.
        Ok(_) | Err(_) => return Ok(Err(BreakReason::Added)),
    }
    let texts = [text(row, 1)?, text(row, 2)?, text(row, 3)?, text(row, 4)?];
    let [Some(session), Some(time), Some(kind), Some(body)] = texts else {
        return Ok(Err(BreakReason::Altered));
    };
    let (Some(prev), Some(hash)) = (text(row, 5)?, text(row, 6)?) else {
        return Ok(Err(BreakReason::Altered));
    };
    let computed = Columns { prev, seq, session, time, kind, body }.hash();
    Ok(if computed.as_bytes() != hash {
        Err(BreakReason::Altered)
    } else if prev != last.as_bytes() {
        Err(BreakReason::Unlinked)
    } else if head.is_some_and(|(last, _)| expected > *last) {
        Err(BreakReason::Added)
    } else {
        Ok(computed)
    })
}

/// The bytes of a text column; none if it holds something else. They need not be UTF-8.
fn text<'row>(row: &'row Row<'_>, column: usize) -> rusqlite::Result<Option<&'row [u8]>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Text(bytes) => Some(bytes),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Blob(_) => None,
    })
}

#[cfg(test)]
#[path = "verify_tests.rs"]
mod tests;
