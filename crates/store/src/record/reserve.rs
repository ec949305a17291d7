//! Room on the disk for the records that freeing space needs.
//!
//! Discarding staged files goes on record first, like everything else; on a full disk the record
//! cannot grow, and so nothing could be discarded. A file of some blocks is kept for exactly this:
//! it is removed when there is no other room, and made again by a later session.
//!
//! Must not be let go of for anything that runs.

use rustix::{
    fs::{FallocateFlags, fallocate, statvfs},
    io::Errno,
};
use std::{
    fs::{self, OpenOptions},
    io,
    os::unix::fs::{FileExt, OpenOptionsExt},
    path::Path,
};

/// Enough for some dozens of records and the index that `SQLite` keeps of them.
const BYTES: u32 = 1 << 20;

/// Free space from which on the room is kept.
const PLENTY: u64 = 32 * BYTES as u64;

/// Keeps the room, if there is plenty and it is not kept yet. Without it only a full disk is worse.
pub(super) fn keep(path: &Path) {
    if fs::metadata(path).is_ok_and(|found| found.len() == u64::from(BYTES)) {
        return;
    }
    let folder = path.parent().unwrap_or(path);
    let has_plenty =
        statvfs(folder).is_ok_and(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) >= PLENTY);
    if has_plenty {
        _ = make(path).is_ok();
    }
}

/// A file without holes, whose blocks are taken and hold nothing.
fn make(path: &Path) -> io::Result<()> {
    let no_link = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600).custom_flags(no_link);
    let file = options.open(path)?;
    match fallocate(&file, FallocateFlags::empty(), 0, BYTES.into()) {
        // Not every file system can; then the blocks are written.
        Err(Errno::OPNOTSUPP) => file.write_all_at(&vec![0; BYTES as usize], 0),
        other => Ok(other?),
    }
}

/// Lets go of the room. Whether there was any.
pub(super) fn let_go(path: &Path) -> bool {
    fs::remove_file(path).is_ok()
}
