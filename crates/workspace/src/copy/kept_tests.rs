//! Staged changes go back, from outside and by what the host would do from inside.

use super::*;
use crate::scene::{Scene, snapshot, texts};
use std::os::unix::fs::MetadataExt;

fn back(scene: &mut Scene, number: u32) {
    scene.set.go_back(number).unwrap();
    assert!(scene.set.way_back(number).unwrap().is_empty());
}

#[test]
fn what_is_staged_goes_back_and_forth_from_there() {
    let mut scene = Scene::new(&[("a", "1"), ("d/b", "1"), ("l", "-> a")]);
    scene.set.keep(1, BYTES).unwrap();
    scene.writes("a", "2").writes("n/x", "2");
    scene.set.keep(2, BYTES).unwrap();
    let then = snapshot(scene.set.upper());
    scene.writes("a", "3").deletes("d").writes("later", "3").sets_mode("n/x", 0o700);
    assert_eq!(
        scene.set.way_back(2).unwrap(),
        WayBack { uncovered: texts(&["d", "later"]), rewritten: texts(&["a", "n/x"]) }
    );
    back(&mut scene, 2);
    assert_eq!(snapshot(scene.set.upper()), then);
    assert_eq!(scene.lines(), ["changed a", "created n/x"]);
    back(&mut scene, 1);
    assert_eq!(scene.lines(), Vec::<String>::new());
    // The person's own folder is untouched by all of it.
    assert_eq!(scene.reads("a"), "1");
    assert_eq!(scene.reads("d/b"), "1");
}

#[test]
fn a_deletion_and_another_kind_go_back() {
    let mut scene = Scene::new(&[("a", "1"), ("d/b", "1"), ("d/c", "1"), ("l", "-> a")]);
    scene.deletes("a").replaces_folder("d").writes("d/c", "2").writes("l", "-> b");
    scene.set.keep(1, BYTES).unwrap();
    let lines = scene.lines();
    fs::remove_file(scene.set.upper().join("a")).unwrap();
    scene.writes("a/in", "3");
    fs::remove_file(scene.set.upper().join("l")).unwrap();
    scene.writes("l", "-> c").writes("d/new", "3");
    let way = scene.set.way_back(1).unwrap();
    assert_eq!(way.rewritten, ["a", "l"]);
    back(&mut scene, 1);
    assert_eq!(scene.lines(), lines);
}

#[test]
fn what_is_laid_out_is_what_was_kept_and_nothing_else() {
    let mut scene = Scene::new(&[("gone", "1")]);
    scene.writes("d/a", "2").writes("d/other", "2").deletes("gone").writes("l", "-> x");
    scene.set.keep(1, BYTES).unwrap();
    scene.writes("d/a", "3");
    scene.set.lay_out(1, &texts(&["d/a", "gone", "l", "../out", "d"])).unwrap();
    let laid: Vec<_> = snapshot(&scene.set.back()).into_keys().collect();
    assert_eq!(laid, ["d", "d/a", "l"]);
    assert_eq!(fs::read_to_string(scene.set.back().join("d/a")).unwrap(), "2");
    scene.set.clear_back().unwrap();
    assert!(snapshot(&scene.set.back()).is_empty());
}

#[test]
fn a_file_that_is_untouched_is_not_copied_again() {
    let mut scene = Scene::new(&[]);
    scene.writes("same", "1").writes("other", "1");
    let old = |scene: &Scene| {
        let upper = Folder::open(scene.set.upper(), Intent::Look).unwrap();
        let changed = upper.stat(OsStr::new("same")).unwrap().unwrap().changed;
        changed.is_before(crate::tree::stat::Moment::now(), super::super::snapshot::SETTLED)
    };
    // Times of files are coarse, so a file of this very moment is copied all the same.
    while !old(&scene) {
        std::hint::spin_loop();
    }
    scene.set.keep(1, BYTES).unwrap();
    scene.writes("other", "2");
    scene.set.keep(2, BYTES).unwrap();
    let links = |number: u32, name: &str| {
        let place = scene.set.kept[&number].place().unwrap().join(name);
        fs::metadata(place).unwrap().nlink()
    };
    assert_eq!((links(1, "same"), links(2, "same")), (2, 2));
    assert_eq!((links(1, "other"), links(2, "other")), (1, 1));
    // A write to the layer reaches no copy.
    scene.writes("same", "changed");
    back(&mut scene, 2);
    assert_eq!(fs::read_to_string(scene.set.upper().join("same")).unwrap(), "1");
    scene.writes("same", "once more");
    back(&mut scene, 1);
    assert_eq!(fs::read_to_string(scene.set.upper().join("other")).unwrap(), "1");
}

#[test]
fn the_oldest_goes_first_and_all_go_with_the_set() {
    let mut scene = Scene::new(&[]);
    for number in 1..=17 {
        scene.set.keep(number, BYTES).unwrap();
    }
    assert!(!scene.set.has_kept(1) && scene.set.has_kept(2));
    assert!(matches!(scene.set.way_back(1), Err(WorkspaceError::NotKept { number: 1 })));
    scene.set.forget_kept_after(5);
    assert!(scene.set.has_kept(5) && !scene.set.has_kept(6));
    scene.writes("a", "1");
    let scene = scene.reopen();
    assert!(!scene.set.has_kept(5));
    assert!(fs::symlink_metadata(scene.set.folder.join("snapshots")).is_err());
}

/// Bytes on the disk of all that is kept.
fn kept_on_disk(scene: &Scene) -> u64 {
    let most = crate::DiskUsage { bytes: u64::MAX, files: u64::MAX };
    let snapshots = scene.set.folder.join("snapshots");
    crate::measure(&snapshots, most).map_or(0, |found| found.usage.bytes)
}

#[test]
fn all_that_is_kept_takes_no_more_than_it_may() {
    const MOST: u64 = 256 << 10;
    let text = |number: u32| format!("{number}").repeat(64 << 10);
    let mut scene = Scene::new(&[]);
    for number in 1..=9 {
        scene.writes("same", &text(number));
        scene.set.keep(number, MOST).unwrap();
        assert!(kept_on_disk(&scene) <= MOST + (64 << 10), "{number}");
    }
    assert!(!scene.set.has_kept(1) && scene.set.has_kept(8) && scene.set.has_kept(9));
    // Later all that is staged is too much, although only some of it is new each time.
    let mut refused = Vec::new();
    for number in 10..=16 {
        scene.writes(&format!("{number}"), &text(number % 10));
        match scene.set.keep(number, MOST) {
            Ok(()) => assert!(scene.set.has_kept(number)),
            Err(WorkspaceError::TooMuchToKeep { most: MOST }) => refused.push(number),
            Err(error) => panic!("{error}"),
        }
        assert!(kept_on_disk(&scene) <= MOST + (64 << 10), "{number}");
    }
    assert_eq!(refused, [13, 14, 15, 16]);
    // Those before it are still there.
    assert!(scene.set.has_kept(12));
}

#[test]
fn folders_and_small_files_take_room_too() {
    let mut scene = Scene::new(&[]);
    for number in 0..100 {
        scene.writes(&format!("{number}/f"), "x");
    }
    for number in 1..=4 {
        scene.set.keep(number, 1 << 20).unwrap();
    }
    assert!(scene.set.has_kept(4) && !scene.set.has_kept(1));
    assert!(matches!(scene.set.keep(5, 100 << 10), Err(WorkspaceError::TooMuchToKeep { .. })));
}

#[test]
fn a_copy_that_code_works_in_goes_back() {
    let mut scene = Scene::new(&[("a", "1"), ("d/b", "1")]);
    let most = crate::DiskUsage { bytes: 1 << 20, files: 100 };
    scene.set.take_copy(&[], most, None).unwrap();
    let copy = scene.set.copy().unwrap().to_owned();
    fs::write(copy.join("a"), "2").unwrap();
    fs::write(copy.join("new"), "2").unwrap();
    scene.set.keep(1, BYTES).unwrap();
    let then = snapshot(&copy);
    fs::write(copy.join("a"), "3").unwrap();
    fs::remove_file(copy.join("new")).unwrap();
    fs::create_dir(copy.join("new")).unwrap();
    fs::write(copy.join("new/in"), "3").unwrap();
    fs::remove_file(copy.join("d/b")).unwrap();
    fs::write(copy.join("later"), "3").unwrap();
    back(&mut scene, 1);
    assert_eq!(snapshot(&copy), then);
    assert_eq!(scene.lines(), ["changed a", "created new"]);
}

#[test]
fn a_kill_leaves_the_one_or_the_other_of_a_copy_too() {
    let (mut ends, mut steps) = (std::collections::BTreeSet::new(), 0);
    loop {
        let mut scene = Scene::new(&[("a", "1"), ("d/b", "1")]);
        let most = crate::DiskUsage { bytes: 1 << 20, files: 100 };
        scene.set.take_copy(&[], most, None).unwrap();
        let copy = scene.set.copy().unwrap().to_owned();
        fs::write(copy.join("a"), "2").unwrap();
        fs::write(copy.join("new"), "2").unwrap();
        scene.set.keep(1, BYTES).unwrap();
        fs::write(copy.join("a"), "3").unwrap();
        fs::remove_file(copy.join("new")).unwrap();
        fs::remove_file(copy.join("d/b")).unwrap();
        fs::write(copy.join("later"), "3").unwrap();
        let done = crate::journal::crash::after(steps, || scene.set.go_back(1).unwrap());
        let scene = scene.reopen();
        let staged = fs::read_to_string(scene.set.upper().join("a")).unwrap();
        ends.insert((staged, scene.lines().join(", ")));
        if done.is_some() {
            break;
        }
        steps += 1;
    }
    let then = ("2".to_owned(), "changed a, created new".to_owned());
    let now = ("3".to_owned(), "changed a, deleted d/b, created later".to_owned());
    assert_eq!(ends, [then, now].into());
    assert!(steps > 3, "{steps}");
}

#[test]
fn a_kill_leaves_the_one_or_the_other() {
    for steps in 0..40 {
        let mut scene = Scene::new(&[("a", "1")]);
        scene.writes("a", "2");
        scene.set.keep(1, BYTES).unwrap();
        scene.writes("a", "3").writes("later", "3");
        crate::journal::crash::after(steps, || drop(scene.set.go_back(1)));
        let scene = scene.reopen();
        let lines = scene.lines();
        assert!(lines == ["changed a"] || lines == ["changed a", "created later"], "{lines:?}");
        assert_eq!(scene.reads("a"), "1");
    }
}
