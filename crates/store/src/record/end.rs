//! The end of the record, kept in a small file beside it.
//!
//! # Threat
//! The newest records, cut off. They live in the write-ahead log for a while; one damaged byte
//! there makes `SQLite` drop everything from that byte on, and the rest still is a whole chain. The
//! same goes for a log that is removed and for an older copy of the database.
//!
//! # Mechanism
//! `record.end` holds the number and the hash of the newest record in two slots, each with a
//! checksum of its own. Slots are overwritten in turn, in place: one write, no new block of the
//! disk. The database must hold that record, or a longer chain with that record in it.
//!
//! # Order
//! The slot is written after the commit and before a record is given out. So the file may lag
//! behind the database when a process is killed in between, and never leads. Whoever compares reads
//! the file first and the database after. Several processes take turns by a lock on the file, and
//! none moves the end back.
//!
//! # Limits
//! Neither file is flushed for every record: after a power failure the file may know records that
//! never reached the disk. It also holds the boot that they were written in, so that the two cases
//! can be told apart. Whoever may write the folder can change both files.

use super::link::BEFORE_THE_FIRST;
use crate::{
    StoreError,
    private::{self, Flush},
};
use interpreter_core::hash::sha256;
use rusqlite::{Connection, OptionalExtension};
use rustix::fs::{FlockOperation, flock};
use std::{
    fmt,
    fs::{File, OpenOptions},
    io::{self, Read},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

/// Bytes of a slot: a sector, so that no disk tears two slots at once.
const SLOT: usize = 512;

/// Digits of a record's number.
const DIGITS: usize = 20;

/// Hexadecimal digits of a slot's checksum.
const CHECKSUM: usize = 16;

/// Names the current boot, where the system does.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// Stands for a boot that has no name.
const NO_BOOT: &str = "unknown";

/// The newest record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) seq: u64,
    pub(super) hash: String,
    /// The boot of the machine in which it was written.
    boot: String,
}

impl End {
    fn nothing() -> Self {
        Self { seq: 0, hash: BEFORE_THE_FIRST.into(), boot: boot() }
    }

    /// Its slot: number, hash and boot as text, a checksum, and blanks up to a newline.
    fn slot(&self) -> Vec<u8> {
        let text = format!("{:0DIGITS$} {} {}", self.seq, self.hash, self.boot);
        let checksum = &sha256(text.as_bytes())[..CHECKSUM];
        let mut slot = format!("{text} {checksum}").into_bytes();
        slot.resize(SLOT - 1, b' ');
        slot.push(b'\n');
        slot
    }

    /// The end that a slot holds, unless the slot is damaged.
    fn of(slot: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(slot).ok()?.trim_end();
        let (text, checksum) = text.rsplit_once(' ')?;
        if sha256(text.as_bytes()).get(..CHECKSUM) != Some(checksum) {
            return None;
        }
        let mut words = text.split(' ');
        let (seq, hash, boot) = (words.next()?, words.next()?, words.next()?);
        Some(Self { seq: seq.parse().ok()?, hash: hash.into(), boot: boot.into() })
    }
}

/// The file, open.
#[derive(Debug)]
pub(super) struct EndFile {
    file: File,
    path: PathBuf,
    /// This boot, read once.
    boot: String,
}

impl EndFile {
    /// Opens the file, or finds that there is none.
    pub(super) fn open(path: &Path, access: Access) -> Result<Option<Self>, StoreError> {
        if !private::check_file(path)? {
            return Ok(None);
        }
        let mut options = OpenOptions::new();
        options.read(true).write(access == Access::Write);
        match options.open(path) {
            Ok(file) => Ok(Some(Self { file, path: path.into(), boot: boot() })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(StoreError::Read { path: path.into(), source }),
        }
    }

    /// Makes the file for a record that has none yet, unless another process was faster.
    pub(super) fn make(path: &Path) -> Result<(), StoreError> {
        if private::check_file(path)? {
            return Ok(());
        }
        private::write_new(path, &content(&End::nothing()), Flush::Wait)
            .map_err(|source| StoreError::Make { path: path.into(), source })
    }

    /// Puts another file in its place, which names `seq` as the newest record.
    pub(super) fn replace(path: &Path, seq: u64, hash: &str) -> Result<(), StoreError> {
        private::write(path, &content(&End { seq, hash: hash.into(), boot: boot() }))
            .map_err(|source| StoreError::Keep { path: path.into(), source })
    }

    /// The newest record that the file knows, or `None` if both slots are damaged.
    pub(super) fn read(&self) -> Result<Option<End>, StoreError> {
        let slots = self.slots();
        let [first, second] =
            slots.map_err(|source| StoreError::Read { path: self.path.clone(), source })?;
        Ok(first.into_iter().chain(second).max_by_key(|end| end.seq))
    }

    /// Moves the end to a record that has been committed.
    pub(super) fn advance(&self, seq: u64, hash: &str) -> Result<(), StoreError> {
        let end = End { seq, hash: hash.into(), boot: self.boot.clone() };
        let written = flock(&self.file, FlockOperation::LockExclusive)
            .map_err(io::Error::from)
            .and_then(|()| {
                let written = self.write(&end);
                flock(&self.file, FlockOperation::Unlock)?;
                written
            });
        written.map_err(|source| StoreError::Keep { path: self.path.clone(), source })
    }

    /// Overwrites the older slot, unless another process has moved the end further.
    ///
    /// Every append comes through here, so checksums are computed only where a slot claims to be
    /// newer.
    fn write(&self, end: &End) -> io::Result<()> {
        let bytes = self.bytes()?;
        let (first, second) = bytes.split_at(SLOT);
        let seqs = [first, second].map(|slot| match claimed(slot) {
            seq if seq < end.seq => seq,
            _ => End::of(slot).map_or(0, |newer| newer.seq),
        });
        if seqs.iter().any(|seq| *seq >= end.seq) {
            return Ok(());
        }
        let place = if seqs[0] <= seqs[1] { 0 } else { SLOT as u64 };
        self.file.write_all_at(&end.slot(), place)
    }

    fn slots(&self) -> io::Result<[Option<End>; 2]> {
        let bytes = self.bytes()?;
        let (first, second) = bytes.split_at(SLOT);
        Ok([End::of(first), End::of(second)])
    }

    /// Both slots. What is missing of a file that was cut short is noughts.
    fn bytes(&self) -> io::Result<[u8; 2 * SLOT]> {
        let mut bytes = [0; 2 * SLOT];
        let mut read = 0;
        while read < bytes.len() {
            match self.file.read_at(&mut bytes[read..], read as u64)? {
                0 => break,
                more => read += more,
            }
        }
        Ok(bytes)
    }
}

/// The number that a slot begins with, whether it is damaged or not.
fn claimed(slot: &[u8]) -> u64 {
    let digits = slot.get(..DIGITS).and_then(|digits| std::str::from_utf8(digits).ok());
    digits.and_then(|digits| digits.parse().ok()).unwrap_or_default()
}

/// What an open file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

fn content(end: &End) -> Vec<u8> {
    [end.slot(), End::nothing().slot()].concat()
}

/// The current boot. Without a name for it every boot is another one.
fn boot() -> String {
    let mut name = String::new();
    let read = File::open(BOOT).and_then(|file| file.take(64).read_to_string(&mut name));
    match (read, name.trim()) {
        (Ok(_), name) if !name.is_empty() && !name.contains(' ') => name.into(),
        _ => NO_BOOT.into(),
    }
}

/// Whether the database ends where the file beside it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It does, or goes on from there.
    Whole,
    /// Newer records are missing.
    Cut {
        /// The first of them.
        first: u64,
        /// The last of them.
        last: u64,
        /// The hash of the last.
        hash: String,
        /// Whether the machine has been started again since they were written.
        machine: Restarted,
    },
    /// The record of that number is another one than was written.
    Another {
        /// Its number.
        seq: u64,
        /// The hash that it had.
        hash: String,
    },
    /// The file that tells is gone or damaged.
    Unknown,
}

/// Whether the machine has been started again since something was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restarted {
    /// It has, or nobody can tell: what was written may never have reached the disk.
    Perhaps,
    /// It has not.
    No,
}

impl Restarted {
    fn since(end: &End) -> Self {
        if end.boot != NO_BOOT && end.boot == boot() { Self::No } else { Self::Perhaps }
    }
}

impl Ending {
    /// The ending of a record whose database is gone.
    pub(super) fn without_records(end: &End) -> Self {
        let hash = end.hash.clone();
        Self::Cut { first: 1, last: end.seq, hash, machine: Restarted::since(end) }
    }

    /// Compares the database with an end that was read before.
    pub(super) fn compare(connection: &Connection, end: Option<&End>) -> rusqlite::Result<Self> {
        let Some(end) = end else { return Ok(Self::Unknown) };
        let newest = newest(connection)?;
        if newest < end.seq {
            let (hash, machine) = (end.hash.clone(), Restarted::since(end));
            return Ok(Self::Cut { first: newest + 1, last: end.seq, hash, machine });
        }
        if end.seq == 0 || hash_of(connection, end.seq)?.as_ref() == Some(&end.hash) {
            return Ok(Self::Whole);
        }
        Ok(Self::Another { seq: end.seq, hash: end.hash.clone() })
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => f.write_str("the record ends where it should"),
            Self::Cut { first, last, machine, .. } => {
                let records = match last - first {
                    0 => format!("the newest record ({last}) is missing"),
                    more => {
                        format!("the newest {} records ({first} to {last}) are missing", more + 1)
                    }
                };
                match machine {
                    Restarted::No => write!(
                        f,
                        "{records}; the machine has run on since they were written, so no power \
                         failure explains it: something removed or damaged them"
                    ),
                    Restarted::Perhaps => write!(
                        f,
                        "{records}; the machine was restarted since they were written: a power \
                         failure may have lost them, or something removed or damaged them"
                    ),
                }
            }
            Self::Another { seq, .. } => {
                write!(f, "record {seq} is not the one that was written: the record was replaced")
            }
            Self::Unknown => f.write_str(
                "the file that says where the record ends is missing or damaged, so newer records \
                 may be missing",
            ),
        }
    }
}

/// The number of the newest record; 0 if the database has none, or no tables yet.
pub(super) fn newest(connection: &Connection) -> rusqlite::Result<u64> {
    if !has_records(connection)? {
        return Ok(0);
    }
    let newest: Option<i64> =
        connection.query_row("SELECT max(seq) FROM record", [], |row| row.get(0))?;
    Ok(newest.and_then(|seq| u64::try_from(seq).ok()).unwrap_or_default())
}

/// Whether the database has the table of records.
pub(super) fn has_records(connection: &Connection) -> rusqlite::Result<bool> {
    let table = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'record'";
    connection.query_row(table, [], |row| row.get::<_, i64>(0)).map(|count| count > 0)
}

/// The hash of a record, as far as it is text.
pub(super) fn hash_of(connection: &Connection, seq: u64) -> rusqlite::Result<Option<String>> {
    let Ok(seq) = i64::try_from(seq) else { return Ok(None) };
    let hash: Option<Option<Vec<u8>>> = connection
        .query_row("SELECT CAST(hash AS BLOB) FROM record WHERE seq = ?1", [seq], |row| row.get(0))
        .optional()?;
    Ok(hash.flatten().map(|hash| String::from_utf8_lossy(&hash).into_owned()))
}

#[cfg(test)]
#[path = "end_tests.rs"]
mod tests;
