//! Whether the database is as new as the file beside it says.
//!
//! This is the check that every start makes: two rows and the file, however long the record is.
//! Must not change anything.

use super::{
    end::{End, Slot},
    heads::Heads,
};
use interpreter_core::hash::SealKey;
use rusqlite::{Connection, OptionalExtension, params};
use std::fmt;

/// Whether the newest records are there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordState {
    /// They are.
    Whole,
    /// Newer records are missing.
    Cut {
        /// How many.
        missing: u64,
        /// The session of the newest one.
        session: String,
        /// The number of the newest one in its session.
        seq: u64,
        /// The hash of the newest one.
        hash: String,
        /// Whether the machine may have been restarted since it was written, so that it may
        /// never have reached the disk.
        may_have_restarted: bool,
    },
    /// Another record has the place of the newest one.
    Replaced {
        /// Its session.
        session: String,
        /// Its number in that session.
        seq: u64,
        /// The hash that it had.
        hash: String,
    },
    /// The file that tells is gone or damaged.
    Unknown,
    /// The list of sessions is not signed with the key of the data folder.
    Unsigned,
}

impl RecordState {
    /// The state of a record of which only `records` are left.
    pub(super) fn cut(records: u64, slot: Slot) -> Self {
        let may_have_restarted = slot.is_of_another_boot();
        let End { records: all, session, seq, hash } = slot.end;
        Self::Cut { missing: all.saturating_sub(records), session, seq, hash, may_have_restarted }
    }

    /// Compares the database with an end that was read before.
    pub(super) fn compare(
        connection: &Connection,
        key: &SealKey,
        slot: Option<Slot>,
    ) -> rusqlite::Result<Self> {
        let Some(total) = Heads { connection, key }.total(None)? else { return Ok(Self::Unsigned) };
        let Some(slot) = slot else { return Ok(Self::Unknown) };
        if total.records.unsigned_abs() < slot.end.records {
            return Ok(Self::cut(total.records.unsigned_abs(), slot));
        }
        let End { records, session, seq, hash } = slot.end;
        if records == 0 || hash_of(connection, &session, seq)?.as_ref() == Some(&hash) {
            return Ok(Self::Whole);
        }
        Ok(Self::Replaced { session, seq, hash })
    }
}

impl fmt::Display for RecordState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => f.write_str("the record is complete"),
            Self::Cut { missing, session, seq, may_have_restarted, .. } => {
                match missing {
                    1 => f.write_str("the newest record is missing")?,
                    more => write!(f, "the newest {more} records are missing")?,
                }
                write!(f, " (the last was record {seq} of session {session}); ")?;
                f.write_str(if *may_have_restarted {
                    "the machine was restarted since they were written: a power failure may have \
                     lost them, or something removed or damaged them"
                } else {
                    "the machine has run on since they were written, so no power failure explains \
                     it: something removed or damaged them"
                })
            }
            Self::Replaced { session, seq, .. } => write!(
                f,
                "record {seq} of session {session} is not the one that was written: the record \
                 was replaced"
            ),
            Self::Unknown => f.write_str(
                "the file with the end of the record is missing or damaged, so newer records may \
                 be missing",
            ),
            Self::Unsigned => f.write_str(
                "the list of sessions is not signed with the key of this data folder: something \
                 changed the record or the key",
            ),
        }
    }
}

/// The hash of a record, as far as it is text.
pub(super) fn hash_of(
    connection: &Connection,
    session: &str,
    seq: u64,
) -> rusqlite::Result<Option<String>> {
    let Ok(seq) = i64::try_from(seq) else { return Ok(None) };
    let hash: Option<Vec<u8>> = connection
        .prepare_cached(
            "SELECT CAST(record.hash AS BLOB) FROM head JOIN record
                 ON record.place = head.place - head.seq + ?2
             WHERE head.session = ?1",
        )?
        .query_row(params![session, seq], |row| row.get(0))
        .optional()?;
    Ok(hash.map(|hash| String::from_utf8_lossy(&hash).into_owned()))
}
