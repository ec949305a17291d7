//! The shell driver.

use crate::scene::{End, Language::Shell, Scene, lines};

#[test]
fn folder_variables_functions_arrays_and_aliases_are_kept() {
    let mut scene = Scene::with(Shell);
    scene.run("cd /; x='a  b'; declare -A m=([k]=v); f() { echo \"f $1\"; }; alias hi='echo hello'; exec 5>&1").succeeds();
    scene
        .run("echo \"$PWD $x ${m[k]}\"; f 1; hi; echo five >&5")
        .succeeds()
        .prints("/ a  b v\nf 1\nhello\nfive\n");
}

#[test]
fn the_status_is_that_of_the_last_command() {
    let mut scene = Scene::with(Shell);
    scene.run("true; (exit 7)").ends(End::Finished(7));
    scene.run("return 8; echo no").prints("").ends(End::Finished(8));
    scene.run("").ends(End::Finished(0));
}

#[test]
fn code_is_run_exactly() {
    let mut scene = Scene::with(Shell);
    scene
        .run("cat <<END\n  é \"$((1 + 1))\" \\$x `echo y`\nEND")
        .succeeds()
        .prints("  é \"2\" $x y\n");
    scene.run("cat <<'END'\n$x\n\nEND\n").succeeds().prints("$x\n\n");
    scene.run("echo a\\").succeeds().prints("a\\\n");
    scene.run("echo a # a comment without a newline").succeeds().prints("a\n");
    scene.run("printf '\\x00\\xff'; printf no-newline").succeeds();
    scene.run("echo $LINENO\n\necho $LINENO").succeeds().prints("1\n3\n");
}

#[test]
fn an_error_names_the_line_of_the_cell() {
    let mut scene = Scene::with(Shell);
    let driver = scene.path().join("driver.sh").display().to_string();
    scene
        .run("true\nno-such-command")
        .complains(&format!("{driver}: line 2: no-such-command: command not found\n"))
        .ends(End::Finished(127));
}

#[test]
fn a_syntax_error_leaves_the_shell_alive() {
    let mut scene = Scene::with(Shell);
    for code in ["echo \"unclosed", "if true; then", "echo )", "cat <<END $("] {
        let outcome = scene.run(code).prints("").ends(End::Finished(2));
        assert!(!outcome.stderr.is_empty(), "{code}");
    }
    scene.run("echo alive").succeeds().prints("alive\n");
}

#[test]
fn leaving_ends_the_kernel_with_its_status() {
    Scene::with(Shell)
        .run("trap 'echo bye' EXIT; exit 3; echo no")
        .prints("bye\n")
        .ends(End::Exited(3));
    Scene::with(Shell).run("kill -KILL $$").ends(End::Killed(9));
    Scene::with(Shell).run("set -u; echo $nowhere").prints("").ends(End::Exited(1));
}

#[test]
fn a_program_that_takes_the_shells_place_runs_to_its_end() {
    Scene::with(Shell)
        .run("exec sh -c 'echo instead; exit 5'")
        .prints("instead\n")
        .ends(End::Exited(5));
}

#[test]
fn errexit_ends_the_cell_and_stays_set() {
    let mut scene = Scene::with(Shell);
    scene.run("x=1; set -e; false; echo no").prints("").ends(End::Finished(1));
    scene.run("f() { (exit 4); echo no; }; f; echo no").prints("").ends(End::Finished(4));
    scene.run("(false; echo no); echo no").prints("").ends(End::Finished(1));
    scene.run("if false; then :; fi; false || echo $x").succeeds().prints("1\n");
    scene.run("set +e; false; echo yes").succeeds().prints("yes\n");
}

#[test]
fn options_stay_set_and_the_driver_is_not_traced() {
    let mut scene = Scene::with(Shell);
    scene.run("set -o pipefail; set -x").succeeds();
    let outcome = scene.run("false | true").prints("").ends(End::Finished(1));
    let mut lines: Vec<_> = std::str::from_utf8(&outcome.stderr).unwrap().lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["+++ false", "+++ true"]);
}

#[test]
fn an_interrupt_ends_the_whole_cell_and_not_the_shell() {
    let mut scene = Scene::with(Shell);
    scene.run("x=1").succeeds();
    for code in [
        "echo on; while :; do :; done; echo no",
        "echo on; sleep 1000; echo no",
        "f() { echo on; sleep 1000; echo no; }; g() { f || echo no; }; g; echo no",
        "f() { echo on; while :; do :; done; }; while :; do f; done",
        "(echo on; sleep 1000; echo no); echo no",
        "exec 5>&1; x=$(echo on >&5; sleep 1000); echo no",
        "{ echo on; sleep 1000; } | cat; echo no",
        "set -e; echo on; sleep 1000; echo no",
    ] {
        let outcome = scene.interrupt(code, "on\n").ends(End::Finished(130)).prints("on\n");
        assert!(outcome.stderr.is_empty(), "{code}: {outcome:?}");
    }
    scene.run("set +e; echo $x").succeeds();
    // A background process is not interrupted, once it has become the program.
    let code =
        "sleep 1000 & until [[ $(</proc/$!/comm) == sleep ]]; do :; done; echo on; wait; echo no";
    scene
        .interrupt(code, "on\n")
        .complains("still running: sleep 1000 &\n")
        .ends(End::Finished(130));
}

#[test]
fn an_interrupt_between_cells_is_nobodys() {
    let mut scene = Scene::with(Shell);
    for _ in 0..3 {
        scene.send(&interpreter_host::Inward::Interrupt { kernel: 1 });
    }
    scene.run_behind("echo fine").succeeds().prints("fine\n");
}

#[test]
fn control_is_out_of_reach_of_the_codes_programs() {
    let mut scene = Scene::with(Shell);
    scene
        .run("ls /proc/self/fd; cat; read -r x; echo \"<$x>\"")
        .succeeds()
        .prints("0\n1\n2\n3\n<>\n");
    scene.run("cat <&3; echo claim >&3").ends(End::Finished(1));
    scene.run("exec 3>&1; echo three >&3").succeeds().prints("three\n");
    scene.run("echo still >&3").succeeds().prints("still\n");
}

#[test]
fn a_program_left_in_the_background_holds_nothing_up() {
    let mut scene = Scene::with(Shell);
    scene
        .run("sleep 1000 & echo started")
        .prints("started\n")
        .complains("still running: sleep 1000 &\n")
        .ends(End::Finished(0));
    // The message appears once.
    scene.run("echo again").succeeds();
    scene.run("kill %1; wait %1; echo $?").prints("143\n");
    // Its output after the end of the cell still arrives.
    scene.run("mkfifo go; { read -r x <go; echo late; } & :").ends(End::Finished(0));
    let mut outcome = scene.run("echo >go").ends(End::Finished(0));
    while outcome.stdout != b"late\n" {
        scene.collect(1, &mut outcome);
    }
}

#[test]
fn two_hundred_thousand_lines_come_in_order() {
    let outcome = Scene::with(Shell).run("seq 200000").succeeds();
    assert!(outcome.stdout == lines(1..200_001).as_bytes());
}

#[test]
fn the_driver_cannot_be_unset() {
    let mut scene = Scene::with(Shell);
    scene.run("unset -f $(compgen -A function) 2>/dev/null; unset ${!__interpreter*} 2>/dev/null");
    scene.run("echo still here").succeeds().prints("still here\n");
    scene.run("false").ends(End::Finished(1));
}

#[test]
fn output_that_is_led_elsewhere_is_told_once() {
    let mut scene = Scene::with(Shell);
    let outcome = scene.run("exec >log").ends(End::Finished(0));
    let said = String::from_utf8(outcome.stderr).unwrap();
    assert!(said.contains("closed this interpreter's standard output or led it"), "{said}");
    scene.run("echo unseen").succeeds().prints("");
    scene.run("cat log >&2").complains("unseen\n").ends(End::Finished(0));
}
