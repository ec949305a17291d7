//! Folders of our own that go with whoever made them, and those that killed programs left behind.
//!
//! Each is claimed for as long as it is there: programs that do not see its maker among their
//! processes would sweep it away.

use self::claim::Claim;
use interpreter_workspace::remove_tree;
use rustix::io::Errno;
use std::{
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

/// How often a folder is made anew because a program that sees other processes swept it away before
/// it was claimed.
const ATTEMPTS: usize = 8;

/// A folder that is removed by whoever drops this, however long that takes. Code may have filled it.
#[derive(Debug)]
pub(crate) struct ClaimedFolder {
    at: PathBuf,
    /// Released after the removal. None where the file system has no locks.
    _claim: Option<Claim>,
}

impl ClaimedFolder {
    /// Makes a folder that nobody can know the name of beforehand, and that only its owner may
    /// enter. One that is there already is not taken.
    pub(crate) fn make(folder: &Path, prefix: &str) -> io::Result<Self> {
        for _ in 1..ATTEMPTS {
            if let Some(made) = Self::make_once(folder, prefix)? {
                return Ok(made);
            }
        }
        let last = Self::make_once(folder, prefix)?;
        last.ok_or_else(|| io::Error::other("another program removes it at once"))
    }

    /// Makes one, unless another program sweeps it away at once.
    fn make_once(folder: &Path, prefix: &str) -> io::Result<Option<Self>> {
        let unique = uuid::Uuid::new_v4().simple();
        let at = folder.join(format!("{prefix}{}-{unique}", std::process::id()));
        std::fs::DirBuilder::new().mode(0o700).create(&at)?;
        let claim = match Claim::on(&at) {
            Ok(claim) => Some(claim),
            Err(Errno::WOULDBLOCK | Errno::NOENT) => return Ok(None),
            // Without locks nobody can claim it, and whoever cannot claim it does not sweep it.
            Err(_) => None,
        };
        Ok(Some(Self { at, _claim: claim }))
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.at
    }
}

impl Drop for ClaimedFolder {
    fn drop(&mut self) {
        // Another program removes what this leaves.
        _ = remove_tree(&self.at).is_ok();
    }
}

/// Removes the folders in a folder that programs which are gone have left. [`remove_tree`] leaves
/// what belongs to other users.
pub(crate) fn sweep(folder: &Path, prefix: &str) {
    let Ok(entries) = fs_err::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let maker = name.to_str().and_then(|name| maker(name.strip_prefix(prefix)?));
        if maker.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
            // It may belong to somebody else's session that is just ending.
            _ = remove_unclaimed(&entry.path()).is_ok();
        }
    }
}

/// Removes a folder whose maker is not among the processes that we see, unless it lives elsewhere
/// and claims it. Where there are no locks nobody knows, and it stays.
fn remove_unclaimed(folder: &Path) -> io::Result<()> {
    let _claim = Claim::on(folder)?;
    remove_tree(folder)
}

/// The process that made a folder, if its whole name is one that we give, after the prefix.
fn maker(name: &str) -> Option<&str> {
    let (process, unique) = name.split_once('-')?;
    let is_number = process.bytes().all(|byte| byte.is_ascii_digit()) && !process.is_empty();
    let is_unique = unique.len() == 32 && unique.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_number && is_unique).then_some(process)
}

pub(crate) mod claim;
#[cfg(test)]
mod tests;
