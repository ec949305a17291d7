//! Indexes and packages that lie about hashes, records and bundles: against every installer, each
//! with a control.

use super::{
    Tool,
    exact::{control, fine},
    index::{Index, Served, npm_of, npm_package, npm_that_says, wheel, wheel_that_says},
};
use crate::scene::{Scene, Who};
use serde_json::{Value, json};
use std::path::Path;

/// The packages that an order comes to: each with the one that requires it.
fn resolved(scene: &Scene, order: &[&str]) -> Vec<(String, Option<String>)> {
    let seen = scene.run(&[&["packages", "add", "--json"], order].concat()).exits(0);
    let list = seen.of_kind("packages_resolved")[0]["list"]["comes"].clone();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let read = |one: &Value| (text(&one["name"]).unwrap(), text(&one["required_by"]));
    list.as_array().unwrap().iter().map(read).collect()
}

#[test]
fn every_tool_tells_which_package_requires_which() {
    let asks = |name: &str, wanted: &str| {
        wheel_that_says(name, "1.0", &format!("Requires-Dist: {wanted}\n"), &[])
    };
    let index =
        Index::of(&[asks("top-thing", "Mid.Thing>=1"), asks("mid-thing", "fine-thing"), fine()]);
    for tool in Tool::all() {
        let scene = tool.of(index.scene(Who::unprivileged()));
        let [fine, mid, top] = ["fine-thing", "mid-thing", "top-thing"];
        let told = resolved(&scene, &[top]);
        let some = |by: &str| Some(by.to_owned());
        let expected = [(fine, some(mid)), (mid, some(top)), (top, None)];
        assert_eq!(told, expected.map(|(name, by)| (name.to_owned(), by)), "{}", tool.name());
        // A package that the order names is there because of the order.
        let scene = tool.of(index.scene(Who::unprivileged()));
        let told = resolved(&scene, &[fine, mid]);
        assert_eq!(told, [fine, mid].map(|name| (name.to_owned(), None)), "{}", tool.name());
    }
}

#[test]
fn a_file_must_have_the_hash_that_the_index_claims() {
    let index = Index::of(&[
        wheel("evil-thing", "1.0", &[("evil_thing.py", "")]).claiming(&"0".repeat(64)),
        wheel("odd-thing", "1.0", &[("odd_thing.py", "")]).claiming("../../x"),
        fine(),
    ]);
    for tool in Tool::all() {
        let scene = tool.of(index.scene(Who::unprivileged()));
        for name in ["evil-thing", "odd-thing"] {
            let seen = scene.run(&["packages", "add", name]);
            let listed = scene.run(&["packages"]).exits(0).stdout();
            // A claim that is no hash is none, and then the file has its own.
            assert!(name == "odd-thing" || !listed.contains(name), "{}", seen.stdout());
        }
        scene.code("python", "import evil_thing").mentions("ModuleNotFoundError").exits(1);
        control(&scene);
    }
}

/// A record names files of others and files outside, for whoever removes by it.
#[test]
fn no_record_of_a_package_is_believed() {
    let lies = format!("{0},,\nfine_thing.py,,\n{0}home,,\n/etc/passwd,,\n", "../".repeat(12));
    let index = Index::of(&[
        fine(),
        wheel(
            "evil-thing",
            "1.0",
            &[
                ("evil_thing.py", ""),
                ("info:RECORD", &lies),
                ("info:INSTALLER", "nobody"),
                ("info:REQUESTED", ""),
                ("info:direct_url.json", "{\"url\": \"file:///etc\"}"),
            ],
        ),
    ]);
    for tool in Tool::all() {
        let scene = tool.of(index.scene(Who::unprivileged()));
        control(&scene);
        scene.run(&["packages", "add", "evil-thing"]).mentions("evil-thing 1.0").exits(0);
        scene.run(&["packages"]).lacks("belong to no package").exits(0);
        scene.run(&["packages", "remove", "evil-thing"]).mentions("1 package removed").exits(0);
        assert!(Path::new("/etc/passwd").exists() && scene.home().exists());
        let word = "import fine_thing; print(fine_thing.word)";
        scene.code("python", word).prints("fine\n").exits(0);
        scene.run(&["packages"]).lacks("evil-thing").lacks("belong to no package").exits(0);
    }
}

const PLANTED: &str = "/tmp/planted-by-a-package-of-npm";

#[test]
fn files_of_a_package_of_npm_stay_in_its_folder() {
    let up = "../".repeat(12);
    let out = format!("package/{up}{}", &PLANTED[1..]);
    let files = |files: &[(&str, &str)]| {
        let own = ("package/index.js", "exports.word = 1;\n");
        npm_of("evil-thing", "1.0.0", &json!({}), &[&[own], files].concat())
    };
    let says = |more: Value| npm_that_says("evil-thing", "1.0.0", &more, "exports.word = 1;\n");
    let evil = [
        files(&[(&out, "x")]),
        files(&[(PLANTED, "x")]),
        files(&[("link:package/out", "/tmp"), ("package/out/planted-by-a-package-of-npm", "x")]),
        files(&[("link:package/up", &up), ("package/up/tmp/planted-by-a-package-of-npm", "x")]),
        says(json!({ "bin": { "../../../../../x": "index.js" } })),
        says(json!({ "bin": { "node": format!("{up}usr/bin/env") } })),
        says(json!({ "directories": { "bin": format!("{up}usr/bin") } })),
        says(json!({ "man": [format!("{up}etc/passwd")] })),
    ];
    for (number, evil) in evil.into_iter().enumerate() {
        let index = Index::of(&[evil, npm_package("fine-thing", "1.0.0", "exports.word = 42;\n")]);
        let scene = index.scene(Who::unprivileged());
        scene.run(&["packages", "add", "--npm", "evil-thing"]);
        assert!(!Path::new(PLANTED).exists(), "{number}");
        assert!(!scene.work().join("x").exists() && !scene.home().join("x").exists(), "{number}");
        scene.run(&["packages", "add", "--npm", "fine-thing"]).exits(0);
        let word = "console.log(require('fine-thing').word)";
        scene.code("javascript", word).prints("42\n").exits(0);
    }
}

/// A package that brings another in its own file, or says so.
fn bundling(brings: bool) -> Served {
    let inner = json!({
        "name": "hidden", "version": "1.0.0", "main": "index.js",
        "scripts": { "postinstall": "node -e \"require('fs').writeFileSync('ran.js', '')\"" },
    });
    let inner = inner.to_string();
    let ran = "try { require('./ran'); exports.ran = true } catch { exports.ran = false }\n";
    let mut files = vec![("package/index.js", "exports.ran = require('hidden').ran;\n")];
    if brings {
        files.push(("package/node_modules/hidden/package.json", &inner));
        files.push(("package/node_modules/hidden/index.js", ran));
    }
    let more = json!({
        "dependencies": { "hidden": "1.0.0" },
        "bundleDependencies": ["hidden"], "bundledDependencies": ["hidden"],
    });
    npm_of("bundling", "1.0.0", &more, &files)
}

#[test]
fn a_bundled_package_is_listed_and_its_scripts_run_only_with_leave() {
    let ran = "console.log(require('bundling').ran)";
    let index = Index::of(&[bundling(true)]);
    let scene = index.scene(Who::unprivileged());
    let told = resolved(&scene, &["--npm", "bundling"]);
    let names: Vec<_> = told.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["bundling", "hidden"]);
    scene.code("javascript", ran).prints("false\n").exits(0);
    // It is a part of the file that may be built now.
    scene.run(&["packages", "add", "--npm", "--build", "bundling"]).exits(0);
    scene.code("javascript", ran).prints("true\n").exits(0);
}

/// The registry says that a package is in the file of another, and has it fetched from elsewhere.
#[test]
fn a_bundle_that_is_none_is_fetched_from_nowhere_else() {
    let elsewhere = Index::of(&[npm_package("hidden", "1.0.0", "exports.ran = 'evil';\n")]);
    let index = Index::at(|_| {
        let hidden = npm_package("hidden", "1.0.0", "exports.ran = 'evil';\n");
        vec![bundling(false), elsewhere.told_by(hidden)]
    });
    let scene = index.scene(Who::unprivileged());
    scene.run(&["packages", "add", "--npm", "bundling"]);
    assert_eq!(elsewhere.asked().len(), 0, "{:?}", elsewhere.asked());
    let evil = "try { console.log(require('bundling').ran) } catch { console.log('none') }";
    scene.code("javascript", evil).lacks("evil");
    // The control: where the registry has it itself.
    let index = Index::of(&[bundling(false), npm_package("hidden", "1.0.0", "exports.ran = 7;\n")]);
    let scene = index.scene(Who::unprivileged());
    scene.run(&["packages", "add", "--npm", "hidden"]).exits(0);
    scene.code("javascript", "console.log(require('hidden').ran)").prints("7\n").exits(0);
}
