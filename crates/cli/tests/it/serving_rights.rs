//! Callers who have not all rights, and sessions that come from others: none gets further than it
//! may.

use crate::{
    protocol_client::{Client, Server, scripted},
    scene::Scene,
    serving::{Serving, WebSocket},
};
use serde_json::{Value, json};
use std::collections::VecDeque;

/// A token with these rights.
fn token(scene: &Scene, name: &str, rights: &[&str]) -> String {
    let rights = rights.iter().flat_map(|right| ["--right", right]);
    let arguments: Vec<_> = ["serve", "token", "new", name].into_iter().chain(rights).collect();
    scene.run(&arguments).exits(0).stdout().trim().to_owned()
}

/// Has a verb performed for whoever has this token.
fn perform(serving: &Serving, token: &str, verb: &str, fields: &Value) -> Value {
    let mut request = fields.clone();
    (request["id"], request["do"]) = (1.into(), verb.into());
    let line = format!("Authorization: Bearer {token}");
    let answer = serving.post("/v1/do", &[&line], &request.to_string());
    serde_json::from_str(&answer.body).unwrap_or_else(|error| panic!("{error}: {answer:?}"))
}

#[track_caller]
fn performed(serving: &Serving, token: &str, verb: &str, fields: &Value) -> Value {
    let reply = perform(serving, token, verb, fields);
    assert!(reply.get("ok").is_some(), "{verb}: {reply}");
    reply["ok"].clone()
}

#[track_caller]
fn refused(serving: &Serving, token: &str, verb: &str, fields: &Value) {
    let reply = perform(serving, token, verb, fields);
    assert_eq!(reply["error"]["code"], "not_allowed", "{verb}: {reply}");
}

/// A session that runs code, and its records as they come.
struct Followed {
    session: Value,
    socket: WebSocket,
    lines: VecDeque<Value>,
}

impl Followed {
    fn open(serving: &Serving) -> Self {
        let opened = performed(serving, &serving.token, "open", &json!({ "mode": "run" }));
        let session = opened["session"].clone();
        let bearer = serving.bearer();
        let socket = WebSocket::open(serving, &[&bearer]).unwrap_or_else(|seen| panic!("{seen:?}"));
        let mut followed = Self { session, socket, lines: VecDeque::new() };
        let subscribe =
            json!({ "id": 1, "do": "subscribe", "session": followed.session, "after": 0 });
        followed.socket.say(&subscribe.to_string());
        followed.record("session_started");
        followed
    }

    #[track_caller]
    fn record(&mut self, kind: &str) -> Value {
        loop {
            while let Some(line) = self.lines.pop_front() {
                if line["kind"] == kind {
                    return line;
                }
            }
            let Some(text) = self.socket.hear() else { panic!("it ended before `{kind}`") };
            self.lines.extend(text.lines().map(|line| serde_json::from_str(line).unwrap()));
        }
    }

    /// Runs code that stages something, and gives the question about it.
    #[track_caller]
    fn stage(&mut self, serving: &Serving, code: &str) -> Value {
        let run = json!({ "session": self.session, "language": "python", "code": code });
        performed(serving, &serving.token, "run", &run);
        self.record("question")
    }

    fn answer(question: &Value, decision: &str) -> Value {
        json!({
            "session": question["session"], "question": question["id"], "hash": question["hash"],
            "decision": decision,
        })
    }
}

#[test]
fn whoever_may_only_answer_changes_no_file() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let answers = token(&scene, "reviewer", &["answer"]);
    let mut followed = Followed::open(&serving);
    let question = followed.stage(&serving, "open('new', 'w').write('x')");
    assert_eq!(question["about"], "changes");
    for decision in ["apply", "discard"] {
        refused(&serving, &answers, "answer", &Followed::answer(&question, decision));
    }
    performed(&serving, &answers, "answer", &Followed::answer(&question, "later"));
    followed.record("turn_finished");
    assert_eq!(scene.read("new"), None);
    // And with the right for it.
    let both = token(&scene, "editor", &["answer", "change"]);
    let question = followed.stage(&serving, "open('other', 'w').write('y')");
    performed(&serving, &both, "answer", &Followed::answer(&question, "apply"));
    followed.record("turn_finished");
    assert_eq!((scene.read("new"), scene.read("other")), (Some("x".into()), Some("y".into())));
}

#[test]
fn whoever_watches_keeps_nobody_from_applying() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let watches = token(&scene, "eye", &["watch"]);
    let mut followed = Followed::open(&serving);
    let mut stage = |code: &str| {
        let question = followed.stage(&serving, code);
        let later = Followed::answer(&question, "later");
        performed(&serving, &serving.token, "answer", &later);
        followed.record("turn_finished");
    };
    stage("open('a', 'w').write('1')");
    let session = followed_session(&serving);
    let of = json!({ "session": session });
    let look = |token: &str| performed(&serving, token, "changes", &of)["id"].clone();
    // Without a snapshot whoever watches sees what is staged, and that is nobody's decision.
    let first = look(&watches);
    assert_eq!(look(&serving.token), first);
    let records =
        || performed(&serving, &watches, "list", &json!({}))["sessions"][0]["seq"].clone();
    let before = records();
    assert_eq!([look(&watches), look(&watches)], [first.clone(), first.clone()]);
    assert_eq!(records(), before, "watching is not on record");
    // The same for somebody who may decide: nothing has changed.
    assert_eq!(look(&serving.token), first);
    stage("open('b', 'w').write('2')");
    let second = look(&serving.token);
    assert_ne!(second, first);
    assert_eq!(look(&watches), second);
    let apply = |id: &Value| json!({ "session": session, "changes": id });
    assert_eq!(
        perform(&serving, &serving.token, "apply", &apply(&first))["error"]["code"],
        "look_again"
    );
    performed(&serving, &serving.token, "apply", &apply(&second));
    assert_eq!((scene.read("a"), scene.read("b")), (Some("1".into()), Some("2".into())));
}

/// The id of the only session.
fn followed_session(serving: &Serving) -> Value {
    let listed = performed(serving, &serving.token, "list", &json!({}));
    listed["sessions"][0]["session"].clone()
}

#[test]
fn another_folder_takes_the_right_to_answer() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let prompts = token(&scene, "hand", &["watch", "prompt"]);
    let (here, other) = (scene.work(), scene.home().join("other"));
    fs_err::create_dir(&other).unwrap();
    let open = |folder: &std::path::Path| json!({ "folder": folder, "mode": "run" });
    performed(&serving, &prompts, "open", &json!({ "mode": "run" }));
    performed(&serving, &prompts, "open", &open(&here));
    refused(&serving, &prompts, "open", &open(&other));
    let there = performed(&serving, &serving.token, "open", &open(&other));
    refused(&serving, &prompts, "fork", &json!({ "session": there["session"] }));
    performed(&serving, &serving.token, "close", &json!({ "session": there["session"] }));
    refused(&serving, &prompts, "resume", &json!({ "session": there["session"] }));
}

#[test]
fn a_session_that_comes_from_another_reaches_no_further() {
    let scene = scripted(Scene::new().model_says(&["Hello."]));
    let started = |more: &[&str]| {
        let seen = scene.chat(&[&["--json"], more, &["hello"]].concat()).exits(0);
        seen.of_kind("session_started")[0]["session"].as_str().unwrap().to_owned()
    };
    let narrow = started(&["--workspace", "read-only", "--network", "none"]);
    let usual = started(&[]);
    let (_server, mut client) = Server::stdio(&scene);
    let mut bounds = |verb: &str, session: &str| {
        let new = client.ok(verb, json!({ "session": session }))["session"].clone();
        client.ok("subscribe", json!({ "session": new, "after": 0 }));
        let of_it = |line: &Value| line["session"] == new && line["kind"] == "session_started";
        let started = client.wait_for(of_it);
        let confinement = &started["confinement"];
        let is_reached = confinement["environment"].get("http_proxy").is_some();
        (confinement["workspace"].as_str().unwrap().to_owned(), is_reached)
    };
    for verb in ["fork", "resume"] {
        assert_eq!(bounds(verb, &narrow), ("read-only".into(), false), "{verb}");
        assert_eq!(bounds(verb, &usual), ("stage".into(), true), "{verb}");
    }
}

#[test]
fn a_conversation_goes_to_no_model_that_has_not_heard_it() {
    let scene = Scene::new();
    let settings = |name: &str| {
        let script = scene.home().join(name);
        scene.put(&script, b"[[reply]]\ntext = \"Hello.\"\n");
        let config = format!("model = 'scripted:{}'\n", script.display());
        scene.put(&scene.home().join(".config/interpreter/config.toml"), config.as_bytes());
    };
    settings("other.toml");
    let (mut server, mut client) = Server::stdio(&scene);
    let session = client.open(json!({ "model": "scripted:other.toml" }));
    client.ok("prompt", json!({ "session": session, "text": "a secret" }));
    client.record("turn_finished");
    // The server knows how it was opened.
    client.ok("fork", json!({ "session": session }));
    client.end_input();
    client.rest();
    server.wait();
    // And another one knows its record. The same name leads nowhere once the settings do not have it.
    settings("script.toml");
    let (_server, mut client) = Server::stdio(&scene);
    for verb in ["fork", "resume"] {
        assert_eq!(client.refused(verb, json!({ "session": session })), "no_model");
    }
}

#[test]
fn the_record_names_who_begins_and_ends_a_session() {
    let scene = scripted(Scene::new().model_says(&["Hello."]));
    let (mut server, mut client) = Server::stdio(&scene);
    let session = client.open(json!({}));
    assert_eq!(client.record("session_started")["who"], "stdio");
    client.ok("prompt", json!({ "session": session, "text": "hello" }));
    client.record("turn_finished");
    client.ok("close", json!({ "session": session }));
    let again = client.ok("resume", json!({ "session": session }))["session"].clone();
    client.ok("subscribe", json!({ "session": again, "after": 0 }));
    assert_eq!(client.record("resumed")["who"], "stdio");
    client.ok("shut", json!({}));
    let rest = client.rest();
    let ended =
        rest.iter().find(|line| line["kind"] == "session_ended" && line["session"] == again);
    assert_eq!(ended.unwrap()["who"], "stdio");
    assert!(server.wait().success());
}

/// Two files of two hunks each, one line of which changes at either end.
const TWO_HUNKS: &str = "for name in ('a', 'b'):\n    lines = open(name).read().split()\n    lines[0] = lines[-1] = 'new'\n    open(name, 'w').write('\\n'.join(lines) + '\\n')";

#[test]
fn hunks_that_were_not_shown_are_not_picked() {
    let text: String = (0..40).map(|n| format!("line{n}\n")).collect();
    let scene = Scene::new().file("a", &text).file("b", &text);
    let (_server, mut client): (_, Client) = Server::stdio(&scene);
    let session = client.open(json!({ "mode": "run" }));
    client.run(&session, "python", TWO_HUNKS);
    let part = client.ok("changes", json!({ "session": session, "path": "a" }));
    assert_eq!(client.record("diff_shown")["who"], "stdio");
    let whole = part["id"].as_str().unwrap().strip_suffix(":a").unwrap().to_owned();
    let apply = |path: &str| json!({ "session": session, "changes": whole, "picks": [{ "path": path, "hunks": [1] }] });
    assert_eq!(client.refused("apply", apply("b")), "refused");
    assert_eq!(scene.read("b"), Some(text.clone()));
    let shown = client.ok("changes", json!({ "session": session }));
    assert_eq!(shown["id"], whole.as_str(), "nothing has changed");
    client.ok("apply", apply("b"));
    let b = scene.read("b").unwrap();
    assert!(b.starts_with("new\nline1\n") && b.ends_with("line39\n"), "{b}");
}
