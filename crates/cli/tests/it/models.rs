//! Models behind addresses, through the real program: every wire format against a server that is
//! not ours, keys that stay where they belong, and what can be said of models without a chat.

use crate::{pictures::red, scene::Scene};
use servers::{Llama, Mock, Plain, Tls};
use std::{fs, path::Path};

pub(crate) mod servers;

const KEY: &str = "sk-canary-0123456789";
const CONFIG: &str = ".config/interpreter/config.toml";

/// A scene in which every provider is this address, with a key that must not be seen again.
pub(crate) fn at(address: &str) -> Scene {
    at_with(address, "")
}

/// The same, with these settings.
fn at_with(address: &str, settings: &str) -> Scene {
    let config = format!(
        "{settings}[provider.openai]\nbase_url = '{address}/v1'\n\
         [provider.openai-responses]\nbase_url = '{address}/v1'\n\
         [provider.anthropic]\nbase_url = '{address}'\n\
         [provider.gemini]\nbase_url = '{address}/v1beta'\n\
         [provider.ollama]\nserver = '{address}'\n"
    );
    with_keys(Scene::new()).home_file(CONFIG, &config)
}

fn with_keys(scene: Scene) -> Scene {
    let variables = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OLLAMA_API_KEY"];
    variables.into_iter().fold(scene, |scene, name| scene.variable(name, KEY))
}

pub(crate) const FORMATS: [&str; 5] = [
    "openai/gpt-x",
    "openai-responses/gpt-x",
    "anthropic/claude-x",
    "gemini/gemini-2.5-x",
    "ollama/qwen",
];

/// Everything in the files of a folder.
fn everything_in(folder: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            all.extend(everything_in(&entry.path()));
        } else {
            all.extend(fs::read(entry.path()).unwrap_or_default());
        }
    }
    all
}

/// The key is nowhere: not printed, not on record, not in any file of ours.
fn no_key(scene: &Scene, printed: &str) {
    assert!(!printed.contains("canary-0123"), "{printed}");
    let kept = String::from_utf8_lossy(&everything_in(&scene.home())).into_owned();
    assert!(!kept.contains("canary-0123"), "the key is in a file");
}

#[test]
fn one_conversation_goes_through_every_format() {
    let Some(mock) = Mock::start() else { return };
    for model in FORMATS {
        let scene = at(&mock.address);
        let seen = scene.run(&["--model", model, "--yes", "--json", "two and two?"]).exits(0);
        assert_eq!(seen.of_kind("proposal")[0]["code"], "print(2+2)", "{model}");
        assert_eq!(seen.printed_by("p1"), "4\n", "{model}");
        let replies = seen.of_kind("reply");
        assert_eq!(replies[1]["text"], "The answer is four, héé 漢字 😀.", "{model}");
        assert_eq!(seen.of_kind("request")[0]["model"], model);
        no_key(&scene, &seen.stdout());
    }
}

#[test]
fn a_real_model_answers_in_every_format_that_llama_cpp_serves() {
    let Some(server) = Llama::start() else { return };
    for model in ["openai/any", "openai-responses/any", "anthropic/any"] {
        let scene = at_with(&server.address, "max_tokens = 24\ntemperature = 0\n");
        let seen = scene.run(&["--model", model, "--json", "--max-calls", "1", "Say hello."]);
        assert!(seen.of_kind("error").is_empty(), "{model}: {}", seen.stdout());
        let (reply, usage) = (&seen.of_kind("reply")[0], &seen.of_kind("usage")[0]);
        let text = reply["text"].as_str().unwrap();
        assert!(!text.is_empty() || !seen.of_kind("proposal").is_empty(), "{model}: {reply}");
        assert!((1..=24).contains(&usage["output"].as_u64().unwrap()), "{model}: {usage}");
        assert!(usage["input"].as_u64().unwrap() > 20, "{model}: {usage}");
        no_key(&scene, &seen.stdout());
    }
}

#[test]
fn a_model_is_tried_out_in_every_format() {
    let Some(mock) = Mock::start() else { return };
    for model in FORMATS {
        let scene = at(&mock.address);
        let seen = scene.run(&["model", "test", model, "--json"]).exits(0);
        let tried: serde_json::Value = serde_json::from_str(&seen.stdout()).unwrap();
        assert_eq!(tried["model"], model);
        for what in ["answers", "streams", "tools", "images"] {
            assert_eq!(tried[what]["works"], true, "{model} {what}: {tried}");
        }
        assert!(tried["first_ms"].is_u64(), "{tried}");
        scene
            .run(&["model", "test", model])
            .mentions("streams  yes")
            .mentions("first words")
            .exits(0);
    }
}

#[test]
fn a_key_that_is_refused_or_sent_back_is_nowhere_to_be_seen() {
    let body = format!("{{\"error\":{{\"message\":\"Incorrect API key provided: {KEY}\"}}}}");
    for model in FORMATS {
        let server = Plain::answering("401 Unauthorized", "application/json", &body);
        let scene = at(&server.address);
        let seen = scene.run(&["--model", model, "--json", "hello"]).exits(5);
        let error = &seen.of_kind("error")[0];
        assert!(error["message"].as_str().unwrap().contains("refused the key"), "{error}");
        assert!(error["hint"].as_str().unwrap().contains("_API_KEY"), "{error}");
        no_key(&scene, &seen.stdout());
        // It was there, after all.
        assert!(server.asked()[0].contains(KEY), "{model}");
    }
}

#[test]
fn a_failing_model_is_tried_again_and_then_another_is_asked() {
    let server = Plain::answering("404 Not Found", "text/plain", "no such model");
    let scene = at(&server.address).model_says(&["From the other."]);
    let script = scene.chat_arguments(&[])[1].clone();
    let config =
        format!("fallback = ['{script}']\n[provider.openai]\nbase_url = '{}'\n", server.address);
    let scene = scene.home_file(CONFIG, &config);
    let seen = scene.run(&["--model", "openai/gone", "--json", "hello"]).exits(0);
    let note = seen.of_kind("note")[0]["text"].as_str().unwrap().to_owned();
    assert!(note.contains("does not know the model `gone`"), "{note}");
    assert!(note.ends_with("asking scripted:script.toml instead"), "{note}");
    assert_eq!(seen.of_kind("reply")[0]["text"], "From the other.");
}

#[test]
fn offline_reaches_this_machine_and_nothing_else() {
    let scene = with_keys(Scene::new());
    scene
        .run(&["--offline", "--model", "openai/gpt-x", "hello"])
        .mentions("`api.openai.com` is not on this machine")
        .mentions("hint: choose a local model")
        .exits(5);
    scene
        .run(&["model", "test", "--offline", "groq/x"])
        .mentions("is not on this machine")
        .exits(5);
    let server = Plain::streaming("Hello from here.");
    at(&server.address)
        .run(&["--offline", "--model", "openai/gpt-x", "hello"])
        .mentions("Hello from here.")
        .exits(0);
    let code = "import socket; socket.create_connection(('192.0.2.1', 80), 2)";
    let explained =
        scene.run(&["run", "--offline", "--network", "open", "-l", "python", "-c", code]);
    explained.mentions("Error").exits(1);
}

#[test]
fn a_proxy_is_used_for_the_outside_and_never_for_this_machine() {
    let proxy = Plain::streaming("Through the proxy.");
    let direct = Plain::streaming("Directly.");
    let config = format!(
        "[provider.openai]\nbase_url = 'http://models.example.org/v1'\n\
         insecure_http = 'the proxy is next door'\n\
         [endpoint.here]\nbase_url = '{}/v1'\nformat = 'openai'\nmodel = 'm'\n",
        direct.address
    );
    let scene = with_keys(Scene::new())
        .home_file(CONFIG, &config)
        .variable("http_proxy", &proxy.address)
        .variable("HTTPS_PROXY", &proxy.address);
    scene.run(&["--model", "openai/x", "hello"]).mentions("Through the proxy.").exits(0);
    assert!(proxy.asked()[0].starts_with("POST http://models.example.org/v1/chat/completions"));
    scene.run(&["--model", "here", "hello"]).mentions("Directly.").exits(0);
    assert_eq!(proxy.asked().len(), 1);
}

#[test]
fn a_key_goes_over_plain_http_for_a_reason_or_not_at_all() {
    let proxy = Plain::streaming("Through the proxy.");
    for name in ["models.example.org", "10.0.0.5", "192.168.1.5:8080"] {
        let address = format!("base_url = 'http://{name}/v1'\n");
        let endpoint = "[endpoint.lab]\nformat = 'openai'\nmodel = 'm'\n";
        let scene = |more: &str| {
            let config = format!("{endpoint}{address}{more}");
            with_keys(Scene::new())
                .home_file(CONFIG, &config)
                .variable("http_proxy", &proxy.address)
        };
        let key = "key_variable = 'OPENAI_API_KEY'\n";
        let refused = scene(key).run(&["--model", "lab", "hello"]).exits(5);
        let host = name.split(':').next().unwrap();
        refused.mentions("`lab`").mentions(host).mentions("insecure_http").lacks(KEY);
        assert!(proxy.asked().is_empty(), "{name}: nothing was sent");
    }
    let reason = "insecure_http = 'a cable between two machines'\n";
    let config = "[endpoint.lab]\nformat = 'openai'\nmodel = 'm'\nkey_variable = 'OPENAI_API_KEY'\n\
                  base_url = 'http://10.0.0.5/v1'\n";
    let scene = with_keys(Scene::new())
        .home_file(CONFIG, &format!("{config}{reason}"))
        .variable("http_proxy", &proxy.address);
    let seen = scene.run(&["--model", "lab", "hello"]).exits(0);
    seen.mentions("Through the proxy.").mentions("(a cable between two machines)");
    let asked = proxy.asked();
    assert!(asked[0].contains(KEY), "the control: {asked:?}");
    // Without a reason in words it is none.
    for wrong in ["insecure_http = true\n", "insecure_http = ''\n"] {
        let scene = with_keys(Scene::new()).home_file(CONFIG, &format!("{config}{wrong}"));
        scene.run(&["--model", "lab", "hello"]).exits(2);
    }
}

#[test]
fn certificates_of_ones_own_are_taken_and_unknown_ones_are_not() {
    let Some(server) = Tls::start() else { return };
    let endpoint = format!(
        "[endpoint.here]\nbase_url = 'https://localhost:{}/v1'\nformat = 'openai'\nmodel = 'm'\n",
        server.port
    );
    let arguments = ["--model", "here", "hello"];
    let ca = server.ca();
    let with = format!("certificates = '{ca}'\n{endpoint}");
    let scene = || with_keys(Scene::new());
    scene().home_file(CONFIG, &with).run(&arguments).mentions("Over TLS.").exits(0);
    let scene_without = scene().home_file(CONFIG, &endpoint);
    scene_without.run(&arguments).mentions("cannot be reached").mentions("ertificate").exits(5);
    let scene_with_variable = scene_without.variable("SSL_CERT_FILE", &ca);
    scene_with_variable.run(&arguments).mentions("Over TLS.").exits(0);
    let not_pem = format!("certificates = '/etc/hostname'\n{endpoint}");
    let missing = format!("certificates = 'nowhere.pem'\n{endpoint}");
    scene().home_file(CONFIG, &missing).run(&arguments).mentions("`certificates`").exits(2);
    // A file without any certificate adds none.
    scene().home_file(CONFIG, &not_pem).run(&arguments).mentions("ertificate").exits(5);
}

#[test]
fn models_are_listed_with_keys_and_local_servers_and_a_project_adds_none() {
    let tags = "{\"models\":[{\"name\":\"qwen2.5-coder:1.5b\"},{\"name\":\"x\\u001b[2J\"}]}";
    let server = Plain::answering("200 OK", "application/json", tags);
    let own = "title='Mine'\nformat='openai'\nbase_url='https://mine.example.org/v1'\n\
               [key]\nvariables=['MINE_KEY']\n[[model]]\nname='*'\n";
    let scene = with_keys(Scene::new())
        .variable("OLLAMA_HOST", server.address.trim_start_matches("http://"))
        .variable("MINE_KEY", KEY)
        .home_file(".config/interpreter/providers/mine.toml", own)
        .file(".interpreter/providers/evil.toml", own);
    let seen = scene.run(&["model", "list"]).exits(0);
    let seen = seen.mentions("ollama/qwen2.5-coder:1.5b").mentions(r"ollama/x\u{1b}[2J");
    let seen =
        seen.mentions("Mine").mentions("no API key in XAI_API_KEY").lacks("evil").lacks("\u{1b}");
    no_key(&scene, &seen.stdout());
    // A server that is merely looked for is shown no key.
    assert!(server.asked()[0].starts_with("GET /api/tags") && !server.asked()[0].contains(KEY));

    let seen = scene.run(&["model", "list", "--json"]).exits(0);
    let rows: serde_json::Value = serde_json::from_str(&seen.stdout()).unwrap();
    let row = |name: &str| rows.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap();
    assert_eq!(row("ollama")["models"][0], "qwen2.5-coder:1.5b");
    assert_eq!((&row("mine")["ready"], &row("mine")["key"]), (&true.into(), &"set".into()));
    assert_eq!(row("xai")["variables"][0], "XAI_API_KEY");
    scene
        .run(&["--model", "evil/x", "hello"])
        .mentions("neither a provider nor an endpoint")
        .exits(2);
}

#[test]
fn a_wrong_provider_file_stops_and_says_where() {
    let wrong =
        "title='Mine'\nformat='openai'\nbase_url='https://h/v1'\nkye=1\n[[model]]\nname='*'\n";
    let scene = Scene::new().home_file(".config/interpreter/providers/mine.toml", wrong);
    scene.code("python", "1").mentions("providers/mine.toml:4:1: unknown key, expected").exits(2);
    let scene =
        Scene::new().file(".interpreter/config.toml", "[provider.openai]\nbase_url='http://h'\n");
    scene.code("python", "1").mentions("a project may not set `provider`").exits(2);
}

#[test]
fn an_endpoint_of_ones_own_says_what_its_models_can_do() {
    let server = Plain::streaming("Hello from here.");
    let endpoint = format!(
        "[endpoint.here]\nbase_url = '{}/v1'\nformat = 'openai'\nmodel = 'm'\n",
        server.address
    );
    let body = |at: usize| {
        let asked = server.asked();
        let body = &asked[at][asked[at].find('{').unwrap()..];
        serde_json::from_str::<serde_json::Value>(body).unwrap()
    };
    let arguments = ["--model", "here", "--json", "--image", "red.png", "which colour?"];
    let scene = |more: &str| {
        let scene = Scene::new().home_file(CONFIG, &format!("{endpoint}{more}\n"));
        scene.file("red.png", red())
    };
    let seen = scene("").run(&arguments).exits(0);
    assert!(seen.stdout().contains("the model does not see pictures"));
    assert!(body(0).get("tools").is_some() && !body(0).to_string().contains("image_url"));
    scene("images = true").run(&arguments).lacks("does not see pictures").exits(0);
    assert!(body(1).to_string().contains("image_url"));
    scene("small = true").run(&["--model", "here", "hello"]).exits(0);
    let small = body(2);
    assert!(small.get("tools").is_none() && small["messages"].as_array().unwrap().len() > 10);
    assert_eq!((&small["temperature"], &small["max_tokens"]), (&0.0.into(), &512.into()));
    let narrow = scene("context = 2048").file("AGENTS.md", "Be brief. ".repeat(200));
    narrow.run(&["trust", "--yes"]).exits(0);
    narrow.run(&["--model", "here", "hello"]).mentions("more than a quarter").exits(0);
    scene("context = 3").run(&arguments).mentions("`context` is the context window").exits(2);
}

#[test]
fn a_conversation_that_is_too_long_and_cannot_be_less_is_not_sent_again() {
    let body = r#"{"error":{"code":"context_length_exceeded","message":"too many tokens"}}"#;
    let server = Plain::answering("400 Bad Request", "application/json", body);
    let scene = at(&server.address);
    let seen = scene.run(&["--model", "openai/gpt-x", "--json", "hello"]).exits(5);
    assert_eq!(server.asked().len(), 1, "there is nothing to shorten");
    assert_eq!(seen.of_kind("error").len(), 1);
    assert_eq!(seen.of_kind("turn_finished")[0]["end"], "model_failed");
}
