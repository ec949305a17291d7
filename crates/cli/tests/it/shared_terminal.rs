//! Programs of one pipeline or script share its terminal: a key that is meant for another one
//! answers no question of ours.

use crate::{
    scene::{Scene, cell},
    terminal::Terminal,
};
use std::{
    fs::OpenOptions,
    process::Command,
    thread,
    time::{Duration, Instant},
};

const TAKEN: &str = "Not run: another program reads this terminal.";

/// A model that has this printed, under a name, and the words of a shell that asks it.
fn asking(scene: &Scene, name: &str) -> String {
    let code = cell("python", &format!("print('code of', {name:?})"));
    let script = format!("[[reply]]\ntext = {code:?}\n[[reply]]\ntext = 'Done with {name}.'\n");
    let path = scene.work().join(format!("{name}.toml"));
    std::fs::write(&path, script).unwrap();
    format!("\"$I\" --model 'scripted:{}' 'do {name}'", path.display())
}

fn out(scene: &Scene, name: &str) -> String {
    scene.read(name).unwrap_or_default()
}

/// Who answered in each session, and how much ran, the newest first.
fn answers(scene: &Scene) -> Vec<String> {
    let sessions = scene.run(&["history", "list", "--json"]).records();
    let of = |session: &serde_json::Value| {
        let shown = scene.run(&["history", "show", session["session"].as_str().unwrap(), "--json"]);
        let by = |record: &serde_json::Value| record["by"].as_str().unwrap().to_owned();
        let answers: Vec<_> = shown.of_kind("answer").iter().map(by).collect();
        let ran = shown.of_kind("run_started").len();
        answers.into_iter().map(move |by| format!("{by}, {ran} run")).collect::<Vec<_>>()
    };
    sessions.iter().flat_map(of).collect()
}

/// A gate that a shell waits at with `cat go`.
fn gate(scene: &Scene) -> std::path::PathBuf {
    let path = scene.work().join("go");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

fn open(gate: &std::path::Path) {
    OpenOptions::new().write(true).open(gate).unwrap();
}

/// Waits until it is so, or gives up.
#[track_caller]
fn until(mut is_so: impl FnMut() -> bool) {
    let patience = Instant::now() + Duration::from_mins(2);
    while !is_so() {
        assert!(Instant::now() < patience, "it never came to that");
        thread::yield_now();
    }
}

/// The attack: keys that are typed at a pager.
#[test]
fn a_pager_behind_a_pipe_keeps_its_keys() {
    let scene = Scene::new();
    let terminal = Terminal::shell(&scene, &format!("{} | less; echo over", asking(&scene, "a")));
    terminal.shows(TAKEN).goes_on("y").goes_on("y");
    terminal.goes_on("q").shows("over").exits(0);
    assert!(terminal.is_as_it_was());
    assert_eq!(answers(&scene), ["nobody, 0 run"]);
}

/// The control: a program behind the pipe that reads no keys.
#[test]
fn a_program_behind_a_pipe_that_reads_no_keys_is_in_nobodys_way() {
    let scene = Scene::new();
    let terminal = Terminal::shell(&scene, &format!("{} | cat > out", asking(&scene, "a")));
    terminal.shows("Run it?").types("y").exits(0);
    assert!(out(&scene, "out").contains("code of a\n"), "{}", out(&scene, "out"));
    assert!(terminal.is_as_it_was());
    assert_eq!(answers(&scene), ["person, 1 run"]);
}

/// The attack: a pager that is started while a question waits. Whoever gets a key, none answers.
#[test]
fn a_pager_that_comes_later_gets_the_terminal() {
    let scene = Scene::new().file("text", "words to read\n");
    let gate = gate(&scene);
    let line = format!("{} > out & cat go; less text; wait; echo over", asking(&scene, "a"));
    let terminal = Terminal::shell(&scene, &line);
    terminal.shows("Run it?").waits();
    open(&gate);
    terminal.shows("words to read");
    until(|| {
        terminal.goes_on("y");
        out(&scene, "out").contains(TAKEN)
    });
    until(|| {
        terminal.goes_on("q");
        terminal.has("over")
    });
    terminal.exits(0);
    assert_eq!(answers(&scene), ["nobody, 0 run"]);
}

/// The attack: a program that waits for a line, and leaves the terminal's modes alone.
#[test]
fn a_program_that_waits_for_a_line_gets_it() {
    // Another terminal would be asked where its cursor is, and that answer is a key like any other.
    let scene = Scene::new().variable("TERM", "dumb");
    let gate = gate(&scene);
    let waits = "dd bs=1 count=2 of=typed 2> /dev/null";
    let line = format!("(cat go; {}) > out & {waits}; wait; echo over", asking(&scene, "a"));
    let terminal = Terminal::shell(&scene, &line);
    // It has read one key, and waits for the next.
    terminal.goes_on("\r");
    until(|| out(&scene, "typed") == "\n");
    open(&gate);
    terminal.shows("Run it?").waits().goes_on("y");
    until(|| out(&scene, "typed") == "\ny");
    // From here on the keys are ours, unless we saw that the first was not.
    terminal.goes_on("n").shows("over").exits(0);
    assert!(terminal.is_as_it_was());
    assert!(answers(&scene)[0].ends_with("0 run"), "{:?}", answers(&scene));
}

/// A terminal that echoes nothing is asking for a password.
#[test]
fn a_terminal_that_another_program_has_set_up_is_not_asked_at() {
    for modes in ["-echo", "-icanon"] {
        let scene = Scene::new();
        let line = format!("stty {modes}; {} > out; stty sane; echo over", asking(&scene, "a"));
        let terminal = Terminal::shell(&scene, &line);
        terminal.shows("over").lacks("Run it?").exits(0);
        assert!(out(&scene, "out").contains(TAKEN), "{}", out(&scene, "out"));
        assert_eq!(answers(&scene), ["nobody, 0 run"]);
    }
}

/// The attack: the question of the second is on the screen, and the key answers the first. The
/// control: one after the other, each is answered.
#[test]
fn two_of_us_ask_one_after_the_other() {
    let scene = Scene::new();
    let gate = gate(&scene);
    let (one, two) = (asking(&scene, "one"), asking(&scene, "two"));
    let line = format!("{one} > out.one & cat go; {two} > out.two; wait");
    let terminal = Terminal::shell(&scene, &line);
    terminal.shows("print('code of', \"one\")").waits();
    open(&gate);
    // The second has its code, and waits for the terminal.
    let judged = || {
        let newest = scene.run(&["history", "show", "--json"]);
        let prompts = newest.of_kind("prompt");
        prompts.iter().any(|one| one["text"] == "do two") && !newest.of_kind("verdict").is_empty()
    };
    until(judged);
    terminal.waits().lacks("\"two\"").types("y");
    terminal.shows("print('code of', \"two\")").types("n");
    terminal.exits(0);
    assert!(terminal.is_as_it_was());
    assert!(out(&scene, "out.one").contains("code of one\n"));
    assert!(!out(&scene, "out.two").contains("code of two\n"));
    assert_eq!(answers(&scene), ["person, 0 run", "person, 1 run"]);
}

/// Whoever is stopped keeps nobody waiting.
#[test]
fn a_question_of_a_stopped_program_is_put_again() {
    let scene = Scene::new();
    let (one, two) = (asking(&scene, "one"), asking(&scene, "two"));
    let line = format!("set -m; {one} > out.one; {two} > out.two; fg");
    let terminal = Terminal::shell(&scene, &line);
    terminal.shows("print('code of', \"one\")").waits().presses(26);
    terminal.shows("print('code of', \"two\")").types("n");
    terminal.shows("Run it?").types("y").exits(0);
    assert!(terminal.is_as_it_was());
    assert!(out(&scene, "out.one").contains("code of one\n"));
    assert_eq!(answers(&scene), ["person, 0 run", "person, 1 run"]);
}
