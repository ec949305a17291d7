//! What the file system says about one entry, without following it.

use rustix::{
    fd::AsFd,
    fs::{AtFlags, FileType, Statx, StatxFlags, StatxTimestamp, statx},
    path::Arg,
};
use serde::{Deserialize, Serialize};
use std::time::{SystemTime, UNIX_EPOCH};

/// The bits that a program inside may set for the person's files.
pub(super) const PERMISSIONS: u32 = 0o777;

/// A time of the file system, to the nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Moment {
    /// Since 1970.
    pub(super) seconds: i64,
    /// Of the second.
    pub(super) nanoseconds: u32,
}

impl Moment {
    /// The system's own time.
    pub(super) fn now() -> Self {
        // A clock from before 1970 makes every file look new, and none is remembered.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let seconds = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        Self { seconds, nanoseconds: now.subsec_nanos() }
    }

    /// Whether it is more than so many nanoseconds before `later`.
    pub(super) fn is_before(self, later: Self, by: u32) -> bool {
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

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Symlink,
    /// Character device 0:0: in an upper layer, the mark of a deletion.
    Whiteout,
    /// A pipe.
    Pipe,
    /// A socket.
    Socket,
    /// A device.
    Device,
}

impl Kind {
    /// Whether it can be staged, applied and brought back.
    pub(super) fn is_ordinary(self) -> bool {
        match self {
            Self::File | Self::Folder | Self::Symlink => true,
            Self::Whiteout | Self::Pipe | Self::Socket | Self::Device => false,
        }
    }

    /// The noun for it.
    pub(super) fn noun(self) -> &'static str {
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

/// One entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stat {
    /// What it is.
    pub(super) kind: Kind,
    /// Permission bits, with set-user-id, set-group-id and sticky.
    pub(super) mode: u32,
    /// Bytes.
    pub(super) size: u64,
    /// When content, mode or owner last changed. Programs cannot set it.
    pub(super) changed: Moment,
    /// When the content last changed, by the program's word.
    pub(super) modified: Moment,
    /// Its owner and group.
    pub(super) owner: Owner,
    /// Its number in its file system.
    pub(super) inode: u64,
}

/// Who an entry belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Owner {
    /// The user's number.
    pub(super) user: u32,
    /// The group's number.
    pub(super) group: u32,
}

/// What tells whether an entry was touched since it was last looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Stamp {
    inode: u64,
    size: u64,
    changed: Moment,
}

impl Stat {
    /// What `name` in `folder` is; with an empty name, what `folder` itself is.
    pub(super) fn of(folder: impl AsFd, name: impl Arg) -> rustix::io::Result<Self> {
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::EMPTY_PATH;
        statx(folder, name, flags, StatxFlags::BASIC_STATS).map(|stat| Self::from(&stat))
    }

    /// The lower half of its number, as file systems write it.
    pub(super) fn lower_inode(&self) -> [u8; 4] {
        let [a, b, c, d, ..] = self.inode.to_le_bytes();
        [a, b, c, d]
    }

    /// What tells whether it is touched from now on.
    pub(super) fn stamp(&self) -> Stamp {
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
