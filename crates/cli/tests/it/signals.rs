//! Signals that end the program end its session first: on record, with nothing left running.

use crate::scene::{Scene, Seen, Who, cell};
use rustix::process::{Pid, Signal, kill_process};
use std::{
    io::{BufRead, BufReader, Read},
    process::{Command, Stdio},
};

/// The signals that end a session in good order.
const ENDING: [Signal; 2] = [Signal::TERM, Signal::HUP];

/// Starts the program, sends it a signal once its code runs, and checks what is left.
fn ended_by(scene: &Scene, arguments: &[&str], signal: Signal) {
    let mut child = scene.command(arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains("started") {
        assert!(out.read_until(b'\n', &mut seen).unwrap() > 0, "it ended before its code ran");
    }
    kill_process(Pid::from_child(&child), signal).unwrap();
    out.read_to_end(&mut seen).unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(1), "{signal:?}: {status:?}");
    assert_eq!(scene.left_running(), Vec::<String>::new(), "{signal:?}");
    let told = scene.run(&["history", "show", "--json"]).exits(0);
    assert_eq!(told.of_kind("session_ended").len(), 1, "{signal:?}: {}", told.stdout());
    scene.run(&["audit", "verify"]).mentions("all linked").exits(0);
    let sandboxes = std::fs::read_dir(scene.data().join("sandboxes"));
    assert_eq!(sandboxes.map_or(0, Iterator::count), 0, "{signal:?}");
}

/// Starts a chat at a terminal that is nobody's controlling one, takes it away at the prompt, and
/// says how it ended.
const TAKEN_AWAY: &str = r"
import os, pty, subprocess, sys
ours, theirs = pty.openpty()
child = subprocess.Popen(sys.argv[1:], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
os.close(theirs)
seen = b''
while b'> ' not in seen.rsplit(b'\n', 1)[-1]:
    seen += os.read(ours, 4096)
os.close(ours)
print('ended with', child.wait(timeout=60))
";

#[test]
fn a_terminal_that_is_gone_ends_the_chat() {
    let scene = Scene::new().model_says(&["Hello."]);
    let arguments = scene.chat_arguments(&["--plain"]);
    let chat = scene.command(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let mut outer = Command::new("python3");
    outer.args(["-c", TAKEN_AWAY]).arg(chat.get_program()).args(chat.get_args());
    outer.envs(chat.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Seen(outer.current_dir(scene.work()).output().unwrap()).prints("ended with 0\n").exits(0);
}

#[test]
fn a_run_that_is_told_to_end_ends_its_session() {
    let code = "echo started; sleep 1000 & sleep 1000";
    for who in Who::all() {
        for signal in ENDING {
            let scene = Scene::of(who);
            ended_by(&scene, &["run", "-l", "shell", "-c", code], signal);
            ended_by(&scene, &["run", "--json", "-l", "shell", "-c", code], signal);
        }
    }
}

#[test]
fn a_chat_of_one_turn_that_is_told_to_end_ends_its_session() {
    for signal in ENDING {
        let code = cell("shell", "echo started; sleep 1000 & sleep 1000");
        let scene = Scene::new().model_says(&[&code, "Done."]);
        let arguments = scene.chat_arguments(&["--json", "-y", "go on"]);
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        ended_by(&scene, &arguments, signal);
    }
}
