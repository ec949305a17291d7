//! The original state of a copy of the work folder. It shows which files code has touched since,
//! whatever the person has done to their own folder meanwhile.
//!
//! A file counts as untouched while its number, size, mode and both its times are those that it had.
//! A program can set the time of modification and cannot set the other one; one that managed to hide
//! a change from this would only keep it from being applied.

use crate::{
    error::{During, WorkspaceError},
    tree::{
        relative::Relative,
        stat::{Kind, Moment, Stat},
        usage::DiskUsage,
    },
};
use fs_err as fs;
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufReader, BufWriter, Write},
    path::Path,
};

/// One entry of the copy, as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Row", from = "Row")]
pub(crate) struct Record {
    /// Whether it was a folder, of which the mode alone counts.
    pub(crate) is_folder: bool,
    pub(crate) mode: u32,
    inode: u64,
    size: u64,
    changed: Moment,
    modified: Moment,
    /// The number of the person's own file that it is a copy of.
    pub(crate) origin: u64,
}

/// A record without the names of its fields: there is one for every file.
type Row = (bool, u32, u64, u64, (i64, u32), (i64, u32), u64);

impl From<Record> for Row {
    fn from(record: Record) -> Self {
        let Record { is_folder, mode, inode, size, changed, modified, origin } = record;
        let pair = |moment: Moment| (moment.seconds, moment.nanoseconds);
        (is_folder, mode, inode, size, pair(changed), pair(modified), origin)
    }
}

impl From<Row> for Record {
    fn from((is_folder, mode, inode, size, changed, modified, origin): Row) -> Self {
        let moment = |(seconds, nanoseconds)| Moment { seconds, nanoseconds };
        let (changed, modified) = (moment(changed), moment(modified));
        Self { is_folder, mode, inode, size, changed, modified, origin }
    }
}

impl Record {
    /// That of `copied`, which is a copy of `original`.
    pub(crate) fn of(copied: &Stat, original: &Stat) -> Self {
        Self {
            is_folder: copied.kind == Kind::Folder,
            mode: copied.mode,
            inode: copied.inode,
            size: copied.size,
            changed: copied.changed,
            modified: copied.modified,
            origin: original.inode,
        }
    }

    /// Whether `now` is this, untouched.
    pub(crate) fn is(&self, now: &Stat) -> bool {
        let same = self.is_folder == (now.kind == Kind::Folder) && self.mode == now.mode;
        let untouched = || {
            (self.inode, self.size, self.changed, self.modified)
                == (now.inode, now.size, now.changed, now.modified)
        };
        same && (self.is_folder || untouched())
    }
}

/// Everything in a copy, as it was.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Taken {
    /// The disk space of the copy.
    pub(crate) usage: DiskUsage,
    /// Hidden paths, which are not in it.
    pub(crate) covered: BTreeSet<Relative>,
    /// Each folder with what was in it, by name.
    folders: BTreeMap<Relative, BTreeMap<Relative, Record>>,
}

impl Taken {
    /// Nothing yet, and never what is covered.
    pub(crate) fn without(covered: BTreeSet<Relative>) -> Self {
        Self { covered, ..Self::default() }
    }

    /// The contents of a folder, if it existed.
    pub(crate) fn folder(&self, path: &Relative) -> Option<&BTreeMap<Relative, Record>> {
        self.folders.get(path)
    }

    /// The original entry at a path.
    pub(crate) fn at(&self, path: &Relative) -> Option<&Record> {
        self.folders.get(&path.parent())?.get(&Relative::of(path.name()))
    }

    /// Notes that a folder was copied, with what it may come to hold.
    pub(crate) fn add_folder(&mut self, path: Relative) {
        self.folders.entry(path).or_default();
    }

    /// Notes what was copied.
    pub(crate) fn add(&mut self, path: &Relative, record: Record) {
        let folder = self.folders.entry(path.parent()).or_default();
        folder.insert(Relative::of(path.name()), record);
    }

    /// Takes out what was at and below a path.
    pub(crate) fn split(&mut self, path: &Relative) -> Self {
        let mut out = Self::default();
        let parent = self.folders.get_mut(&path.parent());
        if let Some(record) = parent.and_then(|it| it.remove(&Relative::of(path.name()))) {
            out.add(path, record);
        }
        // All of a folder's content comes right after it.
        let mut inside = self.folders.split_off(path);
        let end = inside.keys().find(|folder| !folder.is_within(path)).cloned();
        if let Some(end) = end {
            self.folders.extend(inside.split_off(&end));
        }
        out.folders.extend(inside);
        out
    }

    /// Writes it to `path`, where it then is in full or not at all.
    pub(crate) fn save(&self, path: &Path) -> Result<(), WorkspaceError> {
        let beside = path.with_extension("new");
        let write = || {
            let mut file = BufWriter::new(fs::File::create(&beside)?);
            serde_json::to_writer(&mut file, self)?;
            file.flush()?;
            fs::rename(&beside, path)
        };
        write().during_at("write", path)
    }

    /// Reads it from `path`, or returns `None` if the copy was not finished.
    pub(crate) fn load(path: &Path) -> Result<Option<Self>, WorkspaceError> {
        let file = match fs::File::open(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            other => other.during_at("open", path)?,
        };
        let read = serde_json::from_reader::<_, Self>(BufReader::new(file));
        let damaged =
            |source| WorkspaceError::Damaged { path: path.to_string_lossy().into_owned(), source };
        read.map(Some).map_err(damaged)
    }
}
