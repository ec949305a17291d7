//! `interpreter import`: profiles and conversations of the original, as data.

use crate::scene::Scene;

const YAML: &str = "\
llm:
  model: gpt-4o
  temperature: 0
  api_key: sk-canary
custom_instructions: \"Be brief.\"
computer:
  import_computer_api: true
";

const PYTHON: &str = "\
from interpreter import interpreter
import os
os.system('touch /tmp/interpreter-import-ran; echo ran')
interpreter.llm.model = \"claude-x\"
interpreter.llm.max_tokens = 4096
interpreter.llm.api_key = os.environ['KEY']
";

const CONVERSATION: &str = r#"[
    {"role": "user", "type": "message", "content": "count to one"},
    {"role": "assistant", "type": "code", "format": "python", "content": "print(1)"},
    {"role": "computer", "type": "console", "format": "output", "content": "1\\u001b[2J\n"},
    {"role": "assistant", "type": "message", "content": "Done."}
]"#;

fn scene() -> Scene {
    Scene::new()
        .home_file(".config/open-interpreter/profiles/mine.yaml", YAML)
        .home_file(".config/open-interpreter/profiles/other one.py", PYTHON)
        .home_file(".config/open-interpreter/conversations/count.json", CONVERSATION)
}

#[test]
fn profiles_become_profiles_and_the_rest_is_listed() {
    let scene = scene();
    let seen = scene.run(&["import"]).exits(0);
    let seen = seen.mentions("`--profile mine`").mentions("`llm.api_key`: put the key");
    let seen = seen.mentions("`computer.import_computer_api`: it has no equal here");
    seen.mentions("line 3: not a plain setting").mentions("3 files imported").lacks("canary");
    let read = |name: &str| {
        let path = scene.home().join(".config/interpreter/profiles").join(name);
        std::fs::read_to_string(path).unwrap()
    };
    let mine = read("mine.toml");
    for line in ["model = \"openai/gpt-4o\"", "temperature = 0", "instructions = \"Be brief.\""] {
        assert!(mine.contains(line), "{mine}");
    }
    let other = read("other-one.toml");
    assert!(other.contains("model = \"anthropic/claude-x\"\nmax_tokens = 4096\n"), "{other}");
    assert!(!mine.contains("canary"));
    assert!(!std::path::Path::new("/tmp/interpreter-import-ran").exists());
    scene.run(&["config", "show", "--profile", "mine"]).mentions("openai/gpt-4o").exits(0);
}

#[test]
fn conversations_become_sessions_that_can_be_looked_at() {
    let scene = scene();
    scene.run(&["import"]).exits(0);
    let seen = scene.run(&["history", "show"]).exits(0);
    let seen = seen.mentions("count to one").mentions("print(1)").mentions("Done.");
    seen.mentions("nothing of it ran here").lacks("\u{1b}[2J");
    scene.run(&["audit", "verify"]).exits(0);
}

/// The attack: an imported conversation takes the place of the newest chat. The control is that a
/// chat that was held here goes on, with an import after it.
#[test]
fn an_imported_conversation_is_not_the_newest_chat() {
    let scene = scene();
    scene.run(&["import"]).exits(0);
    scene.play(&["Hello."]);
    scene.chat(&["--resume", "go on"]).mentions("there is no earlier chat in ").exits(2);
    scene.chat(&["my own question"]).exits(0);
    let conversation = scene.home().join(".config/open-interpreter/conversations/count.json");
    scene.run(&["import", conversation.to_str().unwrap()]).exits(0);
    scene.chat(&["--resume", "go on"]).mentions("Hello.").exits(0);
    let request = scene.run(&["history", "show", "--json"]).of_kind("request")[0].to_string();
    assert!(request.contains("my own question") && !request.contains("count to one"), "{request}");
}

#[test]
fn a_conversation_goes_on_here_and_the_model_knows_that_it_ran_elsewhere() {
    let scene = scene();
    let out = scene.run(&["import"]).exits(0).stdout();
    let option = out.split("`interpreter ").find(|part| part.starts_with("--resume=")).unwrap();
    let option = option.split('`').next().unwrap().to_owned();
    scene.play(&["I counted to one."]);
    scene.chat(&[&option, "what did you do?"]).mentions("I counted to one.").exits(0);
    let seen = scene.run(&["history", "show", "--json"]);
    assert_eq!(seen.of_kind("resumed").len(), 1);
    assert_eq!(seen.of_kind("run_started").len(), 0);
    let sent = seen.of_kind("request")[0]["newest"].to_string();
    for part in ["nothing of it ran here", "count to one", "print(1)", "printed in the other"] {
        assert!(sent.contains(part), "{part} is not in {sent}");
    }
    scene.run(&["audit", "verify"]).exits(0);
}

#[test]
fn nothing_is_replaced_and_nothing_else_is_taken() {
    let scene = scene().file("notes.txt", "x").file("broken.json", "{}");
    scene.run(&["import", "notes.txt"]).mentions("neither a profile").exits(2);
    scene.run(&["import", "broken.json"]).mentions("not a conversation").exits(2);
    scene.run(&["import", "none.yaml"]).mentions("does not exist").exits(2);
    let profiles = scene.home().join(".config/open-interpreter/profiles");
    let profiles = profiles.to_str().unwrap();
    scene.run(&["import", profiles]).exits(0);
    scene.run(&["import", profiles]).mentions("there is a profile `mine` already").exits(2);
}
