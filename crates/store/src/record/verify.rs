//! Checks that the record is whole: recomputes every link of every session, and adds up the heads.
//!
//! Reads one row at a time, whatever the size of the file, and sees one state of it while others
//! append. A damaged session costs itself alone: the others are checked all the same. Must not
//! repair anything.

use super::{
    Log, RecordState,
    chain::Columns,
    failure::failure,
    heads::{Head, Heads, Listed},
    log::Stored,
};
use crate::StoreError;
use interpreter_core::{Body, Untrusted, record::SessionHead};
use rusqlite::{Connection, Row, types::ValueRef};
use std::{collections::BTreeMap, fmt};

/// The outcome of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verification {
    /// How many records the whole sessions have.
    pub records: u64,
    /// How many sessions are whole.
    pub sessions: u64,
    /// The first break of each other session.
    pub breaks: Vec<Break>,
    /// Whether the signed heads fall short of the signed total.
    pub missing: Option<Missing>,
    /// Whether the newest records are there.
    pub state: RecordState,
    /// The damages that the person accepted, each with the session that says so.
    pub accepted: Vec<(String, String)>,
    /// How many sessions were removed on purpose, by the record.
    pub removed: u64,
    /// An entry of the database that this program did not make, in words. Nothing is appended there.
    pub foreign: Option<String>,
}

impl Verification {
    /// Whether every record is there as it was written.
    pub fn is_whole(&self) -> bool {
        self.first_fault().is_none()
    }

    /// The first thing that is not, in words.
    pub fn first_fault(&self) -> Option<String> {
        let state = Some(&self.state).filter(|state| **state != RecordState::Whole);
        let broken = self.breaks.first().map(ToString::to_string);
        broken
            .or_else(|| self.missing.map(|missing| missing.to_string()))
            .or_else(|| state.map(ToString::to_string))
            .or_else(|| self.foreign.clone())
    }
}

/// Heads that do not add up to the total.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    /// How many records the heads add up to.
    pub listed: u64,
    /// How many were written.
    pub written: u64,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { listed, written } = self;
        write!(
            f,
            "the sessions in the list have {listed} records and {written} were written: a session \
             was removed or set back"
        )
    }
}

/// The first record of a session that is not as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Break {
    /// The session, with `\u{fffd}` where its name is not text.
    pub session: String,
    /// The number of the record.
    pub seq: u64,
    /// The error in it.
    pub reason: BreakReason,
}

impl fmt::Display for Break {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let session = Untrusted::new(self.session.as_str()).for_terminal_line(64);
        write!(f, "record {} of session {session}: {}", self.seq, self.reason)
    }
}

/// An error in a record.
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
    /// It is the last one, but the head names another.
    NotTheHead,
    /// It is whole, but not listed as one of its session.
    Unlisted,
    /// It is the head of its session, but the seal of that does not fit.
    Unsigned,
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
            Self::Added => f.write_str("this program did not add it"),
            Self::NotTheHead => f.write_str("the head of its session names another record"),
            Self::Unlisted => f.write_str("it is not listed as one of its session"),
            Self::Unsigned => f.write_str("the head of its session is not signed by this program"),
        }
    }
}

impl Log {
    /// Checks the whole record.
    pub fn verify(&self) -> Result<Verification, StoreError> {
        let state = self.state()?;
        // A transaction, so that records and heads are of the same moment.
        let checked = self
            .connection
            .unchecked_transaction()
            .and_then(|transaction| check(Heads { connection: &transaction, key: &self.key }))
            .map_err(|error| failure(&self.path, error))?;
        let Checked { records, sessions, breaks, missing, accepted, removed, .. } = checked;
        let removed = removed.len() as u64;
        let foreign = self.foreign()?;
        Ok(Verification { records, sessions, breaks, missing, state, accepted, removed, foreign })
    }

    /// Checks one session alone: its links, and the signature of its head. `None` if it is whole.
    pub fn verify_session(&self, session: &str) -> Result<Option<Break>, StoreError> {
        let transaction = self.connection.unchecked_transaction();
        let check = |connection: &Connection| -> rusqlite::Result<Option<Break>> {
            let list = Heads { connection, key: &self.key };
            let total = list.total(None)?;
            let epoch = total.as_ref().map(|total| total.epoch.as_str()).unwrap_or_default();
            let mut heads = BTreeMap::new();
            heads.extend(list.listed(epoch, session)?);
            let mut statement = connection.prepare_cached(
                "SELECT record.session, record.seq, time, kind, body, prev, record.hash, record.place
                 FROM head JOIN record
                     ON record.place > head.place - head.seq AND record.place <= head.place
                 WHERE head.session = ?1 ORDER BY record.place",
            )?;
            let mut rows = statement.query([session])?;
            let mut checked = Checked::default();
            let mut chain: Option<Chain> = None;
            while let Some(row) = rows.next()? {
                let place = row.get(7)?;
                let chain = chain.get_or_insert_with(|| Chain::new(session.as_bytes(), place));
                if chain.broken.is_none() {
                    chain.broken = chain.follow(row)?.err();
                }
            }
            if let Some(chain) = chain {
                checked.take(chain, &mut heads);
            }
            checked.settle(heads);
            Ok(checked.breaks.into_iter().next())
        };
        transaction
            .and_then(|transaction| check(&transaction))
            .map_err(|error| failure(&self.path, error))
    }
}

/// The outcome of a check of the database alone.
#[derive(Default)]
pub(super) struct Checked {
    records: u64,
    sessions: u64,
    breaks: Vec<Break>,
    pub(super) missing: Option<Missing>,
    accepted: Vec<(String, String)>,
    /// The sessions whose chain is whole in itself, whether it is listed or not.
    pub(super) chains: BTreeMap<String, Head>,
    /// The place of the last record.
    pub(super) last_place: i64,
    /// The heads of the sessions that were removed on purpose, wholly or in part.
    pub(super) removed: BTreeMap<String, Head>,
    /// Sessions whose end is missing, with their heads: they may have been removed on purpose.
    cut: Vec<(Break, Listed)>,
    /// The tombstones in the whole sessions.
    tombstones: BTreeMap<String, SessionHead>,
}

/// Goes through the records, session by session, and compares each with the list.
pub(super) fn check(list: Heads<'_>) -> rusqlite::Result<Checked> {
    let total = list.total(None)?;
    let epoch = total.as_ref().map(|total| total.epoch.as_str()).unwrap_or_default();
    let mut heads = list.list(epoch)?;
    let signed = heads.values().filter(|head| head.is_signed);
    let listed = signed.fold(0_u64, |sum, head| sum.saturating_add(head.seq.unsigned_abs()));
    let written = total.map_or(listed, |total| total.records.unsigned_abs());
    let missing = (listed != written).then_some(Missing { listed, written });
    let mut checked = Checked { missing, ..Checked::default() };
    let mut statement = list.connection.prepare(
        "SELECT session, seq, time, kind, body, prev, hash, place FROM record ORDER BY place",
    )?;
    let mut rows = statement.query([])?;
    let mut growing: Option<Chain> = None;
    while let Some(row) = rows.next()? {
        let session = bytes(row, 0)?.unwrap_or_default();
        if growing.as_ref().is_none_or(|chain| chain.session != session)
            && let Some(ended) = growing.replace(Chain::new(session, row.get(7)?))
        {
            checked.take(ended, &mut heads);
        }
        let Some(chain) = &mut growing else { continue };
        if chain.broken.is_none() {
            chain.broken = chain.follow(row)?.err();
        }
        checked.last_place = row.get(7)?;
    }
    if let Some(ended) = growing {
        checked.take(ended, &mut heads);
    }
    checked.settle(heads);
    Ok(checked)
}

impl Checked {
    /// Compares a chain with its head.
    fn take(&mut self, chain: Chain, heads: &mut BTreeMap<Vec<u8>, Listed>) {
        let head = heads.remove(&chain.session);
        let session = String::from_utf8_lossy(&chain.session).into_owned();
        let broken = chain.broken.or_else(|| chain.differs(head.as_ref()));
        if let Some((seq, reason)) = broken {
            let seq = seq.unsigned_abs();
            let found = Break { session: session.clone(), seq, reason };
            match (reason, head) {
                (BreakReason::EndMissing { .. }, Some(head)) => self.cut.push((found, head)),
                _ => self.breaks.push(found),
            }
        } else {
            self.records += chain.head.seq.unsigned_abs();
            self.sessions += 1;
            self.accepted
                .extend(chain.accepted.into_iter().map(|reason| (session.clone(), reason)));
            self.tombstones
                .extend(chain.tombstones.into_iter().map(|one| (one.session.clone(), one)));
        }
        if chain.broken.is_none() {
            self.chains.insert(session, chain.head);
        }
    }

    /// Decides on sessions without their newest records, of which those in `heads` have none left. A
    /// tombstone counts if it is in a whole session and names the signed head.
    fn settle(&mut self, heads: BTreeMap<Vec<u8>, Listed>) {
        for (session, head) in heads {
            let session = String::from_utf8_lossy(&session).into_owned();
            let reason = BreakReason::EndMissing { last: head.seq.unsigned_abs() };
            self.cut.push((Break { session, seq: 1, reason }, head));
        }
        for (found, listed) in std::mem::take(&mut self.cut) {
            let head = Head {
                place: listed.place,
                seq: listed.seq,
                hash: String::from_utf8_lossy(&listed.hash).into_owned(),
            };
            let is_on_purpose = self.tombstones.get(&found.session).is_some_and(|tombstone| {
                listed.is_signed
                    && tombstone.seq == head.seq.unsigned_abs()
                    && tombstone.hash == head.hash
            });
            if is_on_purpose {
                self.chains.remove(&found.session);
                self.removed.insert(found.session, head);
            } else {
                self.breaks.push(found);
            }
        }
    }
}

/// The records of one session, as far as they have been read.
struct Chain {
    session: Vec<u8>,
    /// The last one that follows from all before.
    head: Head,
    /// The first one that does not.
    broken: Option<(i64, BreakReason)>,
    /// The damages that they say were accepted.
    accepted: Vec<String>,
    /// The sessions that they say were removed.
    tombstones: Vec<SessionHead>,
}

impl Chain {
    /// A chain whose first record is at `place`.
    fn new(session: &[u8], place: i64) -> Self {
        let head = Head::before(session, place.saturating_sub(1));
        let (accepted, tombstones) = (Vec::new(), Vec::new());
        Self { session: session.to_vec(), head, broken: None, accepted, tombstones }
    }

    /// Takes the next row, if it follows.
    fn follow(&mut self, row: &Row<'_>) -> rusqlite::Result<Result<(), (i64, BreakReason)>> {
        let (seq, expected): (i64, _) = (row.get(1)?, self.head.seq + 1);
        if seq != expected {
            // Numbers begin at 1 and are in order here, so a smaller one stands before the first.
            let is_later = seq > expected;
            let reason = if is_later { BreakReason::Missing } else { BreakReason::Added };
            return Ok(Err((expected, reason)));
        }
        let place = row.get(7)?;
        if place != self.head.place + 1 {
            return Ok(Err((seq, BreakReason::Unlisted)));
        }
        let (time, kind, body) = (bytes(row, 2)?, bytes(row, 3)?, bytes(row, 4)?);
        let (prev, hash) = (bytes(row, 5)?, bytes(row, 6)?);
        let (Some(time), Some(kind), Some(body), Some(prev)) = (time, kind, body, prev) else {
            return Ok(Err((seq, BreakReason::Altered)));
        };
        let computed = Columns { prev, seq, session: &self.session, time, kind, body }.hash();
        if Some(computed.as_bytes()) != hash {
            return Ok(Err((seq, BreakReason::Altered)));
        }
        if prev != self.head.hash.as_bytes() {
            return Ok(Err((seq, BreakReason::Unlinked)));
        }
        if kind == b"record_accepted"
            && let Ok(Stored { body: Body::RecordAccepted { reason }, .. }) =
                serde_json::from_slice(body)
        {
            self.accepted.push(reason);
        }
        if kind == b"sessions_removed"
            && let Ok(Stored { body: Body::SessionsRemoved { sessions, .. }, .. }) =
                serde_json::from_slice(body)
        {
            self.tombstones.extend(sessions);
        }
        self.head = Head { place, seq, hash: computed };
        Ok(Ok(()))
    }

    /// How a chain that is whole in itself differs from the list.
    fn differs(&self, listed: Option<&Listed>) -> Option<(i64, BreakReason)> {
        let Head { place, seq: last, hash } = &self.head;
        let Some(head) = listed else { return Some((1, BreakReason::Unlisted)) };
        if head.seq > *last {
            Some((last + 1, BreakReason::EndMissing { last: head.seq.unsigned_abs() }))
        } else if head.seq < *last {
            Some((head.seq.max(0) + 1, BreakReason::Added))
        } else if head.hash != hash.as_bytes() {
            Some((*last, BreakReason::NotTheHead))
        } else if head.place != *place {
            Some((1, BreakReason::Unlisted))
        } else if !head.is_signed {
            Some((*last, BreakReason::Unsigned))
        } else {
            None
        }
    }
}

/// The bytes of a text column. They need not be UTF-8.
fn bytes<'row>(row: &'row Row<'_>, column: usize) -> rusqlite::Result<Option<&'row [u8]>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Text(bytes) => Some(bytes),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Blob(_) => None,
    })
}

#[cfg(test)]
#[path = "verify_tests.rs"]
mod tests;
