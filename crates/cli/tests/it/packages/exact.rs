//! The packages that are shown are those that are installed: hostile packages against every
//! installer, each with a control.

use super::{
    Tool,
    index::{Index, Served, npm_package, npm_that_says, source, wheel, wheel_that_says},
};
use crate::{
    scene::{Scene, Who, cell},
    terminal::Terminal,
};
use serde_json::json;
use std::path::{Path, PathBuf};

pub(super) fn fine() -> Served {
    wheel("fine-thing", "1.0", &[("fine_thing.py", "word = 'fine'\n")])
}

/// A plain package comes, is there and goes.
pub(super) fn control(scene: &Scene) {
    scene.run(&["packages", "add", "fine-thing"]).mentions("fine-thing 1.0").exits(0);
    scene.code("python", "import fine_thing; print(fine_thing.word)").prints("fine\n").exits(0);
}

/// The folder that packages of Python are in.
fn environment(scene: &Scene) -> PathBuf {
    let folders = scene.home().join(".local/share/interpreter/packages");
    let own = std::fs::read_dir(folders).unwrap().next().unwrap().unwrap().path().join("env");
    let all = std::fs::read_dir(own).unwrap().map(|one| one.unwrap().path());
    all.into_iter().find(|one| one.to_string_lossy().contains("python-")).unwrap()
}

fn site(scene: &Scene) -> PathBuf {
    let library = environment(scene).join("lib");
    let python = std::fs::read_dir(library).unwrap().next().unwrap().unwrap().path();
    python.join("site-packages")
}

/// A source that is fetched by an address is built to find out what it requires.
#[test]
fn a_package_by_an_address_is_refused_and_nothing_of_it_is_built() {
    let index = Index::at(|here| {
        let asks = |name: &str, address: &str| {
            let more = format!("Requires-Dist: hidden-thing @ {address}\n");
            wheel_that_says(name, "1.0", &more, &[])
        };
        let files = format!("{here}/files");
        let build = format!(
            "import urllib.request\nurllib.request.urlopen('{here}/evil-ran', timeout=5)\n"
        );
        vec![
            fine(),
            source("hidden-thing", "1.0", &build),
            wheel("other-thing", "1.0", &[]),
            asks("by-source", &format!("{files}/hidden_thing-1.0.tar.gz")),
            asks("by-wheel", &format!("{files}/other_thing-1.0-py3-none-any.whl")),
            asks("by-git", &format!("git+{here}/hidden.git")),
            asks("by-folder", "file:///usr/share/hidden"),
        ]
    });
    for tool in Tool::all() {
        let scene = tool.of(index.scene(Who::unprivileged()));
        for name in ["by-source", "by-wheel", "by-git", "by-folder"] {
            let seen = scene.run(&["packages", "add", name]).exits(1);
            let seen = seen.mentions("hidden").lacks("installed for this folder");
            if ["by-source", "by-git"].contains(&name) {
                seen.mentions(&format!("hidden-thing, which {name} requires, comes by an address"));
            }
        }
        scene.run(&["packages"]).mentions("No packages are installed").exits(0);
        control(&scene);
    }
    let ran = |index: &Index| index.asked().iter().any(|one| one.contains("evil-ran"));
    assert!(!ran(&index), "{:?}", index.asked());
    // The control: where it may be built, it runs and reaches the index.
    let scene = index.scene(Who::unprivileged());
    scene.run(&["packages", "add", "--build", "hidden-thing"]);
    assert!(ran(&index), "{:?}", index.asked());
}

/// Runs with every interpreter that loads the packages: marks itself, plants another file and calls
/// the index.
fn evil(here: &str) -> Served {
    let module = format!(
        "import os, sys, urllib.request\n\
         site = os.path.dirname(os.path.abspath(__file__))\n\
         for name in ('zz_other.py', 'zz_other.pth'):\n\
         \x20   try: open(os.path.join(site, name), 'w').write('import sys\\n')\n\
         \x20   except OSError: pass\n\
         try: urllib.request.urlopen('{here}/evil-ran', timeout=5)\n\
         except Exception: pass\n"
    );
    wheel("evil-thing", "1.0", &[("evil_start.py", &module), ("evil.pth", "import evil_start\n")])
}

#[test]
fn a_package_runs_in_no_installer_and_does_not_outlive_its_removal() {
    for who in Who::all() {
        for tool in Tool::all() {
            let index = Index::at(|here| vec![fine(), evil(here)]);
            let scene = tool.of(index.scene(who));
            let alive = "import sys; print('evil_start' in sys.modules, 'zz_other' in sys.modules)";
            scene.run(&["packages", "add", "evil-thing"]).exits(0);
            // The control: it runs with code, in the sandbox of code.
            scene.code("python", alive).prints("True False\n").exits(0);
            control(&scene);
            scene.run(&["packages", "remove", "evil-thing"]).mentions("1 package removed").exits(0);
            scene.code("python", alive).prints("False False\n").exits(0);
            assert!(!index.asked().iter().any(|one| one.contains("evil-ran")));
            let files = std::fs::read_dir(site(&scene)).unwrap();
            let names = files.map(|one| one.unwrap().file_name().into_string().unwrap());
            let odd: Vec<_> =
                names.filter(|one| one.contains("evil") || one.contains("zz")).collect();
            assert_eq!(odd, Vec::<String>::new());
            scene.run(&["packages"]).mentions("fine-thing 1.0").lacks("no package:").exits(0);
            scene.code("python", "import fine_thing").exits(0);
        }
    }
}

#[test]
fn a_file_of_no_package_is_named_and_goes_with_the_next_change() {
    let index = Index::of(&[fine(), wheel("other-thing", "1.0", &[])]);
    let scene = index.scene(Who::Ourselves);
    control(&scene);
    scene.run(&["packages"]).lacks("belong to no package").exits(0);
    std::fs::write(site(&scene).join("zz_other.pth"), "import sys\n").unwrap();
    let seen = scene.run(&["packages"]).mentions("Files that belong to no package").exits(0);
    seen.mentions("zz_other.pth");
    scene.run(&["doctor", "--json"]).mentions("files that belong to no package: lib/");
    scene.run(&["packages", "add", "other-thing"]).exits(0);
    scene.run(&["packages"]).lacks("belong to no package").exits(0);
    assert!(!site(&scene).join("zz_other.pth").exists());
}

/// The index gives another file after the question was put.
#[test]
fn another_file_than_the_one_that_was_shown_is_refused() {
    for tool in Tool::all() {
        let index = super::tiny();
        let scene = tool.of(index.scene(Who::unprivileged()));
        let scene = scene.model_says(&[&cell("python", super::USES_IT), "Done."]);
        let terminal = Terminal::open(&scene, &[]);
        terminal.types("go").shows("Run it?").types("y").shows(super::QUESTION);
        index.serves_instead(&wheel("tiny-thing", "1.0", &[("tiny_thing.py", "word = 'evil'\n")]));
        terminal.types("y").shows("the index gave another file for tiny-thing 1.0");
        terminal.shows("Done.").types("/quit").exits(0);
        scene.run(&["packages"]).mentions("No packages are installed").exits(0);
    }
}

#[test]
fn a_package_that_is_not_sound_is_refused() {
    let up = "../".repeat(12);
    let one = |files: &[(&str, &str)]| wheel("evil-thing", "1.0", files);
    let up_out = format!("{up}tmp/planted-by-a-package");
    let scripts_out = format!("evil_thing-1.0.data/scripts/{up}tmp/planted-by-a-package");
    let names = "Metadata-Version: 2.1\nName: fine-thing\nVersion: 1.0\n";
    let other = "Metadata-Version: 2.1\nName: evil-thing\nVersion: 2.0\n";
    let evil = [
        one(&[(&up_out, "x")]),
        one(&[("/tmp/planted-by-a-package", "x")]),
        one(&[("a/./b.py", "x")]),
        one(&[("link:evil", "/tmp")]),
        one(&[(&scripts_out, "x")]),
        one(&[("evil_thing-1.0.data/scripts/python3", "x")]),
        one(&[("evil_thing-1.0.data/data/pyvenv.cfg", "x")]),
        one(&[("evil_thing-1.0.data/data/bin/python", "x")]),
        one(&[("evil_thing-1.0.data/data/lib/python3.11/site-packages/x.pth", "x")]),
        one(&[("evil_thing-1.0.data/odd/x", "x")]),
        one(&[("evil_thing-1.0.data/purelib/fine_thing-1.0.dist-info/RECORD", "x")]),
        one(&[("fine_thing-1.0.dist-info/RECORD", "x")]),
        one(&[("info:entry_points.txt", "[console_scripts]\npython = a:b\n")]),
        one(&[("info:entry_points.txt", "[console_scripts]\nx = a:b;import os\n")]),
        one(&[("info:METADATA", names)]),
        one(&[("info:METADATA", other)]),
        one(&[("info:WHEEL", "Wheel-Version: 9.0\n")]),
        one(&[("a\\b.py", "x")]),
        one(&[("a\nb.py", "x")]),
        // Other letters for the same words.
        one(&[("FINE_THING-1.0.DIST-INFO/RECORD", "x")]),
        one(&[("evil_thing-1.0.data/purelib/FINE_THING-1.0.DIST-INFO/RECORD", "x")]),
        one(&[("evil_thing-1.0.DATA/scripts/PYTHON3", "x")]),
        one(&[("evil_thing-1.0.data/scripts/sub/x", "x")]),
    ];
    let tools = Tool::all();
    for (number, evil) in evil.into_iter().enumerate() {
        // The files are unpacked by us, whichever tool has found them.
        let tool = tools[number % tools.len()];
        let index = Index::of(&[evil, fine()]);
        let scene = tool.of(index.scene(Who::Ourselves));
        control(&scene);
        let seen = scene.run(&["packages", "add", "evil-thing"]);
        assert!(!Path::new("/tmp/planted-by-a-package").exists(), "{number}");
        let listed = scene.run(&["packages"]).mentions("fine-thing 1.0").exits(0).stdout();
        assert!(!listed.contains("evil-thing"), "{number}: {}", seen.stderr());
        scene.code("python", "import fine_thing").exits(0);
    }
    // Programs, data and headers of a sound one.
    let sound = one(&[
        ("evil_thing.py", "def main(): print('started')\n"),
        ("evil_thing-1.0.data/scripts/old-way", "#!python\nimport evil_thing; evil_thing.main()\n"),
        ("evil_thing-1.0.data/data/share/x.txt", "x"),
        ("evil_thing-1.0.data/headers/x.h", "x"),
        ("info:entry_points.txt", "[console_scripts]\nnew-way = evil_thing:main\n"),
    ]);
    for tool in tools {
        let index = Index::of(std::slice::from_ref(&sound));
        let scene = tool.of(index.scene(Who::Ourselves));
        scene.run(&["packages", "add", "evil-thing"]).exits(0);
        scene.code("shell", "new-way; old-way").prints("started\nstarted\n").exits(0);
        scene.run(&["packages"]).lacks("belong to no package").exits(0);
        assert!(environment(&scene).join("share/x.txt").exists());
    }
}

/// A package cannot write over files of another one that is installed with it.
#[test]
fn a_package_does_not_write_over_another() {
    let evil = wheel("evil-thing", "1.0", &[("fine.pth", "import evil\n"), ("evil.py", "")]);
    let fine =
        wheel("fine-thing", "1.0", &[("fine_thing.py", "word = 'fine'\n"), ("fine.pth", "")]);
    let index = Index::of(&[evil, fine]);
    for tool in Tool::all() {
        let scene = tool.of(index.scene(Who::Ourselves));
        control(&scene);
        let seen = scene.run(&["packages", "add", "evil-thing"]).exits(1);
        seen.mentions("it would write over 'fine.pth' of fine-thing");
        let word = "import fine_thing; print(fine_thing.word)";
        scene.code("python", word).prints("fine\n").exits(0);
    }
}

#[test]
fn what_is_removed_needs_no_index() {
    for tool in Tool::all() {
        let index = Index::of(&[fine(), wheel("other-thing", "1.0", &[("other_thing.py", "")])]);
        let scene = tool.of(index.scene(Who::unprivileged()));
        scene.run(&["packages", "add", "fine-thing", "other-thing"]).exits(0);
        let offline = scene.variable("PIP_INDEX_URL", "http://127.0.0.1:9/simple");
        offline.run(&["packages", "remove", "other-thing"]).exits(0);
        offline.code("python", "import fine_thing; print(fine_thing.word)").prints("fine\n");
        offline.code("python", "import other_thing").mentions("ModuleNotFoundError").exits(1);
    }
}

#[test]
fn what_was_built_stays_when_something_else_comes() {
    for tool in Tool::all() {
        let index = Index::of(&[source("slow-thing", "1.0", ""), fine()]);
        let scene = tool.of(index.scene(Who::unprivileged()));
        scene.run(&["packages", "add", "slow-thing"]).mentions("--build").exits(1);
        let built = scene.run(&["packages", "add", "--build", "slow-thing"]);
        built.mentions("slow-thing 1.0").exits(0);
        control(&scene);
        scene.code("python", "import slow_thing; print(slow_thing.word)").prints("built\n");
    }
}

/// A script of npm's that marks its own folder, and one that has the mark of another.
fn scripted(name: &str, more: &serde_json::Value) -> Served {
    let write = "node -e \"require('fs').writeFileSync('ran.js', 'module.exports = 1')\"";
    let mut says = json!({ "scripts": { "postinstall": write, "preinstall": write } });
    for (field, value) in more.as_object().into_iter().flatten() {
        says[field] = value.clone();
    }
    npm_that_says(
        name,
        "1.0.0",
        &says,
        "try { require('./ran'); exports.ran = true } catch { exports.ran = false }\n",
    )
}

#[test]
fn scripts_of_npm_run_only_where_they_may_and_only_those_that_are_named() {
    let index = Index::of(&[
        scripted("one-thing", &json!({ "dependencies": { "two-thing": "1.0.0" } })),
        scripted("two-thing", &json!({})),
        npm_package("fine-thing", "1.0.0", "exports.word = 42;\n"),
    ]);
    let ran = "console.log(require('one-thing').ran, require('two-thing').ran)";
    for who in Who::all() {
        let scene = index.scene(who);
        let seen = scene.run(&["packages", "add", "--npm", "one-thing"]).exits(0);
        seen.mentions("one-thing has install scripts, which did not run");
        scene.code("javascript", ran).prints("false false\n").exits(0);
        scene.run(&["packages", "add", "--npm", "--build", "one-thing"]).exits(0);
        scene.code("javascript", ran).prints("true false\n").exits(0);
        // It stays as it was built, and nothing runs for another.
        scene.run(&["packages", "add", "--npm", "fine-thing"]).exits(0);
        scene.code("javascript", ran).prints("true false\n").exits(0);
        scene.code("javascript", "console.log(require('fine-thing').word)").prints("42\n").exits(0);
        scene.run(&["packages", "remove", "--npm", "one-thing"]).exits(0);
        scene.code("javascript", ran).mentions("one-thing").exits(1);
    }
}

#[test]
fn npm_takes_nothing_but_packages_of_the_registry() {
    let index = Index::at(|here| {
        let asks = |name: &str, wanted: &str| {
            npm_that_says(name, "1.0.0", &json!({ "dependencies": { "hidden": wanted } }), "")
        };
        vec![
            npm_package("fine-thing", "1.0.0", "exports.word = 42;\n"),
            npm_package("hidden", "1.0.0", ""),
            asks("by-git", &format!("git+{here}/hidden.git")),
            asks("by-address", &format!("{here}/npm/hidden/-/hidden-1.0.0.tgz")),
            asks("by-folder", "file:../../../hidden"),
            asks("by-name", "npm:hidden@1.0.0"),
        ]
    });
    let scene = index.scene(Who::unprivileged());
    for name in ["by-git", "by-address", "by-folder"] {
        let seen = scene.run(&["packages", "add", "--npm", name]).exits(1);
        seen.lacks("installed for this folder");
    }
    scene.run(&["packages"]).mentions("No packages are installed").exits(0);
    // The control, with a dependency that the list names.
    let seen = scene.run(&["packages", "add", "--npm", "--json", "by-name", "fine-thing"]).exits(0);
    let list = seen.of_kind("packages_resolved")[0]["list"]["comes"].to_string();
    assert!(list.contains("\"hidden\"") && list.contains("\"by-name\""), "{list}");
    scene.code("javascript", "console.log(require('fine-thing').word)").prints("42\n").exits(0);
}

#[test]
fn another_file_than_the_one_in_the_list_of_npm_is_refused() {
    let index = Index::of(&[npm_package("tiny-thing", "1.0.0", "exports.word = 42;\n")]);
    let code = "const { word } = require('tiny-thing'); console.log('the word is', word);";
    let scene = index.scene(Who::unprivileged());
    let scene = scene.model_says(&[&cell("javascript", code), "Done."]);
    let terminal = Terminal::open(&scene, &[]);
    terminal.types("go").shows("Run it?").types("y").shows("tiny-thing is not installed.");
    index.serves_instead(&npm_package("tiny-thing", "1.0.0", "exports.word = 'evil';\n"));
    terminal.types("y").shows("another file than the one that was looked up");
    terminal.shows("Done.").types("/quit").exits(0);
    scene.run(&["packages"]).mentions("No packages are installed").exits(0);
}
