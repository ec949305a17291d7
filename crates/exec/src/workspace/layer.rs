//! What an overlay's upper layer says, read from outside.
//!
//! A deletion is a whiteout: character device 0:0, or an empty file with an attribute. A folder
//! that hides what was below it is opaque. Both marks are the kernel's; a program inside cannot
//! set the attributes, and what it could fake would only make its own changes smaller.

use super::{
    folder::Folder,
    stat::{Kind, Stat},
    unlock::{Unlocked, of_descriptor},
};
use rustix::fs::{FileType, Mode, XattrFlags, fsetxattr, mknodat, removexattr, setxattr};
use std::{collections::HashSet, ffi::OsStr, fs::File, io};

const OPAQUE: &str = "user.overlay.opaque";
const WHITEOUT: &str = "user.overlay.whiteout";
const ORIGIN: &str = "user.overlay.origin";

/// What `name` in an upper folder stands for.
pub(super) fn meaning(folder: &Folder, name: &OsStr, stat: &Stat) -> Kind {
    if stat.kind == Kind::File && stat.size == 0 && folder.has_attribute(name, WHITEOUT) {
        Kind::Whiteout
    } else {
        stat.kind
    }
}

/// Whether an upper folder hides what the folder below it holds. The value `x` only says that
/// there may be whiteouts of the second kind.
pub(super) fn is_opaque(folder: &Folder) -> bool {
    folder.attribute(OPAQUE).is_some_and(|value| value == b"y")
}

/// Makes an upper folder hide what is below it.
pub(super) fn set_opaque(folder: &Folder) -> io::Result<()> {
    folder.set_attribute(OPAQUE, b"y")
}

/// Lets an upper folder show what is below it.
pub(super) fn clear_opaque(folder: &Folder) -> io::Result<()> {
    folder.remove_attribute(OPAQUE)
}

/// Marks a file that came into the layer otherwise than by an overlay: as a copy of the person's file
/// with this number, if it is one, and as no deletion. What cannot be marked is taken for a file that
/// the program made.
pub(super) fn mark(folder: &Folder, name: &OsStr, origin: Option<u64>) -> io::Result<()> {
    let handle = folder.handle(name)?;
    let _unlocked = Unlocked::hold(&handle, 0o600);
    let path = of_descriptor(&handle);
    // It may have got marks under another name, or from the program.
    removexattr(&path, WHITEOUT).ok();
    removexattr(&path, ORIGIN).ok();
    if let Some(origin) = origin {
        let mut value = vec![0; Origin::NUMBERS];
        value.extend_from_slice(&origin.to_le_bytes()[..4]);
        setxattr(&path, ORIGIN, &value, XattrFlags::empty()).ok();
    }
    Ok(())
}

/// What the overlay made by copying it from the person's folder.
#[derive(Debug)]
pub(super) struct Origin(Vec<u8>);

impl Origin {
    /// Where the number of the original begins: after version, magic, length, flags, kind and the
    /// file system's own id.
    const NUMBERS: usize = 21;

    /// That of `name`; none if the program made it itself.
    pub(super) fn of(folder: &Folder, name: &OsStr) -> Option<Self> {
        folder.attribute_of(name, ORIGIN).map(Self)
    }

    /// Marks a copy of the file that it was found on. What cannot be marked is taken for a file that
    /// the program made.
    pub(super) fn put(&self, copy: &File) {
        fsetxattr(copy, ORIGIN, &self.0, XattrFlags::empty()).ok();
    }

    /// Whether the original may be one of the files with these numbers, of which the lower half
    /// counts. Each file system writes its own kind of handle, but all have the number in it.
    pub(super) fn is_one_of(&self, inodes: &HashSet<[u8; 4]>) -> bool {
        let words = self.0.get(Self::NUMBERS..).unwrap_or_default().as_chunks::<4>().0;
        words.iter().any(|word| inodes.contains(word))
    }
}

/// Marks `name` as deleted. The kernel lets everybody make this one device.
pub(super) fn create_whiteout(folder: &Folder, name: &OsStr) -> io::Result<()> {
    Ok(mknodat(folder, name, FileType::CharacterDevice, Mode::empty(), 0)?)
}
