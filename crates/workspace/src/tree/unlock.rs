//! Opens what is ours but locked, for as long as it is looked at.
//!
//! Code may leave a file or folder without permissions; it still belongs to us, and has to be
//! listed, copied and removed. The bits are added through the open descriptor, so that no name is
//! looked up twice, and taken back when the guard is dropped.
//!
//! Must not be used on what belongs to somebody else: there the refusal is the right answer.

use crate::tree::stat::Stat;
use rustix::{
    fd::{AsFd, AsRawFd, OwnedFd},
    fs::{Mode, chmod},
    process::geteuid,
};

/// Permissions that are there until this is dropped.
#[derive(Debug)]
pub(crate) struct Unlocked {
    handle: OwnedFd,
    mode: u32,
}

impl Unlocked {
    /// Adds `bits` to the mode of `handle`, if they are missing and it is ours. A failure is not an
    /// error: the next call fails with a better message.
    pub(crate) fn hold(handle: &OwnedFd, bits: u32) -> Option<Self> {
        let user = geteuid();
        if user.is_root() {
            return None;
        }
        let stat = Stat::of(handle, c"").ok()?;
        if stat.mode & bits == bits || stat.owner.user != user.as_raw() {
            return None;
        }
        let handle = handle.try_clone().ok()?;
        chmod(of_descriptor(&handle), Mode::from_raw_mode(stat.mode | bits)).ok()?;
        Some(Self { handle, mode: stat.mode })
    }
}

impl Drop for Unlocked {
    fn drop(&mut self) {
        // A folder that was removed meanwhile has no mode to restore; nothing depends on it.
        chmod(of_descriptor(&self.handle), Mode::from_raw_mode(self.mode)).ok();
    }
}

/// A path to exactly what a descriptor refers to, for calls that take no bare handle.
pub(crate) fn of_descriptor(handle: &impl AsFd) -> String {
    format!("/proc/self/fd/{}", handle.as_fd().as_raw_fd())
}
