//! Staged changes: seen, applied, discarded, undone.

use crate::scene::{Scene, Who};

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
    scene.run(&["changes", "apply"]).mentions("no such set").exits(0);
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
    let refused = scene.run(&["history", "show", "--json"]).exits(0);
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
