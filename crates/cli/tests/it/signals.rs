//! Signals that end the program end its session first: on record, with nothing left running.

use crate::scene::{Scene, Who, cell};
use rustix::process::{Pid, Signal, kill_process};
use std::{
    io::{BufRead, BufReader, Read},
    process::Stdio,
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
