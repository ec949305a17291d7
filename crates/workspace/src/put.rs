//! A file of the person's own, staged as if code had written it.
//!
//! # Threat
//! Code inside that plants a link or a folder where the file is to go, so that it lands elsewhere or
//! replaces something unseen; and a sender that goes away in the middle, or sends without end.
//!
//! # Mechanism
//! A file is received without a name, so a cut one leaves nothing, even if we are killed. It is
//! staged in one step once it is whole. The path is looked at as code sees it: folders, or nothing,
//! above it; a file, or nothing, at it. Anything else is refused. While an overlay is mounted, its
//! layers must not be changed from outside: the host copies the file in from [`Set::back`].
//! Otherwise it is put into the layer, or into the copy that code works in.
//!
//! # Limits
//! While the host copies, the file is on the disk twice.

use crate::{
    copy::{derive::set_mode, kept::own},
    error::{During, WorkspaceError},
    place::Place,
    set::Set,
    tree::{
        content,
        folder::{Folder, Intent},
        layer,
        relative::Relative,
        stat::{Kind, PERMISSIONS, Stat},
        unlock::of_descriptor,
    },
};
use interpreter_core::{PutContent, hash::hex};
use rustix::{
    fs::{AtFlags, CWD, Mode, OFlags, linkat, open},
    io::Errno,
};
use sha2::{Digest, Sha256};
use std::{
    ffi::OsStr,
    fs::File,
    io::{self, Write},
    path::Path,
};

/// Free space that the disk must keep.
const FREE: u64 = 1 << 30;

/// Bytes after which the free space is looked at again.
const STRETCH: u64 = 64 << 20;

/// The modes of new files and folders.
const FILE_MODE: u32 = 0o644;
const FOLDER_MODE: u32 = 0o755;

/// A file that is being received.
#[derive(Debug)]
pub struct IncomingFile {
    file: File,
    hasher: Sha256,
    bytes: u64,
    most: u64,
    floor: u64,
    looked: u64,
}

/// A file that was received in full. It has no name yet, and goes if it gets none.
#[derive(Debug)]
pub struct ReceivedFile {
    file: File,
    /// Its size and hash.
    pub content: PutContent,
}

impl IncomingFile {
    /// Begins to receive a file of `bytes` bytes, of which there may be at most `most`.
    pub fn begin(place: &Place, bytes: u64, most: u64) -> Result<Self, WorkspaceError> {
        if bytes > most {
            return Err(WorkspaceError::TooLarge { bytes, most });
        }
        let folder = place.folder();
        let free = free_of(folder);
        let floor = FREE.min(free / 2);
        // Twice: once as it comes, once as it is staged.
        if bytes.saturating_mul(2) > free.saturating_sub(floor) {
            let path = folder.to_string_lossy().into_owned();
            return Err(WorkspaceError::NoRoom { path, bytes, free });
        }
        let file = unnamed(folder).during_at("create a file in", folder)?;
        Ok(Self { file, hasher: Sha256::new(), bytes: 0, most: bytes, floor, looked: 0 })
    }

    /// Takes in the next piece.
    pub fn write(&mut self, place: &Place, piece: &[u8]) -> Result<(), WorkspaceError> {
        let bytes = self.bytes.saturating_add(piece.len() as u64);
        if bytes > self.most {
            return Err(WorkspaceError::TooLarge { bytes, most: self.most });
        }
        let folder = place.folder();
        if bytes - self.looked > STRETCH {
            let free = free_of(folder);
            if free < self.floor {
                let path = folder.to_string_lossy().into_owned();
                return Err(WorkspaceError::NoRoom { path, bytes: self.most, free });
            }
            self.looked = bytes;
        }
        self.file.write_all(piece).during_at("write a file in", folder)?;
        self.hasher.update(piece);
        self.bytes = bytes;
        Ok(())
    }

    /// It is whole.
    pub fn finish(self) -> ReceivedFile {
        let sha256 = hex(&self.hasher.finalize());
        ReceivedFile { file: self.file, content: PutContent { bytes: self.bytes, sha256 } }
    }
}

/// The free space of the disk of a folder; 0 where that is unknown.
fn free_of(folder: &Path) -> u64 {
    rustix::fs::statvfs(folder).map_or(0, |said| said.f_bavail.saturating_mul(said.f_frsize))
}

/// A file without a name in `folder`.
pub(crate) fn unnamed(folder: &Path) -> io::Result<File> {
    let mode = Mode::RUSR | Mode::WUSR;
    match open(folder, OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, mode) {
        Ok(file) => Ok(file.into()),
        // A file system that has no such files: it loses its name at once.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => {
            let folder = Folder::open(folder, Intent::Change)?;
            let name = crate::journal::scratch::name();
            let file = folder.create_file(OsStr::new(&name))?;
            folder.unlink(OsStr::new(&name))?;
            Ok(file)
        }
        Err(error) => Err(error.into()),
    }
}

impl ReceivedFile {
    /// Gives it the name `name` in `folder`, where nothing may be.
    fn link(&self, folder: &Folder, name: &OsStr) -> io::Result<()> {
        let from = of_descriptor(&self.file);
        if linkat(CWD, &from, folder, name, AtFlags::SYMLINK_FOLLOW).is_ok() {
            return Ok(());
        }
        let copy = folder.create_file(name)?;
        content::duplicate(&self.file, &copy, self.content.bytes)
    }
}

/// The kind of thing that code sees at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    Nothing,
    /// A staged file with this mode.
    Staged(u32),
    /// A file of the person's with this mode, which shows through.
    Persons(u32),
}

fn cannot_put(path: &Relative, why: &'static str) -> WorkspaceError {
    WorkspaceError::CannotPut { path: path.text(), why }
}

const IN_THE_WAY: &str = "a part of its path is not a folder";
const NOT_A_FILE: &str = "something that is not a file is there";

impl Set {
    /// The path of a file that is put there.
    fn put_path(path: &str) -> Result<Relative, WorkspaceError> {
        let fit = interpreter_core::put::unfit_name(path).is_none();
        let parsed = Relative::parse(path).filter(|parsed| fit && !parsed.is_root());
        let path = path.to_owned();
        parsed.ok_or(WorkspaceError::CannotPut { path, why: "it is no name of a file" })
    }

    /// Looks at a path as code sees it. Refuses one at which no file can be put.
    fn at_path(&self, path: &Relative) -> Result<Seen, WorkspaceError> {
        if let Some(copy) = self.copy() {
            let copy = Folder::open(copy, Intent::Look).during_at("open", copy)?;
            return seen(None, Some(copy), path);
        }
        seen(Some(self.open_upper(Intent::Look)?), self.open_work_folder(Intent::Look)?, path)
    }

    /// Lays out a file in [`Set::back`], for the host to copy it to `path`.
    pub fn lay_out_put(&self, path: &str, put: &ReceivedFile) -> Result<(), WorkspaceError> {
        let path = Self::put_path(path)?;
        let at = self.at_path(&path)?;
        self.clear_back()?;
        let place = self.back();
        let mut folder = Folder::open(&place, Intent::Change).during_at("open", &place)?;
        let mut lay_out = || -> io::Result<()> {
            let parent = path.parent();
            for part in parent.parts() {
                folder.create_folder(part)?;
                set_mode(&folder, part, FOLDER_MODE)?;
                folder = folder.child(part, Intent::Change)?;
            }
            put.link(&folder, path.name())?;
            set_mode(&folder, path.name(), at.mode())
        };
        lay_out().during("stage", || path.text())
    }

    /// Stages a file from outside. No overlay may be mounted; a copy may be worked in.
    pub fn put(&mut self, path: &str, put: &ReceivedFile) -> Result<(), WorkspaceError> {
        let path = Self::put_path(path)?;
        let at = self.at_path(&path)?;
        let root = self.copy().unwrap_or(self.upper()).to_owned();
        let root = Folder::open(&root, Intent::Change).during_at("open", &root)?;
        let owner = Stat::of(&root, c"").map_err(io::Error::from).during("read", || path.text())?;
        let lower = if self.copied.is_some() { None } else { self.open_work_folder(Intent::Look)? };
        let owner = self.copied.is_some().then_some(owner.owner);
        let put = || -> io::Result<()> {
            let give = |folder: &Folder, name: &OsStr| match owner {
                Some(owner) => own(folder, name, owner.user, owner.group),
                None => Ok(()),
            };
            let parent = make_parents(root, lower, &path, give)?;
            let scratch = crate::journal::scratch::name();
            let scratch = OsStr::new(&scratch);
            let placed = put.link(&parent, scratch).and_then(|()| {
                set_mode(&parent, scratch, at.mode())?;
                give(&parent, scratch)?;
                parent.rename(scratch, &parent, path.name())
            });
            placed.inspect_err(|_| _ = parent.unlink(scratch).is_ok())
        };
        put().during("stage", || path.text())?;
        self.derive()
    }

    /// Whether what is staged at `path` is this file, as it looks from outside.
    pub fn has_put(&self, path: &str, put: &ReceivedFile) -> Result<bool, WorkspaceError> {
        let path = Self::put_path(path)?;
        let upper = self.open_upper(Intent::Look)?;
        let same = || -> io::Result<bool> {
            let parent = upper.walk(&path.parent(), Intent::Look)?;
            let (file, stat) = parent.open_file(path.name())?;
            Ok(stat.size == put.content.bytes && content::same(&put.file, &file, stat.size)?)
        };
        // One that is gone, or is no file, is not it.
        Ok(same().unwrap_or(false))
    }
}

impl Seen {
    /// The mode of a file that takes the place.
    fn mode(self) -> u32 {
        match self {
            Self::Nothing => FILE_MODE,
            Self::Staged(mode) | Self::Persons(mode) => mode,
        }
    }
}

/// Looks at a path in a layer over a folder, without following a link. Refuses one that leads through
/// something else than folders, or to something else than a file.
pub(crate) fn seen(
    mut upper: Option<Folder>,
    mut lower: Option<Folder>,
    path: &Relative,
) -> Result<Seen, WorkspaceError> {
    let parent = path.parent();
    let look = |folder: Option<&Folder>, name: &OsStr| {
        stat_in(folder, name).during("read", || path.text())
    };
    for part in parent.parts() {
        let (above, below) = (look(upper.as_ref(), part)?, look(lower.as_ref(), part)?);
        let next = |folder: Option<&Folder>| {
            let next = folder.map(|folder| folder.child(part, Intent::Look)).transpose();
            next.during("open", || path.text())
        };
        let is_folder = below.is_some_and(|(kind, _)| kind == Kind::Folder);
        match above.map(|(kind, _)| kind) {
            Some(Kind::Folder) => {
                upper = next(upper.as_ref())?;
                let shows = is_folder && !upper.as_ref().is_some_and(layer::is_opaque);
                lower = if shows { next(lower.as_ref())? } else { None };
            }
            Some(Kind::Whiteout) => return Ok(Seen::Nothing),
            None if below.is_none() => return Ok(Seen::Nothing),
            None if is_folder => (upper, lower) = (None, next(lower.as_ref())?),
            Some(_) | None => return Err(cannot_put(path, IN_THE_WAY)),
        }
    }
    let (above, below) = (look(upper.as_ref(), path.name())?, look(lower.as_ref(), path.name())?);
    match (above, below) {
        (None, None) | (Some((Kind::Whiteout, _)), _) => Ok(Seen::Nothing),
        (Some((Kind::File, mode)), _) => Ok(Seen::Staged(mode & PERMISSIONS)),
        (None, Some((Kind::File, mode))) => Ok(Seen::Persons(mode & PERMISSIONS)),
        (Some(_), _) | (None, Some(_)) => Err(cannot_put(path, NOT_A_FILE)),
    }
}

/// The meaning and mode of `name` in a folder, if both are there.
fn stat_in(folder: Option<&Folder>, name: &OsStr) -> io::Result<Option<(Kind, u32)>> {
    let Some(folder) = folder else { return Ok(None) };
    let stat = folder.stat(name)?;
    Ok(stat.map(|stat| (layer::meaning(folder, name, &stat), stat.mode)))
}

/// The folder that `path` is in, below `root`, made if need be. In a layer it shows what `lower`
/// has, unless code had deleted that.
fn make_parents(
    root: Folder,
    mut lower: Option<Folder>,
    path: &Relative,
    give: impl Fn(&Folder, &OsStr) -> io::Result<()>,
) -> io::Result<Folder> {
    let mut at = root;
    let parent = path.parent();
    for part in parent.parts() {
        let below = stat_in(lower.as_ref(), part)?.filter(|(kind, _)| *kind == Kind::Folder);
        let is = stat_in(Some(&at), part)?.map(|(kind, _)| kind);
        if is != Some(Kind::Folder) {
            if is == Some(Kind::Whiteout) {
                at.unlink(part)?;
            }
            at.create_folder(part)?;
            if is == Some(Kind::Whiteout) {
                layer::set_opaque(&at.child(part, Intent::Change)?)?;
            }
            let mode = below.map_or(FOLDER_MODE, |(_, mode)| mode & PERMISSIONS);
            set_mode(&at, part, mode | 0o700)?;
            give(&at, part)?;
        }
        let next = at.child(part, Intent::Change)?;
        let shows = below.is_some() && !layer::is_opaque(&next);
        lower = match lower {
            Some(folder) if shows => Some(folder.child(part, Intent::Look)?),
            Some(_) | None => None,
        };
        at = next;
    }
    Ok(at)
}

#[cfg(test)]
#[path = "put_tests.rs"]
mod tests;
