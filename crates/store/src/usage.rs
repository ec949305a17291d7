//! How much of the disk is used by what somebody keeps.
//!
//! # Threat
//! Code has made some of what is counted here, and hides room from the count: in folders nested
//! deeper than a path reaches, or in folders that it has locked.
//!
//! # Mechanism
//! The tree is walked by descriptors, down by name and up by `..`, with few of them open. None of
//! them needs a permission on its folder. A locked folder of our own is unlocked for as long as we
//! are in it. One that stays closed to us ends the count with an error.
//!
//! Must not follow a link, and must not leave out anything that is there.

use crate::{Folders, StoreError};
use rustix::{
    fd::{AsFd, AsRawFd, OwnedFd},
    fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, chmod, fstat, openat, readlink, statat},
    io::Errno,
    process::geteuid,
};
use std::{
    collections::HashSet,
    ffi::{CString, OsString},
    io,
    os::unix::ffi::OsStringExt,
    path::{Path, PathBuf},
};

/// Bytes of a block, as the system counts them.
const BLOCK: u64 = 512;

/// Levels of folders that are kept open on the way down. Below them only one is, and the way back
/// up is by `..`.
const KEPT: usize = 32;

/// How often a count begins again because folders were moved during it.
const ATTEMPTS: usize = 4;

/// How often a folder is unlocked that somebody locks again, such as another count that is done
/// with it.
const UNLOCKS: usize = 64;

/// The permissions that it takes to list a folder and to look at what is in it.
const LOOK: Mode = Mode::RUSR.union(Mode::XUSR);

impl Folders {
    /// Bytes on the disk of everything in the data folder and beside it. Stops counting once there are
    /// more than `most`. Files that other processes remove meanwhile are left out.
    pub fn disk_usage(&self, most: u64) -> Result<u64, StoreError> {
        let mut count = UsageCount::default();
        // Everybody can make a folder of this name in `/var/tmp`. We keep nothing in somebody else's.
        let beside = Some(&self.beside).filter(|beside| !is_anothers(beside));
        for root in [Some(&self.data), beside, Some(&self.state)].into_iter().flatten() {
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
    /// `None` while it is closed to save descriptors. It is opened again from the folder below it.
    folder: Option<Held>,
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
                Err(Stop::Moved) if attempts < ATTEMPTS => attempts += 1,
                Err(stop) => return Err(stop.below(root)),
            }
        }
    }

    fn add(&mut self, root: &Path, most: u64) -> Result<(), Stop> {
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        let Some(stat) = there(statat(CWD, root, flags))? else { return Ok(()) };
        self.count(&stat);
        if !is_folder(&stat) {
            return Ok(());
        }
        let Some(folder) = there(Held::open(CWD, root))? else { return Ok(()) };
        let mut levels = vec![self.level(folder, most)?];
        while let Some(level) = levels.last_mut()
            && self.bytes <= most
        {
            let folder = level.folder.as_mut().expect("the last one is open");
            if let Some(name) = level.next.pop() {
                if let Some(inner) = folder.within(|folder| Held::open(folder, name.as_c_str()))? {
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
                    above.folder = Some(done.climb(above.identity)?);
                }
            }
        }
        Ok(())
    }

    /// Counts what is in a folder, and returns it with the folders that it has.
    fn level(&mut self, mut folder: Held, most: u64) -> Result<Level, Stop> {
        let identity = identity(&fstat(&folder.folder)?);
        let mut next = Vec::new();
        let list = |folder: &OwnedFd| {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            Dir::new(openat(folder, c".", flags, Mode::empty())?)
        };
        for entry in folder.within(list)?.into_iter().flatten() {
            let Some(entry) = there(entry)? else { break };
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
            let stat = folder.within(|folder| statat(folder, name, flags))?;
            let Some(stat) = stat else { continue };
            self.count(&stat);
            if self.bytes > most {
                break;
            }
            if is_folder(&stat) {
                next.push(name.to_owned());
            }
        }
        Ok(Level { folder: Some(folder), identity, next })
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

/// A folder that is being looked at. It is unlocked if it has to be, and locked again when this is
/// dropped.
struct Held {
    /// Stands for the folder, and opens nothing by itself: it takes no permission.
    folder: OwnedFd,
    unlocked: Option<Unlocked>,
}

/// The permissions that a folder had, and those that it has for now.
struct Unlocked {
    before: Mode,
    now: Mode,
}

impl Held {
    fn open(folder: impl AsFd, name: impl rustix::path::Arg) -> rustix::io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = openat(folder, name, flags, Mode::empty())?;
        Ok(Self { folder, unlocked: None })
    }

    /// The outcome of looking at something in the folder; nothing if it is gone.
    fn within<T>(
        &mut self,
        look: impl Fn(&OwnedFd) -> rustix::io::Result<T>,
    ) -> Result<Option<T>, Stop> {
        for _ in 0..UNLOCKS {
            match look(&self.folder) {
                Err(Errno::ACCESS) => self.unlock()?,
                seen => return Ok(there(seen)?),
            }
        }
        Err(self.closed("it stays closed to us; end the code that locks it, or remove it".into()))
    }

    /// The folder above, if it is still the one that it was.
    fn climb(mut self, identity_above: (u64, u64)) -> Result<Self, Stop> {
        let above = self.within(|folder| Self::open(folder, c".."))?.ok_or(Stop::Moved)?;
        if identity(&fstat(&above.folder)?) == identity_above {
            Ok(above)
        } else {
            Err(Stop::Moved)
        }
    }

    /// Gives us the permissions to look into it, if it is ours.
    fn unlock(&mut self) -> Result<(), Stop> {
        let stat = fstat(&self.folder)?;
        let owner = stat.st_uid;
        if owner != geteuid().as_raw() {
            let why =
                format!("it belongs to user {owner} and is closed to us; open it or remove it");
            return Err(self.closed(why));
        }
        let before = Mode::from_raw_mode(stat.st_mode);
        if before.contains(LOOK) {
            // Another count has unlocked it meanwhile, or the system has a reason of its own.
            return Ok(());
        }
        let now = before | LOOK;
        chmod(of_descriptor(&self.folder), now).map_err(|error| {
            self.closed(format!("it is locked and cannot be unlocked ({error}); remove it"))
        })?;
        self.unlocked = Some(Unlocked { before, now });
        Ok(())
    }

    fn closed(&self, why: String) -> Stop {
        let name = readlink(of_descriptor(&self.folder), Vec::new());
        let path = name.ok().map(|name| PathBuf::from(OsString::from_vec(name.into_bytes())));
        Stop::Closed { path, why }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let Some(Unlocked { before, now }) = self.unlocked else { return };
        // Code may have given it other permissions meanwhile. Those stay.
        let is = fstat(&self.folder).map(|stat| Mode::from_raw_mode(stat.st_mode));
        // The system may have taken the other bits away.
        let all = Mode::RWXU | Mode::RWXG | Mode::RWXO;
        if is.is_ok_and(|is| is & all == now & all) {
            chmod(of_descriptor(&self.folder), before).ok();
        }
    }
}

/// A path to exactly what a descriptor refers to, for calls that take no bare handle.
fn of_descriptor(folder: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", folder.as_raw_fd())
}

/// Why a count did not come to its end.
enum Stop {
    /// The way back up leads elsewhere by now.
    Moved,
    /// We may not look into a folder. It has no path where that would be too long.
    Closed {
        path: Option<PathBuf>,
        why: String,
    },
    Failed(io::Error),
}

impl From<Errno> for Stop {
    fn from(error: Errno) -> Self {
        Self::Failed(error.into())
    }
}

impl Stop {
    /// The same, where the count was of everything below `root`.
    fn below(self, root: &Path) -> StoreError {
        let (path, source) = match self {
            Self::Moved => (
                None,
                io::Error::other(
                    "folders in it were moved each time it was counted; end the code that moves \
                     them",
                ),
            ),
            Self::Closed { path, why } => {
                (path, io::Error::new(io::ErrorKind::PermissionDenied, why))
            }
            Self::Failed(error) => (None, error),
        };
        StoreError::Read { path: path.unwrap_or_else(|| root.to_owned()), source }
    }
}

fn is_anothers(path: &Path) -> bool {
    statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|stat| stat.st_uid != geteuid().as_raw())
}

fn is_folder(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
}

fn identity(stat: &Stat) -> (u64, u64) {
    (stat.st_dev, stat.st_ino)
}

/// The outcome of looking at something that may be gone.
fn there<T>(seen: rustix::io::Result<T>) -> rustix::io::Result<Option<T>> {
    match seen {
        Ok(seen) => Ok(Some(seen)),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests;
