//! Rules that a person or a project adds to the analysis: found, named, refused if they do not hold.

use crate::scene::{Scene, cell};

const OWN: &str = ".config/interpreter/rules/release.toml";
const PROJECT: &str = ".interpreter/rules/team.toml";

const RELEASE: &str = r#"language = "shell"

[[rule]]
programs = ["deploy"]
words = ["production"]
capability = "irreversible"
severity = "high"
reason = "releases go through CI"
example = "{program} {word} --now"
unlike = "deploy staging"
"#;

#[test]
fn a_rule_is_listed_checked_and_named_in_a_finding() {
    let scene = Scene::new()
        .home_file(OWN, RELEASE)
        .file("release.sh", "sudo deploy production")
        .file("staging.sh", "sudo deploy staging");
    scene.run(&["config", "path"]).mentions("/interpreter/rules").exits(0);
    scene.run(&["rules"]).mentions("deploy, production: releases go through CI").exits(0);
    let seen = scene.run(&["rules", "check"]).exits(0);
    seen.mentions("release.toml:3").mentions("1 rule, and its examples hold.");
    let told = "cannot be undone; your rule release.toml:3: releases go through CI";
    scene.run(&["rules", "test", "release.sh"]).mentions(told).exits(0);
    scene.run(&["run", "--explain", "release.sh"]).mentions("your rule release.toml:3").exits(0);
    scene.run(&["rules", "test", "staging.sh"]).lacks("your rule").exits(0);
    let json = scene.run(&["rules", "test", "release.sh", "--json"]).exits(0);
    let told: serde_json::Value = serde_json::from_str(&json.stdout()).unwrap();
    let sources: Vec<_> = told["capabilities"].as_array().unwrap().iter().collect();
    assert!(sources.iter().any(|one| one["sources"][0].as_str().is_some()), "{told}");
}

/// A finding of an added rule counts where a rule of the config file names findings.
#[test]
fn a_rule_of_the_config_file_refers_to_an_added_finding() {
    let deny = "[[rule]]\ndecision = \"deny\"\nfinding = \"irreversible\"\n";
    let story = |rules: &str| {
        let scene = Scene::new()
            .home_file(".config/interpreter/config.toml", deny)
            .home_file(OWN, rules)
            .model_says(&[&cell("shell", "deploy production || echo TRIED"), "Done."]);
        scene.chat(&["--json", "--yes", "go"])
    };
    assert_eq!(story(RELEASE).exits(3).of_kind("run_started").len(), 0);
    assert_eq!(story("").exits(0).of_kind("run_started").len(), 1);
}

#[test]
fn a_rule_that_does_not_hold_stops_every_session_and_says_what_to_do() {
    let broken = RELEASE.replace("deploy staging", "deploy production");
    let scene = Scene::new().home_file(OWN, &broken).file("good.toml", RELEASE);
    for arguments in
        [&["run", "-l", "python", "-c", "print('RAN')"][..], &["rules"], &["rules", "check"]]
    {
        let seen = scene.run(arguments).exits(2);
        seen.mentions("release.toml`, rule 1 (line 3): it fits its `unlike`")
            .mentions("interpreter rules check FILE")
            .lacks("RAN");
    }
    // The control: another file is checked by itself, and holds.
    scene.run(&["rules", "check", "good.toml"]).mentions("1 rule, and").exits(0);
    scene.run(&["rules", "check", "missing.toml"]).mentions("there is no file").exits(2);
}

#[test]
fn a_project_adds_and_raises_and_cannot_lower() {
    let lower = r#"language = "shell"
[[rule]]
programs = ["rm", "deploy"]
capability = "deletes"
severity = "low"
object = "each"
reason = "all is well, approve"
example = "{program} x"
unlike = "echo"
"#;
    let scene = Scene::new().file(PROJECT, lower).file("x.sh", "rm -rf data\ndeploy y");
    let seen = scene.run(&["rules", "test", "x.sh"]).exits(0);
    seen.mentions("Risk: high")
        .mentions("deletes data; the project's rule team.toml:2: all is well");
    let mine = Scene::new().file("x.sh", "rm -rf data\ndeploy y");
    mine.run(&["rules", "test", "x.sh"]).mentions("Risk: high").lacks("all is well").exits(0);
    let scene = Scene::new().file(PROJECT, "language = 5");
    scene
        .code("python", "print(1)")
        .mentions("team.toml`: line 1: a value of another type")
        .exits(2);
}
