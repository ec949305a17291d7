//! Docs that cannot drift: the help texts, and what the documents name.

use crate::{pages, scene::Scene};

mod lines;

const COMMANDS: &[&[&str]] = &[
    &[],
    &["run"],
    &["serve"],
    &["serve", "token"],
    &["serve", "token", "new"],
    &["serve", "token", "list"],
    &["serve", "token", "revoke"],
    &["serve", "user"],
    &["serve", "user", "add"],
    &["serve", "user", "list"],
    &["serve", "user", "role"],
    &["serve", "user", "password"],
    &["serve", "user", "limit"],
    &["serve", "user", "remove"],
    &["changes"],
    &["changes", "list"],
    &["changes", "diff"],
    &["changes", "apply"],
    &["changes", "discard"],
    &["changes", "undo"],
    &["history"],
    &["history", "list"],
    &["history", "search"],
    &["history", "show"],
    &["history", "export"],
    &["history", "delete"],
    &["audit"],
    &["audit", "verify"],
    &["audit", "export"],
    &["audit", "anchor"],
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
    &["rules"],
    &["rules", "list"],
    &["rules", "test"],
    &["rules", "check"],
    &["rules", "remove"],
    &["secret"],
    &["secret", "set"],
    &["secret", "allow"],
    &["secret", "disallow"],
    &["secret", "list"],
    &["secret", "remove"],
    &["secret", "import"],
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
    let scene = Scene::new();
    let wrong = |quoted: &str| mentioned(quoted).into_iter().find(|line| !is_known(&scene, line));
    for path in pages::pages() {
        let document = fs_err::read_to_string(&path).unwrap();
        for quoted in document.split('`').skip(1).step_by(2) {
            let Some(rest) = quoted.strip_prefix("interpreter ") else { continue };
            assert_eq!(wrong(rest), None, "`{quoted}` in {} does not exist", path.display());
        }
    }
    for mistake in ["chnges", "changes lst ID", "run --explian -c ''", "config show\\|chek [FILE]"]
    {
        assert!(wrong(mistake).is_some(), "{mistake}");
    }
}

/// The command lines that a mention stands for: a choice of words stands for each of them. Up to the
/// first word that is optional or stands for others.
fn mentioned(quoted: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut is_value = false;
    for word in quoted.split_whitespace() {
        let is_placeholder = word.starts_with(['[', '(', '…'])
            || word.chars().take(2).all(|c| c.is_ascii_uppercase());
        if is_placeholder && !is_value {
            break;
        }
        let each = word.split('|').map(|choice| choice.trim_end_matches('\\'));
        let longer = |choice: &str| lines.iter().map(|line| format!("{line} {choice}")).collect();
        lines = each.flat_map(|choice| -> Vec<_> { longer(choice) }).collect();
        is_value = word.starts_with('-');
    }
    lines
}

/// Whether it begins with a command, an option or a prompt in quotes, and the program reads it up to a
/// request for help behind it.
fn is_known(scene: &Scene, line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or("--help");
    let is_command = COMMANDS.iter().any(|command| command.first() == Some(&first));
    if !is_command && !first.starts_with(['-', '"', '\'']) {
        return false;
    }
    let program = scene.command(&[]);
    let read = format!("{} {line} --help", program.get_program().display());
    let mut shell = std::process::Command::new("/bin/sh");
    shell.args(["-c", &read]).env_clear().current_dir(scene.work());
    shell.output().unwrap().status.success()
}

#[test]
fn help_and_version_need_no_home_and_no_config() {
    let scene = Scene::new().home_file(".config/interpreter/config.toml", "not toml at all");
    scene.run(&["--version"]).mentions(env!("CARGO_PKG_VERSION")).exits(0);
    scene.run(&["--help"]).mentions("Usage").exits(0);
    scene.code("python", "1").mentions("config.toml").exits(2);
}
