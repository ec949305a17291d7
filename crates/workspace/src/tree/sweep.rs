//! Removes whole trees, however deep and whatever their modes.
//!
//! A program can nest folders deeper than paths, stacks and descriptor tables reach. So nothing
//! descends: the contents of a folder are moved up beside it, until every folder is empty. Links
//! are removed, never followed.
//!
//! A program may also be at work in the tree meanwhile, and exchange a folder for a link after it
//! was listed. So modes are changed through descriptors alone, never by name.

use crate::{
    error::is_gone,
    tree::{
        folder::{Folder, Intent},
        stat::{Kind, Stat},
        unlock::of_descriptor,
    },
};
use rustix::{
    fd::OwnedFd,
    fs::{Mode, chmod},
    io::Errno,
    process::geteuid,
};
use std::{
    ffi::{OsStr, OsString},
    io,
    path::Path,
};
use uuid::Uuid;

/// How often the removal of a tree begins again because something was added to it meanwhile.
const ATTEMPTS: usize = 8;

/// Removes a folder of ours with everything in it, however deep that is. Only a few descriptors are
/// open at a time. A folder that is already gone is not an error. Another user's is, and it stays.
///
/// Whoever can change the folder above must be trusted; nobody else has to be.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it has no folder above it"));
    };
    let parent = Folder::open_through_links(parent, Intent::Change)?;
    for _ in 1..ATTEMPTS {
        match remove_ours(&parent, name) {
            Err(error) if was_changed(&error) => {}
            done => return done,
        }
    }
    remove_ours(&parent, name)
}

fn remove_ours(parent: &Folder, name: &OsStr) -> io::Result<()> {
    match parent.stat(name)? {
        None => return Ok(()),
        Some(stat) if stat.kind == Kind::Folder => {}
        Some(stat) => {
            let text = format!("it is {}, not a folder", stat.kind.noun());
            return Err(io::Error::new(io::ErrorKind::NotADirectory, text));
        }
    }
    let handle = parent.handle_on_folder(name)?;
    let owner = Stat::of(&handle, c"")?.owner.user;
    if owner != geteuid().as_raw() {
        let text = format!("it belongs to user {owner}");
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
    }
    open_for_good(&handle)?;
    empty(&Folder::reopen(&handle, Intent::Change)?)?;
    or_gone(parent.remove_folder(name))
}

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
                // An empty one can go even if we may not look into it.
                if folder.remove_folder(&name).is_ok() {
                    continue;
                }
                let inner = folder.child(&name, Intent::Change)?;
                let mut folders = Vec::new();
                for below in inner.names()? {
                    if is_folder(&inner, &below)? {
                        folders.push(below);
                    } else {
                        or_gone(inner.unlink(&below))?;
                    }
                }
                // After the files: on a full disk they make the room that a new name may need.
                for below in folders {
                    moved += 1;
                    let beside = OsString::from(format!("{prefix}-{moved}"));
                    or_gone(inner.rename(&below, folder, &beside))?;
                }
                or_gone(folder.remove_folder(&name))?;
            } else {
                or_gone(folder.unlink(&name))?;
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
        open_for_good(&folder.handle_on_folder(name)?)?;
    }
    Ok(stat.kind == Kind::Folder)
}

/// Gives us every right to a folder of ours. Modes do not stop root.
fn open_for_good(handle: &OwnedFd) -> io::Result<()> {
    let (user, stat) = (geteuid(), Stat::of(handle, c"")?);
    let is_ours = stat.owner.user == user.as_raw() && !user.is_root();
    if is_ours && stat.mode & 0o700 != 0o700 {
        chmod(of_descriptor(handle), Mode::RWXU)?;
    }
    Ok(())
}

/// The outcome of removing or moving something; others may have done it before us.
fn or_gone(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Whether something failed because the tree is not what it was when it was listed.
fn was_changed(error: &io::Error) -> bool {
    let changed = [Errno::NOTEMPTY, Errno::EXIST, Errno::ISDIR];
    is_gone(error) || changed.iter().any(|one| error.raw_os_error() == Some(one.raw_os_error()))
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
