//! You apply what you saw: a background process exchanges the content of a staged file whenever it
//! notices a read, and at delays of all lengths, while a person reviews the diff and applies it.

use crate::{
    backends::{BUBBLEWRAP, LANDLOCK, NATIVE},
    scene::{Scene, Who, cell},
    terminal::Terminal,
};
use interpreter_core::{Backend, Promise};
use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// Questions that are asked of each kind of sandbox: with four kinds, a hundred and more timings.
const TURNS: usize = 30;

/// Keeps exchanging the content of a file, in place and each time for one that was never there
/// before: as soon as it was read, by its access time or by a notification, or after a while.
const ATTACKER: &str = r"
import ctypes, os, select, time
target = os.open('target.txt', os.O_RDWR | os.O_CREAT, 0o644)
libc = ctypes.CDLL(None)
watch = libc.inotify_init()
libc.inotify_add_watch(watch, b'target.txt', 0x21)
number = 0
while True:
    kind = b'evil' if number % 2 else b'good'
    os.pwrite(target, b'+V-%08d-%s-V\n' % (number, kind), 0)
    number += 1
    seen = os.stat('target.txt').st_atime_ns
    until = time.monotonic() + 0.00005 * 1.08 ** (number * 37 % 100)
    while time.monotonic() < until and os.stat('target.txt').st_atime_ns == seen:
        if select.select([watch], [], [], 0.0001)[0]:
            os.read(watch, 4096)
            break
";

/// The content that a text shows, the last of several.
fn shown(text: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    let start = text.rfind("+V-")?;
    Some(text[start + 1..].chars().take("V-00000000-evil-V".len()).collect())
}

/// The arguments of a chat on a backend.
fn arguments(backend: Backend) -> Vec<String> {
    let mut all = vec!["--yes".to_owned()];
    if backend != NATIVE {
        let missing = Promise::ALL.map(Promise::word).join(",");
        let more =
            ["--sandbox", backend.word(), "--allow-missing", &missing, "--workspace", "stage"];
        all.extend(more.map(str::to_owned));
    }
    all
}

/// The staged file itself, which the attacker writes to.
fn live_file(scene: &Scene) -> PathBuf {
    let sets = std::fs::read_dir(scene.data().join("changes")).unwrap().flatten();
    let mut files = sets.map(|set| set.path().join("upper/target.txt"));
    files.find(|file| file.exists()).unwrap()
}

/// Reads like any other program, again and again, until another content comes.
fn is_exchanged(file: &Path) -> bool {
    let first = std::fs::read(file).unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    while Instant::now() < until {
        if std::fs::read(file).unwrap() != first {
            return true;
        }
    }
    false
}

#[track_caller]
fn lands_as_shown(backend: Backend, who: Who) {
    let start = format!(
        "import subprocess, sys, os\nsubprocess.Popen([sys.executable, '-c', {ATTACKER:?}])\n\
         while not os.path.exists('target.txt') or not os.path.getsize('target.txt'): pass"
    );
    let mut replies = vec![cell("python", &start), "Done.".to_owned()];
    for _ in 1..TURNS {
        replies.extend([cell("python", "print('on')"), "Done.".to_owned()]);
    }
    let replies: Vec<_> = replies.iter().map(String::as_str).collect();
    let scene = Scene::of(who).model_says(&replies);
    let arguments = arguments(backend);
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let terminal = Terminal::open(&scene, &arguments);
    let mut exchanged = 0;
    for turn in 0..TURNS {
        terminal.types("go").shows("Keep this change");
        let before = terminal.raw().len();
        terminal.types("s").shows("-V").shows("Keep this change");
        let shown = shown(&terminal.raw()[before..]).unwrap();
        if turn == 0 {
            // The control: whoever reads the file itself is shown one thing and then another.
            assert!(is_exchanged(&live_file(&scene)), "the attacker does not attack");
        }
        terminal.types("a").shows("applied");
        let landed = scene.read("target.txt").unwrap();
        assert_eq!(landed, format!("+{shown}\n"), "{backend}, {who:?}, turn {turn}");
        // The content that a second read would have applied.
        exchanged += usize::from(std::fs::read(live_file(&scene)).unwrap() != landed.as_bytes());
    }
    terminal.types("/quit").exits(0);
    assert!(exchanged > 0, "nothing was exchanged between what was shown and what landed");
}

#[test]
fn in_the_native_sandbox_what_is_shown_lands() {
    for who in Who::all() {
        lands_as_shown(NATIVE, who);
    }
}

#[test]
fn where_code_works_in_a_copy_what_is_shown_lands() {
    let who = Who::unprivileged();
    if Path::new("/usr/bin/bwrap").exists() {
        lands_as_shown(BUBBLEWRAP, who);
    }
    if interpreter_jail::landlock_version().is_some_and(|version| version >= 3) {
        lands_as_shown(LANDLOCK, who);
    }
}
