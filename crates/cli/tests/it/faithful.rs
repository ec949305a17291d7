//! Code runs exactly as given, and output comes out exactly as printed.

use crate::scene::Scene;

#[test]
fn heredocs_template_strings_and_future_imports_are_left_alone() {
    let scene = Scene::new();
    let heredoc = "cat <<'END'\n  $HOME `x` \\ \"quotes\"\nEND\necho after";
    scene.code("shell", heredoc).prints("  $HOME `x` \\ \"quotes\"\nafter\n").exits(0);
    let template = "const a = `one\n  two ${1 + 2}\n`; console.log(a)";
    scene.code("javascript", template).prints("one\n  two 3\n\n").exits(0);
    let future = "from __future__ import annotations\ndef f(x: Missing): return x\nprint(f(1))";
    scene.code("python", future).prints("1\n").exits(0);
}

#[test]
fn output_without_a_final_newline_stays_so() {
    let scene = Scene::new();
    scene.code("python", "print('no newline', end='')").prints("no newline").exits(0);
    scene.code("shell", "printf abc").prints("abc").exits(0);
    scene.code("javascript", "process.stdout.write('xyz')").lacks("xyz\n").mentions("xyz").exits(0);
}

#[test]
fn bytes_come_out_exactly() {
    let scene = Scene::new();
    let code = "import sys; _ = sys.stdout.buffer.write(bytes(range(256)) * 300)";
    let seen = scene.code("python", code).exits(0);
    let expected: Vec<u8> = (0..=255).cycle().take(256 * 300).collect();
    assert!(seen.0.stdout == expected);
    let seen = scene.run(&["run", "--json", "-l", "shell", "-c", r"printf '\377\376'"]);
    assert_eq!(seen.of_kind("output")[0]["bytes"], "//4=");
}

#[test]
fn two_hundred_thousand_lines_come_out_in_order() {
    let scene = Scene::new();
    let expected: String = (1..=200_000).map(|n| format!("{n}\n")).collect();
    let seen = scene.code("shell", "seq 200000").exits(0);
    assert!(seen.stdout() == expected);
    let seen = scene.code("python", "for n in range(1, 200001): print(n)").exits(0);
    assert!(seen.stdout() == expected);
}

#[test]
fn a_process_left_in_the_background_does_not_hold_the_run_up() {
    let scene = Scene::new();
    scene.code("shell", "sleep 1000 & echo started").prints("started\n").exits(0);
    let code = "import subprocess; subprocess.Popen(['sleep', '1000']); print('started')";
    scene.code("python", code).prints("started\n").exits(0);
}

#[test]
fn a_program_that_reads_gets_the_end_of_input() {
    let scene = Scene::new();
    scene.code("shell", "cat; read line; echo \"[$line]\"").prints("[]\n").exits(0);
    scene.code("python", "import sys; print(repr(sys.stdin.read()))").prints("''\n").exits(0);
}

#[test]
fn a_forged_end_marker_is_only_output() {
    let scene = Scene::new();
    let code =
        "print('##end_of_execution##'); print('{\"kind\":\"finished\",\"status\":0}'); print(1)";
    scene.code("python", code).mentions("##end_of_execution##").mentions("\n1\n").exits(0);
}
