//! Code typed at a terminal, cell by cell.

use crate::{
    scene::{Scene, Who},
    terminal::Terminal,
};

#[test]
fn cells_run_one_after_another_and_keep_their_state() {
    let scene = Scene::new();
    let terminal = Terminal::start(&scene, &["run", "-l", "python"]);
    terminal.shows("Tab completes");
    terminal.types("x = 41").types("x + 1").shows("┆ 42");
    terminal.types("1 / 0").shows("ZeroDivisionError").shows("status 1");
    terminal.types("name = input('Name? ')").shows("┆ Name?");
    terminal.types("Ada").types("print(name, x)").shows("┆ Ada 41");
    // Ctrl-D, once the last cell is done.
    terminal.presses_all("\u{4}").exits(0);
    let seen = scene.run(&["history", "show", "--json"]);
    let codes: Vec<_> = seen.of_kind("proposal");
    assert_eq!(codes[0]["code"], "x = 41");
    assert_eq!(codes[0]["origin"], "person");
    assert_eq!(seen.of_kind("run_started").len(), 5);
}

#[test]
fn tab_completes_what_the_kernel_knows() {
    for language in ["python", "jupyter:python3"] {
        let scene = crate::jupyter::scene(Who::Ourselves).file("a_file.txt", "");
        let terminal = Terminal::start(&scene, &["run", "-l", language]);
        terminal.types("wonderful_name = 'found'").types("1 + 1").shows("┆ 2");
        terminal.presses_all("print(wonderful_\t").shows("print(wonderful_name");
        terminal.goes_on(")\r").shows("┆ found");
        terminal.types("2 + 1").shows("┆ 3").presses_all("open('a_fi\t").shows("open('a_file.txt");
        terminal.goes_on("\u{3}");
        terminal.types("/quit").exits(0);
    }
}

#[test]
fn ctrl_c_interrupts_and_restart_forgets() {
    for language in ["python", "jupyter:python3"] {
        let scene = crate::jupyter::scene(Who::Ourselves);
        let terminal = Terminal::start(&scene, &["run", "-l", language]);
        terminal.types("import time; x = 7");
        terminal.types("print('on', flush=True); time.sleep(1000)").shows("┆ on");
        terminal.presses(3).shows("KeyboardInterrupt");
        terminal.types("x").shows("┆ 7");
        terminal.types("/restart");
        terminal.types("'x' in globals()").shows("┆ False");
        terminal.types("/help").shows("all variables are lost");
        terminal.types("/quit").exits(0);
    }
}

#[test]
fn what_is_staged_is_asked_about_once_when_the_person_leaves() {
    for (answer, shown, kept) in [("a", "applied", Some("hi")), ("d", "discarded", None)] {
        let scene = Scene::new();
        let terminal = Terminal::start(&scene, &["run", "-l", "shell"]);
        terminal.types("printf hi > out.txt").shows("created  out.txt");
        terminal.types("echo again").shows("┆ again").lacks("Keep");
        terminal.types("/quit").shows("Keep this change");
        assert_eq!(scene.read("out.txt"), None);
        terminal.types("s").shows("+hi").shows("Keep this change");
        terminal.types(answer).shows(shown).exits(0);
        assert_eq!(scene.read("out.txt").as_deref(), kept);
    }
}

#[test]
fn a_block_goes_on_until_a_line_is_empty() {
    let scene = Scene::new();
    let terminal = Terminal::start(&scene, &["run", "-l", "python"]);
    terminal.types("for i in range(2):");
    terminal.goes_on("    print('line', i)\r\r").shows("┆ line 0").shows("┆ line 1");
    terminal.types("/quit").exits(0);
}

#[test]
fn without_a_terminal_or_a_language_it_is_misuse() {
    let scene = Scene::new();
    scene.run(&["run", "-l", "python"]).mentions("no code to run").exits(2);
    scene.run(&["run"]).exits(2);
    scene.run(&["run", "-l", "python", "--json"]).exits(2);
}
