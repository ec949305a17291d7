//! How much an upper layer takes on the disk.
//!
//! Measured while code runs that would rather be overlooked. Folders are therefore opened whatever
//! their modes, nothing is followed, and nesting that is too deep to examine is reported.

use crate::{
    error::is_gone,
    tree::folder::{Folder, Intent},
};
use rustix::fs::{AtFlags, FileType, StatxFlags, statx};
use serde::{Deserialize, Serialize};
use std::{ffi::OsString, io, path::Path};

/// Folders in folders that are looked into, each with a descriptor of its own.
const DEEPEST: usize = 200;

/// The use of a disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskUsage {
    /// Bytes, as the file system counts them.
    pub bytes: u64,
    /// Files, folders and everything else with a name.
    pub files: u64,
}

impl DiskUsage {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_add(other.bytes),
            files: self.files.saturating_add(other.files),
        }
    }

    /// The rest without `other`, never below zero.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_sub(other.bytes),
            files: self.files.saturating_sub(other.files),
        }
    }

    /// The larger number of bytes, and the larger number of files.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self { bytes: self.bytes.max(other.bytes), files: self.files.max(other.files) }
    }
}

/// The result of a measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// The counted usage.
    pub usage: DiskUsage,
    /// Whether there is more than was looked at: deeper down, or beyond what was to be counted.
    pub more: bool,
}

/// Measures `folder` and everything below it. Counting stops beyond `most`.
pub fn measure(folder: &Path, most: DiskUsage) -> io::Result<Measured> {
    let mut measured = Measured::default();
    let root = Folder::open(folder, Intent::Look)?;
    let names = root.names()?;
    let mut levels = vec![(root, names)];
    while let Some((folder, names)) = levels.last_mut() {
        let Some(name) = names.pop() else {
            levels.pop();
            continue;
        };
        let DiskUsage { bytes, files } = &mut measured.usage;
        if *bytes > most.bytes || *files > most.files {
            measured.more = true;
            break;
        }
        *files += 1;
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
        let Ok(stat) = statx(&*folder, &name, flags, StatxFlags::BLOCKS | StatxFlags::TYPE) else {
            continue;
        };
        *bytes += stat.stx_blocks * 512;
        if FileType::from_raw_mode(stat.stx_mode.into()) != FileType::Directory {
            continue;
        }
        if levels.len() >= DEEPEST {
            measured.more = true;
            continue;
        }
        match inside(&levels.last().expect("it was just there").0, &name) {
            Ok(level) => levels.push(level),
            Err(error) if is_gone(&error) => {}
            Err(_) => measured.more = true,
        }
    }
    Ok(measured)
}

fn inside(folder: &Folder, name: &OsString) -> io::Result<(Folder, Vec<OsString>)> {
    let inner = folder.child(name, Intent::Look)?;
    let names = inner.names()?;
    Ok((inner, names))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fs_err as fs;
    use std::os::unix::fs::PermissionsExt;

    const ALL: DiskUsage = DiskUsage { bytes: u64::MAX, files: u64::MAX };

    #[test]
    fn everything_is_counted_whatever_its_mode() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("a/b")).unwrap();
        fs::write(root.path().join("a/b/big"), vec![1; 1 << 20]).unwrap();
        std::os::unix::fs::symlink("/", root.path().join("out")).unwrap();
        let locked = std::fs::Permissions::from_mode(0o000);
        fs::set_permissions(root.path().join("a/b"), locked).unwrap();
        let found = measure(root.path(), ALL).unwrap();
        assert_eq!((found.usage.files, found.more), (4, false));
        assert!(found.usage.bytes >= 1 << 20 && found.usage.bytes < 2 << 20);
        let mode = fs::metadata(root.path().join("a/b")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0);
        fs::set_permissions(root.path().join("a/b"), std::fs::Permissions::from_mode(0o700))
            .unwrap();
    }

    #[test]
    fn a_sparse_file_takes_what_it_takes() {
        let root = tempfile::tempdir().unwrap();
        fs::File::create(root.path().join("hole")).unwrap().set_len(1 << 40).unwrap();
        assert!(measure(root.path(), ALL).unwrap().usage.bytes < 1 << 20);
    }

    #[test]
    fn counting_stops_past_what_was_asked_for() {
        let root = tempfile::tempdir().unwrap();
        for number in 0..50 {
            fs::write(root.path().join(number.to_string()), "x").unwrap();
        }
        let found = measure(root.path(), DiskUsage { files: 10, ..ALL }).unwrap();
        assert_eq!((found.usage.files, found.more), (11, true));
    }

    #[test]
    fn what_is_nested_too_deep_is_said_to_be_there() {
        let root = tempfile::tempdir().unwrap();
        let deep: std::path::PathBuf = std::iter::repeat_n("d", DEEPEST + 5).collect();
        fs::create_dir_all(root.path().join(deep)).unwrap();
        let found = measure(root.path(), ALL).unwrap();
        assert_eq!((found.usage.files, found.more), (DEEPEST as u64, true));
    }
}
