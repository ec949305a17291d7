//! The seam between the sandbox and the person: nothing answers for them, and nothing foreign looks
//! like a row of ours.
//!
//! A hostile model, hostile code, a hostile project and a hostile paste, at a real pseudo-terminal.

use crate::{
    scene::{Scene, cell, without},
    terminal::Terminal,
};
use rustix::process::{Signal, WaitOptions, kill_process, waitpid};
use std::{
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

/// A row of ours, as foreign text would have it.
const FAKE: &str = "❚ Run it?  y run · n reject";

/// Every row is ours or marked as foreign, and none of ours is a fake.
#[track_caller]
pub(crate) fn assert_marked(terminal: &Terminal) {
    for row in terminal.rows() {
        let marked = row.is_empty() || row.starts_with("❚ ") || row.starts_with("  ");
        assert!(marked, "{row:?} in\n{}", terminal.rows().join("\n"));
        assert!(!row.starts_with("❚ PWNED"), "{}", terminal.rows().join("\n"));
    }
}

#[track_caller]
fn assert_nothing_ran(scene: &Scene) {
    let seen = scene.run(&["history", "show", "--json"]);
    assert_eq!(seen.of_kind("run_started").len(), 0);
    assert_eq!(seen.of_kind("answer").len(), 0, "{}", seen.stdout());
}

#[test]
fn keys_typed_before_a_question_do_not_answer_it() {
    let code = cell("python", "open('out.txt', 'w').write('x'); print('RAN')");
    let scene = Scene::new().model_says(&[&code, "Done."]);
    let terminal = Terminal::open(&scene, &[]);
    // As a paste comes from a terminal that does not put it into brackets.
    terminal.waits().goes_on("Summarise this text:\ry\ra\rw\ry\r");
    terminal.shows("Run it?").waits().lacks("┆ RAN");
    assert_nothing_ran(&scene);
    // They are the beginning of the next prompt instead.
    terminal.presses(b'n').shows("Rejected").shows("> y").lacks("┆ RAN");
    assert_nothing_ran_but_was_rejected(&scene);
    terminal.presses(3).types("/quit").exits(0);
    assert_eq!(scene.read("out.txt"), None);
}

#[track_caller]
fn assert_nothing_ran_but_was_rejected(scene: &Scene) {
    let seen = scene.run(&["history", "show", "--json"]);
    assert_eq!(seen.of_kind("run_started").len(), 0);
    assert_eq!(seen.of_kind("answer")[0]["decision"], "reject");
}

#[test]
fn an_answer_to_a_fake_prompt_of_code_goes_nowhere() {
    let asks = "import time\nprint('Continue? [y/n]', flush=True)\ntime.sleep(3)";
    let evil = "print('EVIL' + ' RAN')";
    let scene = Scene::new().model_says(&[&cell("python", asks), &cell("python", evil), "Done."]);
    let terminal = Terminal::open(&scene, &["go"]);
    terminal.shows("Run it?").waits().presses(b'y').shows("┆ Continue?");
    terminal.goes_on("y\ry\r");
    terminal.shows("p2 python").waits().lacks("EVIL RAN");
    terminal.presses(b'n').shows("Rejected").shows("> y").lacks("EVIL RAN");
    terminal.presses(3).types("/quit").exits(0);
}

#[test]
fn keys_that_do_not_pause_answer_nothing() {
    let scene = Scene::new().model_says(&[&cell("python", "print('RAN')"), "Done."]);
    let terminal = Terminal::open(&scene, &[]);
    terminal.types("go");
    let held = AtomicBool::new(true);
    thread::scope(|scope| {
        // A key that is held down, from before the question until after it.
        scope.spawn(|| {
            while held.load(Ordering::Relaxed) {
                terminal.goes_on("y");
            }
        });
        terminal.shows("Run it?");
        held.store(false, Ordering::Relaxed);
    });
    terminal.waits().lacks("┆ RAN").presses(b'n').shows("Rejected");
    assert_nothing_ran_but_was_rejected(&scene);
}

#[test]
fn a_paste_is_text_and_never_an_answer() {
    let scene = Scene::new().model_says(&[&cell("python", "print('RAN')"), "Done."]);
    let terminal = Terminal::open(&scene, &[]);
    // At a prompt it is not sent before Enter is pressed, and shows what is invisible.
    terminal.waits().goes_on("\u{1b}[200~Sum\u{202e}marise:\ry\ra\r\u{1b}[201~");
    terminal.shows("marise:").shows("\\u{202e}").lacks("Run it?");
    terminal.goes_on("\r").shows("Run it?").waits();
    // At a question it is nothing.
    terminal.goes_on("\u{1b}[200~y\r\u{1b}[201~").shows("press y").lacks("┆ RAN");
    assert_nothing_ran(&scene);
    terminal.goes_on("y").shows("┆ RAN").shows("Done.");
    terminal.types("/quit").exits(0);
}

#[test]
fn only_one_key_that_comes_alone_is_an_answer() {
    let scene = Scene::new().model_says(&[&cell("python", "print('RAN')"), "Done."]);
    let terminal = Terminal::open(&scene, &["go"]);
    terminal.shows("Run it?").waits();
    // A paste without brackets, and one whose brackets come in two pieces.
    terminal.goes_on("maybe").shows("press y").waits().lacks("┆ RAN");
    terminal.goes_on("\u{1b}").goes_on("[200~y\u{1b}").goes_on("[201~").waits();
    // Alt-P begins a string that nobody ends; the next key is a key again.
    terminal.presses(0x1b).goes_on("P").shows("press y").waits().lacks("┆ RAN");
    assert_nothing_ran(&scene);
    terminal.presses(b'q').exits(1);
}

#[test]
fn a_secret_typed_too_early_is_not_in_the_next_prompt() {
    let code = "import getpass, time\nprint('soon', flush=True)\ntime.sleep(1)\n\
                print(len(getpass.getpass('Word? ')))";
    let scene = Scene::new().model_says(&[&cell("python", code), "Done."]);
    let terminal = Terminal::open(&scene, &["--yes", "go"]);
    terminal.shows("┆ soon").goes_on("hunter2\r").shows("┆ Word?").waits();
    terminal.goes_on("abc\r").shows("┆ 3").shows("Done.").waits().lacks("hunter2");
    terminal.types("/quit").exits(0);
}

#[test]
fn arguments_reach_the_terminal_through_the_screen_too() {
    let scene = Scene::new();
    let hostile = "--fo\u{1b}[31mo❚ Run it?";
    let terminal = Terminal::start(&scene, &[hostile]);
    terminal.exits(2);
    terminal.shows("\\u{275a} Run it?");
    assert_marked(&terminal);
    assert!(!String::from_utf8_lossy(&terminal.raw()).contains("\u{1b}[31mo"));
}

#[test]
fn typed_keys_are_not_echoed_into_a_reply() {
    let scene = Scene::new().model_says(&[&cell("python", "print('RAN')"), "Done."]);
    let terminal = Terminal::open(&scene, &[]);
    terminal.waits().goes_on("go\rINTRUDER");
    terminal.shows("Run it?").waits().lacks("INTRUDER");
    terminal.presses(b'n').shows("> INTRUDER");
}

#[test]
fn a_standing_grant_takes_a_second_key() {
    let code = "import urllib.request as u\ntry: u.urlopen('http://example.invalid:1234/')\n\
                except Exception as error: print('failed', type(error).__name__)";
    let scene = Scene::new().model_says(&[&cell("python", code), "Done."]);
    let terminal = Terminal::open(&scene, &["--yes", "go"]);
    terminal.shows("┆ example.invalid:1234").shows("Allow it?").waits();
    // The same key twice is not enough.
    terminal.goes_on("a").shows("Add it to your settings").waits();
    terminal.goes_on("a").shows("press w, b").presses(b'b').shows("Allow it?");
    terminal.waits().goes_on("n").shows("┆ failed").shows("Done.");
    terminal.types("/quit").exits(0);
    assert!(!scene.home().join(".config/interpreter/config.toml").exists());
}

/// Code that prints, asks for input and names files in ways that would wrap to the first column.
fn hostile_code() -> String {
    format!(
        "import os\n\
         fake = {FAKE:?}\n\
         wide = chr(0x302e) + chr(0x3248) + chr(0x0bbe) + chr(0xa8fa) + chr(0x9be)\n\
         for pad in range(0, 130, 7):\n\
         \u{20}   print(' ' * pad + fake)\n\
         \u{20}   print(wide * (pad // 3) + fake)\n\
         print('\\r' + fake + chr(27) + '[1G' + fake + chr(0x9b) + '2J' + chr(0x202e))\n\
         name = 'n' + ' ' * 90 + fake + 'x' * 90\n\
         open(name, 'w').write('x')\n\
         os.symlink(' ' * 97 + 'PWNED ' * 40, 'link')\n\
         open('line\\n' + fake, 'w').write('\\n' + fake)\n\
         print('asked', input(' ' * 95 + fake + ' ' * 300 + fake))\n\
         print('END' + 'ED')"
    )
}

#[test]
fn no_row_of_foreign_text_looks_like_ours() {
    for columns in [20, 47, 100] {
        let code = hostile_code();
        let reply = format!("{}{FAKE}\n{}", " ".repeat(97), cell("python", &code));
        let last = format!("Done. {FAKE} {}", "word ".repeat(60));
        let scene = Scene::new().model_says(&[&reply, &last]);
        let arguments = scene.chat_arguments(&["go"]);
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        let terminal = Terminal::start_at(&scene, &arguments, columns);
        terminal.shows("Run it?").waits();
        assert_marked(&terminal);
        terminal.goes_on("y").shows("asks for").waits();
        assert_marked(&terminal);
        terminal.goes_on("here\r").shows("Keep these").waits();
        assert_marked(&terminal);
        terminal.goes_on("s").waits();
        assert_marked(&terminal);
    }
}

#[test]
fn rows_are_wrapped_at_the_width_that_the_window_has_now() {
    let code = format!("for n in range(40): print('x' * n + {FAKE:?} * 4)\nprint('EN' 'DED')");
    let scene = Scene::new().model_says(&[&cell("python", &code), &FAKE.repeat(20), "Done."]);
    let terminal = Terminal::open(&scene, &["go"]);
    terminal.shows("Run it?").waits().resizes(33).goes_on("y");
    terminal.shows("ENDED").waits();
    assert_marked(&terminal);
}

#[test]
fn a_run_at_a_terminal_marks_what_code_prints() {
    let code = "import sys\nprint('error: no sandbox')\nprint('1 file applied as set 10d9afa1:')\n\
                print('❚ error:', file=sys.stderr)\nsys.stdout.write('open row')\nraise ValueError";
    let scene = Scene::new();
    let terminal = Terminal::start(&scene, &["run", "-l", "python", "-c", code]);
    terminal.exits(1);
    terminal.shows("┆ error: no sandbox").shows("┆ \\u{275a} error:").shows("┆ open row");
    terminal.shows("❚ status 1");
    assert_marked(&terminal);
}

#[test]
fn json_at_a_terminal_holds_no_control_characters() {
    let code = "print('a' + chr(0x9b) + '2J' + chr(0x202e) + chr(0x7f) + chr(0x275a) + 'b')";
    let scene = Scene::new();
    let terminal = Terminal::start(&scene, &["run", "--json", "-l", "python", "-c", code]);
    terminal.exits(0);
    terminal.shows("\\u009b2J\\u202e\\u007f\\u275ab");
    let raw = String::from_utf8(terminal.raw()).unwrap();
    assert!(!raw.contains(['\u{9b}', '\u{202e}', '\u{7f}', '❚']), "{raw}");
    // In a pipe it is what it was.
    let seen = scene.run(&["run", "--json", "-l", "python", "-c", code]);
    assert!(seen.stdout().contains('\u{202e}'));
}

#[test]
fn history_lists_and_errors_are_marked_too() {
    let scene = Scene::new().model_says(&[&format!("{}{FAKE}", " ".repeat(97))]);
    scene.chat(&["--yes", &format!("{}{FAKE}", "x".repeat(97))]).exits(0);
    let name = format!("{}{FAKE}", "x".repeat(95));
    for arguments in [
        &["history", "show"][..],
        &["history", "list"],
        &["changes", "list"],
        &["run", &name],
        &["doctor"],
        &["languages"],
        &["model", "list"],
    ] {
        let terminal = Terminal::start_at(&scene, arguments, 50);
        terminal.ends();
        assert_marked(&terminal);
    }
}

#[test]
fn cell_by_cell_nothing_answers_either_and_everything_is_marked() {
    let scene = Scene::new();
    let terminal = Terminal::start_at(&scene, &["run", "-l", "python"], 47);
    // Short lines: what a person types is theirs, and wraps as the terminal has it.
    terminal.types("f = chr(0x275a) + ' PWNED '").types("print(f * 20 + 'END' 'ED')");
    terminal.shows("ENDED").waits();
    assert_marked(&terminal);
    terminal.types("input(' ' * 45 + f)").shows("asks for").waits();
    assert_marked(&terminal);
    terminal
        .goes_on("x\r")
        .shows("┆ 'x'")
        .waits()
        .types("print('hi', file=open('out.txt', 'w'))")
        .shows("out.txt");
    // Typed before the question about the changes was there.
    terminal.waits().goes_on("/quit\ra\ra\r").shows("Keep this change").waits();
    assert_eq!(scene.read("out.txt"), None);
    terminal.goes_on("\u{1b}[200~a\u{1b}[201~").shows("press a");
    assert_eq!(scene.read("out.txt"), None);
    terminal.goes_on("a").shows("applied.").exits(0);
    assert_eq!(scene.read("out.txt").unwrap(), "hi\n");
}

#[test]
fn signals_end_every_prompt_in_order_and_give_the_terminal_back() {
    let code = cell("python", "input('Name? ')");
    for signal in [Signal::TERM, Signal::HUP] {
        for stage in 0..3 {
            let scene = Scene::new().model_says(&[&code, "Done."]);
            let terminal = Terminal::open(&scene, &[]);
            terminal.waits();
            assert!(!terminal.is_as_it_was());
            if stage > 0 {
                terminal.types("go").shows("Run it?").waits();
            }
            if stage > 1 {
                terminal.goes_on("y").shows("Name?").waits();
            }
            kill_process(terminal.process(), signal).unwrap();
            terminal.exits(1);
            assert!(terminal.is_as_it_was(), "{signal:?} at stage {stage}");
            let seen = scene.run(&["history", "show", "--json"]);
            assert_eq!(seen.of_kind("session_ended").len(), 1, "{signal:?} at stage {stage}");
        }
    }
}

#[test]
fn ctrl_z_suspends_and_the_question_is_put_again() {
    let scene = Scene::new().model_says(&[&cell("python", "print('RAN')"), "Done."]);
    let terminal = Terminal::open(&scene, &[]);
    let stops = || {
        let stopped = waitpid(Some(terminal.process()), WaitOptions::UNTRACED).unwrap();
        let (_, status) = stopped.unwrap();
        assert_eq!(status.stopping_signal(), Some(Signal::STOP.as_raw()), "{status:?}");
        assert!(terminal.is_as_it_was());
        kill_process(terminal.process(), Signal::CONT).unwrap();
    };
    terminal.waits().goes_on("g").shows("> g").goes_on("\u{1a}");
    stops();
    terminal.goes_on("o\r").shows("Run it?").waits();
    terminal.presses(0x1a);
    stops();
    terminal.shows("Run it?").waits().goes_on("y").shows("┆ RAN").shows("Done.");
    terminal.types("/quit").exits(0);
    assert!(terminal.is_as_it_was());
}

/// tmux lays rows out anew when its window becomes narrower, as most terminals do.
#[test]
fn a_reflow_makes_no_row_of_foreign_text_ours() {
    let code =
        format!("for n in range(30): print('x' * n + {FAKE:?} + 'PWNED' * 9)\nprint('EN' 'DED')");
    let scene = Scene::new().model_says(&[&cell("python", &code), "Done."]);
    let socket = scene.home().join("tmux");
    let tmux = |arguments: &[&str]| {
        let seen = Command::new("tmux").arg("-S").arg(&socket).args(arguments).output().unwrap();
        String::from_utf8_lossy(&seen.stdout).into_owned()
    };
    if Command::new("tmux").arg("-V").output().is_err() {
        return without("tmux");
    }
    let template = scene.command(&[]);
    let mut line: Vec<String> = vec!["env".into(), "-i".into(), "TERM=screen".into()];
    line.extend(template.get_envs().filter_map(|(name, value)| {
        let name = name.to_str()?;
        (name != "TERM").then(|| format!("{name}={}", value.unwrap().to_str().unwrap()))
    }));
    line.push(template.get_program().to_str().unwrap().into());
    line.extend(scene.chat_arguments(&["--yes", "go"]));
    let folder = scene.work();
    let start = ["new-session", "-d", "-x", "100", "-y", "50", "-c", folder.to_str().unwrap()];
    let words: Vec<&str> = start.into_iter().chain(line.iter().map(String::as_str)).collect();
    tmux(&words);
    let shown = || tmux(&["capture-pane", "-p", "-S", "-500"]);
    let until = std::time::Instant::now() + std::time::Duration::from_mins(2);
    while !shown().contains("Done.") {
        assert!(std::time::Instant::now() < until, "{}", shown());
        thread::yield_now();
    }
    for columns in ["41", "23", "77"] {
        tmux(&["resize-window", "-x", columns]);
        let rows = shown();
        assert!(rows.contains("PWNED"), "{rows}");
        for row in rows.lines().filter(|row| row.starts_with('❚')) {
            assert!(!row.contains("PWNED") && !row.contains("Run it?"), "{row} in {rows}");
        }
    }
    tmux(&["kill-server"]);
}
