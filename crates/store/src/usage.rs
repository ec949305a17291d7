//! How much of the disk is used by what somebody keeps.
//!
//! Must not follow a link: code has made some of what is counted here.

use crate::{Folders, StoreError};
use std::{collections::HashSet, fs, io, os::unix::fs::MetadataExt, path::Path};

/// Bytes of a block, as the system counts them.
const BLOCK: u64 = 512;

/// Levels of folders. Deeper ones cannot be made by a path.
const DEEPEST: usize = 4096;

impl Folders {
    /// Bytes on the disk of everything in the data folder and beside it. Stops counting once there are
    /// more than `most`. Files that other processes remove meanwhile are left out.
    pub fn disk_usage(&self, most: u64) -> Result<u64, StoreError> {
        let mut count = UsageCount::default();
        for root in [&self.data, &self.beside, &self.state] {
            count.add(root, most)?;
        }
        Ok(count.bytes)
    }
}

/// A count, and the files in it.
#[derive(Default)]
struct UsageCount {
    bytes: u64,
    /// Files of several names, by device and number: each is there once.
    linked: HashSet<(u64, u64)>,
}

impl UsageCount {
    fn add(&mut self, root: &Path, most: u64) -> Result<(), StoreError> {
        let mut next = vec![(root.to_owned(), 0)];
        while let Some((path, depth)) = next.pop() {
            if self.bytes > most {
                break;
            }
            let failed = |source| StoreError::Read { path: path.clone(), source };
            let Some(metadata) = there(fs::symlink_metadata(&path)).map_err(failed)? else {
                continue;
            };
            let is_known = metadata.nlink() > 1
                && metadata.is_file()
                && !self.linked.insert((metadata.dev(), metadata.ino()));
            if !is_known {
                self.bytes = self.bytes.saturating_add(metadata.blocks().saturating_mul(BLOCK));
            }
            if metadata.is_dir() && depth < DEEPEST {
                let entries = there(fs::read_dir(&path)).map_err(failed)?;
                for entry in entries.into_iter().flatten() {
                    next.extend(entry.ok().map(|entry| (entry.path(), depth + 1)));
                }
            }
        }
        Ok(())
    }
}

/// The outcome of looking at something that may be gone, or closed to us.
fn there<T>(seen: io::Result<T>) -> io::Result<Option<T>> {
    match seen {
        Ok(seen) => Ok(Some(seen)),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound
                    | io::ErrorKind::NotADirectory
                    | io::ErrorKind::PermissionDenied
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test panics with the path that it names")]
mod tests {
    use super::*;

    #[test]
    fn what_is_on_the_disk_counts_once_and_no_link_leads_away() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let folders = Folders { beside: at("beside"), ..Folders::under(folder.path()) };
        assert_eq!(folders.disk_usage(u64::MAX).unwrap(), 0);
        fs::create_dir_all(at("data/changes")).unwrap();
        let empty = folders.disk_usage(u64::MAX).unwrap();
        let large = vec![1; 1 << 20];
        fs::write(at("data/changes/a"), &large).unwrap();
        let one = folders.disk_usage(u64::MAX).unwrap();
        assert!((1 << 20..2 << 20).contains(&(one - empty)), "{empty} {one}");
        fs::hard_link(at("data/changes/a"), at("data/b")).unwrap();
        fs::write(at("elsewhere"), &large).unwrap();
        for (to, name) in [("elsewhere", "link"), ("data", "loop"), ("gone", "dangling")] {
            std::os::unix::fs::symlink(at(to), at("data").join(name)).unwrap();
        }
        let linked = folders.disk_usage(u64::MAX).unwrap();
        assert!(linked - one < 64 << 10, "{one} {linked}");
        // The folder beside counts too.
        fs::create_dir_all(at("beside")).unwrap();
        fs::write(at("beside/c"), &large).unwrap();
        assert!(folders.disk_usage(u64::MAX).unwrap() >= linked + (1 << 20));
        assert!(folders.disk_usage(1).unwrap() > 1);
    }
}
