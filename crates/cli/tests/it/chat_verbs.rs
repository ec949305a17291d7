//! Whatever the chat of a terminal can do, a program does by the protocol, with the rights for it.

use crate::{
    models::servers::Plain,
    people::{Member, team},
    protocol_client::{Client, Server, scripted},
    scene::{Scene, cell},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

const CONFIG: &str = ".config/interpreter/config.toml";

/// Asks for something that ends the turn, and gives the records until then.
fn turn(client: &mut Client, verb: &str, fields: Value) -> Vec<Value> {
    client.ok(verb, fields);
    let mut records = Vec::new();
    loop {
        let record = client.wait_for(|line| line.get("kind").is_some());
        let is_end = record["kind"] == "turn_finished";
        records.push(record);
        if is_end {
            return records;
        }
    }
}

fn text<'a>(records: &'a [Value], kind: &str) -> &'a str {
    let found = records.iter().find(|one| one["kind"] == kind);
    found.unwrap_or_else(|| panic!("{kind}: {records:?}"))["text"].as_str().unwrap()
}

#[test]
fn a_prompt_is_answered_again_and_taken_back() {
    let scene = scripted(Scene::new().model_says(&["First.", "Second.", "Third."]));
    let (_server, mut client) = Server::stdio(&scene);
    let session = client.open(json!({}));
    let ask = json!({ "session": session, "text": "guess" });
    assert_eq!(text(&turn(&mut client, "prompt", ask), "reply"), "First.");
    let again = turn(&mut client, "prompt", json!({ "session": session, "again": true }));
    assert_eq!(text(&again, "reply"), "Second.");
    let forgot = turn(&mut client, "prompt", json!({ "session": session, "forget": true }));
    assert!(text(&forgot, "note").contains("removed from the conversation"), "{forgot:?}");
    let again = turn(&mut client, "prompt", json!({ "session": session, "again": true }));
    assert!(text(&again, "note").contains("no prompt"), "{again:?}");
    // With the next prompt the model is sent that alone.
    let ask = json!({ "session": session, "text": "hello" });
    let asked = turn(&mut client, "prompt", ask);
    let request = asked.iter().find(|one| one["kind"] == "request").unwrap();
    assert_eq!(request["messages"], 2, "{request}");
}

#[test]
fn files_go_with_a_prompt() {
    let scene = scripted(Scene::new().model_says(&["Read.", "Read."]));
    let (_server, mut client) = Server::stdio(&scene);
    let session = client.open(json!({}));
    let long = "a line\n".repeat(10_000);
    let files = json!([
        { "name": "notes\u{1b}[2J.txt", "text": "buy milk" }, { "name": "long.txt", "text": long },
    ]);
    let ask = json!({ "session": session, "text": "read", "files": files });
    let records = turn(&mut client, "prompt", ask);
    let sent: Vec<_> = records.iter().filter(|one| one["kind"] == "file").collect();
    assert_eq!((&sent[0]["text"], &sent[0]["bytes"]), (&json!("buy milk"), &json!(8)));
    assert!(!sent[0]["name"].as_str().unwrap().contains('\u{1b}'), "{}", sent[0]);
    assert!(sent[1]["text"].as_str().unwrap().ends_with("code can read the rest]\n"));
    // It may be anybody's words.
    assert!(records.iter().any(|one| one["kind"] == "outside_text"), "{records:?}");

    let file = json!({ "name": "a", "text": "b" });
    let many = json!({ "session": session, "text": "x", "files": vec![file.clone(); 9] });
    assert_eq!(client.refused("prompt", many), "too_many");
    let binary = json!([{ "name": "a", "text": "\u{0}" }]);
    let binary = json!({ "session": session, "text": "x", "files": binary });
    assert_eq!(client.refused("prompt", binary), "malformed");
    let alone = json!({ "session": session, "again": true, "files": [file] });
    assert_eq!(client.refused("prompt", alone), "malformed");
}

#[test]
fn another_model_hears_the_conversation() {
    let other = Plain::streaming("From the other.");
    let config = format!(
        "[endpoint.other]\nbase_url = '{}/v1'\nformat = 'openai'\nmodel = 'm'\n",
        other.address
    );
    let scene = Scene::new().home_file(CONFIG, &config).model_says(&["From the first."]);
    let scene = scripted(scene);
    let (_server, mut client) = Server::stdio(&scene);
    let session = client.open(json!({}));
    turn(&mut client, "prompt", json!({ "session": session, "text": "the word is plum" }));
    let records = turn(&mut client, "prompt", json!({ "session": session, "model": "other" }));
    assert!(records.iter().any(|one| one["kind"] == "model_changed"), "{records:?}");
    let ask = json!({ "session": session, "text": "which word?" });
    assert_eq!(text(&turn(&mut client, "prompt", ask), "reply"), "From the other.");
    assert!(other.asked().last().unwrap().contains("the word is plum"));
    // One that is not there leaves the old one.
    let switch = json!({ "session": session, "model": "nowhere/x" });
    assert_eq!(client.refused("prompt", switch), "no_model");
    let ask = json!({ "session": session, "text": "still?" });
    assert_eq!(text(&turn(&mut client, "prompt", ask), "reply"), "From the other.");
}

#[test]
fn cells_run_again_after_a_question() {
    let scene = scripted(Scene::new());
    let (_server, mut client) = Server::stdio(&scene);
    let session = client.open(json!({ "mode": "run" }));
    client.run(&session, "python", "x = 41");
    client.ok("restart", json!({ "session": session, "replay": true }));
    let question = client.record("question");
    assert_eq!(
        (&question["about"], &question["cells"][0]["cell"]),
        (&json!("replay"), &json!("p1"))
    );
    client.answer(&question, json!({ "decision": "run" }));
    client.record("turn_finished");
    assert_eq!(client.run(&session, "python", "print(x + 1)"), "42\n");
}

#[test]
fn a_yes_and_a_no_are_given_beforehand_and_taken_back() {
    let code = cell("python", "print(6 * 7)");
    let scene = scripted(Scene::new().model_says(&[&code, "a", &code, "b", &code, "c"]));
    let (_server, mut client) = Server::stdio(&scene);
    let session = client.open(json!({}));
    let ask = json!({ "session": session, "text": "go" });
    for wrong in [
        json!({ "allow": "klingon" }),
        json!({ "deny": { "language": "klingon" } }),
        json!({ "deny": { "finding": "magic" } }),
        json!({ "deny": { "line": " " } }),
        json!({ "deny": { "line": "*".repeat(1_001) } }),
    ] {
        let mut fields = wrong.clone();
        fields["session"] = session.clone().into();
        assert_eq!(client.refused("grant", fields), "refused", "{wrong}");
    }
    let held = client.ok("grant", json!({ "session": session, "allow": "python" }));
    assert_eq!(held["standing"][0]["number"], 1, "{held}");
    client.record("turn_finished");
    let records = turn(&mut client, "prompt", ask.clone());
    assert_eq!(text(&records, "output"), "42\n");
    assert!(!records.iter().any(|one| one["kind"] == "question"), "{records:?}");

    // A no wins.
    let no = json!({ "session": session, "deny": { "line": "*print*" } });
    let held = client.ok("grant", no);
    assert_eq!(held["standing"].as_array().unwrap().len(), 2, "{held}");
    client.record("turn_finished");
    let records = turn(&mut client, "prompt", ask.clone());
    let verdict = records.iter().find(|one| one["kind"] == "verdict").unwrap();
    assert_eq!(verdict["decision"], "deny", "{records:?}");
    for number in [1, 2] {
        client.ok("grant", json!({ "session": session, "revoke": number }));
        client.record("turn_finished");
    }
    client.ok("prompt", ask);
    let question = client.record("question");
    // While something is under way nothing is given beforehand.
    let busy = json!({ "session": session, "allow": "all" });
    assert_eq!(client.refused("grant", busy), "busy");
    client.answer(&question, json!({ "decision": "reject" }));
}

#[test]
fn a_staged_file_is_read_in_pieces_and_sets_are_listed() {
    let scene = scripted(Scene::new().file("mine.txt", "as it was"));
    let (_server, mut client) = Server::stdio(&scene);
    let session = client.open(json!({ "mode": "run" }));
    let code =
        "open('big.bin', 'wb').write(bytes(range(256)) * 8192)\nopen('mine.txt', 'w').write('new')";
    client.run(&session, "python", code);
    let (mut bytes, mut size) = (Vec::new(), 1);
    while bytes.len() < size {
        let wish = json!({ "session": session, "path": "big.bin", "from": bytes.len() });
        let piece = client.ok("changes", wish);
        size = usize::try_from(piece["bytes"].as_u64().unwrap()).unwrap();
        let read = STANDARD.decode(piece["base64"].as_str().unwrap()).unwrap();
        assert!(!read.is_empty() && read.len() <= 1 << 20);
        bytes.extend(read);
    }
    assert_eq!(bytes, (0..=255).cycle().take(256 * 8192).collect::<Vec<u8>>());
    let read = |client: &mut Client, path: &str, from: u64| {
        let piece = client.ok("changes", json!({ "session": session, "path": path, "from": from }));
        String::from_utf8(STANDARD.decode(piece["base64"].as_str().unwrap()).unwrap()).unwrap()
    };
    assert_eq!(read(&mut client, "mine.txt", 0), "new");
    assert_eq!(read(&mut client, "mine.txt", 2), "w");
    assert_eq!(read(&mut client, "mine.txt", 99), "");
    for path in ["none.txt", "../../etc/passwd", "/etc/passwd", ""] {
        let wish = json!({ "session": session, "path": path, "from": 0 });
        assert_eq!(client.refused("changes", wish), "no_such_file", "{path}");
    }
    let listed = client.ok("changes", json!({ "session": session, "sets": true }));
    let set = &listed["sets"][0];
    let expected = (&json!(session), &json!("staged"), &json!(2), &json!(false));
    assert_eq!((&set["session"], &set["state"], &set["files"], &set["in_use"]), expected);
}

/// Each of them with a share that is too small; the control is the next larger one, or the owner.
#[test]
fn a_guest_does_with_the_conversation_only_what_was_shared() {
    let scene = Scene::new().file("mine.txt", "of the folder").model_says(&["Hello.", "Again."]);
    let scene = scripted(scene);
    let people =
        [("anna", "approver"), ("wim", "approver"), ("sue", "approver"), ("dan", "approver")];
    let serving = team(&scene, &people);
    let [anna, wim, sue, dan] = people.map(|(name, _)| Member::new(&serving, name));
    let session = anna.open("chat");
    for (name, kind) in [("wim", "watch"), ("sue", "suggest"), ("dan", "drive")] {
        let share = json!({ "with": name, "as": kind });
        anna.ok("grant", json!({ "session": session, "share": share }));
    }
    let of = |more: Value| {
        let mut fields = more;
        fields["session"] = session.clone().into();
        fields
    };
    let mut seen = anna.follow(&session);
    assert_eq!(wim.refused("prompt", of(json!({ "text": "hi" }))), "not_allowed");
    sue.ok("prompt", of(json!({ "text": "hi" })));
    seen.record("turn_finished");
    for fields in [json!({ "again": true }), json!({ "forget": true })] {
        assert_eq!(wim.refused("prompt", of(fields.clone())), "not_allowed");
        assert_eq!(sue.refused("prompt", of(fields)), "not_allowed");
    }
    dan.ok("prompt", of(json!({ "again": true })));
    seen.record("turn_finished");
    // Nobody but the owner has a conversation go to another provider.
    for guest in [&wim, &sue, &dan] {
        assert_eq!(guest.refused("prompt", of(json!({ "model": "openai/gpt" }))), "not_allowed");
    }
    assert_eq!(anna.refused("prompt", of(json!({ "model": "nowhere/none" }))), "no_model");
    anna.ok("prompt", of(json!({ "model": "scripted:script.toml" })));
    seen.record("turn_finished");
    for fields in [json!({ "allow": "all" }), json!({ "deny": { "language": "python" } })] {
        for guest in [&wim, &sue] {
            assert_eq!(guest.refused("grant", of(fields.clone())), "not_allowed", "{fields}");
        }
    }
    dan.ok("grant", of(json!({ "deny": { "language": "python" } })));
    let (read, sets) = (json!({ "path": "mine.txt", "from": 0 }), json!({ "sets": true }));
    for guest in [&wim, &sue] {
        assert_eq!(guest.refused("changes", of(read.clone())), "not_allowed");
    }
    dan.ok("changes", of(read));
    for guest in [&wim, &sue, &dan] {
        assert_eq!(guest.refused("changes", of(sets.clone())), "not_allowed");
    }
    anna.ok("changes", of(sets));
    for guest in [&wim, &sue] {
        assert_eq!(guest.refused("restart", of(json!({ "replay": true }))), "not_allowed");
    }
}
