//! `interpreter config`: every setting with its origin, checks, the editor, paths and the schema.

use crate::{
    scene::{Scene, put_program},
    terminal::Terminal,
};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;

const CONFIG: &str = ".config/interpreter/config.toml";
const PROJECT: &str = ".interpreter/config.toml";

fn config(text: &str) -> Scene {
    Scene::new().home_file(CONFIG, text)
}

/// A scene whose editor is this shell script; `$1` is the file.
fn with_editor(scene: Scene, script: &str) -> Scene {
    let editor = scene.home().join("editor");
    put_program(&editor, &format!("#!/bin/sh\n{script}\n"));
    scene.variable("EDITOR", editor.to_str().unwrap())
}

fn written(scene: &Scene) -> Option<String> {
    std::fs::read_to_string(scene.home().join(CONFIG)).ok()
}

#[test]
fn every_setting_is_shown_with_its_origin_in_80_columns() {
    let own = "model = \"ollama/qwen\"\n[limits]\nmemory = \"2G\"\n[network]\nhosts = [\"python\"]\n\
               [endpoint.here]\nbase_url = \"http://localhost:8080/v1\"\nformat = \"openai\"\n";
    let scene = config(own)
        .home_file(".config/interpreter/profiles/fast.toml", "temperature = 0\n")
        .file(PROJECT, "\nworkspace = \"read-only\"\n")
        .variable("INTERPRETER_OFFLINE", "1");
    let seen = scene.run(&["config", "show", "--profile", "fast", "--max-calls", "3"]).exits(0);
    let text = seen.stdout();
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    for block in [
        "model = ollama/qwen\n    from ~/.config/interpreter/config.toml:1; default: not set\n",
        "offline = true\n    from variable INTERPRETER_OFFLINE; default: false\n",
        "temperature = 0.0\n    from ~/.config/interpreter/profiles/fast.toml:1;",
        "max_calls = 3\n    from option --max-calls COUNT; default: 20\n    Limit calls of the model",
        "limits.memory = 2G\n    from ~/.config/interpreter/config.toml:3; default: 4G\n",
        "limits.cpu = none (default)\n    Limit the processor time",
        "network.mode = none\n    from `offline`, set by the environment; default: listed\n",
        "network.hosts = python\n    from ~/.config/interpreter/config.toml:5;",
        "endpoint.here = base_url http://localhost:8080/v1, format openai,",
    ] {
        assert!(text.contains(block), "{block}\nis not in\n{text}");
    }
    assert!(
        text.contains("workspace = read-only\n") && text.contains("config.toml:2; default: stage")
    );
    // At a terminal the same rows are marked as foreign and still fit.
    let terminal = Terminal::start_at(&scene, &["config", "show", "limits.memory"], 80);
    terminal.shows("┆ option    --memory-limit SIZE").shows("┆ project   may tighten it");
}

#[test]
fn one_setting_is_shown_in_detail_and_as_json() {
    let scene = config("[limits]\nwall = \"10m\"\n");
    scene
        .run(&["config", "show", "limits.wall"])
        .prints(
            "Limit the time of one run, such as 15s, 10m or none; never more than that of\n\
             its turn.\n\
             name      limits.wall\n\
             value     10m\n\
             origin    ~/.config/interpreter/config.toml:2\n\
             default   none\n\
             option    none\n\
             variable  none\n\
             project   may tighten it\n",
        )
        .exits(0);
    let seen = scene.run(&["config", "show", "limits.wall", "--json"]).exits(0);
    let rows: Value = serde_json::from_str(&seen.stdout()).unwrap();
    assert_eq!(rows[0]["value"], "10m");
    assert_eq!(
        (&rows[0]["origin"]["layer"], &rows[0]["origin"]["line"]),
        (&"user".into(), &2.into())
    );
    assert_eq!((&rows[0]["default"], &rows[0]["project"]), (&"none".into(), &"may tighten".into()));
    scene.run(&["config", "show", "limit.wall"]).mentions("did you mean `limits.wall`?").exits(2);
    scene.run(&["config", "show", "wall"]).mentions("did you mean `limits.wall`?").exits(2);
}

#[test]
fn no_secret_is_shown() {
    let scene = config(
        "[provider.x]\nkey = \"sk-canary\"\n[endpoint.y]\nformat = \"openai\"\n\
         base_url = \"https://h/v1?key=sk-canary\"\nkey_variable = \"CANARY_KEY\"\n",
    );
    for arguments in [&["config", "show"][..], &["config", "show", "--json"]] {
        scene.run(arguments).lacks("canary").mentions("CANARY_KEY").mentions("hidden").exits(0);
    }
    let wrong = config("api_key = \"sk-canary\"\noffline = \"sk-canary\"\n");
    wrong.run(&["config", "check"]).lacks("canary").mentions("unknown key `api_key`").exits(2);
}

#[test]
fn a_check_names_every_error_with_the_next_step() {
    let scene = config("modle = \"x\"\n[limits]\nwall = \"15\"\n")
        .home_file(".config/interpreter/profiles/slow.toml", "max_calls = 0\n")
        .file(PROJECT, "model = \"evil/x\"\n");
    scene
        .run(&["config", "check"])
        .mentions("config.toml:1:1: unknown key `modle`; did you mean `model`?")
        .mentions("config.toml:3:8: `limits.wall`: `15` has no unit; write for example `15s`")
        .mentions("slow.toml:1:13: `max_calls`: invalid value")
        .mentions(".interpreter/config.toml:1:9: a project may not set `model`")
        .mentions("hint: `interpreter config edit`")
        .exits(2);
    // A file by name; the project's is checked as such wherever it is named from.
    scene
        .run(&["config", "check", PROJECT])
        .mentions("may not set `model`")
        .lacks("modle")
        .exits(2);
    scene.file("other.toml", "model = \"a/b\"\n").run(&["config", "check", "other.toml"]).exits(0);
    let fine = config("model = \"a/b\"\n");
    fine.run(&["config", "check"]).mentions("config.toml: ok").exits(0);
    fine.run(&["config", "check", "none.toml"]).mentions("cannot read `none.toml`").exits(2);
    Scene::new()
        .run(&["config", "check"])
        .mentions("`interpreter config edit` creates one")
        .exits(0);
    let provider = fine.home_file(".config/interpreter/providers/bad.toml", "x = 1\n");
    provider.run(&["config", "check"]).mentions("bad.toml").exits(2);
}

#[test]
fn a_project_cannot_draw_on_the_screen() {
    let scene = Scene::new().file(PROJECT, "\"\\u001b[2J\\u275a Run it?\" = 1\n");
    scene.run(&["config", "check"]).lacks("\u{1b}").exits(2);
    let terminal = Terminal::start_at(&scene, &["config", "check"], 80);
    terminal.shows("unknown key");
    assert!(terminal.rows().iter().all(|row| !row.contains("❚ Run it?")));
}

#[test]
fn an_edited_file_is_checked_and_then_written() {
    let scene = with_editor(config("max_calls = 3\n"), "echo 'max_calls = 4' > \"$1\"");
    scene.run(&["config", "edit"]).mentions("Written:").exits(0);
    assert_eq!(written(&scene).unwrap(), "max_calls = 4\n");
    let wrong = with_editor(config("max_calls = 3\n"), "echo 'max_call = 4' > \"$1\"");
    wrong.run(&["config", "edit"]).mentions("did you mean `max_calls`?").exits(2);
    assert_eq!(written(&wrong).unwrap(), "max_calls = 3\n");
    let failing = with_editor(config("max_calls = 3\n"), "echo > \"$1\"; exit 1");
    failing.run(&["config", "edit"]).mentions("the editor failed; nothing was written").exits(2);
    assert_eq!(written(&failing).unwrap(), "max_calls = 3\n");
    // Nothing is left beside it.
    let folder = wrong.home().join(".config/interpreter");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 1);
}

#[test]
fn a_file_that_changes_meanwhile_is_not_overwritten() {
    let scene = config("max_calls = 3\n");
    let path = scene.home().join(CONFIG);
    let script =
        format!("echo 'max_calls = 4' > \"$1\"; echo 'max_calls = 5' > {}", path.display());
    let scene = with_editor(scene, &script);
    scene.run(&["config", "edit"]).mentions("was changed meanwhile").exits(2);
    assert_eq!(written(&scene).unwrap(), "max_calls = 5\n");
}

#[test]
fn an_edit_without_a_file_starts_from_one_that_explains_every_setting() {
    let scene = with_editor(Scene::new(), "sed -i 's/^#max_calls = 20/max_calls = 7/' \"$1\"");
    scene.run(&["config", "edit"]).exits(0);
    let text = written(&scene).unwrap();
    assert!(text.contains("# Limit calls of the model in one turn.\nmax_calls = 7\n"), "{text}");
    scene.run(&["config", "show", "max_calls"]).mentions("value     7").exits(0);
    let mode = std::fs::metadata(scene.home().join(CONFIG)).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0);
    scene.run(&["config", "edit", "--profile", "fast"]).exits(0);
    assert!(scene.home().join(".config/interpreter/profiles/fast.toml").exists());
    scene
        .run(&["config", "edit", "--profile", "../x"])
        .mentions("not the name of a profile")
        .exits(2);
}

#[test]
fn at_a_terminal_a_wrong_edit_can_be_edited_again() {
    // The first save is wrong, the second one right.
    let script = "if grep -q wrong \"$1\"; then echo 'max_calls = 4' > \"$1\"; \
                  else echo 'wrong = 1' > \"$1\"; fi";
    let scene = with_editor(config("max_calls = 3\n"), script);
    let terminal = Terminal::start(&scene, &["config", "edit"]);
    terminal.shows("unknown key `wrong`").shows("Your file is unchanged.").waits();
    assert_eq!(written(&scene).unwrap(), "max_calls = 3\n");
    terminal.presses_all("e").shows("Written:").exits(0);
    assert_eq!(written(&scene).unwrap(), "max_calls = 4\n");
    let scene = with_editor(config("max_calls = 3\n"), "echo 'wrong = 1' > \"$1\"");
    let terminal = Terminal::start(&scene, &["config", "edit"]);
    terminal.shows("Your file is unchanged.").waits();
    terminal.presses_all("d").shows("discarded").exits(2);
    assert_eq!(written(&scene).unwrap(), "max_calls = 3\n");
}

#[test]
fn the_paths_are_printed_in_order() {
    let scene = config("");
    let seen = scene.run(&["config", "path"]).exits(0);
    let text = seen.stdout();
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[0].starts_with("your config file  exists   /"), "{text}");
    assert!(lines[0].ends_with(CONFIG), "{text}");
    assert!(lines[1].starts_with("profiles          missing  /"), "{text}");
    assert!(lines[2].starts_with("project           missing  /"), "{text}");
    assert!(lines[3].starts_with("providers         missing  /"), "{text}");
    assert!(lines[4].starts_with("rules             missing  /"), "{text}");
    scene.run(&["config", "path", "-p", "fast"]).mentions("profiles/fast.toml").exits(0);
}

#[test]
fn the_schema_describes_every_setting_that_is_shown() {
    let scene = Scene::new();
    let schema: Value = serde_json::from_str(&scene.run(&["config", "schema"]).stdout()).unwrap();
    let rows: Value =
        serde_json::from_str(&scene.run(&["config", "show", "--json"]).stdout()).unwrap();
    for row in rows.as_array().unwrap() {
        let name = row["name"].as_str().unwrap().replace('.', "/properties/");
        let found = schema.pointer(&format!("/properties/{name}")).unwrap();
        assert_eq!(found["description"], row["meaning"]);
    }
}
