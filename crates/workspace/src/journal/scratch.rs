//! A folder of ours inside the work folder, for as long as an application takes.
//!
//! New files are written here in full, on the same file system as their destination, so that a full
//! disk is noticed before anything changes and installing one is a single rename. The name is in
//! the journal before the folder exists, so that a crash leaves nothing behind for good.

use crate::{
    error::{During, WorkspaceError},
    tree::{
        folder::{Folder, Intent},
        sweep,
    },
};
use std::ffi::OsStr;
use uuid::Uuid;

const PREFIX: &str = ".interpreter-";

/// A name that nothing has yet.
pub(crate) fn name() -> String {
    format!("{PREFIX}{}", Uuid::new_v4().simple())
}

/// Creates the folder `name` in the work folder.
pub(crate) fn create(work: &Folder, name: &str) -> Result<Folder, WorkspaceError> {
    let name = OsStr::new(name);
    let create = || {
        work.create_folder(name)?;
        work.child(name, Intent::Change)
    };
    create().during("create", || name.to_string_lossy().into_owned())
}

/// Removes the folder `name`, if it is there and a name of ours.
pub(crate) fn remove(work: &Folder, name: &str) -> Result<(), WorkspaceError> {
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
