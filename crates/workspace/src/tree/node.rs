//! One entry of the person's folder, as a journal remembers it: enough to recognise it and,
//! together with a copy of its bytes, to make it again.

use crate::{
    journal::crash,
    tree::{
        attributes,
        content::{self, Content},
        folder::Folder,
        relative::{bytes_of, text_of},
        stat::{Kind, Moment, NEW_FOLDER, Owner, PERMISSIONS, Stat},
        unlock::of_descriptor,
    },
};
use rustix::{
    fd::AsFd,
    fs::{
        AtFlags, CWD, Gid, Mode, Timespec, Timestamps, UTIME_OMIT, Uid, chmod, chownat, utimensat,
    },
};
use serde::{Deserialize, Serialize};
use std::{ffi::OsStr, fs::File, io, os::unix::fs::FileExt};

/// An entry as it was, or as it is to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Node {
    #[serde(flatten)]
    pub(crate) shape: Shape,
    /// Permission bits. Those of what a program made are the plain nine.
    pub(crate) mode: u32,
    /// Its time of modification.
    pub(crate) modified: Moment,
    /// Whose it is to be; ours if none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) owner: Option<Owner>,
}

/// The kind and content of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Shape {
    /// A file with this content.
    File {
        size: u64,
        hash: String,
    },
    /// A link to there.
    Symlink {
        target: String,
    },
    Folder,
}

/// Where the attributes of a copy come from.
#[derive(Debug)]
pub(crate) enum Attributes {
    /// From the file that is copied.
    Its,
    /// From another, if there is one.
    Of(Option<File>),
}

impl Node {
    /// The person's own entry, to be brought back as it is.
    pub(crate) fn kept(shape: Shape, stat: &Stat) -> Self {
        Self { shape, mode: stat.mode, modified: stat.modified, owner: Some(stat.owner) }
    }

    /// The program's entry, to replace the person's `before`. It is never set-user-id; a folder
    /// keeps the bits that the person gave it, and a new one lets nobody else write: it is often
    /// in no list, only what is in it.
    pub(crate) fn taken_over(shape: Shape, stat: &Stat, before: Option<&Stat>) -> Self {
        let mode = stat.mode & PERMISSIONS;
        let mode = match (&shape, before) {
            (Shape::Folder, Some(old)) if old.kind == Kind::Folder => mode | old.mode & 0o7000,
            (Shape::Folder, _) => mode & NEW_FOLDER,
            (Shape::File { .. } | Shape::Symlink { .. }, _) => mode,
        };
        Self { shape, mode, modified: stat.modified, owner: before.map(|before| before.owner) }
    }

    /// The kind of entry.
    pub(crate) fn kind(&self) -> Kind {
        match self.shape {
            Shape::File { .. } => Kind::File,
            Shape::Symlink { .. } => Kind::Symlink,
            Shape::Folder => Kind::Folder,
        }
    }

    /// Whether `name`, which looks like `stat`, is this by kind and content.
    pub(crate) fn is(&self, folder: &Folder, name: &OsStr, stat: &Stat) -> io::Result<bool> {
        if stat.kind != self.kind() {
            return Ok(false);
        }
        match &self.shape {
            Shape::Folder => Ok(true),
            Shape::Symlink { target } => Ok(folder.link_target(name)? == bytes_of(target)),
            Shape::File { size, hash } => {
                if stat.size != *size {
                    return Ok(false);
                }
                let (file, _) = folder.open_file(name)?;
                Ok(content::hash(&file, *size)?.hash == *hash)
            }
        }
    }

    /// Gives a file or folder its owner, bits and time.
    pub(crate) fn dress(&self, handle: &impl AsFd) -> io::Result<()> {
        crash::point();
        let path = of_descriptor(handle);
        let now = Stat::of(handle, c"")?;
        let owned = self.owner.is_none_or(|owner| own(&path, now.owner, owner));
        // With another owner than it had, a set-user-id file would lend our rights, not theirs.
        let mode = if owned { self.mode } else { self.mode & PERMISSIONS };
        // A folder made inside a set-group-id one inherits the mark, and keeps it.
        let inherited = if now.kind == Kind::Folder { now.mode & 0o2000 } else { 0 };
        chmod(&path, Mode::from_raw_mode(mode | inherited))?;
        Ok(utimensat(CWD, &path, &self.times(), AtFlags::empty())?)
    }

    /// Gives a link its owner and time.
    pub(crate) fn dress_link(&self, folder: &Folder, name: &OsStr) -> io::Result<()> {
        let now = Stat::of(folder, name)?;
        if let Some(owner) = self.owner
            && owner != now.owner
        {
            let (user, group) = (Uid::from_raw(owner.user), Gid::from_raw(owner.group));
            let flags = AtFlags::SYMLINK_NOFOLLOW;
            // Only root may give things away; the link works either way.
            chownat(folder, name, Some(user), Some(group), flags).ok();
        }
        Ok(utimensat(folder, name, &self.times(), AtFlags::SYMLINK_NOFOLLOW)?)
    }

    fn times(&self) -> Timestamps {
        Timestamps {
            last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
            last_modification: Timespec {
                tv_sec: self.modified.seconds,
                tv_nsec: self.modified.nanoseconds.into(),
            },
        }
    }
}

impl Shape {
    /// The shape of the link `name`.
    pub(crate) fn of_link(folder: &Folder, name: &OsStr) -> io::Result<Self> {
        Ok(Self::Symlink { target: text_of(&folder.link_target(name)?) })
    }

    /// Copies the file `name` into `to`, and gives the shape of what was copied together with
    /// how the file looked when it was opened.
    pub(crate) fn of_copy(
        folder: &Folder,
        name: &OsStr,
        to: &File,
        attributes: &Attributes,
    ) -> io::Result<(Self, Stat)> {
        let (file, stat) = folder.open_file(name)?;
        let copied = content::copy(&file, to, stat.size)?;
        match attributes {
            Attributes::Its => attributes::carry(&file, to),
            Attributes::Of(Some(other)) => attributes::carry(other, to),
            Attributes::Of(None) => {}
        }
        Ok((Self::File { size: copied.size, hash: copied.hash }, stat))
    }

    /// Writes `bytes` into `to`, and gives the shape of that. They have no attributes of their own.
    pub(crate) fn of_bytes(bytes: &[u8], to: &File, attributes: &Attributes) -> io::Result<Self> {
        to.write_all_at(bytes, 0)?;
        if let Attributes::Of(Some(other)) = attributes {
            attributes::carry(other, to);
        }
        let Content { size, hash } = content::hash(to, bytes.len() as u64)?;
        Ok(Self::File { size, hash })
    }
}

/// Gives what is at `path` to `owner`, as far as we may; whether it has that owner now.
fn own(path: &str, now: Owner, owner: Owner) -> bool {
    let user = (now.user != owner.user).then(|| Uid::from_raw(owner.user));
    let group = (now.group != owner.group).then(|| Gid::from_raw(owner.group));
    (user.is_none() && group.is_none()) || chownat(CWD, path, user, group, AtFlags::empty()).is_ok()
}
