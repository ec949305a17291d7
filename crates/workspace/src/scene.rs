//! A work folder, a set and a program that changes things, for tests.
//!
//! The program's changes are made the way an overlay makes them: copied up, whited out, opaque.

use crate::{
    Applied, Conflict, Place, Set, WorkspaceError,
    journal::crash,
    tree::{
        folder::{Folder, Intent},
        layer,
        stat::Stat,
        sweep,
    },
};
use fs_err as fs;
use interpreter_core::{
    Redactor,
    outline::{ApplyOrder, SeenOutline},
};
use std::{
    collections::BTreeMap,
    ffi::OsStr,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    path::{Path, PathBuf},
};
use tempfile::TempDir;

impl Set {
    /// Puts the changes at and below `paths`, or all of them, into the person's folder, as somebody
    /// does who has seen them all.
    pub(super) fn apply(
        &mut self,
        paths: &[String],
        conflict: Conflict,
    ) -> Result<Applied, WorkspaceError> {
        self.put_right()?;
        let review = self.review_of(paths, (), &Redactor::default())?;
        let seen = SeenOutline::of(review.files.iter());
        self.apply_review(&review, &ApplyOrder { picks: Vec::new(), seen }, conflict)
    }
}

/// A folder that is removed with all that tests lock in it.
struct Room(TempDir);

impl Drop for Room {
    fn drop(&mut self) {
        if let Ok(folder) = Folder::open(self.0.path(), Intent::Change) {
            sweep::empty(&folder).ok();
        }
    }
}

/// A work folder and a set that changes it.
pub(super) struct Scene {
    room: Room,
    pub(super) work: PathBuf,
    /// The folder of sets.
    pub(super) changes: Place,
    pub(super) set: Set,
}

impl Scene {
    /// The person has `files`: a name that ends in `/` is a folder, ` -> ` makes a link.
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        Self::new_with(|work| files.iter().for_each(|(name, text)| put(work, name, text)))
    }

    /// The person has what `fill` puts into the work folder.
    pub(super) fn new_with(fill: impl FnOnce(&Path)) -> Self {
        let room = Room(tempfile::tempdir().unwrap());
        let (work, changes) = (room.0.path().join("work"), room.0.path().join("changes"));
        fs::create_dir(&work).unwrap();
        fill(&work);
        let changes = Place::new(changes, interpreter_core::hash::SealKey::new(&[1; 32]));
        let set = Set::create(&changes, &work, "session").unwrap();
        Self { room, work, changes, set }
    }

    /// The program writes a file, a link or a folder.
    pub(super) fn writes(&self, name: &str, text: &str) -> &Self {
        self.copies_up_parents(name);
        put(self.set.upper(), name, text);
        self
    }

    /// The program deletes what the person has at `name`.
    pub(super) fn deletes(&self, name: &str) -> &Self {
        self.copies_up_parents(name);
        let path = self.set.upper().join(name);
        let parent = Folder::open(path.parent().unwrap(), Intent::Change).unwrap();
        layer::create_whiteout(&parent, path.file_name().unwrap()).unwrap();
        self
    }

    /// The program replaces the folder `name` by an empty one.
    pub(super) fn replaces_folder(&self, name: &str) -> &Self {
        self.writes(&format!("{name}/"), "");
        let folder = Folder::open(&self.set.upper().join(name), Intent::Change).unwrap();
        layer::set_opaque(&folder).unwrap();
        self
    }

    /// The program sets a mode.
    pub(super) fn sets_mode(&self, name: &str, mode: u32) -> &Self {
        set_mode(&self.set.upper().join(name), mode);
        self
    }

    /// The person writes a file, and the clock has moved on since the set began.
    pub(super) fn person_writes(&self, name: &str, text: &str) {
        let path = self.work.join(name);
        let began = self.set.description.began;
        loop {
            fs::write(&path, text).unwrap();
            let folder = Folder::open(path.parent().unwrap(), Intent::Look).unwrap();
            if Stat::of(&folder, path.file_name().unwrap()).unwrap().changed > began {
                return;
            }
        }
    }

    /// The lines of the listing.
    pub(super) fn lines(&self) -> Vec<String> {
        self.set.changes().unwrap().iter().map(line).collect()
    }

    pub(super) fn apply(&mut self) -> Vec<String> {
        self.set.apply(&[], Conflict::Refuse).unwrap().files.iter().map(line).collect()
    }

    pub(super) fn apply_only(&mut self, paths: &[&str]) -> Result<Vec<String>, WorkspaceError> {
        let applied = self.set.apply(&texts(paths), Conflict::Refuse)?;
        Ok(applied.files.iter().map(line).collect())
    }

    /// Lets go of the set and opens it again, as after a crash.
    pub(super) fn reopen(self) -> Self {
        let Self { room, work, changes, set } = self;
        let id = set.id().to_owned();
        drop(set);
        let set = Set::open(&changes, &id).unwrap();
        Self { room, work, changes, set }
    }

    /// The same, but the program dies again after so many steps of putting right.
    pub(super) fn reopen_and_die(self, steps: usize) -> Self {
        let Self { room, work, changes, set } = self;
        let id = set.id().to_owned();
        drop(set);
        crash::after(steps, || drop(Set::open(&changes, &id)));
        let set = Set::open(&changes, &id).unwrap();
        Self { room, work, changes, set }
    }

    /// Lets go of the set, but keeps the folders.
    pub(super) fn without_set(self) -> (Set, impl Drop) {
        (self.set, self.room)
    }

    /// The contents of the person's folder.
    pub(super) fn holds(&self) -> BTreeMap<String, String> {
        snapshot(&self.work)
    }

    /// The text of a file of the person's.
    pub(super) fn reads(&self, name: &str) -> String {
        fs::read_to_string(self.work.join(name)).unwrap()
    }

    fn copies_up_parents(&self, name: &str) {
        let mut path = PathBuf::new();
        for part in Path::new(name.trim_end_matches('/')).parent().unwrap().components() {
            path.push(part);
            let upper = self.set.upper().join(&path);
            if fs::symlink_metadata(&upper).is_err() {
                fs::create_dir(&upper).unwrap();
                if let Ok(below) = fs::symlink_metadata(self.work.join(&path))
                    && below.is_dir()
                {
                    set_mode(&upper, below.mode() & 0o7777);
                }
            }
        }
    }
}

/// The paths as the interface takes them.
pub(super) fn texts(paths: &[&str]) -> Vec<String> {
    paths.iter().map(|&path| path.to_owned()).collect()
}

/// One line of a listing.
pub(super) fn line(file: &interpreter_core::FileChange) -> String {
    format!("{} {}", file.change.word(), file.subject())
}

/// Writes a file, a folder (`name/`) or a link (text `-> target`) below `root`.
pub(super) fn put(root: &Path, name: &str, text: &str) {
    let path = root.join(name);
    if name.ends_with('/') {
        fs::create_dir_all(&path).unwrap();
        return;
    }
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    match text.strip_prefix("-> ") {
        Some(target) => symlink(target, &path).unwrap(),
        None => fs::write(&path, text).unwrap(),
    }
}

pub(super) fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Everything below `root`: kind, mode and content, by path. Modes of links do not count.
pub(super) fn snapshot(root: &Path) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut pending = vec![root.to_owned()];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let meta = fs::symlink_metadata(&path).unwrap();
            let mode = meta.mode() & 0o7777;
            let name = path.strip_prefix(root).unwrap().as_os_str();
            let what = if meta.is_dir() {
                pending.push(path.clone());
                format!("folder {mode:o}")
            } else if meta.is_symlink() {
                format!("link {:?}", fs::read_link(&path).unwrap())
            } else {
                format!("file {mode:o} {:?}", fs::read(&path).unwrap())
            };
            all.insert(OsStr::to_string_lossy(name).into_owned(), what);
        }
    }
    all
}
