//! What a copy of the work folder was when it was taken: so that what code has touched since can be
//! told from what it has not, whatever the person has done to their own folder meanwhile.
//!
//! A file counts as untouched while its number, size, mode and both its times are those that it had.
//! A program can set the time of modification and cannot set the other one; one that managed to hide
//! a change from this would only keep it from being applied.

use super::{
    error::{During, WorkspaceError},
    relative::Relative,
    stat::{Kind, Moment, Stat},
    usage::Usage,
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
pub(super) struct Record {
    /// Whether it was a folder, of which the mode alone counts.
    pub(super) is_folder: bool,
    /// Its mode.
    pub(super) mode: u32,
    inode: u64,
    size: u64,
    changed: Moment,
    modified: Moment,
    /// The number of the person's own file that it is a copy of.
    pub(super) origin: u64,
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
    pub(super) fn of(copied: &Stat, original: &Stat) -> Self {
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
    pub(super) fn is(&self, now: &Stat) -> bool {
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
pub(super) struct Taken {
    /// What the copy took on the disk.
    pub(super) usage: Usage,
    /// What is not in it because it is covered.
    pub(super) covered: BTreeSet<Relative>,
    /// Each folder with what was in it, by name.
    folders: BTreeMap<Relative, BTreeMap<Relative, Record>>,
}

impl Taken {
    /// Nothing yet, and never what is covered.
    pub(super) fn without(covered: BTreeSet<Relative>) -> Self {
        Self { covered, ..Self::default() }
    }

    /// What was in a folder; none if there was no such folder.
    pub(super) fn folder(&self, path: &Relative) -> Option<&BTreeMap<Relative, Record>> {
        self.folders.get(path)
    }

    /// What was at a path.
    pub(super) fn at(&self, path: &Relative) -> Option<&Record> {
        self.folders.get(&path.parent())?.get(&Relative::of(path.name()))
    }

    /// Notes that a folder was copied, with what it may come to hold.
    pub(super) fn add_folder(&mut self, path: Relative) {
        self.folders.entry(path).or_default();
    }

    /// Notes what was copied.
    pub(super) fn add(&mut self, path: &Relative, record: Record) {
        let folder = self.folders.entry(path.parent()).or_default();
        folder.insert(Relative::of(path.name()), record);
    }

    /// Takes out what was at and below a path.
    pub(super) fn split(&mut self, path: &Relative) -> Self {
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
    pub(super) fn save(&self, path: &Path) -> Result<(), WorkspaceError> {
        let beside = path.with_extension("new");
        let write = || {
            let mut file = BufWriter::new(fs::File::create(&beside)?);
            serde_json::to_writer(&mut file, self)?;
            file.flush()?;
            fs::rename(&beside, path)
        };
        write().during_at("write", path)
    }

    /// Reads it from `path`; none if the copy was not finished.
    pub(super) fn load(path: &Path) -> Result<Option<Self>, WorkspaceError> {
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
