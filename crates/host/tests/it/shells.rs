//! The drivers of shells other than bash.

use crate::scene::{
    End,
    Language::{self, Busybox, Dash, Zsh},
    Scene,
};

const SHELLS: [Language; 3] = [Zsh, Dash, Busybox];

fn each(mut test: impl FnMut(Scene)) {
    for shell in SHELLS {
        test(Scene::with(shell));
    }
}

#[test]
fn folder_variables_functions_and_aliases_are_kept() {
    each(|mut scene| {
        scene.run("cd /; x='a  b'; f() { echo \"f $1\"; }; alias hi='echo hello'").succeeds();
        scene.run("echo \"$PWD $x\"; f 1; hi").succeeds().prints("/ a  b\nf 1\nhello\n");
    });
}

#[test]
fn what_is_declared_at_the_top_is_global_in_zsh() {
    let mut scene = Scene::with(Zsh);
    scene.run("typeset -A m=(k v); integer n=3; a=(one two)").succeeds();
    scene.run("echo $m[k] $((n + 1)) $a[2] $options[aliases]").succeeds().prints("v 4 two on\n");
}

#[test]
fn the_status_is_that_of_the_last_command() {
    each(|mut scene| {
        scene.run("true; (exit 7)").ends(End::Finished(7));
        scene.run("return 8; echo no").prints("").ends(End::Finished(8));
        scene.run("").ends(End::Finished(0));
    });
}

#[test]
fn code_is_run_exactly() {
    each(|mut scene| {
        scene
            .run("cat <<END\n  é \"$((1 + 1))\" \\$x `echo y`\nEND")
            .succeeds()
            .prints("  é \"2\" $x y\n");
        scene.run("cat <<'END'\n$x\n\nEND\n").succeeds().prints("$x\n\n");
        scene.run("echo a # a comment without a newline").succeeds().prints("a\n");
    });
}

#[test]
fn an_error_names_the_line_of_the_cell() {
    each(|mut scene| {
        let outcome = scene.run("true\nno-such-command").ends(End::Finished(127));
        let said = String::from_utf8(outcome.stderr).unwrap();
        assert!(said.contains('2') && said.contains("no-such-command"), "{said}");
    });
}

#[test]
fn a_syntax_error_leaves_the_shell_alive() {
    each(|mut scene| {
        for code in ["echo \"unclosed", "if true; then", "echo )"] {
            let outcome = scene.run(code).prints("");
            assert!(!outcome.stderr.is_empty(), "{code}");
            assert!(matches!(outcome.end, Some(End::Finished(1 | 2))), "{outcome:?}");
        }
        scene.run("echo alive").succeeds().prints("alive\n");
    });
}

#[test]
fn leaving_ends_the_kernel_with_its_status() {
    each(|mut scene| {
        scene.run("exit 3; echo no").prints("").ends(End::Exited(3));
    });
    each(|mut scene| {
        scene.run("trap 'echo bye' EXIT; false || exit 4").prints("bye\n").ends(End::Exited(4));
    });
    each(|mut scene| {
        scene.run("exec sh -c 'echo instead; exit 5'").prints("instead\n").ends(End::Exited(5));
    });
}

#[test]
fn errexit_ends_the_cell_and_stays_set() {
    each(|mut scene| {
        scene.run("x=1; alias hi='echo hello'; cd /").succeeds();
        scene.run("set -e; false; echo no").prints("").complains("").ends(End::Finished(1));
        scene.run("(false; echo no); echo no").prints("").ends(End::Finished(1));
        scene.run("(exit 4); echo no").prints("").ends(End::Finished(4));
        scene.run("if false; then :; fi; false || echo $x").succeeds().prints("1\n");
        scene.run("set +e; false; hi; echo $PWD").succeeds().prints("hello\n/\n");
    });
}

#[test]
fn a_shell_that_forgets_its_functions_says_so() {
    for shell in [Dash, Busybox] {
        let mut scene = Scene::with(shell);
        let said = "the shell starts anew: variables, aliases and the folder are kept, functions \
                    are not\n";
        scene.run("f() { false; }; set -e; f").complains(said).ends(End::Finished(1));
        scene.run("set +e; f").ends(End::Finished(127));
    }
    let mut scene = Scene::with(Zsh);
    scene.run("f() { false; }; set -e; f").complains("").ends(End::Finished(1));
    scene.run("set +e; f").complains("").ends(End::Finished(1));
}

#[test]
fn options_stay_set_and_the_driver_is_not_traced() {
    each(|mut scene| {
        scene.run("set -x").succeeds();
        let outcome = scene.run("true").ends(End::Finished(0));
        let said = String::from_utf8(outcome.stderr).unwrap();
        assert!(said.ends_with("true\n") && said.lines().count() == 1, "{said}");
        scene.run("set +x").ends(End::Finished(0));
        scene.run("echo quiet").succeeds();
    });
}

#[test]
fn an_interrupt_ends_the_whole_cell_and_not_the_shell() {
    each(|mut scene| {
        scene.run("x=1").succeeds();
        for code in [
            "echo on; while :; do :; done; echo no",
            "echo on; sleep 1000; echo no",
            "(echo on; sleep 1000; echo no); echo no",
            "{ echo on; sleep 1000; } | cat; echo no",
            "set -e; echo on; sleep 1000; echo no",
        ] {
            let outcome = scene.interrupt(code, "on\n").ends(End::Finished(130)).complains("");
            // Interrupted in the very write, zsh writes once more what it has written.
            let printed = String::from_utf8(outcome.stdout).unwrap();
            assert!(printed.lines().all(|line| line == "on"), "{code}: {printed}");
        }
        scene.run("set +e; echo $x").succeeds().prints("1\n");
    });
}

#[test]
fn an_interrupt_between_cells_is_nobodys() {
    each(|mut scene| {
        for _ in 0..3 {
            scene.send(&interpreter_host::Inward::Interrupt { kernel: 1 });
        }
        scene.run_behind("echo fine").succeeds().prints("fine\n");
    });
}

#[test]
fn programs_find_no_input() {
    each(|mut scene| {
        scene.run("cat; read -r x; echo \"<$x>\"").succeeds().prints("<>\n");
    });
}

#[test]
fn what_is_left_in_the_background_is_told_once() {
    each(|mut scene| {
        let outcome = scene.run("sleep 1000 & echo started").prints("started\n");
        let said = String::from_utf8(outcome.stderr).unwrap();
        assert!(said.starts_with("still running: ") && said.lines().count() == 1, "{said}");
        scene.run("echo again").succeeds();
    });
}
