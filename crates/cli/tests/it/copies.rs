//! Staged changes where there is no overlay: code works in a copy of the folder.

use crate::{
    backends::{BUBBLEWRAP, NATIVE, present as all_present},
    engines::is_engine,
    scene::{Scene, Seen, Who, cell},
};
use interpreter_core::Backend;
use std::{
    fs,
    os::unix::{
        fs::{MetadataExt, PermissionsExt},
        net::UnixListener,
    },
};

const WRITES: &str = "open('out.txt', 'w').write('new\\n')\nopen('old.txt', 'a').write('more\\n')\n\
                      import os; os.remove('gone.txt'); os.rename('d', 'e')";

/// The sandboxes of this machine that stage by a copy, with somebody they are for.
fn present() -> Vec<(Backend, Who)> {
    let copies = |&(backend, who): &(Backend, Who)| {
        backend != NATIVE && backend != Backend::NONE && !who.is_root()
    };
    all_present().filter(copies).collect()
}

fn scene(who: Who) -> Scene {
    let scene = Scene::of(who).file("old.txt", "old\n").file("gone.txt", "gone\n");
    scene.file("d/in.txt", "in\n").file(".env", "KEY=canary\n")
}

fn on(scene: &Scene, backend: Backend) -> Vec<&'static str> {
    let mut on = scene.on(backend);
    *on.last_mut().unwrap() = "stage";
    on
}

fn run(scene: &Scene, backend: Backend, more: &[&str], language: &str, code: &str) -> Seen {
    let on = on(scene, backend);
    scene.run(&[&["run"], &on[..], more, &["-l", language, "-c", code]].concat())
}

/// The contents of the folder of change sets, except the sets' own bookkeeping.
fn copies_left(scene: &Scene) -> usize {
    let sets = fs::read_dir(scene.data().join("changes")).into_iter().flatten().flatten();
    sets.filter(|set| set.path().join("copy").exists()).count()
}

#[test]
fn changes_are_seen_applied_and_undone() {
    for (backend, who) in present() {
        let scene = scene(who);
        let seen = run(&scene, backend, &[], "python", WRITES).exits(0);
        seen.mentions("created  out.txt")
            .mentions("changed  old.txt")
            .mentions("deleted  gone.txt")
            .mentions("renamed  d/ → e/");
        assert_eq!((scene.read("out.txt"), scene.read("old.txt").unwrap()), (None, "old\n".into()));
        assert_eq!(copies_left(&scene), 0, "{backend}");
        scene.run(&["changes", "diff"]).exits(0).mentions("+more").mentions("-gone");
        scene.run(&["changes", "apply"]).mentions("Applied 4 changes").exits(0);
        assert_eq!(scene.read("old.txt").unwrap(), "old\nmore\n", "{backend}");
        assert_eq!(
            (scene.read("gone.txt"), scene.read("e/in.txt").unwrap()),
            (None, "in\n".into())
        );
        scene.run(&["changes", "undo"]).mentions("Undid 4 changes").exits(0);
        assert_eq!(
            scene.read("d/in.txt").unwrap() + &scene.read("gone.txt").unwrap(),
            "in\ngone\n"
        );
        scene.run(&["changes", "redo"]).exits(0);
        assert_eq!(scene.read("out.txt").unwrap(), "new\n");
    }
}

#[test]
fn conflicts_are_refused_and_paths_chosen() {
    for (backend, who) in present() {
        let scene = scene(who);
        run(&scene, backend, &[], "python", WRITES).exits(0);
        fs::write(scene.work().join("old.txt"), "mine\n").unwrap();
        scene.run(&["changes", "apply"]).mentions("old.txt").exits(3);
        assert_eq!(
            (scene.read("out.txt"), scene.read("old.txt").unwrap()),
            (None, "mine\n".into())
        );
        scene.run(&["changes", "apply", "out.txt"]).mentions("Applied 1 change").exits(0);
        scene.run(&["changes", "discard"]).mentions("Discarded 3 changes").exits(0);
        assert_eq!(scene.read("old.txt").unwrap(), "mine\n", "{backend}");
    }
}

#[test]
fn secrets_and_ways_out_are_not_in_the_copy() {
    for (backend, who) in present() {
        let scene = scene(who);
        let scene = scene.file("locked", "nobody's\n");
        let _listener = UnixListener::bind(scene.work().join("socket")).unwrap();
        let locked = || fs::metadata(scene.work().join("locked")).unwrap();
        fs::set_permissions(scene.work().join("locked"), fs::Permissions::from_mode(0o000))
            .unwrap();
        let before = (locked().ctime(), locked().ctime_nsec());
        let work = scene.work().display().to_string();
        let code = format!(
            "{{ cat .env {work}/.env; ls -A; cat {work}/old.txt >/dev/null && echo read; \
             echo mine > .env; echo x > {work}/direct.txt; pwd; }} 2>/dev/null"
        );
        let seen = run(&scene, backend, &["--json"], "shell", &code).lacks("canary");
        let said = seen.printed_by(seen.of_kind("proposal")[0]["id"].as_str().unwrap());
        let shown = backend == BUBBLEWRAP || is_engine(backend);
        let place = said.lines().last().unwrap();
        assert_eq!(place == work, shown, "{backend}: {said}");
        let listed: Vec<_> =
            said.lines().take_while(|line| *line != "read" && *line != place).collect();
        assert_eq!(listed, ["d", "gone.txt", "old.txt"], "{backend}: {said}");
        // The folder itself is not reached where the copy stands elsewhere.
        assert_eq!(said.contains("read\n"), shown, "{backend}: {said}");
        assert_eq!(scene.read("direct.txt"), None, "{backend}");
        let enforced = seen.of_kind("run_started")[0]["enforced"].to_string();
        assert!(enforced.contains("in a copy of the work folder"), "{enforced}");
        assert_eq!(enforced.contains(&format!("at {place}")), !shown, "{enforced}");
        let notes: String =
            seen.of_kind("note").iter().map(|note| note["text"].to_string()).collect();
        assert!(notes.contains("socket (it is a socket)"), "{backend}: {notes}");
        assert!(notes.contains("locked (you cannot read it)"), "{backend}: {notes}");
        assert_eq!((locked().ctime(), locked().ctime_nsec()), before, "{backend}");
        assert_eq!(notes.contains("works in a copy of the folder"), !shown, "{backend}: {notes}");
        scene.run(&["changes", "apply"]);
        assert_eq!(scene.read(".env").unwrap(), "KEY=canary\n", "{backend}");
    }
}

#[test]
fn what_code_plants_leads_nowhere() {
    const PLANTS: &str = "
import os, shutil
os.symlink('HOME/mine.txt', 'direct'); open('d/in.txt', 'w').write('evil')
shutil.rmtree('d'); os.symlink('HOME', 'd')
os.remove('old.txt'); os.symlink('../../home/mine.txt', 'old.txt')
for name in ('opaque', 'whiteout', 'origin', 'redirect'):
    try: os.setxattr('gone.txt', f'user.overlay.{name}', b'y')
    except OSError: pass
open('gone.txt', 'w').close()
open('tool', 'w').write('x')
try: os.chmod('tool', 0o6755)
except OSError: pass
try: os.link('/etc/passwd', 'passwd')
except OSError: pass
os.mkfifo('pipe')
";
    for (backend, who) in present() {
        let scene = scene(who).home_file("mine.txt", "mine\n");
        let code = PLANTS.replace("HOME", scene.home().to_str().unwrap());
        run(&scene, backend, &[], "python", &code).exits(0);
        let applied = scene.run(&["changes", "apply"]).exits(0);
        applied.mentions("left out pipe: it is a pipe");
        assert_eq!(fs::read_to_string(scene.home().join("mine.txt")).unwrap(), "mine\n");
        assert!(!scene.home().join("in.txt").exists(), "{backend}");
        assert!(scene.work().join("d").is_symlink() && scene.work().join("old.txt").is_symlink());
        assert_eq!(scene.read("gone.txt").unwrap(), "", "{backend}");
        assert!(!scene.work().join("passwd").exists(), "{backend}");
        if let Ok(tool) = fs::metadata(scene.work().join("tool")) {
            assert_eq!(tool.permissions().mode() & 0o7000, 0);
        }
        scene.run(&["changes", "undo"]).exits(0);
        assert_eq!(scene.read("d/in.txt").unwrap() + &scene.read("old.txt").unwrap(), "in\nold\n");
    }
}

#[test]
fn a_discard_puts_the_copy_back_and_the_kernel_lives_on() {
    for (backend, who) in present() {
        let scene = scene(who).model_says(&[
            &cell("python", "kept = 1; open('old.txt', 'a').write('more\\n'); open('new', 'w')"),
            "Done.",
            &cell(
                "python",
                "import os; print(kept, open('old.txt').read(), os.path.exists('new'))",
            ),
            "Done.",
        ]);
        let on = on(&scene, backend);
        let terminal = crate::terminal::Terminal::open(&scene, &on);
        terminal.types("go").shows("risk").types("y").shows("changed  old.txt").types("d");
        terminal.shows("iscarded").types("again").shows("risk").types("y");
        terminal.shows("1 old").shows("False");
        assert_eq!(scene.read("old.txt").unwrap(), "old\n", "{backend}");
    }
}

#[test]
fn a_folder_that_is_too_large_is_refused_with_the_next_step() {
    let Some((backend, who)) = present().pop() else { return };
    let scene = scene(who).limits("staged_files = 3");
    let seen = run(&scene, backend, &[], "shell", "echo ran").lacks("ran\n").exits(4);
    let seen = seen.mentions("has more than 3 files").mentions("--workspace read-only");
    seen.mentions(scene.work().to_str().unwrap());
    assert_eq!(copies_left(&scene), 0);
}

#[test]
fn the_steps_say_that_a_copy_is_taken() {
    for (backend, who) in present() {
        let scene = scene(who);
        let seen = run(&scene, backend, &["--explain"], "shell", "echo ran").exits(0);
        seen.lacks("ran\n")
            .mentions("  1. copy ")
            .mentions("CHANGE-SET/copy, without what is covered");
    }
}
