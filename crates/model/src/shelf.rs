//! The weights that are on this machine: files in a folder of ours.
//!
//! # Threat
//! A file that is not the one of the catalogue: cut short, damaged, or put there by somebody. An
//! engine reads it with code that was not written for hostile input.
//!
//! # Mechanism
//! Before a file is handed to the engine its size is compared with the catalogue's, and its hash is
//! known. Hashing a gigabyte takes a second or more, so the result is remembered beside the file with
//! the file's size, its identity and its times, that of the last change among them, which no program
//! can set. If any differs, the file is hashed again. The engine then reads it only after `gguf` has
//! read its head.
//!
//! # Order
//! A file gets its name only when its hash was found right, and by a rename.
//!
//! # Limits
//! Whoever may write to the folder can forge what is remembered. The folder is the person's own and
//! closed to others, and absent in every sandbox.

use crate::catalogue::CatalogueEntry;
use rustix::fs::{Mode, OFlags};
use std::{
    fs::{File, TryLockError},
    io,
    path::{Path, PathBuf},
};

pub use self::error::ShelfError;
pub(crate) use self::hash::{Hash, read_to_end};

mod error;
mod hash;
mod remembered;

#[cfg(test)]
mod tests;

/// The folder of weights.
#[derive(Clone, Debug)]
pub struct Shelf {
    folder: PathBuf,
}

/// How much of a model is here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Nothing.
    Nothing,
    /// This many bytes, from an earlier try.
    Part(u64),
    /// A file of the right size.
    Whole,
}

/// While it is held nobody else fetches or removes.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: fs_err::File,
}

impl Shelf {
    /// The shelf in a folder, which need not be there yet.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// How much of a model is here. A file of the right size counts; whether it is the right one is
    /// for [`Shelf::verified`] to say.
    pub fn holds(&self, entry: &CatalogueEntry) -> Held {
        let size = |path: &Path| fs_err::metadata(path).ok().filter(std::fs::Metadata::is_file);
        if size(&self.file(entry)).is_some_and(|it| it.len() == entry.bytes) {
            return Held::Whole;
        }
        match size(&self.part(entry)).map_or(0, |it| it.len()) {
            0 => Held::Nothing,
            bytes => Held::Part(bytes),
        }
    }

    /// The file of a model, if it is the one of the catalogue. Hashes it unless that was done and it
    /// has not changed since.
    pub fn verified(&self, entry: &CatalogueEntry) -> Result<PathBuf, ShelfError> {
        let path = self.file(entry);
        let found = match fs_err::metadata(&path) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(ShelfError::Missing { name: entry.name.clone() });
            }
            Err(source) => return Err(ShelfError::Read { source }),
        };
        if !found.is_file() || found.len() != entry.bytes {
            let (path, bytes) = (path, found.len());
            return Err(ShelfError::WrongSize { path, bytes, wanted: entry.bytes });
        }
        if remembered::has(&path, &found, &entry.sha256) {
            return Ok(path);
        }
        let hash = hash::of_file(&path).map_err(|source| ShelfError::Read { source })?;
        if hash != entry.sha256 {
            return Err(ShelfError::Altered { path, hash, wanted: entry.sha256.clone() });
        }
        remembered::keep(&path, &entry.sha256);
        Ok(path)
    }

    /// The folder for what an engine keeps for a model.
    pub fn saved(&self, entry: &CatalogueEntry) -> PathBuf {
        self.folder.join(format!("{}.saved", entry.file))
    }

    /// Removes a model: its file, what came of it in an earlier try, and what was kept for it. Says
    /// how many bytes that were.
    pub fn remove(&self, entry: &CatalogueEntry) -> Result<u64, ShelfError> {
        let missing = || ShelfError::Missing { name: entry.name.clone() };
        if !self.folder.is_dir() {
            return Err(missing());
        }
        let _lock = self.lock()?;
        let (file, part) = (self.file(entry), self.part(entry));
        let files = [&file, &part, &remembered::path(&file), &self.validator(entry)]
            .map(|path| (fs_err::symlink_metadata(path).ok(), path.clone()));
        let saved = self.saved(entry);
        let in_folder = size_in(&saved);
        if files.iter().all(|(found, _)| found.is_none()) && in_folder.is_none() {
            return Err(missing());
        }
        let mut freed = in_folder.unwrap_or(0);
        for (found, path) in files {
            let Some(found) = found else { continue };
            fs_err::remove_file(&path).map_err(|source| ShelfError::Remove { source })?;
            freed += found.len();
        }
        if in_folder.is_some() {
            fs_err::remove_dir_all(&saved).map_err(|source| ShelfError::Remove { source })?;
        }
        Ok(freed)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn file(&self, entry: &CatalogueEntry) -> PathBuf {
        self.folder.join(&entry.file)
    }

    pub(crate) fn part(&self, entry: &CatalogueEntry) -> PathBuf {
        self.folder.join(format!("{}.part", entry.file))
    }

    /// The server's validator of the file that the part belongs to.
    pub(crate) fn validator(&self, entry: &CatalogueEntry) -> PathBuf {
        self.folder.join(format!("{}.part.etag", entry.file))
    }

    /// Remembers that the file of a model has the right hash.
    pub(crate) fn remember(&self, entry: &CatalogueEntry) {
        remembered::keep(&self.file(entry), &entry.sha256);
    }

    /// Takes the one lock of the folder, or says that somebody else has it.
    pub(crate) fn lock(&self) -> Result<Lock, ShelfError> {
        let path = self.folder.join("lock");
        let write = |source| ShelfError::Write { source };
        let mut options = fs_err::OpenOptions::new();
        let file = options.write(true).create(true).truncate(false).open(&path).map_err(write)?;
        match file.file().try_lock() {
            Ok(()) => Ok(Lock { _file: file }),
            Err(TryLockError::WouldBlock) => Err(ShelfError::Busy { folder: self.folder.clone() }),
            Err(TryLockError::Error(source)) => Err(write(source)),
        }
    }
}

/// Opens a file to read it, if it is a regular one: a pipe or a device in its place would be waited
/// for.
pub(crate) fn regular(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))
}

/// Bytes of the files in a folder, or `None` if it does not exist.
fn size_in(folder: &Path) -> Option<u64> {
    let entries = fs_err::read_dir(folder).ok()?;
    let size = |path: &Path| match fs_err::symlink_metadata(path) {
        Ok(found) if found.is_dir() => size_in(path).unwrap_or(0),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    Some(entries.flatten().map(|entry| size(&entry.path())).sum())
}
