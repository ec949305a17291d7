//! Folders by descriptor: every step goes from an open folder to one name in it.
//!
//! No call here follows a symbolic link, in the last part of a path or before it, or leaves the
//! folder that it begins in: the kernel enforces that (`openat2`). If a folder on the way is
//! locked, or the path is longer than the kernel accepts, the path is walked part by part instead.
//! So neither the contents of the trees, nor an exchange of names during a walk, can lead out of
//! them.

use crate::{
    journal::crash,
    tree::{
        relative::Relative,
        stat::{Kind, Stat},
        unlock::{Unlocked, of_descriptor},
    },
};
use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    fs::{
        AtFlags, CWD, Dir, Mode, OFlags, RenameFlags, ResolveFlags, XattrFlags, fgetxattr,
        fremovexattr, fsetxattr, lgetxattr, mkdirat, open, openat, openat2, readlinkat, renameat,
        renameat_with, symlinkat, unlinkat,
    },
    io::Errno,
};
use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io,
    os::unix::ffi::OsStringExt,
    path::{Path, PathBuf},
};

const HANDLE: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const NO_LINKS: ResolveFlags = ResolveFlags::NO_SYMLINKS.union(ResolveFlags::NO_MAGICLINKS);
const BELOW: ResolveFlags = NO_LINKS.union(ResolveFlags::BENEATH);
const SAME_MOUNT: ResolveFlags = BELOW.union(ResolveFlags::NO_XDEV);
const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

/// The purpose of opening a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Intent {
    /// To list it and open what is in it.
    Look,
    /// To add, replace and remove names too.
    Change,
}

impl Intent {
    fn bits(self) -> u32 {
        match self {
            Self::Look => 0o500,
            Self::Change => 0o700,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Folder {
    descriptor: OwnedFd,
    _unlocked: Option<Unlocked>,
}

impl Folder {
    /// Opens a folder of the person's or of ours. No part of its path may be a link: it was
    /// resolved when it was first written down, and what is a link now was put there since.
    pub(crate) fn open(path: &Path, intent: Intent) -> io::Result<Self> {
        Self::reopen(&openat2(CWD, path, HANDLE | FOLDER, Mode::empty(), NO_LINKS)?, intent)
    }

    /// Opens a folder that nobody else can put links in the way of; those in its path are ours.
    pub(crate) fn open_through_links(path: &Path, intent: Intent) -> io::Result<Self> {
        let handle = OFlags::PATH | OFlags::CLOEXEC;
        Self::reopen(&open(path, handle | FOLDER, Mode::empty())?, intent)
    }

    /// Opens the folder `name` in this one.
    pub(crate) fn child(&self, name: &OsStr, intent: Intent) -> io::Result<Self> {
        Self::reopen(&self.handle_on_folder(name)?, intent)
    }

    /// Opens the folder at `path` below this one.
    pub(crate) fn walk(&self, path: &Relative, intent: Intent) -> io::Result<Self> {
        if path.is_root() {
            return Self::reopen(
                &openat(&self.descriptor, c".", HANDLE | FOLDER, Mode::empty())?,
                intent,
            );
        }
        let flags = HANDLE | FOLDER;
        match openat2(&self.descriptor, path.bytes(), flags, Mode::empty(), BELOW) {
            Ok(handle) => Self::reopen(&handle, intent),
            Err(Errno::ACCESS | Errno::NAMETOOLONG) => self.step_by_step(path, intent),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens the folder at `path` below this one to look into it, as it is: a locked one is not
    /// unlocked, and one on which something else is mounted is refused.
    pub(crate) fn walk_as_is(&self, path: &Relative) -> io::Result<Self> {
        let path = if path.is_root() { b"." } else { path.bytes() };
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | FOLDER;
        let descriptor = openat2(&self.descriptor, path, flags, Mode::empty(), SAME_MOUNT)?;
        Ok(Self { descriptor, _unlocked: None })
    }

    /// Opens the regular file `name` for reading, as it is: a locked one is not unlocked.
    pub(crate) fn open_file_as_is(&self, name: &OsStr) -> io::Result<(File, Stat)> {
        let handle = openat2(&self.descriptor, name, HANDLE, Mode::empty(), SAME_MOUNT)?;
        let stat = Stat::of(&handle, c"")?;
        if stat.kind != Kind::File {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let file = unannounced(OFlags::RDONLY | OFlags::CLOEXEC, |flags| {
            open(of_descriptor(&handle), flags, Mode::empty())
        })?;
        Ok((file.into(), stat))
    }

    /// The same, part by part, unlocking what is locked.
    fn step_by_step(&self, path: &Relative, intent: Intent) -> io::Result<Self> {
        let mut at = openat(&self.descriptor, c".", HANDLE | FOLDER, Mode::empty())?;
        let mut passable = None;
        for part in path.parts() {
            // Only now may the folder above be locked again: it was needed for this step.
            let next = openat(&at, part, HANDLE | FOLDER, Mode::empty());
            drop(passable.take());
            at = next?;
            passable = Unlocked::hold(&at, 0o100);
        }
        // The last one gets a guard of its own, for more than passing through.
        drop(passable);
        Self::reopen(&at, intent)
    }

    /// Opens the folder that `handle` is on.
    pub(crate) fn reopen(handle: &OwnedFd, intent: Intent) -> io::Result<Self> {
        let unlocked = Unlocked::hold(handle, intent.bits());
        let descriptor = unannounced(OFlags::RDONLY | FOLDER, |flags| {
            openat(handle, c".", flags, Mode::empty())
        })?;
        Ok(Self { descriptor, _unlocked: unlocked })
    }

    /// The names in it, in no order.
    pub(crate) fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.descriptor)? {
            let entry = entry?;
            match entry.file_name().to_bytes() {
                b"." | b".." => {}
                name => names.push(OsString::from_vec(name.to_vec())),
            }
        }
        Ok(names)
    }

    /// The entry `name`, if it exists.
    pub(crate) fn stat(&self, name: &OsStr) -> io::Result<Option<Stat>> {
        match Stat::of(&self.descriptor, name) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens the regular file `name` for reading. Anything else is refused before it is opened.
    pub(crate) fn open_file(&self, name: &OsStr) -> io::Result<(File, Stat)> {
        let handle = self.handle(name)?;
        let kind = Stat::of(&handle, c"")?.kind;
        if kind != Kind::File {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("it is {} now", kind.noun()),
            ));
        }
        let unlocked = Unlocked::hold(&handle, 0o400);
        // Through the handle, so that it is the same file even if the name is now another's.
        let file = unannounced(OFlags::RDONLY | OFlags::CLOEXEC, |flags| {
            open(of_descriptor(&handle), flags, Mode::empty())
        })?;
        drop(unlocked);
        Ok((file.into(), Stat::of(&handle, c"")?))
    }

    /// Where the link `name` points.
    pub(crate) fn link_target(&self, name: &OsStr) -> io::Result<Vec<u8>> {
        Ok(readlinkat(&self.descriptor, name, Vec::new())?.into_bytes())
    }

    /// A handle on `name` itself, whatever it is.
    pub(crate) fn handle(&self, name: &OsStr) -> io::Result<OwnedFd> {
        Ok(openat(&self.descriptor, name, HANDLE, Mode::empty())?)
    }

    /// The same for a folder; anything else is refused.
    pub(crate) fn handle_on_folder(&self, name: &OsStr) -> io::Result<OwnedFd> {
        Ok(openat(&self.descriptor, name, HANDLE | FOLDER, Mode::empty())?)
    }

    /// Creates the file `name`, for our eyes only until it is dressed.
    pub(crate) fn create_file(&self, name: &OsStr) -> io::Result<File> {
        crash::point();
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(&self.descriptor, name, flags, Mode::RUSR | Mode::WUSR)?.into())
    }

    /// Creates the link `name`.
    pub(crate) fn create_link(&self, name: &OsStr, target: &[u8]) -> io::Result<()> {
        crash::point();
        Ok(symlinkat(target, &self.descriptor, name)?)
    }

    /// Creates the folder `name`, for our eyes only until it is dressed.
    pub(crate) fn create_folder(&self, name: &OsStr) -> io::Result<()> {
        crash::point();
        Ok(mkdirat(&self.descriptor, name, Mode::RWXU)?)
    }

    /// Removes `name`, which is not a folder.
    pub(crate) fn unlink(&self, name: &OsStr) -> io::Result<()> {
        crash::point();
        Ok(unlinkat(&self.descriptor, name, AtFlags::empty())?)
    }

    /// Removes the folder `name` if it is empty.
    pub(crate) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        crash::point();
        Ok(unlinkat(&self.descriptor, name, AtFlags::REMOVEDIR)?)
    }

    /// Moves `name` to `to_name` in `to`, over whatever is there.
    pub(crate) fn rename(&self, name: &OsStr, to: &Self, to_name: &OsStr) -> io::Result<()> {
        crash::point();
        Ok(renameat(&self.descriptor, name, &to.descriptor, to_name)?)
    }

    /// Moves `name` to `to_name` in `to`, where nothing may be.
    pub(crate) fn rename_new(&self, name: &OsStr, to: &Self, to_name: &OsStr) -> io::Result<()> {
        crash::point();
        let flags = RenameFlags::NOREPLACE;
        match renameat_with(&self.descriptor, name, &to.descriptor, to_name, flags) {
            // Not every file system knows the flag; looking first leaves a small gap there.
            Err(Errno::INVAL) => match to.stat(to_name)? {
                Some(_) => Err(Errno::EXIST.into()),
                None => self.rename(name, to, to_name),
            },
            other => Ok(other?),
        }
    }

    /// The folder's own attribute `key`, if it is set and short.
    pub(crate) fn attribute(&self, key: &str) -> Option<Vec<u8>> {
        let mut value = [0; 64];
        let length = fgetxattr(&self.descriptor, key, &mut value).ok()?;
        Some(value[..length].to_vec())
    }

    /// Sets the folder's own attribute `key`.
    pub(crate) fn set_attribute(&self, key: &str, value: &[u8]) -> io::Result<()> {
        Ok(fsetxattr(&self.descriptor, key, value, XattrFlags::empty())?)
    }

    /// Removes the folder's own attribute `key`.
    pub(crate) fn remove_attribute(&self, key: &str) -> io::Result<()> {
        match fremovexattr(&self.descriptor, key) {
            Ok(()) | Err(Errno::NODATA) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether the entry `name` has the attribute `key`.
    pub(crate) fn has_attribute(&self, name: &OsStr, key: &str) -> bool {
        self.attribute_of(name, key).is_some()
    }

    /// The attribute `key` of the entry `name`; empty if it is long.
    pub(crate) fn attribute_of(&self, name: &OsStr, key: &str) -> Option<Vec<u8>> {
        let mut path = PathBuf::from(of_descriptor(&self.descriptor));
        path.push(name);
        let mut value = [0; 256];
        match lgetxattr(&path, key, &mut value) {
            Ok(length) => Some(value[..length].to_vec()),
            Err(Errno::RANGE) => Some(Vec::new()),
            Err(_) => None,
        }
    }
}

/// Opens something so that reading it leaves its access time alone, where the kernel lets us: it lets
/// whoever owns it. A program inside must not learn from that time when it is looked at.
fn unannounced(
    flags: OFlags,
    open: impl Fn(OFlags) -> rustix::io::Result<OwnedFd>,
) -> rustix::io::Result<OwnedFd> {
    match open(flags | OFlags::NOATIME) {
        Err(Errno::PERM) => open(flags),
        other => other,
    }
}

impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// A tree, with the folder that was last used in it kept open: neighbours cost one walk.
#[derive(Debug)]
pub(crate) struct Walker<'a> {
    root: &'a Folder,
    intent: Intent,
    last: Option<(Relative, Folder)>,
}

impl<'a> Walker<'a> {
    /// A walker below `root`.
    pub(crate) fn new(root: &'a Folder, intent: Intent) -> Self {
        Self { root, intent, last: None }
    }

    /// The folder at `path`.
    pub(crate) fn at(&mut self, path: Relative) -> io::Result<&Folder> {
        if self.last.as_ref().is_none_or(|(last, _)| *last != path) {
            // Dropped first: a guard on the old folder must not outlive what is done next to it.
            self.last = None;
            let folder = self.root.walk(&path, self.intent)?;
            self.last = Some((path, folder));
        }
        let (_, folder) = self.last.as_ref().expect("it was just put there");
        Ok(folder)
    }

    /// Forgets the open folder, because it may now be another one by the same name.
    pub(crate) fn forget(&mut self) {
        self.last = None;
    }
}
