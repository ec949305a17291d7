//! Which sessions run right now.
//!
//! A session holds a lock on a file of its own in `running`, and removes it at its end. The lock is
//! the kernel's: it ends with the process, however that ends. A file without a lock is left from a
//! killed process, and goes when the next session begins. Everybody looks and locks behind a gate,
//! the lock of the folder, so that looking is not mistaken for running.

use crate::{Folders, StoreError, private};
use rustix::{
    fs::{FlockOperation, flock},
    io::Errno,
};
use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

/// A session that runs, until this is dropped.
#[derive(Debug)]
pub struct RunningSession {
    id: String,
    path: PathBuf,
    _lock: File,
}

impl RunningSession {
    /// Says that a session runs from now on. Its id must be new.
    pub fn begin(folders: &Folders, session: &str) -> Result<Self, StoreError> {
        let folder = folders.running_folder();
        private::make_folder(&folders.data)?;
        private::make_folder(&folder)?;
        let path = folder.join(session);
        let begin = || {
            let _gate = gate(&folder)?;
            sweep(&folder);
            let mut options = OpenOptions::new();
            let file = options.write(true).create_new(true).mode(0o600).open(&path)?;
            flock(&file, FlockOperation::NonBlockingLockExclusive)?;
            io::Result::Ok(file)
        };
        match begin() {
            Ok(file) => Ok(Self { id: session.to_owned(), path, _lock: file }),
            Err(source) => Err(StoreError::Make { path, source }),
        }
    }

    /// Holds the lock of a session that does not run, so that nobody else does. `None` if it runs,
    /// or somebody else holds it.
    pub fn claim(folders: &Folders, session: &str) -> Result<Option<Self>, StoreError> {
        match Self::begin(folders, session) {
            Ok(claim) => Ok(Some(claim)),
            Err(StoreError::Make { source, .. })
                if source.kind() == io::ErrorKind::AlreadyExists =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The id of the session.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether a session runs.
    pub fn is(folders: &Folders, session: &str) -> Result<bool, StoreError> {
        let folder = folders.running_folder();
        let path = folder.join(session);
        let look = || {
            let _gate = gate(&folder)?;
            is_held(&path)
        };
        match look() {
            Ok(is_held) => Ok(is_held),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(source) => Err(StoreError::Read { path, source }),
        }
    }
}

impl Drop for RunningSession {
    fn drop(&mut self) {
        // If it stays, the next session removes it.
        _ = fs::remove_file(&self.path).is_ok();
    }
}

/// Waits for whoever is just looking; nobody keeps the gate longer than that.
fn gate(folder: &Path) -> io::Result<File> {
    let gate = File::open(folder)?;
    flock(&gate, FlockOperation::LockExclusive)?;
    Ok(gate)
}

fn is_held(path: &Path) -> io::Result<bool> {
    match flock(File::open(path)?, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(false),
        Err(Errno::WOULDBLOCK) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Removes the files that killed processes left.
fn sweep(folder: &Path) {
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if is_held(&path).is_ok_and(|is_held| !is_held) {
            _ = fs::remove_file(path).is_ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_runs_until_it_is_dropped_and_leftovers_go() {
        let home = tempfile::tempdir().unwrap();
        let folders = Folders::under(home.path());
        assert!(!RunningSession::is(&folders, "s1").unwrap());
        let one = RunningSession::begin(&folders, "s1").unwrap();
        assert!(RunningSession::is(&folders, "s1").unwrap());
        assert!(!RunningSession::is(&folders, "s2").unwrap());
        fs_err::write(folders.running_folder().join("killed"), "").unwrap();
        let two = RunningSession::begin(&folders, "s2").unwrap();
        assert!(RunningSession::is(&folders, "s1").unwrap());
        assert!(!folders.running_folder().join("killed").exists());
        drop(one);
        assert!(!RunningSession::is(&folders, "s1").unwrap());
        drop(two);
        assert_eq!(fs_err::read_dir(folders.running_folder()).unwrap().count(), 0);
    }
}
