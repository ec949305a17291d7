//! How much is made to last, and when.
//!
//! A few files are synced one by one, which does not wait for what other programs write. Many
//! are synced together, because one by one they would take minutes.

use crate::tree::folder::Folder;
use rustix::{
    fd::AsFd,
    fs::{fsync, syncfs},
};
use std::{fs::File, io};

/// How the files of one application are made to last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    Each,
    /// The whole file system at once, at each point that has to be safe.
    Together,
}

impl Durability {
    /// The right durability for this many files.
    pub(crate) fn for_files(count: usize) -> Self {
        if count <= 64 { Self::Each } else { Self::Together }
    }

    /// After a file was written.
    pub(crate) fn file(self, file: &File) -> io::Result<()> {
        match self {
            Self::Each => file.sync_all(),
            Self::Together => Ok(()),
        }
    }

    /// After the names in a folder changed.
    pub(crate) fn names(self, folder: &Folder) -> io::Result<()> {
        match self {
            Self::Each => Ok(fsync(folder)?),
            Self::Together => Ok(()),
        }
    }

    /// Before anything may depend on what was written to the file system of `folder`.
    pub(crate) fn barrier(self, folder: impl AsFd) -> io::Result<()> {
        match self {
            Self::Each => Ok(fsync(folder)?),
            Self::Together => Ok(syncfs(folder)?),
        }
    }
}
