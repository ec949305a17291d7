//! Exports as the libraries of others read them: nbformat for notebooks, py-ocsf-models for events.
//! `scripts/test` installs both.

use crate::scene::{Scene, cell};
use std::process::{Command, Output};

/// Where `scripts/test` puts the libraries.
const PYTHON: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/test-tools/exports/bin/python");

/// Raises unless every file is a notebook.
const NOTEBOOKS: &str = "import nbformat, sys\n\
    for name in sys.argv[1:]: nbformat.validate(nbformat.read(name, as_version=nbformat.NO_CONVERT))";

/// Raises unless every line is an event of OCSF, and prints the classes. The library knows the parts
/// that all events share, and the class of findings.
const EVENTS: &str = "import json, sys\n\
    from py_ocsf_models.events.base_event import BaseEvent\n\
    from py_ocsf_models.events.findings.detection_finding import DetectionFinding\n\
    for line in open(sys.argv[1]):\n    \
        event = json.loads(line)\n    \
        kind = DetectionFinding if event['class_uid'] == 2004 else BaseEvent\n    \
        kind.model_validate(event)\n    \
        print(event['class_uid'])";

/// A chat with output of every kind, and its end.
fn talked() -> Scene {
    let shown = "class Shown:\n    def _repr_html_(self): return '<b>é</b>'\n    \
        def __repr__(self): return 'shown'\nprint('out')\nShown()";
    let scene = Scene::new().model_says(&[
        &cell("python", shown),
        &cell("python", "import sys\nprint('err', file=sys.stderr)\n1 / 0"),
        &cell("shell", "echo new > made.txt; printf '\\033[1mbold'"),
        &cell("python", "import os\nos.system('true')"),
        "That was **all**.",
    ]);
    scene.chat(&["--yes", "show me"]).exits(0);
    scene
}

/// Has a script of Python read a file in the work folder.
fn read(scene: &Scene, script: &str, file: &str) -> Output {
    let python = std::fs::canonicalize(PYTHON).map(|_| PYTHON).expect("`scripts/test` makes it");
    let file = scene.work().join(file);
    Command::new(python).args(["-I", "-c", script]).arg(file).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_notebook_is_one_for_the_library_of_jupyter() {
    let scene = talked();
    scene.run(&["history", "export", "-o", "it.ipynb"]).exits(0);
    let seen = read(&scene, NOTEBOOKS, "it.ipynb");
    assert!(seen.status.success(), "{}", said(&seen));
    let notebook = scene.read("it.ipynb").unwrap();
    for part in ["ZeroDivisionError", "<b>é</b>", "markdown", "bold", "That was **all**."] {
        assert!(notebook.contains(part), "{part}: {notebook}");
    }
    // The control: the library refuses a cell of no known kind.
    let scene = scene.file("no.ipynb", notebook.replace("\"markdown\"", "\"poem\""));
    let seen = read(&scene, NOTEBOOKS, "no.ipynb");
    assert!(!seen.status.success() && said(&seen).contains("poem"), "{}", said(&seen));
}

#[test]
fn events_are_some_for_a_library_of_ocsf() {
    let scene = talked();
    scene.run(&["audit", "export", "--format", "ocsf", "-o", "events.jsonl"]).exits(0);
    let seen = read(&scene, EVENTS, "events.jsonl");
    assert!(seen.status.success(), "{}", said(&seen));
    let classes = String::from_utf8(seen.stdout).unwrap();
    assert_eq!(classes.lines().filter(|class| *class == "2004").count(), 4, "{classes}");
    let events = scene.read("events.jsonl").unwrap();
    // The controls: the library misses the product, and knows no such severity.
    for (part, other) in [("\"product\":", "\"produce\":"), ("\"severity_id\":", "\"severity\":")] {
        let scene = Scene::new().file("no.jsonl", events.replace(part, other));
        let seen = read(&scene, EVENTS, "no.jsonl");
        assert!(!seen.status.success() && said(&seen).contains("ValidationError"));
    }
}
