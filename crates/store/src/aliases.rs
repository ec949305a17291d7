//! Further paths of a folder, where a part of the disk is mounted more than once.
//!
//! # Threat
//! A home that is seen at a second path, as by a line of `/etc/fstab` with `bind`: what is hidden by
//! its path would be read by the other.
//!
//! # Mechanism
//! The kernel says of each mount which part of which file system it shows. A folder is at every mount
//! that shows the part in which it is, and at those that show a part of it.
//!
//! # Limits
//! A file system that shows files of another one (FUSE, an overlay) does not say so.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs::File,
    io::Read,
    os::unix::ffi::OsStringExt,
    path::{Path, PathBuf},
};

/// The mounts of this process.
const MOUNTS: &str = "/proc/self/mountinfo";

/// Part of a file system, and where it is seen.
struct Mount {
    device: String,
    root: PathBuf,
    at: PathBuf,
}

/// The mounts as they are at one time: whoever asks about several folders looks once.
pub(crate) struct Mounts(Vec<Mount>);

impl Mounts {
    pub(crate) fn look() -> Self {
        let mut text = Vec::new();
        match File::open(MOUNTS).and_then(|mut file| file.read_to_end(&mut text)) {
            Ok(_) => Self::of(&text),
            Err(_) => Self(Vec::new()),
        }
    }

    fn of(text: &[u8]) -> Self {
        Self(text.split(|byte| *byte == b'\n').filter_map(read).collect())
    }

    /// The other paths of a folder, which is given by its real one.
    pub(crate) fn others(&self, folder: &Path) -> BTreeSet<PathBuf> {
        let Self(mounts) = self;
        // Of two at the same place the later one covers the other.
        let own = mounts.iter().filter(|mount| folder.starts_with(&mount.at));
        let own = own.max_by_key(|mount| mount.at.components().count());
        let Some((own, below)) =
            own.and_then(|own| Some((own, folder.strip_prefix(&own.at).ok()?)))
        else {
            return BTreeSet::new();
        };
        let inner = joined(&own.root, below);
        let same = mounts.iter().filter(|mount| mount.device == own.device);
        let elsewhere = same.filter_map(|mount| match inner.strip_prefix(&mount.root) {
            Ok(below) => Some(joined(&mount.at, below)),
            Err(_) => mount.root.starts_with(&inner).then(|| mount.at.clone()),
        });
        elsewhere.filter(|path| path != folder).collect()
    }
}

/// A path without a slash at its end.
fn joined(path: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() { path.to_owned() } else { path.join(below) }
}

/// The device, the root and the place of one line.
fn read(line: &[u8]) -> Option<Mount> {
    let mut words = line.split(|byte| *byte == b' ').skip(2);
    let device = String::from_utf8(words.next()?.to_vec()).ok()?;
    Some(Mount { device, root: path(words.next()?), at: path(words.next()?) })
}

/// A path whose spaces and the like are written as three octal digits.
fn path(word: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        if let Some(byte) = escaped.filter(|_| first == b'\\') {
            bytes.push(byte);
            rest = &after[3..];
        } else {
            bytes.push(first);
            rest = after;
        }
    }
    OsString::from_vec(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTED: &[u8] = b"\
21 1 8:1 / / rw - ext4 /dev/sda1 rw
22 21 8:2 /home /home rw - ext4 /dev/sda2 rw
23 21 8:2 /home /mnt/a\\040b rw - ext4 /dev/sda2 rw
24 21 8:2 /home/u/.config/interpreter /srv/one rw - ext4 /dev/sda2 rw
25 21 8:2 /home/u/.config/interpreter/deep /srv/deep rw - ext4 /dev/sda2 rw
26 21 8:2 /data /data rw - ext4 /dev/sda2 rw
27 21 8:1 / /mnt/root rw - ext4 /dev/sda1 rw
28 21 0:5 /home /other rw - tmpfs none rw
";

    #[test]
    fn a_folder_is_at_every_mount_that_shows_it() {
        let at = |folder: &str| {
            let all = Mounts::of(MOUNTED).others(Path::new(folder));
            all.into_iter().map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(
            at("/home/u/.config/interpreter"),
            ["/mnt/a b/u/.config/interpreter", "/srv/deep", "/srv/one"]
        );
        assert_eq!(at("/home/u/.cache"), ["/mnt/a b/u/.cache"]);
        // By its other path it's the same folder.
        assert_eq!(at("/mnt/a b/u/.cache"), ["/home/u/.cache"]);
        assert_eq!(at("/var/tmp/one"), ["/mnt/root/var/tmp/one"]);
        assert_eq!(at("/data/x"), [""; 0]);
        assert_eq!(Mounts::of(b"").others(Path::new("/data")), BTreeSet::new());
    }
}
