//! Standard input as data: for code, and beside a prompt.

use crate::{
    scene::{Scene, Who, cell},
    terminal::Terminal,
};
use std::{
    io::{BufRead, BufReader, Write},
    process::Stdio,
};

const SUM: &str = "\
import csv, sys
print(sum(int(row[1]) for row in csv.reader(sys.stdin)))";

#[test]
fn code_reads_the_pipe_in_every_language() {
    let scene = Scene::new();
    let run = |language: &str, code: &str| {
        scene.run_with_input(&["run", "-l", language, "-c", code], b"one\ntwo\n")
    };
    run("python", "import sys; print(sum(1 for _ in sys.stdin))").prints("2\n").exits(0);
    run("python", "print(input()); print(input('? '))").prints("one\n? two\n").exits(0);
    run("python", "import os; os.system('cat')").prints("one\ntwo\n0\n").exits(0);
    run("shell", "read x; echo \"[$x]\"; wc -l").mentions("[one]\n").mentions("1").exits(0);
    run("javascript", "console.log(require('fs').readFileSync(0, 'utf8'))").prints("one\ntwo\n\n");
    let lines = "for await (const line of require('readline').createInterface({ input: process.stdin })) console.log(line);";
    run("javascript", lines).prints("one\ntwo\n").exits(0);
    run("perl", "print reverse <STDIN>").prints("two\none\n").exits(0);
}

#[test]
fn without_data_there_is_none_and_nothing_waits() {
    let scene = Scene::new();
    scene.code("python", "import sys; print(repr(sys.stdin.read()))").prints("''\n").exits(0);
    scene.code("python", "input()").mentions("EOFError").exits(1);
    // Code that reads nothing ends although the pipe does not.
    let mut child = scene
        .command(&["run", "-c", "print('done')"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let open = child.stdin.take();
    let seen = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&seen.stdout), "done\n");
    drop(open);
}

#[test]
fn bytes_arrive_as_they_are_and_much_of_them() {
    let numbers = (0..750_000_u32).map(|n| n.wrapping_mul(2_654_435_761));
    let bytes: Vec<u8> = numbers.flat_map(u32::to_le_bytes).collect();
    let code = "import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())";
    let expected = format!("{}\n", interpreter_core::hash::sha256(&bytes));
    Scene::new().run_with_input(&["run", "-c", code], &bytes).prints(&expected).exits(0);
}

#[test]
fn a_line_is_read_before_the_next_one_is_written() {
    let scene = Scene::new();
    let code = "import sys\nfor line in sys.stdin: print(line.strip().upper(), flush=True)";
    let mut child = scene
        .command(&["run", "-c", code])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut write = child.stdin.take().unwrap();
    let mut read = BufReader::new(child.stdout.take().unwrap());
    for line in ["one", "two", "three"] {
        writeln!(write, "{line}").unwrap();
        let mut answer = String::new();
        read.read_line(&mut answer).unwrap();
        assert_eq!(answer, format!("{}\n", line.to_uppercase()));
    }
    drop(write);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_file_that_is_read_cannot_be_written_through_its_descriptor() {
    let scene = Scene::new().home_file("data.txt", "precious");
    let path = scene.home().join("data.txt");
    let attack = "import os\nprint(os.read(0, 100))\n\
                  try: os.write(os.open('/proc/self/fd/0', os.O_WRONLY), b'gone')\n\
                  except OSError as error: print('refused', error.errno)";
    let seen = scene
        .command(&["run", "-c", attack])
        .stdin(std::fs::File::open(&path).unwrap())
        .output()
        .unwrap();
    // The control: it was read.
    assert!(String::from_utf8_lossy(&seen.stdout).starts_with("b'precious'"), "{seen:?}");
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
}

#[test]
fn a_models_code_reads_what_is_piped_in_beside_the_prompt() {
    for who in Who::all() {
        let scene = Scene::of(who).model_says(&[&cell("python", SUM), "The sum is 42."]);
        let arguments = scene.chat_arguments(&["--json", "-y", "sum column 2"]);
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        let seen = scene.run_with_input(&arguments, b"a,40\nb,2\n").exits(0);
        assert_eq!(seen.printed_by("p1"), "42\n");
        let piped = &seen.of_kind("piped")[0];
        assert_eq!((&piped["bytes"], &piped["lines"]), (&9.into(), &2.into()));
        let request = &seen.of_kind("request")[0]["newest"];
        let said = request.as_array().unwrap().last().unwrap()["text"].as_str().unwrap().to_owned();
        assert!(said.starts_with("sum column 2\n\n[Standard input is data"), "{said}");
        assert!(said.contains("a,40\nb,2\n[end of standard input]"), "{said}");
        let path = piped["path"].as_str().unwrap();
        assert!(said.contains(path));
        assert!(!std::path::Path::new(path).exists(), "it is gone with the session");
    }
}

#[test]
fn every_run_reads_the_data_from_its_start_and_by_its_path() {
    let by_path = "import glob, os\nprint(open(os.readlink('/proc/self/fd/0')).read())";
    let scene = Scene::new().model_says(&[
        &cell("python", "import sys; print(len(sys.stdin.read()))"),
        &cell("python", "import sys; print(len(sys.stdin.read()))"),
        &cell("shell", "cat; cat"),
        &cell("shell", "wc -c"),
        &cell("python", by_path),
        &cell("python", "open(os.readlink('/proc/self/fd/0'), 'w')"),
        "Done.",
    ]);
    let arguments = scene.chat_arguments(&["--json", "-y", "look"]);
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let seen = scene.run_with_input(&arguments, b"data\n").exits(1);
    let printed = |proposal| seen.printed_by(proposal).trim().to_owned();
    assert_eq!(["p1", "p2", "p3", "p4", "p5"].map(printed), ["5", "5", "data", "5", "data"]);
    // The file is not the code's to change.
    assert!(seen.printed_by("p6").contains("Error"), "{}", seen.printed_by("p6"));
}

#[test]
fn every_run_of_javascript_reads_the_data_from_its_start() {
    let all = "console.log(require('fs').readFileSync(0, 'utf8').length)";
    let lines = "for await (const line of require('readline').createInterface({ input: \
                 process.stdin })) console.log('[' + line + ']');";
    let events = "let n = 0; process.stdin.on('data', (piece) => { n += piece.length; }); await new \
                  Promise((end) => process.stdin.on('end', end)); console.log(n)";
    let program = "console.log(require('child_process').execSync('cat', { stdio: ['inherit', \
                   'pipe', 'inherit'] }).length)";
    let scene = Scene::new().model_says(&[
        &cell("javascript", all),
        &cell("javascript", all),
        &cell("javascript", lines),
        &cell("javascript", lines),
        &cell("javascript", events),
        &cell("javascript", program),
        "Done.",
    ]);
    let arguments = scene.chat_arguments(&["--json", "-y", "look"]);
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let seen = scene.run_with_input(&arguments, b"one\ntwo\n").exits(0);
    let printed = |proposal| seen.printed_by(proposal).trim().to_owned();
    let read = ["8", "8", "[one]\n[two]", "[one]\n[two]", "8", "8"];
    assert_eq!(["p1", "p2", "p3", "p4", "p5", "p6"].map(printed), read);
}

#[test]
fn a_pipe_without_a_prompt_is_the_prompt() {
    let scene = Scene::new().model_says(&["Hello."]);
    let arguments = scene.chat_arguments(&["--json"]);
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let seen = scene.run_with_input(&arguments, b"say hello\n").exits(0);
    assert_eq!(seen.of_kind("prompt")[0]["text"], "say hello\n");
    assert!(seen.of_kind("piped").is_empty());
}

#[test]
fn at_a_terminal_a_person_answers_and_the_codes_rows_stay_marked() {
    let code = "name = input('name? ')\nprint('hello', name)\nprint(input())\n";
    let scene = Scene::new().file("ask.py", code);
    let terminal = Terminal::start(&scene, &["run", "ask.py"]);
    terminal.shows("name? ").goes_on("Bob\r");
    terminal.shows("  ┆ hello Bob").goes_on("more\r");
    terminal.shows("  ┆ more").exits(0);
}
