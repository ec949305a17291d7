//! Shows what is outside so that nothing in it leads back there.
//!
//! # Threat
//! Code that talks to a process outside by a socket or a pipe in a folder that it may only read,
//! that keeps such a process waiting by a lock, or learns from a watcher of files what it does.
//!
//! # Mechanism
//! A folder is shown as an overlay of nothing but itself, read-only. The overlay's inodes are its
//! own, and sockets, pipes, locks, leases and watchers belong to inodes: they hold inside and
//! nowhere else. A file is taken from such an overlay of its folder.
//!
//! An overlay has no mounts below it, so these are shown one by one, each by an overlay too. In a
//! user namespace the kernel makes no overlay of a folder in which something is mounted, because
//! that would show what the mount covers. Such a folder is put together from its entries: each
//! folder an overlay, each link a link, small files as copies, larger ones as they are. Sockets and
//! pipes are left out.
//!
//! # Order
//! Before the old root is let go. The mounts there are read once: none is added later, because
//! those of others do not come into this namespace.
//!
//! # Limits
//! A larger file that is itself a mount, or lies in a folder with one and the user is not root, is
//! the file outside: it can be locked and watched. A mount of a kind that no overlay can show is
//! covered. Files that are exchanged outside may be seen as they were. The pages of a file are those
//! outside, and so are futexes in them.

use super::{
    EMPTY, Mounts, OLD, attach, attributes, file_at, folder, mask, mirror, parents, seal,
    temporary_at, under, unmount,
};
use crate::{BindAccess, Owner, sys};
use rustix::{
    fd::AsFd,
    fs::{CWD, Mode, OFlags, open},
    io::Errno,
    mount::{OpenTreeFlags, open_tree},
};
use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs::{self, FileType},
    io::{self, Read},
    os::unix::{
        ffi::OsStringExt,
        fs::{MetadataExt, PermissionsExt},
    },
    path::{Path, PathBuf},
};

/// A mount as it is, on the way to the overlay of it.
const BEHIND: &str = "/run/interpreter/behind";

/// The overlay of a folder, on the way to a file in it.
const AROUND: &str = "/run/interpreter/around";

/// A copy of a file, on the way to where it is shown.
const COPY: &str = "/run/interpreter/copy";

/// Bytes of a file that is copied.
const SMALL: u64 = 16 << 10;

/// Entries of folders that are put together. Each may take a mount.
const MOST_ENTRIES: usize = 20_000;

/// Where something is mounted in the old root.
#[derive(Debug, Default)]
pub(super) struct Points(BTreeSet<PathBuf>);

impl Points {
    fn look() -> io::Result<Self> {
        let mut text = Vec::new();
        fs::File::open(under(OLD, Path::new("/proc/self/mountinfo")))?.read_to_end(&mut text)?;
        Ok(Self::of(&text))
    }

    fn of(mountinfo: &[u8]) -> Self {
        let lines = mountinfo.split(|&byte| byte == b'\n');
        let points = lines.filter_map(|line| line.split(|&byte| byte == b' ').nth(4));
        let points = points.map(|point| PathBuf::from(OsString::from_vec(unescaped(point))));
        Self(points.filter(|point| point.starts_with(OLD)).collect())
    }

    fn are_below(&self, folder: &Path) -> bool {
        self.highest_below(folder).next().is_some()
    }

    /// Those below a folder that are not below another one of them.
    fn highest_below<'a>(&'a self, folder: &'a Path) -> impl Iterator<Item = &'a Path> {
        let below = self.0.iter().map(PathBuf::as_path);
        let below = below.filter(move |point| point.starts_with(folder) && *point != folder);
        below.filter(move |point| {
            let mut above = point.ancestors().skip(1).take_while(|above| *above != folder);
            !above.any(|above| self.0.contains(above))
        })
    }
}

/// A path as it is, of one in which blanks and the like are written as octal numbers.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, after @ ..] = rest {
        let digits = after.get(..3).filter(|_| *first == b'\\');
        let value =
            digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        plain.push(value.unwrap_or(*first));
        rest = if value.is_some() { &after[3..] } else { after };
    }
    plain
}

impl Mounts {
    /// Shows `from`, a path of the old root, on `to`.
    pub(crate) fn show(&mut self, from: &Path, to: &Path, owner: Owner) -> io::Result<()> {
        let points = match self.points.take() {
            Some(points) => points,
            None => Points::look()?,
        };
        let showing = Showing { mounts: self, points: &points, owner };
        let from = under(OLD, from);
        let done = match fs::symlink_metadata(&from) {
            Ok(data) if data.is_dir() => showing.folder(&from, to),
            Ok(data) => showing.file(&from, data.file_type(), to),
            Err(error) => Err(error),
        };
        self.points = Some(points);
        done
    }
}

struct Showing<'a> {
    mounts: &'a Mounts,
    points: &'a Points,
    owner: Owner,
}

impl Showing<'_> {
    fn folder(&self, from: &Path, to: &Path) -> io::Result<()> {
        match self.overlay(from, to) {
            Ok(()) => {}
            // Nothing in it can be reached.
            Err(error) if is(&error, Errno::ACCESS) => {
                folder(to, 0o755)?;
                return mask(to);
            }
            Err(error) if is(&error, Errno::INVAL) && self.points.are_below(from) => {
                return self.put_together(from, to);
            }
            Err(error) => return Err(error),
        }
        self.below(from, to)
    }

    /// Shows what is mounted below a folder, on the overlay of that folder.
    fn below(&self, from: &Path, to: &Path) -> io::Result<()> {
        for point in self.points.highest_below(from) {
            let at = to.join(point.strip_prefix(from).map_err(io::Error::other)?);
            self.mount_or_cover(point, &at)?;
        }
        Ok(())
    }

    /// Shows a mount, or covers the place where it is: what it hides outside stays hidden.
    fn mount_or_cover(&self, point: &Path, at: &Path) -> io::Result<()> {
        let shown = fs::symlink_metadata(point).and_then(|data| {
            if data.is_dir() {
                self.folder(point, at)
            } else {
                self.file(point, data.file_type(), at)
            }
        });
        shown.or_else(|_| mask(at))
    }

    /// Shows a folder by an overlay, without what is mounted below it.
    fn overlay(&self, from: &Path, to: &Path) -> io::Result<()> {
        match self.owner {
            Owner::AsOutside => {
                // By the folder that we are in: a path could hold what has a meaning in a list of
                // layers.
                let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                rustix::process::fchdir(open(from, flags, Mode::empty())?)?;
                let made = mirror(Path::new("."), to);
                std::env::set_current_dir("/")?;
                made
            }
            Owner::Mapped => {
                let recursive = OpenTreeFlags::empty();
                let tree = self.mounts.detached(from, BindAccess::Read, self.owner, recursive)?;
                folder(Path::new(BEHIND), 0o755)?;
                attach(tree.as_fd(), Path::new(BEHIND))?;
                let made = mirror(Path::new(BEHIND), to);
                unmount(Path::new(BEHIND))?;
                made
            }
        }
    }

    fn file(&self, from: &Path, kind: FileType, to: &Path) -> io::Result<()> {
        let (Some(parent), Some(name)) = (from.parent(), from.file_name()) else {
            return Err(Errno::INVAL.into());
        };
        if self.points.0.contains(from) {
            return self.alone(from, kind, to);
        }
        match self.overlay(parent, Path::new(AROUND)) {
            Ok(()) => {
                let shown = mount_file(&Path::new(AROUND).join(name), to);
                unmount(Path::new(AROUND))?;
                shown
            }
            Err(error) if is(&error, Errno::INVAL) => self.alone(from, kind, to),
            Err(error) => Err(error),
        }
    }

    /// Shows a file of which there is no overlay.
    fn alone(&self, from: &Path, kind: FileType, to: &Path) -> io::Result<()> {
        if !kind.is_file() {
            return mount_file(Path::new(EMPTY), to);
        }
        if self.owner == Owner::AsOutside && copied(from, Path::new(COPY))? {
            let shown = mount_file(Path::new(COPY), to);
            // The mount stays, and the file has no other name.
            fs::remove_file(COPY)?;
            return shown;
        }
        let recursive = OpenTreeFlags::empty();
        let tree = self.mounts.detached(from, BindAccess::Read, self.owner, recursive)?;
        file_at(to)?;
        attach(tree.as_fd(), to)
    }

    /// Puts a folder together from its entries, on a temporary file system.
    fn put_together(&self, from: &Path, to: &Path) -> io::Result<()> {
        folder(to, 0o755)?;
        let mode = fs::symlink_metadata(from)?.mode() & 0o777;
        temporary_at(to, &format!("mode={mode:o},size=512m"))?;
        let mut left = MOST_ENTRIES;
        self.entries(from, to, &mut left)?;
        seal(to)
    }

    fn entries(&self, from: &Path, to: &Path, left: &mut usize) -> io::Result<()> {
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            *left = left
                .checked_sub(1)
                .ok_or_else(|| io::Error::other("too many files lie beside a mount in it"))?;
            let (path, at, kind) = (entry.path(), to.join(entry.file_name()), entry.file_type()?);
            let is_mount = self.points.0.contains(&path);
            if kind.is_symlink() {
                std::os::unix::fs::symlink(fs::read_link(&path)?, &at)?;
            } else if kind.is_dir() && (is_mount || !self.points.are_below(&path)) {
                folder(&at, 0o755)?;
                self.mount_or_cover(&path, &at)?;
            } else if kind.is_dir() {
                folder(&at, entry.metadata()?.mode() & 0o777)?;
                self.entries(&path, &at, left)?;
            } else if !kind.is_file() {
                // A socket, a pipe or a device.
            } else if !copied(&path, &at)? {
                self.alone(&path, kind, &at)?;
            }
        }
        Ok(())
    }
}

/// Mounts a file that is in the new root on another place there.
fn mount_file(file: &Path, to: &Path) -> io::Result<()> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
    let tree = open_tree(CWD, file, flags)?;
    sys::set_mount_attributes(tree.as_fd(), attributes(BindAccess::Read), None, false)?;
    file_at(to)?;
    attach(tree.as_fd(), to)
}

/// Copies a file if it is small. One that cannot be read becomes an empty one without
/// permissions.
fn copied(from: &Path, to: &Path) -> io::Result<bool> {
    let (text, mode) = match read_small(from) {
        Ok(None) => return Ok(false),
        Ok(Some(read)) => read,
        Err(_) => (vec![], 0),
    };
    parents(to)?;
    io::Write::write_all(&mut fs::File::create_new(to)?, &text)?;
    fs::set_permissions(to, fs::Permissions::from_mode(mode))?;
    Ok(true)
}

/// The content of a file and its permissions, or nothing if it is not a small file.
fn read_small(from: &Path) -> io::Result<Option<(Vec<u8>, u32)>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = fs::File::from(open(from, flags, Mode::empty())?);
    let (data, mut text) = (file.metadata()?, Vec::new());
    // Files of the kernel's do not tell how long they are.
    file.take(SMALL + 1).read_to_end(&mut text)?;
    let is_small = data.is_file() && text.len() as u64 <= SMALL;
    Ok(is_small.then(|| (text, data.mode() & 0o555)))
}

fn is(error: &io::Error, errno: Errno) -> bool {
    error.raw_os_error() == Some(errno.raw_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTINFO: &[u8] = b"22 1 0:21 / /old rw - ext4 /dev/vda rw\n\
        23 22 0:22 / /old/proc rw - proc proc rw\n\
        24 22 0:23 / /old/opt/a\\040b rw - ext4 /dev/vdb rw\n\
        25 24 0:24 / /old/opt/a\\040b/c rw - ext4 /dev/vdc rw\n\
        26 22 0:25 /hosts /old/etc/hosts rw - ext4 /dev/vdd rw\n\
        27 22 0:26 / / rw - tmpfs tmpfs rw\n\
        28 27 0:26 / /usr rw - overlay overlay rw\n";

    #[test]
    fn mounts_of_the_old_root_alone_are_known_and_the_highest_come_first() {
        let points = Points::of(MOUNTINFO);
        let below = |folder: &str| -> Vec<_> {
            let below = points.highest_below(Path::new(folder));
            below.map(|point| point.to_str().unwrap().to_owned()).collect()
        };
        assert_eq!(below("/old/opt"), ["/old/opt/a b"]);
        assert_eq!(below("/old/opt/a b"), ["/old/opt/a b/c"]);
        assert_eq!(below("/old/etc"), ["/old/etc/hosts"]);
        assert_eq!(below("/old/usr"), Vec::<String>::new());
        assert_eq!(below("/old/et"), Vec::<String>::new());
        assert_eq!(below("/old"), ["/old/etc/hosts", "/old/opt/a b", "/old/proc"]);
    }

    #[test]
    fn octal_numbers_are_read_and_nothing_else_is() {
        for (text, plain) in [
            (&b"/a\\040b"[..], &b"/a b"[..]),
            (b"/a\\134040", b"/a\\040"),
            (b"/a\\04", b"/a\\04"),
            (b"/a\\999", b"/a\\999"),
            (b"\\", b"\\"),
        ] {
            assert_eq!(unescaped(text), plain);
        }
    }

    #[test]
    fn small_files_are_copied_and_pipes_and_large_ones_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let large = usize::try_from(SMALL).unwrap() + 1;
        fs::File::create_new(at("small"))
            .and_then(|mut f| io::Write::write_all(&mut f, b"x"))
            .unwrap();
        fs::File::create_new(at("large"))
            .and_then(|mut file| io::Write::write_all(&mut file, &vec![0; large]))
            .unwrap();
        fs::set_permissions(at("small"), fs::Permissions::from_mode(0o640)).unwrap();
        rustix::fs::mkfifoat(CWD, at("pipe"), Mode::RUSR | Mode::WUSR).unwrap();
        assert!(copied(&at("small"), &at("copy")).unwrap());
        assert_eq!(fs::metadata(at("copy")).unwrap().mode() & 0o777, 0o440);
        assert!(!copied(&at("large"), &at("copy2")).unwrap());
        assert!(!copied(&at("pipe"), &at("copy3")).unwrap());
        // A file that cannot be read is there, and empty.
        assert!(copied(&at("missing"), &at("copy4")).unwrap());
        assert_eq!(fs::metadata(at("copy4")).unwrap().mode() & 0o777, 0);
    }
}
