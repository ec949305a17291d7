//! Code that is hostile to its own session, through the real program with the sandbox on: each
//! ends in a clear message, within its limit, the session goes on, and nothing is left running.

use crate::{
    backends::{FIREJAIL, LANDLOCK, present},
    scene::{Scene, Who, cell},
};
use interpreter_core::Backend;
use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

/// Limits that are quick to reach. The time is only for what would otherwise never end.
const LIMITS: &str = "processes = 64\noutput = \"1M\"\nmemory = \"512M\"\nwall = \"20s\"\n";

/// Code that shows that an interpreter lives.
const ALIVE: &[(&str, &str)] = &[
    ("python", "print('still here')"),
    ("shell", "echo still here"),
    ("javascript", "console.log('still here')"),
];

/// Hostile code and the message about it, also to the model.
type Attack = (&'static str, &'static [&'static str], &'static [&'static str]);

/// Runs cells of one language in one session: one that is harmless, the attack and what follows
/// it, and one that shows that the session is usable.
#[track_caller]
fn survives(who: Who, language: &str, cells: &[&str], options: &[&str], says: &[&str]) {
    let (_, alive) = ALIVE.iter().find(|(name, _)| *name == language).unwrap();
    let mut replies = vec![cell(language, alive)];
    replies.extend(cells.iter().map(|code| cell(language, code)));
    replies.extend([cell(language, alive), "Done.".to_owned()]);
    let replies: Vec<_> = replies.iter().map(String::as_str).collect();
    let scene = Scene::of(who).limits(LIMITS).model_says(&replies);
    let seen = scene.chat(&[&["--yes", "--json"], options, &["go"]].concat());
    assert_eq!(scene.left_running(), Vec::<String>::new(), "{cells:?}");
    assert_eq!(seen.printed_by("p1"), "still here\n", "{}", seen.stderr());
    let printed = seen.printed_by(&format!("p{}", cells.len() + 2));
    // Something else may still be dying with words.
    assert!(printed.contains("still here\n"), "{cells:?}: {printed}\n{}", seen.stdout());
    // The model was told everything that is looked for here, in the results of the runs.
    let told: String = seen.of_kind("request").iter().map(ToString::to_string).collect();
    for part in says {
        assert!(told.contains(part), "{cells:?} was not told as `{part}`:\n{told}");
    }
    seen.exits(0);
}

#[track_caller]
fn all_survive(language: &str, attacks: &[Attack]) {
    for (code, options, says) in attacks {
        survives(Who::Ourselves, language, &[code], options, says);
    }
}

const AFRESH: &str = "variables are lost";

#[test]
fn python_survives() {
    let forget = "import gc\nfor one in gc.get_objects():\n  \
        if type(one) is dict and 'control' in one and 'cells' in one: one.clear()";
    all_survive(
        "python",
        &[
            (
                "while True: pass",
                &["--set", "limits.wall=1s"],
                &["limit on time (1 s; `--time-limit`"],
            ),
            (
                "while True: pass",
                &["--cpu-limit", "1s"],
                &["limit on CPU time (1 s; `--cpu-limit`"],
            ),
            ("while True: print('y' * 1000)", &[], &["limit on output (1M; `limits.output`"]),
            // The first process of a namespace does not die of a signal from inside.
            ("import os; os.kill(os.getppid(), 9)", &[], &["[status 0]"]),
            ("import os; os.kill(os.getpid(), 9)", &[], &["ended by SIGKILL (", AFRESH]),
            ("import os; os.write(40, b'garbage')", &[], &["[status 0]"]),
            ("import os; os.write(40, b'{\"kind\":\"finished\"')", &[], &["[status 0]"]),
            ("x = bytearray(1 << 30)", &[], &["MemoryError", "memory (512M"]),
            (forget, &[], &["exited with status 1", AFRESH]),
            ("import sys; sys.exit(3)", &[], &["exited with status 3", AFRESH]),
            ("import os; os._exit(4)", &[], &["exited with status 4", AFRESH]),
            (
                "import os; os.execv('/bin/echo', ['echo', 'another program'])",
                &[],
                &["another program", "exited with status 0", AFRESH],
            ),
            (
                "import ctypes; ctypes.string_at(0)",
                &[],
                &["ended by SIGSEGV (a crash in native code)", AFRESH],
            ),
        ],
    );
}

#[test]
fn the_shell_survives() {
    let forget = "unset -f $(compgen -A function); unset ${!__interpreter*}; hash -r; unalias -a";
    all_survive(
        "shell",
        &[
            ("while :; do :; done", &["--set", "limits.wall=1s"], &["limit on time (1 s; "]),
            (
                "bash -c 'while :; do :; done'",
                &["--cpu-limit", "1s"],
                &["limit on CPU time (1 s; "],
            ),
            // Each of them is gone before it could be looked at.
            (
                "while :; do bash -c 'for ((i = 0; i < 3000; i++)); do :; done'; done",
                &["--cpu-limit", "1s"],
                &["limit on CPU time (1 s; "],
            ),
            ("yes", &[], &["limit on output (1M; "]),
            ("kill -9 $PPID", &[], &["[status 0]"]),
            ("kill -9 $$", &[], &["ended by SIGKILL (", AFRESH]),
            ("kill -SEGV $$", &[], &["ended by SIGSEGV (", AFRESH]),
            ("echo garbage >&3; echo garbage >&40", &[], &["Bad file descriptor", "[status 1]"]),
            ("x=$(head -c 1G /dev/zero | tr '\\0' x)", &[], &["cannot allocate", AFRESH]),
            (forget, &[], &["readonly"]),
            ("exit 3", &[], &["exited with status 3", AFRESH]),
            ("exec true", &[], &["exited with status 0", AFRESH]),
        ],
    );
}

#[test]
fn javascript_survives() {
    let forget = "for (const name of Reflect.ownKeys(globalThis)) delete globalThis[name]";
    all_survive(
        "javascript",
        &[
            ("for (;;);", &["--set", "limits.wall=1s"], &["limit on time (1 s; "]),
            ("for (;;);", &["--cpu-limit", "1s"], &["limit on CPU time (1 s; "]),
            ("for (;;) console.log('y'.repeat(1000))", &[], &["limit on output (1M; "]),
            ("process.kill(process.ppid)", &[], &["[status 0]"]),
            ("process.kill(process.pid, 'SIGKILL')", &[], &["ended by SIGKILL (", AFRESH]),
            ("require('fs').writeSync(3, 'garbage')", &[], &["[status 0]"]),
            (
                "for (const n of [1, 2, 3]) require('fs').closeSync(n)",
                &[],
                &["exited with", AFRESH],
            ),
            ("Buffer.alloc(2 ** 30)", &[], &["allocation failed", "[status 1]"]),
            (
                "const all = []; for (;;) all.push(new Array(1e6).fill(1))",
                &[],
                // By SIGABRT or SIGTRAP, as the version of Node has it.
                &["the interpreter was ended by SIG", "memory (512M", AFRESH],
            ),
            (forget, &[], &["the kernel ends", AFRESH]),
            ("process.exit(3)", &[], &["exited with status 3", AFRESH]),
        ],
    );
}

#[test]
fn closed_output_is_told_and_a_fresh_interpreter_has_it_again() {
    let says = &["closed this interpreter's standard output", AFRESH][..];
    let close = "import os\nfor n in (1, 2, 3):\n  try: os.close(n)\n  except OSError: pass";
    survives(Who::Ourselves, "python", &[close, "raise SystemExit"], &[], says);
    survives(Who::Ourselves, "shell", &["exec 1>&- 2>&- 3>&-", "exit"], &[], says);
}

/// Goes on until there is no room for another process, or room was made by ending the shell.
const UNTIL_FULL: &str = "import os
shell = open('/tmp/shell').read().strip()
while os.path.exists(f'/proc/{shell}'):
    try: child = os.fork()
    except BlockingIOError: break
    if child == 0: os._exit(0)
    os.waitpid(child, 0)
print('full')";

#[test]
fn a_fork_bomb_in_the_background_is_ended_when_its_room_is_needed() {
    for who in Who::all() {
        let replies = [
            cell("shell", "echo $$ >/tmp/shell"),
            cell("shell", ":(){ :|:& };:"),
            cell("python", UNTIL_FULL),
            cell("shell", "ls / >/dev/null && echo still here"),
            cell("python", "print('and here')"),
            "Done.".to_owned(),
        ];
        let replies: Vec<_> = replies.iter().map(String::as_str).collect();
        let scene = Scene::of(who).limits(LIMITS).model_says(&replies);
        let seen = scene.chat(&["--yes", "--json", "go"]);
        assert_eq!(scene.left_running(), Vec::<String>::new());
        assert!(seen.printed_by("p3").contains("full\n"), "{}", seen.stdout());
        assert!(seen.printed_by("p4").contains("still here\n"), "{}", seen.stdout());
        assert!(seen.printed_by("p5").contains("and here\n"), "{}", seen.stdout());
        // Either there was room when it was looked for, and the bomb itself says what it came up
        // against, or there was none.
        let said = seen.stdout();
        let told = ["Resource temporarily unavailable", "limit on processes (64; "];
        assert!(told.iter().any(|part| said.contains(part)), "{said}");
        seen.exits(0);
    }
}

#[test]
fn a_crowd_in_the_background_is_ended_and_everybody_is_told() {
    let replies = [
        cell("python", "x = 1"),
        cell("shell", "for i in {1..60}; do sleep 1000 & done"),
        cell("shell", "jobs | grep -c .; ls / >/dev/null && echo still here"),
        cell("python", "print('x' in globals())"),
        "Done.".to_owned(),
    ];
    let replies: Vec<_> = replies.iter().map(String::as_str).collect();
    let scene = Scene::new().limits(LIMITS).model_says(&replies);
    let seen = scene.chat(&["--yes", "--json", "go"]);
    assert_eq!(scene.left_running(), Vec::<String>::new());
    assert_eq!(seen.printed_by("p3"), "0\nstill here\n");
    assert_eq!(seen.printed_by("p4"), "False\n");
    let told: String = seen.of_kind("request").iter().map(ToString::to_string).collect();
    for part in [
        "limit on processes (64; `limits.processes` in your config file raises it)",
        "and this ran afresh",
        "the python interpreter was ended: what had been left running reached the limit",
    ] {
        assert!(told.contains(part), "{part} was not told: {told}");
    }
    seen.exits(0);
}

#[test]
fn a_fork_bomb_in_the_foreground_is_stopped() {
    for who in Who::all() {
        let plain = "import os\nwhile True: os.fork()";
        survives(who, "python", &[plain], &[], &["Resource temporarily unavailable"]);
        let deaf = "import os, signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n\
            while True:\n  try: os.fork()\n  except OSError: pass";
        let says = &["limit on time (2 s; ", AFRESH][..];
        survives(who, "python", &[deaf], &["--set", "limits.wall=2s"], says);
    }
}

#[test]
fn what_ignores_every_signal_it_can_is_ended() {
    let python = "import signal\nfor n in (1, 2, 3, 15): signal.signal(n, signal.SIG_IGN)\n\
        while True: pass";
    let says = &["limit on time (1 s; ", AFRESH][..];
    survives(Who::Ourselves, "python", &[python], &["--set", "limits.wall=1s"], says);
    let shell = "trap '' INT TERM HUP QUIT; while :; do sleep 1000; done";
    survives(Who::Ourselves, "shell", &[shell], &["--set", "limits.wall=1s"], says);
}

/// Fills the disk with what is written to the work folder, however it is tried.
const FILLS: [(&str, &str, &str); 4] = [
    ("one file", "python", "with open('big', 'wb') as f:\n    while True: f.write(bytes(1 << 20))"),
    (
        "a locked folder",
        "shell",
        "mkdir d; while :; do head -c 8M /dev/zero > d/$RANDOM$RANDOM; chmod 000 d; chmod 700 d; done",
    ),
    (
        "many files",
        "python",
        "import os\nn = 0\nwhile True:\n    os.makedirs(f'd{n}')\n    for i in range(500): \
         open(f'd{n}/{i}', 'w').close()\n    n += 1",
    ),
    (
        "deep down",
        "python",
        "import os\nfor _ in range(300): os.mkdir('d'); os.chdir('d')\nwith open('big', 'wb') as f:\n    \
         while True: f.write(bytes(1 << 20))",
    ),
];

#[test]
fn a_full_stage_ends_the_run_by_name_and_can_be_discarded() {
    for who in Who::all() {
        for (name, language, code) in FILLS {
            let scene = Scene::of(who)
                .limits("staged = \"100M\"\nstaged_files = 5000\nwall = \"5m\"\n")
                .model_says(&[&cell(language, code), &cell(language, "print(1 + 1)"), "enough"]);
            let seen = scene.chat(&["--yes", "--json", "go"]);
            let runs = seen.of_kind("run_finished");
            let limit = runs[0]["limit"].as_str().unwrap_or_default();
            let named =
                if name == "many files" { "number of staged files" } else { "staged files (100M" };
            assert!(limit.contains(named), "{name}: {limit}\n{}", seen.stdout());
            let set = scene.run(&["changes", "list"]).exits(0).stdout();
            assert!(set.contains("staged"), "{name}: {set}");
            scene.run(&["changes", "discard"]).exits(0);
            scene.run(&["changes", "list"]).lacks(" staged ");
            assert_eq!(scene.left_running(), Vec::<String>::new());
        }
    }
}

#[test]
fn what_is_left_in_the_background_does_not_fill_the_disk_either() {
    let code = "(while :; do head -c 4M /dev/zero > f$RANDOM$RANDOM; done) >/dev/null 2>&1 &";
    let wait = "import time, os\nsize = lambda: sum(os.path.getsize(f) for f in os.listdir('.'))\n\
                last = -1\nwhile size() != last:\n    last = size(); time.sleep(1)\n\
                print('stands still below 4 GB:', last < 4 << 30)";
    let scene = Scene::new().limits("staged = \"100M\"\nwall = \"5m\"\n").model_says(&[
        &cell("shell", code),
        &cell("python", wait),
        "enough",
    ]);
    let seen = scene.chat(&["--yes", "--json", "go"]);
    let text = seen.stdout();
    assert!(text.contains("limit on staged files (100M"), "{text}");
}

/// Takes all watchers of files that it gets, and holds them until its input ends.
const WATCHERS: &str = "
import ctypes, sys
libc, taken = ctypes.CDLL(None), 0
while libc.inotify_init1(0) >= 0: taken += 1
print('took', taken, flush=True)
";

#[test]
fn a_program_outside_still_gets_a_watcher() {
    if !Who::Ourselves.is_root() {
        return eprintln!("not tried: it would take the watchers of whoever runs the tests");
    }
    // Somebody whose watchers no other test needs.
    let scene = Scene::of(Who::Named(64_322));
    let outside = || {
        let try_one = "import ctypes; raise SystemExit(ctypes.CDLL(None).inotify_init1(0) < 0)";
        let mut command = Command::new("/usr/bin/python3");
        scene.as_its_user(command.args(["-c", try_one])).status().unwrap().success()
    };
    let holding = |mut command: Command| {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("took "), "{line}");
        let still = outside();
        drop(child.stdin.take());
        child.wait().unwrap();
        (line.trim().to_owned(), still)
    };
    // The control: without a sandbox it gets them all.
    let wait = format!("{WATCHERS}sys.stdin.read()");
    let mut plain = Command::new("/usr/bin/python3");
    scene.as_its_user(plain.args(["-c", &wait]));
    let (took, still) = holding(plain);
    assert!(!still, "{took}, and others still get one");
    let wait = format!("{WATCHERS}input()");
    let (took, still) = holding(scene.command(&["run", "-l", "python", "-c", &wait]));
    assert!(still, "{took}, and others get none");
    assert_ne!(took, "took 0");
}

/// Writes its own claims to the control socket, as many as requested.
const CLAIMS: &str = r"
import os, stat
control = next(fd for fd in range(3, 100) if os.path.exists(f'/proc/self/fd/{fd}') and stat.S_ISSOCK(os.fstat(fd).st_mode))
def say(line, times):
    data = (line + '\n').encode() * times
    while data: data = data[os.write(control, data):]
";

#[test]
fn tiny_claims_cost_what_their_records_cost() {
    let kinds = [
        r#"{"kind":"result","bundle":{"text/plain":"1"}}"#,
        r#"{"kind":"line","line":1}"#,
        r#"{"kind":"raised","name":"E","message":""}"#,
        r#"{"kind":"completions","start":0,"end":0,"matches":[]}"#,
        r#"{"kind":"refused","code":"ENOENT","path":"/x"}"#,
        "noise",
    ];
    for claim in kinds {
        // 20,000 of them are a megabyte at most, and ten times that as records.
        let scene = Scene::new().limits("output = \"2M\"\n");
        let code = format!("{CLAIMS}\nsay('{claim}', 20_000)\nprint('all were taken')");
        let seen = scene.run(&["run", "-l", "python", "-c", &code]);
        seen.mentions("reached the limit on output (2M");
        let record = std::fs::metadata(scene.data().join("record.db")).unwrap().len();
        assert!(record < 8 << 20, "{claim}: {record} bytes of record");
        // The control: as few as an honest cell has are all taken.
        let scene = Scene::new().limits("output = \"2M\"\n");
        let code = format!("{CLAIMS}\nsay('{claim}', 1_000)\nprint('all were taken')");
        scene.run(&["run", "-l", "python", "-c", &code]).mentions("all were taken").exits(0);
    }
}

/// Queues as many descriptors on their way as the kernel lets it, says so and stays.
const QUEUES: &str = r"
import signal, socket
pairs, sent = [], 0
try:
    while sent < 100_000:
        one, other = socket.socketpair()
        pairs.append((one, other))
        one.setblocking(False)
        for _ in range(4):
            socket.send_fds(one, [b'x'], [0] * 253)
            sent += 253
except OSError as error:
    print('stopped', flush=True)
signal.pause()
";

/// Sends one descriptor, as a program with the usual limit.
const SENDS: &str = "import socket, resource\n\
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))\n\
    one, other = socket.socketpair(); socket.send_fds(one, [b'x'], [0]); print('sent')";

/// Descriptors on their way are counted for a user as a whole.
#[test]
fn other_programs_can_still_send_descriptors() {
    let shared = [LANDLOCK, FIREJAIL];
    for (backend, who) in present().filter(|(_, who)| !who.is_root()) {
        if backend == Backend::NONE {
            continue;
        }
        let scene = Scene::of(who);
        let on = scene.on(backend);
        // There the host has no more than its code: fewer, so that other tests go on.
        let few = ["--set", "limits.open_files=128"];
        let few = if shared.contains(&backend) { &few[..] } else { &[] };
        let run = [&["run", "--time-limit", "60s"], &on[..], few, &["-l", "python", "-c", QUEUES]];
        let mut child = scene.command(&run.concat()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert_eq!(lines.next().unwrap().unwrap(), "stopped", "{backend}");
        let mut sends = Command::new("timeout");
        let sends = scene.as_its_user(sends.args(["30", "python3", "-c", SENDS])).output().unwrap();
        // Another session starts all the same.
        let another = scene.code_on(backend, "python", "print('another')");
        let ended = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(ended, rustix::process::Signal::INT).unwrap();
        child.wait().unwrap();
        another.prints("another\n");
        assert_eq!(String::from_utf8_lossy(&sends.stdout), "sent\n", "{backend} as {who:?}");
    }
}

/// The control: where nothing bounds it, nobody else can. As a user that is nobody's.
#[test]
fn without_a_bound_no_other_program_can_send_descriptors() {
    if !Who::Ourselves.is_root() {
        return eprintln!("not tried: only root can be a user that is nobody's");
    }
    let code = format!(
        "import resource, subprocess, sys\n\
         resource.setrlimit(resource.RLIMIT_NOFILE, (2048, 2048))\n{}\n\
         print(subprocess.run([sys.executable, '-c', sys.argv[1]]).returncode)",
        QUEUES.replace("signal.pause()", "")
    );
    let mut queues = Command::new("setpriv");
    queues.args(["--reuid", "64871", "--regid", "64871", "--clear-groups", "timeout", "60"]);
    let output = queues.args(["python3", "-c", &code, SENDS]).current_dir("/").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "stopped\n1\n");
}
