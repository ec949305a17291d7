//! The metadata of one entry, without following it.

use rustix::{
    fd::AsFd,
    fs::{AtFlags, FileType, Statx, StatxFlags, StatxTimestamp, statx},
    path::Arg,
};
use serde::{Deserialize, Serialize};
use std::time::{SystemTime, UNIX_EPOCH};

/// The bits that a program inside may set for the person's files.
pub(crate) const PERMISSIONS: u32 = 0o777;

/// The most of them that a folder gets which the person did not have.
pub(crate) const NEW_FOLDER: u32 = 0o755;

/// A time of the file system, to the nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Moment {
    /// Since 1970.
    pub(crate) seconds: i64,
    /// Of the second.
    pub(crate) nanoseconds: u32,
}

impl Moment {
    /// The system's own time.
    pub(crate) fn now() -> Self {
        // A clock from before 1970 makes every file look new, and none is remembered.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let seconds = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        Self { seconds, nanoseconds: now.subsec_nanos() }
    }

    /// Whether it is more than so many nanoseconds before `later`.
    pub(crate) fn is_before(self, later: Self, by: u32) -> bool {
        let whole = |moment: Self| {
            i128::from(moment.seconds) * 1_000_000_000 + i128::from(moment.nanoseconds)
        };
        whole(later) - whole(self) > i128::from(by)
    }
}

impl From<StatxTimestamp> for Moment {
    fn from(time: StatxTimestamp) -> Self {
        Self { seconds: time.tv_sec, nanoseconds: time.tv_nsec }
    }
}

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Folder,
    Symlink,
    /// Character device 0:0: in an upper layer, the mark of a deletion.
    Whiteout,
    Pipe,
    Socket,
    Device,
}

impl Kind {
    /// Whether it can be staged, applied and brought back.
    pub(crate) fn is_ordinary(self) -> bool {
        match self {
            Self::File | Self::Folder | Self::Symlink => true,
            Self::Whiteout | Self::Pipe | Self::Socket | Self::Device => false,
        }
    }

    /// The noun for it.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Self::File => "a file",
            Self::Folder => "a folder",
            Self::Symlink => "a link",
            Self::Whiteout | Self::Device => "a device",
            Self::Pipe => "a pipe",
            Self::Socket => "a socket",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Stat {
    pub(crate) kind: Kind,
    /// Permission bits, with set-user-id, set-group-id and sticky.
    pub(crate) mode: u32,
    pub(crate) size: u64,
    /// When content, mode or owner last changed. Programs cannot set it.
    pub(crate) changed: Moment,
    /// When the content last changed, by the program's word.
    pub(crate) modified: Moment,
    /// Its owner and group.
    pub(crate) owner: Owner,
    /// Its number in its file system.
    pub(crate) inode: u64,
}

/// Who an entry belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Owner {
    pub(crate) user: u32,
    pub(crate) group: u32,
}

/// A stamp that shows whether an entry was touched since the last look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Stamp {
    inode: u64,
    size: u64,
    changed: Moment,
}

impl Stat {
    /// The entry `name` in `folder`; with an empty name, `folder` itself.
    pub(crate) fn of(folder: impl AsFd, name: impl Arg) -> rustix::io::Result<Self> {
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::EMPTY_PATH;
        statx(folder, name, flags, StatxFlags::BASIC_STATS).map(|stat| Self::from(&stat))
    }

    /// The lower half of its number, as file systems write it.
    pub(crate) fn lower_inode(&self) -> [u8; 4] {
        let [a, b, c, d, ..] = self.inode.to_le_bytes();
        [a, b, c, d]
    }

    /// A stamp that shows later changes.
    pub(crate) fn stamp(&self) -> Stamp {
        Stamp { inode: self.inode, size: self.size, changed: self.changed }
    }
}

impl From<&Statx> for Stat {
    fn from(stat: &Statx) -> Self {
        let kind = match FileType::from_raw_mode(stat.stx_mode.into()) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Folder,
            FileType::Symlink => Kind::Symlink,
            FileType::CharacterDevice if (stat.stx_rdev_major, stat.stx_rdev_minor) == (0, 0) => {
                Kind::Whiteout
            }
            FileType::Fifo => Kind::Pipe,
            FileType::Socket => Kind::Socket,
            FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => Kind::Device,
        };
        Self {
            kind,
            mode: u32::from(stat.stx_mode) & 0o7777,
            size: stat.stx_size,
            changed: stat.stx_ctime.into(),
            modified: stat.stx_mtime.into(),
            owner: Owner { user: stat.stx_uid, group: stat.stx_gid },
            inode: stat.stx_ino,
        }
    }
}
