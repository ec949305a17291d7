//! The signed list of heads: the newest record of every session, and how many records there are.
//!
//! # Threat
//! Someone who can write the database, knows its whole past, and has not the key: they cut the
//! newest records off a session, remove a session, or put an older state of one back.
//!
//! # Mechanism
//! `head` holds the number and hash of each session's newest record, with a seal over
//! `epoch ⏎ session ⏎ place ⏎ seq ⏎ hash`: HMAC-SHA-256 with the key of the data folder. `place` is
//! the row of that record. The row of the session `~` is the total: its `seq` is the number of all
//! records, its `hash` is the epoch, and its `place` is where the newest session begins.
//!
//! A head that fits its seal was true at some time. Sessions only grow, so an older head has a
//! smaller number, and without a session its whole number is missing. No exchange of true heads can
//! make up for that: only the newest heads add up to the total. `record.end` holds the total once
//! more, outside the database (`end.rs`), so that an older total is noticed too.
//!
//! HMAC rather than a public-key signature: signer and checker are the same program with the same
//! key file, and a signature would cost more than the rest of an append.
//!
//! # Order
//! Records, head and total are written in one transaction, whatever the number of sessions. `~`
//! sorts after every session, so the total usually shares a page with the newest ones. An append
//! checks the seals of the two rows that it replaces, unless this process wrote them, so that
//! nothing forged is sealed.
//!
//! # Limits
//! Whoever reads the key can seal. Opening the record checks the total alone; that the heads add up
//! is checked by [`Log::verify`](super::Log::verify), which reads them all. After an accepted damage a
//! session may have two true heads of one number; so acceptance begins another epoch and seals
//! every head anew.

use super::{chain::before_the_first, log::one_row};
use interpreter_core::hash::SealKey;
use rusqlite::{Connection, OptionalExtension, Row, params, types::ValueRef};
use std::collections::BTreeMap;

/// The row that holds the total. No session has this name.
const TOTAL: &str = "~";

/// Rows that are free for each session. They follow each other, so that a session is found without
/// an index over all records, and an append touches no more pages than it must.
const ROOM: i64 = 1 << 32;

/// The newest record of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) place: i64,
    pub(super) seq: i64,
    pub(super) hash: String,
}

impl Head {
    /// The place before the first record of a session.
    pub(super) fn before(session: &[u8], place: i64) -> Self {
        Self { place, seq: 0, hash: before_the_first(session) }
    }
}

/// How many records there are, and the epoch of all seals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Total {
    pub(super) records: i64,
    /// The place before the newest session.
    pub(super) place: i64,
    /// Empty at first, then the session in which the person last accepted a damage.
    pub(super) epoch: String,
}

impl Total {
    /// The place before a new session.
    pub(super) fn free(&self) -> i64 {
        self.place.saturating_add(ROOM)
    }
}

/// The list in an open database.
#[derive(Clone, Copy)]
pub(super) struct Heads<'a> {
    pub(super) connection: &'a Connection,
    pub(super) key: &'a SealKey,
}

impl Heads<'_> {
    /// The total, or `None` if it is missing or its seal does not fit. One that is as `known` needs
    /// no seal.
    pub(super) fn total(self, known: Option<&Total>) -> rusqlite::Result<Option<Total>> {
        let found = self.row(TOTAL, |head, row| {
            let total = Total { records: head.seq, place: head.place, epoch: head.hash };
            let is_true = known == Some(&total) || self.fits("", row)?;
            Ok(is_true.then_some(total))
        })?;
        Ok(found.flatten())
    }

    /// The head of a session, or `None` if its seal does not fit. One that is as `known` needs no
    /// seal.
    pub(super) fn head(
        self,
        total: &Total,
        session: &str,
        known: Option<&Head>,
    ) -> rusqlite::Result<Option<Head>> {
        let found = self.row(session, |head, row| {
            let is_true = known == Some(&head) || self.fits(&total.epoch, row)?;
            Ok(is_true.then_some(head))
        })?;
        Ok(found.unwrap_or_else(|| Some(Head::before(session.as_bytes(), total.free()))))
    }

    /// Writes the total, signed.
    pub(super) fn set_total(self, total: &Total) -> rusqlite::Result<()> {
        let Total { records, place, epoch } = total;
        self.set("", TOTAL, (*place, *records, epoch))
    }

    /// Writes the head of a session, signed.
    pub(super) fn set_head(self, epoch: &str, session: &str, head: &Head) -> rusqlite::Result<()> {
        self.set(epoch, session, (head.place, head.seq, &head.hash))
    }

    /// The whole list without the total. Rows may hold anything.
    pub(super) fn list(self, epoch: &str) -> rusqlite::Result<BTreeMap<Vec<u8>, Listed>> {
        let mut statement = self
            .connection
            .prepare("SELECT place, seq, hash, seal, session FROM head WHERE session <> '~'")?;
        let rows = statement.query_map([], |row| {
            let listed = Listed {
                place: row.get(0)?,
                seq: row.get(1)?,
                hash: bytes(row.get_ref(2)?).to_vec(),
                is_signed: self.fits(epoch, row)?,
            };
            Ok((bytes(row.get_ref(4)?).to_vec(), listed))
        })?;
        rows.collect()
    }

    /// The row of one session as the file has it.
    pub(super) fn listed(
        self,
        epoch: &str,
        session: &str,
    ) -> rusqlite::Result<Option<(Vec<u8>, Listed)>> {
        self.row(session, |head, row| {
            let Head { place, seq, hash } = head;
            let is_signed = self.fits(epoch, row)?;
            let listed = Listed { place, seq, hash: hash.into_bytes(), is_signed };
            Ok((session.as_bytes().to_vec(), listed))
        })
    }

    fn row<T>(
        self,
        session: &str,
        take: impl FnOnce(Head, &Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Option<T>> {
        self.connection
            .prepare_cached("SELECT place, seq, hash, seal, session FROM head WHERE session = ?1")?
            .query_row([session], |row| {
                take(Head { place: row.get(0)?, seq: row.get(1)?, hash: row.get(2)? }, row)
            })
            .optional()
    }

    fn set(self, epoch: &str, session: &str, row: (i64, i64, &str)) -> rusqlite::Result<()> {
        let (place, seq, hash) = row;
        let numbers = numbers(place, seq);
        let seal = self.key.seal(&text(epoch, session.as_bytes(), &numbers, hash.as_bytes()));
        let mut statement = self.connection.prepare_cached(
            "REPLACE INTO head (session, place, seq, hash, seal) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?;
        one_row(statement.execute(params![session, place, seq, hash, seal])?)
    }

    /// Whether the seal of a row fits.
    fn fits(self, epoch: &str, row: &Row<'_>) -> rusqlite::Result<bool> {
        let numbers = numbers(row.get(0)?, row.get(1)?);
        let text = text(epoch, bytes(row.get_ref(4)?), &numbers, bytes(row.get_ref(2)?));
        Ok(self.key.fits(&text, bytes(row.get_ref(3)?)))
    }
}

/// One row of the list as the file has it, for the check.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) place: i64,
    pub(super) seq: i64,
    pub(super) hash: Vec<u8>,
    pub(super) is_signed: bool,
}

/// The sealed text of a head. True ones have exactly five lines, so none can pass for another.
fn text<'a>(epoch: &'a str, session: &'a [u8], numbers: &'a str, hash: &'a [u8]) -> [&'a [u8]; 7] {
    [epoch.as_bytes(), b"\n", session, b"\n", numbers.as_bytes(), b"\n", hash]
}

fn numbers(place: i64, seq: i64) -> String {
    format!("{place}\n{seq}")
}

/// The bytes of a text column, or none of another kind of value. They need not be UTF-8.
pub(super) fn bytes(value: ValueRef<'_>) -> &[u8] {
    match value {
        ValueRef::Text(bytes) => bytes,
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Blob(_) => b"",
    }
}
