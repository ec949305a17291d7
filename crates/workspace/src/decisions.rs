//! Decisions on a set: list, discard, undo. `review.rs` applies it.

use crate::{
    copy::snapshot::Staged,
    error::{During, WorkspaceError},
    journal::{
        conflict::Conflict,
        discard::discard,
        history::History,
        intention::{self, Intention},
        log::{Journal, State, next_turn},
        scratch,
        undo::{Reason, restore},
    },
    set::Set,
    tree::{
        about::{self, Sides},
        delta::Delta,
        folder::{Folder, Intent, Walker},
        listing::{Applied, list},
        node::Shape,
        relative::{Relative, text_of},
        scan::{scan, scan_with},
        selection::{Chosen, below, choose},
        stat::Stat,
        sweep,
        verdicts::Verdicts,
    },
};
use interpreter_core::{FileChange, autorun, data_file::more_than_data, session::TurnReach};
use std::os::unix::ffi::OsStrExt;

impl Set {
    /// Changes that are listed after a run.
    pub const LISTED: usize = 10_000;

    /// The changes that wait for a decision, most dangerous first, compared by content with the
    /// person's folder: equal files are not changes, and applied ones no longer are. It is called
    /// after each run, so files untouched since the last time are not read again, and only the
    /// first [`Set::LISTED`] are looked for. Nothing is decided on this list.
    pub fn changes(&self) -> Result<Vec<FileChange>, WorkspaceError> {
        // The usual case after a run must be fast. Anything unusual takes the normal way, and for a
        // copy the layer has to be derived first.
        let is_empty = || std::fs::read_dir(self.upper()).is_ok_and(|mut all| all.next().is_none());
        if self.copy().is_none() && is_empty() {
            return Ok(Vec::new());
        }
        let upper = self.open_upper(Intent::Look)?;
        let work = self.open_work_folder(Intent::Look)?;
        let history = History::of(&self.journals);
        let mut verdicts = self.verdicts();
        let staged = Staged::AsItStands;
        let scan = scan_with(&upper, staged, work.as_ref(), &history, &mut verdicts, Self::LISTED)?;
        let mut files = scan.told(&upper, (self.work_folder(), work.as_ref()), &mut verdicts);
        verdicts.turn();
        files.truncate(Self::LISTED);
        Ok(files)
    }

    /// The changes at and below `paths`, or all of them. A path at which nothing waits is an error.
    pub fn changes_at(&self, paths: &[String]) -> Result<Vec<FileChange>, WorkspaceError> {
        let upper = self.open_upper(Intent::Look)?;
        let work = self.open_work_folder(Intent::Look)?;
        let scan = scan(&upper, work.as_ref(), &History::of(&self.journals))?;
        Ok(self.listed(&choose(&scan, &below(paths))?))
    }

    /// A selection as a list.
    fn listed(&self, chosen: &Chosen<'_>) -> Vec<FileChange> {
        let mut files = list(chosen.deltas.iter().map(|delta| delta.difference()), &chosen.renames);
        let sides: Vec<_> = chosen.deltas.iter().map(|delta| Delta::sides(delta)).collect();
        about::rank(self.work_folder(), &sides, &mut files);
        files
    }

    /// Whether anything waits for a decision: as soon as one thing is found that does.
    pub(super) fn has_changes(&self) -> Result<bool, WorkspaceError> {
        let upper = self.open_upper(Intent::Look)?;
        let work = self.open_work_folder(Intent::Look)?;
        let history = History::of(&self.journals);
        let mut most = 1;
        loop {
            let verdicts = &mut Verdicts::default();
            let staged = Staged::AsItStands;
            let scan = scan_with(&upper, staged, work.as_ref(), &history, verdicts, most)?;
            if scan.waiting().next().is_some() {
                return Ok(true);
            }
            // Settled changes do not wait, and nothing else was found so far.
            if scan.deltas.len() < most {
                return Ok(false);
            }
            most = most.saturating_mul(16);
        }
    }

    /// The same, with every file read: for a decision.
    #[cfg(test)]
    pub(super) fn look(&self) -> Result<Vec<FileChange>, WorkspaceError> {
        let upper = self.open_upper(Intent::Look)?;
        let work = self.open_work_folder(Intent::Look)?;
        let scan = scan(&upper, work.as_ref(), &History::of(&self.journals))?;
        let work = (self.work_folder(), work.as_ref());
        Ok(scan.told(&upper, work, &mut Verdicts::default()))
    }

    /// Forgets the changes at and below `paths`, or all of them, and says which. The overlay must
    /// not be mounted.
    pub fn discard(&mut self, paths: &[String]) -> Result<Vec<FileChange>, WorkspaceError> {
        let upper = self.open_upper(Intent::Change)?;
        let work = self.open_work_folder(Intent::Look)?;
        let scan = scan(&upper, work.as_ref(), &History::of(&self.journals))?;
        let chosen = choose(&scan, &below(paths))?;
        let files = self.listed(&chosen);
        let chosen_paths: Vec<_> = chosen.deltas.iter().map(|delta| delta.path.clone()).collect();
        let only = (!paths.is_empty()).then_some(chosen_paths.as_slice());
        if self.restore_copy(only)? {
            self.derive()?;
        } else if paths.is_empty() {
            self.forget_copy()?;
            sweep::empty(&upper).during_at("empty", self.upper())?;
            let work = Folder::open(self.work(), Intent::Change).during_at("open", self.work())?;
            sweep::empty(&work).during_at("empty", self.work())?;
        } else {
            discard(&upper, work.as_ref(), &scan, &chosen.deltas)?;
        }
        Ok(files)
    }

    /// Notes that `paths`, or everything, is about to be discarded from inside, so that it is finished
    /// even if all are killed. Gives the name under which the host may write what it puts back.
    pub fn begin_discard(&self, paths: Option<&[String]>) -> Result<String, WorkspaceError> {
        let scratch = scratch::name();
        let paths = paths.map(|paths| paths.iter().cloned().collect());
        Intention::new(paths, scratch.clone()).note(&self.place, &self.folder)?;
        Ok(scratch)
    }

    /// The discard that [`Set::begin_discard`] noted is done.
    pub fn end_discard(&self) -> Result<(), WorkspaceError> {
        intention::forget(&self.folder)
    }

    /// Discards what somebody began to discard who was killed.
    pub(super) fn finish_discard(&mut self) -> Result<(), WorkspaceError> {
        let Some(begun) = Intention::noted(&self.place, &self.folder)? else { return Ok(()) };
        let waiting = self.changes_at(&[])?;
        let waiting = waiting.iter().flat_map(FileChange::paths);
        let left: Vec<_> = waiting.filter(|path| begun.means(path)).cloned().collect();
        if begun.is_all() {
            self.discard(&[])?;
        } else if !left.is_empty() {
            self.discard(&left)?;
        }
        self.end_discard()
    }

    /// Reverts the newest application in the person's folder, and returns the changes that this
    /// made: created files are deleted.
    pub fn undo(&mut self, conflict: Conflict) -> Result<Applied, WorkspaceError> {
        self.undo_within(TurnReach::All, conflict)
    }

    /// The same, if no file is among it that may not be.
    pub fn undo_within(
        &mut self,
        reach: TurnReach,
        conflict: Conflict,
    ) -> Result<Applied, WorkspaceError> {
        self.put_right()?;
        let Some(newest) = self.newest(Journal::can_be_undone) else {
            return Err(WorkspaceError::NothingApplied { id: self.id().to_owned() });
        };
        self.check_reach(newest, reach)?;
        self.turn(newest, Reason::Undo(conflict), State::Undone)
    }

    /// Puts what was undone last into the person's folder once more.
    pub fn redo(&mut self, conflict: Conflict) -> Result<Applied, WorkspaceError> {
        self.redo_within(TurnReach::All, conflict)
    }

    /// The same, if no file is among it that may not be.
    pub fn redo_within(
        &mut self,
        reach: TurnReach,
        conflict: Conflict,
    ) -> Result<Applied, WorkspaceError> {
        self.put_right()?;
        let Some(newest) = self.newest(Journal::can_be_redone) else {
            return Err(WorkspaceError::NothingUndone { id: self.id().to_owned() });
        };
        self.check_reach(newest, reach)?;
        let redone = self.turn(newest, Reason::Redo(conflict), State::Applied)?;
        // The person has it again; another undo copies it again.
        self.journals[newest].drop_applied()?;
        Ok(redone)
    }

    /// Refuses an application with more than data in it, unless any file may be.
    fn check_reach(&self, at: usize, reach: TurnReach) -> Result<(), WorkspaceError> {
        if reach == TurnReach::All {
            return Ok(());
        }
        let grave = self.journals[at].entries.iter().filter_map(|entry| {
            let mut sides = entry.before.iter().chain(&entry.after);
            let why = if sides.all(|node| node.shape == Shape::Folder) {
                autorun::reason(self.work_folder(), &entry.path.as_folder())?
            } else {
                more_than_data(self.work_folder(), &entry.path.text())?
            };
            Some((&entry.path, why))
        });
        match grave.min() {
            Some((path, why)) => Err(WorkspaceError::RunsLater { path: path.text(), why }),
            None => Ok(()),
        }
    }

    /// Which of the applications that are fit was last applied, undone or redone.
    fn newest(&self, is_fit: impl Fn(&Journal) -> bool) -> Option<usize> {
        let fit = self.journals.iter().enumerate().filter(|(_, journal)| is_fit(journal));
        fit.max_by_key(|(_, journal)| journal.turn).map(|(at, _)| at)
    }

    fn turn(&mut self, at: usize, reason: Reason, state: State) -> Result<Applied, WorkspaceError> {
        let work = self.work_folder_or_gone()?;
        let turn = next_turn(&self.journals);
        let journal = &mut self.journals[at];
        let mut done = restore(&work, journal, reason, turn)?;
        journal.state = state;
        journal.save()?;
        self.rank_as_it_stands(&work, &mut done.files);
        Ok(done)
    }

    /// Puts `files` in the order of danger, by what the person's folder has now.
    fn rank_as_it_stands(&self, work: &Folder, files: &mut [FileChange]) {
        let mut walker = Walker::new(work, Intent::Look);
        let mut paths: Vec<_> =
            files.iter().filter_map(|file| Relative::parse(&file.path)).collect();
        paths.sort();
        let stats: Vec<Option<Stat>> = paths
            .iter()
            .map(|path| walker.at(path.parent()).and_then(|it| it.stat(path.name())).ok().flatten())
            .collect();
        let sides: Vec<_> = paths
            .iter()
            .zip(&stats)
            .map(|(path, stat)| Sides { path, before: None, after: stat.as_ref() })
            .collect();
        about::rank(self.work_folder(), &sides, files);
    }

    pub(super) fn work_folder_or_gone(&self) -> Result<Folder, WorkspaceError> {
        self.open_work_folder(Intent::Change)?.ok_or_else(|| WorkspaceError::WorkFolderGone {
            id: self.id().to_owned(),
            work_folder: text_of(self.work_folder().as_os_str().as_bytes()),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        Conflict,
        rehearsal::{Deed, Rehearsal, deeds},
        scene::{line, snapshot},
        tree::relative::Relative,
    };
    use fs_err as fs;
    use proptest::prelude::*;
    use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
    use std::path::Path;

    fn overlay_as_a_test(person: &[Deed], program: &[Deed]) -> Result<(), TestCaseError> {
        struct Mounted<'a>(&'a Path);
        impl Drop for Mounted<'_> {
            fn drop(&mut self) {
                unmount(self.0, UnmountFlags::DETACH).ok();
            }
        }

        let mut scene = Rehearsal::of(person, &[]).scene;
        let place = tempfile::tempdir().unwrap();
        let options = format!(
            "userxattr,redirect_dir=nofollow,metacopy=off,lowerdir={},upperdir={},workdir={}\0",
            scene.work.display(),
            scene.set.upper().display(),
            scene.set.work().display(),
        );
        let options = std::ffi::CStr::from_bytes_with_nul(options.as_bytes()).unwrap();
        if mount("overlay", place.path(), "overlay", MountFlags::empty(), options).is_err() {
            return Ok(()); // Not for ordinary users; the rehearsed layers stand in for it.
        }
        let merged = {
            let _mounted = Mounted(place.path());
            for deed in program {
                deed.perform(place.path());
            }
            snapshot(place.path())
        };
        let before = scene.holds();
        scene.apply();
        prop_assert_eq!(scene.holds(), merged);
        scene.set.undo(Conflict::Refuse).ok();
        prop_assert_eq!(scene.holds(), before);
        scene.set.discard(&[]).unwrap();
        prop_assert_eq!(fs::read_dir(scene.set.work()).unwrap().count(), 0);
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

        #[test]
        fn applying_gives_what_the_program_saw_and_undo_what_was_before(
            person in deeds(12), program in deeds(12),
        ) {
            let mut rehearsal = Rehearsal::of(&person, &program);
            let (merged, before) = (rehearsal.merged(), rehearsal.scene.holds());
            let staged = rehearsal.scene.lines();
            prop_assert_eq!(&rehearsal.scene.apply(), &staged);
            prop_assert_eq!(rehearsal.scene.holds(), merged.clone());
            prop_assert_eq!(rehearsal.scene.lines(), Vec::<String>::new());
            if !staged.is_empty() {
                rehearsal.scene.set.undo(Conflict::Refuse).unwrap();
                prop_assert_eq!(rehearsal.scene.holds(), before);
                prop_assert_eq!(&rehearsal.scene.lines(), &staged);
                prop_assert_eq!(&rehearsal.scene.apply(), &staged);
                prop_assert_eq!(rehearsal.scene.holds(), merged);
            }
        }

        #[test]
        fn one_after_the_other_is_the_same_as_all_at_once(
            person in deeds(12), program in deeds(12), first in any::<prop::sample::Index>(),
        ) {
            let mut rehearsal = Rehearsal::of(&person, &program);
            let files = rehearsal.scene.set.changes().unwrap();
            prop_assume!(!files.is_empty());
            let first = files[first.index(files.len())].path.clone();
            let (merged, before) = (rehearsal.merged(), rehearsal.scene.holds());
            rehearsal.scene.set.apply(std::slice::from_ref(&first), Conflict::Refuse).unwrap();
            let rest = rehearsal.scene.lines();
            let first = Relative::parse(&first).unwrap();
            for file in rehearsal.scene.set.changes().unwrap() {
                prop_assert!(!Relative::parse(&file.path).unwrap().is_within(&first));
            }
            rehearsal.scene.apply();
            prop_assert_eq!(rehearsal.scene.holds(), merged);
            if !rest.is_empty() {
                rehearsal.scene.set.undo(Conflict::Refuse).unwrap();
            }
            rehearsal.scene.set.undo(Conflict::Refuse).unwrap();
            prop_assert_eq!(rehearsal.scene.holds(), before);
        }

        #[test]
        fn discarding_some_leaves_exactly_the_rest(
            person in deeds(12), program in deeds(12), gone in any::<prop::sample::Index>(),
        ) {
            let mut rehearsal = Rehearsal::of(&person, &program);
            let files = rehearsal.scene.set.changes().unwrap();
            prop_assume!(!files.is_empty());
            let gone = files[gone.index(files.len())].path.clone();
            let before = rehearsal.scene.holds();
            rehearsal.scene.set.discard(std::slice::from_ref(&gone)).unwrap();
            let gone = Relative::parse(&gone).unwrap();
            let goes = |path: &String| Relative::parse(path).unwrap().is_within(&gone);
            let rest: Vec<_> = files
                .iter()
                .filter(|file| !file.paths().any(goes))
                .map(line)
                .collect();
            let mut left = rehearsal.scene.lines();
            // A folder that took the place of a file stays, and is now a line of its own.
            left.retain(|line| rest.contains(line) || !line.ends_with('/'));
            prop_assert_eq!(left, rest);
            prop_assert_eq!(rehearsal.scene.holds(), before);
        }

        #[test]
        fn a_real_overlay_is_understood(person in deeds(12), program in deeds(12)) {
            overlay_as_a_test(&person, &program)?;
        }
    }
}
