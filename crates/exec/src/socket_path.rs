//! Paths for sockets in folders that may be deep.

use std::{
    ffi::OsStr,
    os::fd::{AsFd, AsRawFd},
    path::{Path, PathBuf},
};

/// A short path to `name` in an open folder, by the number of its descriptor: the path of a socket
/// has at most 107 bytes. It is valid only in this process, and only while the folder is open.
pub(crate) fn short_path(folder: &impl AsFd, name: &OsStr) -> PathBuf {
    let number = folder.as_fd().as_raw_fd().to_string();
    Path::new("/proc/self/fd").join(number).join(name)
}
