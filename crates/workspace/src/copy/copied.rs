//! A set whose code works in a copy of the work folder, where no overlay is available.
//!
//! ```text
//! ID/copy        where code works, while its session lasts
//! ID/copy.json   what that was when it was taken
//! ID/upper       what differs, brought up to date before each look at it
//! ```
//!
//! When the session is over the copy goes, and the set is one like any other. After a crash whoever
//! opens the set next does that.

use crate::{
    copy::{
        derive::{self, Wanted},
        take::{NotCopied, Taker},
        taken::Taken,
    },
    error::{During, WorkspaceError, is_gone},
    journal::log::private_folder,
    set::Set,
    tree::{
        folder::{Folder, Intent, Walker},
        relative::Relative,
        stat::{Moment, PERMISSIONS, Stat},
        sweep,
        usage::DiskUsage,
    },
};
use fs_err as fs;
use interpreter_core::LeftOut;
use std::{
    collections::HashMap,
    ffi::OsStr,
    io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// The folder of the copy, in that of the set.
pub const COPY: &str = "copy";
const TAKEN: &str = "copy.json";

/// Where code works, and what that was.
#[derive(Debug)]
pub(crate) struct Copied {
    root: PathBuf,
    taken: Mutex<Taken>,
}

impl Copied {
    fn open(&self, intent: Intent) -> Result<Folder, WorkspaceError> {
        Folder::open(&self.root, intent).during_at("open", &self.root)
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a session left a copy in the folder of its set.
pub(crate) fn is_left(set_folder: &Path) -> bool {
    fs::symlink_metadata(set_folder.join(COPY)).is_ok()
}

impl Set {
    /// Copies the work folder, unless there is a copy, and returns the entries left out. Hidden
    /// paths are left out, and so is our own folder of sets. The copy belongs to `owner`, if code
    /// works in it as another user.
    pub fn take_copy(
        &mut self,
        covered: &[PathBuf],
        most: DiskUsage,
        owner: Option<u32>,
    ) -> Result<NotCopied, WorkspaceError> {
        if self.copied.is_some() {
            return Ok(NotCopied::default());
        }
        let root = self.folder.join(COPY);
        private_folder(&root).during_at("create", &root)?;
        std::os::unix::fs::chown(&root, owner, owner).during_at("give away", &root)?;
        let taken = self.copy_all(&root, covered, most);
        if taken.is_err() {
            self.remove_copy()?;
        }
        let (taken, left_out) = taken?;
        taken.save(&self.folder.join(TAKEN))?;
        self.copied = Some(Copied { root, taken: Mutex::new(taken) });
        Ok(left_out)
    }

    fn copy_all(
        &self,
        root: &Path,
        covered: &[PathBuf],
        most: DiskUsage,
    ) -> Result<(Taken, NotCopied), WorkspaceError> {
        let below = |path: &Path| {
            let below = path.strip_prefix(self.work_folder()).ok()?;
            Some(Relative::of(below.as_os_str()))
        };
        let own = self.folder.parent().and_then(below);
        let covered = covered.iter().filter_map(|path| below(path)).chain(own).collect();
        let mut taken = Taken::without(covered);
        let from =
            Folder::open(self.work_folder(), Intent::Look).during_at("open", self.work_folder())?;
        let to = Folder::open(root, Intent::Change).during_at("open", root)?;
        let place = self.work_folder();
        let mut copying = Taker::new(place, &from, &to, most, None, &mut taken)?;
        copying.take_all()?;
        let left_out = copying.left_out;
        let mode = Stat::of(&from, c"").during_at("read", place)?.mode & PERMISSIONS | 0o700;
        let seen = std::fs::Permissions::from_mode(mode);
        fs::set_permissions(root, seen).during_at("set the mode of", root)?;
        Ok((taken, left_out))
    }

    /// Where code works, if it works in a copy.
    pub fn copy(&self) -> Option<&Path> {
        self.copied.as_ref().map(|copied| copied.root.as_path())
    }

    /// Where what code writes takes room, and what it took before code ran.
    pub fn grows(&self) -> (&Path, DiskUsage) {
        match &self.copied {
            Some(copied) => (&copied.root, copied.taken().usage),
            None => (self.upper(), DiskUsage::default()),
        }
    }

    /// Makes the upper layer say what the copy says by now.
    pub(crate) fn derive(&self) -> Result<(), WorkspaceError> {
        let Some(copied) = &self.copied else { return Ok(()) };
        let copy = copied.open(Intent::Look)?;
        let upper = Folder::open(self.upper(), Intent::Change).during_at("open", self.upper())?;
        let taken = copied.taken();
        let wanted = derive::differences(&copy, &taken)?;
        derive::bring_up_to_date(&upper, &copy, &taken, wanted)
    }

    /// Hidden places where code has created something, which is left out: code never saw the
    /// person's own file there.
    pub(crate) fn made_where_covered(&self) -> Result<Vec<LeftOut>, WorkspaceError> {
        let Some(copied) = &self.copied else { return Ok(Vec::new()) };
        let copy = copied.open(Intent::Look)?;
        let mut walker = Walker::new(&copy, Intent::Look);
        let mut made = Vec::new();
        for path in &copied.taken().covered {
            let found = walker.at(path.parent()).and_then(|parent| parent.stat(path.name()));
            if found.ok().flatten().is_some() {
                made.push(path.left_out("it is hidden: code never saw your file"));
            }
        }
        Ok(made)
    }

    /// Puts what the person has back into the copy, at and below `paths` or everywhere. Whether
    /// there is a copy.
    pub(crate) fn restore_copy(&self, paths: Option<&[Relative]>) -> Result<bool, WorkspaceError> {
        self.show_persons(paths)?;
        self.count_copy()?;
        Ok(self.copied.is_some())
    }

    /// Lets the copy count for nothing until [`Set::count_copy`]: whoever opens the set after a crash
    /// finds what the upper layer says. Until then the layer must not be derived.
    pub(crate) fn discount_copy(&self) -> Result<(), WorkspaceError> {
        match fs::remove_file(self.folder.join(TAKEN)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other.during_at("remove", &self.folder),
        }
    }

    /// From now on the copy says what is staged.
    pub(crate) fn count_copy(&self) -> Result<(), WorkspaceError> {
        let Some(copied) = &self.copied else { return Ok(()) };
        copied.taken().save(&self.folder.join(TAKEN))
    }

    /// Puts what the person has back into the copy, without noting what that is.
    pub(crate) fn show_persons(&self, paths: Option<&[Relative]>) -> Result<(), WorkspaceError> {
        let Some(copied) = &self.copied else { return Ok(()) };
        let copy = copied.open(Intent::Change)?;
        let mut taken = copied.taken();
        let differences = derive::differences(&copy, &taken)?;
        let is_meant = |path: &Relative| {
            paths.is_none_or(|paths| paths.iter().any(|chosen| path.is_within(chosen)))
        };
        let mut done: Option<Relative> = None;
        for (path, wanted) in differences {
            if !is_meant(&path) || done.as_ref().is_some_and(|done| path.is_within(done)) {
                continue;
            }
            if let (Wanted::Folder { was: true, .. }, Some(record)) = (wanted, taken.at(&path)) {
                let mode = record.mode;
                let parent = copy.walk(&path.parent(), Intent::Change);
                let set = parent.and_then(|parent| derive::set_mode(&parent, path.name(), mode));
                gone_is_fine(set).during("discard", || path.text())?;
                continue;
            }
            self.restore_one(&copy, &mut taken, &path)?;
            done = Some(path);
        }
        Ok(())
    }

    fn restore_one(
        &self,
        copy: &Folder,
        taken: &mut Taken,
        path: &Relative,
    ) -> Result<(), WorkspaceError> {
        let known = taken.split(path);
        let removed = copy.walk(&path.parent(), Intent::Change).and_then(|parent| {
            if parent.stat(path.name())?.is_some() {
                sweep::remove(&parent, path.name())?;
            }
            Ok(())
        });
        gone_is_fine(removed).during("discard", || path.text())?;
        let from = self.open_work_folder(Intent::Look)?;
        let Some(from) = from.filter(|_| known.at(path).is_some()) else { return Ok(()) };
        // Only files of the first copy may be copied again: a new one may be a secret.
        let most = DiskUsage { bytes: u64::MAX, files: u64::MAX };
        let usage = taken.usage;
        let place = self.work_folder();
        let mut copying = Taker::new(place, &from, copy, most, Some(&known), taken)?;
        let copied = copying.take(path);
        taken.usage = usage;
        copied
    }

    /// Ends work in the copy: the differences move to the upper layer, and the copy is removed.
    /// Nothing may run in it any more.
    pub(crate) fn finish_copy(&mut self) -> Result<(), WorkspaceError> {
        if self.copied.is_none() {
            return Ok(());
        }
        self.derive()?;
        self.let_copy_go()
    }

    /// Removes the copy. The layer has what differs.
    fn let_copy_go(&mut self) -> Result<(), WorkspaceError> {
        let before = self.staged_moments()?;
        self.copied = None;
        self.remove_copy()?;
        // With the copy, files of the layer have lost a name, which changes their times.
        let after = self.staged_moments()?;
        for journal in &mut self.journals {
            let mut touched = false;
            for entry in &mut journal.entries {
                if before.get(&entry.path) == Some(&entry.staged)
                    && let Some(&now) = after.get(&entry.path)
                {
                    touched |= entry.staged != now;
                    entry.staged = now;
                }
            }
            if touched {
                journal.save()?;
            }
        }
        Ok(())
    }

    /// When what was applied was staged, as far as it is still in the upper layer.
    fn staged_moments(&self) -> Result<HashMap<Relative, Moment>, WorkspaceError> {
        let upper = Folder::open(self.upper(), Intent::Look).during_at("open", self.upper())?;
        let mut walker = Walker::new(&upper, Intent::Look);
        let mut moments = HashMap::new();
        for path in self.journals.iter().flat_map(|journal| &journal.entries).map(|one| &one.path) {
            let found = walker.at(path.parent()).and_then(|parent| parent.stat(path.name()));
            if let Some(stat) = found.ok().flatten() {
                moments.insert(path.clone(), stat.changed);
            }
        }
        Ok(moments)
    }

    /// Takes up a copy that a crash left, and ends work in it.
    pub(crate) fn take_up_copy(&mut self) -> Result<(), WorkspaceError> {
        if !is_left(&self.folder) {
            return Ok(());
        }
        match Taken::load(&self.folder.join(TAKEN))? {
            Some(taken) => {
                let root = self.folder.join(COPY);
                self.copied = Some(Copied { root, taken: Mutex::new(taken) });
                self.finish_copy()
            }
            // Nothing has run in it, or all that differs is in the layer.
            None => self.let_copy_go(),
        }
    }

    /// Removes a copy that a crash left, with what code made in it.
    pub(crate) fn forget_copy(&self) -> Result<(), WorkspaceError> {
        if is_left(&self.folder) { self.remove_copy() } else { Ok(()) }
    }

    fn remove_copy(&self) -> Result<(), WorkspaceError> {
        // Half removed, it would tell of deletions that never were.
        self.discount_copy()?;
        let folder = Folder::open(&self.folder, Intent::Change).during_at("open", &self.folder)?;
        sweep::remove(&folder, OsStr::new(COPY)).during_at("remove", &self.folder.join(COPY))
    }
}

fn gone_is_fine(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if is_gone(&error) => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests;
