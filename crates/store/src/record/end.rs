//! The end of the record, kept in a small file beside it.
//!
//! # Threat
//! An older state of the database. Its newest records live in the write-ahead log for a while; one
//! damaged byte there makes `SQLite` drop everything from that byte on, and the rest is whole in
//! itself. The same goes for a log that is removed and for an older copy of the database.
//!
//! # Mechanism
//! `record.end` holds the number of all records, and the session, number and hash of the newest, in
//! two slots, each with a seal of its own. Slots are overwritten in turn, in place: one write, no
//! new block of the disk. The database must hold that record, and no fewer records.
//!
//! # Order
//! The slot is written after the commit and before a record is given out. So the file may lag
//! behind the database when a process is killed in between, by records that nobody was given, and
//! never leads. Whoever compares reads the file first and the database after, and so does every
//! append. Several processes take turns by a lock on the file, and none moves the end back.
//!
//! # Limits
//! Neither file is flushed for every record: after a power failure the file may know records that
//! never reached the disk. It also holds the boot that they were written in, so that the two cases
//! can be distinguished. Whoever may write the folder can put older copies of both files back.

use crate::{
    StoreError,
    private::{self, Flush},
};
use interpreter_core::hash::SealKey;
use rustix::fs::{FlockOperation, flock};
use std::{
    fs::{File, OpenOptions},
    io::{self, Read},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

/// Bytes of a slot: a sector, so that no disk tears two slots at once.
const SLOT: usize = 512;

/// Digits of the number of records.
const DIGITS: usize = 20;

/// Names the current boot, where the system does.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// Stands for a boot that has no name.
const NO_BOOT: &str = "unknown";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct End {
    /// How many records there are, of all sessions.
    pub(super) records: u64,
    pub(super) session: String,
    pub(super) seq: u64,
    pub(super) hash: String,
}

impl End {
    /// The end of an empty record.
    fn nothing() -> Self {
        Self { records: 0, session: "none".into(), seq: 0, hash: "none".into() }
    }
}

/// An end with the boot of the machine in which it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) end: End,
    boot: String,
}

impl Slot {
    /// Its bytes: the words as text, their seal, and blanks up to a newline.
    fn bytes(&self, key: &SealKey) -> Vec<u8> {
        let End { records, session, seq, hash } = &self.end;
        let text = format!("{records:0DIGITS$} {session} {seq} {hash} {}", self.boot);
        let seal = key.seal(&[b"end\n", text.as_bytes()]);
        let mut slot = format!("{text} {seal}").into_bytes();
        slot.resize(SLOT - 1, b' ');
        slot.push(b'\n');
        slot
    }

    /// The end that a slot holds, unless the slot is damaged.
    fn of(slot: &[u8], key: &SealKey) -> Option<Self> {
        let text = std::str::from_utf8(slot).ok()?.trim_end();
        let (text, seal) = text.rsplit_once(' ')?;
        if !key.fits(&[b"end\n", text.as_bytes()], seal.as_bytes()) {
            return None;
        }
        let mut words = text.split(' ');
        let records = words.next()?.parse().ok()?;
        let (session, seq) = (words.next()?.into(), words.next()?.parse().ok()?);
        let (hash, boot) = (words.next()?.into(), words.next()?.into());
        Some(Self { end: End { records, session, seq, hash }, boot })
    }

    /// Whether the machine may have been restarted since it was written.
    pub(super) fn is_of_another_boot(&self) -> bool {
        self.boot == NO_BOOT || self.boot != boot()
    }
}

#[derive(Debug)]
pub(super) struct EndFile {
    file: File,
    path: PathBuf,
    key: SealKey,
    /// This boot, read once.
    boot: String,
    /// The slot that was written last through this file, which needs no check of its seal.
    written: Option<(Vec<u8>, Slot)>,
}

impl EndFile {
    /// Opens the file, if it exists.
    pub(super) fn open(
        path: &Path,
        access: Access,
        key: &SealKey,
    ) -> Result<Option<Self>, StoreError> {
        if !private::check_file(path)? {
            return Ok(None);
        }
        let mut options = OpenOptions::new();
        options.read(true).write(access == Access::Write);
        match options.open(path) {
            Ok(file) => {
                let (path, key, boot) = (path.into(), key.clone(), boot());
                Ok(Some(Self { file, path, key, boot, written: None }))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(StoreError::Read { path: path.into(), source }),
        }
    }

    /// Makes the file for a record that has none yet, unless another process was faster.
    pub(super) fn make(path: &Path, key: &SealKey) -> Result<(), StoreError> {
        if private::check_file(path)? {
            return Ok(());
        }
        private::write_new(path, &content(End::nothing(), key), Flush::Wait)
            .map_err(|source| StoreError::Make { path: path.into(), source })
    }

    /// Puts another file in its place, with this end.
    pub(super) fn replace(path: &Path, end: End, key: &SealKey) -> Result<(), StoreError> {
        private::write(path, &content(end, key))
            .map_err(|source| StoreError::Keep { path: path.into(), source })
    }

    /// The newest end that the file holds, or `None` if both slots are damaged.
    ///
    /// Every append asks, so the slot that claims less is looked at only if the other is damaged.
    pub(super) fn read(&self) -> Result<Option<Slot>, StoreError> {
        let bytes =
            self.bytes().map_err(|source| StoreError::Read { path: self.path.clone(), source })?;
        let (first, second) = bytes.split_at(SLOT);
        let (newer, older) =
            if first[..DIGITS] < second[..DIGITS] { (second, first) } else { (first, second) };
        Ok(self.slot(newer).or_else(|| self.slot(older)))
    }

    /// The end that a slot holds, unless the slot is damaged.
    fn slot(&self, bytes: &[u8]) -> Option<Slot> {
        match &self.written {
            Some((written, slot)) if written == bytes => Some(slot.clone()),
            Some(_) | None => Slot::of(bytes, &self.key),
        }
    }

    /// Moves the end to a record that has been committed.
    pub(super) fn advance(&mut self, end: End) -> Result<(), StoreError> {
        let slot = Slot { end, boot: self.boot.clone() };
        let locked = flock(&self.file, FlockOperation::LockExclusive).map_err(io::Error::from);
        let written = locked.and_then(|()| {
            let written = self.write(slot);
            flock(&self.file, FlockOperation::Unlock)?;
            written
        });
        written.map_err(|source| StoreError::Keep { path: self.path.clone(), source })
    }

    /// Overwrites the older slot, unless another process has moved the end further.
    fn write(&mut self, slot: Slot) -> io::Result<()> {
        let bytes = self.bytes()?;
        let (first, second) = bytes.split_at(SLOT);
        let [first, second] = [first, second].map(|one| self.records(one, slot.end.records));
        if first.max(second) >= slot.end.records {
            return Ok(());
        }
        let place = if first <= second { 0 } else { SLOT as u64 };
        let bytes = slot.bytes(&self.key);
        self.file.write_all_at(&bytes, place)?;
        self.written = Some((bytes, slot));
        Ok(())
    }

    /// The number that a slot begins with; if it is not below `enough`, only with a seal that fits.
    fn records(&self, slot: &[u8], enough: u64) -> u64 {
        let digits = slot.get(..DIGITS).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| digits.parse().ok()).unwrap_or_default() {
            claimed if claimed < enough => claimed,
            _ => self.slot(slot).map_or(0, |slot| slot.end.records),
        }
    }

    /// Both slots, with zeros for the missing part of a file that was cut short.
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

/// The purpose of an open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

fn content(end: End, key: &SealKey) -> Vec<u8> {
    let slot = |end| Slot { end, boot: boot() }.bytes(key);
    [slot(end), slot(End::nothing())].concat()
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

#[cfg(test)]
#[path = "end_tests.rs"]
mod tests;
