//! The lock of a folder that is in use, so that no program sweeps it away.
//!
//! That a folder's maker is not in `/proc` proves nothing: two programs can share `/tmp` and see
//! different processes, as containers do. A lock is the same for both. Programs that its holder
//! starts do not get it, and the kernel releases it when the holder ends, however that happens.
//!
//! It keeps nobody from changing the folder: it is for programs that ask for it, as ours do.

use rustix::{
    fd::{AsRawFd, OwnedFd},
    fs::{FlockOperation, Mode, OFlags, chmod, flock, fstat, lstat, open},
    io::Errno,
};
use std::path::Path;

/// The claim on a folder, until this is dropped.
#[derive(Debug)]
pub(crate) struct Claim {
    /// Closed in whatever is started, and with it the lock.
    _locked: OwnedFd,
}

impl Claim {
    /// Claims a folder, and never waits. [`Errno::WOULDBLOCK`] means that another program has it,
    /// and [`Errno::NOENT`] that it is gone.
    pub(crate) fn on(folder: &Path) -> rustix::io::Result<Self> {
        let locked = opened(folder)?;
        flock(&locked, FlockOperation::NonBlockingLockExclusive)?;
        // Whoever had it may have removed it meanwhile.
        let (ours, there) = (fstat(&locked)?, lstat(folder)?);
        let same = (ours.st_dev, ours.st_ino) == (there.st_dev, there.st_ino);
        if same { Ok(Self { _locked: locked }) } else { Err(Errno::NOENT) }
    }
}

/// Opens a folder, and not what a link points to.
fn opened(folder: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match open(folder, flags, Mode::empty()) {
        // Code that runs as its owner, or an unusual umask, can have closed it.
        Err(Errno::ACCESS) => {
            let handle = open(folder, flags | OFlags::PATH, Mode::empty())?;
            // A handle cannot be changed, but what it stands for can. Only its owner may do so.
            let itself = format!("/proc/self/fd/{}", handle.as_raw_fd());
            chmod(&itself, Mode::RWXU)?;
            open(&itself, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        }
        done => done,
    }
}

/// Tries something until it succeeds. Between its fork and its start, a program that another test
/// starts has every claim of this process too.
#[cfg(test)]
pub(crate) fn soon(mut is_so: impl FnMut() -> bool) -> bool {
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while !is_so() {
        if std::time::Instant::now() > until {
            return false;
        }
        std::thread::yield_now();
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::{FdFlags, fcntl_getfd};

    #[test]
    fn one_at_a_time_has_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let first = Claim::on(folder.path()).unwrap();
        assert_eq!(Claim::on(folder.path()).unwrap_err(), Errno::WOULDBLOCK);
        drop(first);
        assert!(soon(|| Claim::on(folder.path()).is_ok()));
    }

    #[test]
    fn nothing_that_is_started_holds_it_too() {
        let folder = tempfile::tempdir().unwrap();
        let flags = fcntl_getfd(opened(folder.path()).unwrap()).unwrap();
        assert!(flags.contains(FdFlags::CLOEXEC));
        let claim = Claim::on(folder.path()).unwrap();
        #[expect(clippy::disallowed_methods, reason = "it stands for a sandbox that runs on")]
        let mut started = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        drop(claim);
        let again = soon(|| Claim::on(folder.path()).is_ok());
        started.kill().unwrap();
        started.wait().unwrap();
        assert!(again);
    }

    #[test]
    fn a_folder_that_was_closed_can_be_had_and_a_link_or_a_file_cannot() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs_err::create_dir(at("folder")).unwrap();
        fs_err::set_permissions(at("folder"), std::fs::Permissions::from_mode(0o000)).unwrap();
        Claim::on(&at("folder")).unwrap();
        symlink(at("folder"), at("link")).unwrap();
        fs_err::write(at("file"), "").unwrap();
        for name in ["link", "file", "none"] {
            assert!(Claim::on(&at(name)).is_err(), "{name}");
        }
    }
}
