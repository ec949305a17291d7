//! A folder of ours inside the work folder, for as long as an application takes.
//!
//! What is new is written here in full, on the same file system as the place it is for, so that
//! a full disk is noticed before anything changes and putting it in place is one rename. Its name
//! is in the journal before it exists, so that a crash leaves nothing behind for good.

use super::{
    error::{During, WorkspaceError},
    folder::{Folder, Intent},
    sweep,
};
use std::ffi::OsStr;
use uuid::Uuid;

const PREFIX: &str = ".interpreter-";

/// A name that nothing has yet.
pub(super) fn name() -> String {
    format!("{PREFIX}{}", Uuid::new_v4().simple())
}

/// Creates the folder `name` in the work folder.
pub(super) fn create(work: &Folder, name: &str) -> Result<Folder, WorkspaceError> {
    let name = OsStr::new(name);
    let create = || {
        work.create_folder(name)?;
        work.child(name, Intent::Change)
    };
    create().during("create", || name.to_string_lossy().into_owned())
}

/// Removes the folder `name`, if it is there and a name of ours.
pub(super) fn remove(work: &Folder, name: &str) -> Result<(), WorkspaceError> {
    if !name.starts_with(PREFIX) || name.contains('/') {
        return Ok(());
    }
    let name = OsStr::new(name);
    let remove = || match work.stat(name)? {
        Some(_) => sweep::remove(work, name),
        None => Ok(()),
    };
    remove().during("remove", || name.to_string_lossy().into_owned())
}
