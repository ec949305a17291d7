//! How the Python original of this program fails, each as a test that passes here.
//!
//! Cases that other files test: heredocs, templates and future statements in `faithful`, a reply in
//! one piece or ending in a backtick in `chat`, files called like the code in `languages`,
//! interrupts in `control`.

use crate::{
    scene::{Scene, cell},
    terminal::Terminal,
};
use std::{
    io::{BufRead, BufReader},
    process::Stdio,
};

#[test]
fn a_command_that_eats_its_input_takes_nothing_of_the_next_cell() {
    let scene = Scene::new().model_says(&[
        &cell("shell", "cat; head -c 100; read -r line; python3 -c 'input()'; echo ate"),
        &cell("shell", "echo one; echo two"),
        &cell("javascript", "require('child_process').execSync('cat', {stdio: 'inherit'}); 1"),
        &cell("javascript", "console.log('three')"),
        &cell("python", "import subprocess; print(subprocess.run('cat').returncode)"),
        &cell("python", "print('four')"),
        "Done.",
    ]);
    let seen = scene.chat(&["--yes", "--json", "go"]).exits(0);
    // Python's error comes through another pipe, before it or after it.
    assert!(seen.printed_by("p1").contains("ate\n"));
    assert_eq!(seen.printed_by("p2"), "one\ntwo\n");
    assert_eq!(seen.printed_by("p4"), "three\n");
    assert_eq!(seen.printed_by("p6"), "four\n");
}

#[test]
fn after_an_exit_the_next_cell_has_a_fresh_interpreter_and_the_model_knows() {
    let scene = Scene::new().script(&format!(
        "[[reply]]\ntext = {}\n[[reply]]\nexpect = \"exited with status 3; variables are lost\"\n\
         text = {}\n[[reply]]\nexpect = \"x is <>\"\ntext = \"Done.\"\n",
        serde_json::to_string(&cell("shell", "x=1; exit 3")).unwrap(),
        serde_json::to_string(&cell("shell", "echo \"x is <$x>\"")).unwrap(),
    ));
    scene.chat(&["--yes", "go"]).mentions("Done.").exits(0);
}

#[test]
fn code_may_hold_the_name_of_its_language_anywhere() {
    // R is played by bash, to be there on every machine; the name is what matters.
    let scene = Scene::new()
        .home_file(
            ".config/interpreter/config.toml",
            "[language.r]\nprograms = [\"bash\"]\nonce = { file = \"main.r\" }\n",
        )
        .model_says(&[
            &cell("r", "for r in print r; do printf 'r %s\\n' \"$r\"; done"),
            &cell("python", "python = 'python'\nfor p in [python]: print('python', p)"),
            "Done.",
        ]);
    let seen = scene.chat(&["--yes", "--json", "go"]).exits(0);
    let proposals = seen.of_kind("proposal");
    assert_eq!(proposals[0]["code"], "for r in print r; do printf 'r %s\\n' \"$r\"; done\n");
    assert_eq!(seen.printed_by("p1"), "r print\nr r\n");
    assert_eq!(seen.printed_by("p2"), "python python\n");
}

#[test]
fn prose_around_code_does_not_hide_it() {
    let reply = "Sure! Here is what I would do, `python` being the language:\n\n\
        1. First this:\n   ```python\n   print(6 * 7)\n   ```\n2. Then nothing.\n\nThat's all `folks`.";
    let scene = Scene::new().model_says(&[reply, "Done."]);
    let seen = scene.chat(&["--yes", "--json", "go"]).exits(0);
    assert_eq!(seen.printed_by("p1"), "42\n");
}

#[test]
fn long_output_reaches_the_person_and_the_record_whole_and_the_model_in_part() {
    let scene = Scene::new()
        .model_says(&[&cell("python", "for n in range(5000): print(f'line {n}')"), "Done."]);
    let seen = scene.chat(&["--yes", "go"]).exits(0);
    let shown = seen.stdout();
    for n in [0, 700, 2_500, 4_999] {
        assert!(shown.contains(&format!("line {n}\n")), "line {n} is not shown");
    }
    let kept = scene.run(&["history", "show", "--json"]);
    let expected: String = (0..5_000).map(|n| format!("line {n}\n")).collect();
    assert_eq!(kept.printed_by("p1"), expected);
    let told = kept.of_kind("request").last().unwrap().to_string();
    assert!(told.contains("characters omitted") && told.contains("line 4999"), "{told}");
}

#[test]
fn a_declined_proposal_and_an_interrupt_are_on_record() {
    let scene = Scene::new().model_says(&[
        &cell("python", "print('declined')"),
        &cell("python", "print('on', flush=True)\nwhile True: pass"),
        "Done.",
    ]);
    let terminal = Terminal::open(&scene, &["first"]);
    terminal.shows("Run it?");
    terminal.types("n").shows("Rejected");
    terminal.types("second").shows("Run it?");
    terminal.types("y").shows("┆ on");
    terminal.presses(3).shows("Interrupted.");
    terminal.types("/quit").exits(0);
    let seen = scene.run(&["history", "show", "--json"]);
    let decisions: Vec<_> = seen.of_kind("answer").iter().map(|r| r["decision"].clone()).collect();
    assert_eq!(decisions, ["reject", "run"]);
    assert_eq!(seen.of_kind("prompt").len(), 2);
    assert_eq!(seen.printed_by("p2").lines().next(), Some("on"));
    let ends: Vec<_> = seen.of_kind("turn_finished").iter().map(|r| r["end"].clone()).collect();
    assert_eq!(ends, ["refused", "interrupted"]);
    assert_eq!(seen.of_kind("run_finished")[0]["status"], 130);
}

#[test]
fn what_happened_before_a_crash_is_on_record_and_linked() {
    let scene = Scene::new().model_says(&[&cell(
        "python",
        "print('before', flush=True)\nimport time; time.sleep(1000)",
    )]);
    let arguments = scene.chat_arguments(&["--yes", "--json", "go"]);
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let mut child =
        scene.command(&arguments).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut shown = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        shown.push(line.unwrap());
        if shown.last().unwrap().contains("before\\n\"") {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    scene.run(&["audit", "verify"]).mentions("all linked").exits(0);
    // Everything shown was recorded before.
    let kept = scene.run(&["history", "show", "--json"]).stdout();
    for line in &shown {
        assert!(kept.contains(line.as_str()), "{line} is not in {kept}");
    }
    assert!(shown.last().unwrap().contains("\"kind\":\"output\""), "{shown:?}");
}

#[test]
fn every_record_has_its_time_and_every_run_its_status_and_decision() {
    let scene = Scene::new().model_says(&[&cell("shell", "exit 7"), "Done."]);
    scene.chat(&["--yes", "go"]);
    let seen = scene.run(&["history", "show", "--json"]);
    let times: Vec<_> =
        seen.records().iter().map(|r| r["time"].as_str().unwrap().to_owned()).collect();
    assert!(times.iter().all(|time| time.len() >= 20 && time.ends_with('Z')), "{times:?}");
    assert!(times.is_sorted());
    assert_eq!(seen.of_kind("answer")[0]["by"], "flag");
    assert_eq!(seen.of_kind("run_finished")[0]["status"], 7);
    assert!(seen.of_kind("run_finished")[0]["ms"].is_u64());
}

#[test]
fn code_in_a_file_called_main_never_touches_the_persons_own() {
    // Java is played by bash; what writes and removes the file is the same for all.
    let scene = Scene::new()
        .file("Main.java", "mine")
        .file("Main.class", "mine too")
        .home_file(
            ".config/interpreter/config.toml",
            "[language.java]\nprograms = [\"bash\"]\n\
             once = { file = \"Main.java\", compile = [\"cp\", \"{file}\", \"{folder}/Main.class\"], \
             run = [\"{program}\", \"{folder}/Main.class\"] }\n",
        );
    let code = "cat Main.java; dirname \"$0\"";
    let seen = scene.run(&["run", "--workspace", "direct", "-l", "java", "-c", code]).exits(0);
    let printed = seen.stdout();
    assert!(printed.starts_with("mine/tmp/run."), "{printed}");
    assert_eq!(scene.read("Main.java").as_deref(), Some("mine"));
    assert_eq!(scene.read("Main.class").as_deref(), Some("mine too"));
}
