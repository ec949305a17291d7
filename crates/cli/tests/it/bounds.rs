//! Input is read within bounds, and never cut without a word.

use crate::scene::{Scene, cell};

/// The longest code and the longest piped prompt.
const MOST: usize = 4 << 20;

#[test]
fn a_piped_prompt_that_is_too_long_is_refused_with_the_limit() {
    let scene = Scene::new().model_says(&["I heard you."]);
    let arguments = scene.chat_arguments(&["--json"]);
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let whole = scene.run_with_input(&arguments, &vec![b'x'; MOST]).exits(0);
    assert_eq!(whole.of_kind("prompt")[0]["text"].as_str().unwrap().len(), MOST);
    let cut = scene.run_with_input(&arguments, &vec![b'x'; MOST + 1]);
    cut.mentions("the prompt is longer than 4 MiB").mentions("put it into a file").exits(2);
}

#[test]
fn code_without_end_stops_at_once() {
    let scene = Scene::new();
    let endless = scene.run(&["run", "-l", "python", "/dev/zero"]);
    endless.mentions("the code in /dev/zero is longer than 4 MiB").exits(2);
    let zero = std::fs::File::open("/dev/zero").unwrap();
    let output = scene.command(&["run", "-l", "python", "-"]).stdin(zero).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("the code on standard input is longer than 4 MiB"), "{said}");
}

#[test]
fn code_as_long_as_the_limit_runs_and_longer_code_does_not() {
    let scene = Scene::new();
    for (language, comment, print) in [
        ("python", "#", "print('ran')\n"),
        ("shell", "#", "echo ran\n"),
        ("javascript", "//", "console.log('ran')\n"),
    ] {
        let comments = format!("{comment} {}\n", "x".repeat(96));
        let mut code = comments.repeat(MOST / comments.len() + 1);
        code.truncate(MOST - print.len() - 1);
        code.push('\n');
        code.push_str(print);
        assert_eq!(code.len(), MOST);
        let run = ["run", "-l", language, "-"];
        scene.run_with_input(&run, code.as_bytes()).prints("ran\n").exits(0);
        code.push('\n');
        let seen = scene.run_with_input(&run, code.as_bytes());
        seen.mentions("is longer than 4 MiB").lacks("ran").exits(2);
    }
}

#[test]
fn code_of_a_model_has_the_same_bounds() {
    let long = format!("print('ran')\n{}", "# x\n".repeat(MOST / 4));
    let scene = Scene::new().model_says(&[&cell("python", &long), "I see."]);
    let seen = scene.chat(&["--json", "-y", "go on"]).exits(0);
    let reason = seen.of_kind("not_proposed")[0]["reason"].as_str().unwrap().to_owned();
    assert!(reason.starts_with("the code is longer than 4 MiB"), "{reason}");
    assert!(seen.of_kind("run_started").is_empty());
    // The model learns the reason, so that it can try something else.
    let told = seen.of_kind("request")[1].to_string();
    assert!(told.contains("longer than 4 MiB"), "{told}");
}

#[test]
fn a_nul_in_code_is_refused_in_every_language() {
    let scene = Scene::new();
    let seen = scene.run(&["languages", "--json"]).exits(0);
    let languages: serde_json::Value = serde_json::from_str(&seen.stdout()).unwrap();
    let here = languages.as_array().unwrap().iter().filter(|one| one["hint"].is_null());
    let names: Vec<_> = here.map(|one| one["name"].as_str().unwrap().to_owned()).collect();
    assert!(names.len() >= 7, "{names:?}");
    for language in &names {
        let seen = scene.run_with_input(&["run", "-y", "-l", language, "-"], b"echo a\0echo b\n");
        seen.mentions("a NUL character (at byte 7)").exits(2);
    }
    let script = "[[reply]]\ncall = { language = \"shell\", code = \"echo a\\u0000echo b\" }\n\
                  [[reply]]\ntext = \"I see.\"\n";
    let scene = Scene::new().script(script);
    let seen = scene.chat(&["--json", "-y", "go on"]).exits(0);
    let reason = seen.of_kind("not_proposed")[0]["reason"].as_str().unwrap().to_owned();
    assert!(reason.contains("NUL character"), "{reason}");
    assert!(seen.of_kind("run_started").is_empty());
}
