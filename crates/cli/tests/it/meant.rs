//! Words that are nearly others, and options of the original.

use crate::{pages, scene::Scene};

fn config(text: &str) -> Scene {
    Scene::new().home_file(".config/interpreter/config.toml", text)
}

#[test]
fn a_lone_word_that_is_nearly_a_command_is_an_error() {
    let scene = Scene::new().model_says(&["Hello."]);
    scene.run(&["doctr"]).mentions("did you mean `interpreter doctor`?").exits(2);
    scene.run(&["histroy"]).mentions("did you mean `interpreter history`?").exits(2);
    scene.run(&["models"]).mentions("did you mean `interpreter model`?").exits(2);
    // A prompt is a prompt.
    scene.chat(&["hello"]).mentions("Hello.").exits(0);
    scene.chat(&["the doctr"]).mentions("Hello.").exits(0);
}

#[test]
fn names_that_lead_nowhere_name_the_nearest() {
    let scene = Scene::new();
    scene.run(&["-m", "gpt-4o", "a prompt"]).mentions("did you mean `openai/gpt-4o`?").exits(2);
    scene.run(&["-m", "opnai/x", "a prompt"]).mentions("did you mean `openai/x`?").exits(2);
    scene.code("pyton", "1").mentions("did you mean `python`?").exits(2);
    scene.code("cobol", "1").mentions("available: python").exits(2);
    config("temperature = \"hot\"\n").code("python", "1").mentions("config.toml:1:15").exits(2);
    let set = Scene::new().run(&["--set", "temprature=1", "a prompt"]);
    set.mentions("there is no setting `temprature`").exits(2);
}

#[test]
fn a_rule_for_an_unknown_language_is_an_error() {
    let rule = |language| format!("[[rule]]\ndecision = \"deny\"\nlanguage = \"{language}\"\n");
    let seen = config(&rule("shel")).code("python", "1");
    seen.mentions("names an unknown language").mentions("did you mean `shell`?").exits(2);
    config(&rule("bash")).code("python", "1").mentions("did you mean `shell`?").exits(2);
    // One that is known, and that this machine may not have.
    config(&rule("powershell")).code("python", "1").prints("1\n").exits(0);
    config(&rule("shell")).code("shell", "echo").exits(3);
}

#[test]
fn a_server_that_is_not_running_is_named_with_the_line_that_starts_it() {
    let scene = Scene::new().variable("OLLAMA_HOST", "http://127.0.0.1:1");
    let seen = scene.run(&["-m", "ollama/qwen", "a prompt"]);
    seen.mentions("start it with `ollama serve`").exits(5);
}

#[test]
fn a_config_folder_that_others_may_read_is_fine_and_one_that_they_may_write_is_not() {
    use std::os::unix::fs::PermissionsExt;
    let scene = config("max_calls = 3\n");
    let folder = scene.home().join(".config/interpreter");
    let open = |mode| {
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    open(0o755);
    scene.code("python", "1").prints("1\n").exits(0);
    open(0o775);
    scene.code("python", "1").mentions("chmod 755").exits(4);
}

#[test]
fn every_option_of_the_original_works_or_says_what_is_done_instead() {
    let page =
        pages::pages().into_iter().find(|page| page.ends_with("coming-from-the-original.md"));
    let text = fs_err::read_to_string(page.unwrap()).unwrap();
    let scene = Scene::new();
    let mut instead = 0;
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.strip_suffix(" |"));
    for row in rows {
        let (names, here) = row.split_once(" | ").unwrap();
        for name in names.split("`, `").map(|name| name.trim_end_matches('`')) {
            // With a value, for those that take one.
            let value = if here == "`--base-url`" { "http://127.0.0.1:9/v1" } else { "1" };
            let value = format!("{name}={value}");
            let seen = scene.run(&[&value, "--help"]);
            if seen.0.status.code() == Some(2) {
                instead += 1;
                seen.mentions(here).mentions(name);
            } else if here.starts_with("`interpreter ") {
                seen.exits(0);
            } else {
                seen.mentions("Usage").exits(0);
            }
        }
    }
    assert!(instead > 20, "{instead}");
}

#[test]
fn options_of_the_original_do_what_they_did() {
    let scene = Scene::new().model_says(&["Hello."]);
    scene.run(&["--conversations"]).exits(0);
    scene.run(&["--profiles"]).mentions("config.toml").exits(0);
    scene.chat(&["--stdin", "-dt", "-o", "say hello"]).mentions("Hello.").exits(0);
    let seen = scene.chat(&["--json", "-ci", "Be brief.", "-t", "0.1", "say hello"]).exits(0);
    let system = seen.of_kind("request")[0]["newest"][0]["text"].as_str().unwrap().to_owned();
    assert!(system.contains("Be brief."), "{system}");
    scene.chat(&["--temperature", "9", "say hello"]).mentions("temperature").exits(2);
}
