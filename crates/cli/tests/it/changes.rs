//! Staged changes: seen, applied, discarded, undone, redone, attacked.

use crate::scene::{Scene, Who};
use std::os::unix::fs::PermissionsExt;

const WRITES: &str = "open('out.txt', 'w').write('new\\n')\nopen('old.txt', 'a').write('more\\n')\n\
                      import os; os.remove('gone.txt')";

fn scene(who: Who) -> Scene {
    Scene::of(who).file("old.txt", "old\n").file("gone.txt", "gone\n")
}

#[test]
fn nothing_touches_the_folder_before_it_is_applied() {
    for who in Who::all() {
        let scene = scene(who);
        let seen = scene.code("python", WRITES).exits(0);
        seen.mentions("created  out.txt")
            .mentions("changed  old.txt")
            .mentions("deleted  gone.txt");
        assert_eq!(scene.read("out.txt"), None);
        assert_eq!(scene.read("old.txt").unwrap(), "old\n");
        assert_eq!(scene.read("gone.txt").unwrap(), "gone\n");

        let diff = scene.run(&["changes", "diff"]).exits(0);
        diff.mentions("+more").mentions("-gone").mentions("+new");

        scene.run(&["changes", "apply"]).mentions("Applied 3 changes").exits(0);
        assert_eq!(scene.read("out.txt").unwrap(), "new\n");
        assert_eq!(scene.read("old.txt").unwrap(), "old\nmore\n");
        assert_eq!(scene.read("gone.txt"), None);

        scene.run(&["changes", "undo"]).mentions("Undid 3 changes").exits(0);
        assert_eq!(scene.read("out.txt"), None);
        assert_eq!(scene.read("old.txt").unwrap(), "old\n");
        assert_eq!(scene.read("gone.txt").unwrap(), "gone\n");
    }
}

#[test]
fn a_discarded_set_is_gone() {
    let scene = scene(Who::Ourselves);
    scene.code("python", WRITES).exits(0);
    scene.run(&["changes", "discard"]).mentions("Discarded 3 changes").exits(0);
    scene.run(&["changes", "apply"]).mentions("Nothing is staged").exits(0);
    assert_eq!(scene.read("old.txt").unwrap(), "old\n");
}

#[test]
fn one_path_can_be_applied_and_the_rest_later() {
    let scene = scene(Who::Ourselves);
    scene.code("python", WRITES).exits(0);
    scene.run(&["changes", "apply", "out.txt"]).mentions("Applied 1 change").exits(0);
    assert_eq!(scene.read("out.txt").unwrap(), "new\n");
    assert_eq!(scene.read("old.txt").unwrap(), "old\n");
    scene.run(&["changes", "apply"]).mentions("Applied 2 changes").exits(0);
    assert_eq!(scene.read("gone.txt"), None);
}

#[test]
fn a_file_that_changed_meanwhile_is_not_overwritten() {
    let scene = scene(Who::Ourselves);
    scene.code("python", WRITES).exits(0);
    std::fs::write(scene.work().join("old.txt"), "mine\n").unwrap();
    scene.run(&["changes", "apply"]).mentions("old.txt").exits(3);
    let newest = scene.run(&["history", "list", "--all", "--json"]).records()[0]["session"].clone();
    let refused = scene.run(&["history", "show", "--json", newest.as_str().unwrap()]).exits(0);
    assert_eq!((refused.of_kind("changes").len(), refused.of_kind("error").len()), (0, 1));
    assert_eq!(scene.read("old.txt").unwrap(), "mine\n");
    assert_eq!(scene.read("out.txt"), None);
    scene.run(&["changes", "apply", "--overwrite"]).exits(0);
    assert_eq!(scene.read("old.txt").unwrap(), "old\nmore\n");
    scene.run(&["changes", "undo"]).exits(0);
    assert_eq!(scene.read("old.txt").unwrap(), "mine\n");
}

#[test]
fn run_can_apply_or_discard_at_once() {
    let scene = scene(Who::Ourselves);
    let code = "echo x > a.txt";
    scene.run(&["run", "--discard", "-l", "shell", "-c", code]).exits(0);
    assert_eq!(scene.read("a.txt"), None);
    scene.run(&["run", "--apply", "-l", "shell", "-c", code]).exits(0);
    assert_eq!(scene.read("a.txt").unwrap(), "x\n");
    scene.run(&["changes", "list"]).mentions("applied").exits(0);
}

#[test]
fn other_workspace_modes_do_what_they_say() {
    for who in Who::all() {
        let scene = scene(who);
        let code = ["-l", "shell", "-c", "echo x >> old.txt"];
        let run = |mode| scene.run(&[&["run", "--workspace", mode], &code[..]].concat());
        run("read-only").exits(1);
        assert_eq!(scene.read("old.txt").unwrap(), "old\n");
        run("direct").exits(0);
        assert_eq!(scene.read("old.txt").unwrap(), "old\nx\n");
    }
}

#[test]
fn a_home_can_be_worked_in_and_its_secrets_stay_out_of_reach() {
    for who in Who::all() {
        let scene = Scene::of(who).home_file(".ssh/id_ed25519", "secret").home_file("a.txt", "1\n");
        let code = "cat a.txt; cat .ssh/id_ed25519; ls .local/share/interpreter; echo 2 > b.txt";
        let mut command = scene.command(&["run", "-l", "shell", "-c", code]);
        let output = command.current_dir(scene.home()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(text, "1\n", "{}", String::from_utf8_lossy(&output.stderr));
        assert!(!scene.home().join("b.txt").exists());
        let mut command = scene.command(&["changes", "apply"]);
        assert!(command.current_dir(scene.home()).status().unwrap().success());
        assert!(scene.home().join("b.txt").exists());
    }
}

#[test]
fn a_name_with_escapes_is_not_printed_raw() {
    let scene = Scene::new();
    let seen = scene.code("python", r"open('\x1b]0;x\x07', 'w').close()").exits(0);
    seen.lacks("\u{1b}").mentions(r"\u{1b}");
}

#[test]
fn renames_modes_links_and_pictures_are_told() {
    let scene = scene(Who::Ourselves);
    let code = "import os\nos.rename('gone.txt', 'kept.txt')\nos.chmod('old.txt', 0o755)\n\
                os.symlink('old.txt', 'link')\nopen('p.png', 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n\\0')\n\
                os.mkdir('empty')\nos.mkfifo('pipe')";
    let seen = scene.code("python", code).exits(0);
    seen.mentions("renamed  gone.txt → kept.txt")
        .mentions("changed  old.txt (mode 644 → 755)")
        .mentions("created  link (link to old.txt)")
        .mentions("created  p.png (PNG image, 9 bytes)")
        .mentions("created  empty/");
    let diff = scene.run(&["changes", "diff"]).exits(0);
    diff.mentions("rename from gone.txt")
        .mentions("new mode 100755")
        .mentions("PNG image, 9 bytes");
    let applied = scene.run(&["changes", "apply"]).exits(0);
    applied.mentions("Applied 5 changes").mentions("left out pipe: it is a pipe");
    assert_eq!((scene.read("gone.txt"), scene.read("kept.txt").unwrap()), (None, "gone\n".into()));
    scene.run(&["changes", "undo"]).mentions("renamed  kept.txt → gone.txt").exits(0);
    assert_eq!(scene.read("gone.txt").unwrap(), "gone\n");
}

#[test]
fn what_is_left_out_is_said_after_a_run_too() {
    let scene = scene(Who::Ourselves);
    let code = "import os\nos.mkfifo('pipe')\nopen('out.txt', 'w').write('x')";
    let seen = scene.run(&["run", "--apply", "-l", "python", "-c", code]).exits(0);
    seen.mentions("left out pipe: it is a pipe");
    let shown = scene.run(&["history", "show", "--json"]).exits(0);
    let applied = shown.of_kind("changes").pop().unwrap();
    assert_eq!(applied["left_out"][0]["path"], "pipe");
}

#[test]
fn undo_and_redo_go_back_and_forth() {
    for who in Who::all() {
        let scene = scene(who);
        for text in ["1", "2"] {
            let code = format!("printf {text} > out.txt; printf {text} > {text}.txt");
            scene.run(&["run", "--apply", "-l", "shell", "-c", &code]).exits(0);
        }
        scene.run(&["changes", "redo"]).mentions("Nothing to redo").exits(0);
        let read = || scene.read("out.txt");
        // The one applied last comes first, whichever set it is of.
        scene.run(&["changes", "undo"]).mentions("Undid 2 changes").exits(0);
        assert_eq!(read().unwrap(), "1");
        scene.run(&["changes", "undo"]).exits(0);
        assert_eq!(read(), None);
        scene.run(&["changes", "list"]).mentions("undone").mentions("redo").exits(0);
        scene.run(&["changes", "redo"]).mentions("Redid 2 changes").exits(0);
        assert_eq!((read().unwrap(), scene.read("1.txt").unwrap()), ("1".into(), "1".into()));
        scene.run(&["changes", "redo"]).exits(0);
        assert_eq!((read().unwrap(), scene.read("2.txt").unwrap()), ("2".into(), "2".into()));
        scene.run(&["changes", "list"]).mentions("applied").mentions("undo").exits(0);
        std::fs::write(scene.work().join("out.txt"), "mine").unwrap();
        scene.run(&["changes", "undo"]).mentions("out.txt").exits(3);
        assert_eq!(read().unwrap(), "mine");
    }
}

/// Tampering by a program with the layer that records its changes.
const TAMPERS: &str = "
import os, stat
def tried(act):
    try: act()
    except OSError: pass
for name in ('opaque', 'whiteout', 'redirect', 'metacopy', 'origin'):
    for path in ('d', 'd/in.txt', 'old.txt'):
        tried(lambda: os.setxattr(path, f'user.overlay.{name}', b'y'))
        tried(lambda: os.setxattr(path, f'trusted.overlay.{name}', b'y'))
tried(lambda: os.mknod('gone.txt.whiteout', stat.S_IFCHR | 0o644, os.makedev(0, 0)))
tried(lambda: os.mknod('disk', stat.S_IFBLK | 0o644, os.makedev(8, 0)))
tried(lambda: os.link('/etc/passwd', 'passwd'))
tried(lambda: os.setxattr('old.txt', 'security.capability', b'x' * 20))
open('tool', 'w').write('x'); os.chmod('tool', 0o755); tried(lambda: os.chmod('tool', 0o6755))
open('n' * 255, 'w').write('long')
os.makedirs('/'.join('e' * 1 for _ in range(250)))
open('d/more.txt', 'a').write('x')
os.symlink('/etc', 'etc'); os.symlink('../..', 'up')
";

#[test]
fn a_program_cannot_forge_what_its_changes_mean() {
    for who in Who::all() {
        let scene = scene(who).file("d/in.txt", "in\n");
        scene.code("python", TAMPERS).exits(0);
        let applied = scene.run(&["changes", "apply"]).exits(0);
        applied.mentions("nested deeper than 200 folders");
        assert_eq!(scene.read("d/in.txt").unwrap(), "in\n");
        assert_eq!(
            (scene.read("old.txt").unwrap(), scene.read("gone.txt").unwrap()),
            ("old\n".into(), "gone\n".into())
        );
        assert_eq!(scene.read(&"n".repeat(255)).unwrap(), "long");
        for absent in ["passwd", "disk", "gone.txt.whiteout"] {
            assert!(std::fs::symlink_metadata(scene.work().join(absent)).is_err(), "{absent}");
        }
        let mode = std::fs::metadata(scene.work().join("tool")).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o755);
        for link in ["etc", "up"] {
            assert!(scene.work().join(link).is_symlink());
        }
    }
}

#[test]
fn a_file_that_was_moved_and_changed_is_no_conflict() {
    let scene = scene(Who::Ourselves);
    let code = "mv old.txt new.txt; echo more >> new.txt; mv gone.txt gone~; echo fresh > gone.txt";
    scene.run(&["run", "--apply", "-l", "shell", "-c", code]).exits(0);
    assert_eq!(
        (scene.read("old.txt"), scene.read("new.txt").unwrap()),
        (None, "old\nmore\n".into())
    );
    assert_eq!(scene.read("gone~").unwrap() + &scene.read("gone.txt").unwrap(), "gone\nfresh\n");
    // But one that was changed, and that you have deleted, is.
    scene.code("shell", "echo again >> new.txt").exits(0);
    std::fs::remove_file(scene.work().join("new.txt")).unwrap();
    scene.run(&["changes", "apply"]).mentions("new.txt").exits(3);
}
