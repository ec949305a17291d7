//! The API for programs: its routes, their refusals, and records as events.

use crate::{
    protocol_client::scripted,
    scene::{Scene, cell, without},
    serving::{Answer, Serving},
};
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    process::Command,
};

/// Fetched by `scripts/test`.
const TOOLS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/test-tools/api/bin");
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A token with these rights.
pub(crate) fn new_token(scene: &Scene, name: &str, rights: &str) -> String {
    let made = scene.run(&["serve", "token", "new", name, "--right", rights]).exits(0);
    format!("Authorization: Bearer {}", made.stdout().trim())
}

/// A server, and somebody who uses it.
pub(crate) struct Caller<'a> {
    pub(crate) serving: &'a Serving,
    pub(crate) token: String,
}

impl Caller<'_> {
    pub(crate) fn ask(&self, method: &str, target: &str, body: Option<&Value>) -> (u16, Value) {
        let seen = ask(self.serving, method, target, &[&self.token], body);
        (seen.status, serde_json::from_str(&seen.body).unwrap_or_default())
    }

    #[track_caller]
    pub(crate) fn ok(&self, method: &str, target: &str, body: Value) -> Value {
        let body = (method == "POST").then_some(body);
        let (status, answer) = self.ask(method, target, body.as_ref());
        assert!((200..300).contains(&status), "{method} {target}: {status} {answer}");
        answer
    }

    pub(crate) fn get(&self, target: &str) -> Value {
        self.ok("GET", target, Value::Null)
    }

    pub(crate) fn open(&self, body: Value) -> String {
        let opened = self.ok("POST", "/v1/sessions", body);
        opened["session"].as_str().unwrap().to_owned()
    }

    fn events(&self, session: &str, after: u64) -> Events {
        Events::open(self.serving, session, &[&self.token, &format!("Last-Event-ID: {after}")])
    }

    /// Waits for the first record of a kind.
    #[track_caller]
    fn record(&self, session: &str, kind: &str) -> Value {
        self.record_after(session, 0, kind)
    }

    /// The same, behind a place.
    #[track_caller]
    pub(crate) fn record_after(&self, session: &str, after: u64, kind: &str) -> Value {
        let mut events = self.events(session, after);
        loop {
            let event = events.next().expect("the stream ended");
            if event["kind"] == kind {
                return event;
            }
        }
    }
}

fn ask(
    serving: &Serving,
    method: &str,
    target: &str,
    more: &[&str],
    body: Option<&Value>,
) -> Answer {
    let (first, host) = (format!("{method} {target} HTTP/1.1"), serving.host());
    let mut head = vec![first.as_str(), &host, "Connection: close"];
    if body.is_some() {
        head.push("Content-Type: application/json");
    }
    let body = body.map(Value::to_string).unwrap_or_default();
    serving.send(&[&head[..], more].concat(), &body)
}

/// Records as events.
pub(crate) struct Events {
    stream: BufReader<TcpStream>,
    text: String,
    pub(crate) status: u16,
    beats: u32,
}

impl Events {
    pub(crate) fn open(serving: &Serving, session: &str, more: &[&str]) -> Self {
        let mut stream = serving.connect();
        let first = format!("GET /v1/sessions/{session}/records HTTP/1.1");
        let host = serving.host();
        let head = [&[first.as_str(), &host, "Accept: text/event-stream"], more].concat();
        // It may have been refused already.
        _ = stream.write_all((head.join("\r\n") + "\r\n\r\n").as_bytes());
        let mut stream = BufReader::new(stream);
        let mut status = 0;
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
                break;
            }
            if let Some(rest) = line.strip_prefix("HTTP/1.1 ") {
                status = rest[..3].parse().unwrap();
            }
        }
        Self { stream, text: String::new(), status, beats: 0 }
    }

    /// The next record, or nothing once the stream has ended.
    pub(crate) fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let mut id = None;
                let mut data = None;
                for line in event.lines() {
                    id = id.or_else(|| line.strip_prefix("id: ").map(str::to_owned));
                    data = data.or_else(|| line.strip_prefix("data: ").map(str::to_owned));
                }
                // A test that hears nothing else for minutes has failed.
                self.beats = if event.starts_with(": beat") { self.beats + 1 } else { 0 };
                self.text = rest.to_owned();
                assert!(self.beats < 8, "what is waited for never comes");
                if let (Some(id), Some(data)) = (id, data) {
                    let record: Value = serde_json::from_str(&data).unwrap();
                    assert_eq!(record["seq"].to_string(), id);
                    return Some(record);
                }
                continue;
            }
            let mut size = String::new();
            self.stream.read_line(&mut size).ok()?;
            let size = usize::from_str_radix(size.trim(), 16).ok().filter(|size| *size > 0)?;
            let mut chunk = vec![0; size + 2];
            self.stream.read_exact(&mut chunk).ok()?;
            self.text.push_str(std::str::from_utf8(&chunk[..size]).unwrap());
        }
    }
}

/// Every route, by the server's own description, which a test of its table proves to be whole.
fn routes(caller: &Caller<'_>) -> Vec<(String, String)> {
    let document = caller.get("/v1/openapi.json");
    let mut routes = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            routes.push((method.to_uppercase(), path.clone()));
        }
    }
    assert!(routes.len() >= 20, "{routes:?}");
    routes
}

/// A path of the document with a session in it, and whatever else it needs.
fn target(path: &str, session: &str) -> String {
    let path = path.replace("{session}", session).replace("{question}", "q1");
    let path = path.replace("{kernel}", session);
    let path = path.replace("{path}", "a.txt");
    if path.ends_with("/files") { path + "?of=staged&form=zip" } else { path }
}

#[test]
fn no_route_answers_without_its_right_or_for_another_page() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let all = new_token(&scene, "all", "watch,prompt,answer,change");
    let none = new_token(&scene, "none", "admin");
    let caller = Caller { serving: &serving, token: all.clone() };
    let session = caller.open(json!({ "mode": "run" }));
    let foreign = [&all, "Origin: http://evil.example"];
    let elsewhere = [&all, "Sec-Fetch-Site: cross-site"];
    let wrong = "Authorization: Bearer 0000000000000000000000000000000000000000000";
    for (method, path) in routes(&caller) {
        let body = (method == "POST" || method == "PUT").then(|| json!({}));
        let real = target(&path, &session);
        let status = |more: &[&str]| ask(&serving, &method, &real, more, body.as_ref()).status;
        let named = format!("{method} {real}");
        assert_eq!(status(&[]), 401, "{named}");
        for token in [wrong, "Authorization: Bearer ", "Authorization: Basic YTpi"] {
            assert_eq!(status(&[token]), 401, "{named} {token}");
        }
        assert_eq!(status(&foreign), 403, "{named}");
        assert_eq!(status(&elsewhere), 403, "{named}");
        let is_open = path == "/v1/openapi.json";
        assert_eq!(status(&[&none]), if is_open { 200 } else { 403 }, "{named}");
        if method == "POST" {
            let first = format!("POST {real} HTTP/1.1");
            let head =
                [&first, &serving.host(), "Connection: close", "Content-Type: text/plain", &all];
            assert_eq!(serving.send(&head, "{}").status, 415, "{named}");
        }
        // A session that does not exist, on every route that names one.
        if path.contains("{session}") {
            let needed = json!({
                "text": "x", "language": "python", "code": "1", "changes": "a.1",
                "before": "p1", "hash": "0".repeat(64), "decision": "run",
            });
            let answer = |id: &str| {
                let target = target(&path, id);
                let body = fitting(&caller, &method, &path, &needed);
                let seen = ask(&serving, &method, &target, &[&all], body.as_ref());
                (seen.status, seen.body.replace(id, "ID"))
            };
            let one = answer("00000000-0000-7000-8000-000000000000");
            assert_eq!(one, answer("nonsense"), "{named}");
            assert!(one.0 == 404 && one.1.contains("unknown_session"), "{named}: {one:?}");
        }
    }
    // The controls: the same token does all of it.
    assert_eq!(caller.get(&format!("/v1/sessions/{session}"))["state"], "idle");
    caller.ok("DELETE", &format!("/v1/sessions/{session}"), Value::Null);
    assert_eq!(caller.get(&format!("/v1/sessions/{session}"))["state"], "ended");
}

/// Of these fields, those that a route needs.
fn fitting(caller: &Caller<'_>, method: &str, path: &str, fields: &Value) -> Option<Value> {
    if method != "POST" {
        return (method == "PUT").then(|| json!({}));
    }
    let document = caller.get("/v1/openapi.json");
    let schema = &document["paths"][path]["post"]["requestBody"]["content"]["application/json"];
    let needed = schema["schema"]["required"].as_array().unwrap().iter();
    let pairs = needed.map(|name| name.as_str().unwrap());
    Some(
        pairs
            .map(|name| (name.to_owned(), fields[name].clone()))
            .collect::<serde_json::Map<_, _>>()
            .into(),
    )
}

#[test]
fn a_conversation_by_requests_alone() {
    let code = "open('made.txt', 'w').write('hello\\n')\nprint(6 * 7)";
    let scene = scripted(Scene::new().model_says(&[&cell("python", code), "Done."]));
    let serving = Serving::start(&scene);
    let author = Caller { serving: &serving, token: new_token(&scene, "author", "watch,prompt") };
    let judge =
        Caller { serving: &serving, token: new_token(&scene, "judge", "watch,answer,change") };
    let session = author.open(json!({}));
    let at = |rest: &str| format!("/v1/sessions/{session}/{rest}");
    author.ok("POST", &at("prompt"), json!({ "text": "make a file" }));
    let question = author.record(&session, "question");
    let (id, hash) = (question["id"].as_str().unwrap(), &question["hash"]);
    let listed = author.get("/v1/questions");
    assert_eq!(
        (&listed["questions"][0]["hash"], &listed["questions"][0]["session"]),
        (hash, &json!(session))
    );
    assert_eq!(author.get(&format!("/v1/sessions/{session}"))["open_questions"][0]["id"], id);
    // Whoever wrote the prompt may not answer; another hash or field changes nothing.
    let answer = at(&format!("questions/{id}/answer"));
    let yes = json!({ "hash": hash, "decision": "run" });
    assert_eq!(author.ask("POST", &answer, Some(&yes)).0, 403);
    let refused = |body: Value| {
        let (status, seen) = judge.ask("POST", &answer, Some(&body));
        (status, seen["error"]["code"].as_str().unwrap().to_owned())
    };
    let zeros = "0".repeat(64);
    assert_eq!(refused(json!({ "hash": zeros, "decision": "run" })), (409, "another_hash".into()));
    assert_eq!(
        refused(json!({ "hash": hash, "decision": "run", "session": "x" })),
        (400, "malformed".into())
    );
    assert_eq!(
        refused(json!({ "hash": hash, "decision": "install" })),
        (422, "not_fitting".into())
    );
    judge.ok("POST", &answer, yes.clone());
    assert_eq!(author.record(&session, "output")["text"], "42\n");
    assert_eq!(author.record(&session, "answer")["who"], "judge");
    assert_eq!(author.record(&session, "prompt")["who"], "author");
    assert_eq!(refused(yes).0, 409);
    let asked = author.record_after(&session, question["seq"].as_u64().unwrap(), "question");
    assert_eq!(asked["about"], "changes");
    let later = json!({ "hash": asked["hash"], "decision": "later" });
    judge.ok("POST", &at(&format!("questions/{}/answer", asked["id"].as_str().unwrap())), later);
    author.record(&session, "turn_finished");
    // Staged files land only by the one who may.
    let changes = author.get(&at("changes"));
    assert_eq!(changes["files"][0]["path"], "made.txt", "{changes}");
    let apply = json!({ "changes": changes["id"] });
    assert_eq!(author.ask("POST", &at("apply"), Some(&apply)).0, 403);
    assert_eq!(scene.read("made.txt"), None);
    judge.ok("POST", &at("apply"), apply);
    assert_eq!(scene.read("made.txt").as_deref(), Some("hello\n"));
    judge.ok("POST", &at("undo"), json!({}));
    assert_eq!(scene.read("made.txt"), None);
    author.ok("DELETE", &format!("/v1/sessions/{session}"), Value::Null);
    // A page at a time gives the same as all at once.
    let all = author.get(&at("records"));
    let (mut after, mut pages) = (0, Vec::new());
    loop {
        let page = author.get(&at(&format!("records?after={after}&limit=7")));
        pages.extend(page["records"].as_array().unwrap().clone());
        after = page["after"].as_u64().unwrap();
        if page["more"] == false {
            break;
        }
    }
    assert_eq!(all["records"], json!(pages));
    let forked = author.ok("POST", &at("fork"), json!({}))["session"].clone();
    assert_ne!(forked, json!(session));
}

#[test]
fn events_that_are_cut_anywhere_lose_and_double_nothing() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let caller =
        Caller { serving: &serving, token: new_token(&scene, "ci", "watch,prompt,answer") };
    let session = caller.open(json!({ "mode": "run" }));
    let code = "import sys\nfor n in range(60):\n    print(n)\n    sys.stdout.flush()";
    let run = format!("/v1/sessions/{session}/run");
    caller.ok("POST", &run, json!({ "language": "python", "code": code }));
    caller.record(&session, "turn_finished");
    caller.ok("DELETE", &format!("/v1/sessions/{session}"), Value::Null);
    let mut seen = Vec::<Value>::new();
    for cut in 0_usize.. {
        let after = seen.len() as u64;
        let mut events = caller.events(&session, after);
        if events.status == 204 {
            break;
        }
        assert_eq!(events.status, 200);
        // Every fifth one is read to its end, which comes by itself.
        let most = if cut % 5 == 4 { usize::MAX } else { cut % 4 + 1 };
        for _ in 0..most {
            match events.next() {
                Some(record) => seen.push(record),
                None => break,
            }
        }
    }
    for (record, seq) in seen.iter().zip(1..) {
        assert_eq!(record["seq"], seq);
    }
    let page = caller.get(&format!("/v1/sessions/{session}/records"));
    assert_eq!(page["records"], json!(seen));
    assert_eq!(seen.last().unwrap()["kind"], "session_ended");
}

#[test]
fn a_revoked_token_loses_its_stream_at_once() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let caller = Caller { serving: &serving, token: new_token(&scene, "ci", "watch,prompt") };
    let other = Caller { serving: &serving, token: new_token(&scene, "other", "watch,prompt") };
    let session = caller.open(json!({ "mode": "run" }));
    let (mut events, mut theirs) = (caller.events(&session, 0), other.events(&session, 0));
    assert!(events.next().is_some() && theirs.next().is_some());
    scene.run(&["serve", "token", "revoke", "ci"]).exits(0);
    // Nothing happens in the session, and still the stream ends.
    while events.next().is_some() {}
    assert_eq!(caller.events(&session, 0).status, 401);
    // The other token goes on, up to the end of the session.
    other.ok("DELETE", &format!("/v1/sessions/{session}"), Value::Null);
    let mut last = Value::Null;
    while let Some(record) = theirs.next() {
        last = record;
    }
    assert_eq!(last["kind"], "session_ended");
}

#[test]
fn a_stream_ends_with_the_server() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let caller = Caller { serving: &serving, token: serving.bearer() };
    let session = caller.open(json!({ "mode": "run" }));
    let mut events = caller.events(&session, 0);
    assert!(events.next().is_some());
    assert!(serving.stop().success());
    while events.next().is_some() {}
}

/// Every example of the reference, in order.
#[test]
fn the_examples_of_the_reference_work() {
    let code = "open('made.txt', 'w').write('hello\\n')";
    let scene = scripted(Scene::new().model_says(&[&cell("python", code), "Done."]));
    let scene = scene.home_file("data.csv", "a,b\n1,2\n");
    let serving = Serving::start(&scene);
    let caller = Caller { serving: &serving, token: serving.bearer() };
    let reference = fs_err::read_to_string(Path::new(ROOT).join("docs/reference/api.md")).unwrap();
    let examples: Vec<_> =
        reference.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(examples.len() >= 8);
    let (mut session, mut changes) = (String::new(), String::new());
    let (mut question, mut hash, mut asked_at) = (String::new(), String::new(), 0);
    for example in examples {
        let other = example.contains("/files/").then(|| caller.open(json!({ "mode": "run" })));
        if example.contains("$QUESTION") {
            let asked = caller.record_after(&session, asked_at, "question");
            asked_at = asked["seq"].as_u64().unwrap();
            question = asked["id"].as_str().unwrap().to_owned();
            hash = asked["hash"].as_str().unwrap().to_owned();
        }
        if example.contains("$CHANGES") {
            caller.record(&session, "turn_finished");
            let shown = caller.get(&format!("/v1/sessions/{session}/changes"));
            changes = shown["id"].as_str().unwrap().to_owned();
        }
        let script = format!(
            "curl() {{ command curl -sS --fail-with-body --max-time 100 \"$@\"; }}\n{example}"
        );
        let done = Command::new("bash")
            .args(["-euc", &script])
            .env("SERVER", serving.origin())
            .env("TOKEN", &serving.token)
            .env("SESSION", other.as_ref().unwrap_or(&session))
            .env("QUESTION", &question)
            .env("HASH", &hash)
            .env("CHANGES", &changes)
            .current_dir(scene.home())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(
            done.status.success(),
            "{example}\n{text}{}",
            String::from_utf8_lossy(&done.stderr)
        );
        let answer: Value = serde_json::from_str(&text).unwrap_or_default();
        if let Some(id) = answer["session"].as_str().filter(|_| session.is_empty()) {
            id.clone_into(&mut session);
        }
    }
    assert_eq!(scene.read("made.txt").as_deref(), Some("hello\n"));
}

#[test]
fn schemathesis_finds_nothing() {
    let program = Path::new(TOOLS).join("schemathesis");
    if !program.exists() {
        return without("schemathesis");
    }
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let caller = Caller { serving: &serving, token: serving.bearer() };
    // Something to find.
    caller.open(json!({ "mode": "run" }));
    let tried = Command::new(program)
        .current_dir(scene.work())
        .arg("run")
        .arg(format!("{}/v1/openapi.json", serving.origin()))
        .args(["--header", &serving.bearer()])
        .args(["--phases", "examples,coverage,fuzzing", "--max-examples", "5", "--seed", "7"])
        .args(["--generation-database", "none", "--no-color", "--request-timeout", "60"])
        // A method that there is not has no route, like a path that there is not. And a description
        // cannot say which languages, profiles and snapshots there are.
        .args(["--exclude-checks", "unsupported_method,positive_data_acceptance"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&tried.stdout);
    assert!(tried.status.success(), "{text}{}", String::from_utf8_lossy(&tried.stderr));
}
