//! Whether the record's files are still those that were opened.
//!
//! Whoever removes or replaces them leaves an open database that goes on taking records which nobody
//! finds afterwards. So each append looks first: the same files, by device and inode, at the same
//! paths. Three looks cost some millionths of a second.
//!
//! Must not open the database's file: to close it again would drop the locks that `SQLite` holds.

use crate::StoreError;
use rustix::fs::{Stat, stat};
use std::{
    io,
    path::{Path, PathBuf},
};

/// The files that must not change under an open record.
#[derive(Debug)]
pub(super) struct Files(Vec<(PathBuf, Identity)>);

#[derive(Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    fn of(found: &Stat) -> Self {
        Self { device: found.st_dev, inode: found.st_ino }
    }
}

impl Files {
    /// The files as they are now. All of them must be there.
    pub(super) fn note(paths: impl IntoIterator<Item = PathBuf>) -> Result<Self, StoreError> {
        let noted = paths.into_iter().map(|path| match stat(&path) {
            Ok(found) => Ok((path, Identity::of(&found))),
            Err(source) => Err(StoreError::Read { path, source: source.into() }),
        });
        noted.collect::<Result<_, _>>().map(Self)
    }

    /// Checks that each is still there and still the same.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        match self.0.iter().find(|(path, before)| !is(path, before)) {
            Some((path, _)) => Err(StoreError::Gone { path: path.clone() }),
            None => Ok(()),
        }
    }
}

fn is(path: &Path, before: &Identity) -> bool {
    stat(path).map_err(io::Error::from).is_ok_and(|found| Identity::of(&found) == *before)
}
