//! Attacks by text that a shape of a secret would hide from whoever decides: commands in code, lines
//! in a diff, the name of a host. Each is shown whole, on every surface, and is on record as it was
//! done. The control is a known value, which is masked, named, and left out of every wider answer.

use crate::{
    protocol_client::{Server, scripted},
    scene::{Scene, cell},
    terminal::Terminal,
};
use serde_json::{Value, json};

/// A value in the user's own environment.
const VALUE: &str = "Zq8-Wx3_Lm5.vB7nK2rT";

const BASE64: &str = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";

/// Commands between a header of a key and something like its content.
fn hides_commands() -> String {
    format!(
        "echo start\n: -----BEGIN PRIVATE KEY-----\ntouch EVIL7391\n: {BASE64}\n\
         Y_TOKEN=A1b2C3d4E5f6G7h8&touch OTHER7391&\nwait; echo done\n"
    )
}

/// Code that stages a script in which such lines stand.
fn stages_a_script() -> String {
    let script = hides_commands().replace('\n', "\\n");
    format!("open('job.sh', 'w').write(\"{script}\")")
}

const HIDDEN: [&str; 2] = ["touch EVIL7391", "touch OTHER7391"];

fn all_in(text: &str) -> bool {
    HIDDEN.iter().all(|part| text.contains(part))
}

#[test]
fn a_diff_shows_every_line_that_lands() {
    let scene = Scene::new();
    scene.code("python", &stages_a_script()).exits(0);
    let diff = scene.run(&["changes", "diff"]).exits(0).stdout();
    assert!(all_in(&diff), "{diff}");
    scene.run(&["changes", "apply"]).exits(0);
    assert_eq!(scene.read("job.sh").unwrap(), hides_commands());
    // In a chat.
    let scene = Scene::new().model_says(&[&cell("python", &stages_a_script()), "Done."]);
    let terminal = Terminal::open(&scene, &["--yes", "go"]);
    terminal.shows("Keep this change").types("s").shows("+touch EVIL7391").shows("touch OTHER7391");
    terminal.shows("Keep this change").types("h").shows("+touch EVIL7391").types("q");
    terminal.shows("Keep this change").types("l").types("/quit").ends();
}

#[test]
fn a_question_shows_the_code_that_runs_and_so_does_the_record() {
    let code = hides_commands();
    let scene = Scene::new().model_says(&[&cell("shell", &code), "Done."]);
    let seen = scene.chat(&["--yes", "--json", "go"]).exits(0);
    for kind in ["proposal", "findings"] {
        assert_eq!(seen.of_kind(kind).len(), 1);
    }
    assert_eq!(
        seen.of_kind("proposal")[0]["code"].as_str().map(str::trim_end),
        Some(code.trim_end())
    );
    let shown = scene.run(&["history", "show"]).exits(0).stdout();
    assert!(all_in(&shown), "{shown}");
    // In a terminal.
    let scene = Scene::new().model_says(&[&cell("shell", &code), "Done."]);
    let terminal = Terminal::open(&scene, &["go"]);
    terminal.shows("Run it?").has("touch EVIL7391");
    terminal.shows("touch OTHER7391").types("n").types("/quit").ends();
}

#[test]
fn a_client_of_the_protocol_decides_on_the_same_text() {
    let code = hides_commands();
    let scene = scripted(Scene::new().model_says(&[&cell("shell", &code), "Done."]));
    let (_server, mut client) = Server::stdio(&scene);
    let session = client.open(json!({}));
    client.ok("prompt", json!({ "session": session, "text": "go" }));
    let question = client.record("question");
    assert!(all_in(question["code"].as_str().unwrap()), "{question}");
    assert!(client.answer(&question, json!({ "decision": "run" })).get("ok").is_some());
    let staged = client.wait_for(|line| line["about"] == "changes");
    assert!(client.answer(&staged, json!({ "decision": "later" })).get("ok").is_some());
    client.record("turn_finished");
    let changes = client.ok("changes", json!({ "session": session }));
    let names: Vec<_> =
        changes["files"].as_array().unwrap().iter().map(|one| &one["path"]).collect();
    assert_eq!(names, ["EVIL7391", "OTHER7391"]);
    client.run(&session, "python", &stages_a_script());
    let changes = client.ok("changes", json!({ "session": session }));
    assert!(all_in(&hunks(&changes)), "{changes}");
}

fn hunks(changes: &Value) -> String {
    let files = changes["files"].as_array().unwrap();
    files.iter().map(|file| format!("{}{}", file["head"], file["hunks"])).collect()
}

/// The control: a value that is known is masked, named, and takes an answer to itself.
#[test]
fn a_known_value_is_masked_and_left_out_of_wider_answers() {
    let scene = scripted(Scene::new().model_says(&["Hello."]).variable("EXAMPLE_API_TOKEN", VALUE));
    let (_server, mut client) = Server::stdio(&scene);
    let session = client.open(json!({}));
    let code = format!("open('conf.txt', 'w').write('key={VALUE}')\nopen('a.txt', 'w').write('a')");
    client.run(&session, "python", &code);
    let changes = client.ok("changes", json!({ "session": session }));
    assert!(!changes.to_string().contains(VALUE), "{changes}");
    assert_eq!(changes["files"].as_array().unwrap().len(), 1);
    assert_eq!(changes["left_out"][0]["masked"], json!(["EXAMPLE_API_TOKEN"]));
    let left_out = changes["left_out"][0].to_string();
    assert!(
        left_out.contains("conf.txt") && left_out.contains("`EXAMPLE_API_TOKEN`"),
        "{left_out}"
    );
    client.ok("apply", json!({ "session": session, "changes": changes["id"] }));
    assert_eq!((scene.read("a.txt").as_deref(), scene.read("conf.txt")), (Some("a"), None));
    let changes = client.ok("changes", json!({ "session": session }));
    let picks = json!([{ "path": "conf.txt" }]);
    client.ok("apply", json!({ "session": session, "changes": changes["id"], "picks": picks }));
    assert_eq!(scene.read("conf.txt").unwrap(), format!("key={VALUE}"));
}

#[test]
fn a_host_is_asked_about_and_recorded_by_its_name() {
    let name = "glrtr-q1w2e3r4t5y6u7i8o9p0a1s2.evil.example";
    let code = format!(
        "import urllib.request as r\ntry: r.urlopen('http://{name}/', timeout=20)\n\
         except OSError: print('failed')"
    );
    let scene = scripted(Scene::new().model_says(&["Hello."]));
    let (_server, mut client) = Server::stdio(&scene);
    let session = client.open(json!({}));
    client.ok("run", json!({ "session": session, "language": "python", "code": code }));
    let question = client.record("question");
    assert_eq!((&question["about"], &question["host"]), (&json!("host"), &json!(name)));
    assert!(client.answer(&question, json!({ "decision": "refuse" })).get("ok").is_some());
    assert_eq!(client.record("host_refused")["host"], name);
    assert_eq!(client.record("effects")["network"][0]["host"], name);
}
