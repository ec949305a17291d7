//! Reads an overlay's upper layer from outside.
//!
//! A deletion is a whiteout: character device 0:0, or an empty file with an attribute. A folder
//! that hides what was below it is opaque. Both marks are the kernel's; a program inside cannot
//! set the attributes, and what it could fake would only make its own changes smaller.

use crate::tree::{
    folder::Folder,
    stat::{Kind, Stat},
    unlock::{Unlocked, of_descriptor},
};
use rustix::fs::{FileType, Mode, XattrFlags, fsetxattr, mknodat, removexattr, setxattr};
use std::{collections::HashSet, ffi::OsStr, fs::File, io};

const OPAQUE: &str = "user.overlay.opaque";
const WHITEOUT: &str = "user.overlay.whiteout";
const ORIGIN: &str = "user.overlay.origin";

/// The meaning of `name` in an upper folder.
pub(crate) fn meaning(folder: &Folder, name: &OsStr, stat: &Stat) -> Kind {
    if stat.kind == Kind::File && stat.size == 0 && folder.has_attribute(name, WHITEOUT) {
        Kind::Whiteout
    } else {
        stat.kind
    }
}

/// Whether an upper folder hides what the folder below it holds. The value `x` only says that
/// there may be whiteouts of the second kind.
pub(crate) fn is_opaque(folder: &Folder) -> bool {
    folder.attribute(OPAQUE).is_some_and(|value| value == b"y")
}

/// Makes an upper folder hide what is below it.
pub(crate) fn set_opaque(folder: &Folder) -> io::Result<()> {
    folder.set_attribute(OPAQUE, b"y")
}

/// Lets an upper folder show what is below it.
pub(crate) fn clear_opaque(folder: &Folder) -> io::Result<()> {
    folder.remove_attribute(OPAQUE)
}

/// Marks a file that entered the layer without an overlay: as a copy of the person's file with this
/// number, if it is one, and as no deletion. A file that cannot be marked counts as made by the
/// program.
pub(crate) fn mark(folder: &Folder, name: &OsStr, origin: Option<u64>) -> io::Result<()> {
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

/// The origin of a file that the overlay copied from the person's folder.
#[derive(Debug)]
pub(crate) struct Origin(Vec<u8>);

impl Origin {
    /// Where the number of the original begins: after version, magic, length, flags, kind and the
    /// file system's own id.
    const NUMBERS: usize = 21;

    /// The origin of `name`, or `None` if the program made it.
    pub(crate) fn of(folder: &Folder, name: &OsStr) -> Option<Self> {
        folder.attribute_of(name, ORIGIN).map(Self)
    }

    /// Marks a copy of the file that it was found on. A file that cannot be marked counts as made
    /// by the program.
    pub(crate) fn put(&self, copy: &File) {
        fsetxattr(copy, ORIGIN, &self.0, XattrFlags::empty()).ok();
    }

    /// Whether the original may be one of the files with these numbers, of which the lower half
    /// counts. Each file system writes its own kind of handle, but all have the number in it.
    pub(crate) fn is_one_of(&self, inodes: &HashSet<[u8; 4]>) -> bool {
        let words = self.0.get(Self::NUMBERS..).unwrap_or_default().as_chunks::<4>().0;
        words.iter().any(|word| inodes.contains(word))
    }
}

/// Marks `name` as deleted. The kernel lets everybody make this one device.
pub(crate) fn create_whiteout(folder: &Folder, name: &OsStr) -> io::Result<()> {
    Ok(mknodat(folder, name, FileType::CharacterDevice, Mode::empty(), 0)?)
}
