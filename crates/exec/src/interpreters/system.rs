//! The parts of a system that every sandbox shows.

use std::path::Path;

/// Folders that every sandbox shows read-only.
pub(crate) const SYSTEM: &[&str] =
    &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix/store"];

/// Folders of programs that are in every sandbox's `PATH` anyway.
pub(super) const USUAL: &[&str] = &["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"];

/// Whether a path belongs to the system, which every sandbox shows read-only.
pub fn is_system(path: &Path) -> bool {
    SYSTEM.iter().any(|folder| path.starts_with(folder))
}

/// Whether a folder is in every sandbox's `PATH` anyway.
pub(super) fn is_usual(folder: &Path) -> bool {
    USUAL.iter().any(|usual| Path::new(usual) == folder)
}
