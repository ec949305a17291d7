//! Code works in a copy: its changes are found, applied, undone and discarded as usual.

use super::*;
use crate::{
    Conflict, Place, WorkspaceError,
    rehearsal::{Rehearsal, deeds},
    scene::{Scene, put, set_mode, snapshot, texts},
};
use interpreter_core::outline::ApplyOrder;
use proptest::prelude::*;
use rustix::fs::{CWD, Mode, XattrFlags, mkfifoat, setxattr};
use std::os::unix::fs::{MetadataExt, symlink};

const ALL: DiskUsage = DiskUsage { bytes: u64::MAX, files: u64::MAX };

/// A scene whose code works in a copy, and where that is.
fn copying(files: &[(&str, &str)]) -> (Scene, PathBuf) {
    started(Scene::new(files))
}

fn started(mut scene: Scene) -> (Scene, PathBuf) {
    assert_eq!(scene.set.take_copy(&[], ALL, None).unwrap(), NotCopied::default());
    let copy = scene.set.copy().unwrap().to_owned();
    (scene, copy)
}

fn names(left_out: &[LeftOut]) -> Vec<&str> {
    left_out.iter().map(|one| one.path.as_str()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn applying_gives_what_code_saw_and_undo_what_was_before(
        person in deeds(12), program in deeds(12), ended in any::<bool>(),
    ) {
        let (mut scene, copy) = started(Rehearsal::of(&person, &[]).scene);
        let before = scene.holds();
        prop_assert_eq!(snapshot(&copy), before.clone());
        prop_assert_eq!(scene.lines(), Vec::<String>::new());
        for deed in &program {
            deed.perform(&copy);
        }
        let merged = snapshot(&copy);
        let lines = scene.lines();
        if ended {
            scene = scene.reopen();
            prop_assert!(!copy.exists());
            prop_assert_eq!(scene.lines(), lines.clone());
        }
        scene.apply();
        prop_assert_eq!(scene.holds(), merged);
        prop_assert_eq!(scene.lines(), Vec::<String>::new());
        if !lines.is_empty() {
            scene.set.undo(Conflict::Refuse).unwrap();
        }
        prop_assert_eq!(scene.holds(), before);
        prop_assert_eq!(scene.lines(), lines);
    }

    #[test]
    fn discarding_gives_code_what_the_person_has(
        person in deeds(12), program in deeds(12), more in deeds(6),
    ) {
        let (mut scene, copy) = started(Rehearsal::of(&person, &[]).scene);
        let before = scene.holds();
        for deeds in [&program, &more] {
            for deed in deeds {
                deed.perform(&copy);
            }
            scene.set.discard(&[]).unwrap();
            prop_assert_eq!(snapshot(&copy), before.clone());
            prop_assert_eq!(scene.lines(), Vec::<String>::new());
        }
        prop_assert_eq!(scene.holds(), before);
        prop_assert!(scene.set.remove_if_empty().unwrap().is_none());
    }
}

#[test]
fn what_code_did_not_touch_is_no_change_whatever_the_person_did() {
    let (mut scene, copy) = copying(&[("a", "1"), ("b", "1"), ("d/e", "1")]);
    scene.person_writes("a", "mine");
    scene.person_writes("new", "mine");
    fs::remove_file(scene.work.join("d/e")).unwrap();
    assert_eq!(scene.lines(), Vec::<String>::new());
    fs::write(copy.join("b"), "2").unwrap();
    assert_eq!(scene.apply(), ["changed b"]);
    assert_eq!((scene.reads("a"), scene.reads("new")), ("mine".into(), "mine".into()));
}

#[test]
fn what_the_person_changed_or_deleted_meanwhile_is_not_overwritten() {
    let (mut scene, copy) = copying(&[("a", "1"), ("d/b", "1"), ("c", "1")]);
    for name in ["a", "d/b", "c"] {
        fs::write(copy.join(name), "2").unwrap();
    }
    scene.person_writes("a", "mine");
    // The clock moves on until the folder's own time tells that a name has gone.
    scene.person_writes("d/x", "mine");
    fs::remove_file(scene.work.join("d/b")).unwrap();
    let Err(WorkspaceError::Conflict { paths }) = scene.set.apply(&[], Conflict::Refuse) else {
        panic!("it was applied");
    };
    assert_eq!(paths, ["a", "d/b"]);
    assert_eq!(scene.apply_only(&["c"]).unwrap(), ["changed c"]);
    scene.set.apply(&[], Conflict::Overwrite).unwrap();
    assert_eq!((scene.reads("a"), scene.reads("d/b")), ("2".into(), "2".into()));
}

#[test]
fn modes_times_links_and_holes_are_copied_and_special_files_are_told() {
    let mut scene = Scene::new(&[("tool", "x"), ("l", "-> nowhere"), ("d/", "")]);
    set_mode(&scene.work.join("tool"), 0o4755);
    set_mode(&scene.work.join("d"), 0o500);
    fs::File::create(scene.work.join("hole")).unwrap().set_len(1 << 40).unwrap();
    mkfifoat(CWD, scene.work.join("pipe"), Mode::RWXU).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(scene.work.join("socket")).unwrap();
    let left = scene.set.take_copy(&[], DiskUsage { bytes: 1 << 20, files: 10 }, None).unwrap();
    let mut told: Vec<_> =
        left.named.iter().map(|one| format!("{}: {}", one.path, one.why)).collect();
    told.sort();
    assert_eq!(told, ["pipe: it is a pipe", "socket: it is a socket"]);
    let copy = scene.set.copy().unwrap();
    let data = |root: &Path, name: &str| fs::symlink_metadata(root.join(name)).unwrap();
    for name in ["tool", "l", "d", "hole"] {
        let (own, copied) = (data(&scene.work, name), data(copy, name));
        assert_eq!(own.mtime_nsec(), copied.mtime_nsec(), "{name}");
        assert_eq!(own.mode() & 0o777, copied.mode() & 0o777, "{name}");
    }
    assert_eq!(data(copy, "tool").mode() & 0o7000, 0);
    assert_eq!(data(copy, "hole").len(), 1 << 40);
    assert_eq!(scene.lines(), Vec::<String>::new());
}

#[test]
fn what_is_covered_is_not_there_and_what_code_makes_there_is_left_out() {
    let mut scene = Scene::new(&[("a", "1"), (".env", "KEY=canary"), ("s/key", "canary")]);
    let covered = [".env", "s"].map(|name| scene.work.join(name));
    scene.set.take_copy(&covered, ALL, None).unwrap();
    let copy = scene.set.copy().unwrap().to_owned();
    assert_eq!(snapshot(&copy).keys().collect::<Vec<_>>(), ["a"]);
    put(&copy, ".env", "mine now");
    put(&copy, "s", "a file where a folder is");
    put(&copy, "b", "2");
    assert_eq!(scene.lines(), ["created b"]);
    let shown = scene.set.review().unwrap();
    assert_eq!(names(&shown.left_out), [".env", "s"]);
    scene.set.apply_review(&shown, &ApplyOrder::default(), Conflict::Refuse).unwrap();
    assert_eq!((scene.reads(".env"), scene.reads("s/key")), ("KEY=canary".into(), "canary".into()));
    assert!(scene.set.apply(&texts(&[".env"]), Conflict::Refuse).is_err());
}

#[test]
fn a_folder_that_is_too_large_is_refused_and_nothing_is_left() {
    let mut scene = Scene::new(&[("a", "1"), ("b", "1"), ("c", &"x".repeat(100_000))]);
    for most in [DiskUsage { files: 2, ..ALL }, DiskUsage { bytes: 50_000, ..ALL }] {
        let refused = scene.set.take_copy(&[], most, None).unwrap_err();
        let said = refused.to_string();
        assert!(matches!(refused, WorkspaceError::TooMuchToCopy { .. }), "{said}");
        assert!(said.contains(scene.work.to_str().unwrap()), "{said}");
        assert!(said.contains("2 files") || said.contains("50000 bytes"), "{said}");
        assert!(!is_left(&scene.set.folder) && !scene.set.folder.join(TAKEN).exists());
    }
    assert!(scene.set.remove_if_empty().unwrap().is_none());
}

#[test]
fn the_folder_of_sets_is_not_copied_into_itself() {
    let place = tempfile::tempdir().unwrap();
    let work = fs::canonicalize(place.path()).unwrap();
    put(&work, "a", "1");
    let mut set = Set::create(
        &Place::new(work.join("data/changes"), interpreter_core::hash::SealKey::new(&[1; 32])),
        &work,
        "session",
    )
    .unwrap();
    set.take_copy(&[], DiskUsage { files: 3, ..ALL }, None).unwrap();
    let copied: Vec<_> = snapshot(set.copy().unwrap()).into_keys().collect();
    assert_eq!(copied, ["a", "data"]);
    assert_eq!(set.changes().unwrap(), []);
}

#[test]
fn after_a_crash_nothing_is_lost_and_the_copy_goes() {
    let (scene, copy) = copying(&[("a", "1"), ("b", "1")]);
    fs::write(copy.join("a"), "2").unwrap();
    fs::remove_file(copy.join("b")).unwrap();
    // Nobody had looked yet.
    let Scene { work, changes, .. } = &scene;
    let (work, changes) = (work.clone(), changes.clone());
    let (set, _place) = scene.without_set();
    drop(set);
    let list = Set::list(&changes, Some(&work)).unwrap().sets;
    assert_eq!((list.len(), list[0].files), (1, 2));
    assert!(!copy.exists());
}

#[test]
fn a_copy_that_was_not_finished_says_nothing() {
    let (scene, copy) = copying(&[("a", "1")]);
    fs::remove_file(copy.join("a")).unwrap();
    fs::remove_file(scene.set.folder.join(TAKEN)).unwrap();
    let scene = scene.reopen();
    assert!(!copy.exists());
    assert_eq!(scene.lines(), Vec::<String>::new());
}

#[test]
fn what_was_applied_and_then_changed_by_the_person_stays_settled() {
    let (mut scene, copy) = copying(&[("a", "1")]);
    fs::write(copy.join("a"), "2").unwrap();
    scene.apply();
    scene.person_writes("a", "mine");
    assert_eq!(scene.lines(), Vec::<String>::new());
    // The end of the session takes a name away from every staged file.
    let scene = scene.reopen();
    assert_eq!(scene.lines(), Vec::<String>::new());
    assert_eq!(scene.reads("a"), "mine");
}

#[test]
fn links_that_code_plants_lead_nowhere() {
    let outside = tempfile::tempdir().unwrap();
    put(outside.path(), "f", "outside");
    let (mut scene, copy) = copying(&[("d/f", "1"), ("e/f", "1"), ("g", "1")]);
    fs::write(copy.join("d/f"), "evil").unwrap();
    assert_eq!(scene.lines(), ["changed d/f"]);
    // The folder that was looked into is a link by now.
    fs::rename(copy.join("d"), copy.join("was")).unwrap();
    symlink(outside.path(), copy.join("d")).unwrap();
    fs::remove_file(copy.join("g")).unwrap();
    symlink(outside.path().join("f"), copy.join("g")).unwrap();
    fs::remove_dir_all(copy.join("e")).unwrap();
    symlink("../../..", copy.join("e")).unwrap();
    scene.apply();
    let target = fs::read_link(scene.work.join("g")).unwrap();
    assert_eq!(target, outside.path().join("f"));
    assert_eq!(scene.reads("was/f"), "evil");
    // Restored files do not go through them either.
    scene.set.undo(Conflict::Refuse).unwrap();
    scene.set.discard(&[]).unwrap();
    assert_eq!(fs::read_to_string(copy.join("d/f")).unwrap(), "1");
    assert_eq!(snapshot(&copy), scene.holds());
    assert_eq!(snapshot(outside.path()).len(), 1);
    assert_eq!(fs::read_to_string(outside.path().join("f")).unwrap(), "outside");
}

#[test]
fn marks_that_code_fakes_say_nothing() {
    let (scene, copy) = copying(&[("a", "1"), ("d/b", "1")]);
    fs::write(copy.join("a"), "").unwrap();
    setxattr(copy.join("a"), "user.overlay.whiteout", b"", XattrFlags::empty()).unwrap();
    setxattr(copy.join("d"), "user.overlay.opaque", b"y", XattrFlags::empty()).unwrap();
    put(&copy, "d/c", "2");
    assert_eq!(scene.lines(), ["changed a", "created d/c"]);
    // Nor in the layer itself, which Landlock does not keep it from marking.
    setxattr(copy.join("a"), "user.overlay.whiteout", b"", XattrFlags::empty()).unwrap();
    setxattr(scene.set.upper().join("d"), "user.overlay.opaque", b"y", XattrFlags::empty())
        .unwrap();
    assert_eq!(scene.lines(), ["changed a", "created d/c"]);
}

#[test]
fn what_is_locked_or_bottomless_is_seen_and_goes() {
    let (mut scene, copy) = copying(&[("a", "1"), ("d/b", "1")]);
    put(&copy, "d/b", "2");
    put(&copy, "n/m", "2");
    for name in ["d/b", "d", "n"] {
        set_mode(&copy.join(name), 0o000);
    }
    let mut at = Folder::open(&copy, Intent::Change).unwrap();
    for _ in 0..400 {
        at.create_folder(OsStr::new("deep")).unwrap();
        at = at.child(OsStr::new("deep"), Intent::Change).unwrap();
    }
    drop(at);
    assert_eq!(scene.lines().len(), 4, "{:?}", scene.lines());
    scene.set.discard(&[]).unwrap();
    assert_eq!(snapshot(&copy), scene.holds());
    assert_eq!(scene.lines(), Vec::<String>::new());
}

#[test]
fn a_folder_can_be_given_another_name() {
    let (mut scene, copy) = copying(&[("d/e", "1"), ("d/s/f", "1")]);
    fs::rename(copy.join("d"), copy.join("n")).unwrap();
    assert_eq!(scene.lines(), ["renamed d/ → n/"]);
    scene.person_writes("beside", "mine");
    scene.apply();
    assert_eq!(scene.reads("n/s/f"), "1");
    assert!(!scene.work.join("d").exists());
}

#[test]
fn some_of_it_can_be_forgotten() {
    let (mut scene, copy) = copying(&[("a", "1"), ("b", "1"), ("d/e", "1")]);
    put(&copy, "a", "2");
    put(&copy, "d/e", "2");
    put(&copy, "n/m", "2");
    fs::remove_file(copy.join("b")).unwrap();
    scene.set.discard(&texts(&["d", "b"])).unwrap();
    assert_eq!(scene.lines(), ["changed a", "created n/m"]);
    assert_eq!(fs::read_to_string(copy.join("b")).unwrap(), "1");
}

#[test]
fn what_is_put_back_is_what_was_there_before_and_nothing_newer() {
    let (mut scene, copy) = copying(&[("d/a", "1"), ("d/s/b", "1"), ("d-", "1"), ("e/c", "1")]);
    put(&scene.work, "d/.env", "canary");
    put(&scene.work, "d/a", "mine");
    fs::remove_dir_all(copy.join("d")).unwrap();
    fs::remove_file(copy.join("d-")).unwrap();
    scene.set.discard(&[]).unwrap();
    let names: Vec<_> = snapshot(&copy).into_keys().collect();
    assert_eq!(names, ["d", "d-", "d/a", "d/s", "d/s/b", "e", "e/c"]);
    assert_eq!(fs::read_to_string(copy.join("d/a")).unwrap(), "mine");
    assert_eq!(scene.lines(), Vec::<String>::new());
    // Nor does the crash of a session after that tell of anything.
    let scene = scene.reopen();
    assert_eq!(scene.lines(), Vec::<String>::new());
}

#[test]
fn what_changed_after_it_was_shown_is_applied_as_it_was_shown() {
    for trick in ["content", "mapped", "another", "deleted", "mode"] {
        let (mut scene, copy) = copying(&[("a", "1"), ("b", "1")]);
        put(&copy, "a", "2");
        let shown = scene.set.review().unwrap();
        match trick {
            "content" => fs::write(copy.join("a"), "evil").unwrap(),
            // In place, so that the file in the layer is the same one.
            "mapped" => {
                let file = fs::OpenOptions::new().write(true).open(copy.join("a")).unwrap();
                std::os::unix::fs::FileExt::write_all_at(file.file(), b"e", 0).unwrap();
            }
            "another" => put(&copy, "n/extra", "evil"),
            "deleted" => fs::remove_file(copy.join("b")).unwrap(),
            _ => set_mode(&copy.join("a"), 0o755),
        }
        let before = scene.set.diff_of(&shown).unwrap();
        assert!(before.raw().contains("+2") && !before.raw().contains("evil"), "{trick}");
        scene.set.apply_review(&shown, &ApplyOrder::default(), Conflict::Refuse).unwrap();
        assert_eq!((scene.reads("a"), scene.reads("b")), ("2".into(), "1".into()), "{trick}");
        assert_eq!(scene.holds().len(), 2, "{trick}");
        assert_eq!(scene.lines().len(), 1, "{trick}");
    }
}

#[test]
fn a_copy_for_another_user_is_theirs_and_what_lands_is_not() {
    const OTHER: u32 = 4242;
    if !rustix::process::geteuid().is_root() {
        return eprintln!("not tried: only root can give files away");
    }
    let mut scene = Scene::new(&[("d/file", "old")]);
    scene.set.take_copy(&[], ALL, Some(OTHER)).unwrap();
    let copy = scene.set.copy().unwrap().to_owned();
    let owner = |path: PathBuf| fs::metadata(path).unwrap().uid();
    for path in ["", "d", "d/file"] {
        assert_eq!(owner(copy.join(path)), OTHER, "{path}");
    }
    assert_eq!(scene.lines(), Vec::<String>::new());
    put(&copy, "d/new", "new");
    std::os::unix::fs::chown(copy.join("d/new"), Some(OTHER), Some(OTHER)).unwrap();
    fs::remove_file(copy.join("d/file")).unwrap();
    scene.set.discard(&["d/file".into()]).unwrap();
    assert_eq!(owner(copy.join("d/file")), OTHER);
    scene.apply();
    assert_eq!(owner(scene.work.join("d/new")), 0);
}
