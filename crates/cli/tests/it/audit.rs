//! The record taken elsewhere: exports, anchors, and what becomes of them.

use crate::scene::{Scene, Seen};
use std::fs;

fn ran() -> Scene {
    let scene = Scene::new();
    scene.code("shell", "echo first").exits(0);
    scene.code("shell", "echo second").exits(0);
    scene
}

fn anchor(scene: &Scene) -> String {
    let line = scene.run(&["audit", "anchor"]).exits(0).stdout();
    assert!(line.starts_with("interpreter-anchor-1 "), "{line}");
    line.trim().to_owned()
}

fn verify(scene: &Scene, more: &[&str]) -> Seen {
    scene.run(&[&["audit", "verify"], more].concat())
}

#[test]
fn an_export_can_be_checked_elsewhere_and_any_change_shows() {
    let scene = ran();
    scene.run(&["audit", "export", "-o", "all.jsonl"]).exits(0);
    let elsewhere = Scene::new();
    let path = elsewhere.work().join("all.jsonl");
    fs::copy(scene.work().join("all.jsonl"), &path).unwrap();
    verify(&elsewhere, &["--file", "all.jsonl"]).mentions("in 2 sessions, all linked").exits(0);
    // No file is replaced.
    scene.run(&["audit", "export", "-o", "all.jsonl"]).mentions("cannot be written").exits(2);
    let whole = fs::read_to_string(&path).unwrap();
    let lines: Vec<_> = whole.lines().collect();
    fs::write(&path, whole.replace("first", "fIrst")).unwrap();
    verify(&elsewhere, &["--file", "all.jsonl"]).mentions("does not match its hash").exits(1);
    fs::write(&path, [&lines[..1], &lines[2..]].concat().join("\n")).unwrap();
    verify(&elsewhere, &["--file", "all.jsonl"]).mentions("it is missing").exits(1);
    fs::write(&path, format!("{whole}{{\"kind\":\"note\"}}\n")).unwrap();
    verify(&elsewhere, &["--file", "all.jsonl"]).mentions("is not a line of an export").exits(1);
    // The same records as everywhere, and one session or time alone.
    let newest = scene.run(&["history", "show", "--json"]).records();
    let id = newest[0]["session"].as_str().unwrap();
    let one = scene.run(&["audit", "export", "--session", id]).exits(0).records();
    assert_eq!(one.len(), newest.len());
    for (exported, record) in one.iter().zip(&newest) {
        for (name, value) in record.as_object().unwrap() {
            assert_eq!(&exported[name], value);
        }
    }
    assert!(scene.run(&["audit", "export", "--until", "2020-01-01"]).exits(0).stdout().is_empty());
    assert_eq!(
        scene.run(&["audit", "export", "--since", "2020-01-01"]).records().len(),
        lines.len()
    );
    scene.run(&["audit", "export", "--since", "soon"]).mentions("neither a date").exits(2);
}

#[test]
fn an_export_for_other_tools_has_the_attributes_they_need() {
    let scene = ran();
    let events = scene.run(&["audit", "export", "--format", "ocsf"]).exits(0).records();
    let classes: Vec<_> = events.iter().map(|event| event["class_uid"].as_u64().unwrap()).collect();
    for class in [1007, 2004, 3003, 6002] {
        assert!(classes.contains(&class), "{class} is not in {classes:?}");
    }
    for event in &events {
        for name in ["category_uid", "activity_id", "type_uid", "severity_id", "time"] {
            assert!(event[name].is_u64(), "{name}: {event}");
        }
        assert_eq!(event["metadata"]["version"], "1.3.0");
        assert_eq!(event["metadata"]["product"]["name"], "interpreter");
    }
}

/// The attack: the whole data folder, with its key, is put back as it was.
#[test]
fn an_anchor_shows_that_the_record_was_set_back() {
    let scene = ran();
    let before = anchor(&scene);
    verify(&scene, &["--anchor", &before]).mentions("The anchor holds: ").exits(0);
    let copy = scene.home().join("copy");
    let copied = std::process::Command::new("cp").arg("-a").arg(scene.data()).arg(&copy).status();
    assert!(copied.unwrap().success());
    scene.code("shell", "echo third").exits(0);
    let after = anchor(&scene);
    for line in [&before, &after] {
        verify(&scene, &["--anchor", line]).mentions("The anchor holds: ").exits(0);
    }
    fs::remove_dir_all(scene.data()).unwrap();
    fs::rename(&copy, scene.data()).unwrap();
    verify(&scene, &[]).mentions("all linked").exits(0);
    verify(&scene, &["--anchor", &before]).mentions("The anchor holds: ").exits(0);
    verify(&scene, &["--anchor", &after]).mentions("was set back or replaced").exits(1);
    verify(&scene, &["--anchor", "nonsense"]).mentions("is not an anchor").exits(2);
}

#[test]
fn an_anchor_shows_what_an_export_leaves_out() {
    let scene = ran();
    let line = anchor(&scene);
    scene.run(&["audit", "export", "-o", "all.jsonl"]).exits(0);
    let file = ["--file", "all.jsonl", "--anchor", &line];
    verify(&scene, &file).mentions("The anchor holds: ").exits(0);
    // Without the end of a session it is still linked.
    let path = scene.work().join("all.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    let at = whole.lines().position(|line| line.contains("session_ended")).unwrap();
    let cut: Vec<_> = whole.lines().enumerate().filter(|(n, _)| *n != at).map(|(_, l)| l).collect();
    fs::write(&path, cut.join("\n")).unwrap();
    verify(&scene, &file[..2]).mentions("all linked").exits(0);
    verify(&scene, &file).mentions("The anchor does not hold: record ").exits(1);
}
