//! Transcripts of the protocol that any client can replay, held against the program; and its schema
//! held against them.
//!
//! A transcript has one object a line: `send` is a request, `reply` and `record` must come, in this
//! order, with at least these fields. `$NAMES` stand for what the server chose, from the first time on.

use crate::{
    protocol_client::{Server, scripted},
    scene::Scene,
};
use interpreter_core::schema::Schema;
use interpreter_web::protocol::{ErrorCode, VERBS};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const SCHEMA: &str = include_str!("../../../../docs/reference/protocol.schema.json");
const PROMISED: &str = include_str!("transcripts/promised.txt");

const CHAT: &str = include_str!("transcripts/chat.jsonl");
const RUN: &str = include_str!("transcripts/run.jsonl");
const CHANGES: &str = include_str!("transcripts/changes.jsonl");
const MANY_CHANGES: &str = include_str!("transcripts/many_changes.jsonl");
const STEERING: &str = include_str!("transcripts/steering.jsonl");
const GOING_BACK: &str = include_str!("transcripts/going_back.jsonl");
const NONSENSE: &str = include_str!("transcripts/nonsense.jsonl");

/// Whether a line has at least what a transcript expects. Learns the names.
fn fits(expected: &Value, line: &Value, names: &mut BTreeMap<String, Value>) -> bool {
    match expected {
        Value::String(name) if name.starts_with('$') => {
            names.entry(name.clone()).or_insert_with(|| line.clone()) == line
        }
        Value::Object(fields) => fields
            .iter()
            .all(|(name, field)| line.get(name).is_some_and(|line| fits(field, line, names))),
        Value::Array(items) => line.as_array().is_some_and(|lines| {
            lines.len() == items.len()
                && items.iter().zip(lines).all(|(item, line)| fits(item, line, names))
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => expected == line,
    }
}

/// A request with the names filled in.
fn filled(request: &Value, names: &BTreeMap<String, Value>) -> Value {
    match request {
        Value::String(name) if name.starts_with('$') => names[name].clone(),
        Value::Object(fields) => {
            fields.iter().map(|(name, field)| (name.clone(), filled(field, names))).collect()
        }
        Value::Array(items) => items.iter().map(|item| filled(item, names)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => request.clone(),
    }
}

/// A part of the schema, as a schema of its own.
fn part(name: &str) -> Schema {
    let mut schema: Value = serde_json::from_str(SCHEMA).unwrap();
    schema.as_object_mut().unwrap().remove("oneOf");
    schema["$ref"] = format!("#/$defs/{name}").into();
    Schema::parse(&schema.to_string()).unwrap()
}

#[track_caller]
fn replay(transcript: &str) {
    let steps: Vec<Value> =
        transcript.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let model = steps[0]["model"].as_array().cloned().unwrap_or_default();
    let replies: Vec<_> = model.iter().map(|reply| reply.as_str().unwrap()).collect();
    let scene = scripted(Scene::new().model_says(&replies));
    let (mut server, mut client) = Server::stdio(&scene);
    let (request, whole) = (part("request"), Schema::parse(SCHEMA).unwrap());
    let mut names = BTreeMap::new();
    let (mut replies, mut records) = (Vec::<Value>::new(), Vec::<Value>::new());
    for step in &steps {
        if let Some(sent) = step.get("send") {
            let line = filled(sent, &names);
            let is_meant = request.check(&line.to_string());
            match line.as_str() {
                Some(raw) => client.send_raw(format!("{raw}\n").as_bytes()),
                None => client.send(&line),
            }
            let refused = |step: &Value| step["reply"]["error"]["code"] == "malformed";
            let id = line.get("id");
            let its = steps.iter().find(|step| id.is_some() && step["reply"].get("id") == id);
            if let Some(its) = its.filter(|its| !refused(its)) {
                let unknown = its["reply"]["error"]["code"] == "unknown_verb";
                assert!(is_meant.is_ok() || unknown, "{line}: {is_meant:?}");
            }
            continue;
        }
        let (expected, is_reply) = match (step.get("reply"), step.get("record")) {
            (Some(reply), _) => (reply, true),
            (None, Some(record)) => (record, false),
            (None, None) => continue,
        };
        loop {
            let queue = if is_reply { &mut replies } else { &mut records };
            if queue.is_empty() {
                let line = client.line().unwrap_or_else(|| panic!("it ended before {expected}"));
                whole.check(&line.to_string()).unwrap_or_else(|why| panic!("{line}: {why}"));
                match (line.get("v"), line.get("kind")) {
                    (None, _) => replies.push(line),
                    (Some(_), Some(_)) => records.push(line),
                    (Some(_), None) => {}
                }
                continue;
            }
            let line = queue.remove(0);
            let mut learned = names.clone();
            if fits(expected, &line, &mut learned) {
                names = learned;
                break;
            }
            // Records may come in between; within v1 they are added to.
            assert!(!is_reply, "expected {expected}\ngot      {line}");
        }
    }
    client.end_input();
    for line in client.rest() {
        whole.check(&line.to_string()).unwrap_or_else(|why| panic!("{line}: {why}"));
    }
    assert!(server.wait().success());
    assert_eq!(scene.left_running(), Vec::<String>::new());
}

#[test]
fn a_chat_goes_as_written() {
    replay(CHAT);
}

#[test]
fn own_code_goes_as_written() {
    replay(RUN);
}

#[test]
fn changes_go_as_written() {
    replay(CHANGES);
}

#[test]
fn many_changes_go_as_written() {
    replay(MANY_CHANGES);
}

#[test]
fn steering_goes_as_written() {
    replay(STEERING);
}

#[test]
fn going_back_goes_as_written() {
    replay(GOING_BACK);
}

#[test]
fn every_verb_is_in_a_transcript() {
    let all = [CHAT, RUN, CHANGES, STEERING, GOING_BACK, NONSENSE].concat();
    let missing: Vec<_> =
        VERBS.iter().filter(|verb| !all.contains(&format!("\"do\":\"{verb}\""))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn nonsense_goes_as_written() {
    replay(NONSENSE);
}

#[test]
fn the_schema_has_every_verb_and_every_code_and_refuses_the_rest() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let verbs: Vec<_> = schema["$defs"]["request"]["oneOf"].as_array().unwrap().iter().collect();
    let expected: Vec<_> =
        VERBS.iter().map(|verb| json!({ "$ref": format!("#/$defs/{verb}") })).collect();
    assert_eq!(verbs, expected.iter().collect::<Vec<_>>());
    let codes = &schema["$defs"]["error"]["properties"]["code"]["enum"];
    assert_eq!(*codes, json!(ErrorCode::ALL));
    let request = part("request");
    assert!(request.check(r#"{"id":1,"do":"shut"}"#).is_ok());
    for wrong in [r#"{"id":1,"do":"shut","now":true}"#, r#"{"id":1,"do":"sudo"}"#, "{}"] {
        assert!(request.check(wrong).is_err(), "{wrong}");
    }
}

/// Clients rely on these. A line may be added to the list; none may leave it.
#[test]
fn no_promised_field_leaves_the_schema() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let missing: Vec<_> = PROMISED
        .lines()
        .filter(|line| {
            let (part, field) = line.split_once(' ').unwrap();
            schema["$defs"][part]["properties"].get(field).is_none()
        })
        .collect();
    assert!(PROMISED.lines().count() > 100 && missing.is_empty(), "{missing:?}");
}
