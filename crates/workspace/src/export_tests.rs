//! Files that are taken elsewhere, and the patch, which `git` itself applies.

use super::*;
use crate::{Conflict, scene::Scene};
use fs_err as fs;
use interpreter_core::outline::ApplyOrder;
use std::{io::Read, process::Command};

fn names(export: &Export) -> Vec<&str> {
    export.files.iter().map(|file| file.path.as_str()).collect()
}

fn read(mut file: File) -> String {
    let mut text = String::new();
    file.rewind().unwrap();
    file.read_to_string(&mut text).unwrap();
    text
}

/// The outcome of `git apply` for a patch, in a copy of the folder as it was.
fn applied_by_git(
    files: &[(&str, &str)],
    patch: &str,
) -> std::collections::BTreeMap<String, String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        crate::scene::put(folder.path(), name, text);
    }
    let place = folder.path().join("../").join(format!("{}.patch", uuid::Uuid::new_v4()));
    fs::write(&place, patch).unwrap();
    #[expect(clippy::disallowed_methods, reason = "git is the judge of a patch")]
    let done = Command::new("git")
        .args(["apply", "--verbose"])
        .arg(&place)
        .current_dir(folder.path())
        .env("GIT_CEILING_DIRECTORIES", folder.path().parent().unwrap())
        .output()
        .unwrap();
    fs::remove_file(&place).unwrap();
    assert!(done.status.success(), "{}\n{patch}", String::from_utf8_lossy(&done.stderr));
    crate::scene::snapshot(folder.path())
}

const BEFORE: &[(&str, &str)] = &[
    ("a", "one\ntwo\nthree\n"),
    ("bin", "\u{0}12"),
    ("gone", "bye\n"),
    ("d/in", "x"),
    ("t", "#!\n"),
];

fn changed() -> Scene {
    let scene = Scene::new(BEFORE);
    scene.writes("a", "one\n2\nthree").writes("bin", "\u{0}1234").deletes("gone");
    scene.writes("n/new", "hi\n").writes("empty", "").writes("with space", "s\n");
    scene.writes("ä\n+++ b/forged", "f\n").writes("q\"uote\\", "q\n");
    scene.writes("link", "-> /etc/passwd").writes(".env", "KEY=1\n").writes("t", "#!\n1\n");
    scene.sets_mode("t", 0o755);
    scene
}

#[test]
fn plain_files_come_along_and_the_rest_is_named() {
    let scene = changed();
    let export = scene.set.export(ExportOf::Staged).unwrap();
    let all = names(&export);
    assert_eq!(
        all,
        ["a", "bin", "empty", "n/new", "q\"uote\\", "t", "with space", "ä\n+++ b/forged"]
    );
    let left: Vec<_> = export.left_out.iter().map(|one| one.path.as_str()).collect();
    assert!([".env", "gone", "link"].iter().all(|name| left.contains(name)), "{left:?}");
    let a = export.files.iter().find(|file| file.path == "a").unwrap();
    assert_eq!(read(export.open(a).unwrap()), "one\n2\nthree");
    // Whatever code makes of it meanwhile is not taken for it.
    scene.writes("a", "longer than it was listed");
    assert!(export.open(a).is_err());
    fs::remove_file(scene.set.upper().join("a")).unwrap();
    scene.writes("a", "-> /etc/passwd");
    assert!(export.open(a).is_err());
}

#[test]
fn git_applies_the_patch() {
    let mut scene = changed();
    let (file, length) = scene.set.patch(ExportOf::Staged).unwrap();
    let patch = read(file);
    assert_eq!(patch.len() as u64, length);
    assert!(patch.starts_with("# not in this patch: bin: "), "{patch}");
    assert!(patch.contains("# not in this patch: link: a link"), "{patch}");
    assert!(!patch.contains("KEY=1") && !patch.contains("/etc/passwd"), "{patch}");
    let by_git = applied_by_git(BEFORE, &patch);
    let review = scene.set.review().unwrap();
    scene.set.apply_review(&review, &ApplyOrder::default(), Conflict::Refuse).unwrap();
    let (applied, _) = scene.set.patch(ExportOf::Applied).unwrap();
    assert_eq!(applied_by_git(BEFORE, &read(applied)), by_git);
    let mut ours = scene.holds();
    ours.remove("link");
    ours.insert("bin".into(), by_git["bin"].clone());
    assert_eq!(by_git, ours);
}

#[test]
fn applied_files_are_those_of_the_folder_until_they_are_undone() {
    let mut scene = Scene::new(&[("a", "1")]);
    scene.writes("a", "2").writes("b", "2");
    assert!(names(&scene.set.export(ExportOf::Applied).unwrap()).is_empty());
    scene.apply();
    assert!(names(&scene.set.export(ExportOf::Staged).unwrap()).is_empty());
    assert_eq!(names(&scene.set.export(ExportOf::Applied).unwrap()), ["a", "b"]);
    scene.set.undo(Conflict::Refuse).unwrap();
    assert!(names(&scene.set.export(ExportOf::Applied).unwrap()).is_empty());
}

#[test]
fn one_file_is_the_staged_one_or_the_persons_and_never_behind_a_link() {
    let scene = Scene::new(&[("a", "person"), ("b", "person"), ("d/in", "x"), ("out", "-> /etc")]);
    scene.writes("a", "staged").deletes("b").writes("planted", "-> /etc/passwd");
    let open = |path: &str| {
        let opened = open_file(Some(&scene.set), scene.set.work_folder(), path);
        opened.map(|(file, _)| read(file))
    };
    assert_eq!(open("a").unwrap(), "staged");
    assert_eq!(open("d/in").unwrap(), "x");
    for path in
        ["b", "planted", "out/passwd", "../a", "/etc/passwd", "d", "", "nowhere", r"\x2e\x2e/a"]
    {
        assert!(matches!(open(path), Err(WorkspaceError::NoSuchFile { .. })), "{path}");
    }
    let without = open_file(None, scene.set.work_folder(), "a").unwrap();
    assert_eq!(read(without.0), "person");
}
