//! Change sets as things of their own: which one is meant, what is withheld, and what damage costs.

use crate::scene::{Scene, Who};
use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

/// Stages a file, and gives the set's id.
fn staged(scene: &Scene, code: &str) -> String {
    scene.code("shell", code).exits(0);
    ids(scene).remove(0)
}

/// The ids of the sets that can be used, the newest first.
fn ids(scene: &Scene) -> Vec<String> {
    let listed = scene.run(&["changes", "list", "--json"]).exits(0).records();
    let usable = listed.iter().filter(|set| set["state"] != "unreadable");
    usable.map(|set| set["id"].as_str().unwrap().to_owned()).collect()
}

fn set_folder(scene: &Scene, id: &str) -> PathBuf {
    scene.data().join("changes").join(id)
}

#[test]
fn a_file_name_is_never_taken_for_an_id() {
    let scene = Scene::new();
    let first = staged(&scene, "for n in 1 2 3; do echo x > file$n; done");
    let short = &first[..1];
    let second = staged(&scene, &format!("echo one > {short}; echo two > other"));
    assert_ne!(first, second);
    // Only the file of that name, of the newest set.
    let applied = scene.run(&["changes", "apply", short]).exits(0);
    applied.mentions("Applied 1 change").mentions(&format!("Set {second} of "));
    assert_eq!((scene.read(short).unwrap(), scene.read("file1")), ("one\n".into(), None));
    // No file is called so.
    for command in ["apply", "diff", "discard"] {
        let refused = scene.run(&["changes", command, &first[..7]]).exits(2);
        refused.mentions(&format!("type the whole id to name the set {first}"));
        let refused = scene.run(&["changes", command, "--set", &first[..7]]).exits(2);
        refused.mentions("only the beginning of an id").mentions(&first);
    }
    scene.run(&["changes", "undo", &second[..7]]).mentions("only the beginning").exits(2);
    assert_eq!(scene.read("file1"), None);
    scene.run(&["changes", "apply", &first]).mentions("Applied 3 changes").exits(0);
}

#[test]
fn a_name_that_is_both_an_id_and_a_file_is_refused() {
    let scene = Scene::new();
    let first = staged(&scene, "echo x > file1");
    staged(&scene, &format!("echo y > {first}"));
    for command in ["apply", "diff", "discard"] {
        let refused = scene.run(&["changes", command, &first]).exits(2);
        refused.mentions(&format!("`--set {first}`")).mentions(&format!("`./{first}`"));
    }
    assert!(scene.read("file1").is_none() && scene.read(&first).is_none());
    scene.run(&["changes", "apply", &format!("./{first}")]).exits(0);
    assert_eq!((scene.read(&first).unwrap(), scene.read("file1")), ("y\n".into(), None));
    scene.run(&["changes", "apply", "--set", &first]).exits(0);
    assert_eq!(scene.read("file1").unwrap(), "x\n");
}

#[test]
fn an_unknown_id_is_named_also_where_nothing_is_staged() {
    let scene = Scene::new();
    for command in ["apply", "diff", "discard", "undo", "redo"] {
        scene.run(&["changes", command]).mentions("Nothing ").mentions("in this folder.").exits(0);
        scene.run(&["changes", command, "0a1b2c3d"]).mentions("0a1b2c3d").exits(2);
        scene.run(&["changes", command, "--set", "0a1b2c3d"]).mentions("0a1b2c3d").exits(2);
    }
    scene.run(&["changes", "apply", "out.txt"]).mentions("out.txt").exits(2);
}

#[test]
fn the_set_that_is_meant_is_named_and_one_of_another_folder_is_refused() {
    let scene = Scene::new();
    let id = staged(&scene, "echo x > a");
    let line = format!("Set {id} of 20");
    for command in ["diff", "apply", "undo", "redo", "undo"] {
        scene.run(&["changes", command]).mentions(&line).exits(0);
    }
    let id = staged(&scene, "echo y > a");
    scene.run(&["changes", "discard"]).mentions(&format!("Set {id} of 20")).exits(0);
    let id = staged(&scene, "echo z > a");
    let mut elsewhere = scene.command(&["changes", "apply", "--set", &id]);
    let refused = elsewhere.current_dir(scene.home()).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(scene.read("a").is_none());
}

#[test]
fn what_belongs_to_a_repository_is_applied_only_by_its_name() {
    for who in Who::all() {
        let scene = Scene::of(who).file(".git/config", "[core]\n").file("sub/x", "x");
        let code = "printf '[core]\\nfsmonitor = evil\\n' > .git/config; mkdir -p .git/hooks; \
                    echo evil > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; \
                    mkdir -p sub/.hg; echo x > sub/.hg/hgrc; echo y > plain";
        scene.code("shell", code).exits(0).mentions("git reads it with every command");
        let applied = scene.run(&["changes", "apply"]).exits(0);
        applied
            .mentions("Applied 1 change")
            .mentions("left out .git: ")
            .mentions("`interpreter changes apply .git`")
            .mentions("left out sub/.hg: ");
        assert_eq!(scene.read(".git/config").unwrap(), "[core]\n");
        assert_eq!((scene.read(".git/hooks/pre-commit"), scene.read("sub/.hg/hgrc")), (None, None));
        scene.run(&["changes", "apply", ".git/hooks"]).mentions("Applied 1 change").exits(0);
        assert_eq!(scene.read(".git/config").unwrap(), "[core]\n");
        scene.run(&["changes", "apply", ".git"]).exits(0);
        assert!(scene.read(".git/config").unwrap().contains("evil"));
    }
}

#[test]
fn everything_that_was_applied_is_named_or_counted_and_on_record() {
    let scene = Scene::new();
    let code = "for n in $(seq 1 60); do echo x > filler$n; done; mkdir deep; \
                for n in $(seq 1 400); do echo x > deep/$n; done; echo 'import os' > setup.py; \
                echo x > run.sh; chmod +x run.sh; echo x > zz-last";
    scene.code("shell", code).exits(0);
    let diff = scene.run(&["changes", "diff"]).exits(0);
    assert!(diff.stdout().starts_with("diff --git a/setup.py b/setup.py"), "{}", diff.stdout());
    let applied = scene.run(&["changes", "apply", "--yes"]).exits(0);
    let text = applied.stdout();
    let named: Vec<_> = text.lines().filter(|line| line.starts_with("  created  ")).collect();
    assert!(named[0].contains("setup.py (runs when the project is built)"), "{text}");
    assert!(named[1].contains("run.sh (executable)"), "{text}");
    let counted: usize = text
        .lines()
        .filter_map(|line| line.strip_prefix("  and ")?.split(' ').next()?.parse::<usize>().ok())
        .sum();
    assert_eq!(named.len() + counted, 463, "{text}");
    let record = scene.run(&["history", "show", "--json"]).exits(0);
    let files = record.of_kind("changes").pop().unwrap()["files"].as_array().unwrap().clone();
    assert_eq!((files.len(), &files[0]["path"]), (463, &"setup.py".into()));
    assert_eq!(files[0]["runs_later"], "runs when the project is built");
    assert_eq!(files[1]["executable"], true);
}

#[test]
fn a_damaged_set_costs_itself_alone() {
    for who in Who::all() {
        let scene = Scene::of(who);
        let whole = staged(&scene, "echo x > a");
        for (file, text) in [("set.json", ""), ("set.json", "{\"version\": 99}")] {
            let damaged = staged(&scene, "echo y > b");
            std::fs::write(set_folder(&scene, &damaged).join(file), text).unwrap();
            let listed = scene.run(&["changes"]).exits(0);
            listed.mentions(&whole).mentions(&format!("Set {damaged} cannot be used: "));
            scene.run(&["changes", "diff"]).mentions(&format!("Set {whole} of ")).exits(0);
            scene.code("shell", "true").exits(0);
            scene.run(&["changes", "apply", &damaged]).mentions(file).exits(2);
            scene.run(&["changes", "discard", &damaged]).exits(0);
            assert!(!set_folder(&scene, &damaged).exists());
            scene.run(&["changes"]).lacks("cannot be used").exits(0);
        }
    }
}

#[test]
fn undo_refuses_what_was_edited_and_changes_nothing() {
    for who in Who::all() {
        let scene = Scene::of(who).file(".bashrc", "mine\n").file("b", "x\n");
        let code = "echo good > .bashrc; echo y > b";
        scene.run(&["run", "--apply", "-l", "shell", "-c", code]).exits(0);
        let id = ids(&scene).remove(0);
        let journal = set_folder(&scene, &id).join("applied/1");
        let manifest = std::fs::read_to_string(journal.join("manifest.json")).unwrap();
        let hash = |text: &str| interpreter_core::hash::sha256(text.as_bytes());
        std::fs::write(journal.join("before/0"), "evil\n").unwrap();
        scene.run(&["changes", "undo"]).mentions(".bashrc").exits(2);
        let forged = manifest.replace(&hash("mine\n"), &hash("evil\n"));
        assert_ne!(forged, manifest);
        std::fs::write(journal.join("manifest.json"), forged).unwrap();
        let named = scene.run(&["changes", "undo", &id]).exits(2);
        named.mentions("manifest.json").mentions("changed by another program");
        assert_eq!(scene.read(".bashrc").unwrap() + &scene.read("b").unwrap(), "good\ny\n");
        // As it was, it can be undone.
        std::fs::write(journal.join("manifest.json"), manifest).unwrap();
        std::fs::write(journal.join("before/0"), "mine\n").unwrap();
        scene.run(&["changes", "undo"]).exits(0);
        assert_eq!(scene.read(".bashrc").unwrap(), "mine\n");
    }
}

/// Takes all right to write away from a tree, or gives it back.
fn set_writable(path: &Path, writable: bool) {
    let data = std::fs::symlink_metadata(path).unwrap();
    if data.is_symlink() {
        return;
    }
    let mode = data.permissions().mode();
    let mode = if writable { mode | 0o200 } else { mode & !0o222 };
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    if data.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            set_writable(&entry.unwrap().path(), writable);
        }
    }
}

#[test]
fn where_nothing_can_be_written_sets_are_listed_all_the_same() {
    let scene = Scene::of(Who::unprivileged());
    let id = staged(&scene, "echo x > a");
    set_writable(&scene.data(), false);
    let listed = scene.run(&["changes", "list"]);
    let shown = scene.run(&["changes", "diff"]);
    set_writable(&scene.data(), true);
    listed.mentions(&id).exits(0);
    shown.mentions("+x").exits(0);
}
