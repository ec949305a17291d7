//! `interpreter run`.

use crate::scene::{Scene, Who};

#[test]
fn code_of_each_language_runs() {
    for who in Who::all() {
        let scene = Scene::of(who);
        scene.code("python", "print(6*7)").prints("42\n").exits(0);
        scene.code("shell", "echo $((6*7))").prints("42\n").exits(0);
        scene.code("javascript", "console.log(await Promise.resolve(5))").prints("5\n").exits(0);
    }
}

#[test]
fn a_status_is_reported_and_nothing_hangs() {
    let scene = Scene::new();
    scene.code("shell", "exit 3").prints("").exits(3);
    scene
        .code("python", "import os; os.kill(os.getpid(), 9)")
        .mentions("ended by SIGKILL")
        .exits(137);
}

#[test]
fn the_last_value_is_shown() {
    let scene = Scene::new();
    scene.code("python", "x = 20\nx + 1").prints("21\n").exits(0);
    scene.code("javascript", "[1, 2].map(n => n * 2)").prints("[ 2, 4 ]\n").exits(0);
}

#[test]
fn the_language_follows_from_the_ending() {
    let scene = Scene::new().file("hello.py", "print('hello')");
    scene.run(&["run", "hello.py"]).prints("hello\n").exits(0);
    scene.run_with_input(&["run", "-l", "sh", "-"], b"echo piped").prints("piped\n").exits(0);
}

#[test]
fn misuse_is_named_with_the_next_step() {
    let scene = Scene::new().file("notes.txt", "");
    scene.code("cobol", "x").mentions("unknown language `cobol`").exits(2);
    scene.run(&["run", "notes"]).mentions("notes").exits(2);
    scene.run(&["run", "notes.txt"]).mentions("unknown language `txt`").exits(2);
    scene.run(&["run", "missing.py"]).mentions("missing.py").exits(2);
    scene.run(&["run", "-l", "python"]).mentions("no code to run").exits(2);
    scene
        .run(&["run", "-l", "python", "-c", "1", "--time-limit", "soon"])
        .mentions("soon")
        .exits(2);
}

#[test]
fn an_error_shows_the_codes_own_lines() {
    let seen = Scene::new().code("python", "def f():\n    return 1 / 0\n\nf()\n");
    let seen = seen.mentions("return 1 / 0").mentions("ZeroDivisionError").exits(1);
    seen.lacks("driver.py");
}

#[test]
fn a_run_past_its_time_is_stopped() {
    let scene = Scene::new();
    let seen = scene.run(&["run", "-l", "python", "-c", "while True: pass", "--time-limit", "1s"]);
    seen.mentions("limit on time (1 s; `--time-limit` raises it)").exits(1);
}

#[test]
fn a_process_that_wants_too_much_memory_fails() {
    let scene = Scene::new();
    let code = "b = bytearray(1 << 30)";
    let seen = scene.run(&["run", "-l", "python", "-c", code, "--memory-limit", "256M"]);
    seen.mentions("MemoryError").exits(1);
}

#[test]
fn rules_are_obeyed_even_with_yes() {
    let scene = Scene::new().home_file(
        ".config/interpreter/config.toml",
        "[[rule]]\ndecision = \"deny\"\nline = \"rm *\"\n",
    );
    scene
        .run(&["run", "-y", "-l", "shell", "-c", "rm -r build"])
        .mentions("refused by your rule: deny line `rm *`")
        .exits(3);
    scene.code("shell", "echo fine").prints("fine\n").exits(0);
}

#[test]
fn a_project_can_deny_but_not_loosen() {
    let scene = Scene::new()
        .file(".interpreter/config.toml", "[[rule]]\ndecision = \"deny\"\nlanguage = \"shell\"\n");
    scene.code("shell", "echo x").exits(3);
    scene.code("python", "print(1)").prints("1\n").exits(0);
    let scene = Scene::new().file(".interpreter/config.toml", "workspace = \"direct\"\n");
    scene.code("python", "print(1)").mentions(".interpreter/config.toml").exits(2);
}

#[test]
fn without_anybody_to_ask_the_answer_is_no() {
    let scene = Scene::new();
    scene.run(&["run", "--ask", "-l", "python", "-c", "print(1)"]).prints("").exits(3);
}

#[test]
fn json_is_one_record_a_line_and_nothing_else() {
    let seen = Scene::new().run(&["run", "--json", "-l", "python", "-c", "print('x'); 1/0"]);
    let kinds: Vec<_> =
        seen.records().iter().map(|r| r["kind"].as_str().unwrap().to_owned()).collect();
    assert_eq!(
        kinds,
        [
            "session_started",
            "proposal",
            "findings",
            "verdict",
            "run_started",
            "output",
            "output",
            "effects",
            "run_finished",
            "turn_finished",
            "session_ended"
        ],
    );
    let started = &seen.of_kind("run_started")[0];
    assert_eq!(started["backend"], "native");
    assert_eq!(started["hash"], seen.of_kind("proposal")[0]["hash"]);
    assert_eq!(seen.of_kind("run_finished")[0]["status"], 1);
    seen.exits(1);
}

#[test]
fn explain_lists_the_steps_and_runs_nothing() {
    let scene = Scene::new();
    let seen = scene.run(&["run", "--explain", "-l", "python", "-c", "print('ran')"]);
    seen.mentions("enter new namespaces")
        .mentions("give up every capability")
        .lacks("ran\n")
        .exits(0);
}

#[test]
fn explain_tells_the_confinement_in_words() {
    let scene = Scene::new();
    let explain = |more: &[&str]| {
        let code = ["-l", "python", "-c", "1"];
        scene.run(&[&["run", "--explain", "--time-limit", "7s"], more, &code].concat()).exits(0)
    };
    let seen = explain(&["--allow-host", "one.example"]);
    seen.mentions("Sandbox:\n")
        .mentions("native")
        .mentions("changes are staged until you decide")
        .mentions("one.example")
        .mentions("time: 7 s")
        .mentions("memory: 4G");
    let seen = explain(&["--workspace", "direct", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&seen.stdout()).unwrap();
    let bounds = &told["confinement"];
    assert_eq!(bounds["sandbox"], "native", "{bounds}");
    assert!(bounds["files"][0].as_str().unwrap().ends_with("changed directly"), "{bounds}");
    assert_eq!(bounds["network"][0], "no host", "{bounds}");
    assert_eq!(bounds["limits"][0], "time: 7 s", "{bounds}");
    assert!(told["missing"].is_null(), "{told}");
}

/// Nothing runs, so nothing has to be installed.
#[test]
fn explain_and_rules_know_languages_that_are_not_installed() {
    let scene =
        Scene::new().variable("PATH", "/nowhere").file("x.ts", "fetch('https://a.example')");
    scene
        .run(&["run", "--explain", "x.ts"])
        .mentions("connects to a.example")
        .mentions("no interpreter for typescript is installed")
        .mentions("Limits:")
        .exits(0);
    let scene = scene.file("x.rb", "system('rm -rf /')\n");
    scene.run(&["rules", "test", "x.rb"]).mentions("starts rm").exits(0);
    scene.run(&["rules", "test", "x.ts"]).mentions("connects to a.example").exits(0);
    // It does not run for that.
    scene.run(&["run", "x.ts"]).mentions("no interpreter for `ts` is installed").exits(2);
}

#[test]
fn explain_tells_what_the_code_would_do_and_who_decides() {
    let scene = Scene::new();
    let code = "import shutil; shutil.rmtree('old'); open('/root/.ssh/id_rsa')";
    let seen = scene.run(&["run", "--explain", "-l", "python", "-c", code]).exits(0);
    seen.mentions("Risk: high")
        .mentions("deletes old (line 1)")
        .mentions("reads your SSH keys (/root/.ssh/id_rsa) (line 1)")
        .mentions("Decision: allow");
    let seen = scene.run(&["run", "--explain", "--json", "-l", "python", "-c", code]).exits(0);
    seen.mentions("\"name\":\"credentials\"")
        .mentions("\"confidence\":\"certain\"")
        .mentions("\"columns\":[16,36]")
        .mentions("\"decision\":\"allow\"")
        .mentions("\"steps\":[");
}

#[test]
fn doctor_and_languages_say_what_is_there() {
    let scene = Scene::new();
    scene.run(&["doctor"]).mentions("Ready: code runs in the native sandbox.").exits(0);
    scene.run(&["doctor", "-v"]).mentions("native is used and keeps everything").exits(0);
    scene.run(&["languages"]).mentions("python").mentions("/usr/bin/").exits(0);
}
