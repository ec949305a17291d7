//! Real races: while a set does everything it can do, a thread exchanges a folder for a link that
//! leads out, as fast as it can. Nothing outside is changed or read.

use crate::{
    Conflict, Set, WorkspaceError,
    scene::{Scene, put, texts},
};
use fs_err as fs;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::{
    collections::BTreeMap,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

/// Rounds of each race: enough for every step to be met, by what was seen when steps took paths.
const ROUNDS: usize = 150;

const CANARY: &str = "what is outside";

/// A folder outside, with what must stay as it is.
fn outside() -> tempfile::TempDir {
    let outside = tempfile::tempdir().unwrap();
    for name in ["f", "gone", "deep/f", "deep/gone"] {
        put(outside.path(), name, CANARY);
    }
    outside
}

fn content(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            found.insert(entry.path(), Vec::new());
            found.extend(content(&entry.path()));
        } else if !kind.is_symlink() {
            found.insert(entry.path(), fs::read(entry.path()).unwrap());
        }
    }
    found
}

/// Ends a race when it goes.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Exchanges `folder/d` for a link to `outside`, and back, while `act` is done again and again.
/// Returns how often that succeeded.
fn race(
    folder: &Path,
    outside: &Path,
    mut act: impl FnMut() -> Result<(), WorkspaceError>,
) -> usize {
    let (real, link) = (folder.join("d"), folder.join(".link"));
    symlink(outside, &link).unwrap();
    let before = content(outside);
    let (over, exchanges) = (AtomicBool::new(false), AtomicUsize::new(0));
    let mut done = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                // One of them may be gone for a moment.
                _ = renameat_with(CWD, &real, CWD, &link, RenameFlags::EXCHANGE).is_ok();
                exchanges.fetch_add(1, Ordering::Relaxed);
            }
        });
        // Also on failure, so that the failure is reported.
        let _over = Over(&over);
        for _ in 0..ROUNDS {
            done += usize::from(act().is_ok());
        }
    });
    assert!(exchanges.into_inner() > ROUNDS, "nothing was exchanged");
    assert_eq!(content(outside), before);
    done
}

fn scene() -> Scene {
    let scene =
        Scene::new(&[("d/f", "1"), ("d/gone", "1"), ("d/deep/f", "1"), ("d/deep/gone", "1")]);
    scene.writes("d/f", "2").deletes("d/gone").writes("d/new", "2");
    scene.writes("d/deep/f", "2").deletes("d/deep/gone").writes("d/deep/new", "2");
    scene
}

#[test]
fn the_persons_folder_is_exchanged_while_changes_are_applied_and_undone() {
    let (mut scene, outside) = (scene(), outside());
    let work = scene.work.clone();
    let done = race(&work, outside.path(), || {
        scene.set.apply(&[], Conflict::Overwrite)?;
        scene.set.undo(Conflict::Overwrite).map(drop)
    });
    // Otherwise nothing was raced against.
    assert!(done > 0);
}

#[test]
fn the_persons_folder_is_exchanged_while_it_is_looked_at() {
    let (scene, outside) = (scene(), outside());
    race(&scene.work.clone(), outside.path(), || {
        let shown = scene.set.diff(&[])?;
        assert!(!shown.raw().contains(CANARY));
        scene.set.changes()?;
        scene.set.review().map(drop)
    });
}

#[test]
fn the_layer_is_exchanged_while_it_is_looked_at_and_applied() {
    let (mut scene, outside) = (scene(), outside());
    let upper = scene.set.upper().to_owned();
    race(&upper, outside.path(), || {
        let shown = scene.set.diff(&[])?;
        assert!(!shown.raw().contains(CANARY));
        scene.set.apply(&[], Conflict::Overwrite)?;
        let applied = content(&scene.work);
        assert!(!applied.values().any(|text| text == CANARY.as_bytes()));
        scene.set.undo(Conflict::Overwrite).map(drop)
    });
}

#[test]
fn the_layer_is_exchanged_while_it_is_discarded() {
    let (mut scene, outside) = (scene(), outside());
    let upper = scene.set.upper().to_owned();
    race(&upper, outside.path(), || {
        put(&upper, "e/f", "x");
        scene.set.discard(&texts(&["d/deep", "e"]))?;
        Ok(())
    });
    // And all of it.
    symlink(outside.path(), upper.join("again")).unwrap();
    let before = content(outside.path());
    scene.set.discard(&[]).unwrap();
    assert_eq!(content(outside.path()), before);
    assert!(scene.set.changes().unwrap().is_empty());
}

#[test]
fn a_work_folder_that_became_a_link_is_not_followed() {
    let (scene, outside) = (scene(), outside());
    let (work, changes, id) =
        (scene.work.clone(), scene.changes.clone(), scene.set.id().to_owned());
    let (set, _folders) = scene.without_set();
    drop(set);
    let before = content(outside.path());
    // The folder itself, and then one above it.
    let above = work.parent().unwrap().to_owned();
    let aside = tempfile::tempdir_in(above.parent().unwrap()).unwrap();
    fs::rename(&work, aside.path().join("work")).unwrap();
    symlink(outside.path(), &work).unwrap();
    let mut set = Set::open(&changes, &id).unwrap();
    assert!(set.apply(&[], Conflict::Overwrite).is_err());
    assert_eq!(content(outside.path()), before);
    fs::remove_file(&work).unwrap();
    fs::rename(aside.path().join("work"), &work).unwrap();
    set.apply(&[], Conflict::Overwrite).unwrap();
}
