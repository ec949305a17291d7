//! One of us at a time asks at a terminal.
//!
//! # Threat
//! Two sessions in one script or pipeline are both in the foreground, so both may ask: the person
//! sees the question of one, and their key answers the other.
//!
//! # Mechanism
//! A lock on a file for each terminal, in a folder that no code sees. It is held from before a
//! question is drawn until the terminal is as it was; whoever comes later waits and reads no key.
//! It is let go of while the program is stopped.
//!
//! # Limits
//! Sessions of other users, and those with other folders, do not share the file. They see by the
//! modes that the terminal is taken (`tty.rs`), and ask nobody.

use interpreter_store::{Environment, Folders};
use rustix::{
    fs::{FlockOperation, flock},
    io::Errno,
};
use std::{
    fs::File,
    os::unix::fs::OpenOptionsExt,
    path::PathBuf,
    sync::{Arc, Weak},
    thread,
};
use tokio::sync::oneshot;

/// The place of the lock of this program's controlling terminal. Without one, or where it cannot be
/// made, nothing is locked.
#[derive(Debug)]
pub(super) struct LockPlace(Option<PathBuf>);

impl LockPlace {
    pub(super) fn find(environment: &Environment) -> Self {
        let place = || {
            let folders = Folders::find(environment).ok()?;
            let number = terminal_number(&fs_err::read_to_string("/proc/self/stat").ok()?)?;
            Some(folders.make_cache_folder().ok()?.join(format!("terminal-{number}.lock")))
        };
        Self(place())
    }

    fn open(&self) -> Option<Arc<File>> {
        let path = self.0.as_ref()?;
        let mut options = File::options();
        let opened = options.create(true).truncate(false).write(true).mode(0o600).open(path);
        opened.ok().map(Arc::new)
    }

    /// Takes the lock. `None` if another of us has it.
    pub(super) fn try_take(&self) -> Option<TerminalLock> {
        let Some(file) = self.open() else { return Some(TerminalLock(None)) };
        match flock(&*file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Some(TerminalLock(Some(file))),
            Err(Errno::WOULDBLOCK) => None,
            // This file system has no locks.
            Err(_) => Some(TerminalLock(None)),
        }
    }

    /// Waits for the lock.
    pub(super) async fn take(&self) -> TerminalLock {
        match self.open() {
            Some(file) => locked(file).await,
            None => TerminalLock(None),
        }
    }

    /// The same, for as long as that takes.
    pub(super) fn take_now(&self) -> TerminalLock {
        let file = self.open();
        if let Some(file) = &file {
            lock(file);
        }
        TerminalLock(file)
    }
}

/// The lock of a terminal, held for as long as this lives.
#[derive(Debug, Default)]
pub(crate) struct TerminalLock(Option<Arc<File>>);

impl TerminalLock {
    /// For whoever lets go of it for a while.
    pub(super) fn handle(&self) -> LockHandle {
        LockHandle(self.0.as_ref().map(Arc::downgrade).unwrap_or_default())
    }
}

/// A lock that somebody else holds.
#[derive(Debug, Default)]
pub(super) struct LockHandle(Weak<File>);

impl LockHandle {
    /// Lets others have it until it is taken again.
    pub(super) fn let_go(&self) {
        if let Some(file) = self.0.upgrade() {
            _ = flock(&*file, FlockOperation::Unlock).is_ok();
        }
    }

    /// Waits until it is held again.
    pub(super) async fn take_again(&self) {
        if let Some(file) = self.0.upgrade() {
            locked(file).await;
        }
    }
}

/// Waits on a thread of its own, because nothing else ends such a wait. If nobody wants the lock any
/// more when it comes, it is let go of.
async fn locked(file: Arc<File>) -> TerminalLock {
    let (done, over) = oneshot::channel();
    let waits = move || {
        lock(&file);
        _ = done.send(TerminalLock(Some(file))).is_ok();
    };
    match thread::Builder::new().name("terminal lock".into()).spawn(waits) {
        Ok(_) => over.await.unwrap_or_default(),
        Err(_) => TerminalLock(None),
    }
}

fn lock(file: &File) {
    while flock(file, FlockOperation::LockExclusive) == Err(Errno::INTR) {}
}

/// The number of the controlling terminal, from what the system says about a process. Its name may
/// hold anything, and ends with the last bracket.
fn terminal_number(stat: &str) -> Option<u32> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(4)?.parse().ok().filter(|number| *number != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_has_a_number() {
        assert_eq!(terminal_number("7 (a) b) S 1 2 3 34817 4"), Some(34817));
        assert_eq!(terminal_number("7 (a) S 1 2 3 0 4"), None);
        assert_eq!(terminal_number("7 (a) S"), None);
    }

    #[test]
    fn one_at_a_time_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let place = LockPlace(Some(folder.path().join("lock")));
        let first = place.try_take().unwrap();
        assert!(place.try_take().is_none());
        // While whoever has it is stopped, another has it.
        let handle = first.handle();
        handle.let_go();
        let second = place.try_take().unwrap();
        drop(first);
        assert!(place.try_take().is_none());
        drop(second);
        assert!(place.try_take().is_some());
        // Where nothing can be locked, the modes of the terminal still tell.
        assert!(LockPlace(None).try_take().is_some());
    }
}
