//! The kernels that front ends for Jupyter use, message by message.

use crate::{
    api::{Caller, new_token},
    scene::Scene,
    serving::{Serving, WebSocket},
};
use serde_json::{Value, json};
use std::io::Write;

/// The text of a token with these rights.
pub(crate) fn token(scene: &Scene, name: &str, rights: &str) -> String {
    new_token(scene, name, rights).strip_prefix("Authorization: Bearer ").unwrap().to_owned()
}

/// A client of one kernel, message by message.
pub(crate) struct KernelClient<'a> {
    serving: &'a Serving,
    line: String,
    kernel: String,
    socket: WebSocket,
    sent: u32,
}

impl<'a> KernelClient<'a> {
    pub(crate) fn begin(serving: &'a Serving, token: &str) -> Self {
        let line = format!("Authorization: token {token}");
        let begun = serving.post("/api/kernels", &[&line], r#"{"name":"python3"}"#);
        assert_eq!(begun.status, 201, "{begun:?}");
        let told: Value = serde_json::from_str(&begun.body).unwrap();
        let kernel = told["id"].as_str().unwrap().to_owned();
        let socket = Self::connect(serving, &line, &kernel).unwrap();
        Self { serving, line, kernel, socket, sent: 0 }
    }

    fn connect(serving: &Serving, line: &str, kernel: &str) -> Result<WebSocket, u16> {
        let target = format!("/api/kernels/{kernel}/channels");
        WebSocket::open_at(serving.connect(), &target, &serving.host(), &[line])
            .map_err(|answer| answer.status)
    }

    fn send(&mut self, kind: &str, content: &Value) -> String {
        self.sent += 1;
        let id = format!("m{}", self.sent);
        // Written over several lines: it is one message all the same.
        let message = serde_json::to_string_pretty(&json!({
            "header": { "msg_id": id, "msg_type": kind, "username": "u", "session": "s",
                "date": "2026-11-18T12:00:00Z", "version": "5.3" },
            "parent_header": {}, "metadata": {}, "content": content, "channel": "shell",
        }));
        self.socket.say(&message.unwrap());
        id
    }

    fn next(&mut self) -> Option<Value> {
        Some(serde_json::from_str(&self.socket.hear()?).unwrap())
    }

    /// The answers to a request until the kernel is idle.
    #[track_caller]
    fn until_idle(&mut self, id: &str) -> Vec<Value> {
        let mut all = Vec::new();
        loop {
            let message = self.next().expect("the socket ended");
            assert_eq!(message["parent_header"]["msg_id"], id, "{message}");
            let is_idle = message["content"]["execution_state"] == "idle";
            all.push(message);
            if is_idle {
                return all;
            }
        }
    }

    #[track_caller]
    pub(crate) fn execute(&mut self, code: &str) -> Vec<Value> {
        let id = self.send("execute_request", &json!({ "code": code, "silent": false }));
        self.until_idle(&id)
    }

    fn end(&self) -> u16 {
        let first = format!("DELETE /api/kernels/{} HTTP/1.1", self.kernel);
        let host = self.serving.host();
        self.serving.send(&[&first, &host, "Connection: close", &self.line], "").status
    }
}

fn kinds(messages: &[Value]) -> Vec<&str> {
    messages.iter().map(|message| message["msg_type"].as_str().unwrap()).collect()
}

/// The text that was printed on a stream.
pub(crate) fn printed(messages: &[Value], stream: &str) -> String {
    let ours = messages.iter().filter(|message| message["content"]["name"] == stream);
    ours.filter_map(|message| message["content"]["text"].as_str()).collect()
}

/// The words of the one error.
fn error_of(messages: &[Value]) -> String {
    let mut errors = messages.iter().filter(|message| message["msg_type"] == "error");
    let error = errors.next().unwrap_or_else(|| panic!("{messages:?}"));
    assert!(errors.next().is_none());
    error["content"]["evalue"].as_str().unwrap().to_owned()
}

#[test]
fn messages_are_those_of_jupyter() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let token = token(&scene, "client", "watch,prompt,answer");
    let mut client = KernelClient::begin(&serving, &token);
    let id = client.send("kernel_info_request", &json!({}));
    let told = client.until_idle(&id);
    assert_eq!(kinds(&told), ["status", "kernel_info_reply", "status"]);
    assert_eq!(told[1]["content"]["language_info"]["name"], "python");
    let told = client.execute("x = 20\nprint(x + 1)");
    assert_eq!(
        kinds(&told),
        ["status", "execute_input", "stream", "execute_reply", "status"],
        "{told:?}"
    );
    let ids: std::collections::BTreeSet<_> =
        told.iter().map(|message| message["msg_id"].to_string()).collect();
    assert_eq!(ids.len(), told.len());
    assert_eq!(told[3]["channel"], "shell");
    assert_eq!(told[3]["content"]["execution_count"], 1);
    // Memory lasts, whatever is not understood is passed over, and a queue is worked off.
    let other = client.send("comm_info_request", &json!({}));
    let first = client.send("execute_request", &json!({ "code": "x += 1" }));
    let second = client.send("execute_request", &json!({ "code": "print(x * 2)" }));
    client.until_idle(&other);
    client.until_idle(&first);
    assert_eq!(printed(&client.until_idle(&second), "stdout"), "42\n");
    let told = client.execute("raise KeyError('k')");
    assert!(printed(&told, "stderr").contains("KeyError"), "{told:?}");
    let reply = told.iter().find(|message| message["msg_type"] == "execute_reply").unwrap();
    assert_eq!(reply["content"]["status"], "error");
    // Code that asks for a line gets none, as in every kernel without a person.
    let told = client.execute("input('secret? ')");
    assert!(printed(&told, "stderr").contains("EOFError"), "{told:?}");
    assert_eq!(printed(&client.execute("print('goes on')"), "stdout"), "goes on\n");
    assert_eq!(client.end(), 204);
    assert_eq!(client.end(), 404);
    client.socket.must_end();
}

const RULES: &str = "[[rule]]\ndecision = \"ask\"\nfinding = \"starts\"\n\n\
                     [[rule]]\ndecision = \"deny\"\nfinding = \"deletes\"\n";

#[test]
fn where_a_rule_asks_or_denies_nothing_runs_and_the_link_is_told() {
    let scene = Scene::new().home_file(".config/interpreter/config.toml", RULES);
    let serving = Serving::start(&scene);
    let token = token(&scene, "client", "watch,prompt,answer");
    let mut client = KernelClient::begin(&serving, &token);
    let denied = client.execute("import os\nos.remove('a')\nprint('DENIED' + ' RAN')");
    assert!(error_of(&denied).contains("a rule denies it"), "{denied:?}");
    let asks = "import subprocess\nprint(subprocess.run(['echo', 'ASKED' + ' RAN'], \
                capture_output=True).stdout)";
    let asked = client.execute(asks);
    let link = format!("{}/#/s/{}", serving.link_origin, client.kernel);
    assert!(error_of(&asked).contains(&link), "{asked:?}");
    for told in [&denied, &asked] {
        assert!(!format!("{told:?}").contains(" RAN\\n"), "{told:?}");
        assert_eq!(kinds(told).last(), Some(&"status"));
    }
    // More code is no answer.
    assert!(!error_of(&client.execute("print('yes')")).is_empty());
    let caller = Caller { serving: &serving, token: serving.bearer() };
    let questions = caller.get("/v1/questions")["questions"].clone();
    assert_eq!(questions.as_array().unwrap().len(), 1);
    // Whoever is done with the kernel does not end the question, and has no kernel any more.
    assert_eq!(client.end(), 204);
    assert_eq!(client.end(), 404);
    assert_eq!(caller.get("/v1/questions")["questions"], questions);
    let question = &questions[0];
    let (session, id) = (&client.kernel, question["id"].as_str().unwrap());
    let started = || {
        let records = caller.get(&format!("/v1/sessions/{session}/records"));
        let all = records["records"].as_array().unwrap().clone();
        all.iter().filter(|record| record["kind"] == "run_started").count()
    };
    assert_eq!(started(), 0);
    // The control: after a yes it runs, and then its session ends.
    let answer = json!({ "hash": question["hash"], "decision": "run" });
    caller.ok("POST", &format!("/v1/sessions/{session}/questions/{id}/answer"), answer);
    caller.record_after(session, 0, "session_ended");
    assert_eq!(started(), 1);
}

#[test]
fn a_right_that_is_missing_is_named_and_nothing_runs() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let mut client = KernelClient::begin(&serving, &token(&scene, "half", "watch,prompt"));
    let told = client.execute("print('NOT' + ' ALLOWED')");
    assert!(error_of(&told).contains("answer"), "{told:?}");
    assert_eq!(printed(&told, "stdout"), "");
    for (name, rights, words) in
        [("blind", "prompt,answer", "watch"), ("eye", "watch,answer", "no_right")]
    {
        let line = format!("Authorization: token {}", token(&scene, name, rights));
        let seen = serving.post("/api/kernels", &[&line], "{}");
        assert!(seen.status == 403 && seen.body.contains(words), "{name}: {seen:?}");
    }
}

#[test]
fn nobody_reaches_the_kernel_of_another_or_a_session_that_is_none() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let mut client = KernelClient::begin(&serving, &token(&scene, "anna", "watch,prompt,answer"));
    let line = format!("Authorization: token {}", token(&scene, "ben", "watch,prompt,answer"));
    let caller = Caller { serving: &serving, token: serving.bearer() };
    let session = caller.open(json!({ "mode": "run" }));
    for id in [client.kernel.as_str(), &session, "00000000-0000-7000-8000-000000000000", "x"] {
        assert_eq!(KernelClient::connect(&serving, &line, id).map(drop), Err(404), "{id}");
        let first = format!("DELETE /api/kernels/{id} HTTP/1.1");
        let seen = serving.send(&[&first, &serving.host(), "Connection: close", &line], "");
        assert_eq!(seen.status, 404, "{id}");
        assert!(!seen.body.contains(id) || id == "x", "{seen:?}");
    }
    // The control.
    assert_eq!(printed(&client.execute("print(1)"), "stdout"), "1\n");
    assert_eq!(client.end(), 204);
    assert_eq!(caller.get(&format!("/v1/sessions/{session}"))["state"], "idle");
}

#[test]
fn a_client_that_leaves_or_interrupts_stops_its_own_run() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let token = token(&scene, "client", "watch,prompt,answer");
    let caller = Caller { serving: &serving, token: serving.bearer() };
    let endless = "print('begun', flush=True)\nwhile True: pass";
    let mut client = KernelClient::begin(&serving, &token);
    let id = client.send("execute_request", &json!({ "code": endless }));
    while printed(&[client.next().unwrap()], "stdout") != "begun\n" {}
    client.send("interrupt_request", &json!({}));
    assert_eq!(client.next().unwrap()["msg_type"], "interrupt_reply");
    assert!(error_of(&client.until_idle(&id)).contains("interrupted"));
    // Leaving does the same.
    client.send("execute_request", &json!({ "code": endless }));
    while printed(&[client.next().unwrap()], "stdout") != "begun\n" {}
    let kernel = client.kernel.clone();
    let before = caller.get(&format!("/v1/sessions/{kernel}"))["seq"].as_u64().unwrap();
    drop(client);
    let end = caller.record_after(&kernel, before, "turn_finished");
    assert_eq!(end["end"], "interrupted", "{end}");
}

#[test]
fn a_revoked_token_loses_its_kernel_at_once() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let mut client = KernelClient::begin(&serving, &token(&scene, "gone", "watch,prompt,answer"));
    let mut other = KernelClient::begin(&serving, &token(&scene, "stays", "watch,prompt,answer"));
    assert_eq!(printed(&client.execute("print(1)"), "stdout"), "1\n");
    scene.run(&["serve", "token", "revoke", "gone"]).exits(0);
    client.send("execute_request", &json!({ "code": "print(2)" }));
    assert_eq!(client.end(), 401);
    client.socket.must_end();
    assert_eq!(printed(&other.execute("print(3)"), "stdout"), "3\n");
}

#[test]
fn kernels_and_their_messages_are_bounded() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let token = token(&scene, "client", "watch,prompt,answer");
    // More than a caller may have: the oldest without a client makes room.
    let first = KernelClient::begin(&serving, &token);
    let second = KernelClient::begin(&serving, &token);
    let left = second.kernel.clone();
    drop(second);
    let line = format!("Authorization: token {token}");
    let mut last = 0;
    let mut refused = 0;
    for _ in 0..20 {
        last = serving.post("/api/kernels", &[&line], "").status;
        refused += u32::from(last != 201);
    }
    assert_eq!((last, refused), (201, 0));
    let caller = Caller { serving: &serving, token: serving.bearer() };
    let listed = caller.get("/v1/sessions");
    let rows = listed["sessions"].as_array().unwrap();
    assert_eq!(rows.iter().filter(|row| row["state"] == "idle").count(), 16);
    assert_eq!(KernelClient::connect(&serving, &line, &left).map(drop), Err(404));
    assert_eq!(first.end(), 204);
    // Where all are in use, another one is refused.
    let clients: Vec<_> = (0..16).map(|_| KernelClient::begin(&serving, &token)).collect();
    let seen = serving.post("/api/kernels", &[&line], "");
    assert!(seen.status == 429 && seen.body.contains("too_many"), "{seen:?}");
    drop(clients);
    // A queue that grows, a message that is none, and one that is too long end the socket.
    let mut client = KernelClient::begin(&serving, &token);
    client.send("execute_request", &json!({ "code": "while True: pass" }));
    for _ in 0..40 {
        client.send("execute_request", &json!({ "code": "1" }));
    }
    client.socket.must_end();
    for text in ["", "[]", "{\"header\":{}}", "no JSON"] {
        let mut client = KernelClient::begin(&serving, &token);
        client.socket.say(text);
        client.socket.must_end();
    }
    let mut client = KernelClient::begin(&serving, &token);
    _ = client.socket.0.write_all(&[0x81, 0xff, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    client.socket.must_end();
    // Output beyond a bound is on the page, and one line says so.
    let mut client = KernelClient::begin(&serving, &token);
    let told = client.execute("for _ in range(3000): print('x' * 999)");
    assert!(printed(&told, "stdout").len() <= 1 << 20);
    assert_eq!(printed(&told, "stderr").matches("the page has all of it").count(), 1);
}

#[test]
fn files_stay_staged_and_the_client_is_told() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let mut client = KernelClient::begin(&serving, &token(&scene, "c", "watch,prompt,answer"));
    let told = client.execute("open('made.txt', 'w').write('x')\nprint('written')");
    assert_eq!(printed(&told, "stdout"), "written\n");
    let note = printed(&told, "stderr");
    assert!(note.contains("`made.txt`") && note.contains(&client.kernel), "{note}");
    assert_eq!(scene.read("made.txt"), None);
    // The kernel goes on, and sees its own file.
    let told = client.execute("print(open('made.txt').read())");
    assert_eq!(printed(&told, "stdout"), "x\n");
    assert_eq!(client.end(), 204);
    assert_eq!(scene.read("made.txt"), None);
    // The control: a person applies it.
    scene.run(&["changes", "apply"]).exits(0);
    assert_eq!(scene.read("made.txt").as_deref(), Some("x"));
}
