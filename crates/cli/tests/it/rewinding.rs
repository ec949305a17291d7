//! `/rewind`: back to before a cell, with conversation, staged files and variables.

use crate::{
    backends::present,
    scene::{Scene, Who, cell},
    terminal::Terminal,
};
use interpreter_core::Backend;

#[test]
fn variables_and_the_conversation_go_back() {
    let scene = Scene::new().model_says(&[
        &cell("python", "x = 1"),
        "Set.",
        &cell("python", "x = 2; y = 3"),
        "Changed.",
        &cell("python", "print('x is', x, 'y' in globals())"),
        "It is 1.",
    ]);
    let terminal = Terminal::open(&scene, &["--yes", "set x"]);
    terminal.shows("Set.").types("change it").shows("Changed.");
    terminal.types("/rewind").shows("p1").shows("x = 2; y = 3").shows("before which cell?");
    terminal.types("p2").shows("1 cell and everything said since will no longer count");
    terminal.shows("your prompt: change it").shows("python: from memory");
    terminal.shows("do not come back").shows("Go back to before p2?").types("y");
    terminal.shows("python: as it was then").waits();
    terminal.types("what is x?").shows("┆ x is 1 False").shows("It is 1.");
    terminal.types("/rewind p2").shows("no cell `p2` ran in this session");
    terminal.types("/save chat.py").shows("Saved chat.py");
    terminal.types("/quit").exits(0);
    let seen = scene.run(&["history", "show", "--json"]);
    assert_eq!(seen.of_kind("rewound")[0]["cells"], serde_json::json!(["p2"]));
    // Nothing was erased, and the model is no longer sent what was taken back.
    assert!(seen.stdout().contains("x = 2; y = 3"));
    let requests = seen.of_kind("request");
    let last = requests.iter().rev().find(|one| one["newest"].to_string().contains("what is x?"));
    assert_eq!(last.unwrap()["messages"], 6);
    scene.run(&["history", "show"]).mentions("you went back to before p2").exits(0);
    scene.run(&["audit", "verify"]).exits(0);
    let saved = scene.read("chat.py").unwrap();
    assert!(saved.contains("x = 1") && !saved.contains("x = 2"), "{saved}");
    // It is resumed as it stands.
    scene.play(&["Good."]);
    let terminal = Terminal::open(&scene, &["--resume"]);
    terminal.types("fine?").shows("Good.").types("/quit").exits(0);
    let seen = scene.run(&["history", "show", "--json"]);
    let sent = seen.of_kind("request")[0]["newest"].to_string();
    assert!(sent.contains("x is 1 False") && !sent.contains("change it"), "{sent}");
}

/// Memory that is shared goes back too; what cannot be put back is not called "from memory".
#[test]
fn shared_memory_is_as_it_was_or_its_cells_run_again() {
    let makes = [
        ("import mmap; m = mmap.mmap(-1, 4096)", "from memory"),
        ("import multiprocessing as mp; m = mp.RawArray('c', 5)", "from memory"),
        ("import mmap; m = mmap.mmap(-1, 64 << 20)", "by running 1 cell again"),
    ];
    for (makes, how) in makes {
        let scene = Scene::new().model_says(&[
            &cell("python", &format!("{makes}; m[:5] = b'AAAAA'")),
            "Set.",
            &cell("python", "m[:5] = b'LATER'"),
            "Changed.",
            &cell("python", "print('now it is', bytes(m[:5]))"),
            "Seen.",
        ]);
        let terminal = Terminal::open(&scene, &["--yes", "go"]);
        terminal.shows("Set.").types("change").shows("Changed.").types("/rewind p2");
        let terminal = terminal.shows(&format!("python: {how}")).shows("Go back to before p2?");
        let terminal = terminal.types("y");
        if how == "from memory" {
            terminal.shows("python: as it was then").waits();
        } else {
            terminal.shows("1 cell ran again").waits();
        }
        terminal.types("look").shows("┆ now it is b'AAAAA'").shows("Seen.").types("/quit").exits(0);
    }
}

/// Code that ends the copies of its kernel is found out before the decision.
#[test]
fn a_copy_that_was_killed_is_not_promised() {
    for (code, how) in [
        ("import os, signal; os.kill(-1, signal.SIGKILL)", "by running 1 cell again"),
        ("import os, signal", "from memory"),
    ] {
        let scene = Scene::new().model_says(&[
            &cell("python", "x = 'then'"),
            "Set.",
            &cell("python", &format!("x = 'later'; {code}")),
            "Changed.",
        ]);
        let terminal = Terminal::open(&scene, &["--yes", "go"]);
        terminal.shows("Set.").types("change").shows("Changed.").types("/rewind p2");
        terminal.shows(&format!("python: {how}")).shows("Go back to before p2?").types("n");
        terminal.shows("Nothing has changed.").waits().types("/quit").exits(0);
    }
}

/// Cells of another language leave a Python as it is: checkpoints before them share one copy, which
/// can be gone back to more than once.
#[test]
fn checkpoints_share_a_copy_while_python_runs_nothing() {
    let scene = Scene::new().model_says(&[
        &cell("python", "x = 1"),
        &cell("shell", "echo one"),
        &cell("shell", "echo two"),
        &cell("python", "x = 2"),
        "Done.",
        &cell("python", "print('first', x); x = 3"),
        "Seen.",
        &cell("python", "print('then', x)"),
        "Again.",
    ]);
    let terminal = Terminal::open(&scene, &["--yes", "go"]);
    terminal.shows("Done.").types("/rewind p3").shows("python: from memory");
    terminal.shows("Go back to before p3?").types("y").shows("python: as it was then");
    terminal.shows("1 cell ran again").waits();
    terminal.types("look").shows("┆ first 1").shows("Seen.").waits();
    terminal.types("/rewind p2").shows("python: from memory").types("y");
    terminal.shows("python: as it was then").waits();
    terminal.types("and now?").shows("┆ then 1").shows("Again.").types("/quit").exits(0);
}

/// A thread changes variables while no cell of Python runs, and a checkpoint has them as they are.
#[test]
fn a_checkpoint_has_what_a_thread_did_since_the_last_cell() {
    let thread = "import os, threading, time\nx = 1\ndef work():\n    global x\n    \
                  while not os.path.exists('go'): time.sleep(0.01)\n    \
                  x = 2\n    open('went', 'w').close()\nthreading.Thread(target=work).start()";
    let scene = Scene::new().model_says(&[
        &cell("python", thread),
        &cell("shell", "touch go; until [ -e went ]; do sleep 0.01; done"),
        &cell("python", "x = 3"),
        "Done.",
        &cell("python", "print('x is', x)"),
        "Seen.",
    ]);
    let terminal = Terminal::open(&scene, &["--yes", "go"]);
    terminal.shows("Keep these changes").types("l").waits();
    terminal.types("/rewind p3").shows("python: from memory").types("y");
    terminal.shows("python: as it was then").waits();
    terminal.types("look").shows("┆ x is 2").shows("Keep these changes").types("l").waits();
    terminal.types("/quit").exits(0);
}

#[test]
fn staged_files_go_back() {
    let write = |text: &str| cell("python", &format!("open('a.txt', 'w').write('{text}\\n')"));
    let more = cell("python", "open('a.txt', 'w').write('two\\n'); open('b.txt', 'w').write('b')");
    let scene = Scene::new().model_says(&[&write("one"), "One.", &more, "Two."]);
    let terminal = Terminal::open(&scene, &["--yes", "write"]);
    terminal.shows("Keep this change").types("l").waits().types("again");
    terminal.shows("Keep these changes").types("l").waits();
    terminal.types("/rewind").shows("(staged a.txt)").shows("b.txt)").types("p2");
    terminal.shows("staged files: as they were then").types("y").shows("1 file staged").waits();
    terminal.types("/diff").shows("+one").lacks("+two").lacks("b.txt");
    terminal.types("!ls; cat a.txt").shows("┆ one").waits().lacks("┆ b.txt");
    terminal.types("l").waits().types("/quit").exits(0);
    assert_eq!((scene.read("a.txt"), scene.read("b.txt")), (None, None));
}

#[test]
fn a_shell_goes_back_by_running_its_cells_again() {
    let scene = Scene::new().model_says(&["Hello."]);
    let terminal = Terminal::open(&scene, &[]);
    terminal.types("!A=1; echo first >> log.txt").shows("Keep this change").types("l").waits();
    terminal.types("!A=2").shows("Keep this change").types("l").waits();
    terminal.types("/rewind 2").shows("shell: by running 1 cell again").types("y");
    terminal.shows("p1   shell    A=1; echo first >> log.txt").shows("Run it again").types("y");
    terminal.shows("1 cell ran again").waits();
    // The line that the cell wrote again does not count.
    terminal.types("!cat log.txt; echo A is $A").shows("┆ A is 1").waits();
    assert_eq!(terminal.rows().iter().filter(|row| row.contains("┆ first")).count(), 1);
    terminal.types("l").waits().types("/quit").exits(0);
    let seen = scene.run(&["history", "show", "--json"]);
    let answers = seen.of_kind("answer");
    assert!(answers.iter().all(|one| one["by"] == "person"), "{answers:?}");
    scene.run(&["audit", "verify"]).exits(0);
}

/// A no to the question leaves a fresh interpreter, and the model learns it.
#[test]
fn a_no_to_the_replay_leaves_the_interpreter_fresh() {
    let scene = Scene::new().model_says(&["I see."]);
    let terminal = Terminal::open(&scene, &[]);
    terminal.types("!A=1").shows("status 0").waits();
    terminal.types("!A=2").shows("status 0").waits();
    terminal.types("/rewind 2").types("y").shows("Run it again").types("n");
    terminal.shows("the cells were not run again").waits();
    terminal.types("!echo A is [$A]").shows("┆ A is []").waits();
    terminal.types("ok?").shows("I see.").types("/quit").exits(0);
    let seen = scene.run(&["history", "show", "--json"]);
    let sent = seen.of_kind("request")[0]["newest"].to_string();
    assert!(sent.contains("not all of their variables are there: shell"), "{sent}");
}

#[test]
fn what_was_applied_is_undone_only_on_a_yes() {
    let writes = cell("python", "open('a.txt', 'w').write('applied')");
    for (key, left) in [("k", Some("applied")), ("u", None)] {
        let scene = Scene::new().model_says(&[&writes, "Written."]);
        let terminal = Terminal::open(&scene, &["--yes", "write"]);
        terminal.shows("Keep this change").types("a").shows("1 file applied").waits();
        assert_eq!(scene.read("a.txt").as_deref(), Some("applied"));
        terminal.types("/rewind 1").shows("Go back to before p1?").types("y");
        terminal.shows("1 file applied to your folder since then").shows("a.txt");
        terminal.shows("Undo that in your folder too?").types(key);
        terminal.shows("staged files: as they were then").waits();
        assert_eq!(scene.read("a.txt").as_deref(), left, "{key}");
        terminal.types("/quit").exits(0);
    }
}

#[test]
fn keys_typed_ahead_and_a_no_change_nothing() {
    let scene = Scene::new().model_says(&[&cell("python", "x = 1"), "Set."]);
    let terminal = Terminal::open(&scene, &["--yes", "set x"]);
    terminal.shows("Set.").waits();
    terminal.presses_all("/rewind 1\ry").shows("Go back to before p1?").waits();
    terminal.types("n").shows("Nothing has changed.").shows("> y");
    terminal.goes_on("\u{3}").types("/run python print('x is', x)").shows("┆ x is 1");
    terminal.types("/rewind 9").shows("no cell `p9` ran in this session");
    terminal.types("/quit").exits(0);
    let seen = scene.run(&["history", "show", "--json"]);
    assert!(seen.of_kind("rewound").is_empty());
}

/// A cell that writes into the memory of every process that it can open: the copies to go back to, and
/// a child of its own.
const POISON: &str = r"
import os, time
child = os.fork()
if child == 0:
    time.sleep(1000)
def poison(process):
    done = 0
    with open(f'/proc/{process}/maps') as maps, open(f'/proc/{process}/mem', 'r+b', 0) as memory:
        for line in maps:
            place, rights = line.split()[:2]
            if not rights.startswith('rw') or '[v' in line:
                continue
            start, end = (int(part, 16) for part in place.split('-'))
            try:
                memory.seek(start)
                found = memory.read(end - start)
            except OSError:
                continue
            at = found.find(good)
            while at >= 0:
                memory.seek(start + at)
                memory.write(bad)
                done += 1
                at = found.find(good, at + 1)
    return done
good, bad = b'good-' + b'0123456789', b'evil-' + b'0123456789'
others = [int(name) for name in os.listdir('/proc') if name.isdigit()]
opened, refused = 0, 0
for process in others:
    if process in (os.getpid(), child):
        continue
    try:
        opened += poison(process) > 0
    except OSError:
        refused += 1
print('of its own:', poison(child) > 0, 'others:', opened, 'refused:', refused > 0)
os.kill(child, 9)
";

/// A cell that was undone has not written into the copy that takes its place.
#[test]
fn an_undone_cell_cannot_change_what_is_gone_back_to() {
    for who in Who::all() {
        let scene = Scene::of(who).model_says(&[
            &cell("python", "word = b'good-' + b'0123456789'"),
            "Set.",
            &cell("python", POISON),
            "Done.",
            &cell("python", "print('word is', word.decode())"),
            "Seen.",
        ]);
        let terminal = Terminal::open(&scene, &["--yes", "set it"]);
        terminal.shows("Set.").waits();
        terminal.types("go on").shows("of its own: True others: 0 refused: True").waits();
        terminal.types("/rewind p2").shows("python: from memory").types("y");
        terminal.shows("python: as it was then").waits();
        terminal.types("what is it?").shows("word is good-0123456789").shows("Seen.");
        terminal.types("/quit").exits(0);
    }
}

/// A program that leaves its parents and its group behind, and has begun once the cell is over.
const DAEMON: &str = r"
import os
begun, begins = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execvp('sleep', ['sleep', '1000'])
    os._exit(0)
os.wait()
os.close(begins)
os.read(begun, 1)
";

const COUNT: &str = r"
import os
def name(process):
    try:
        with open(f'/proc/{process}/comm') as file:
            return file.read().strip()
    except OSError:
        return ''
print('sleeping:', [name(one) for one in os.listdir('/proc')].count('sleep'))
";

/// A program that a cell has left running ends, and is counted before.
#[test]
fn a_daemon_of_a_later_cell_ends_and_is_counted() {
    let scene = Scene::new().model_says(&[
        &cell("python", "x = 1"),
        "Set.",
        &cell("python", &format!("{DAEMON}{COUNT}")),
        "Done.",
        &cell("python", COUNT),
        "Seen.",
    ]);
    let terminal = Terminal::open(&scene, &["--yes", "set it"]);
    terminal.shows("Set.").waits().types("go on").shows("┆ sleeping: 1").shows("Done.").waits();
    terminal.types("/rewind p2").shows("1 program left running by code will be ended").types("y");
    terminal.shows("python: as it was then").waits();
    terminal.types("look").shows("┆ sleeping: 0").shows("Seen.").types("/quit").exits(0);
    let seen = scene.run(&["history", "show", "--json"]);
    assert_eq!(seen.of_kind("rewound")[0]["programs"], 1);
}

/// Writes where programs look for their settings, and where temporary files are.
const LEAVES: &str = r"
import os, tempfile
home = os.path.expanduser('~')
closed = os.path.join(tempfile.gettempdir(), 'closed', 'evil')
os.makedirs(closed)
os.makedirs(os.path.join(home, '.local', 'lib'))
for at in [home, os.path.join(home, '.local', 'lib'), tempfile.gettempdir(), closed, SHARED]:
    try:
        open(os.path.join(at, '.evil'), 'w').close()
    except OSError as error:
        print(error)
os.symlink('/', os.path.join(home, 'evil'))
os.chmod(os.path.dirname(closed), 0)
";

/// Counts what is left of that, and what is in the home.
const LOOKS: &str = r"
import os, subprocess, tempfile
def names(top): return [name for _, folders, files in os.walk(top) for name in folders + files]
home = os.path.expanduser('~')
left = [name for top in {tempfile.gettempdir(), home, SHARED} for name in names(top)]
print('evil:', len([name for name in left if 'evil' in name or name == 'closed']) > 0)
print('at home:', len(os.listdir(home)), 'x is', x, 'kept', kept.write('more'))
with tempfile.NamedTemporaryFile(dir=home) as new: print('works', new.file.closed)
";

/// Temporary files and the home inside are empty after going back: nothing that an undone cell left
/// there runs in a later program. A file that the copy has open is still open.
#[test]
fn an_undone_cell_leaves_nothing_where_later_programs_look() {
    for (backend, who) in present() {
        // Without a sandbox it is everybody's.
        let shared = if backend == Backend::NONE { "home" } else { "'/dev/shm'" };
        for goes_back in [true, false] {
            let scene = Scene::of(who).model_says(&[
                &cell("python", "import tempfile\nx = 1; kept = tempfile.NamedTemporaryFile('w')"),
                "Set.",
                &cell("python", &LEAVES.replace("SHARED", shared)),
                "Left.",
                &cell("python", &LOOKS.replace("SHARED", shared)),
                "Seen.",
            ]);
            let options = [&scene.on(backend)[..], &["--yes", "go"]].concat();
            let terminal = Terminal::open(&scene, &options);
            terminal.shows("Set.").waits().types("leave").shows("Left.").waits();
            if goes_back {
                terminal.types("/rewind p2").shows("python: from memory");
                terminal.shows("temporary files and the home inside: emptied").types("y");
                terminal.shows("python: as it was then").waits();
            }
            let (evil, home) = if goes_back { ("False", "0") } else { ("True", "3") };
            terminal.types("look").shows(&format!("┆ evil: {evil}"));
            terminal.shows(&format!("┆ at home: {home} x is 1 kept 4")).shows("┆ works False");
            terminal.shows("Seen.").waits().types("/quit").exits(0);
        }
    }
}
