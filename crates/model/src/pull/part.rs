//! The part of a file that is downloaded so far, hashed as it grows.

use super::{Progress, PullError, Pulled, Tell};
use crate::{
    catalogue::CatalogueEntry,
    shelf::{Hash, Shelf, read_to_end},
};
use std::io::{self, Read, Write};

/// The longest entity tag that is kept.
const VALIDATOR_BYTES: u64 = 256;

/// A file that is not whole yet.
#[derive(Debug)]
pub(super) struct Part<'a> {
    entry: &'a CatalogueEntry,
    shelf: &'a Shelf,
    file: fs_err::File,
    hash: Hash,
    done: u64,
}

fn write(source: io::Error) -> PullError {
    PullError::Write { source }
}

impl<'a> Part<'a> {
    /// The part that an earlier download has left, read again for its hash, or an empty one.
    pub(super) async fn resume(
        entry: &'a CatalogueEntry,
        shelf: &'a Shelf,
        tell: Tell<'_>,
    ) -> Result<Self, PullError> {
        let mut options = fs_err::OpenOptions::new();
        options.read(true).append(true).create(true);
        let mut file = options.open(shelf.part(entry)).map_err(write)?;
        let bytes = file.metadata().map_err(write)?.len();
        if bytes > entry.bytes {
            return Self::afresh(entry, shelf);
        }
        if bytes > 0 {
            tell(Progress::Resumed { bytes });
        }
        let (mut hash, mut done) = (Hash::default(), 0);
        read_to_end((&mut file).take(bytes), write, |bytes| {
            hash.add(bytes);
            done += bytes.len() as u64;
            Ok(())
        })
        .await?;
        Ok(Self { entry, shelf, file, hash, done })
    }

    /// An empty part, in the place of any earlier one.
    pub(super) fn afresh(entry: &'a CatalogueEntry, shelf: &'a Shelf) -> Result<Self, PullError> {
        let mut options = fs_err::OpenOptions::new();
        let file = options.append(true).create(true).open(shelf.part(entry)).map_err(write)?;
        let mut part = Self { entry, shelf, file, hash: Hash::default(), done: 0 };
        part.restart()?;
        Ok(part)
    }

    pub(super) fn done(&self) -> u64 {
        self.done
    }

    pub(super) fn total(&self) -> u64 {
        self.entry.bytes
    }

    pub(super) fn left(&self) -> u64 {
        self.entry.bytes - self.done
    }

    pub(super) fn is_whole(&self) -> bool {
        self.left() == 0
    }

    pub(super) fn progress(&self) -> Progress {
        Progress::Bytes { done: self.done, total: self.entry.bytes }
    }

    pub(super) fn restart(&mut self) -> Result<(), PullError> {
        self.file.set_len(0).map_err(write)?;
        (self.hash, self.done) = (Hash::default(), 0);
        self.remember(None);
        Ok(())
    }

    /// Appends bytes, up to the size of the file.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), PullError> {
        let room = usize::try_from(self.left()).unwrap_or(usize::MAX);
        let bytes = &bytes[..bytes.len().min(room)];
        self.file.write_all(bytes).map_err(write)?;
        self.hash.add(bytes);
        self.done += bytes.len() as u64;
        Ok(())
    }

    /// The entity tag of the server's file that this is the beginning of.
    pub(super) fn validator(&self) -> Option<String> {
        let mut text = String::new();
        let file = fs_err::File::open(self.shelf.validator(self.entry)).ok()?;
        file.take(VALIDATOR_BYTES).read_to_string(&mut text).ok()?;
        (self.done > 0 && !text.is_empty()).then_some(text)
    }

    /// Keeps the entity tag for a resumed download. Without it, the hash alone decides.
    pub(super) fn remember(&self, validator: Option<&str>) {
        let path = self.shelf.validator(self.entry);
        let short = |text: &&str| text.len() as u64 <= VALIDATOR_BYTES;
        let kept = match validator.filter(short) {
            Some(text) => fs_err::write(path, text),
            None => fs_err::remove_file(path),
        };
        _ = kept.is_ok();
    }

    /// Gives the file its name if its hash is right, and removes it if not.
    pub(super) fn finish(self, from: &[String]) -> Result<Pulled, PullError> {
        let Self { entry, shelf, file, hash, .. } = self;
        let (part, path) = (shelf.part(entry), shelf.file(entry));
        let hash = hash.digits();
        _ = fs_err::remove_file(shelf.validator(entry)).is_ok();
        if hash != entry.sha256 {
            fs_err::remove_file(&part).map_err(write)?;
            let (file, wanted) = (entry.file.clone(), entry.sha256.clone());
            return Err(PullError::Mismatch { file, hash, wanted, from: from.to_vec() });
        }
        file.sync_all().map_err(write)?;
        fs_err::rename(&part, &path).map_err(write)?;
        shelf.remember(entry);
        Ok(Pulled { path, already: false })
    }
}
