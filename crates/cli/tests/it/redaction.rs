//! A secret that is known, and a token of a known shape, through every way that text takes: they are
//! neither shown, nor recorded, nor sent to the model.

use crate::{
    models::servers::Plain,
    scene::{Scene, Seen, cell},
    terminal::Terminal,
};
use std::{fs, path::Path};

/// A value in the person's own environment.
const VALUE: &str = "Zq8-Wx3_Lm5.vB7nK2rT";

/// A token that nobody told us about, in two parts so that it is nowhere in the tests' own source.
const TOKEN: (&str, &str) = ("ghp_k3J9sQ0zL1mN7pR2vT5x", "W8yB4cD6fGaB1cD2");

fn token() -> String {
    format!("{}{}", TOKEN.0, TOKEN.1)
}

fn scene() -> Scene {
    Scene::new().variable("EXAMPLE_API_TOKEN", VALUE)
}

/// Neither of them, nor eight characters of them, nor the value in an encoding.
fn clean(seen: Seen) -> Seen {
    let hex: String = VALUE.bytes().map(|byte| format!("{byte:02x}")).collect();
    seen.lacks(VALUE).lacks(&VALUE[4..12]).lacks(&token()).lacks(&token()[10..18]).lacks(&hex)
}

/// No file of the program holds either of them. Outputs of their own are compressed.
fn nothing_kept(folder: &Path) {
    none_kept(folder, &[VALUE, &token()]);
}

fn none_kept(folder: &Path, parts: &[&str]) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            none_kept(&path, parts);
        } else {
            let bytes = fs::read(&path).unwrap_or_default();
            let holds =
                |part: &&str| bytes.windows(part.len()).any(|window| window == part.as_bytes());
            assert!(!parts.iter().any(holds), "{}", path.display());
        }
    }
}

/// Code that puts both together from small parts, so that they are in no text but its output.
fn parts() -> String {
    let parts = |text: &str| {
        let parts = text.as_bytes().chunks(5).map(|part| String::from_utf8_lossy(part));
        parts.map(|part| format!("'{part}'")).collect::<Vec<_>>().join("+")
    };
    format!("v = {}; t = {}\n", parts(VALUE), parts(&token()))
}

#[test]
fn output_of_every_kind_is_redacted() {
    for (code, expected) in [
        ("print(v); print(t)", "[secret:github-token]"),
        ("import sys; print(v, t, file=sys.stderr)", "[secret:EXAMPLE_API_TOKEN]"),
        ("v", "[secret:EXAMPLE_API_TOKEN]"),
        ("raise ValueError(v)", "ValueError: [secret:EXAMPLE_API_TOKEN]"),
        ("print({'key': v})", "{'key': '[secret:EXAMPLE_API_TOKEN]'}"),
        ("print(v.encode().hex())", "[secret:EXAMPLE_API_TOKEN]"),
        ("import base64; print(base64.b64encode(b'me:' + v.encode()).decode())", "[secret:"),
        ("import urllib.parse; print(urllib.parse.quote(v + '/'))", "[secret:EXAMPLE_API_TOKEN]"),
        ("for c in v: print(c, end='', flush=True)", "[secret:EXAMPLE_API_TOKEN]"),
        ("print('x' * 300000); print(v)", "[secret:EXAMPLE_API_TOKEN]"),
        ("from sys import stdout\nstdout.buffer.write(v.encode() + b'\\xff\\n')", "[secret:"),
        ("print('plain')", "plain"),
    ] {
        let scene = scene();
        let code = parts() + code;
        for more in [&[][..], &["--json"]] {
            let arguments = [&["run", "-l", "python", "-c", &code], more].concat();
            clean(scene.run(&arguments)).mentions(expected);
        }
        clean(scene.run(&["history", "show"]));
        nothing_kept(&scene.data());
        scene.run(&["audit", "verify"]).exits(0);
    }
}

#[test]
fn names_of_files_and_their_lines_are_redacted() {
    let scene = scene();
    let code = parts() + "open(v + '.txt', 'w').write('a\\n' + t + '\\n' + v + '\\n')";
    for more in [&[][..], &["--json"]] {
        let seen = scene.run(&[&["run", "-l", "python", "-c", &code], more].concat());
        clean(seen).mentions("[secret:EXAMPLE_API_TOKEN].txt").exits(0);
    }
    let diff = scene.run(&["changes", "diff"]).lacks(VALUE);
    // It is decided on, so nothing but the value is masked in it.
    diff.mentions(&format!("+{}", token())).mentions("+[secret:EXAMPLE_API_TOKEN]").exits(0);
    let applied = scene.run(&["changes", "apply"]).lacks(VALUE);
    applied.mentions("the value of `EXAMPLE_API_TOKEN` stands in it").exits(0);
    assert!(!scene.work().join(format!("{VALUE}.txt")).exists());
    scene.run(&["changes", "apply", &format!("{VALUE}.txt")]).exits(0);
    assert!(scene.work().join(format!("{VALUE}.txt")).exists());
}

#[test]
fn hosts_that_code_tries_are_redacted() {
    let scene = scene();
    // Hosts have no capitals.
    let value = "zq8-wx3-lm5-vb7nk2rt";
    let scene = scene.variable("OTHER_TOKEN", value);
    let code = "import urllib.request as r\ntry:\n  r.urlopen('http://zq8-' + 'wx3-lm5-' + \
                'vb7nk2rt.example/')\nexcept OSError: print('failed')";
    let arguments = ["run", "--json", "--allow-host", "one.example", "-l", "python", "-c", code];
    let seen = scene.run(&arguments).lacks(value).mentions("failed");
    let hosts = seen.of_kind("effects")[0]["network"].to_string();
    assert!(hosts.contains("[secret:OTHER_TOKEN].example"), "{hosts}");
}

#[test]
fn neither_the_model_nor_the_record_gets_them() {
    let prompt = format!("use {VALUE} and {}", token());
    let code = parts() + "print(v, t)";
    let scene = scene().script(&format!(
        "[[reply]]\nexpect = \"use [secret:EXAMPLE_API_TOKEN] and [secret:github-token]\"\n\
         text = {}\nchunk = 3\n\
         [[reply]]\nexpect = \"[secret:EXAMPLE_API_TOKEN] [secret:github-token]\"\n\
         text = {}\nchunk = 5\n",
        serde_json::to_string(&cell("python", &code)).unwrap(),
        serde_json::to_string(&format!("It was {VALUE}.")).unwrap(),
    ));
    for more in [&[][..], &["--json"]] {
        let seen = scene.chat(&[&["--yes"], more, &[&prompt]].concat()).exits(0);
        clean(seen).mentions("[secret:EXAMPLE_API_TOKEN].");
    }
    clean(scene.run(&["history", "show"])).mentions("use [secret:EXAMPLE_API_TOKEN]");
    nothing_kept(&scene.data());
}

/// By the bytes that a server gets.
#[test]
fn prompts_files_and_instructions_are_sent_without_them() {
    let server = Plain::streaming("Hello.");
    let config = format!("[provider.openai]\nbase_url = '{}/v1'\n", server.address);
    let scene = scene()
        .home_file(".config/interpreter/config.toml", &config)
        .file("AGENTS.md", format!("Instructions: {VALUE}.\n"));
    scene.run(&["trust", "--yes"]).exits(0);
    let prompt = format!("Prompt: {VALUE} {}", token());
    let arguments = ["-m", "openai/gpt-x", "--json", &prompt];
    clean(scene.run_with_input(&arguments, format!("Piped: {VALUE}\n").as_bytes())).exits(0);
    let asked = server.asked().join("\n");
    assert!(!asked.contains(VALUE) && !asked.contains(&token()), "{asked}");
    for place in ["Instructions", "Prompt", "Piped"] {
        assert!(
            asked.contains(&format!("{place}: [secret:EXAMPLE_API_TOKEN]")),
            "{place}: {asked}"
        );
    }
}

#[test]
fn code_of_the_person_runs_as_written_and_is_recorded_without_it() {
    let scene = scene();
    let code = format!("print(len('{VALUE}'), '{}'[:3])", token());
    let seen = scene.run(&["run", "--json", "-l", "python", "-c", &code]).exits(0);
    let seen = seen.mentions("20 ghp").lacks(VALUE);
    let recorded = seen.of_kind("proposal")[0].clone();
    // All of it but the value, which is sealed beside it.
    let masked = format!("print(len('[secret:EXAMPLE_API_TOKEN]'), '{}'[:3])", token());
    assert_eq!((recorded["code"].as_str(), recorded["sealed"].is_string()), (Some(&*masked), true));
    none_kept(&scene.data(), &[VALUE]);
    scene.run(&["history", "show"]).lacks(VALUE).mentions("its secrets are sealed").exits(0);
    scene.run(&["history", "show", "--unseal"]).mentions(&code).exits(0);
    clean(scene.run(&["history", "export"])).mentions("[secret:github-token]").exits(0);
    scene.run(&["audit", "verify"]).exits(0);
    fs::remove_file(scene.home().join(".config/interpreter/secrets.key")).unwrap();
    let seen = scene.run(&["history", "show", "--unseal"]).lacks(VALUE);
    seen.mentions("cannot be unsealed");
}

#[test]
fn packages_and_calls_of_a_model_are_redacted() {
    let scene = scene().script(&format!(
        "[[reply]]\ncall = {{ language = \"shell\", code = \"pip install {VALUE}; echo {VALUE}\" }}\n\
         [[reply]]\nexpect = \"[secret:EXAMPLE_API_TOKEN]\"\ntext = \"Done.\"\n"
    ));
    let seen = clean(scene.chat(&["--yes", "--json", "go"]));
    // The code that runs is the code that is shown: the value is in neither.
    let proposed = seen.of_kind("proposal")[0]["code"].to_string();
    assert!(proposed.contains("echo [secret:EXAMPLE_API_TOKEN]"), "{proposed}");
    nothing_kept(&scene.data());
}

#[test]
fn prompts_are_kept_for_the_arrow_keys_without_them() {
    let scene = scene().model_says(&["Done."]);
    let terminal = Terminal::open(&scene, &[]);
    terminal.shows("Type a prompt").types(&format!("use {VALUE}")).shows("Done.");
    terminal.types("/quit").exits(0);
    let kept = fs::read_to_string(scene.home().join(".local/state/interpreter/history.txt"));
    let kept = kept.unwrap();
    assert!(kept.contains("use [secret:EXAMPLE_API_TOKEN]") && !kept.contains(VALUE), "{kept}");
}

#[test]
fn secrets_beyond_the_bound_are_counted_where_a_session_begins() {
    let mut scene = scene();
    let code = "import os; print(os.environ.get('NONE', 'ran'))";
    let run = ["run", "-l", "python", "-c", code];
    scene.run(&run).mentions("ran").lacks("not redacted").exits(0);
    for number in 0..1_001 {
        scene = scene.variable(&format!("N{number}_TOKEN"), &format!("Zq8-{number:05}.vB7nK2rT"));
    }
    // With the two of the scene.
    scene.run(&run).mentions("not redacted, or only in part: 3.").exits(0);
}

#[test]
fn findings_hold_no_part_of_a_value_that_their_end_would_cut() {
    let scene = scene();
    let code = format!("open('{}{VALUE} {}')", "x ".repeat(242), "and so on ".repeat(20));
    let seen = clean(scene.run(&["run", "--json", "-l", "python", "-c", &code]));
    assert!(seen.of_kind("findings").len() == 1);
}

#[test]
fn an_example_in_the_code_of_a_model_stays() {
    let example = token();
    let scene =
        scene().model_says(&[&cell("python", &format!("print(len('{example}'))")), "Done."]);
    let seen = scene.chat(&["--yes", "--json", "go"]).mentions("\"40\\n\"").exits(0);
    let shown = seen.of_kind("proposal")[0]["code"].to_string();
    assert!(shown.contains(&example), "{shown}");
}

/// Everything that leaves the record has gone through the record, which holds neither of them. The
/// commands that explain code keep no record, and show its findings as a question would.
#[test]
fn exports_and_searches_hold_neither_of_them() {
    let scene = scene().model_says(&[
        &cell("python", &(parts() + "print('canary', v, t)")),
        &cell("shell", &format!("echo canary {VALUE}")),
        &format!("The canary is {VALUE}."),
    ]);
    let scene = scene
        .file("canary.py", format!("open('canary {VALUE}')\nopen('canary {}', 'w')\n", token()));
    let prompt = format!("tell me of canary {VALUE} and {}", token());
    clean(scene.chat(&["--yes", &prompt])).exits(0);
    for arguments in [
        &["audit", "export"][..],
        &["audit", "export", "--format", "ocsf"],
        &["history", "export", "--format", "md"],
        &["history", "export", "--format", "ipynb"],
        &["history", "export", "--format", "py"],
        &["history", "export", "--format", "sh"],
        &["history", "export", "--format", "jsonl"],
        &["history", "show", "--json"],
        &["history", "search", "canary"],
        &["run", "--explain", "canary.py"],
        &["run", "--explain", "--json", "canary.py"],
        &["rules", "test", "canary.py"],
        &["rules", "test", "--json", "canary.py"],
    ] {
        // Each of them shows what was there, with a name in place of the value; the Python code has
        // it in parts alone.
        let seen = scene.run(arguments).lacks(VALUE).mentions("canary").exits(0);
        let is_decided_on = arguments.last() == Some(&"canary.py");
        let seen = if is_decided_on { seen.mentions(&token()) } else { clean(seen) };
        if arguments.last() != Some(&"py") {
            seen.mentions("[secret:");
        }
    }
    for words in [VALUE, &VALUE[4..12], &token()] {
        scene.run(&["history", "search", words]).exits(1);
    }
    scene.run(&["audit", "export", "-o", "all.jsonl"]).exits(0);
    scene.run(&["audit", "verify", "--file", "all.jsonl"]).exits(0);
    nothing_kept(&scene.data());
}
