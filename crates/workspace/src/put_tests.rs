//! Files of the person's own, staged beside those of code.

use super::*;
use crate::{Conflict, scene::Scene};
use fs_err as fs;
use interpreter_core::outline::ApplyOrder;

fn received(scene: &Scene, text: &str) -> ReceivedFile {
    let place = scene.changes.clone();
    let mut incoming = IncomingFile::begin(&place, text.len() as u64, 1 << 20).unwrap();
    for piece in text.as_bytes().chunks(3) {
        incoming.write(&place, piece).unwrap();
    }
    incoming.finish()
}

fn put(scene: &mut Scene, path: &str, text: &str) -> Result<(), WorkspaceError> {
    let file = received(scene, text);
    scene.set.put(path, &file)?;
    assert!(scene.set.has_put(path, &file).unwrap(), "{path}");
    Ok(())
}

#[test]
fn a_file_waits_for_a_decision_like_those_of_code() {
    let mut scene = Scene::new(&[("a", "old"), ("d/in", "x")]);
    let before = scene.holds();
    put(&mut scene, "new.csv", "1,2\n").unwrap();
    put(&mut scene, "a", "new").unwrap();
    put(&mut scene, "d/e/deep", "y").unwrap();
    assert_eq!(scene.lines(), ["changed a", "created d/e/deep", "created new.csv"]);
    assert_eq!(scene.reads("a"), "old");
    let review = scene.set.review().unwrap();
    scene.set.apply_review(&review, &ApplyOrder::default(), Conflict::Refuse).unwrap();
    assert_eq!(scene.reads("new.csv"), "1,2\n");
    assert_eq!((scene.reads("d/in"), scene.reads("d/e/deep")), ("x".into(), "y".into()));
    scene.set.undo(Conflict::Refuse).unwrap();
    assert_eq!(scene.reads("a"), "old");
    assert_eq!(scene.holds(), before);
}

#[test]
fn what_code_deleted_stays_deleted_beside_it() {
    let mut scene = Scene::new(&[("d/in", "x"), ("gone", "x")]);
    scene.deletes("d").deletes("gone");
    put(&mut scene, "d/new", "y").unwrap();
    put(&mut scene, "gone", "back").unwrap();
    let lines = scene.lines();
    assert!(lines.iter().any(|line| line == "deleted d/in"), "{lines:?}");
    assert!(lines.iter().any(|line| line == "changed gone"), "{lines:?}");
}

#[test]
fn it_lands_nowhere_else() {
    let mut scene = Scene::new(&[("file", "x"), ("folder/in", "x"), ("link", "-> /tmp")]);
    scene.writes("planted", "-> ..").writes("planted-file", "-> file");
    let before = scene.holds();
    for path in [
        "",
        ".",
        "..",
        "../a",
        "/etc/passwd",
        "a/../../b",
        "a\0",
        r"\x2e\x2e/a",
        "folder",
        "file/below",
        "link/a",
        "link",
        "planted/a",
        "planted",
        "planted-file",
        "folder/",
    ] {
        let refused = put(&mut scene, path, "evil").unwrap_err();
        assert!(matches!(refused, WorkspaceError::CannotPut { .. }), "{path}: {refused:?}");
    }
    assert_eq!(scene.holds(), before);
    assert!(!scene.work.parent().unwrap().join("a").exists());
    // The control: a file beside them is staged.
    put(&mut scene, "folder/beside", "fine").unwrap();
}

#[test]
fn one_that_is_not_whole_leaves_nothing_and_none_is_longer_than_it_says() {
    let scene = Scene::new(&[]);
    let place = scene.changes.clone();
    let before = fs::read_dir(place.folder()).unwrap().count();
    let mut incoming = IncomingFile::begin(&place, 4, 100).unwrap();
    incoming.write(&place, b"123").unwrap();
    assert_eq!(fs::read_dir(place.folder()).unwrap().count(), before);
    let longer = incoming.write(&place, b"45").unwrap_err();
    assert!(matches!(longer, WorkspaceError::TooLarge { .. }));
    drop(incoming);
    assert_eq!(fs::read_dir(place.folder()).unwrap().count(), before);
    assert!(matches!(
        IncomingFile::begin(&place, 101, 100),
        Err(WorkspaceError::TooLarge { bytes: 101, most: 100 })
    ));
    assert!(matches!(
        IncomingFile::begin(&place, u64::MAX / 4, u64::MAX),
        Err(WorkspaceError::NoRoom { .. })
    ));
}

#[test]
fn the_host_finds_it_laid_out_with_its_folders() {
    let mut scene = Scene::new(&[("tool", "x")]);
    let file = received(&scene, "new");
    scene.set.lay_out_put("a/b/c", &file).unwrap();
    assert_eq!(fs::read_to_string(scene.set.back().join("a/b/c")).unwrap(), "new");
    // Laying out another takes the first away.
    scene.set.lay_out_put("d", &file).unwrap();
    assert!(!scene.set.back().join("a").exists());
    assert!(!scene.set.has_put("d", &file).unwrap());
    put(&mut scene, "d", "new").unwrap();
}
