//! Models that clients of the server name: only those on its list, by every way in.
//!
//! The server has files that it can read and that are not for clients. A client names them in every
//! form that leads to a file somewhere in the program; nothing of them comes back. The control is the
//! server's own model, by its name.

use crate::{
    api::{Caller, new_token},
    models::servers::Plain,
    people::{Member, team},
    protocol_client::{Client, Server, scripted},
    scene::Scene,
    serving::{Serving, WebSocket},
};
use rustix::{
    fs::{CWD, FileType, FlockOperation, Mode, flock, mknodat},
    process::Signal,
};
use serde_json::{Value, json};
use std::path::PathBuf;

const CANARY: &str = "kq7Rw2Zx9CANARYtV4mN8bL1cY6";
const CONFIG: &str = ".config/interpreter/config.toml";

/// A server with a model of its own, beside files that hold the canary in every form that a parser
/// may quote.
fn scene() -> Scene {
    let scene = Scene::new().model_says(&["Hello.", "Hello.", "Hello.", "Hello.", "Hello."]);
    let scene = scripted(scene)
        .variable("EXAMPLE_SETTING", CANARY)
        .home_file("secret/passwd", &format!("root:{CANARY}:0:0\n"))
        .home_file("secret/value.toml", &format!("reply = \"{CANARY}\"\n"))
        .home_file("secret/key.toml", &format!("{CANARY} = 1\n"))
        .home_file("secret/finish.toml", &format!("[[reply]]\nfinish = \"{CANARY}\"\n"))
        .home_file("secret/whole.toml", &format!("[[reply]]\ntext = \"{CANARY}\"\n"));
    let pipe = scene.home().join("secret/pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::from(0o600), 0).unwrap();
    scene
}

/// Words for a model that lead to a file, a device or an address.
fn words(scene: &Scene) -> Vec<String> {
    let secret = scene.home().join("secret");
    let names = ["passwd", "value.toml", "key.toml", "finish.toml", "whole.toml", "pipe", "none"];
    let mut paths: Vec<PathBuf> = names.iter().map(|name| secret.join(name)).collect();
    paths.extend(["/proc/self/environ", "/dev/ptmx", "/dev/zero", "/etc/passwd"].map(Into::into));
    let own = &scene.chat_arguments(&[])[1];
    let mut words = vec![
        own.clone(),
        own.replace("script.toml", "../home/secret/whole.toml"),
        "scripted:../home/secret/whole.toml".into(),
        "scripted:".into(),
        "http://127.0.0.1:9/v1".into(),
    ];
    for path in paths {
        words.push(format!("scripted:{}", path.display()));
        words.push(format!("file://{}", path.display()));
        words.push(path.display().to_string());
    }
    words
}

/// Refused, with nothing of a file, and the same whatever is at the path.
#[track_caller]
fn is_refused(word: &str, error: &Value) {
    let message = error["message"].as_str().unwrap_or_else(|| panic!("{word}: {error}"));
    assert_eq!(error["code"], "no_model", "{word}: {error}");
    let hidden = message.replace(word, "WORD");
    assert!(!error.to_string().contains("CANARY"), "{word}: {error}");
    assert!(message.starts_with("no model `"), "{word}: {error}");
    assert!(word.len() > 79 || hidden == "no model `WORD` is offered", "{word}: {error}");
    let hint = error["hint"].as_str().unwrap_or_else(|| panic!("{word}: {error}"));
    assert!(hint.contains("offered: `scripted:script.toml`"), "{word}: {error}");
}

#[test]
fn a_token_to_prompt_names_no_file_by_any_way_in() {
    let scene = scene();
    let serving = Serving::start(&scene);
    let caller = Caller { serving: &serving, token: new_token(&scene, "hand", "watch,prompt") };
    let mut socket =
        WebSocket::open(&serving, &[&caller.token]).unwrap_or_else(|seen| panic!("{seen:?}"));
    for word in words(&scene) {
        let open = json!({ "id": 1, "do": "open", "model": word });
        is_refused(&word, &caller.ask("POST", "/v1/do", Some(&open)).1["error"]);
        socket.say(&open.to_string());
        let heard: Value = serde_json::from_str(&socket.hear().unwrap()).unwrap();
        is_refused(&word, &heard["error"]);
        let body = json!({ "model": word });
        let (status, seen) = caller.ask("POST", "/v1/sessions", Some(&body));
        assert_eq!(status, 409, "{word}: {seen}");
        is_refused(&word, &seen["error"]);
        let chat = json!({ "model": word, "messages": [{ "role": "user", "content": "hi" }] });
        let answer = json!({ "model": word, "input": "hi" });
        for (target, body) in [("/v1/chat/completions", chat), ("/v1/responses", answer)] {
            for stream in [false, true] {
                let mut body = body.clone();
                body["stream"] = stream.into();
                let (status, seen) = caller.ask("POST", target, Some(&body));
                assert!(status >= 400, "{target} {word}: {seen}");
                assert!(!seen.to_string().contains("CANARY"), "{target} {word}: {seen}");
            }
        }
        let kernel = json!({ "name": "python", "model": word, "path": word });
        let (_, seen) = caller.ask("POST", "/api/kernels", Some(&kernel));
        assert!(!seen.to_string().contains("CANARY"), "{word}: {seen}");
    }
    assert!(!serving.errors.text().contains("CANARY"), "{}", serving.errors.text());
    // The control: by its name on the list.
    let models = caller.get("/v1/models");
    assert_eq!(models["current"], "scripted:script.toml", "{models}");
    for name in ["scripted:script.toml", "interpreter"] {
        let body = json!({ "model": name, "messages": [{ "role": "user", "content": "hi" }] });
        let seen = caller.ok("POST", "/v1/chat/completions", body);
        assert_eq!(seen["choices"][0]["message"]["content"], "Hello.", "{name}: {seen}");
    }
    caller.open(json!({ "model": "scripted:script.toml" }));
    assert!(serving.stop().success());
}

#[test]
fn an_author_of_a_team_names_no_file() {
    let scene = scene();
    let serving = team(&scene, &[("anna", "author"), ("wim", "approver")]);
    let anna = Member::new(&serving, "anna");
    let wim = Member::new(&serving, "wim");
    let mine = wim.open("chat");
    for word in words(&scene) {
        is_refused(&word, &anna.perform("open", json!({ "model": word }))["error"]);
        // Whoever may switch the model of a session names no file either.
        let switch = json!({ "session": mine, "model": word });
        is_refused(&word, &wim.perform("prompt", switch)["error"]);
    }
    // The control.
    anna.ok("open", json!({ "model": "scripted:script.toml" }));
    wim.ok("prompt", json!({ "session": mine, "model": "scripted:script.toml" }));
    assert!(serving.stop().success());
}

#[test]
fn a_model_of_an_endpoint_is_offered_if_that_lists_it() {
    let listing = Plain::streaming("From the list.");
    let config = format!(
        "[endpoint.here]\nbase_url = '{}/v1'\nformat = 'openai'\nmodel = 'm'\n",
        listing.address
    );
    let scene = scripted(Scene::new().home_file(CONFIG, &config).model_says(&["Hello."]));
    let (_server, mut client): (_, Client) = Server::stdio(&scene);
    let models = client.ok("look", json!({ "at": "models" }));
    let offered = models["offered"].as_array().unwrap();
    assert_eq!(offered[..2], [json!("scripted:script.toml"), json!("here/m")]);
    for name in ["here", "here/m"] {
        client.open(json!({ "model": name }));
    }
    // This one lists nothing.
    assert_eq!(client.refused("open", json!({ "model": "here/other" })), "no_model");
}

/// Whatever the server's own settings name, the server ends when it is asked to.
#[test]
fn a_pipe_in_place_of_the_servers_own_script_keeps_nobody_waiting() {
    let scene = Scene::new();
    let pipe = scene.home().join("pipe.toml");
    scene.put(&pipe, b"");
    fs_err::remove_file(&pipe).unwrap();
    mknodat(CWD, &pipe, FileType::Fifo, Mode::from(0o644), 0).unwrap();
    for named in [pipe.display().to_string(), "/dev/ptmx".into(), "/dev/zero".into()] {
        let config = format!("model = 'scripted:{named}'\n");
        scene.put(&scene.home().join(CONFIG), config.as_bytes());
        let (mut server, mut client) = Server::stdio(&scene);
        let refused = client.request("open", json!({}));
        let told = refused["error"]["message"].as_str().unwrap_or_default();
        assert!(told.contains("it is not a regular file"), "{named}: {refused}");
        server.signal(Signal::TERM);
        client.rest();
        server.wait();
    }
}

/// Something that never answers keeps a session from beginning: here a lock that nobody gives back.
#[test]
fn work_that_never_ends_does_not_keep_the_server() {
    let scene = Scene::new();
    scene.code("shell", "true").exits(0);
    let running = std::fs::File::open(scene.data().join("running")).unwrap();
    let (mut server, mut client) = Server::stdio(&scene);
    client.ok("list", json!({}));
    flock(&running, FlockOperation::LockExclusive).unwrap();
    client.send(&json!({ "id": "stuck", "do": "open", "mode": "run" }));
    // Another request is answered, so that one is under way.
    client.ok("look", json!({ "at": "me" }));
    server.signal(Signal::TERM);
    client.rest();
    server.wait();
}
