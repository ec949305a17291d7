//! `interpreter doctor`: what it finds by attacking, and what it returns.

use crate::{
    backends::{
        BUBBLEWRAP, FIREJAIL, LANDLOCK, NATIVE, is_installed, where_namespaces_are_refused,
    },
    scene::{Scene, Seen, Who},
};
use interpreter_core::Promise;
use serde_json::Value;

fn report(seen: &Seen) -> Value {
    serde_json::from_str(&seen.stdout()).unwrap_or_else(|_| panic!("{}", seen.stderr()))
}

fn sandbox<'a>(report: &'a Value, name: &str) -> &'a Value {
    let all = report["sandboxes"].as_array().unwrap();
    all.iter().find(|sandbox| sandbox["name"] == name).unwrap()
}

/// The attacks that came to this.
fn attacks(sandbox: &Value, outcome: &str) -> Vec<String> {
    let all = sandbox["attacks"].as_array().unwrap().iter();
    let such = all.filter(|tried| tried["outcome"] == outcome);
    such.map(|tried| tried["attack"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_sandbox_that_is_there_is_attacked() {
    for who in Who::all() {
        let scene = Scene::of(who);
        let report = report(&scene.run(&["doctor", "--json"]).exits(0));
        assert_eq!(
            (&report["chosen"], &report["keeps_everything"]),
            (&"native".into(), &true.into())
        );
        for backend in [NATIVE, BUBBLEWRAP, FIREJAIL, LANDLOCK] {
            let sandbox = sandbox(&report, backend.word());
            let is_here = is_installed(backend)
                && Who::all_for(backend).contains(&who)
                && (backend != FIREJAIL || who == Who::Ourselves);
            if !is_here {
                continue;
            }
            assert_eq!(sandbox["built"], true, "{sandbox}");
            assert_eq!(attacks(sandbox, "got_through"), Vec::<String>::new(), "{backend}");
            // Yama may keep anybody from tracing, sandbox or not.
            let unproven = attacks(sandbox, "unproven");
            assert!(unproven.iter().all(|name| name == "traces_process"), "{unproven:?}");
            assert!(attacks(sandbox, "stopped").len() >= 9, "{sandbox}");
        }
        // Nothing of it is left.
        let left = std::fs::read_dir(scene.data().join("sandboxes")).into_iter().flatten();
        assert_eq!(left.count(), 0);
    }
}

#[test]
fn where_nothing_would_run_it_says_what_is_in_the_way() {
    let scene = Scene::of(Who::unprivileged());
    let seen = Seen(where_namespaces_are_refused(&scene, &["doctor", "--json"]));
    let report = report(&seen);
    assert_eq!(report["chosen"], Value::Null);
    assert_eq!(report["keeps_everything"], false);
    assert_eq!(sandbox(&report, "native")["built"], false);
    let obstacle = &report["obstacles"][0];
    assert_eq!(
        (&obstacle["name"], &obstacle["weight"]),
        (&"max_user_namespaces".into(), &"prevents".into())
    );
    if is_installed(LANDLOCK) {
        assert_eq!(sandbox(&report, "landlock")["built"], true);
    }
    seen.exits(4);
    let told = Seen(where_namespaces_are_refused(&scene, &["doctor"]));
    told.mentions("BROKEN   sandbox     nothing would run")
        .mentions("fix: `sudo sysctl -w user.max_user_namespaces=10000`")
        .exits(4);
}

#[test]
fn a_weaker_sandbox_is_told_as_such() {
    if !is_installed(LANDLOCK) {
        return;
    }
    let words = Promise::ALL.map(|promise| format!("\"{promise}\"")).join(", ");
    let config = format!(
        "workspace = \"read-only\"\n[sandbox]\nbackend = \"landlock\"\nallow_missing = [{words}]\n"
    );
    let scene = Scene::new().home_file(".config/interpreter/config.toml", &config);
    scene
        .run(&["doctor"])
        .mentions("Not ready: the landlock sandbox")
        .mentions("does not fully keep")
        .exits(4);
    scene.run(&["doctor", "-v"]).mentions("ok       machine     Linux").exits(4);
    let none = "workspace = \"direct\"\n[sandbox]\nbackend = \"none\"\n";
    let scene = Scene::new().home_file(".config/interpreter/config.toml", none);
    scene.run(&["doctor"]).mentions("your config file asks for no sandbox at all").exits(4);
}

#[test]
fn its_fields_are_known() {
    let report = report(&Scene::new().run(&["doctor", "--json"]));
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let native = sandbox(&report, "native");
    let fields = [&report, native, &native["attacks"][0], &report["findings"][0]].map(names);
    let documented = include_str!("../../../../docs/reference/doctor.md");
    for field in fields.iter().flatten() {
        assert!(
            documented.contains(&format!("`{field}`")),
            "docs/reference/doctor.md lacks {field}"
        );
    }
    for tried in native["attacks"].as_array().unwrap() {
        let name = tried["attack"].as_str().unwrap();
        assert!(documented.contains(&format!("`{name}`")), "docs/reference/doctor.md lacks {name}");
    }
}
