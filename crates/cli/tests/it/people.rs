//! A team on one server: nobody finds anything of another by any id, and whatever is revoked ends at
//! once.

use crate::{
    protocol_client::scripted,
    scene::{Scene, Seen, cell},
    serving::{Answer, Login, Serving, WebSocket, must_end},
};
use interpreter_core::hash::sha256;
use serde_json::{Value, json};
use std::{collections::VecDeque, io::Write};

pub(crate) const PASSWORD: &str = "correct-horse-battery";

/// A session that nobody has.
pub(crate) const NONE: &str = "01980000-0000-7000-8000-000000000000";

pub(crate) fn add(scene: &Scene, name: &str, role: &str) -> Seen {
    let arguments = ["serve", "user", "add", name, "--role", role];
    scene.run_with_input(&arguments, format!("{PASSWORD}\n").as_bytes())
}

pub(crate) fn team(scene: &Scene, people: &[(&str, &str)]) -> Serving {
    for (name, role) in people {
        add(scene, name, role).exits(0);
    }
    Serving::start_with(scene, &["--team"])
}

pub(crate) fn try_log_in(serving: &Serving, name: &str, password: &str) -> Answer {
    let body = json!({ "name": name, "password": password }).to_string();
    serving.post("/v1/login", &[], &body)
}

/// Somebody who has logged in.
pub(crate) struct Member<'a> {
    pub(crate) serving: &'a Serving,
    pub(crate) login: Login,
}

impl<'a> Member<'a> {
    #[track_caller]
    pub(crate) fn new(serving: &'a Serving, name: &str) -> Self {
        Self { serving, login: Login::of(&try_log_in(serving, name, PASSWORD)) }
    }

    pub(crate) fn ask(&self, method: &str, target: &str, body: Option<&Value>) -> Answer {
        let (first, host) = (format!("{method} {target} HTTP/1.1"), self.serving.host());
        let [cookie, key] = self.login.lines();
        let mut head = vec![first.as_str(), &host, "Connection: close", &cookie, &key];
        if body.is_some() {
            head.push("Content-Type: application/json");
        }
        self.serving.send(&head, &body.map(Value::to_string).unwrap_or_default())
    }

    pub(crate) fn perform(&self, verb: &str, mut fields: Value) -> Value {
        (fields["id"], fields["do"]) = (1.into(), verb.into());
        let answer = self.ask("POST", "/v1/do", Some(&fields));
        serde_json::from_str(&answer.body).unwrap_or_else(|error| panic!("{error}: {answer:?}"))
    }

    #[track_caller]
    pub(crate) fn ok(&self, verb: &str, fields: Value) -> Value {
        let reply = self.perform(verb, fields);
        assert!(reply.get("ok").is_some(), "{verb}: {reply}");
        reply["ok"].clone()
    }

    #[track_caller]
    pub(crate) fn refused(&self, verb: &str, fields: Value) -> String {
        let reply = self.perform(verb, fields);
        reply["error"]["code"].as_str().unwrap_or_else(|| panic!("{verb}: {reply}")).to_owned()
    }

    pub(crate) fn open(&self, mode: &str) -> String {
        self.ok("open", json!({ "mode": mode }))["session"].as_str().unwrap().to_owned()
    }

    pub(crate) fn socket(&self) -> Followed {
        let [cookie, offered] = self.login.socket_lines();
        let socket = WebSocket::open(self.serving, &[&cookie, &offered]);
        Followed {
            socket: socket.unwrap_or_else(|seen| panic!("{seen:?}")),
            lines: VecDeque::new(),
        }
    }

    pub(crate) fn follow(&self, session: &str) -> Followed {
        let mut followed = self.socket();
        let subscribe = json!({ "id": 1, "do": "subscribe", "session": session, "after": 0 });
        followed.socket.say(&subscribe.to_string());
        followed
    }

    /// The ids of the sessions in the list.
    pub(crate) fn listed(&self) -> Vec<String> {
        let listed = self.ok("list", json!({}));
        let rows = listed["sessions"].as_array().unwrap();
        rows.iter().map(|row| row["session"].as_str().unwrap().to_owned()).collect()
    }
}

/// A connection, and its lines as they come.
pub(crate) struct Followed {
    pub(crate) socket: WebSocket,
    lines: VecDeque<Value>,
}

impl Followed {
    #[track_caller]
    pub(crate) fn wait_for(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            while let Some(line) = self.lines.pop_front() {
                if is_it(&line) {
                    return line;
                }
            }
            let Some(text) = self.socket.hear() else { panic!("it ended before") };
            self.lines.extend(text.lines().map(|line| serde_json::from_str(line).unwrap()));
        }
    }

    #[track_caller]
    pub(crate) fn record(&mut self, kind: &str) -> Value {
        self.wait_for(|line| line["kind"] == kind)
    }
}

/// A body that fits the route.
fn body(target: &str) -> Value {
    match target.rsplit('/').next().unwrap() {
        "prompt" => json!({ "text": "x" }),
        "run" => json!({ "language": "python", "code": "1" }),
        "apply" => json!({ "changes": "c.1" }),
        "answer" => json!({ "hash": "0".repeat(64), "decision": "run" }),
        _ => json!({}),
    }
}

/// Every route of the document with a session in it: for the other, this one is like none at all.
fn walk_routes(other: &Member<'_>, owner: &Member<'_>, session: &str) {
    let document: Value =
        serde_json::from_str(&other.ask("GET", "/v1/openapi.json", None).body).unwrap();
    let mut tried = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        if !path.contains("{session}") {
            continue;
        }
        for method in methods.as_object().unwrap().keys() {
            let method = method.to_uppercase();
            if !["GET", "POST", "DELETE", "PUT"].contains(&method.as_str()) {
                continue;
            }
            tried += 1;
            let ask = |who: &Member<'_>, session: &str| {
                let target = path.replace("{session}", session).replace("{question}", "q1");
                let target = target.replace("{kernel}", session);
                let mut target = target.replace("{path}", "a.txt");
                if target.ends_with("/files") {
                    target.push_str("?of=staged&form=zip");
                }
                let has_body = method == "POST" || method == "PUT";
                let body = has_body.then(|| body(&target));
                let answer = who.ask(&method, &target, body.as_ref());
                (answer.status, answer.body.replace(session, "S"))
            };
            let seen = ask(other, session);
            assert_eq!(seen, ask(other, NONE), "{method} {path}");
            assert_eq!(seen.0, 404, "{method} {path}: {}", seen.1);
            // The control: there is something to find.
            if method == "GET" {
                assert_eq!(ask(owner, session).0, 200, "{path}");
            }
        }
    }
    assert!(tried > 12, "{tried}");
}

#[test]
fn two_people_find_nothing_of_each_other_by_any_id() {
    let scene = Scene::new();
    let serving = team(&scene, &[("anna", "approver"), ("ben", "admin")]);
    let (anna, ben) = (Member::new(&serving, "anna"), Member::new(&serving, "ben"));
    let operator = Member { serving: &serving, login: serving.log_in() };
    let session = anna.open("run");
    let mut followed = anna.follow(&session);
    assert_eq!(followed.record("session_started")["who"], "anna");
    let code = "print('word-of-anna')";
    anna.ok("run", json!({ "session": session, "language": "python", "code": code }));
    let output = followed.record("output");
    followed.record("turn_finished");
    anna.ok("put", json!({ "session": session, "path": "a.txt", "base64": "eA==" }));

    for other in [&ben, &operator] {
        walk_routes(other, &anna, &session);
        for (verb, more) in [
            ("resume", json!({})),
            ("fork", json!({})),
            ("list", json!({})),
            ("close", json!({})),
            ("prompt", json!({ "text": "x" })),
            ("run", json!({ "language": "python", "code": "1" })),
            ("answer", json!({ "question": "q1", "hash": "h", "decision": "run" })),
            ("interrupt", json!({})),
            ("restart", json!({})),
            ("changes", json!({})),
            ("apply", json!({ "changes": "c.1" })),
            ("discard", json!({})),
            ("undo", json!({})),
            ("put", json!({ "path": "a.txt", "base64": "eA==" })),
            ("look", json!({ "at": "record" })),
            ("grant", json!({ "list": true })),
            ("grant", json!({ "share": { "with": "ben", "as": "drive" } })),
            ("grant", json!({ "unshare": "ben" })),
        ] {
            let with = |session: &str| {
                let mut fields = more.clone();
                fields["session"] = session.into();
                other.perform(verb, fields).to_string().replace(session, "S")
            };
            assert_eq!(with(&session), with(NONE), "{verb}");
            assert!(with(&session).contains("unknown_session"), "{verb}: {}", with(&session));
        }
        let mut theirs = other.follow(&session);
        let reply = theirs.wait_for(|line| line["id"] == 1);
        assert_eq!(reply["error"]["code"], "unknown_session", "{reply}");
        assert!(other.listed().is_empty());
        let found = other.ok("list", json!({ "search": "word-of-anna" }));
        assert_eq!(found["sessions"], json!([]));
        // Whose list is subscribed to makes no difference.
        let mut rows = other.socket();
        rows.socket.say(&json!({ "id": 2, "do": "subscribe", "list": true }).to_string());
        rows.socket.say(&json!({ "id": 3, "do": "look", "at": "models" }).to_string());
        rows.wait_for(|line| {
            assert!(line.get("row").is_none(), "{line}");
            line["id"] == 3
        });
    }
    // The bytes of a result, by its exact address.
    let hash = sha256(output["text"].as_str().unwrap().as_bytes());
    let address = format!(
        "/o/{hash}?session={session}&seq={}&form={}",
        output["seq"],
        output["mime"].as_str().unwrap()
    );
    assert_eq!(ben.ask("GET", &address, None).status, 404);
    assert_eq!(operator.ask("GET", &address, None).status, 404);
    assert_eq!(anna.ask("GET", &address, None).status, 200);
    // The owner has all of it.
    assert_eq!(anna.listed(), std::slice::from_ref(&session));
    let found = anna.ok("list", json!({ "search": "word-of-anna" }));
    assert_eq!(found["sessions"][0]["session"], session);
    // Nor do figures tell, except whoever rules the server.
    assert_eq!(anna.ask("GET", "/metrics", None).status, 403);
    let figures = ben.ask("GET", "/metrics", None);
    assert_eq!(figures.status, 200);
    assert!(!figures.body.contains("anna") && !figures.body.contains(&session));
}

#[test]
fn roles_and_shares_allow_what_they_say_and_a_share_taken_back_gives_nothing_more() {
    let scene = scripted(Scene::new().model_says(&[&cell("python", "print(6 * 7)"), "Done."]));
    let people = [("anna", "author"), ("ben", "approver"), ("vera", "viewer")];
    let serving = team(&scene, &people);
    let [anna, ben, vera] = people.map(|(name, _)| Member::new(&serving, name));
    assert_eq!(vera.refused("open", json!({ "mode": "chat" })), "not_allowed");
    let me = |member: &Member<'_>| member.ok("look", json!({ "at": "me" }))["me"].clone();
    let veras = json!({ "name": "vera", "rights": ["watch"], "team": true, "role": "viewer" });
    assert_eq!(me(&vera), veras);
    assert_eq!(me(&ben)["role"], "approver");
    let session = anna.open("chat");
    let mut seen = anna.follow(&session);
    let with = |more: Value| {
        let mut fields = more;
        fields["session"] = session.clone().into();
        fields
    };
    let share = |name: &str, kind: &str| with(json!({ "share": { "with": name, "as": kind } }));
    anna.ok("grant", share("ben", "watch"));
    anna.ok("grant", share("vera", "drive"));
    assert_eq!(anna.refused("grant", share("nobody", "watch")), "refused");
    assert_eq!(anna.refused("grant", share("anna", "watch")), "refused");
    let rows = ben.ok("list", json!({}));
    let row = &rows["sessions"][0];
    assert_eq!((&row["owner"], &row["shared"]), (&json!("anna"), &json!("watch")), "{rows}");
    let mut bens = ben.follow(&session);
    bens.record("session_started");

    // A role that may only watch does not drive, whatever the share says; and neither does a share.
    for (verb, more) in [
        ("prompt", json!({ "text": "x" })),
        ("interrupt", json!({})),
        ("restart", json!({})),
        ("run", json!({ "language": "python", "code": "1" })),
        ("discard", json!({})),
        ("undo", json!({})),
        ("close", json!({})),
        ("fork", json!({})),
        ("grant", json!({ "revoke": 1 })),
        ("grant", json!({ "share": { "with": "ben", "as": "drive" } })),
    ] {
        assert_eq!(vera.refused(verb, with(more.clone())), "not_allowed", "{verb}");
        assert_eq!(ben.refused(verb, with(more)), "not_allowed", "{verb}");
    }
    anna.ok("prompt", with(json!({ "text": "compute" })));
    let question = seen.record("question");
    let yes = json!({
        "session": session, "question": question["id"], "hash": question["hash"], "decision": "run",
    });
    // Neither who wrote it nor who only watches answers.
    assert_eq!(anna.refused("answer", yes.clone()), "not_allowed");
    assert_eq!(ben.refused("answer", yes.clone()), "not_allowed");
    anna.ok("grant", share("ben", "drive"));
    assert_eq!(ben.ok("list", json!({}))["questions"][0]["hash"], question["hash"]);
    ben.ok("answer", yes);
    assert_eq!(seen.record("answer")["who"], "ben");
    seen.record("turn_finished");
    bens.record("turn_finished");

    // Taken back: the subscription ends, and there is no such session.
    anna.ok("grant", with(json!({ "unshare": "ben" })));
    let ended = bens.wait_for(|line| line.get("error").is_some());
    assert_eq!(ended["error"]["code"], "unknown_session", "{ended}");
    assert_eq!(ben.refused("list", with(json!({}))), "unknown_session");
    assert!(ben.listed().is_empty());
    let left = anna.ok("grant", with(json!({ "list": true })));
    assert_eq!(left["shares"], json!([{ "with": "vera", "as": "drive" }]));
}

#[test]
fn whoever_is_changed_or_removed_loses_an_open_socket() {
    let scene = Scene::new();
    let serving = team(&scene, &[("anna", "admin"), ("ben", "author")]);
    let ben = Member::new(&serving, "ben");
    let others = ben.socket();
    let change = |arguments: &[&str], input: &str| {
        let arguments = [&["serve", "user"], arguments].concat();
        scene.run_with_input(&arguments, input.as_bytes()).exits(0);
    };
    let another = "another-password\n";
    for (arguments, input) in
        [(&["role", "anna", "viewer"][..], ""), (&["password", "anna"], another)]
    {
        let anna = Member::new(&serving, "anna");
        let socket = anna.socket();
        change(arguments, input);
        socket.socket.must_end();
        assert_eq!(anna.ask("GET", "/v1/sessions", None).status, 401);
    }
    assert_eq!(try_log_in(&serving, "anna", PASSWORD).status, 401);
    let login = Login::of(&try_log_in(&serving, "anna", another.trim()));
    let anna = Member { serving: &serving, login };
    assert_eq!(anna.refused("open", json!({ "mode": "run" })), "not_allowed");
    let socket = anna.socket();
    change(&["remove", "anna"], "");
    socket.socket.must_end();
    assert_eq!(try_log_in(&serving, "anna", another.trim()).status, 401);
    // Nobody else was disturbed.
    let mut others = others;
    others.socket.say(&json!({ "id": 7, "do": "list" }).to_string());
    others.wait_for(|line| line["id"] == 7);
    // Whoever gets the name has nothing of the one before.
    add(&scene, "anna", "author").exits(0);
    assert!(Member::new(&serving, "anna").listed().is_empty());
}

#[test]
fn guesses_are_limited_and_answered_alike() {
    let scene = Scene::new();
    let serving = team(&scene, &[("anna", "author")]);
    let seen = |name: &str, password: &str| {
        let answer = try_log_in(&serving, name, password);
        (answer.status, answer.body)
    };
    let (there, absent) = (seen("anna", "a-wrong-password"), seen("nobody", "a-wrong-password"));
    assert_eq!((there.0, &there), (401, &absent));
    for hostile in ["", "../anna", "ANNA", "anna\u{0}", "anna ", &"x".repeat(1_000)] {
        assert_eq!(seen(hostile, PASSWORD), there, "{hostile:?}");
    }
    for _ in 0..20 {
        seen("anna", "a-wrong-password");
    }
    assert_eq!(seen("anna", "a-wrong-password").0, 429);
    assert_eq!(seen("anna", PASSWORD).0, 429, "even the right one");
    // Whoever runs the server is never kept out.
    serving.log_in();
    let ways = serving.get("/v1/login", &[]);
    assert_eq!(ways.body, r#"{"ways":["link","password"]}"#);
    for wrong in [
        json!({ "name": "anna" }),
        json!({ "password": PASSWORD }),
        json!({ "name": "anna", "password": PASSWORD, "code": "x" }),
        json!({ "name": "anna", "password": PASSWORD, "role": "admin" }),
        json!({ "name": ["anna"], "password": PASSWORD }),
    ] {
        assert_eq!(serving.post("/v1/login", &[], &wrong.to_string()).status, 401, "{wrong}");
    }
}

#[test]
fn without_a_team_nobody_logs_in_by_password() {
    let scene = Scene::new();
    add(&scene, "anna", "admin").exits(0);
    let serving = Serving::start(&scene);
    assert_eq!(serving.get("/v1/login", &[]).body, r#"{"ways":["link"]}"#);
    assert_eq!(try_log_in(&serving, "anna", PASSWORD).status, 401);
    let login = serving.log_in();
    let operator = Member { serving: &serving, login };
    let session = operator.open("run");
    let share = json!({ "session": session, "share": { "with": "anna", "as": "watch" } });
    assert_eq!(operator.refused("grant", share), "not_offered");
}

#[test]
fn a_password_is_kept_nowhere_and_is_no_argument() {
    let scene = Scene::new();
    let serving = team(&scene, &[("anna", "approver")]);
    let anna = Member::new(&serving, "anna");
    let session = anna.open("run");
    let mut seen = anna.follow(&session);
    anna.ok("run", json!({ "session": session, "language": "python", "code": "print(1)" }));
    seen.record("turn_finished");
    let errors = serving.errors.clone();
    serving.stop();
    assert!(!errors.text().contains(PASSWORD));
    let mut folders = vec![scene.home()];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(folder).unwrap() {
            let (entry, needle) = (entry.unwrap(), PASSWORD.as_bytes());
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                files += 1;
                let bytes = fs_err::read(entry.path()).unwrap();
                let has = bytes.windows(needle.len()).any(|part| part == needle);
                assert!(!has, "{}", entry.path().display());
            }
        }
    }
    assert!(files > 3, "{files}");
    // It can be no argument, and a short one is none.
    let arguments = ["serve", "user", "add", "ben", PASSWORD, "--role", "author"];
    scene.run(&arguments).exits(2);
    let short = ["serve", "user", "add", "ben", "--role", "author"];
    scene.run_with_input(&short, b"short\n").exits(2);
    for hostile in ["../x", "Anna", "a b", "page", "anna"] {
        add(&scene, hostile, "author").exits(2);
    }
    let listed = scene.run(&["serve", "user", "list", "--json"]).exits(0);
    let listed: Value = serde_json::from_str(&listed.stdout()).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert!(!listed.to_string().contains("hash"), "{listed}");
}

/// Half of a file is sent, then something happens, then the rest. The status of the answer.
fn sent_in_halves(member: &Member<'_>, session: &str, between: impl FnOnce()) -> u16 {
    let half = vec![b'x'; 100_000];
    let [cookie, key] = member.login.lines();
    let head = format!(
        "PUT /v1/sessions/{session}/files/large HTTP/1.1\r\n{}\r\n{cookie}\r\n{key}\r\n\
         Connection: close\r\nContent-Length: {}\r\n\r\n",
        member.serving.host(),
        2 * half.len()
    );
    let mut stream = member.serving.connect();
    stream.write_all(&[head.as_bytes(), &half].concat()).unwrap();
    between();
    // It may have been refused already.
    _ = stream.write_all(&half);
    let answer = String::from_utf8_lossy(&must_end(&mut stream)).into_owned();
    let status = answer.split(' ').nth(1).unwrap_or_else(|| panic!("{answer}"));
    status.parse().unwrap()
}

#[test]
fn a_share_that_is_taken_back_ends_a_file_under_way() {
    let scene = Scene::new();
    let serving = team(&scene, &[("anna", "approver"), ("ben", "approver")]);
    let [anna, ben] = ["anna", "ben"].map(|name| Member::new(&serving, name));
    let session = anna.open("run");
    let share = json!({ "session": session, "share": { "with": "ben", "as": "drive" } });
    anna.ok("grant", share.clone());
    assert_eq!(sent_in_halves(&ben, &session, || {}), 200);
    let taken_back = || drop(anna.ok("grant", json!({ "session": session, "unshare": "ben" })));
    assert_eq!(sent_in_halves(&ben, &session, taken_back), 404);
    // A smaller share is not enough either, and one that was given again is another one.
    anna.ok("grant", share.clone());
    let smaller = json!({ "session": session, "share": { "with": "ben", "as": "watch" } });
    assert_eq!(sent_in_halves(&ben, &session, || drop(anna.ok("grant", smaller))), 404);
    anna.ok("grant", share);
    assert_eq!(sent_in_halves(&ben, &session, || {}), 200);
}

#[test]
fn nobody_takes_every_place() {
    let scene = Scene::new();
    let serving = team(&scene, &[("vera", "viewer"), ("anna", "author")]);
    let vera = Member::new(&serving, "vera");
    let [cookie, offered] = vera.login.socket_lines();
    let mut held = Vec::new();
    while let Ok(socket) = WebSocket::open(&serving, &[&cookie, &offered]) {
        held.push(socket);
        assert!(held.len() < 100, "one person holds {} connections", held.len());
    }
    assert!(held.len() > 20, "a person has many tabs, and not only {}", held.len());
    let anna = Member::new(&serving, "anna");
    anna.open("run");
    drop(held);
}
