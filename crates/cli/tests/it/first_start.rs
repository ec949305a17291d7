//! The first start with something that is ready: whose model, and which one. The providers are
//! servers of the test, and some of them are hostile.

use crate::{models::servers::Plain, scene::Scene, terminal::Terminal};
use rustix::process::Signal;
use std::fs;

const KEY: &str = "sk-canary-0123456789";

/// A scene in which `openai` is at this address, with a key that must not be seen again.
fn openai_at(server: &Plain) -> Scene {
    Scene::new()
        .variable("OPENAI_BASE_URL", &format!("{}/v1", server.address))
        .variable("OPENAI_API_KEY", KEY)
}

fn config(scene: &Scene) -> Option<String> {
    fs::read_to_string(scene.home().join(".config/interpreter/config.toml")).ok()
}

/// A provider that answers with this body when it is asked for its models.
fn listing(status: &str, body: &str) -> Plain {
    Plain::answering(status, "application/json", body)
}

/// Every row is ours or marked as foreign, after the one with the key that was pressed.
#[track_caller]
fn assert_marked(terminal: &Terminal) {
    for row in terminal.rows().iter().skip(1) {
        let marked = row.is_empty() || row.starts_with("❚ ") || row.starts_with("  ");
        assert!(marked, "{row:?} in\n{}", terminal.rows().join("\n"));
    }
}

#[test]
fn a_key_leads_to_the_models_of_its_provider_and_the_choice_is_kept() {
    let models = ["gpt-4o", "gpt-4o-mini", "gpt-4.1", "whisper-1"];
    let server = Plain::serving(&models, "Hello from the list.");
    let scene = openai_at(&server);
    let terminal = Terminal::start(&scene, &[]);
    terminal.shows("No model is chosen. Ready to use:").shows("1  OpenAI, with your API key");
    terminal.shows("Which one?").lacks("OpenAI (responses)").waits();
    assert_eq!(server.asked().len(), 0, "nobody is asked before the person chose them");

    // The usual one first, and nothing that does not write.
    terminal.types("1").shows("OpenAI has 3 models.").shows(" 1  gpt-4.1").shows(" 2  gpt-4o");
    terminal.shows("Type a number, a name or part of one.").lacks("whisper");
    terminal.types("xyz").shows("No model of OpenAI has `xyz` in its name.");
    terminal.types("4o").shows("OpenAI has 3 models; 2 of them fit.").lacks("gpt-4.1");
    terminal.types("MINI").shows("openai/gpt-4o-mini is now your model, in ");
    terminal.shows("model   openai/gpt-4o-mini");
    terminal.types("hello").shows("Hello from the list.");
    terminal.types("/quit").exits(0);
    assert_eq!(config(&scene).unwrap(), "model = \"openai/gpt-4o-mini\"\n");
    let asked = server.asked();
    assert!(asked[0].starts_with("GET /v1/models ") && asked[0].contains(KEY), "{}", asked[0]);
    assert!(!String::from_utf8_lossy(&terminal.raw()).contains("canary"));

    // Nobody is asked again.
    let terminal = Terminal::start(&scene, &[]);
    terminal.shows("model   openai/gpt-4o-mini").lacks("No model is chosen");
    terminal.types("/quit").exits(0);
}

#[test]
fn a_list_that_cannot_be_had_is_explained_and_the_usual_model_is_used_this_once() {
    for (status, body, why) in [
        ("401 Unauthorized", r#"{"error":{"message":"no\u001b[2Jpe"}}"#, "refused the key"),
        ("404 Not Found", "nothing here", "sent no list of its models"),
        ("200 OK", "<html>not a list</html>", "sent no list of its models"),
        ("200 OK", r#"{"data":[{"id":"whisper-1"}]}"#, "it lists none"),
    ] {
        let server = listing(status, body);
        let scene = openai_at(&server);
        let terminal = Terminal::start(&scene, &[]);
        terminal.types("1").shows("The models of OpenAI cannot be shown: ").shows(why);
        terminal.shows("This session uses openai/gpt-4.1.").shows("model   openai/gpt-4.1");
        assert_marked(&terminal);
        terminal.types("/quit").exits(0);
        assert_eq!(config(&scene), None, "nobody chose it");
    }
    // Somebody who is not there.
    let scene = Scene::new()
        .variable("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
        .variable("OPENAI_API_KEY", KEY);
    let terminal = Terminal::start(&scene, &[]);
    terminal.types("1").shows("`127.0.0.1:1` cannot be reached");
    terminal.shows("This session uses openai/gpt-4.1.").types("/quit").exits(0);
}

#[test]
fn a_hostile_list_is_bounded_and_cannot_write_to_the_terminal() {
    let hostile = [
        "x\u{1b}[2J\u{1b}[HPWNED",
        "❚ PWNED?  y run",
        "a\nPWNED",
        "\u{202e}PWNED",
        &"PWNED".repeat(100),
        "good-1",
        "good-2",
    ];
    let server = Plain::serving(&hostile, "");
    for columns in [100, 40] {
        let scene = openai_at(&server);
        let terminal = Terminal::start_at(&scene, &[], columns);
        terminal.types("1").shows("OpenAI has 2 models.").shows(" 1  good-1").waits();
        assert_marked(&terminal);
        assert!(!String::from_utf8_lossy(&terminal.raw()).contains("PWNED"));
        terminal.presses(3).shows("no model is selected").exits(2);
    }

    let many: Vec<_> = (0..100_000).map(|at| format!("{{\"id\":\"m{at}\"}}")).collect();
    let server = listing("200 OK", &format!("{{\"data\":[{}]}}", many.join(",")));
    let scene = openai_at(&server);
    let terminal = Terminal::start(&scene, &[]);
    terminal.types("1").shows("OpenAI has 1000 models.").shows("… and 988 more.");
    terminal.types("99").shows("19 of them fit.").presses(3).exits(2);

    // A body without an end: more and more of it, in an answer that promises as much.
    let begun = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"data\":[";
    let endless = format!("{begun}{}", "{\"id\":\"name\"},".repeat(500_000));
    let server = Plain::saying(endless, String::new());
    let scene = openai_at(&server);
    let terminal = Terminal::start(&scene, &[]);
    terminal.types("1").shows("sent more than 4194304 bytes as");
    terminal.shows("This session uses openai/gpt-4.1.").types("/quit").exits(0);
}

/// Ctrl-C that was pressed a moment before the editor had the terminal is a signal, which may be
/// heeded when the editor has it.
#[test]
fn an_interrupt_that_comes_as_a_signal_ends_a_line_that_is_being_typed() {
    let scene = openai_at(&Plain::serving(&["good-1", "good-2"], ""));
    for typed in ["", "goo"] {
        let terminal = Terminal::start(&scene, &[]);
        terminal.types("1").shows("OpenAI has 2 models.").waits().goes_on(typed);
        terminal.shows(&format!("❚ ? {typed}")).signal(Signal::INT);
        terminal.shows("no model is selected").exits(2);
    }
}

#[test]
fn a_server_of_this_machine_is_offered_with_its_models() {
    let tags = r#"{"models":[{"name":"qwen:7b"},{"name":"nomic-embed-text"},{"name":"phi"}]}"#;
    let server = listing("200 OK", tags);
    let scene = Scene::new().variable("OLLAMA_HOST", server.address.trim_start_matches("http://"));
    // Hosted models are left out here: nothing else may be reached.
    let scene = scene.variable("OPENAI_API_KEY", KEY);
    let terminal = Terminal::start(&scene, &["--offline"]);
    terminal.shows("1  Ollama, which runs on this machine").lacks("OpenAI");
    terminal.types("1").shows("Ollama has 2 models.").types("phi");
    terminal.shows("ollama/phi is now your model").types("/quit").exits(0);
    assert_eq!(config(&scene).unwrap(), "model = \"ollama/phi\"\n");
}

#[test]
fn a_provider_without_a_list_is_asked_about_by_name() {
    let config = "[provider.azure]\nresource = 'res'\n";
    let scene = Scene::new()
        .variable("AZURE_OPENAI_API_KEY", KEY)
        .home_file(".config/interpreter/config.toml", config);
    let terminal = Terminal::start(&scene, &[]);
    terminal.types("1").shows("sent no list of its models").shows("Type the name of the model.");
    terminal.types("my-deployment").shows("azure/my-deployment is now your model");
    terminal.types("/quit").exits(0);
    let kept = self::config(&scene).unwrap();
    assert!(kept.contains("model = \"azure/my-deployment\"\n") && kept.contains("res"), "{kept}");
}

#[test]
fn no_means_no() {
    let server = Plain::serving(&["gpt-x"], "");
    let scene = openai_at(&server);
    let terminal = Terminal::start(&scene, &[]);
    terminal.types("n").shows("no model is selected").exits(2);
    assert_eq!((server.asked().len(), config(&scene)), (0, None));
    // Without a terminal nobody is asked at all.
    scene.run(&["hello"]).mentions("no model is selected").exits(2);
    assert_eq!(server.asked().len(), 0);
}

#[test]
fn a_provider_lists_its_models_by_name() {
    let server = Plain::serving(&["gpt-4o", "x\u{1b}[2J", "gpt-5"], "Hello.");
    let scene = openai_at(&server);
    scene.run(&["model", "list", "openai"]).prints("openai/gpt-4o\nopenai/gpt-5\n").exits(0);
    let seen = scene.run(&["model", "list", "openai", "--json"]).exits(0);
    let told: serde_json::Value = serde_json::from_str(&seen.stdout()).unwrap();
    assert_eq!(told, serde_json::json!({ "name": "openai", "models": ["gpt-4o", "gpt-5"] }));
    scene.run(&["model", "list", "embedded"]).mentions("embedded/qwen2.5-coder-1.5b\n").exits(0);
    scene.run(&["model", "list", "opnai"]).mentions("did you mean `openai`?").exits(2);
    scene.run(&["model", "list", "groq"]).mentions("put the API key into").exits(5);
    let broken = listing("401 Unauthorized", "{}");
    openai_at(&broken).run(&["model", "list", "openai"]).mentions("refused the key").exits(5);

    let terminal = Terminal::start(&scene, &["--model", "openai/gpt-5"]);
    terminal.types("/models openai").shows("openai/gpt-4o").shows("openai/gpt-5").waits();
    assert_marked(&terminal);
    terminal.types("/models opnai").shows("did you mean `openai`?");
    terminal.types("/quit").exits(0);
}
