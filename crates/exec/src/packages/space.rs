//! The disk space that an order may use.
//!
//! # Threat
//! A package is as large as it likes: a small file can unpack to terabytes, and code that builds
//! one writes what it wants. The disk holds the record, all sessions and often the system.
//!
//! # Mechanism
//! The limits on staged files hold for packages too. The fetched files must fit, and so must all
//! packages of a folder when they are unpacked, and the disk keeps the same reserve as for staged
//! files. The sizes of finished builds are added up before anything of them is written, and counted
//! while it is. Beside that, the workshop as a whole is watched while something runs.
//!
//! # Limits
//! The watch looks from time to time, so a fast program may write slightly more.

use crate::runner::spare;
use interpreter_core::{Limits, Reached};
use serde_json::{Value, json};
use std::{io, path::Path};

/// Fetched and unpacked files are in the workshop together.
const BOTH: u64 = 2;

/// The space that is left for an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PackageSpace {
    bytes: u64,
    files: u64,
    /// Whether it is the disk that has no more, and not the setting.
    is_disk: bool,
}

impl PackageSpace {
    /// The space below `folder`.
    pub(super) fn below(folder: &Path, limits: &Limits) -> Self {
        let spare = spare(folder);
        let (bytes, files) = (limits.staged_bytes, limits.staged_files);
        Self {
            bytes: bytes.min(spare.bytes),
            files: files.min(spare.files),
            is_disk: spare.bytes < bytes || spare.files < files,
        }
    }

    /// For the program that unpacks.
    pub(super) fn told(&self) -> Value {
        json!({ "bytes": self.bytes, "files": self.files, "disk": self.is_disk })
    }

    /// Takes the space of one file away.
    pub(super) fn spend(&mut self, bytes: u64) -> io::Result<()> {
        let left = self.bytes.checked_sub(bytes).zip(self.files.checked_sub(1));
        let (bytes, files) = left.ok_or_else(|| io::Error::other(self.is_used_up()))?;
        (self.bytes, self.files) = (bytes, files);
        Ok(())
    }

    fn is_used_up(&self) -> &'static str {
        if self.is_disk {
            "there is not enough free disk space for it"
        } else {
            "it is too large; `limits.staged` and `limits.staged_files` in your config file bound it"
        }
    }
}

/// The limits of everything that an order has in its workshop.
pub(super) fn watched(limits: &Limits) -> Limits {
    let twice = |one: u64| one.saturating_mul(BOTH);
    Limits {
        staged_bytes: twice(limits.staged_bytes),
        staged_files: twice(limits.staged_files),
        ..*limits
    }
}

/// Why a program of an order was ended.
pub(super) fn reached(reached: Reached, order: &str) -> String {
    let setting = |name: &str, most: String| {
        format!(
            "{order} took more than {most} on the disk while it was fetched, built or unpacked, \
             which is twice `{name}` in your config file"
        )
    };
    match reached {
        Reached::Staged(bytes) => setting("limits.staged", amount(bytes)),
        Reached::StagedFiles(files) => setting("limits.staged_files", format!("{files} files")),
        Reached::FreeSpace(bytes) => format!(
            "{order} took the disk space that must stay free ({}); free some space",
            amount(bytes)
        ),
        Reached::FreeFiles(files) => format!(
            "{order} took the room for files that must stay free on the disk ({files}); remove some"
        ),
        Reached::Time(_)
        | Reached::Cpu(_)
        | Reached::Memory(_)
        | Reached::Processes(_)
        | Reached::Output(_) => format!("{order} used up {reached}"),
    }
}

/// A number of bytes, in a few signs.
fn amount(bytes: u64) -> String {
    let units = [(1_u64 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")];
    let fit = units.into_iter().find(|(unit, _)| bytes >= *unit);
    fit.map_or_else(
        || format!("{bytes} bytes"),
        |(unit, word)| match (bytes / unit, bytes % unit * 10 / unit) {
            (whole, 0) => format!("{whole}{word}"),
            (whole, tenths) => format!("{whole}.{tenths}{word}"),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused() {
        let mut room = PackageSpace { bytes: 10, files: 2, is_disk: false };
        assert!(room.spend(11).unwrap_err().to_string().contains("limits.staged"));
        room.spend(10).unwrap();
        room.spend(0).unwrap();
        // Empty files are files.
        assert!(room.spend(0).is_err());
        let mut full = PackageSpace { bytes: 0, files: 2, is_disk: true };
        assert!(full.spend(1).unwrap_err().to_string().contains("disk space"));
    }

    #[test]
    fn the_setting_and_the_disk_are_told_apart() {
        let root = tempfile::tempdir().unwrap();
        let limits = |staged_bytes| Limits { staged_bytes, ..Limits::default() };
        assert!(!PackageSpace::below(root.path(), &limits(1)).is_disk);
        assert!(PackageSpace::below(root.path(), &limits(u64::MAX)).is_disk);
        assert_eq!(PackageSpace::below(Path::new("/nowhere"), &limits(1)).bytes, 0);
    }

    #[test]
    fn amounts_are_short() {
        assert_eq!(amount(16 << 30), "16G");
        assert_eq!(amount((3 << 20) / 2), "1.5M");
        assert_eq!(amount(100), "100 bytes");
    }
}
