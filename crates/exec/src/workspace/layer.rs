//! What an overlay's upper layer says, read from outside.
//!
//! A deletion is a whiteout: character device 0:0, or an empty file with an attribute. A folder
//! that hides what was below it is opaque. Both marks are the kernel's; a program inside cannot
//! set the attributes, and what it could fake would only make its own changes smaller.

use super::{
    folder::Folder,
    stat::{Kind, Stat},
};
use rustix::fs::{FileType, Mode, mknodat};
use std::{ffi::OsStr, io};

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

/// Whether the overlay made `name` by copying it from the person's folder.
pub(super) fn was_copied_up(folder: &Folder, name: &OsStr) -> bool {
    folder.has_attribute(name, ORIGIN)
}

/// Marks `name` as deleted. The kernel lets everybody make this one device.
pub(super) fn create_whiteout(folder: &Folder, name: &OsStr) -> io::Result<()> {
    Ok(mknodat(folder, name, FileType::CharacterDevice, Mode::empty(), 0)?)
}
