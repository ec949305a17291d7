//! Paths for sockets in folders that may be deep.

use std::{
    ffi::OsStr,
    os::fd::{AsFd, AsRawFd},
    path::{Path, PathBuf},
};

/// Another path to `name` in an open folder. A socket's path may be no longer than 107 bytes; by the
/// folder's number it is not. It holds in this process and while the folder is open.
pub(crate) fn short_path(folder: &impl AsFd, name: &OsStr) -> PathBuf {
    let number = folder.as_fd().as_raw_fd().to_string();
    Path::new("/proc/self/fd").join(number).join(name)
}
