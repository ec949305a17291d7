//! Clients that reach for more than they have: rights, files, addresses, the conversations of others.
//!
//! Each attack goes by every way in that it fits, and has a control: the same succeeds where it may.

use crate::{
    api::{Caller, new_token},
    protocol_client::scripted,
    scene::Scene,
    serving::{Serving, WebSocket, must_end},
};
use serde_json::{Value, json};
use std::{
    io::Write,
    net::{TcpListener, TcpStream},
};

/// A verb of the protocol for whoever has this line.
fn perform(serving: &Serving, line: &str, verb: &str, fields: &Value) -> Value {
    let mut request = fields.clone();
    (request["id"], request["do"]) = (1.into(), verb.into());
    let answer = serving.post("/v1/do", &[line], &request.to_string());
    serde_json::from_str(&answer.body).unwrap_or_default()
}

#[test]
fn whoever_names_their_own_rights_has_none_more() {
    let scene = scripted(Scene::new().model_says(&["Hello."]));
    let serving = Serving::start(&scene);
    let watch = new_token(&scene, "eye", "watch");
    let claims = [
        ("rights", json!(["admin", "answer", "prompt"])),
        ("right", json!("admin")),
        ("scope", json!("admin")),
        ("scopes", json!(["*"])),
        ("who", json!("page")),
        ("caller", json!({ "name": "page", "rights": 255 })),
        ("person", json!("anna")),
        ("as", json!("admin")),
        ("role", json!("admin")),
        ("token", json!(serving.token)),
    ];
    for (name, value) in &claims {
        let mut fields = json!({ "mode": "run" });
        fields[*name] = value.clone();
        let reply = perform(&serving, &watch, "open", &fields);
        assert!(reply["error"].is_object(), "{name}: {reply}");
        for target in ["/v1/sessions", "/v1/chat/completions", "/v1/responses", "/api/kernels"] {
            let seen = serving.post(target, &[&watch], &fields.to_string());
            assert_eq!(seen.status, 403, "{target} {name}: {seen:?}");
        }
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        for header in [format!("X-{name}: {text}"), format!("Interpreter-{name}: {text}")] {
            let seen = serving.post("/v1/sessions", &[&watch, &header], "{}");
            assert_eq!(seen.status, 403, "{header}");
        }
        let target = format!("/v1/sessions?{name}=admin");
        assert_eq!(serving.post(&target, &[&watch], "{}").status, 403, "{target}");
        // Beside a right that is there, a claim is a field that there is not.
        let prompt = serving.bearer();
        let seen = serving.post("/v1/sessions", &[&prompt], &fields.to_string());
        assert_eq!(seen.status, 400, "{name}: {seen:?}");
    }
    let all = Caller { serving: &serving, token: serving.bearer() };
    assert_eq!(all.get("/v1/sessions")["sessions"], json!([]));
    // The control.
    let caller = Caller { serving: &serving, token: new_token(&scene, "hand", "watch,prompt") };
    caller.open(json!({ "mode": "run" }));
}

/// Every verb, as something that would change a session or more.
fn verbs(session: &str) -> Vec<(&'static str, Value)> {
    let hash = "0".repeat(64);
    vec![
        ("open", json!({ "mode": "run" })),
        ("resume", json!({ "session": session })),
        ("fork", json!({ "session": session })),
        ("close", json!({ "session": session })),
        ("prompt", json!({ "session": session, "text": "x" })),
        ("run", json!({ "session": session, "language": "python", "code": "print(1)" })),
        (
            "answer",
            json!({ "session": session, "question": "q1", "hash": hash, "decision": "run" }),
        ),
        ("interrupt", json!({ "session": session })),
        ("restart", json!({ "session": session })),
        ("apply", json!({ "session": session, "changes": "a.1" })),
        ("discard", json!({ "session": session })),
        ("undo", json!({ "session": session })),
        ("put", json!({ "session": session, "path": "a", "base64": "eA==" })),
        ("grant", json!({ "session": session, "revoke": 1 })),
        ("shut", json!({})),
    ]
}

#[test]
fn whoever_may_only_watch_changes_nothing_by_any_way_in() {
    let scene = scripted(Scene::new().model_says(&["Hello."]));
    let serving = Serving::start(&scene);
    let all = Caller { serving: &serving, token: serving.bearer() };
    let session = all.open(json!({ "mode": "run" }));
    let row = || all.get(&format!("/v1/sessions/{session}"))["seq"].clone();
    let before = row();
    let watch = new_token(&scene, "eye", "watch");
    let mut socket = WebSocket::open(&serving, &[&watch]).unwrap_or_else(|seen| panic!("{seen:?}"));
    for (verb, fields) in verbs(&session) {
        let reply = perform(&serving, &watch, verb, &fields);
        assert_eq!(reply["error"]["code"], "not_allowed", "{verb}: {reply}");
        let mut request = fields;
        (request["id"], request["do"]) = (1.into(), verb.into());
        socket.say(&request.to_string());
        let heard: Value = serde_json::from_str(&socket.hear().unwrap()).unwrap();
        assert_eq!(heard["error"]["code"], "not_allowed", "{verb}: {heard}");
    }
    // By the routes, those in the form of others among them.
    let document = all.get("/v1/openapi.json");
    let mut tried = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys().filter(|method| *method != "get") {
            let target = path.replace("{session}", &session).replace("{question}", "q1");
            let target = target.replace("{kernel}", &session).replace("{path}", "a");
            let first = format!("{} {target} HTTP/1.1", method.to_uppercase());
            let kind = "Content-Type: application/json";
            let head = [&first, &serving.host(), "Connection: close", kind, &watch];
            let body = if method == "delete" { "" } else { "{}" };
            assert_eq!(serving.send(&head, body).status, 403, "{method} {target}");
            tried += 1;
        }
    }
    assert!(tried >= 16, "{tried}");
    assert_eq!(row(), before, "nothing was even written down");
    // The controls: watching works, and the same verbs do with their rights.
    let watcher = Caller { serving: &serving, token: watch };
    assert_eq!(watcher.get(&format!("/v1/sessions/{session}"))["state"], "idle");
    all.ok("POST", &format!("/v1/sessions/{session}/restart"), json!({}));
    assert_ne!(row(), before);
}

#[test]
fn a_folder_whose_name_begins_alike_is_another() {
    let scene = Scene::new().file("own.txt", "own\n");
    let beside = scene
        .work()
        .with_file_name(format!("{}-secret", scene.work().file_name().unwrap().to_str().unwrap()));
    scene.put(&beside.join("key.txt"), b"canary-beside");
    let serving = Serving::start(&scene);
    let rights = "watch,prompt,answer,change";
    let caller = Caller { serving: &serving, token: new_token(&scene, "anna", rights) };
    let session = caller.open(json!({ "mode": "run" }));
    let name = beside.file_name().unwrap().to_str().unwrap();
    for path in [
        format!("../{name}/key.txt"),
        format!("%2e%2e/{name}/key.txt"),
        format!("..%2f{name}%2fkey.txt"),
        format!("%2f{}", beside.join("key.txt").to_str().unwrap().trim_start_matches('/')),
        "../../proc/self/environ".to_owned(),
        "%2fproc%2f1%2fenviron".to_owned(),
        "%2fproc%2fself%2fenviron".to_owned(),
    ] {
        let target = format!("/v1/sessions/{session}/files/{path}");
        let (status, seen) = caller.ask("GET", &target, None);
        assert!((400..500).contains(&status), "{path}: {status} {seen}");
        let (status, seen) = caller.ask("PUT", &target, Some(&json!({})));
        assert!((400..500).contains(&status), "{path}: {status} {seen}");
        let put = json!({ "session": session, "path": path, "base64": "eA==" });
        let reply = perform(&serving, &caller.token, "put", &put);
        // By the verb nothing is escaped: a name with a percent sign is one of its own.
        let is_plain_name = path.contains('%') && !path.contains("../");
        assert!(is_plain_name || reply["error"].is_object(), "{path}: {reply}");
    }
    assert_eq!(std::fs::read(beside.join("key.txt")).unwrap(), b"canary-beside");
    // Nor does a session begin there for whoever may not open others.
    let prompt = new_token(&scene, "hand", "watch,prompt");
    let folder = json!({ "mode": "run", "folder": beside });
    let reply = perform(&serving, &prompt, "open", &folder);
    assert_eq!(reply["error"]["code"], "not_allowed", "{reply}");
    // The controls.
    let (status, _) = caller.ask("GET", &format!("/v1/sessions/{session}/files/own.txt"), None);
    assert_eq!(status, 200);
    let same = json!({ "mode": "run", "folder": scene.work() });
    assert!(perform(&serving, &prompt, "open", &same)["ok"].is_object());
}

/// Names that code may give to a file, and that mean more elsewhere.
const NAMES: [&str; 9] = [
    "a\r\nX-Evil: 1\r\n.txt",
    "a\\\"; filename=\"evil.exe",
    "..\\..\\evil.txt",
    "CON",
    "evil\u{202e}gpj.exe",
    "%2e%2e%2fevil",
    ";rm -rf.txt",
    "<img src=x onerror=alert(1)>",
    "C:evil.txt",
];

#[test]
fn names_that_code_chose_say_nothing_in_a_header_and_lead_nowhere() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let rights = "watch,prompt,answer,change";
    let caller = Caller { serving: &serving, token: new_token(&scene, "anna", rights) };
    let session = caller.open(json!({ "mode": "run" }));
    let long = "n".repeat(255);
    let names: Vec<_> = NAMES.into_iter().chain([long.as_str()]).collect();
    let code = format!(
        "import json, os\nfor name in json.loads({}):\n    open(name, 'w').write('content')\n\
         os.mkfifo('pipe')\nos.symlink('/proc/self/environ', 'environ')\n",
        // Text in JSON is text in Python, too.
        json!(json!(names).to_string())
    );
    let run = json!({ "language": "python", "code": code });
    caller.ok("POST", &format!("/v1/sessions/{session}/run"), run);
    caller.record_after(&session, 0, "run_finished");
    let escaped =
        |name: &str| name.bytes().fold(String::new(), |all, byte| all + &format!("%{byte:02x}"));
    let fetch = |name: &str| {
        let (host, token) = (serving.host(), &caller.token);
        let target = format!("/v1/sessions/{session}/files/{}", escaped(name));
        let head =
            format!("GET {target} HTTP/1.1\r\n{host}\r\n{token}\r\nConnection: close\r\n\r\n");
        let mut stream = serving.connect();
        // It may have been refused already.
        _ = stream.write_all(head.as_bytes());
        String::from_utf8_lossy(&must_end(&mut stream)).into_owned()
    };
    for name in names {
        let seen = fetch(name);
        let (head, body) = seen.split_once("\r\n\r\n").unwrap();
        let is_sent = head.starts_with("HTTP/1.1 200");
        assert!(is_sent || head.starts_with("HTTP/1.1 4"), "{name:?}: {head}");
        assert!(!head.to_ascii_lowercase().contains("\r\nx-evil"), "{name:?}: {head}");
        if !is_sent {
            continue;
        }
        assert_eq!(body, "content", "{name:?}");
        let mut saved = head
            .lines()
            .filter(|line| line.to_ascii_lowercase().starts_with("content-disposition:"));
        let line = saved.next().unwrap();
        assert_eq!((saved.next(), line.matches('"').count()), (None, 2), "{name:?}: {line}");
        let saved = line.split('"').nth(1).unwrap();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._- ".contains(c);
        assert!(saved.chars().all(is_plain) && !saved.starts_with('.'), "{name:?}: {line}");
        assert!(saved.len() <= 255, "{line}");
    }
    // Whatever is no file is none, and nobody waits for it.
    for name in ["pipe", "environ"] {
        let seen = fetch(name);
        assert!(seen.starts_with("HTTP/1.1 4"), "{name}: {seen}");
    }
    // The control: an ordinary name is its own.
    let put = json!({ "session": session, "path": "plain.txt", "base64": "eA==" });
    let question = caller.record_after(&session, 0, "question");
    let answer = json!({ "hash": question["hash"], "decision": "later" });
    let id = question["id"].as_str().unwrap();
    caller.ok("POST", &format!("/v1/sessions/{session}/questions/{id}/answer"), answer);
    caller.record_after(&session, 0, "turn_finished");
    assert!(perform(&serving, &caller.token, "put", &put)["ok"].is_object());
    assert!(fetch("plain.txt").contains("filename=\"plain.txt\""));
}

/// Whether somebody has connected.
fn was_reached(listener: &TcpListener) -> bool {
    listener.set_nonblocking(true).unwrap();
    listener.accept().is_ok()
}

#[test]
fn nothing_that_a_client_sends_makes_the_server_fetch_it() {
    let scene = scripted(Scene::new().model_says(&["Hello."]));
    let serving = Serving::start(&scene);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let caller = Caller { serving: &serving, token: serving.bearer() };
    let mut tried = 0;
    for host in [
        "127.0.0.1",
        "localhost",
        "127.1",
        "2130706433",
        "0x7f.0.0.1",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "user@127.0.0.1",
    ] {
        let url = format!("http://{host}:{port}/latest/meta-data");
        let user = |part: Value| json!([{ "role": "user", "content": [part] }]);
        let image = json!({ "type": "image_url", "image_url": { "url": url } });
        let asks = [
            ("/v1/chat/completions", json!({ "model": "interpreter", "messages": user(image) })),
            (
                "/v1/responses",
                json!({ "model": "interpreter",
                    "input": user(json!({ "type": "input_image", "image_url": url })) }),
            ),
            (
                "/v1/responses",
                json!({ "model": "interpreter",
                    "input": user(json!({ "type": "input_file", "file_url": url })) }),
            ),
            ("/v1/sessions", json!({ "folder": url })),
            ("/v1/sessions", json!({ "profile": url })),
            ("/api/kernels", json!({ "name": url })),
        ];
        for (target, body) in asks {
            let (status, seen) = caller.ask("POST", target, Some(&body));
            assert!((400..500).contains(&status), "{target} {host}: {status} {seen}");
            tried += 1;
        }
        let session = caller.open(json!({ "mode": "run" }));
        let image = json!([{ "name": url, "data": url }]);
        let prompt = json!({ "session": session, "text": "x", "images": image });
        assert!(perform(&serving, &caller.token, "prompt", &prompt)["error"].is_object());
        let forwarded = [format!("X-Forwarded-Host: {host}:{port}"), format!("Referer: {url}")];
        serving.get("/", &[&forwarded[0], &forwarded[1]]);
    }
    assert_eq!(tried, 48);
    assert!(!was_reached(&listener));
    // The control: whoever comes is seen.
    drop(TcpStream::connect(("127.0.0.1", port)).unwrap());
    assert!(was_reached(&listener));
}

#[test]
fn no_answer_leads_a_browser_elsewhere() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let elsewhere =
        ["//evil.example", "/\\evil.example", "https://evil.example", "/%2fevil.example"];
    for to in elsewhere {
        for name in ["next", "redirect", "return_to", "url", "continue"] {
            let query = format!("?{name}={to}");
            for path in ["/", "/login", "/v1/login", "/healthz", "/nothing"] {
                // Reading an answer checks that it names no other place.
                let seen = serving.get(&format!("{path}{query}"), &[]);
                assert!(!(300..400).contains(&seen.status), "{path}{query}: {seen:?}");
                assert!(!seen.head.to_ascii_lowercase().contains("refresh:"), "{seen:?}");
                assert!(!seen.body.contains("evil.example"), "{seen:?}");
            }
            let body = json!({ "code": "x", name: to }).to_string();
            let seen = serving.post(&format!("/v1/login{query}"), &[], &body);
            assert!([401, 429].contains(&seen.status), "{seen:?}");
        }
        let seen = serving.get(to.trim_start_matches("https:"), &[]);
        assert!(seen.is_refused(), "{to}: {seen:?}");
    }
    // The control: a login says nothing of where to go.
    let body = json!({ "code": serving.code }).to_string();
    let seen = serving.post("/v1/login?next=//evil.example", &[], &body);
    assert_eq!((seen.status, seen.header("location")), (200, None));
}

#[test]
fn a_response_of_somebody_else_cannot_be_gone_on_from() {
    let scene = scripted(Scene::new().model_says(&["The word of anna.", "Hello."]));
    let serving = Serving::start(&scene);
    let anna = Caller { serving: &serving, token: new_token(&scene, "anna", "watch,prompt") };
    let ben = Caller { serving: &serving, token: new_token(&scene, "ben", "watch,prompt") };
    let ask = |caller: &Caller<'_>, text: &str, previous: Option<&str>| {
        let mut body = json!({ "model": "interpreter", "input": text });
        if let Some(previous) = previous {
            body["previous_response_id"] = previous.into();
        }
        caller.ask("POST", "/v1/responses", Some(&body))
    };
    let (status, first) = ask(&anna, "tell", None);
    assert_eq!(status, 200, "{first}");
    let id = first["id"].as_str().unwrap();
    let (status, seen) = ask(&ben, "go on", Some(id));
    let (other, unknown) = ask(&ben, "go on", Some("resp_00000000-0000-7000-8000-000000000000_9"));
    assert_eq!((status, &seen["error"]["code"]), (other, &unknown["error"]["code"]), "{seen}");
    assert_eq!(seen["error"]["code"], "previous_response_not_found");
    // The control: its own caller does.
    let (status, seen) = ask(&anna, "go on", Some(id));
    assert_eq!(status, 200, "{seen}");
}
