//! One known secret, pushed through a server by every way in, and looked for on every way out.
//!
//! In: the prompt, the reply and the code of a model, output, errors, the name and the lines of a
//! staged file. Out: the protocol over pipes and over `WebSocket`, the API with records and events,
//! the forms of `OpenAI`, and what the commands show and export afterwards. Only a download carries
//! real bytes, as its documentation says.

use crate::{
    api::{Caller, new_token},
    protocol_client::{Client, Server, scripted},
    scene::{Scene, cell},
    serving::{Serving, WebSocket, must_end},
};
use serde_json::{Value, json};
use std::{collections::VecDeque, io::Write};

/// A value in the person's own environment.
const VALUE: &str = "Kp4-Ty9_Qw2.rH6mZ8sX";
const NAMED: &str = "[secret:EXAMPLE_API_TOKEN]";

/// Code with the value in small parts, so that it is in no text but what the code makes of it.
fn code(then: &str) -> String {
    let parts = VALUE.as_bytes().chunks(5).map(|part| String::from_utf8_lossy(part));
    let parts: Vec<_> = parts.map(|part| format!("'{part}'")).collect();
    format!("v = {}\n{then}", parts.join("+"))
}

const FILES: &str = "open('note.txt', 'w').write('a\\n' + v + '\\n')\n\
                     open(v + '.txt', 'w').write('b\\n')\n\
                     open('plain.txt', 'w').write('c\\n')\n";

/// A model that prints it, fails with it, stages it, and says it, in small pieces.
fn scene() -> Scene {
    let reply = |text: &str| format!("[[reply]]\nchunk = 4\ntext = {}\n", json!(text));
    let script: String = [
        &format!("I use {VALUE}.\n{}", cell("python", &code("print('canary', v)"))),
        &cell("python", &code(&format!("{FILES}raise ValueError(v)"))),
        &format!("The canary is {VALUE}."),
    ]
    .map(|text| reply(text))
    .concat();
    scripted(Scene::new().variable("EXAMPLE_API_TOKEN", VALUE).script(&script))
}

/// Neither the value, nor eight characters of it, nor its bytes as hexadecimal digits.
#[track_caller]
fn clean(way: &str, text: &str) {
    let hex: String = VALUE.bytes().map(|byte| format!("{byte:02x}")).collect();
    for part in [VALUE, &VALUE[..8], &VALUE[6..14], &VALUE[12..], &hex] {
        assert!(!text.contains(part), "{way}: {text}");
    }
    assert!(text.contains(NAMED), "{way} shows nothing of it: {text}");
}

/// An answer to a question, so that everything runs and stays staged.
fn answer_to(question: &Value) -> Value {
    let word = if question["about"] == "changes" { "later" } else { "run" };
    json!({ "decision": word, "session": question["session"], "question": question["id"],
            "hash": question["hash"] })
}

#[test]
fn the_protocol_over_pipes_and_what_is_shown_afterwards() {
    let scene = scene();
    let (server, mut client) = Server::stdio(&scene);
    let session = client.open(json!({}));
    let prompt = json!({ "session": session, "text": format!("tell of canary {VALUE}") });
    let mut all = client.ok("prompt", prompt).to_string();
    loop {
        let line = client.wait_for(|_| true);
        all += &line.to_string();
        if line["kind"] == "question" {
            all += &client.request("answer", answer_to(&line)).to_string();
        }
        if line["kind"] == "turn_finished" {
            break;
        }
    }
    clean("records", &all);
    // Both ways a staged file could tell it: its name and its lines.
    let changes = client.ok("changes", json!({ "session": session })).to_string();
    clean("changes", &changes);
    assert!(changes.contains("[secret:EXAMPLE_API_TOKEN].txt"), "{changes}");
    assert!(changes.contains("stands in it, and is masked"), "{changes}");
    let kept = json!({ "at": "record", "session": session, "after": 0, "limit": 500 });
    clean("look", &client.ok("look", kept).to_string());
    clean("list", &titled(&mut client));
    refused(&mut client, &session);
    drop((client, server));
    for arguments in [
        &["history", "show", "--json"][..],
        &["history", "show"],
        &["history", "list"],
        &["history", "export", "--format", "md"],
        &["history", "export", "--format", "ipynb"],
        &["history", "export", "--format", "jsonl"],
        &["audit", "export"],
        &["audit", "export", "--format", "ocsf"],
        &["changes", "diff"],
    ] {
        clean(&arguments.join(" "), &scene.run(arguments).exits(0).stdout());
    }
}

/// The sessions that there are, by their titles.
fn titled(client: &mut Client) -> String {
    client.ok("list", json!({ "search": "canary" })).to_string()
}

/// An answer that refuses a request repeats no value of it.
fn refused(client: &mut Client, session: &str) {
    let request = json!({ "session": session, "text": VALUE, "more": VALUE });
    let seen = client.request("prompt", request).to_string();
    assert!(seen.contains("error") && !seen.contains(&VALUE[..8]), "{seen}");
}

#[test]
fn the_protocol_over_a_web_socket() {
    let scene = scene();
    let serving = Serving::start(&scene);
    let mut socket =
        WebSocket::open(&serving, &[&serving.bearer()]).unwrap_or_else(|seen| panic!("{seen:?}"));
    socket.say(&json!({ "id": 1, "do": "open" }).to_string());
    let mut all = String::new();
    let mut number = 1;
    let mut lines = VecDeque::new();
    loop {
        let Some(line): Option<Value> = lines.pop_front() else {
            // A message may have several lines.
            let Some(text) = socket.hear() else { break };
            lines.extend(text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()));
            all += &text;
            continue;
        };
        let mut say = |mut request: Value| {
            number += 1;
            request["id"] = number.into();
            socket.say(&request.to_string());
        };
        if line["id"] == 1 && line.get("ok").is_some() {
            let session = &line["ok"]["session"];
            say(json!({ "do": "subscribe", "session": session, "after": 0 }));
            let prompt = format!("tell of canary {VALUE}");
            say(json!({ "do": "prompt", "session": session, "text": prompt }));
        } else if line["kind"] == "question" {
            let mut answer = answer_to(&line);
            answer["do"] = "answer".into();
            say(answer);
        }
        if line["kind"] == "turn_finished" {
            break;
        }
    }
    assert!(all.contains("turn_finished"), "{all}");
    clean("WebSocket", &all);
}

/// The bytes of an answer, from its first line on.
fn raw(serving: &Serving, token: &str, target: &str) -> Vec<u8> {
    let host = serving.host();
    let head = format!("GET {target} HTTP/1.1\r\n{host}\r\n{token}\r\nConnection: close\r\n\r\n");
    let mut stream = serving.connect();
    stream.write_all(head.as_bytes()).unwrap();
    must_end(&mut stream)
}

#[test]
fn the_api_with_records_events_and_changes_but_not_downloads() {
    let scene = scene();
    let serving = Serving::start(&scene);
    let token = new_token(&scene, "anna", "watch,prompt,answer,change");
    let caller = Caller { serving: &serving, token };
    let session = caller.open(json!({}));
    let at = |part: &str| format!("/v1/sessions/{session}/{part}");
    let mut all =
        caller.ok("POST", &at("prompt"), json!({ "text": format!("canary {VALUE}") })).to_string();
    let mut after = 0;
    // Twice about code, and once about what is staged.
    for _ in 0..3 {
        let question = caller.record_after(&session, after, "question");
        // As an event.
        all += &question.to_string();
        after = question["seq"].as_u64().unwrap();
        let to = at(&format!("questions/{}/answer", question["id"].as_str().unwrap()));
        let mut answer = answer_to(&question);
        for field in ["session", "question"] {
            answer.as_object_mut().unwrap().remove(field);
        }
        all += &caller.get("/v1/questions").to_string();
        all += &caller.ok("POST", &to, answer).to_string();
    }
    caller.record_after(&session, after, "turn_finished");
    all += &caller.get(&at("records")).to_string();
    all += &caller.get("/v1/sessions").to_string();
    clean("records", &all);
    clean("changes", &caller.get(&at("changes")).to_string());
    clean("changes of a file", &caller.get(&at("changes?path=note.txt")).to_string());
    // A download is the file, and a patch is what it does to the folder.
    for target in [at("files/note.txt"), at("files?of=staged&form=patch")] {
        let bytes = raw(&serving, &caller.token, &target);
        let has = bytes.windows(VALUE.len()).any(|part| part == VALUE.as_bytes());
        assert!(has, "{target}: {}", String::from_utf8_lossy(&bytes));
    }
    assert!(!serving.errors.text().contains(VALUE), "{}", serving.errors.text());
}

#[test]
fn the_forms_of_openai_whole_and_streamed() {
    let config = "[approval]\nmode = \"auto\"\nup_to = \"medium\"\n";
    for stream in [false, true] {
        for (target, asked) in [
            (
                "/v1/chat/completions",
                json!({ "messages":
                [{ "role": "user", "content": format!("canary {VALUE}") }] }),
            ),
            ("/v1/responses", json!({ "input": format!("canary {VALUE}") })),
        ] {
            let scene = scene().home_file(".config/interpreter/config.toml", config);
            let serving = Serving::start(&scene);
            let mut asked = asked;
            (asked["model"], asked["stream"]) = ("interpreter".into(), stream.into());
            let answer = serving.post(target, &[&serving.bearer()], &asked.to_string());
            assert_eq!(answer.status, 200, "{answer:?}");
            // A stream comes in pieces, each with a few characters; together they are one text.
            let said = said(&answer.body);
            clean(target, &(answer.body.clone() + &said));
            assert!(said.contains(&format!("The canary is {NAMED}.")), "{target}: {said}");
        }
    }
}

/// The text of an answer, whole or streamed.
fn said(body: &str) -> String {
    let of = |value: &Value| {
        let choice = &value["choices"][0];
        let parts = [&choice["message"]["content"], &choice["delta"]["content"]];
        let mut text: String = parts.iter().filter_map(|part| part.as_str()).collect();
        if value["type"] == "response.output_text.delta" {
            text += value["delta"].as_str().unwrap_or_default();
        }
        for item in value["output"].as_array().into_iter().flatten() {
            text += item["content"][0]["text"].as_str().unwrap_or_default();
        }
        text
    };
    if let Ok(value) = serde_json::from_str(body) {
        return of(&value);
    }
    let events = body.lines().filter_map(|line| line.strip_prefix("data: "));
    events
        .filter_map(|data| serde_json::from_str(data).ok())
        .map(|value: Value| of(&value))
        .collect()
}
