//! Files up and down: staged as an effect, and taken elsewhere.

use crate::{
    api::{Caller, new_token},
    scene::Scene,
    serving::{Answer, Serving, must_end},
};
use serde_json::{Value, json};
use std::{
    io::Write,
    process::{Command, Stdio},
};

const RIGHTS: &str = "watch,prompt,answer,change";

/// Sends a file. The server may refuse it before it has come.
fn put(caller: &Caller<'_>, target: &str, body: &[u8]) -> (u16, Value) {
    put_as(caller, target, body, body.len())
}

fn put_as(caller: &Caller<'_>, target: &str, body: &[u8], length: usize) -> (u16, Value) {
    let (host, token) = (caller.serving.host(), &caller.token);
    let head = format!(
        "PUT {target} HTTP/1.1\r\n{host}\r\n{token}\r\nConnection: close\r\n\
         Content-Length: {length}\r\n\r\n"
    );
    let Answer { status, body, .. } = caller.serving.send_raw(&[head.as_bytes(), body].concat());
    (status, serde_json::from_str(&body).unwrap_or_default())
}

/// The head and the bytes of an answer.
fn bytes(caller: &Caller<'_>, target: &str) -> (String, Vec<u8>) {
    let (host, token) = (caller.serving.host(), &caller.token);
    let head = format!("GET {target} HTTP/1.1\r\n{host}\r\n{token}\r\nConnection: close\r\n\r\n");
    let mut stream = caller.serving.connect();
    // It may have been refused already.
    _ = stream.write_all(head.as_bytes());
    let all = must_end(&mut stream);
    let at = all.windows(4).position(|four| four == b"\r\n\r\n").expect("an answer");
    (String::from_utf8_lossy(&all[..at]).into_owned(), all[at + 4..].to_vec())
}

/// Runs code, leaves what it stages for later, and gives the number of the last record.
fn run(caller: &Caller<'_>, session: &str, after: u64, code: &str) -> (u64, String) {
    let at = |part: &str| format!("/v1/sessions/{session}/{part}");
    caller.ok("POST", &at("run"), json!({ "language": "python", "code": code }));
    let asked = caller.record_after(session, after, "question");
    assert_eq!(asked["about"], "changes");
    let later = json!({ "hash": asked["hash"], "decision": "later" });
    caller.ok("POST", &at(&format!("questions/{}/answer", asked["id"].as_str().unwrap())), later);
    let seq = asked["seq"].as_u64().unwrap();
    let done = caller.record_after(session, seq, "turn_finished");
    let output = caller.get(&at(&format!("records?after={after}")));
    let records = output["records"].as_array().unwrap();
    let printed = records.iter().filter(|record| record["kind"] == "output");
    let printed = printed.filter_map(|record| record["text"].as_str()).collect();
    (done["seq"].as_u64().unwrap(), printed)
}

#[test]
fn a_file_is_seen_by_code_shown_as_an_effect_applied_and_undone() {
    let scene = Scene::new().file("mine.txt", "mine\n");
    let serving = Serving::start(&scene);
    let caller = Caller { serving: &serving, token: new_token(&scene, "anna", RIGHTS) };
    let session = caller.open(json!({ "mode": "run" }));
    let at = |part: &str| format!("/v1/sessions/{session}/{part}");
    // Before anything ran, and while a sandbox is up.
    let (status, done) = put(&caller, &at("files/data/one%20two.csv"), b"a,b\n1,2\n");
    assert_eq!(status, 200, "{done}");
    assert_eq!((&done["state"], &done["bytes"]), (&json!("staged"), &json!(8)), "{done}");
    let wanted = caller.record_after(&session, 0, "changes_wanted");
    assert_eq!((&wanted["who"], &wanted["wish"]), (&json!("anna"), &json!("put")));
    assert_eq!(wanted["sha256"], done["sha256"]);
    assert_eq!(wanted["paths"], json!(["data/one two.csv"]));
    let code = "print(open('data/one two.csv').read())";
    let (last, printed) = run(&caller, &session, 0, code);
    assert!(printed.contains("1,2"), "{printed}");
    let (status, done) = put(&caller, &at("files/mine.txt"), b"theirs\n");
    assert_eq!(status, 200, "{done}");
    let small = json!({ "id": 1, "do": "put", "session": session, "path": "s", "base64": "aGk=" });
    let small = caller.ok("POST", "/v1/do", small);
    assert_eq!(small["ok"]["state"], "staged", "{small}");
    let (_, printed) =
        run(&caller, &session, last, "print(open('mine.txt').read(), open('s').read())");
    assert!(printed.contains("theirs") && printed.contains("hi"), "{printed}");
    assert_eq!(scene.read("mine.txt").as_deref(), Some("mine\n"));
    // Down again, staged; and what the folder has.
    let (head, body) = bytes(&caller, &at("files/mine.txt"));
    assert_eq!(body, b"theirs\n", "{head}");
    let head = head.to_ascii_lowercase();
    assert!(
        head.contains("attachment; filename=\"mine.txt\"") && head.contains("nosniff"),
        "{head}"
    );
    let (_, patch) = bytes(&caller, &at("files?of=staged&form=patch"));
    let patch = String::from_utf8(patch).unwrap();
    assert!(patch.contains("-mine\n+theirs\n"), "{patch}");
    // Shown, applied, undone; and an undo of something else is refused.
    let changes = caller.get(&at("changes"));
    let paths: Vec<_> =
        changes["files"].as_array().unwrap().iter().map(|file| file["path"].clone()).collect();
    assert!(paths.contains(&json!("mine.txt")), "{changes}");
    caller.ok("POST", &at("apply"), json!({ "changes": changes["id"] }));
    assert_eq!(scene.read("mine.txt").as_deref(), Some("theirs\n"));
    assert_eq!(scene.read("data/one two.csv").as_deref(), Some("a,b\n1,2\n"));
    let records = caller.get(&at("records?limit=1000"));
    let records = records["records"].as_array().unwrap();
    let newest = records.iter().rev().find(|record| record["kind"] == "changes").unwrap();
    let newest = newest["seq"].as_u64().unwrap();
    let (status, seen) = caller.ask("POST", &at("undo"), Some(&json!({ "newest": newest - 1 })));
    assert_eq!((status, &seen["error"]["code"]), (409, &json!("look_again")), "{seen}");
    assert_eq!(scene.read("mine.txt").as_deref(), Some("theirs\n"));
    caller.ok("POST", &at("undo"), json!({ "newest": newest }));
    assert_eq!(scene.read("mine.txt").as_deref(), Some("mine\n"));
    // Two who mean the same one: the second takes back nothing else.
    let (status, seen) = caller.ask("POST", &at("undo"), Some(&json!({ "newest": newest })));
    assert_eq!((status, &seen["error"]["code"]), (409, &json!("look_again")), "{seen}");
}

#[test]
fn no_file_lands_elsewhere_and_none_that_is_cut_stays() {
    let scene = Scene::new().file(".env", "KEY=1\n").file("seen.txt", "seen\n");
    let serving = Serving::start(&scene);
    let caller = Caller { serving: &serving, token: new_token(&scene, "anna", RIGHTS) };
    let watcher = Caller { serving: &serving, token: new_token(&scene, "eve", "watch") };
    let session = caller.open(json!({ "mode": "run" }));
    let at = |part: &str| format!("/v1/sessions/{session}/files/{part}");
    let plant = "import os\nos.symlink('/tmp', 'out')\nos.symlink('seen.txt', 'link')";
    run(&caller, &session, 0, plant);
    for path in [
        "..",
        "../evil",
        "%2e%2e/evil",
        "%2e%2e%2fevil",
        "..%2fevil",
        "a/../../evil",
        "%2fetc%2fx",
        "/etc/x",
        ".",
        "a//b",
        "a%00",
        "a%0ab",
        "..%5cevil",
        "%5cx2e%5cx2e/evil",
        "%c0%ae/evil",
        "%ff",
        "%",
        "out/evil",
        "link",
        ".env",
        "sub/.env",
        ".ssh/id_rsa",
        "a/",
    ] {
        let (status, seen) = put(&caller, &at(path), b"evil");
        assert!((400..500).contains(&status), "{path}: {status} {seen}");
        let (status, seen) = caller.ask("GET", &at(path), None);
        assert!((400..500).contains(&status), "{path}: {status} {seen}");
    }
    // A link leads nowhere, a secret is out of reach; the control is read.
    assert_eq!(bytes(&caller, &at("seen.txt")).1, b"seen\n");
    // No right, no session, too large.
    assert_eq!(put(&watcher, &at("a.txt"), b"evil").0, 403);
    let (status, seen) = put(&caller, "/v1/sessions/nobody/files/a.txt", b"evil");
    assert_eq!((status, &seen["error"]["code"]), (404, &json!("unknown_session")), "{seen}");
    assert_eq!(put_as(&caller, &at("big"), b"", 1 << 50).0, 422);
    // One that is cut is not there.
    let (host, token) = (serving.host(), &caller.token);
    let target = at("cut.txt");
    let head =
        format!("PUT {target} HTTP/1.1\r\n{host}\r\n{token}\r\nContent-Length: 100\r\n\r\nhalf");
    let mut stream = serving.connect();
    stream.write_all(head.as_bytes()).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    must_end(&mut stream);
    assert_eq!(caller.ask("GET", &target, None).0, 404);
    assert_eq!(put(&caller, &target, b"whole").0, 200);
    assert_eq!(bytes(&caller, &target).1, b"whole");
    assert_eq!(scene.read("cut.txt"), None);
}

#[test]
fn names_in_an_archive_lead_nowhere() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let caller = Caller { serving: &serving, token: new_token(&scene, "anna", RIGHTS) };
    let session = caller.open(json!({ "mode": "run" }));
    let code = "import os\nfor name in ['..\\\\..\\\\evil', 'C:\\\\x', 'a\\nb', 'd/ä', 'nul.txt', 'A', 'a']:\n    \
         os.makedirs('d', exist_ok=True)\n    open(name, 'w').write(name)\n\
         os.symlink('/etc/passwd', 'link')\nopen('empty', 'w')";
    run(&caller, &session, 0, code);
    let (head, zip) = bytes(&caller, &format!("/v1/sessions/{session}/files?of=staged&form=zip"));
    assert!(
        head.to_ascii_lowercase().contains(&format!("content-length: {}", zip.len())),
        "{head}"
    );
    let check = "import sys, io, zipfile, json\nz = zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read()))\n\
         assert z.testzip() is None\n\
         print(json.dumps([[i.filename, i.flag_bits >> 11 & 1, z.read(i).decode()] for i in z.infolist()]))\n\
         assert all(i.external_attr >> 28 == 8 for i in z.infolist())\n\
         assert b'link' in z.comment, z.comment";
    let mut python = Command::new("python3")
        .args(["-c", check])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    python.stdin.take().unwrap().write_all(&zip).unwrap();
    let seen = python.wait_with_output().unwrap();
    assert!(seen.status.success());
    let members: Vec<(String, u8, String)> = serde_json::from_slice(&seen.stdout).unwrap();
    assert_eq!(members.len(), 8, "{members:?}");
    for (name, utf8, _) in &members {
        assert_eq!(*utf8, 1);
        assert!(!name.contains(['\\', ':', '\n']) && !name.starts_with('/'), "{name:?}");
        assert!(name.split('/').all(|part| !matches!(part, "" | "." | "..")), "{name:?}");
    }
    let unicode = members.iter().find(|(_, _, text)| text == "d/ä").unwrap();
    assert_eq!(unicode.0, "d/ä");
}
