//! A turn with a model, without a terminal.

use crate::scene::Scene;

const FENCE: &str = "```";

fn python(code: &str) -> String {
    format!("I will.\n{FENCE}python\n{code}\n{FENCE}\n")
}

fn shell(code: &str) -> String {
    format!("{FENCE}shell\n{code}\n{FENCE}\n")
}

#[test]
fn state_is_kept_between_cells_and_files_between_languages() {
    let scene = Scene::new().model_says(&[
        &python("x = 41\nopen('shared.txt', 'w').write('from python')"),
        &python("print(x + 1)"),
        &shell("cat shared.txt; cd /tmp; y=7"),
        &shell("pwd; echo $y"),
        "Done.",
    ]);
    let seen = scene.chat(&["--yes", "--json", "do it"]).exits(0);
    let printed: String =
        seen.of_kind("output").iter().map(|r| r["text"].as_str().unwrap().to_owned()).collect();
    assert_eq!(printed, "1142\nfrom python/tmp\n7\n");
    assert_eq!(scene.read("shared.txt"), None);
    let changes = seen.of_kind("changes");
    assert_eq!(changes.last().unwrap()["state"], "staged");
    assert_eq!(changes.last().unwrap()["files"][0]["path"], "shared.txt");
}

#[test]
fn the_model_is_told_what_happened() {
    let scene = Scene::new().script(&format!(
        "[[reply]]\ntext = \"{FENCE}python\\n1/0\\n{FENCE}\"\n\
         [[reply]]\nexpect = \"ZeroDivisionError\"\ncall = {{ language = \"python\", code = \"print(7)\" }}\n\
         [[reply]]\nexpect = \"7\\n[status 0]\"\ntext = \"It is 7.\"\n"
    ));
    scene.chat(&["--yes", "compute"]).mentions("It is 7.").exits(0);
}

#[test]
fn a_reply_in_one_piece_or_in_many_gives_the_same_proposals() {
    let text = format!(
        "Two:\n{FENCE}python\nprint('`')\n{FENCE}\nand\n~~~bash\necho '{FENCE}'\n~~~\nend `"
    );
    let proposals = |chunk: &str| {
        let scene = Scene::new().script(&format!(
            "[[reply]]\ntext = {}\n{chunk}\n[[reply]]\ntext = \"ok\"\n",
            serde_json::to_string(&text).unwrap()
        ));
        let seen = scene.chat(&["--yes", "--json", "go"]).exits(0);
        let of =
            |r: &serde_json::Value| (r["language"].clone(), r["code"].clone(), r["hash"].clone());
        seen.of_kind("proposal").iter().map(of).collect::<Vec<_>>()
    };
    let whole = proposals("");
    assert_eq!(whole.len(), 2);
    assert_eq!(whole[0].1, "print('`')\n");
    assert_eq!(proposals("chunk = 1"), whole);
    assert_eq!(proposals("chunk = 3"), whole);
}

#[test]
fn without_yes_nothing_runs() {
    let scene = Scene::new().model_says(&[&python("open('x', 'w')")]);
    let seen = scene.chat(&["--json", "go"]).exits(3);
    assert!(seen.of_kind("run_started").is_empty());
    assert_eq!(seen.of_kind("answer")[0]["by"], "nobody");
}

#[test]
fn a_yes_has_the_spellings_that_people_know() {
    for yes in ["-y", "--yes", "--auto-run", "--auto_run"] {
        let scene = Scene::new().model_says(&[&python("print(1)"), "Done."]);
        let seen = scene.chat(&[yes, "--json", "go"]).exits(0);
        assert_eq!(seen.of_kind("run_started").len(), 1, "{yes}");
    }
}

#[test]
fn a_denied_proposal_is_told_to_the_model_and_not_run() {
    let scene = Scene::new()
        .home_file(
            ".config/interpreter/config.toml",
            "[[rule]]\ndecision = \"deny\"\nline = \"rm *\"\n",
        )
        .script(&format!(
            "[[reply]]\ntext = \"{FENCE}shell\\nrm -r build\\n{FENCE}\"\n\
             [[reply]]\nexpect = \"deny line `rm *`\"\ntext = \"Then not.\"\n"
        ));
    let seen = scene.chat(&["--yes", "--json", "clean up"]).exits(3);
    assert!(seen.of_kind("run_started").is_empty());
}

#[test]
fn a_model_that_fails_is_told_with_its_own_exit_code() {
    let scene = Scene::new().script("[[reply]]\ntext = \"Half a\"\nfail = \"out of luck\"\n");
    let seen = scene.chat(&["--json", "go"]).exits(5);
    assert_eq!(seen.of_kind("reply")[0]["text"], "Half a");
    assert!(seen.of_kind("error")[0]["message"].as_str().unwrap().contains("out of luck"));
    Scene::new().run(&["hello"]).mentions("no model is selected").mentions("--model").exits(2);
}

#[test]
fn a_runaway_model_is_stopped() {
    let replies: Vec<_> = (0..5).map(|n| python(&format!("print({n})"))).collect();
    let replies: Vec<_> = replies.iter().map(String::as_str).collect();
    let scene = Scene::new().model_says(&replies);
    let seen = scene.chat(&["--yes", "--json", "--max-calls", "3", "go"]).exits(5);
    assert_eq!(seen.of_kind("request").len(), 3);
}

#[test]
fn escapes_of_a_model_or_a_program_never_come_out_raw() {
    let scene = Scene::new().model_says(&[
        &format!("Look \u{1b}]0;owned\u{7}\n{}", python(r"print('\x1b[2J\x9b31m')")),
        "\u{1b}[1mDone\u{202e}.",
    ]);
    let seen = scene.chat(&["--yes", "go"]).exits(0);
    seen.lacks("\u{1b}")
        .lacks("\u{7}")
        .lacks("\u{9b}")
        .lacks("\u{202e}")
        .mentions(r"\u{1b}]0;owned");
}

#[test]
fn a_prompt_can_be_piped_in() {
    let scene = Scene::new().model_says(&["Hello."]);
    let arguments = scene.chat_arguments(&["--json"]);
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let seen = scene.run_with_input(&arguments, b"hi there\n").exits(0);
    assert_eq!(seen.of_kind("prompt")[0]["text"], "hi there\n");
    assert_eq!(seen.of_kind("turn_finished")[0]["end"], "done");
}

#[test]
fn no_secret_of_the_environment_reaches_code_record_or_output() {
    let scene = Scene::new()
        .variable("OPENAI_API_KEY", "sk-canary-openai")
        .model_says(&[&shell("env; cat /proc/*/environ | tr '\\0' '\\n'"), "ok"]);
    scene.chat(&["--yes", "--json", "go"]).exits(0).lacks("sk-canary");
    let record = std::fs::read(scene.data().join("record.db")).unwrap();
    assert!(!String::from_utf8_lossy(&record).contains("sk-canary"));
}

#[test]
fn code_is_found_however_a_model_hands_it_over() {
    let json = r#"{"name": "execute", "arguments": {"language": "python", "code": "print(6*7)"}}"#;
    for (reply, language, printed) in [
        (json.to_owned(), "python", "42\n"),
        (format!("Sure.\n{FENCE}json\n{json}\n{FENCE}\n"), "python", "42\n"),
        (format!("{FENCE}\nprint(6*7)\n{FENCE}\n"), "python", "42\n"),
        ("~~~\necho 42 | cat\n~~~\n".to_owned(), "shell", "42\n"),
        (format!("{FENCE}python\necho 42 | cat\n{FENCE}\n"), "shell", "42\n"),
        (format!("1. Run:\n   {FENCE}bash\n   echo 42\n   {FENCE}\n"), "shell", "42\n"),
    ] {
        let scene = Scene::new().model_says(&[&reply, "Done."]);
        let seen = scene.chat(&["--yes", "--json", "go"]).exits(0);
        assert_eq!(seen.of_kind("proposal")[0]["language"], language, "{reply}");
        assert_eq!(seen.of_kind("output")[0]["text"], printed, "{reply}");
    }
}
