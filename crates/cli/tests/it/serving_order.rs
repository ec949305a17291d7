//! One session of a server keeps nobody else waiting, and takes nobody else's place.

use crate::{
    protocol_client::{Server, scripted},
    scene::Scene,
    serving::Serving,
};
use serde_json::{Value, json};

/// More than the sessions that one token may have, and fewer than all together.
const MORE: usize = 97;

#[test]
fn a_step_that_does_not_end_keeps_no_other_client_waiting() {
    let scene = scripted(Scene::new().model_says(&["Done."]));
    let server = Server::socket(&scene);
    let (mut one, mut other) = (server.client(), server.client());
    let session = one.open(json!({}));
    one.record("session_started");
    // Whoever holds the record keeps the session from the end of its next step.
    let record = rusqlite::Connection::open(scene.data().join("record.db")).unwrap();
    record.execute_batch("BEGIN IMMEDIATE").unwrap();
    let text = "x".repeat(1 << 20);
    one.send(&json!({ "id": "big", "do": "prompt", "session": session, "text": text }));
    // Requests of one client begin in their order, so the step has begun by then.
    let is_reply = |line: &Value| line["id"] == "big" && line.get("v").is_none();
    one.send(&json!({ "id": "small", "do": "list", "session": session }));
    let first = one.wait_for(|line| line["id"] == "small" || is_reply(line));
    assert_eq!(first["id"], "small", "{first}");
    for _ in 0..8 {
        other.ok("list", json!({}));
    }
    // Control: it was the lock that it waited for.
    record.execute_batch("ROLLBACK").unwrap();
    let prompted = one.wait_for(is_reply);
    assert!(prompted.get("ok").is_some(), "{prompted}");
    one.record("turn_finished");
}

#[test]
fn a_prompt_is_bounded_and_a_longer_text_is_a_file() {
    let scene = scripted(Scene::new().model_says(&["Done."]));
    let (_server, mut client) = Server::stdio(&scene);
    let session = client.open(json!({}));
    let prompt = |bytes: usize| json!({ "session": session, "text": "x".repeat(bytes) });
    let refusal = client.refusal("prompt", prompt((1 << 20) + 1));
    assert_eq!(refusal["code"], "malformed");
    assert!(refusal["message"].as_str().unwrap().contains("longer than 1 MiB"), "{refusal}");
    client.ok("prompt", prompt(1 << 20));
    client.record("turn_finished");
}

#[test]
fn a_token_leaves_places_to_whoever_runs_the_server() {
    let scene = Scene::new();
    let token = crate::api::new_token(&scene, "greedy", "watch,prompt");
    let serving = Serving::start(&scene);
    let open = |line: &str| -> Value {
        let request = json!({ "id": 1, "do": "open", "mode": "run" }).to_string();
        let answer = serving.post("/v1/do", &[line], &request);
        serde_json::from_str(&answer.body).unwrap()
    };
    let opened = (0..MORE).filter(|_| open(&token).get("ok").is_some()).count();
    assert_eq!(opened, MORE - 1);
    let refused = open(&token);
    assert_eq!(refused["error"]["code"], "too_many", "{refused}");
    assert!(open(&serving.bearer()).get("ok").is_some());
}
