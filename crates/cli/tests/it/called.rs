//! A person who is called to the controlling terminal: standard input is data, standard output a
//! file, and still nobody but them answers.

use crate::{
    scene::{Scene, cell},
    terminal::Terminal,
};
use std::process::Stdio;

const CODE: &str = "import sys\nprint('read', len(sys.stdin.read()))";
const NOBODY: &str = "Not run: no terminal to ask on. Use `--yes` to approve in advance.";

/// A scene, and the words of a shell that pipes data into a prompt.
fn piped(data: &str) -> (Scene, String) {
    let scene = Scene::new().file("data", data).model_says(&[&cell("python", CODE), "All done."]);
    let arguments = scene.chat_arguments(&["look at it"]);
    let words: Vec<_> = arguments.iter().map(|word| format!("'{word}'")).collect();
    (scene, format!("exec \"$I\" {} < data", words.join(" ")))
}

fn out(scene: &Scene) -> String {
    std::fs::read_to_string(scene.work().join("out")).unwrap()
}

#[test]
fn a_question_is_put_on_the_terminal_and_not_into_the_output() {
    let (scene, line) = piped("12345\n");
    let terminal = Terminal::shell(&scene, &format!("{line} > out"));
    // The person sees the code that they are asked about.
    terminal.shows("│ print('read', len(sys.stdin.read()))").shows("Run it?").types("y");
    terminal.exits(0);
    assert!(terminal.is_as_it_was());
    let out = out(&scene);
    assert!(out.contains("read 6\n") && out.contains("All done."), "{out}");
    assert!(!out.contains("Run it?") && !out.contains('\u{1b}') && !out.contains('❚'), "{out}");
    let seen = scene.run(&["history", "show", "--json"]);
    assert_eq!(seen.of_kind("answer")[0]["by"], "person");
}

#[test]
fn no_is_no_and_a_reason_goes_to_the_model() {
    let (scene, line) = piped("x");
    let terminal = Terminal::shell(&scene, &format!("{line} > out"));
    terminal.shows("Run it?").types("w").shows("Why not?").types("not todäy");
    terminal.exits(0);
    let seen = scene.run(&["history", "show", "--json"]);
    assert_eq!(seen.of_kind("answer")[0]["reason"], "not todäy");
    assert_eq!(seen.of_kind("run_started").len(), 0);
    assert!(!out(&scene).contains("todäy"));
}

#[test]
fn where_only_the_input_is_a_pipe_the_code_is_shown_once() {
    let (scene, line) = piped("x");
    let terminal = Terminal::shell(&scene, &line);
    terminal.shows("Run it?");
    let rows = terminal.rows();
    assert_eq!(rows.iter().filter(|row| row.contains("print('read'")).count(), 1, "{rows:#?}");
    terminal.types("y").shows("read 1").shows("All done.").exits(0);
}

/// Data that looks like answers is data.
#[test]
fn piped_data_never_answers() {
    let (scene, line) = piped("y\ny\ny\na\nt\n");
    let terminal = Terminal::shell(&scene, &format!("{line} > out"));
    terminal.shows("Run it?").waits();
    assert_eq!(scene.run(&["history", "show", "--json"]).of_kind("answer").len(), 0);
    // The control: a key at the terminal does.
    terminal.types("n").exits(3);
    assert_eq!(scene.run(&["history", "show", "--json"]).of_kind("run_started").len(), 0);
}

/// Keys that were typed before the question was there do not answer it.
#[test]
fn keys_typed_ahead_never_answer() {
    let (scene, line) = piped("x");
    let typed = "printf 'type now '; read -r _; sleep 0.2;";
    let terminal = Terminal::shell(&scene, &format!("{typed} {line} > out"));
    // Enter ends the shell's own read; the rest waits in the terminal for whoever reads next.
    terminal.shows("type now").goes_on("\ryyyy\ry\ry");
    terminal.shows("Run it?").waits();
    assert_eq!(scene.run(&["history", "show", "--json"]).of_kind("answer").len(), 0);
    terminal.types("n").exits(3);
    assert_eq!(scene.run(&["history", "show", "--json"]).of_kind("run_started").len(), 0);
}

/// In the background the terminal is another program's.
#[test]
fn a_terminal_that_is_not_ours_is_not_asked_at() {
    let (scene, line) = piped("x");
    let line = format!("set -m; {line} > out & cat > typed; wait; echo over");
    let terminal = Terminal::shell(&scene, &line);
    // The keys go to the program in the foreground.
    terminal.goes_on("y\ry\r");
    while !std::fs::read_to_string(scene.work().join("out")).is_ok_and(|out| out.contains(NOBODY)) {
        std::thread::yield_now();
    }
    terminal.lacks("Run it?");
    assert!(terminal.is_as_it_was());
    terminal.goes_on("\u{4}").shows("over").exits(0);
    assert_eq!(std::fs::read_to_string(scene.work().join("typed")).unwrap(), "y\ny\n");
}

#[test]
fn without_a_terminal_nothing_runs_and_it_is_said_what_to_do() {
    let (scene, line) = piped("x");
    let program = scene.command(&[]).get_program().to_owned();
    // A session of its own has no controlling terminal.
    let mut shell = scene.command(&[]);
    let template = std::mem::replace(&mut shell, std::process::Command::new("setsid"));
    let line = format!("I={}\n{line}", program.display());
    shell.args(["-w", "/bin/sh", "-c", &line]).current_dir(scene.work()).env_clear();
    for (name, value) in template.get_envs() {
        shell.env(name, value.unwrap());
    }
    let seen = shell.stdin(Stdio::null()).output().unwrap();
    assert!(String::from_utf8_lossy(&seen.stdout).contains(NOBODY), "{seen:?}");
    assert_eq!(seen.status.code(), Some(3));
}

#[test]
fn programs_that_read_the_answer_ask_nobody() {
    for option in ["--quiet", "--json"] {
        let (scene, line) = piped("x");
        let line = line.replace("'look at it'", &format!("{option} 'look at it'"));
        let terminal = Terminal::shell(&scene, &format!("{line} > out"));
        terminal.exits(3);
        terminal.lacks("Run it?");
    }
}

#[test]
fn ctrl_c_rejects_and_the_terminal_is_as_it_was() {
    let (scene, line) = piped("x");
    let terminal = Terminal::shell(&scene, &format!("{line} > out"));
    terminal.shows("Run it?").waits().presses(3);
    terminal.exits(3);
    assert!(terminal.is_as_it_was());
}

#[test]
fn a_line_that_code_wants_is_typed_there() {
    let code = cell("python", "print('hello', input('name? '))");
    let scene = Scene::new().model_says(&[&code, "Done."]);
    let arguments = scene.chat_arguments(&["-y", "greet"]).join("' '");
    let terminal = Terminal::shell(&scene, &format!("exec \"$I\" '{arguments}' > out"));
    terminal.shows("asks for input").shows("name? ").types("Bobx\u{7f} Ross");
    terminal.exits(0);
    assert!(out(&scene).contains("hello Bob Ross\n"), "{}", out(&scene));
}
