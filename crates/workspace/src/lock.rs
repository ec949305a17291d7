//! Who works with a set.
//!
//! The lock is the kernel's: it ends with the process, however it ends. Listing sets has to try
//! the lock to know whether it is held; a gate keeps that from being mistaken for use.

use crate::error::{During, WorkspaceError};
use rustix::{
    fd::{AsFd, BorrowedFd},
    fs::{FlockOperation, flock},
    io::Errno,
};
use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

const LOCK: &str = "lock";

/// The file that makes a folder a set, and the gate to its lock.
pub(super) const DESCRIPTION: &str = "set.json";

/// The right to work with one set, until it is dropped.
#[derive(Debug)]
pub(super) struct Lock(File);

impl Lock {
    /// Makes and takes the lock of a new set.
    pub(super) fn create(set_folder: &Path) -> Result<Self, WorkspaceError> {
        let path = set_folder.join(LOCK);
        let create = || {
            let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
            flock(&file, FlockOperation::NonBlockingLockExclusive)?;
            Ok::<_, io::Error>(Self(file))
        };
        create().during_at("lock", &path)
    }

    fn try_take(set_folder: &Path) -> io::Result<Option<Self>> {
        let path = set_folder.join(LOCK);
        let file = match OpenOptions::new().write(true).open(&path) {
            // It can be tried where nothing can be written, too.
            Err(error) if is_read_only(&error) => File::open(&path)?,
            other => other?,
        };
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Self(file))),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

impl AsFd for Lock {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Takes the lock, or returns `None` if another process has it.
pub(super) fn take(set_folder: &Path) -> io::Result<Option<Lock>> {
    let _gate = gate(set_folder)?;
    Lock::try_take(set_folder)
}

/// Whether somebody has the lock.
pub(super) fn is_held(set_folder: &Path) -> io::Result<bool> {
    let _gate = gate(set_folder)?;
    // Dropped before the gate opens again, so nobody can meet it.
    Ok(Lock::try_take(set_folder)?.is_none())
}

fn is_read_only(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// Whether somebody has the lock of a folder that is no set, or none that can be read. One without
/// a lock is nobody's.
pub(super) fn is_held_anyhow(set_folder: &Path) -> io::Result<bool> {
    match Lock::try_take(set_folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        other => Ok(other?.is_none()),
    }
}

/// Waits for whoever is just looking; nobody keeps the gate longer than that.
fn gate(set_folder: &Path) -> io::Result<File> {
    let gate = File::open(set_folder.join(DESCRIPTION))?;
    flock(&gate, FlockOperation::LockExclusive)?;
    Ok(gate)
}
