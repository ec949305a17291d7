//! Removes whole trees, however deep and whatever their modes.
//!
//! A program can nest folders deeper than paths, stacks and descriptor tables reach. So nothing
//! descends: the contents of a folder are moved up beside it, until every folder is empty. Links
//! are removed, never followed.

use crate::tree::{
    folder::{Folder, Intent},
    stat::Kind,
    unlock::of_descriptor,
};
use rustix::fs::{Mode, chmod};
use std::{
    ffi::{OsStr, OsString},
    io,
};
use uuid::Uuid;

/// Removes everything in `folder`.
pub(crate) fn empty(folder: &Folder) -> io::Result<()> {
    // A prefix that no program could have guessed, so that moving up replaces nothing.
    let prefix = Uuid::new_v4().simple().to_string();
    let mut moved = 0_u64;
    loop {
        let names = folder.names()?;
        if names.is_empty() {
            return Ok(());
        }
        for name in names {
            if is_folder(folder, &name)? {
                let inner = folder.child(&name, Intent::Change)?;
                let mut folders = Vec::new();
                for below in inner.names()? {
                    if is_folder(&inner, &below)? {
                        folders.push(below);
                    } else {
                        inner.unlink(&below)?;
                    }
                }
                // After the files: on a full disk they make the room that a new name may need.
                for below in folders {
                    moved += 1;
                    let beside = OsString::from(format!("{prefix}-{moved}"));
                    inner.rename(&below, folder, &beside)?;
                }
                folder.remove_folder(&name)?;
            } else {
                folder.unlink(&name)?;
            }
        }
    }
}

/// Removes the folder `name` with everything in it.
pub(crate) fn remove(folder: &Folder, name: &OsStr) -> io::Result<()> {
    if is_folder(folder, name)? {
        empty(&folder.child(name, Intent::Change)?)?;
        folder.remove_folder(name)
    } else {
        folder.unlink(name)
    }
}

/// Whether `name` is a folder; if so it is opened for good, because it is about to go and moving
/// a folder takes the right to write in it.
fn is_folder(folder: &Folder, name: &OsStr) -> io::Result<bool> {
    let Some(stat) = folder.stat(name)? else { return Ok(false) };
    if stat.kind == Kind::Folder && stat.mode & 0o700 != 0o700 {
        let handle = folder.handle(name)?;
        chmod(of_descriptor(&handle), Mode::RWXU)?;
    }
    Ok(stat.kind == Kind::Folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fs_err as fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_tree_deeper_than_any_path_is_removed() {
        let place = tempfile::tempdir().unwrap();
        let root = Folder::open(place.path(), Intent::Change).unwrap();
        let name = OsString::from("d".repeat(100));
        let mut at = Folder::open(place.path(), Intent::Change).unwrap();
        for _ in 0..2000 {
            at.create_folder(&name).unwrap();
            at.create_link(OsStr::new("out"), b"/etc/passwd").unwrap();
            at = at.child(&name, Intent::Change).unwrap();
        }
        empty(&root).unwrap();
        assert_eq!(root.names().unwrap(), Vec::<OsString>::new());
        assert!(fs::exists("/etc/passwd").unwrap());
    }

    #[test]
    fn locked_folders_are_removed() {
        let place = tempfile::tempdir().unwrap();
        let inner = place.path().join("work/work");
        fs::create_dir_all(inner.join("x/y")).unwrap();
        for path in [inner.join("x/y"), inner.join("x"), inner] {
            fs::set_permissions(path, std::fs::Permissions::from_mode(0o000)).unwrap();
        }
        let root = Folder::open(place.path(), Intent::Change).unwrap();
        remove(&root, OsStr::new("work")).unwrap();
        assert_eq!(root.names().unwrap(), Vec::<OsString>::new());
    }
}
