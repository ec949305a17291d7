//! Puts right what a crash left behind.
//!
//! An interrupted application or redo is reverted; an interrupted undo is completed. Both mean the
//! same: every path that we changed becomes what it was before. Changes that the person made since
//! the crash stay, and so do the saved copies of those files.

use crate::{
    error::WorkspaceError,
    journal::{
        log::{Journal, State},
        scratch,
        undo::{Reason, restore},
    },
    tree::folder::Folder,
};

/// Puts right every application that is not at rest.
pub(crate) fn recover(work: &Folder, journals: &mut Vec<Journal>) -> Result<(), WorkspaceError> {
    let mut resting = Vec::with_capacity(journals.len());
    let mut failed = Ok(());
    for journal in std::mem::take(journals) {
        if failed.is_err() || is_resting(&journal) {
            resting.push(journal);
            continue;
        }
        match roll_back(work, journal) {
            Ok(kept) => resting.extend(kept),
            Err(error) => failed = Err(error),
        }
    }
    *journals = resting;
    failed
}

/// Whether nothing has to be put right.
pub(crate) fn is_resting(journal: &Journal) -> bool {
    match journal.state {
        State::Applied | State::Undone | State::RolledBack | State::PartlyRolledBack => {
            journal.scratch.is_none()
        }
        State::Preparing | State::Applying | State::Undoing | State::Redoing => false,
    }
}

/// Takes one application back; none is left of it if it had not touched anything.
pub(crate) fn roll_back(
    work: &Folder,
    mut journal: Journal,
) -> Result<Option<Journal>, WorkspaceError> {
    if let Some(name) = journal.scratch.take() {
        scratch::remove(work, &name)?;
    }
    let interrupted = match journal.state {
        State::Preparing => {
            journal.remove()?;
            return Ok(None);
        }
        State::Applied | State::Undone | State::RolledBack | State::PartlyRolledBack => {
            journal.save()?;
            return Ok(Some(journal));
        }
        State::Applying | State::Undoing | State::Redoing => journal.state,
    };
    // Nothing else can have come to rest since it was interrupted, so its turn is still its own.
    let turn = journal.turn;
    let restored = restore(work, &mut journal, Reason::Recovery, turn)?;
    journal.state = if interrupted != State::Applying {
        State::Undone
    } else if restored.left_out.is_empty() {
        State::RolledBack
    } else {
        State::PartlyRolledBack
    };
    // Recorded even when everything is restored: a restored file has a new change time, and would
    // otherwise look like the person's change.
    journal.save()?;
    if journal.state == State::RolledBack {
        journal.drop_copies()?;
    }
    Ok(Some(journal))
}

#[cfg(test)]
mod tests {
    use crate::{
        Conflict, Set,
        copy::snapshot::Snapshot,
        journal::{
            apply::Application,
            changeover::{Care, Changeover, steps},
            crash,
            log::Journal,
            undo::{Reason, prepare},
        },
        scene::{Scene, snapshot},
        tree::{folder::Intent, veiled::Veiled},
    };
    use fs_err as fs;
    use interpreter_core::{ChangesState, Extent, Pick, outline::ApplyOrder};

    /// Forty lines, of which two that are far apart are this.
    fn two_hunks(line: &str) -> String {
        (0..40).map(|number| if number % 30 == 4 { line } else { "same\n" }).collect()
    }

    fn scene() -> Scene {
        let hunks = two_hunks("old\n");
        let scene = Scene::new(&[
            ("a", "old"),
            ("b", "x"),
            ("c/d/e", "x"),
            ("c/f", "-> e"),
            ("h", &hunks),
            ("l", "-> a"),
            ("x", "file"),
            ("y/z", "in a folder"),
        ]);
        scene.writes("a", "new").deletes("b").deletes("c").writes("l", "-> b").writes("n/m", "1");
        scene.writes("x/now/a", "folder").writes("y", "now a file");
        scene.writes("h", &two_hunks("new\n"));
        scene
    }

    /// Stops an application after so many steps, as a crash would.
    fn crash_after(scene: &Scene, count: usize) {
        let upper = Snapshot::at_rest(scene.set.open_upper(Intent::Look).unwrap());
        let work = scene.set.open_work_folder(Intent::Change).unwrap().unwrap();
        let plan =
            scene.set.plan(&upper, &work, &[], &Veiled::default(), Conflict::Refuse).unwrap();
        let journal =
            Journal::begin(&scene.changes, &scene.set.folder, &scene.set.journals).unwrap();
        let ready = Application::prepare(upper.layer(), &work, journal, &plan.entries).unwrap();
        ready.perform_partly(count);
    }

    #[test]
    fn an_interrupted_application_is_taken_back_wherever_it_stopped() {
        for count in 0..40 {
            let scene = scene();
            let before = scene.holds();
            crash_after(&scene, count);
            let mut scene = scene.reopen();
            assert_eq!(scene.holds(), before, "after {count} steps");
            assert!(!scene.set.folder.join("applied/1/before").exists());
            assert_eq!(scene.apply().len(), 10);
            scene.set.undo(Conflict::Refuse).unwrap();
            assert_eq!(scene.holds(), before);
        }
    }

    #[test]
    fn listing_puts_right_too() {
        let scene = scene();
        let before = scene.holds();
        crash_after(&scene, 8);
        let Scene { work, changes, set, .. } = &scene;
        assert!(Set::list(changes, Some(work)).unwrap().sets[0].in_use);
        assert_ne!(scene.holds(), before);
        let (work, changes, id) = (work.clone(), changes.clone(), set.id().to_owned());
        let scene = scene.reopen();
        assert_eq!(scene.holds(), before);
        crash_after(&scene, 8);
        // Only the lock goes: the folders are still needed.
        let (set, _scene) = scene.without_set();
        drop(set);
        let listed = Set::list(&changes, Some(&work)).unwrap().sets;
        assert_eq!((listed[0].id.as_str(), listed[0].state), (id.as_str(), ChangesState::Staged));
        assert_eq!(snapshot(&work), before);
    }

    #[test]
    fn what_the_person_did_after_the_crash_stands() {
        let scene = scene();
        crash_after(&scene, 100);
        scene.person_writes("a", "mine");
        scene.person_writes("n/mine", "mine");
        let scene = scene.reopen();
        assert_eq!((scene.reads("a"), scene.reads("n/mine")), ("mine".into(), "mine".into()));
        assert_eq!((scene.reads("b"), scene.reads("c/d/e")), ("x".into(), "x".into()));
        let kept = fs::read_dir(scene.set.folder.join("applied/1/before")).unwrap().count();
        assert!(kept > 0, "what was kept of the person's file is not thrown away");
    }

    #[test]
    fn an_interrupted_undo_is_finished() {
        for count in 0..40 {
            let mut scene = scene();
            let before = scene.holds();
            scene.apply();
            {
                let work = scene.set.open_work_folder(Intent::Change).unwrap().unwrap();
                let journal = &mut scene.set.journals[0];
                let ready = prepare(&work, journal, Reason::Undo(Conflict::Refuse), 2).unwrap();
                let (moves, scratch) = (&ready.moves, &ready.scratch);
                let mut changeover = Changeover::new(&work, scratch, moves, Care::Tolerant);
                for step in steps(moves).into_iter().take(count) {
                    changeover.perform(step).unwrap();
                }
            }
            let scene = scene.reopen();
            assert_eq!(scene.holds(), before, "after {count} steps");
        }
    }

    /// Orders a crash after ever more steps of `act`, until it comes to its end. After each, opening
    /// the set puts the folder right: it is all `old` or all `new`, and can be acted on again.
    fn crash_everywhere(prepare: impl Fn(&mut Scene), act: impl Fn(&mut Set)) {
        let ready = || {
            let mut scene = scene();
            prepare(&mut scene);
            scene
        };
        let mut done = ready();
        let old = done.holds();
        act(&mut done.set);
        let new = done.holds();
        assert_ne!(old, new);
        let mut steps = 0;
        loop {
            let mut scene = ready();
            if crash::after(steps, || act(&mut scene.set)).is_some() {
                break;
            }
            // Now and then it dies once more while it is put right.
            if steps % 5 == 0 {
                scene = scene.reopen_and_die(steps / 5);
            }
            let mut scene = scene.reopen();
            let holds = scene.holds();
            assert!(holds == old || holds == new, "after {steps} steps: {holds:#?}");
            if holds == old {
                act(&mut scene.set);
                assert_eq!(scene.holds(), new, "after {steps} steps");
            }
            steps += 1;
        }
        assert!(steps > 30, "{steps} steps are too few to be all");
    }

    #[test]
    fn a_crash_at_any_step_of_an_application_leaves_old_or_new() {
        crash_everywhere(|_| {}, |set| drop(set.apply(&[], Conflict::Refuse).unwrap()));
    }

    /// Applies one hunk of a file, and some others.
    fn apply_some(set: &mut Set) {
        let hunk = Pick { path: "h".into(), extent: Extent::Hunks([1].into()) };
        let picks = [hunk, Pick::below("a"), Pick::below("c"), Pick::below("x")];
        let review = set.review().unwrap();
        set.apply_review(&review, &ApplyOrder::of(picks), Conflict::Refuse).unwrap();
    }

    #[test]
    fn a_crash_at_any_step_of_applying_hunks_leaves_old_or_new() {
        crash_everywhere(|_| {}, apply_some);
        let prepare = |scene: &mut Scene| apply_some(&mut scene.set);
        crash_everywhere(prepare, |set| drop(set.undo(Conflict::Refuse).unwrap()));
    }

    #[test]
    fn a_crash_at_any_step_of_an_undo_leaves_old_or_new() {
        let prepare = |scene: &mut Scene| drop(scene.apply());
        crash_everywhere(prepare, |set| drop(set.undo(Conflict::Refuse).unwrap()));
    }

    #[test]
    fn a_crash_at_any_step_of_a_redo_leaves_old_or_new() {
        let prepare = |scene: &mut Scene| {
            scene.apply();
            scene.set.undo(Conflict::Refuse).unwrap();
        };
        crash_everywhere(prepare, |set| drop(set.redo(Conflict::Refuse).unwrap()));
    }

    #[test]
    fn an_application_that_never_began_leaves_nothing() {
        let scene = scene();
        let before = scene.holds();
        let mut journal = Journal::begin(&scene.changes, &scene.set.folder, &[]).unwrap();
        journal.scratch = Some(crate::journal::scratch::name());
        journal.save().unwrap();
        fs::create_dir_all(scene.work.join(journal.scratch.as_ref().unwrap()).join("0")).unwrap();
        let scene = scene.reopen();
        assert_eq!(scene.holds(), before);
    }
}
