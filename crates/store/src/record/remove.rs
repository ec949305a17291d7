//! Removes whole sessions on purpose, and leaves a tombstone of each.
//!
//! # Threat
//! A removal that cannot be told from tampering, or tampering that passes for a removal. A kill in the
//! middle. A session that still runs. The content left in a file after it was removed.
//!
//! # Mechanism
//! The tombstone is a record, `sessions_removed`: the number and hash of the last record of each
//! session, and why. The heads stay in the signed list, so the total adds up as before. A missing
//! session counts as removed only if a tombstone in a whole, signed session names its signed head;
//! nobody can write that without the key.
//!
//! # Order
//! The tombstone goes on record first. Then stored outputs that no other session has, results,
//! and the search index; then the records, from the last to the first, some at a time, so that others
//! can append meanwhile. After a kill the rest of the session is there; the next removal goes on with
//! it.
//!
//! # Limits
//! Sessions that tell of accepted damage, of anchors or of removals are never removed. One that is
//! damaged is not removed either: its tombstone would hide that. The pages of the database are
//! overwritten, but a copy of the file, or the disk below it, may still hold what was there.

use super::{
    Break, Log,
    failure::failure,
    heads::Heads,
    log::{LogEntry, Stored},
    new_session_id,
    schema::DELETE_GUARD,
};
use crate::{Folders, Outputs, StoreError, running::RunningSession};
use interpreter_core::{
    Body, Output,
    record::{RemovalReason, SessionHead},
};
use rusqlite::{OptionalExtension, TransactionBehavior, params};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, fs,
};

/// Records that are removed at once. Others can append in between.
const BATCH: i64 = 2_000;

/// Outputs that one record names as pruned.
const PRUNED: usize = 1_000;

/// The kinds of a first record whose session is never removed.
const ACCOUNTS: [&str; 3] = ["anchored", "record_accepted", "sessions_removed"];

/// The outcome of a removal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Freed {
    /// Sessions that are gone.
    pub sessions: u64,
    /// Records that are gone.
    pub records: u64,
    /// Bytes in the database that new records can use.
    pub bytes: u64,
    /// Stored outputs that are gone.
    pub outputs: u64,
    /// Their bytes on the disk.
    pub output_bytes: u64,
}

/// Why a session cannot be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotRemovable {
    /// It is running.
    Running,
    /// It tells of accepted damage, of an anchor or of removed sessions.
    Account,
    /// It is damaged.
    Damaged(Break),
}

impl fmt::Display for NotRemovable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Running => f.write_str("it is running"),
            Self::Account => {
                f.write_str("it tells of accepted damage, of an anchor or of removed sessions")
            }
            Self::Damaged(found) => write!(f, "it is damaged ({found})"),
        }
    }
}

impl Log {
    /// Why a session cannot be removed, if so.
    pub fn not_removable(
        &self,
        folders: &Folders,
        session: &str,
    ) -> Result<Option<NotRemovable>, StoreError> {
        if RunningSession::is(folders, session)? {
            return Ok(Some(NotRemovable::Running));
        }
        let kind = self.first_kind(session).map_err(|error| failure(&self.path, error))?;
        if kind.is_some_and(|kind| ACCOUNTS.contains(&kind.as_str())) {
            return Ok(Some(NotRemovable::Account));
        }
        Ok(self.verify_session(session)?.map(NotRemovable::Damaged))
    }

    /// Removes sessions, whose ids are whole, and whatever an earlier removal could not finish.
    pub fn remove(
        &mut self,
        folders: &Folders,
        sessions: &[String],
        why: RemovalReason,
    ) -> Result<Freed, StoreError> {
        for session in sessions {
            if let Some(reason) = self.not_removable(folders, session)? {
                return Err(StoreError::NotRemovable { session: session.clone(), reason });
            }
        }
        let failed = |error| failure(&self.path, error);
        let mut heads = Vec::new();
        for session in sessions.iter().collect::<BTreeSet<_>>() {
            heads.push(
                self.head_of(session)
                    .map_err(failed)?
                    .ok_or_else(|| StoreError::NoSession { prefix: session.clone() })?,
            );
        }
        let unfinished = self.unfinished()?;
        let going: BTreeSet<&str> =
            heads.iter().chain(&unfinished).map(|head| head.session.as_str()).collect();
        let outputs = Outputs::new(folders);
        let Named { own, told } = self.named_outputs(&going)?;
        let mut entries = Vec::new();
        if !heads.is_empty() {
            let sessions = heads.clone();
            entries.push(LogEntry::now(Body::SessionsRemoved { why, sessions }));
        }
        // This session explains the outputs that the removed ones had explained.
        let gone: Vec<_> = own.iter().chain(&told).cloned().collect();
        let pruned =
            gone.chunks(PRUNED).map(|hashes| Body::OutputsPruned { hashes: hashes.into() });
        entries.extend(pruned.map(LogEntry::now));
        if !entries.is_empty() {
            self.append_all(&new_session_id(), &entries)?;
        }
        let mut freed = Freed::default();
        for hash in &own {
            if let Some(bytes) = outputs.remove(hash)? {
                freed.outputs += 1;
                freed.output_bytes += bytes;
            }
        }
        for session in &going {
            // Copies, in a folder that may not be there.
            _ = fs::remove_dir_all(folders.results_folder().join(session)).is_ok();
        }
        let going: Vec<String> = going.into_iter().map(str::to_owned).collect();
        self.forget(folders, &going, why == RemovalReason::Asked)?;
        let before = self.free_bytes().map_err(|error| failure(&self.path, error))?;
        for session in &going {
            freed.records += self.delete(session).map_err(|error| failure(&self.path, error))?;
            freed.sessions += 1;
        }
        let after = self.free_bytes().map_err(|error| failure(&self.path, error))?;
        freed.bytes = after.saturating_sub(before);
        // The write-ahead log still holds the removed text. If others read, it is overwritten later.
        _ = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).is_ok();
        Ok(freed)
    }

    /// The tombstones of removed sessions.
    pub(super) fn tombstones(&self) -> Result<BTreeMap<String, SessionHead>, StoreError> {
        let read = || -> rusqlite::Result<_> {
            let mut statement = self.connection.prepare_cached(
                "SELECT record.body FROM head JOIN record
                     ON record.place = head.place - head.seq + 1
                 WHERE head.session < '~' AND record.kind = 'sessions_removed'",
            )?;
            let mut rows = statement.query([])?;
            let mut all = BTreeMap::new();
            while let Some(row) = rows.next()? {
                let stored = serde_json::from_str::<Stored>(&row.get::<_, String>(0)?);
                if let Ok(Stored { body: Body::SessionsRemoved { sessions, .. }, .. }) = stored {
                    all.extend(sessions.into_iter().map(|one| (one.session.clone(), one)));
                }
            }
            Ok(all)
        };
        read().map_err(|error| failure(&self.path, error))
    }

    /// Sessions that have a tombstone, and records all the same.
    fn unfinished(&self) -> Result<Vec<SessionHead>, StoreError> {
        let mut left = Vec::new();
        for tombstone in self.tombstones()?.into_values() {
            let kind = self.first_kind(&tombstone.session);
            if kind.map_err(|error| failure(&self.path, error))?.is_some() {
                left.push(tombstone);
            }
        }
        Ok(left)
    }

    fn first_kind(&self, session: &str) -> rusqlite::Result<Option<String>> {
        self.connection
            .prepare_cached(
                "SELECT kind FROM head JOIN record ON record.place = head.place - head.seq + 1
                 WHERE head.session = ?1",
            )?
            .query_row([session], |row| row.get(0))
            .optional()
    }

    /// The signed head of a session.
    fn head_of(&self, session: &str) -> rusqlite::Result<Option<SessionHead>> {
        let heads = Heads { connection: &self.connection, key: &self.key };
        let Some(total) = heads.total(None)? else { return Ok(None) };
        let head = heads.head(&total, session, None)?.filter(|head| head.seq > 0);
        Ok(head.map(|head| SessionHead {
            session: session.to_owned(),
            seq: head.seq.unsigned_abs(),
            hash: head.hash,
        }))
    }

    /// The stored outputs that only these sessions name, and those that they say were pruned.
    fn named_outputs(&self, sessions: &BTreeSet<&str>) -> Result<Named, StoreError> {
        let (mut own, mut others, mut told) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        self.each("kind = 'outputs_pruned'", |record| {
            if let Body::OutputsPruned { hashes } = record.body
                && sessions.contains(record.session.as_str())
            {
                told.extend(hashes);
            }
            Ok(())
        })?;
        self.each("kind IN ('output', 'image') AND instr(body, '\"kept\":{') > 0", |record| {
            if let Body::Output(Output { kept: Some(kept), .. }) | Body::Image { kept, .. } =
                record.body
            {
                let is_going = sessions.contains(record.session.as_str());
                if is_going { &mut own } else { &mut others }.insert(kept.hash);
            }
            Ok(())
        })?;
        own.retain(|hash| !others.contains(hash));
        // Only what other sessions still name must be told of.
        told.retain(|hash| others.contains(hash));
        Ok(Named { own, told })
    }

    /// Removes the records of a session, the last ones first, and gives their number.
    fn delete(&mut self, session: &str) -> rusqlite::Result<u64> {
        self.connection.pragma_update(None, "secure_delete", "ON")?;
        let (last, first): (i64, i64) = self.connection.query_row(
            "SELECT place, place - seq + 1 FROM head WHERE session = ?1",
            [session],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        let mut count = 0;
        let mut upper = last;
        while upper >= first {
            let lower = first.max(upper - BATCH + 1);
            let transaction =
                self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.execute_batch("DROP TRIGGER IF EXISTS record_no_delete")?;
            count += transaction.execute(
                "DELETE FROM record WHERE place BETWEEN ?1 AND ?2 AND session = ?3",
                params![lower, upper, session],
            )? as u64;
            transaction.execute_batch(DELETE_GUARD)?;
            transaction.commit()?;
            upper = lower - 1;
        }
        Ok(count)
    }

    /// Bytes of the database that hold nothing.
    fn free_bytes(&self) -> rusqlite::Result<u64> {
        let number = |name| self.connection.pragma_query_value(None, name, |row| row.get(0));
        let (pages, size): (i64, i64) = (number("freelist_count")?, number("page_size")?);
        Ok(pages.unsigned_abs() * size.unsigned_abs())
    }

    /// Bytes of the database that hold something.
    pub(super) fn used_bytes(&self) -> rusqlite::Result<u64> {
        let number = |name| self.connection.pragma_query_value(None, name, |row| row.get(0));
        let (pages, size): (i64, i64) = (number("page_count")?, number("page_size")?);
        Ok((pages.unsigned_abs() * size.unsigned_abs()).saturating_sub(self.free_bytes()?))
    }
}

/// Stored outputs by their hashes.
struct Named {
    /// Those that no other session names.
    own: BTreeSet<String>,
    /// Those that are said to have made room, and that others name.
    told: BTreeSet<String>,
}

#[cfg(test)]
#[path = "remove_tests.rs"]
mod tests;
