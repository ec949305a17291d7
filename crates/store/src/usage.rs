//! How much of the disk is used by what somebody keeps.
//!
//! Code has made some of what is counted here, and may nest folders deeper than a path reaches. So
//! the tree is walked by descriptors, down by name and up by `..`, with few of them open.
//!
//! Must not follow a link, and must not leave out anything for being deep: room could be hidden
//! there.

use crate::{Folders, StoreError};
use rustix::{
    fd::{AsFd, OwnedFd},
    fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, fstat, openat, statat},
    io::Errno,
};
use std::{
    collections::HashSet,
    ffi::{CStr, CString},
    io,
    path::Path,
};

/// Bytes of a block, as the system counts them.
const BLOCK: u64 = 512;

/// Levels of folders that are kept open on the way down. Below them only one is, and the way back
/// up is by `..`.
const KEPT: usize = 32;

/// How often a count begins again because folders were moved during it.
const ATTEMPTS: usize = 4;

impl Folders {
    /// Bytes on the disk of everything in the data folder and beside it. Stops counting once there are
    /// more than `most`. Files that other processes remove meanwhile are left out.
    pub fn disk_usage(&self, most: u64) -> Result<u64, StoreError> {
        let mut count = UsageCount::default();
        for root in [&self.data, &self.beside, &self.state] {
            count = count.with(root, most)?;
        }
        Ok(count.bytes)
    }
}

/// A count, and the files in it.
#[derive(Clone, Default)]
struct UsageCount {
    bytes: u64,
    /// Files of several names, by device and number: each is there once.
    linked: HashSet<(u64, u64)>,
}

/// A folder that is being counted.
struct Level {
    /// None where it is so deep that it has to be opened again from below.
    folder: Option<OwnedFd>,
    /// Its device and number.
    identity: (u64, u64),
    /// The folders in it that are still to be counted.
    next: Vec<CString>,
}

impl UsageCount {
    /// This and everything below `root`.
    fn with(self, root: &Path, most: u64) -> Result<Self, StoreError> {
        let mut attempts = 1;
        loop {
            let mut count = self.clone();
            match count.add(root, most) {
                Ok(()) => return Ok(count),
                Err(Moved::Folders) if attempts < ATTEMPTS => attempts += 1,
                Err(moved) => {
                    return Err(StoreError::Read { path: root.to_owned(), source: moved.into() });
                }
            }
        }
    }

    fn add(&mut self, root: &Path, most: u64) -> Result<(), Moved> {
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        let Some(stat) = there(statat(CWD, root, flags))? else { return Ok(()) };
        self.count(&stat);
        if !is_folder(&stat) {
            return Ok(());
        }
        let Some(folder) = there(open(CWD, root))? else { return Ok(()) };
        let mut levels = vec![self.level(folder, most)?];
        while let Some(level) = levels.last_mut()
            && self.bytes <= most
        {
            let folder = level.folder.as_ref().expect("the last one is open");
            if let Some(name) = level.next.pop() {
                if let Some(inner) = there(open(folder, name.as_c_str()))? {
                    let inner = self.level(inner, most)?;
                    // One without folders is done, and is not gone into.
                    if !inner.next.is_empty() {
                        if levels.len() >= KEPT {
                            levels.last_mut().expect("it was just there").folder = None;
                        }
                        levels.push(inner);
                    }
                }
            } else {
                let done = levels.pop().and_then(|level| level.folder);
                if let (Some(above), Some(done)) = (levels.last_mut(), done)
                    && above.folder.is_none()
                {
                    above.folder = Some(climb(&done, above.identity)?);
                }
            }
        }
        Ok(())
    }

    /// Counts what is in a folder, and returns it with the folders that it has.
    fn level(&mut self, folder: OwnedFd, most: u64) -> Result<Level, Moved> {
        let stat = fstat(&folder)?;
        let mut level = Level { identity: identity(&stat), folder: None, next: Vec::new() };
        for entry in there(Dir::read_from(&folder))?.into_iter().flatten() {
            let Some(entry) = there(entry)? else { break };
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
            let Some(stat) = there(statat(&folder, name, flags))? else { continue };
            self.count(&stat);
            if self.bytes > most {
                break;
            }
            if is_folder(&stat) {
                level.next.push(name.to_owned());
            }
        }
        level.folder = Some(folder);
        Ok(level)
    }

    fn count(&mut self, stat: &Stat) {
        let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        let is_known = is_file && stat.st_nlink > 1 && !self.linked.insert(identity(stat));
        if !is_known {
            let blocks = u64::try_from(stat.st_blocks).unwrap_or(0);
            self.bytes = self.bytes.saturating_add(blocks.saturating_mul(BLOCK));
        }
    }
}

/// Why a count did not come to its end.
enum Moved {
    /// The way back up leads elsewhere by now.
    Folders,
    Failed(io::Error),
}

impl From<Errno> for Moved {
    fn from(error: Errno) -> Self {
        Self::Failed(error.into())
    }
}

impl From<Moved> for io::Error {
    fn from(moved: Moved) -> Self {
        match moved {
            Moved::Folders => Self::other(
                "folders in it were moved each time it was counted; end the code that moves them",
            ),
            Moved::Failed(error) => error,
        }
    }
}

fn open(folder: impl AsFd, name: impl rustix::path::Arg) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(folder, name, flags, Mode::empty())
}

/// The folder above, if it is still the one that it was.
fn climb(folder: &OwnedFd, identity_above: (u64, u64)) -> Result<OwnedFd, Moved> {
    const ABOVE: &CStr = c"..";
    let above = open(folder, ABOVE).map_err(|_| Moved::Folders)?;
    if identity(&fstat(&above)?) == identity_above { Ok(above) } else { Err(Moved::Folders) }
}

fn is_folder(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
}

fn identity(stat: &Stat) -> (u64, u64) {
    (stat.st_dev, stat.st_ino)
}

/// The outcome of looking at something that may be gone, or closed to us.
fn there<T>(seen: rustix::io::Result<T>) -> rustix::io::Result<Option<T>> {
    match seen {
        Ok(seen) => Ok(Some(seen)),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::ACCESS | Errno::PERM) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test panics with the path that it names")]
mod tests {
    use super::*;
    use rustix::fs::mkdirat;
    use std::{fs, io::Write};

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

    /// Nests folders, each named by `name`, and puts a large file at the bottom. Returns how many
    /// bytes were counted before and after that file came.
    fn counted_at_the_bottom(levels: usize, name: &str) -> (u64, u64) {
        let folder = tempfile::tempdir().unwrap();
        let folders = Folders::under(folder.path());
        fs::create_dir_all(&folders.data).unwrap();
        let mut at = open(CWD, &folders.data).unwrap();
        for _ in 0..levels {
            mkdirat(&at, name, Mode::RWXU).unwrap();
            // Something beside the way, so that each level is come back to.
            mkdirat(&at, "beside", Mode::RWXU).unwrap();
            mkdirat(&at, "beside/b", Mode::RWXU).unwrap();
            at = open(&at, name).unwrap();
        }
        let before = folders.disk_usage(u64::MAX).unwrap();
        let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
        let mut file = fs::File::from(openat(&at, "f", flags, Mode::RUSR).unwrap());
        file.write_all(&vec![1; 1 << 20]).unwrap();
        file.sync_all().unwrap();
        let after = folders.disk_usage(u64::MAX).unwrap();
        // Its own removal goes by path.
        let moved = folder.path().join("moved");
        while levels > 100 && fs::rename(folder.path().join("data/a/a"), &moved).is_ok() {
            fs::remove_dir_all(folder.path().join("data/a")).unwrap();
            fs::rename(&moved, folder.path().join("data/a")).unwrap();
        }
        (before, after)
    }

    #[test]
    fn a_large_file_counts_however_deep_it_is() {
        for (levels, name) in [(KEPT - 1, "a"), (50, "a"), (3_000, "a"), (50, "zz")] {
            let (before, after) = counted_at_the_bottom(levels, name);
            let file = after - before;
            assert!((1 << 20..2 << 20).contains(&file), "{levels} levels: {before} {after}");
        }
    }

    #[test]
    fn every_folder_counts_as_often_as_it_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let folders = Folders::under(folder.path());
        let wide = |at: &Path| {
            for name in ["1", "2", "3"] {
                let at = at.join(name).join("x");
                fs::create_dir_all(&at).unwrap();
                fs::write(at.join("f"), vec![1; 64 << 10]).unwrap();
            }
        };
        let mut at = folders.data.clone();
        for _ in 0..3 * KEPT {
            at.push("way");
            wide(&at);
        }
        let all = folders.disk_usage(u64::MAX).unwrap();
        let files = 3 * 3 * KEPT as u64 * (64 << 10);
        assert!((files..files + (8 << 20)).contains(&all), "{all} {files}");
        assert!(folders.disk_usage(files / 2).unwrap() < files / 2 + (1 << 20));
    }

    #[test]
    fn a_way_back_that_leads_elsewhere_is_no_way_back() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("from/inner")).unwrap();
        fs::create_dir(at("to")).unwrap();
        let from = identity(&statat(CWD, at("from"), AtFlags::empty()).unwrap());
        let inner = open(CWD, at("from/inner")).unwrap();
        assert!(climb(&inner, from).is_ok());
        fs::rename(at("from/inner"), at("to/inner")).unwrap();
        assert!(matches!(climb(&inner, from), Err(Moved::Folders)));
        let text = io::Error::from(Moved::Folders).to_string();
        assert!(text.contains("moved"), "{text}");
    }
}
