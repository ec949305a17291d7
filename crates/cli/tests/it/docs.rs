//! Docs that cannot drift: the help texts, and what the documents name.

use crate::{pages, scene::Scene};

const COMMANDS: &[&[&str]] = &[
    &[],
    &["run"],
    &["changes"],
    &["changes", "list"],
    &["changes", "diff"],
    &["changes", "apply"],
    &["changes", "discard"],
    &["changes", "undo"],
    &["history"],
    &["history", "list"],
    &["history", "show"],
    &["audit"],
    &["audit", "verify"],
    &["audit", "accept"],
    &["doctor"],
    &["languages"],
    &["model"],
    &["model", "list"],
    &["model", "pull"],
    &["model", "remove"],
    &["model", "test"],
    &["packages"],
    &["packages", "list"],
    &["packages", "add"],
    &["packages", "remove"],
    &["trust"],
    &["config"],
    &["config", "show"],
    &["config", "check"],
    &["config", "edit"],
    &["config", "path"],
    &["config", "schema"],
    &["import"],
    &["completions"],
    &["man"],
];

#[test]
fn the_help_of_every_command_is_known() {
    let scene = Scene::new();
    let mut all = String::new();
    for command in COMMANDS {
        let arguments = [command, &["--help"][..]].concat();
        let seen = scene.run(&arguments).exits(0);
        all += &format!("$ interpreter {}\n{}\n", arguments.join(" "), seen.stdout());
    }
    insta::assert_snapshot!(all);
}

#[test]
fn every_command_that_the_documents_name_exists() {
    for path in pages::pages() {
        let document = fs_err::read_to_string(&path).unwrap();
        for quoted in document.split('`').skip(1).step_by(2) {
            let Some(rest) = quoted.strip_prefix("interpreter ") else { continue };
            let word = rest.split_whitespace().next().unwrap_or_default();
            let known = COMMANDS.iter().any(|command| command.first() == Some(&word));
            assert!(
                known || word.starts_with(['-', '[', '"', '\'', '…']),
                "`{quoted}` in {} does not exist",
                path.display()
            );
        }
    }
}

#[test]
fn help_and_version_need_no_home_and_no_config() {
    let scene = Scene::new().home_file(".config/interpreter/config.toml", "not toml at all");
    scene.run(&["--version"]).mentions(env!("CARGO_PKG_VERSION")).exits(0);
    scene.run(&["--help"]).mentions("Usage").exits(0);
    scene.code("python", "1").mentions("config.toml").exits(2);
}
