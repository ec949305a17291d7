//! The person's hand on what runs: interrupt, restart, limits, stop.

use crate::{
    scene::{Scene, cell},
    terminal::Terminal,
};
use rustix::{
    fs::{CWD, Mode, mkfifoat},
    process::{Pid, Signal, kill_process},
};
use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    os::unix::fs::PermissionsExt,
    process::Stdio,
};

/// A pipe in the work folder that code keeps open as long as it lives.
fn lifeline(scene: &Scene) {
    let path = scene.work().join("alive");
    mkfifoat(CWD, &path, Mode::from_raw_mode(0o666)).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
}

/// Waits until all that kept the pipe open is dead.
fn wait_for_death(scene: &Scene) {
    let mut nothing = Vec::new();
    File::open(scene.work().join("alive")).unwrap().read_to_end(&mut nothing).unwrap();
}

/// A daemon in the full sense, deaf to what can be ignored; it says who it is and holds nothing
/// of its parent's open.
const DAEMON: &str = "(setsid bash -c 'trap \"\" INT TERM HUP; exec >&- 2>&-; \
    while :; do sleep 1000; done' & echo daemon $!)";

#[test]
fn an_interrupt_ends_what_runs_and_nothing_of_it_reaches_the_next_cell() {
    let cells = [
        ("shell", "x=7; while :; do echo tick; sleep 0.01; done", "echo x is $x"),
        ("shell", "x=7; echo tick; sleep 1000", "echo x is $x"),
        ("javascript", "const x = 7; console.log('tick'); for (;;);", "console.log('x is', x)"),
        (
            "javascript",
            "const x = 7; for (;;) { console.log('tick'); await new Promise(r => setTimeout(r, 10)) }",
            "console.log('x is', x)",
        ),
        (
            "python",
            "x = 7; print('tick', flush=True)\nimport time; time.sleep(1000)",
            "print('x is', x)",
        ),
        (
            "python",
            "x = 7\nimport subprocess; subprocess.run('echo tick; sleep 1000', shell=True)",
            "print('x is', x)",
        ),
    ];
    for (language, code, next) in cells {
        let scene =
            Scene::new().model_says(&[&cell(language, code), &cell(language, next), "Done."]);
        let terminal = Terminal::open(&scene, &["--yes", "go"]);
        terminal.shows("┆ tick");
        terminal.presses(3).shows("Interrupted.");
        terminal.types("go on").shows("x is 7").shows("Done.");
        terminal.types("/quit").exits(0);
        let seen = scene.run(&["history", "show", "--json"]);
        assert_eq!(seen.printed_by("p2"), "x is 7\n", "{language}: {code}");
        assert_eq!(seen.of_kind("run_finished")[0]["kernel_ended"], false);
    }
}

#[test]
fn what_does_not_heed_an_interrupt_is_ended_and_said_so() {
    let code = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n\
        print('deaf', flush=True)\nwhile True: pass";
    let next = "print('fresh', 'signal' not in globals())";
    let scene = Scene::new().model_says(&[&cell("python", code), &cell("python", next), "Done."]);
    let terminal = Terminal::open(&scene, &["--yes", "go"]);
    terminal.shows("┆ deaf");
    terminal
        .presses(3)
        .shows("the next run starts a new one")
        .shows("time to heed an interrupt (2 s)");
    terminal.types("go on").shows("fresh True").shows("Done.");
    terminal.types("/quit").exits(0);
}

#[test]
fn a_restart_ends_an_interpreter_with_all_that_it_started() {
    let start = format!("x=1; {DAEMON}");
    let scene = Scene::new().script(&format!(
        "[[reply]]\ntext = {}\n[[reply]]\ntext = {}\n[[reply]]\ntext = \"Set.\"\n\
         [[reply]]\ntext = {}\n[[reply]]\nexpect = \"Restarted shell. Its variables are gone.\"\n\
         text = {}\n[[reply]]\ntext = \"Done.\"\n",
        quoted(&cell("python", "y = 2")),
        quoted(&cell("shell", &start)),
        quoted(&cell("shell", "echo \"x is <$x>\"; ps ax | grep -c '[s]leep 1000'")),
        quoted(&cell("python", "print('y is', y)")),
    ));
    let terminal = Terminal::open(&scene, &["--yes", "go"]);
    terminal.shows("┆ daemon ").shows("Set.");
    terminal.types("/restart cobol").shows("unknown language `cobol`");
    terminal.types("/restart shell").shows("Restarted shell.");
    terminal.types("go on").shows("x is <>").shows("┆ 0").shows("y is 2").shows("Done.");
    terminal.types("/help").shows("/restart [LANGUAGE]");
    terminal.types("/quit").exits(0);
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

#[test]
fn a_restart_of_everything_leaves_nothing_of_before() {
    let scene = Scene::new().model_says(&[
        &cell("python", "x = 1"),
        &cell("shell", &format!("x=1; {DAEMON}")),
        "Set.",
        &cell("python", "print('x' in globals())"),
        &cell("shell", "echo \"<$x>\"; ps ax | grep -c '[s]leep 1000'"),
        "Done.",
    ]);
    let terminal = Terminal::open(&scene, &["--yes", "go"]);
    terminal.shows("Set.");
    terminal.types("/restart").shows("Restarted python, shell.");
    terminal.types("go on").shows("False").shows("<>").shows("┆ 0").shows("Done.");
    terminal.types("/restart javascript").shows("there was no interpreter to restart");
    terminal.types("/quit").exits(0);
}

#[test]
fn processor_time_is_counted_after_a_run_says_that_it_is_done() {
    let scene = Scene::new().model_says(&[
        &cell(
            "python",
            "import os\nline = open('alive', 'w')\n\
             def go_on():\n  os.write(40, b'{\"kind\":\"finished\",\"status\":0}\\n')\n  \
             while True: pass\ngo_on()",
        ),
        "It says so.",
        &cell("python", "print('fresh', 'line' not in globals())"),
        "Done.",
    ]);
    lifeline(&scene);
    let options = ["--yes", "--workspace", "direct", "--cpu-limit", "1s", "go"];
    let terminal = Terminal::open(&scene, &options);
    wait_for_death(&scene);
    terminal.shows("It says so.");
    terminal.types("go on").shows("fresh True").shows("Done.");
    terminal.types("/quit").exits(0);
    let seen = scene.run(&["history", "show"]);
    seen.mentions("the python interpreter was ended: what it went on with after its run reached")
        .mentions("limit on CPU time (1 s; `--cpu-limit` raises it)");
}

#[test]
fn a_second_ctrl_c_leaves_not_one_process() {
    let code = format!("{DAEMON}; trap '' INT; sleep 1000; sleep 1000");
    let scene = Scene::new().model_says(&[&cell("shell", &code)]);
    let terminal = Terminal::open(&scene, &["--yes", "go"]);
    terminal.shows("┆ daemon ");
    assert!(scene.running().len() > 3, "{:?}", scene.running());
    terminal.presses(3).shows("interrupted by you");
    terminal.presses(3);
    terminal.exits(1);
    assert_eq!(scene.left_running(), Vec::<String>::new());
}

#[test]
fn the_end_of_a_session_leaves_not_one_process() {
    let scene = Scene::new().model_says(&[&cell("shell", DAEMON), "Done."]);
    let terminal = Terminal::open(&scene, &["--yes", "go"]);
    terminal.shows("┆ daemon ").shows("Done.");
    assert!(!scene.running().is_empty());
    terminal.types("/quit").exits(0);
    assert_eq!(scene.left_running(), Vec::<String>::new());
}

#[test]
fn when_the_program_is_ended_or_killed_nothing_of_it_goes_on() {
    for signal in [Signal::TERM, Signal::KILL] {
        let scene = Scene::new();
        lifeline(&scene);
        // The daemon keeps the pipe open, and whatever else there is.
        let code = format!("exec 5>alive; {DAEMON}; sleep 1000");
        let mut child = scene
            .command(&["run", "--workspace", "direct", "-l", "shell", "-c", &code])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let reader = File::open(scene.work().join("alive")).unwrap();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("daemon "), "{line}");
        kill_process(Pid::from_child(&child), signal).unwrap();
        child.wait().unwrap();
        let mut nothing = Vec::new();
        BufReader::new(reader).read_to_end(&mut nothing).unwrap();
    }
}

#[test]
fn code_heeds_signals_that_whoever_started_the_program_ignores() {
    let scene = Scene::new();
    let code = "grep SigIgn /proc/self/status";
    let program = scene.command(&["run", "-l", "shell", "-c", code]);
    let ignoring = "trap '' HUP INT QUIT TERM USR1; exec \"$0\" \"$@\"";
    let mut command = std::process::Command::new("sh");
    command.args(["-c", ignoring]).arg(program.get_program()).args(program.get_args());
    command.current_dir(scene.work()).env_clear();
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let ignored = said.trim().strip_prefix("SigIgn:\t").expect(&said);
    // The two that the C library keeps to itself cannot be set.
    let ignored = u64::from_str_radix(ignored, 16).unwrap() & !0x1_8000_0000;
    assert_eq!(ignored, 0, "{said}");
}
