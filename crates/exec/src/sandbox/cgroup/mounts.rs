//! Where control groups are mounted, and which of them a process is in, as the kernel writes it.

use std::path::Path;

/// A mount, as a line of `/proc/self/mountinfo` has it.
pub(crate) struct Mount<'a> {
    /// The part of its file system that is mounted.
    pub(crate) root: &'a str,
    pub(crate) at: &'a str,
    pub(crate) kind: &'a str,
    options: &'a str,
}

impl Mount<'_> {
    /// Whether it shows the groups of a controller, if it is of version 1.
    pub(crate) fn has(&self, controller: &str) -> bool {
        self.options.split(',').any(|option| option == controller)
    }
}

/// All mounts of these lines.
pub(crate) fn mounts(mountinfo: &str) -> impl Iterator<Item = Mount<'_>> {
    mountinfo.lines().filter_map(|line| {
        // ID parent device root MOUNT options … - TYPE source OPTIONS
        let (before, after) = line.split_once(" - ")?;
        let mut before = before.split(' ').skip(3);
        let (root, at) = (before.next()?, before.next()?);
        let mut after = after.split(' ');
        let (kind, options) = (after.next()?, after.nth(1).unwrap_or_default());
        Some(Mount { root, at, kind, options })
    })
}

/// A process's group in the hierarchy of a controller, or in that of version 2 for an empty name.
pub(crate) fn group_in<'a>(groups: &'a str, controller: &str) -> Option<&'a Path> {
    groups.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        controllers.split(',').any(|one| one == controller).then_some(Path::new(path))
    })
}
