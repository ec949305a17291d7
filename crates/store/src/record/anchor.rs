//! Anchors: a line for the person to keep elsewhere, which later proves that nothing before it was
//! changed, removed or set back.
//!
//! # Threat
//! Someone who has the key and writes the data folder: they can put an older copy back, or write a
//! whole new record that is consistent in itself.
//!
//! # Mechanism
//! `audit anchor` appends a record `anchored`, in a session of its own, and prints its hash. It holds
//! the number and hash of the newest record of every session: those that have changed since the
//! anchor before it, which it names by its hash, and through that one all others. So the printed
//! hash covers every record that there was. Later the record must still hold the anchor, and every
//! session must have that record at that place; it may have grown since.
//!
//! # Limits
//! Records newer than the newest anchor are not covered. Of a deleted session, only the tombstone
//! is.

use super::{
    Log,
    chain::Columns,
    failure::failure,
    heads::{Heads, Listed},
    log::Stored,
    new_session_id,
    state::hash_of,
};
use crate::StoreError;
use interpreter_core::{Body, Untrusted, record::SessionHead};
use rusqlite::{OptionalExtension, params};
use std::{collections::BTreeMap, fmt, str::FromStr};

/// How an anchor's line begins, with the version of its form.
const NAME: &str = "interpreter-anchor-1";

/// A printed anchor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// How many records it attests.
    pub records: u64,
    /// When it was made, as the record has it.
    pub time: String,
    /// The session that holds its record.
    pub session: String,
    /// The hash of its record.
    pub hash: String,
}

impl fmt::Display for Anchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { records, time, session, hash } = self;
        write!(f, "{NAME} {records} {time} {session} {hash}")
    }
}

impl FromStr for Anchor {
    type Err = StoreError;

    fn from_str(line: &str) -> Result<Self, StoreError> {
        let parse = || {
            let mut words = line.split_whitespace();
            words.next().filter(|name| *name == NAME)?;
            let records = words.next()?.parse().ok()?;
            let [time, session, hash] = [words.next()?, words.next()?, words.next()?];
            let is_plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric());
            let fits = hash.len() == 64 && is_plain(hash) && is_plain(session);
            let ends = words.next().is_none();
            (fits && ends).then(|| Self {
                records,
                time: time.into(),
                session: session.into(),
                hash: hash.into(),
            })
        };
        parse().ok_or_else(|| StoreError::NotAnAnchor { text: Untrusted::new(line) })
    }
}

/// The outcome of a comparison with an anchor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnchorCheck {
    /// How many records it attests.
    pub records: u64,
    /// How many sessions they are of.
    pub sessions: u64,
    /// How many of these were removed on purpose since.
    pub removed: u64,
    /// Everything that is not as it was.
    pub faults: Vec<AnchorFault>,
}

/// Something that is not as an anchor attests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnchorFault {
    /// The anchor, or one that it refers to, is not there.
    Unknown {
        /// The session that would hold it.
        session: String,
    },
    /// The line does not say what its record says.
    Reworded,
    /// A record is gone.
    Missing {
        /// Its session.
        session: String,
        /// Its number.
        seq: u64,
    },
    /// A record is another.
    Other {
        /// Its session.
        session: String,
        /// Its number.
        seq: u64,
    },
}

impl fmt::Display for AnchorFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |session: &str| Untrusted::new(session).for_terminal_line(64);
        match self {
            Self::Unknown { session } => write!(
                f,
                "the anchor of session {} is missing: the record was set back or replaced, or is \
                 another one",
                name(session)
            ),
            Self::Reworded => {
                f.write_str("the number or the time in the line of the anchor was changed")
            }
            Self::Missing { session, seq } => {
                write!(f, "record {seq} of session {} is missing", name(session))
            }
            Self::Other { session, seq } => {
                write!(f, "record {seq} of session {} was another one", name(session))
            }
        }
    }
}

/// Number and hash of the newest record that is attested, by session.
pub(super) type AttestedHeads = BTreeMap<String, (u64, String)>;

/// Everything that `anchor` attests, with the help of the anchors before it. `find` gives the time
/// and the content of an anchor's record, if it has this hash.
pub(super) fn attested(
    anchor: &Anchor,
    find: impl Fn(&SessionHead) -> Result<Option<(String, Body)>, StoreError>,
) -> Result<Result<AttestedHeads, AnchorFault>, StoreError> {
    let mut heads = AttestedHeads::new();
    let (session, hash) = (anchor.session.clone(), anchor.hash.clone());
    let mut next = Some(SessionHead { session, seq: 1, hash });
    let mut is_first = true;
    // Each names the one before by its hash, so there is no circle.
    while let Some(this) = next {
        let Some((time, Body::Anchored { records, since, heads: changed })) = find(&this)? else {
            return Ok(Err(AnchorFault::Unknown { session: this.session }));
        };
        if is_first && (records != anchor.records || time != anchor.time) {
            return Ok(Err(AnchorFault::Reworded));
        }
        is_first = false;
        for SessionHead { session, seq, hash } in changed {
            heads.entry(session).or_insert((seq, hash));
        }
        next = since;
    }
    Ok(Ok(heads))
}

impl AnchorCheck {
    pub(super) fn begin(anchor: &Anchor, attested: &Result<AttestedHeads, AnchorFault>) -> Self {
        let (sessions, faults) = match attested {
            Ok(heads) => (heads.len() as u64, Vec::new()),
            Err(fault) => (0, vec![fault.clone()]),
        };
        Self { records: anchor.records, sessions, removed: 0, faults }
    }

    /// A record that is attested is not there. Its session may have been removed on purpose.
    pub(super) fn gone(
        &mut self,
        tombstone: Option<&SessionHead>,
        session: String,
        seq: u64,
        hash: &str,
    ) {
        match tombstone {
            Some(last) if last.seq > seq || (last.seq == seq && last.hash == hash) => {
                self.removed += 1;
            }
            Some(_) => self.faults.push(AnchorFault::Other { session, seq }),
            None => self.faults.push(AnchorFault::Missing { session, seq }),
        }
    }
}

impl Log {
    /// Makes an anchor of the record as it is, and puts it on record.
    pub fn anchor(&mut self) -> Result<Anchor, StoreError> {
        let broken = || StoreError::Broken { path: self.path.clone() };
        let before = self.newest_anchor().map_err(|error| failure(&self.path, error))?;
        let known = match &before {
            None => AttestedHeads::new(),
            Some(anchor) => {
                attested(anchor, |head| self.find_anchor(head))?.map_err(|_| broken())?
            }
        };
        let list = self.signed_heads()?.ok_or_else(broken)?;
        let records = list.values().map(|head| head.seq.unsigned_abs()).sum();
        let mut heads = Vec::new();
        for (session, head) in list {
            let session = String::from_utf8(session).map_err(|_| broken())?;
            let hash = String::from_utf8(head.hash).map_err(|_| broken())?;
            let seq = head.seq.unsigned_abs();
            if known.get(&session).is_none_or(|(before, _)| *before != seq) {
                heads.push(SessionHead { session, seq, hash });
            }
        }
        let since =
            before.map(|Anchor { session, hash, .. }| SessionHead { session, seq: 1, hash });
        let record = self.append(&new_session_id(), &Body::Anchored { records, since, heads })?;
        let hash = self.added.as_ref().map(|(_, added)| added.head.hash.clone());
        let hash = hash.unwrap_or_default();
        Ok(Anchor { records, time: record.time, session: record.session, hash })
    }

    /// Compares the record with an anchor. Hashes are taken as they stand: [`Log::verify`] checks
    /// them.
    pub fn check_anchor(&self, anchor: &Anchor) -> Result<AnchorCheck, StoreError> {
        let failed = |error| failure(&self.path, error);
        // One moment, while others append and remove.
        let _moment = self.connection.unchecked_transaction().map_err(failed)?;
        let attested = attested(anchor, |head| self.find_anchor(head))?;
        let mut check = AnchorCheck::begin(anchor, &attested);
        let Ok(heads) = attested else { return Ok(check) };
        let removed = self.tombstones()?;
        for (session, (seq, hash)) in heads {
            match hash_of(&self.connection, &session, seq).map_err(failed)? {
                Some(found) if found == hash => {}
                Some(_) => check.faults.push(AnchorFault::Other { session, seq }),
                None => check.gone(removed.get(&session), session, seq, &hash),
            }
        }
        Ok(check)
    }

    /// All heads, if every one is signed and they add up to the total.
    fn signed_heads(&self) -> Result<Option<BTreeMap<Vec<u8>, Listed>>, StoreError> {
        let read = || -> rusqlite::Result<_> {
            // One moment: heads and total.
            let transaction = self.connection.unchecked_transaction()?;
            let heads = Heads { connection: &transaction, key: &self.key };
            let Some(total) = heads.total(None)? else { return Ok(None) };
            let list = heads.list(&total.epoch)?;
            let sum: u64 = list.values().map(|head| head.seq.unsigned_abs()).sum();
            let is_true = sum == total.records.unsigned_abs();
            Ok(Some(list).filter(|list| is_true && list.values().all(|head| head.is_signed)))
        };
        read().map_err(|error| failure(&self.path, error))
    }

    /// The newest anchor on record.
    fn newest_anchor(&self) -> rusqlite::Result<Option<Anchor>> {
        let query = "SELECT head.session, record.hash, record.body, record.time FROM head
                     JOIN record ON record.place = head.place - head.seq + 1
                     WHERE head.session < '~' AND record.kind = 'anchored'
                     ORDER BY head.session DESC LIMIT 1";
        let found = self.connection.query_row(query, [], |row| {
            let stored: Option<Stored> = serde_json::from_str(&row.get::<_, String>(2)?).ok();
            let records = match stored.map(|stored| stored.body) {
                Some(Body::Anchored { records, .. }) => records,
                Some(_) | None => 0,
            };
            Ok(Anchor { records, session: row.get(0)?, hash: row.get(1)?, time: row.get(3)? })
        });
        found.optional()
    }

    /// The time and the content of an anchor's record, if it is there with this hash.
    fn find_anchor(&self, head: &SessionHead) -> Result<Option<(String, Body)>, StoreError> {
        let query =
            "SELECT record.seq, record.session, time, kind, body, prev FROM head JOIN record
                         ON record.place = head.place - head.seq + 1 WHERE head.session = ?1";
        let failed = |error| failure(&self.path, error);
        let mut statement = self.connection.prepare_cached(query).map_err(failed)?;
        let found = statement.query_row(params![head.session], |row| {
            let [session, time, kind, body, prev]: [String; 5] =
                [row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?];
            let columns = Columns {
                prev: prev.as_bytes(),
                seq: row.get(0)?,
                session: session.as_bytes(),
                time: time.as_bytes(),
                kind: kind.as_bytes(),
                body: body.as_bytes(),
            };
            Ok((columns.hash() == head.hash).then_some((time, body)))
        });
        let Some((time, body)) = found.optional().map_err(failed)?.flatten() else {
            return Ok(None);
        };
        let stored: Option<Stored> = serde_json::from_str(&body).ok();
        Ok(stored.map(|stored| (time, stored.body)))
    }
}

#[cfg(test)]
#[path = "anchor_tests.rs"]
mod tests;
