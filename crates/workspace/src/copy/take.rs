//! Takes a copy of the person's folder, for sandboxes that have no overlay.
//!
//! # Threat
//! A link or a mount that leads out of the folder, a secret that is to be covered, a folder that
//! fills the disk. Later, when parts are copied once more: code that works in the copy meanwhile.
//!
//! # Mechanism
//! Both trees are walked by descriptor, never through a link and never onto another mount. Hidden
//! files are not copied, so they cannot be read. Files share their blocks with the originals if the
//! file system supports it. New files are created, never opened.
//!
//! # Order
//! Content, then mode and time, then the note of how it looks; folders last, because what is put
//! into them changes their times.
//!
//! # Limits
//! The copy is not of one moment: a change that the person makes meanwhile is in it or not, and
//! counts as made since. Owners, set-user-id bits and hard links are not kept. Pipes, sockets,
//! devices, unreadable files and deep nesting are left out, and listed.

use crate::{
    copy::taken::{Record, Taken},
    error::{During, WorkspaceError, is_gone},
    tree::{
        attributes, content,
        folder::{Folder, Intent, Walker},
        node::{Node, Shape},
        relative::Relative,
        scan::{DEEPEST, LONGEST},
        stat::{Kind, Owner, PERMISSIONS, Stat},
        usage::DiskUsage,
    },
};
use interpreter_core::LeftOut;
use rustix::io::Errno;
use std::{fs::File, io, os::unix::fs::MetadataExt, path::Path};

/// Number of left-out entries that are named; the rest is counted.
const NAMED: usize = 20;

/// Entries that are not in a copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotCopied {
    /// Some of it, each with its reason.
    pub named: Vec<LeftOut>,
    /// How much of it there is.
    pub count: usize,
}

/// Copies from the person's folder into a copy.
pub(crate) struct Taker<'a> {
    /// Where the person's folder is, for messages.
    pub(crate) place: &'a Path,
    /// The person's folder.
    pub(crate) from: &'a Folder,
    /// The copy.
    pub(crate) to: &'a Folder,
    /// How much may be copied.
    pub(crate) most: DiskUsage,
    /// The earlier copy, if only its files are to be copied again.
    pub(crate) only: Option<&'a Taken>,
    /// The copied entries.
    pub(crate) taken: &'a mut Taken,
    /// The entries left out.
    pub(crate) left_out: NotCopied,
    /// Whose the copy is, with everything in it.
    owner: Owner,
}

/// Why copying ended early.
enum Stop {
    /// One entry: it stays where it is.
    LeaveOut(&'static str),
    /// One entry: it has gone since it was listed, or is another kind of thing.
    Gone,
    /// All of it.
    Give(WorkspaceError),
}

/// A folder that has got its content, and gets its mode and time last.
struct Filled {
    path: Relative,
    stat: Stat,
}

impl<'a> Taker<'a> {
    /// Begins to copy from one folder to another.
    pub(crate) fn new(
        place: &'a Path,
        from: &'a Folder,
        to: &'a Folder,
        most: DiskUsage,
        only: Option<&'a Taken>,
        taken: &'a mut Taken,
    ) -> Result<Self, WorkspaceError> {
        let owner = Stat::of(to, c"").during("read", String::new)?.owner;
        Ok(Self { place, from, to, most, only, taken, left_out: NotCopied::default(), owner })
    }
}

impl Taker<'_> {
    /// Copies everything.
    pub(crate) fn take_all(&mut self) -> Result<(), WorkspaceError> {
        self.fill(Relative::root(), Vec::new())
    }

    /// Copies what is at and below `path`, where the copy must have nothing.
    pub(crate) fn take(&mut self, path: &Relative) -> Result<(), WorkspaceError> {
        let name = path.name();
        let parents =
            (self.from.walk_as_is(&path.parent()), self.to.walk(&path.parent(), Intent::Change));
        let (from, to) = match parents {
            (Err(error), _) | (_, Err(error)) if is_gone(&error) => return Ok(()),
            (from, to) => {
                (from.during("open", || path.text())?, to.during("open", || path.text())?)
            }
        };
        let Some(stat) = from.stat(name).during("read", || path.text())? else { return Ok(()) };
        if self.one(&from, &to, path, &stat)? {
            self.fill(path.clone(), vec![Filled { path: path.clone(), stat }])?;
        }
        Ok(())
    }

    /// Copies all that is in the folder at `path`, which is in the copy already.
    fn fill(&mut self, path: Relative, mut filled: Vec<Filled>) -> Result<(), WorkspaceError> {
        let mut pending = vec![path];
        while let Some(path) = pending.pop() {
            let from = match self.from.walk_as_is(&path) {
                Ok(from) => from,
                Err(error) => {
                    self.note(&path, stop(error, &path))?;
                    continue;
                }
            };
            self.taken.add_folder(path.clone());
            let to = self.to.walk(&path, Intent::Change).during("open", || path.text())?;
            for name in from.names().during("read", || path.text())? {
                let inner = path.join(&name);
                let Some(stat) = from.stat(&name).during("read", || inner.text())? else {
                    continue;
                };
                if self.one(&from, &to, &inner, &stat)? {
                    filled.push(Filled { path: inner.clone(), stat });
                    pending.push(inner);
                }
            }
        }
        self.dress(&filled)
    }

    /// Copies one entry. Whether it is a folder, whose content is still to come.
    fn one(
        &mut self,
        from: &Folder,
        to: &Folder,
        path: &Relative,
        stat: &Stat,
    ) -> Result<bool, WorkspaceError> {
        let is_new = self.only.is_some_and(|known| known.at(path).is_none());
        if is_new || self.taken.covered.contains(path) {
            return Ok(false);
        }
        if path.parts().count() > DEEPEST || path.length() > LONGEST {
            self.note(path, Stop::LeaveOut("it is nested too deep"))?;
            return Ok(false);
        }
        let name = path.name();
        let done = match stat.kind {
            Kind::Folder => {
                self.count(0)?;
                to.create_folder(name).during("create", || path.text())?;
                return Ok(true);
            }
            Kind::Symlink => self.link(from, to, path),
            Kind::File => self.file(from, to, path),
            Kind::Pipe => Err(Stop::LeaveOut("it is a pipe")),
            Kind::Socket => Err(Stop::LeaveOut("it is a socket")),
            Kind::Device | Kind::Whiteout => Err(Stop::LeaveOut("it is a device")),
        };
        match done {
            Ok(original) => {
                let copied = Stat::of(to, name).during("read", || path.text())?;
                self.taken.add(path, Record::of(&copied, &original));
            }
            Err(stop) => self.note(path, stop)?,
        }
        Ok(false)
    }

    fn link(&mut self, from: &Folder, to: &Folder, path: &Relative) -> Result<Stat, Stop> {
        self.count(0).map_err(Stop::Give)?;
        let name = path.name();
        let read = || -> io::Result<_> { Ok((Stat::of(from, name)?, from.link_target(name)?)) };
        let (stat, target) = read().map_err(|error| stop(error, path))?;
        let node = self.plain(Shape::Symlink { target: String::new() }, &stat);
        let made = to.create_link(name, &target).and_then(|()| node.dress_link(to, name));
        made.during("copy", || path.text()).map_err(Stop::Give)?;
        Ok(stat)
    }

    fn file(&mut self, from: &Folder, to: &Folder, path: &Relative) -> Result<Stat, Stop> {
        let name = path.name();
        let (file, stat) = from.open_file_as_is(name).map_err(|error| stop(error, path))?;
        self.count(on_disk(&file).min(stat.size)).map_err(Stop::Give)?;
        let copied = || {
            let new = to.create_file(name)?;
            content::duplicate(&file, &new, stat.size)?;
            attributes::carry(&file, &new);
            let shape = Shape::File { size: stat.size, hash: String::new() };
            self.plain(shape, &stat).dress(&new)
        };
        copied().during("copy", || path.text()).map_err(Stop::Give)?;
        Ok(stat)
    }

    /// Gives folders their modes and times, the inner ones first.
    fn dress(&mut self, filled: &[Filled]) -> Result<(), WorkspaceError> {
        let mut to = Walker::new(self.to, Intent::Change);
        for Filled { path, stat } in filled.iter().rev() {
            let mut dressed = || -> io::Result<Stat> {
                let parent = to.at(path.parent())?;
                self.plain(Shape::Folder, stat).dress(&parent.handle(path.name())?)?;
                Ok(Stat::of(parent, path.name())?)
            };
            let copied = dressed().during("copy", || path.text())?;
            // One that could not be looked into is empty, and as much the person's as any other.
            self.taken.add(path, Record::of(&copied, stat));
        }
        Ok(())
    }

    /// Bits and time, and nobody's but whose the copy is.
    fn plain(&self, shape: Shape, stat: &Stat) -> Node {
        let (mode, modified) = (stat.mode & PERMISSIONS, stat.modified);
        Node { shape, mode, modified, owner: Some(self.owner) }
    }

    fn count(&mut self, bytes: u64) -> Result<(), WorkspaceError> {
        let usage = &mut self.taken.usage;
        usage.files += 1;
        usage.bytes = usage.bytes.saturating_add(bytes);
        let what = if usage.files > self.most.files {
            format!("{} files", self.most.files)
        } else if usage.bytes > self.most.bytes {
            format!("{} bytes", self.most.bytes)
        } else {
            return Ok(());
        };
        let folder = self.place.to_string_lossy().into_owned();
        Err(WorkspaceError::TooMuchToCopy { folder, what })
    }

    fn note(&mut self, path: &Relative, stop: Stop) -> Result<(), WorkspaceError> {
        match stop {
            Stop::Give(error) => return Err(error),
            Stop::Gone => {}
            Stop::LeaveOut(why) => {
                self.left_out.count += 1;
                if self.left_out.named.len() < NAMED {
                    self.left_out.named.push(path.left_out(why));
                }
            }
        }
        Ok(())
    }
}

/// The meaning of an error on one of the person's entries.
fn stop(error: io::Error, path: &Relative) -> Stop {
    match Errno::from_io_error(&error) {
        Some(Errno::ACCESS | Errno::PERM) => Stop::LeaveOut("you cannot read it"),
        Some(Errno::XDEV) => Stop::Give(WorkspaceError::MountedInside { path: path.text() }),
        _ if is_gone(&error) || error.kind() == io::ErrorKind::InvalidInput => Stop::Gone,
        _ => Stop::Give(WorkspaceError::Files { action: "copy", path: path.text(), source: error }),
    }
}

fn on_disk(file: &File) -> u64 {
    file.metadata().map_or(u64::MAX, |data| data.blocks().saturating_mul(512))
}
