//! The snapshot that a person decides on, and its application.
//!
//! A [`Review`] is one snapshot together with the list that was made from it. The diff is made from
//! the same snapshot, and so is the application: nothing that runs meanwhile can show one thing and
//! have another applied. So are the hunks of a file, if only some of them are chosen: their text is
//! made of the person's own file, as it was shown, and of the snapshot, and is then applied like any
//! other file.
//!
//! A change whose text cannot be drawn without masking a known secret is veiled: it is withheld from
//! an application of everything, because nobody has seen all of it, and is applied if it is named.
//!
//! Many changes are applied only by an order that names the outline of them. Here is the last place
//! where that is seen to, with the list of what is about to be written; `core` decides.
//!
//! # Limits
//! The person's own folder is not copied. If it changes between the list and the application so that
//! another list would be shown, the application is refused.

use crate::{
    copy::snapshot::Snapshot,
    error::WorkspaceError,
    journal::{
        apply::Application,
        conflict::{self, Conflict},
        history::History,
        log::Journal,
        numbered::NumberedHunks,
        partial::{self, Seen},
        plan::{Plan, plan},
    },
    set::Set,
    tree::{
        diff::{ChangeText, joined, texts},
        folder::{Folder, Intent},
        listing::Applied,
        scan::{Scan, scan_with},
        selection::{Chosen, below, choose},
        veiled::Veiled,
        verdicts::Verdicts,
    },
};
use interpreter_core::{
    FileChange, LeftOut, Pick, Redactor, ShownChange, Untrusted, outline::ApplyOrder,
};
use std::{collections::HashMap, path::Path};

/// One snapshot of a set: listed, shown and applied.
#[derive(Debug)]
pub struct Review {
    /// The changes to apply, the most dangerous first.
    pub files: Vec<FileChange>,
    /// The changes that are withheld, and why.
    pub left_out: Vec<LeftOut>,
    paths: Vec<String>,
    /// The withheld changes in whose text a value is masked.
    veiled: Veiled,
    /// The person's files that it is about, as they were.
    seen: Seen,
    /// The hunks that an earlier command has shown, if they are picked by its numbers.
    numbered: Option<NumberedHunks>,
    snapshot: Snapshot,
}

impl Review {
    /// Whether another one would show and apply the same: list, staged files and the person's own
    /// files have not changed, as far as their times tell. If it is wrong it is out of date, and
    /// still applied as it was shown.
    pub fn is_same(&self, other: &Self) -> bool {
        let listed = |one: &Self| (one.files.clone(), one.left_out.clone(), one.paths.clone());
        listed(self) == listed(other)
            && self.seen == other.seen
            && self.snapshot.is_same(&other.snapshot)
    }

    /// Every change that was listed or can be looked at line by line.
    fn shown(&self) -> impl Iterator<Item = &FileChange> {
        self.files.iter().chain(&self.veiled.files)
    }
}

impl Set {
    /// Copies what waits for a decision, and lists it.
    pub fn review(&self) -> Result<Review, WorkspaceError> {
        self.review_of(&[], (), &Redactor::default())
    }

    /// The same, of what is at and below `paths`. While `still` lives nothing writes to the set, as
    /// far as that can be brought about; it goes as soon as the copy is taken. The redactor knows the
    /// values that are masked where it is drawn.
    pub fn review_of(
        &self,
        paths: &[String],
        still: impl Sized,
        redactor: &Redactor,
    ) -> Result<Review, WorkspaceError> {
        let upper = self.open_upper(Intent::Look)?;
        let snapshot = Snapshot::take(&self.folder, &upper)?;
        drop(still);
        let work = self.work_folder_or_gone()?;
        let picks = below(paths);
        let planned =
            |veiled: &Veiled| self.plan(&snapshot, &work, &picks, veiled, Conflict::Overwrite);
        let told = |plan: &Plan| plan.told(snapshot.layer(), (self.work_folder(), &work));
        let mut plan = planned(&Veiled::default())?;
        let (mut files, seen) = (told(&plan), partial::seen(&plan.entries));
        let veiled = if redactor.knows_values() {
            let texts = self.texts_of(&snapshot, paths)?;
            let paths = plan.entries.iter().map(|one| &one.path);
            Veiled::among(&texts, redactor).with_names(paths, redactor).of(&files)
        } else {
            Veiled::default()
        };
        if !veiled.is_empty() {
            plan = planned(&veiled)?;
            files = told(&plan);
        }
        plan.left_out.extend(self.made_where_covered()?);
        let left_out = plan.left_out;
        let (paths, numbered) = (paths.to_vec(), None);
        Ok(Review { files, left_out, paths, veiled, seen, numbered, snapshot })
    }

    /// The same, for hunks that are picked by the numbers of [`Set::diff`]: only those that it showed
    /// count.
    pub fn review_by_number(
        &self,
        paths: &[String],
        redactor: &Redactor,
    ) -> Result<Review, WorkspaceError> {
        let numbered = Some(NumberedHunks::noted(&self.place, &self.folder));
        Ok(Review { numbered, ..self.review_of(paths, (), redactor)? })
    }

    /// The changes of a review, line by line.
    pub fn diff_of(&self, review: &Review) -> Result<Untrusted, WorkspaceError> {
        let mut diff = self.diff_with(&review.snapshot, &review.paths)?.0;
        diff.push(&Untrusted::from(joined(&[], &review.veiled.left_out())));
        Ok(diff)
    }

    /// The changes of a review at and below `paths`, line by line.
    pub fn diff_of_some(
        &self,
        review: &Review,
        paths: &[String],
    ) -> Result<Untrusted, WorkspaceError> {
        Ok(self.diff_with(&review.snapshot, paths)?.0)
    }

    /// The changes at and below `paths`, or all of them, line by line: of a set to which nobody
    /// writes any more. From now on their hunks can be picked by number.
    pub fn diff(&self, paths: &[String]) -> Result<Untrusted, WorkspaceError> {
        let snapshot = Snapshot::at_rest(self.open_upper(Intent::Look)?);
        let (text, texts) = self.diff_with(&snapshot, paths)?;
        let mut numbered = match paths {
            [] => NumberedHunks::default(),
            _ => NumberedHunks::noted(&self.place, &self.folder),
        };
        numbered.add(&texts);
        // Where nothing can be written, it can still be looked at.
        _ = numbered.note(&self.place, &self.folder).is_ok();
        Ok(text)
    }

    fn diff_with(
        &self,
        snapshot: &Snapshot,
        paths: &[String],
    ) -> Result<(Untrusted, Vec<ChangeText>), WorkspaceError> {
        let work = self.open_work_folder(Intent::Look)?;
        let scan = self.scan(snapshot, work.as_ref())?;
        let chosen = chosen(&scan, self.work_folder(), &below(paths), &Veiled::default())?;
        let texts = texts(snapshot.layer(), (self.work_folder(), work.as_ref()), &chosen)?;
        Ok((Untrusted::from(joined(&texts, &chosen.left_out)), texts))
    }

    /// The changes of a review one by one, each with its hunks: for a person who picks.
    pub fn changes_of(&self, review: &Review) -> Result<Vec<ShownChange>, WorkspaceError> {
        let shown = |one: ChangeText| ShownChange {
            path: one.path.text(),
            head: Untrusted::from(one.head),
            hunks: one.hunks.into_iter().map(Untrusted::from).collect(),
        };
        Ok(self.texts_of(&review.snapshot, &review.paths)?.into_iter().map(shown).collect())
    }

    /// The changes of a snapshot at and below `paths` as text, also those that are veiled.
    fn texts_of(
        &self,
        snapshot: &Snapshot,
        paths: &[String],
    ) -> Result<Vec<ChangeText>, WorkspaceError> {
        let work = self.open_work_folder(Intent::Look)?;
        let scan = self.scan(snapshot, work.as_ref())?;
        let chosen = chosen(&scan, self.work_folder(), &below(paths), &Veiled::default())?;
        texts(snapshot.layer(), (self.work_folder(), work.as_ref()), &chosen)
    }

    /// Puts what an order names of a review into the person's folder, or all that was reviewed; on
    /// an error nothing. Everything that comes with it, such as a new folder around it, was shown
    /// too; otherwise nothing is applied. Hunks that are not picked stay staged.
    pub fn apply_review(
        &mut self,
        review: &Review,
        order: &ApplyOrder,
        conflict: Conflict,
    ) -> Result<Applied, WorkspaceError> {
        let everything = below(&review.paths);
        let picks = if order.picks.is_empty() { &everything } else { &order.picks };
        self.put_right()?;
        let work = self.work_folder_or_gone()?;
        let snapshot = &review.snapshot;
        // Hunks are those of the file that was shown, so it must be the same.
        let has_hunks = picks.iter().any(Pick::is_of_hunks);
        let conflict = if has_hunks { Conflict::Refuse } else { conflict };
        let mut plan = self.plan(snapshot, &work, picks, &review.veiled, conflict)?;
        let mut told = plan.told(snapshot.layer(), (self.work_folder(), &work));
        let is_all = *picks == everything;
        // The person's own folder may be another by now, and with it what this comes to.
        let is_shown = if is_all {
            told == review.files
        } else {
            let shown: HashMap<_, _> =
                review.shown().map(|file| (file.path.as_str(), file)).collect();
            told.iter().all(|file| shown.get(file.path.as_str()).is_some_and(|it| it.shows(file)))
        };
        if !is_shown {
            return Err(WorkspaceError::ChangedSinceShown { id: self.id().to_owned() });
        }
        order.check(&told.iter().collect::<Vec<_>>(), &review.files)?;
        if has_hunks {
            let (upper, shown) = (snapshot.layer(), (&review.seen, review.numbered.as_ref()));
            partial::divide(upper, &work, shown, &mut plan.entries, picks, &mut told)?;
        }
        let Plan { entries, renames, .. } = plan;
        let left_out = if is_all { review.left_out.clone() } else { plan.left_out };
        let applied = Applied { files: told, left_out };
        if entries.is_empty() {
            return Ok(applied);
        }
        let mut journal = Journal::begin(&self.place, &self.folder, &self.journals)?;
        journal.renames = renames;
        let performed = Application::prepare(snapshot.layer(), &work, journal, &entries)
            .and_then(Application::perform);
        match performed {
            Ok(journal) => self.journals.push(journal),
            Err(error) => {
                self.journals = Journal::load_all(&self.place, &self.folder)?;
                return Err(error);
            }
        }
        Ok(applied)
    }

    /// The plan of an application, once conflicts are settled.
    pub(super) fn plan(
        &self,
        snapshot: &Snapshot,
        work: &Folder,
        picks: &[Pick],
        veiled: &Veiled,
        conflict: Conflict,
    ) -> Result<Plan, WorkspaceError> {
        let scan = self.scan(snapshot, Some(work))?;
        let plan = plan(work, chosen(&scan, self.work_folder(), picks, veiled)?)?;
        match conflict {
            Conflict::Refuse => {
                let (history, began) = (History::of(&self.journals), self.description.began);
                let upper = snapshot.layer();
                conflict::refuse(upper, work, began, &history, &scan, &plan.entries)?;
            }
            Conflict::Overwrite => {}
        }
        Ok(plan)
    }

    fn scan(&self, snapshot: &Snapshot, work: Option<&Folder>) -> Result<Scan, WorkspaceError> {
        let (history, verdicts) = (History::of(&self.journals), &mut Verdicts::default());
        let (upper, staged) = (snapshot.layer(), snapshot.staged());
        scan_with(upper, staged, work, &history, verdicts, usize::MAX)
    }
}

/// The selection of `picks`, as shown and applied.
pub(crate) fn chosen<'a>(
    scan: &'a Scan,
    root: &Path,
    picks: &[Pick],
    veiled: &Veiled,
) -> Result<Chosen<'a>, WorkspaceError> {
    let chosen = choose(scan, picks)?.without_withheld(root, picks);
    Ok(veiled.withheld_from(chosen, picks).with_parents(scan))
}

#[cfg(test)]
mod tests {
    use crate::{Conflict, WorkspaceError, copy::snapshot, scene::Scene};
    use fs_err as fs;
    use interpreter_core::{
        Extent, Pick,
        outline::{ApplyOrder, OutlineUnseen, SeenOutline},
    };
    use rustix::fs::{CWD, Mode, mkfifoat};

    #[test]
    fn what_was_shown_is_applied() {
        let mut scene = Scene::new(&[("a", "old"), ("b", "x"), ("c/d", "x")]);
        scene.writes("a", "new").deletes("b").deletes("c").writes("n/m", "y").writes("l", "-> a");
        let shown = scene.set.review().unwrap();
        assert_eq!(shown.files, scene.set.changes().unwrap());
        scene.set.apply_review(&shown, &ApplyOrder::default(), Conflict::Refuse).unwrap();
        assert_eq!((scene.reads("a"), scene.reads("n/m")), ("new".into(), "y".into()));
        assert_eq!(scene.lines(), Vec::<String>::new());
    }

    #[test]
    fn what_cannot_be_applied_does_not_keep_the_rest_from_it() {
        let mut scene = Scene::new(&[("a", "old")]);
        mkfifoat(CWD, scene.work.join("pipe"), Mode::RWXU).unwrap();
        mkfifoat(CWD, scene.work.join("other"), Mode::RWXU).unwrap();
        scene.writes("a", "new").deletes("pipe").writes("other/in", "x");
        mkfifoat(CWD, scene.set.upper().join("made"), Mode::RWXU).unwrap();
        let shown = scene.set.review().unwrap();
        let left: Vec<_> = shown.left_out.iter().map(|one| one.path.as_str()).collect();
        assert_eq!(left, ["made", "other", "other/in", "pipe"]);
        let applied =
            scene.set.apply_review(&shown, &ApplyOrder::default(), Conflict::Refuse).unwrap();
        assert_eq!(
            (applied.files, applied.left_out),
            (shown.files.clone(), shown.left_out.clone())
        );
        assert_eq!(scene.reads("a"), "new");
    }

    #[test]
    fn what_changed_after_it_was_shown_is_applied_as_it_was_shown() {
        for trick in ["content", "another", "deleted", "link", "mode", "gone"] {
            let mut scene = Scene::new(&[("a", "old"), ("b", "x")]);
            scene.writes("a", "new");
            let shown = scene.set.review().unwrap();
            let diff = scene.set.diff_of(&shown).unwrap();
            let staged = scene.set.upper().join("a");
            match trick {
                "content" => drop(scene.writes("a", "evil")),
                "another" => drop(scene.writes("extra", "evil")),
                "deleted" => drop(scene.deletes("b")),
                "mode" => drop(scene.sets_mode("a", 0o755)),
                "link" => {
                    fs::remove_file(&staged).unwrap();
                    scene.writes("a", "-> /etc/passwd");
                }
                _ => fs::remove_file(&staged).unwrap(),
            }
            assert_eq!(scene.set.diff_of(&shown).unwrap().raw(), diff.raw());
            scene.set.apply_review(&shown, &ApplyOrder::default(), Conflict::Refuse).unwrap();
            assert_eq!((scene.reads("a"), scene.reads("b")), ("new".into(), "x".into()), "{trick}");
            assert_eq!(scene.holds().len(), 2, "{trick}");
            // Later changes wait for a decision of their own.
            drop(shown);
            let rest = scene.set.changes().unwrap().len();
            assert_eq!(rest, usize::from(trick != "gone"), "{trick}");
        }
    }

    #[test]
    fn some_of_what_was_shown_is_applied_and_the_rest_waits() {
        let mut scene = Scene::new(&[("a", "old"), ("b", "x")]);
        scene.writes("a", "new").writes("n/m/one", "1").writes("n/m/two", "2").deletes("b");
        let shown = scene.set.review().unwrap();
        // Meanwhile the program changes its mind.
        scene.writes("n/m/one", "evil");
        let paths = [Pick::below("n/m/one")];
        let applied =
            scene.set.apply_review(&shown, &ApplyOrder::of(paths), Conflict::Refuse).unwrap();
        let names: Vec<_> = applied.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(names, ["n/m/one"]);
        assert_eq!((scene.reads("n/m/one"), scene.reads("a")), ("1".into(), "old".into()));
        assert!(scene.holds().keys().all(|name| !name.contains("two")), "{:?}", scene.holds());
        drop(shown);
        let rest: Vec<_> = scene.set.changes().unwrap().into_iter().map(|file| file.path).collect();
        assert_eq!(rest, ["a", "b", "n/m/one", "n/m/two"]);
    }

    /// Sixty new files in a new folder, and one with the name of a secret.
    fn many() -> Scene {
        let scene = Scene::new(&[]);
        for n in 0..60 {
            scene.writes(&format!("d/{n:02}"), "x");
        }
        scene.writes(".env", "KEY=1");
        scene
    }

    #[test]
    fn many_files_are_written_only_with_the_outline_that_was_shown() {
        let mut scene = many();
        let shown = scene.set.review().unwrap();
        let itself = |n| Pick { path: format!("d/{n:02}"), extent: Extent::Itself };
        let each: Vec<_> = (0..51).map(itself).collect();
        // Another way to write a path, and another way to mean everything, are no way around.
        let other: Vec<_> = each.iter().map(|one| Pick::below(format!("./{}", one.path))).collect();
        let all = [vec![], each.clone(), other, vec![Pick::below("d")], vec![Pick::below(".")]];
        for picks in all {
            let mut order = ApplyOrder::of(picks);
            for seen in [None, Some(SeenOutline::of_all("0"))] {
                order.seen = seen;
                let refused = scene.set.apply_review(&shown, &order, Conflict::Overwrite);
                let is_unseen = matches!(refused, Err(WorkspaceError::OutlineUnseen(_)));
                assert!(is_unseen, "{order:?} {refused:?}");
                assert_eq!(scene.holds().len(), 0, "nothing of it has been written");
            }
        }
        // That of some of them is not that of all.
        let seen = SeenOutline::of(shown.files.iter().take(55));
        let order = ApplyOrder { picks: vec![], seen };
        let refused = scene.set.apply_review(&shown, &order, Conflict::Refuse);
        let another = WorkspaceError::OutlineUnseen(OutlineUnseen::Another).to_string();
        assert_eq!(refused.unwrap_err().to_string(), another);
        // Up to fifty, every one was named.
        let few = ApplyOrder::of(&each[..50]);
        scene.set.apply_review(&shown, &few, Conflict::Refuse).unwrap();
        assert!(scene.work.join("d/49").exists() && !scene.work.join("d/50").exists());
        let mut scene = many();
        let shown = scene.set.review().unwrap();
        let seen = SeenOutline::of(shown.files.iter());
        let order = ApplyOrder { picks: vec![], seen };
        scene.set.apply_review(&shown, &order, Conflict::Refuse).unwrap();
        assert!(scene.work.join("d/59").exists() && !scene.work.join(".env").exists());
    }

    #[test]
    fn a_path_that_was_not_shown_is_not_applied() {
        let mut scene = Scene::new(&[("a", "old")]);
        scene.writes("a", "new");
        let shown = scene.set.review().unwrap();
        scene.writes("later", "evil");
        let later = scene.set.apply_review(
            &shown,
            &ApplyOrder::of([Pick::below("later")]),
            Conflict::Refuse,
        );
        assert!(matches!(later, Err(WorkspaceError::NotAChange { .. })), "{later:?}");
        // Something that became a change only because the person's folder changed.
        let mut scene = Scene::new(&[("a", "old"), ("b", "same")]);
        scene.writes("a", "new").writes("b", "same");
        let shown = scene.set.review().unwrap();
        scene.person_writes("b", "mine");
        let refused = scene.set.apply_review(
            &shown,
            &ApplyOrder::of([Pick::below("b")]),
            Conflict::Overwrite,
        );
        assert!(matches!(refused, Err(WorkspaceError::ChangedSinceShown { .. })), "{refused:?}");
        assert_eq!(scene.reads("b"), "mine");
    }

    #[test]
    fn if_the_folder_makes_another_list_of_it_nothing_is_applied() {
        let mut scene = Scene::new(&[("a", "old"), ("b", "same")]);
        scene.writes("a", "new").writes("b", "same");
        let shown = scene.set.review().unwrap();
        assert_eq!(shown.files.len(), 1);
        // It was no change when it was shown, and is one now.
        scene.person_writes("b", "mine");
        let refused = scene.set.apply_review(&shown, &ApplyOrder::default(), Conflict::Overwrite);
        assert!(matches!(refused, Err(WorkspaceError::ChangedSinceShown { .. })), "{refused:?}");
        assert_eq!((scene.reads("a"), scene.reads("b")), ("old".into(), "mine".into()));
    }

    #[test]
    fn a_snapshot_goes_when_it_is_done_with_and_after_a_crash() {
        let scene = Scene::new(&[]);
        scene.writes("a", "x").writes("d/b", "y").sets_mode("d", 0o000);
        let shown = scene.set.review().unwrap();
        assert!(snapshot::is_left(&scene.set.folder));
        drop(shown);
        assert!(!snapshot::is_left(&scene.set.folder));
        std::mem::forget(scene.set.review().unwrap());
        let scene = scene.reopen();
        assert!(!snapshot::is_left(&scene.set.folder));
    }

    #[test]
    fn looking_is_not_announced_by_access_times() {
        use std::os::unix::fs::MetadataExt;
        let scene = Scene::new(&[]);
        scene.writes("d/a", "x").writes("b", "y");
        let upper = scene.set.upper();
        let files = ["b", "d", "d/a"].map(|name| upper.join(name));
        // Older than the last write, so that any read would be noted.
        let long_ago = std::time::SystemTime::UNIX_EPOCH;
        for path in &files {
            let times = std::fs::FileTimes::new().set_accessed(long_ago);
            std::fs::File::open(path).unwrap().set_times(times).unwrap();
        }
        let shown = scene.set.review().unwrap();
        scene.set.diff_of(&shown).unwrap();
        for path in &files {
            assert_eq!(fs::symlink_metadata(path).unwrap().atime(), 0, "{}", path.display());
        }
        // A read like any other is noted, so the test would have seen one.
        fs::read(&files[0]).unwrap();
        assert_ne!(fs::symlink_metadata(&files[0]).unwrap().atime(), 0);
    }
}
