//! Sessions for other programs: what one client does, every client sees, and nothing gets lost.

use crate::{
    protocol_client::{Client, Server, scripted},
    scene::{Scene, cell},
};
use serde_json::{Value, json};
use std::{collections::BTreeMap, io::Read, os::unix::net::UnixStream, path::Path};

fn decision(word: &str) -> Value {
    json!({ "decision": word })
}

#[test]
fn code_runs_after_an_answer_to_what_was_shown() {
    let code = "print(6 * 7)";
    let scene = scripted(Scene::new().model_says(&[&cell("python", code), "Done."]));
    let (_server, mut client) = Server::stdio(&scene);
    let session = client.open(json!({}));
    client.ok("prompt", json!({ "session": session, "text": "compute" }));
    let question = client.record("question");
    assert_eq!(question["code"].as_str().unwrap().trim(), code);
    // An answer to something else changes nothing.
    let mut other = question.clone();
    other["hash"] = "0".repeat(64).into();
    let refused = client.answer(&other, decision("run"));
    assert_eq!(refused["error"]["code"], "another_hash", "{refused}");
    other["id"] = "q9".into();
    assert_eq!(client.answer(&other, decision("run"))["error"]["code"], "closed");
    let refused = client.answer(&question, json!({ "decision": "run", "code": "other" }));
    assert_eq!(refused["error"]["code"], "malformed", "{refused}");
    // Edited code is asked about again, and then it is what runs.
    client.answer(&question, json!({ "decision": "edit", "code": "print(6 * 8)" }));
    let edited = client.record("question");
    assert_eq!((&edited["code"], &edited["edited"]), (&json!("print(6 * 8)"), &json!(true)));
    assert_eq!(client.answer(&question, decision("run"))["error"]["code"], "closed");
    client.answer(&edited, decision("run"));
    assert_eq!(client.record("output")["text"], "48\n");
    client.record("turn_finished");
}

#[test]
fn what_a_model_writes_comes_piece_by_piece_and_each_piece_has_its_place() {
    let text = "Grüße, ein längerer Satz — mit Zeichen.";
    let script = format!("[[reply]]\nchunk = 3\ntext = {}\n", json!(text));
    let scene = scripted(Scene::new().script(&script));
    let (_server, mut client) = Server::stdio(&scene);
    let session = client.open(json!({}));
    client.ok("prompt", json!({ "session": session, "text": "write" }));
    let mut heard = String::new();
    loop {
        let line = client.wait_for(|line| line["live"] == "text" || line["kind"] == "reply");
        if line["kind"] == "reply" {
            assert_eq!(line["text"], text);
            break;
        }
        assert_eq!((&line["reply"], &line["offset"]), (&json!(1), &json!(heard.len())));
        heard += line["text"].as_str().unwrap();
    }
    assert!(text.starts_with(&heard), "{heard}");
}

#[test]
fn two_clients_see_the_same_and_the_first_answer_counts() {
    let scene = scripted(Scene::new().model_says(&[&cell("python", "print(1)"), "Done."]));
    let server = Server::socket(&scene);
    let (mut one, mut two) = (server.client(), server.client());
    let session = one.open(json!({}));
    two.ok("subscribe", json!({ "session": session, "after": 0 }));
    two.ok("subscribe", json!({ "list": true }));
    one.ok("prompt", json!({ "session": session, "text": "go" }));
    let (seen, also) = (one.record("question"), two.record("question"));
    assert_eq!(seen, also);
    let listed = two.ok("list", json!({}));
    assert_eq!(listed["questions"][0]["hash"], seen["hash"]);
    assert!(two.answer(&also, decision("run")).get("ok").is_some());
    let late = one.answer(&seen, json!({ "decision": "reject" }));
    assert_eq!(
        (&late["error"]["code"], &late["error"]["by"]),
        (&json!("closed"), &json!("socket-2"))
    );
    let answer = one.record("answer");
    assert_eq!((&answer["who"], &answer["decision"]), (&json!("socket-2"), &json!("run")));
    assert_eq!(one.record("turn_finished"), two.record("turn_finished"));
    // Whoever comes later sees the same from the start.
    let mut three = server.client();
    three.ok("subscribe", json!({ "session": session, "after": 0 }));
    assert_eq!(three.record("session_started")["seq"], 1);
    assert_eq!(three.record("question"), seen);
    // A client that leaves ends nothing.
    drop((one, two));
    assert_eq!(three.ok("list", json!({}))["sessions"][0]["state"], "idle");
}

/// Reads some bytes of a session from a place on, and hangs up.
fn cut(socket: &Path, session: &str, after: u64, bytes: usize) -> Vec<Value> {
    let mut stream = UnixStream::connect(socket).unwrap();
    let request = json!({ "id": 1, "do": "subscribe", "session": session, "after": after });
    std::io::Write::write_all(&mut stream, format!("{request}\n").as_bytes()).unwrap();
    // It sends no more, so the server ends the connection when it has sent everything.
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut seen = vec![0; bytes];
    let mut length = 0;
    while length < bytes {
        match stream.read(&mut seen[length..]) {
            Ok(0) | Err(_) => break,
            Ok(read) => length += read,
        }
    }
    // A line that was cut is no line.
    let text = String::from_utf8_lossy(&seen[..length]).into_owned();
    let end = text.rfind('\n').map_or(0, |end| end + 1);
    let lines = text[..end].lines().map(|line| serde_json::from_str(line).unwrap());
    lines.filter(|line: &Value| line.get("kind").is_some()).collect()
}

#[test]
fn a_connection_that_is_cut_anywhere_loses_and_doubles_nothing() {
    let scene = Scene::new();
    let server = Server::socket(&scene);
    let mut client = server.client();
    let session = client.open(json!({ "mode": "run" }));
    // Small outputs, and one that has a file of its own.
    let code = "import sys\nfor n in range(40):\n    print(n)\n    sys.stdout.flush()\nprint('x' * 300_000)";
    for _ in 0..4 {
        client.run(&session, "python", code);
    }
    let last = client.ok("list", json!({}))["sessions"][0]["seq"].as_u64().unwrap();
    let mut seen = BTreeMap::<u64, Value>::new();
    let (mut after, mut chance) = (0_u64, 7_u64);
    while after < last {
        chance =
            chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bytes = 1 + usize::try_from(chance >> 33).unwrap() % 700_000;
        for record in cut(&server.socket, &session, after, bytes) {
            let seq = record["seq"].as_u64().unwrap();
            assert_eq!(seq, after + 1, "lost, doubled or out of order");
            seen.insert(seq, record);
            after = seq;
        }
    }
    client.ok("close", json!({ "session": session }));
    // The record has the same, whoever reads it.
    let mut all = server.client();
    all.ok("subscribe", json!({ "session": session, "after": 0 }));
    for (seq, record) in &seen {
        assert_eq!(all.wait_for(|line| line["seq"] == *seq), *record);
    }
}

#[test]
fn whoever_does_not_read_stops_nobody() {
    let scene = Scene::new();
    let server = Server::socket(&scene);
    let (mut one, mut idle) = (server.client(), server.client());
    let session = one.open(json!({ "mode": "run" }));
    // It subscribes and reads nothing of what follows.
    idle.send(&json!({ "id": 1, "do": "subscribe", "session": session, "after": 0 }));
    for _ in 0..3 {
        let printed = one.run(&session, "python", "print('y' * 2_000_000)");
        assert_eq!(printed.len(), 2_000_001);
    }
    one.ok("close", json!({ "session": session }));
    // And when it reads at last, it gets all of it, in order.
    let mut next = 1;
    loop {
        let record = idle.wait_for(|line| line.get("kind").is_some());
        assert_eq!(record["seq"], next);
        next += 1;
        if record["kind"] == "session_ended" {
            break;
        }
    }
}

#[test]
fn requests_that_make_no_sense_are_answered_and_cost_nothing() {
    let scene = Scene::new();
    let server = Server::socket(&scene);
    let mut client = server.client();
    let long = [vec![b'['; 9 << 20], b"\n".to_vec()].concat();
    let deep = ["[".repeat(100_000).into_bytes(), b"\n".to_vec()].concat();
    for line in
        [&long[..], &deep, b"\xff\xfe\n", b"{\"id\":1,\"do\":\"open\",\"do\":7}\n", b"null\n"]
    {
        client.send_raw(line);
        let reply = client.line().unwrap();
        assert_eq!(reply["error"]["code"], "malformed", "{reply}");
    }
    let flood: String = (0..2_000).map(|n| format!("{{\"id\":{n},\"do\":\"sudo\"}}\n")).collect();
    let mut reader = server.client();
    std::thread::scope(|scope| {
        let mut writer = server.client();
        scope.spawn(move || {
            writer.send_raw(flood.as_bytes());
            for n in 0..2_000 {
                assert_eq!(writer.line().unwrap()["id"], n);
            }
        });
        assert_eq!(reader.ok("list", json!({}))["sessions"], json!([]));
    });
    // A session is not opened for long with what it does not know.
    assert_eq!(
        client.refused("prompt", json!({ "session": "01a", "text": "x" })),
        "unknown_session"
    );
    let session = client.open(json!({ "mode": "run" }));
    let run = json!({ "session": session, "language": "klingon", "code": "1" });
    assert_eq!(client.refused("run", run), "refused");
    assert_eq!(client.refused("grant", json!({ "session": session, "revoke": 7 })), "refused");
    assert_eq!(client.refused("resume", json!({ "session": session })), "running");
    assert_eq!(client.run(&session, "python", "print(1)"), "1\n");
}

#[test]
fn a_session_goes_on_after_the_server_was_killed() {
    let code = "open('ran', 'a').write('x')\nprint('it ran')";
    let scene = scripted(Scene::new().model_says(&[&cell("python", code), "Done."]));
    let (mut server, mut client) = Server::stdio(&scene);
    let session = client.open(json!({}));
    client.ok("prompt", json!({ "session": session, "text": "go" }));
    let question = client.record("question");
    server.signal(rustix::process::Signal::KILL);
    server.wait();

    scene.play(&["Done."]);
    let (_server, mut client) = Server::stdio(&scene);
    let again = client.ok("resume", json!({ "session": session }))["session"].clone();
    client.ok("subscribe", json!({ "session": again, "after": 0 }));
    assert_eq!(client.record("resumed")["from"], session);
    let asked = client.record("question");
    let same = |name: &str| assert_eq!(asked[name], question[name], "{name}");
    ["id", "hash", "code"].into_iter().for_each(same);
    client.answer(&asked, decision("run"));
    assert_eq!(client.record("output")["text"], "it ran\n");
    client.record("question");
    // A yes counts once: whoever resumes the killed session again is not asked.
    let third = client.ok("resume", json!({ "session": session }))["session"].clone();
    client.ok("subscribe", json!({ "session": third, "after": 0 }));
    client.wait_for(|line| line["session"] == third && line["kind"] == "resumed");
    let listed = client.ok("list", json!({}));
    let asks = |one: &Value| one["session"] == third;
    assert!(!listed["questions"].as_array().unwrap().iter().any(asks), "{listed}");
}

#[test]
fn a_pick_means_the_file_of_that_name() {
    let scene = Scene::new();
    let (_server, mut client) = Server::stdio(&scene);
    let session = client.open(json!({ "mode": "run" }));
    let code = "import os\nos.mkdir('a')\nfor name in ('a/x', 'a:1', '[a]', 'b'):\n    open(name, 'w').write('new')";
    client.run(&session, "python", code);
    let look = |client: &mut Client| client.ok("changes", json!({ "session": session }));
    let mut apply = |picks: Value| {
        let id = look(&mut client)["id"].clone();
        client.request("apply", json!({ "session": session, "changes": id, "picks": picks }))
    };
    assert_eq!(apply(json!([]))["error"]["code"], "malformed");
    assert_eq!(apply(json!(["b"]))["error"]["code"], "malformed");
    assert_eq!(apply(json!([{ "path": "*" }]))["error"]["code"], "refused");
    assert_eq!(apply(json!([{ "path": "../work/b" }]))["error"]["code"], "refused");
    let applied = apply(json!([{ "path": "a:1" }]));
    assert_eq!(applied["ok"]["files"][0]["path"], "a:1", "{applied}");
    assert!(apply(json!([{ "path": "[a]" }])).get("ok").is_some());
    let there = |name: &str| scene.work().join(name).exists();
    assert_eq!(["a:1", "[a]", "a/x", "b"].map(there), [true, true, false, false]);
    // A look at one path shows nothing else, so nothing else can be picked by it.
    let part = client.ok("changes", json!({ "session": session, "path": "b" }));
    assert_eq!(part["files"].as_array().unwrap().len(), 1);
    let fields = json!({ "session": session, "changes": part["id"], "picks": [{ "path": "a/x" }] });
    assert_eq!(client.refused("apply", fields), "look_again");
    let applied = client.ok("apply", json!({ "session": session, "changes": part["id"] }));
    assert_eq!(applied["files"].as_array().unwrap().len(), 1, "{applied}");
    assert_eq!(["b", "a/x"].map(there), [true, false]);
}

#[test]
fn what_code_exchanges_behind_the_scenes_is_not_applied() {
    // A process that code leaves running never stops exchanging the file.
    let code = "import os\nopen('note', 'w').write('0')\nif os.fork() == 0:\n    n = 0\n    while True:\n        n += 1\n        open('.next', 'w').write(str(n))\n        os.replace('.next', 'note')";
    let scene = Scene::new();
    let (_server, mut client) = Server::stdio(&scene);
    let session = client.open(json!({ "mode": "run" }));
    client.run(&session, "python", code);
    let shown = |look: &Value| {
        let files = look["files"].as_array().unwrap();
        let note = files.iter().find(|file| file["path"] == "note").unwrap();
        let added = note["head"]
            .as_str()
            .unwrap()
            .lines()
            .find(|line| line.starts_with('+') && !line.starts_with("+++"));
        added.unwrap()[1..].to_owned()
    };
    let first = client.ok("changes", json!({ "session": session }));
    // While the process has not had its turn, another look is the same one.
    let second = loop {
        let look = client.ok("changes", json!({ "session": session }));
        if look["id"] != first["id"] {
            break look;
        }
    };
    let apply = |look: &Value| json!({ "session": session, "changes": look["id"], "picks": [{ "path": "note" }] });
    assert_eq!(client.refused("apply", apply(&first)), "look_again");
    assert_eq!(scene.read("note"), None);
    // Another look was refused, and this one is still the one that was shown last.
    client.ok("apply", apply(&second));
    assert_eq!(scene.read("note"), Some(shown(&second)));
    assert_eq!(client.refused("apply", apply(&second)), "look_again");
}

#[test]
fn a_session_that_comes_from_another_asks_no_less() {
    let profile = ".config/interpreter/profiles/careful.toml";
    let code = cell("python", "print('unasked')");
    let scene = scripted(Scene::new().model_says(&["Hello."]))
        .home_file(".config/interpreter/config.toml", "[approval]\nmode = \"auto\"\n")
        .home_file(profile, "[approval]\nmode = \"ask\"\n");
    // The control: by these settings code of low risk is not asked about.
    scene.play(&[&code, "Done."]);
    scene.chat(&["--json", "compute"]).mentions("unasked\\n").exits(0);
    scene.play(&["Hello."]);
    let started = |more: &[&str]| {
        let seen = scene.chat(&[&["--json"], more, &["hello"]].concat()).exits(0);
        seen.of_kind("session_started")[0]["session"].as_str().unwrap().to_owned()
    };
    let sources = [started(&["--approval", "ask"]), started(&["--profile", "careful"])];
    let unasked = started(&[]);
    scene.play(&[&code, "Done."]);
    let (_server, mut client) = Server::stdio(&scene);
    let mut asks = |verb: &str, session: &str| {
        let new = client.ok(verb, json!({ "session": session }))["session"].clone();
        client.ok("subscribe", json!({ "session": new, "after": 0 }));
        client.ok("prompt", json!({ "session": new, "text": "go" }));
        let next = client.wait_for(|line| {
            let is_told = line["kind"] == "question" || line["kind"] == "run_started";
            is_told && line["session"] == new
        });
        (new.as_str().unwrap().to_owned(), next["kind"] == "question")
    };
    for source in &sources {
        let (forked, is_asked) = asks("fork", source);
        assert!(is_asked, "a fork of {source}");
        assert!(asks("resume", source).1, "the resumed {source}");
        assert!(asks("fork", &forked).1, "a fork of a fork");
    }
    assert!(!asks("fork", &unasked).1);
}
