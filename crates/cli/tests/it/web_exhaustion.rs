//! Clients that try to use the server up: bodies that never come, messages without end, more of
//! everything than there is; and signals that come at a bad time.

use crate::{
    api::{Caller, new_token},
    scene::Scene,
    serving::{Serving, WebSocket, must_end},
};
use rustix::process::{Resource, Rlimit, Signal, getrlimit, kill_process, prlimit};
use serde_json::{Value, json};
use std::io::{Read, Write};

/// A request that is answered with an error of the protocol, whoever performs it.
const NO_VERB: &str = r#"{"id":1,"do":"fly"}"#;

fn socket(serving: &Serving) -> WebSocket {
    WebSocket::open(serving, &[&serving.bearer()]).unwrap_or_else(|seen| panic!("{seen:?}"))
}

#[test]
fn a_body_that_never_comes_ends_by_itself_and_keeps_nobody_waiting() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let (host, bearer) = (serving.host(), serving.bearer());
    let json = "Content-Type: application/json";
    let form = "Content-Type: application/x-www-form-urlencoded";
    let mut waiting: Vec<_> = [("/v1/login", json, "X: x"), ("/v1/login", json, &bearer)]
        .into_iter()
        .map(|(target, kind, line)| {
            let mut stream = serving.connect();
            let head = format!("POST {target} HTTP/1.1\r\n{host}\r\n{kind}\r\n{line}\r\n");
            _ = stream.write_all(format!("{head}Content-Length: 100\r\n\r\n{{").as_bytes());
            stream
        })
        .collect();
    // As long as all have sent their first byte, others are served.
    assert_eq!(serving.get("/metrics", &[&bearer]).status, 200);
    let page = serving.get("/login", &[]);
    let cookie = page.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let mut stream = serving.connect();
    let head = format!("POST /login HTTP/1.1\r\n{host}\r\n{form}\r\nCookie: {cookie}\r\n");
    _ = stream.write_all(format!("{head}Content-Length: 100\r\n\r\n{cookie}").as_bytes());
    waiting.push(stream);
    for stream in &mut waiting {
        let told = String::from_utf8_lossy(&must_end(stream)).into_owned();
        assert!(told.is_empty() || told.starts_with("HTTP/1.1 408"), "{told}");
    }
    // The control: a whole one is answered.
    assert_eq!(serving.post("/v1/login", &[], r#"{"code":"x"}"#).status, 401);
}

#[test]
fn a_message_in_endless_pieces_is_bounded() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let before = serving.most_memory();
    let mut one = socket(&serving);
    let piece = vec![b'a'; 1 << 20];
    let frame = |kind: u8| {
        let mut frame = vec![kind, 0x80 | 0x7f];
        frame.extend((piece.len() as u64).to_be_bytes());
        frame.extend([0; 4]);
        frame.extend(&piece);
        frame
    };
    // A first piece of a text, and then more of it, none of which is the last.
    _ = one.0.write_all(&frame(1));
    for _ in 0..64 {
        if one.0.write_all(&frame(0)).is_err() {
            break;
        }
    }
    one.must_end();
    let grown = serving.most_memory() - before;
    assert!(grown < 48 << 20, "{grown} bytes");
    // The control: a message in two pieces is one.
    let mut other = socket(&serving);
    let half = |kind: u8, text: &str| {
        let mut frame = vec![kind, 0x80 | u8::try_from(text.len()).unwrap(), 0, 0, 0, 0];
        frame.extend(text.as_bytes());
        frame
    };
    let (start, end) = NO_VERB.split_at(5);
    _ = other.0.write_all(&half(1, start));
    _ = other.0.write_all(&half(0x80, end));
    assert!(other.hear().unwrap().contains("unknown_verb"));
}

#[test]
fn a_client_has_so_many_subscriptions_and_another_has_its_own() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let caller = Caller { serving: &serving, token: serving.bearer() };
    let sessions: Vec<_> = (0..65).map(|_| caller.open(json!({ "mode": "run" }))).collect();
    let subscribe = |socket: &mut WebSocket, session: &str, id: u64| {
        let request = json!({ "id": id, "do": "subscribe", "session": session, "after": 9_999 });
        socket.say(&request.to_string());
        loop {
            let heard = socket.hear().expect("the socket ended");
            let lines = heard.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            if let Some(reply) = lines.into_iter().find(|line| line["id"] == id) {
                return reply["error"]["code"].as_str().map(str::to_owned);
            }
        }
    };
    let mut one = socket(&serving);
    for (id, session) in (1..).zip(&sessions[..64]) {
        assert_eq!(subscribe(&mut one, session, id), None);
    }
    assert_eq!(subscribe(&mut one, &sessions[64], 65).as_deref(), Some("too_many"));
    // One that it has already counts once, and others have their own.
    assert_eq!(subscribe(&mut one, &sessions[0], 66), None);
    assert_eq!(subscribe(&mut socket(&serving), &sessions[64], 1), None);
}

#[test]
fn descriptors_that_run_out_end_nothing_and_come_back() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let mut stays = socket(&serving);
    stays.say(NO_VERB);
    assert!(stays.hear().is_some());
    let process = serving.process();
    let count = || {
        let open = std::fs::read_dir(format!("/proc/{}/fd", process.as_raw_nonzero())).unwrap();
        open.count() as u64
    };
    let before = count();
    let most = before + 6;
    let maximum = getrlimit(Resource::Nofile).maximum;
    let limit = |current| Rlimit { current: Some(current), maximum };
    let usual = prlimit(Some(process), Resource::Nofile, limit(most)).unwrap();
    // More than there are descriptors, each with a head that never ends.
    let mut crowd: Vec<_> = (0..24)
        .map(|_| {
            let mut stream = serving.connect();
            _ = stream.write_all(b"GET / HTTP/1.1\r\nX: ");
            stream
        })
        .collect();
    // Whoever is in goes on.
    stays.say(NO_VERB);
    assert!(stays.hear().unwrap().contains("unknown_verb"));
    assert!(count() < before + 24);
    // Those who held them all have to go as soon as their heads took too long, and the rest follow.
    for stream in &mut crowd {
        must_end(stream);
    }
    assert_eq!(serving.get("/healthz", &[]).status, 200);
    assert_eq!(serving.get("/metrics", &[&serving.bearer()]).status, 200);
    prlimit(Some(process), Resource::Nofile, usual).unwrap();
}

#[test]
fn kernels_that_are_begun_at_once_are_no_more_than_there_may_be() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let line = new_token(&scene, "front", "watch,prompt,answer");
    let statuses: Vec<_> = std::thread::scope(|scope| {
        let racers: Vec<_> = (0..30)
            .map(|_| scope.spawn(|| serving.post("/api/kernels", &[&line], "{}").status))
            .collect();
        racers.into_iter().map(|racer| racer.join().unwrap()).collect()
    });
    assert!(statuses.iter().all(|status| matches!(status, 201 | 429)), "{statuses:?}");
    let caller = Caller { serving: &serving, token: serving.bearer() };
    let listed = caller.get("/v1/sessions");
    let rows = listed["sessions"].as_array().unwrap();
    let run = rows.iter().filter(|row| row["state"] != "ended").count();
    assert!((1..=16).contains(&run), "{run}");
}

#[test]
fn signals_at_any_time_end_it_and_leave_nothing() {
    for signals in [&[Signal::HUP][..], &[Signal::TERM, Signal::TERM], &[Signal::INT, Signal::HUP]]
    {
        let scene = Scene::new();
        let mut serving = Serving::start(&scene);
        let caller = Caller { serving: &serving, token: serving.bearer() };
        let session = caller.open(json!({ "mode": "run" }));
        let code = "trap '' INT TERM HUP; echo started; sleep 1000 & while true; do sleep 1; done";
        let run = json!({ "language": "shell", "code": code });
        caller.ok("POST", &format!("/v1/sessions/{session}/run"), run);
        caller.record_after(&session, 0, "output");
        let mut open = socket(&serving);
        let process = serving.process();
        for signal in signals {
            // The first one may have been enough.
            _ = kill_process(process, *signal);
        }
        serving.wait();
        let mut rest = Vec::new();
        _ = open.0.read_to_end(&mut rest);
        assert_eq!(scene.left_running(), Vec::<String>::new(), "{signals:?}");
        scene.run(&["audit", "verify"]).exits(0);
        // The control: another server begins where this one ended.
        let again = Serving::start(&scene);
        let caller = Caller { serving: &again, token: again.bearer() };
        assert_eq!(caller.get(&format!("/v1/sessions/{session}"))["state"], "ended");
    }
}
