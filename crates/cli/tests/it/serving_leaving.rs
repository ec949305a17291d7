//! Clients that leave: at any moment, and nobody else notices.

use crate::{
    protocol_client::Server,
    scene::Scene,
    serving::{Serving, WebSocket},
};
use serde_json::{Value, json};
use std::{
    io::{Read, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
};

/// More than any socket holds.
const MUCH: &str = "print('y' * 3_000_000)";

#[test]
fn a_reader_that_is_behind_and_leaves_ends_nothing() {
    let scene = Scene::new();
    let server = Server::socket(&scene);
    let mut stays = server.client();
    let session = stays.open(json!({ "mode": "run" }));
    stays.run(&session, "python", MUCH);
    stays.run(&session, "python", MUCH);
    // It subscribes, sends no more, and reads only later: the server notices its end while there is
    // still much to send.
    let mut leaves = UnixStream::connect(&server.socket).unwrap();
    let request = json!({ "id": 1, "do": "subscribe", "session": session, "after": 0 });
    leaves.write_all(format!("{request}\n").as_bytes()).unwrap();
    leaves.shutdown(Shutdown::Write).unwrap();
    stays.ok("list", json!({}));
    let mut read = Vec::new();
    leaves.read_to_end(&mut read).unwrap();
    // It was given everything, and the session goes on.
    let text = String::from_utf8(read).unwrap();
    let ended = text.lines().filter(|line| line.contains("\"session_ended\""));
    assert_eq!((ended.count(), text.len() > 6_000_000), (0, true));
    assert_eq!(stays.run(&session, "python", "print(1)"), "1\n");
}

#[test]
fn a_page_that_is_closed_while_it_is_behind_ends_nothing() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let bearer = serving.bearer();
    let open = || WebSocket::open(&serving, &[&bearer]).unwrap_or_else(|seen| panic!("{seen:?}"));
    let mut stays = open();
    let mut number = 0;
    let mut perform = |verb: &str, mut request: Value| {
        number += 1;
        (request["id"], request["do"]) = (number.into(), verb.into());
        stays.say(&request.to_string());
        loop {
            let Some(text) = stays.hear() else { panic!("the server ended before `{verb}`") };
            let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            if let Some(reply) = lines.into_iter().find(|line| line["id"] == number) {
                assert!(reply.get("ok").is_some(), "{verb}: {reply}");
                return reply["ok"].clone();
            }
        }
    };
    let session = perform("open", json!({ "mode": "run" }))["session"].clone();
    let subscribe = json!({ "id": 1, "do": "subscribe", "session": session, "after": 0 });
    let mut followed = open();
    followed.say(&subscribe.to_string());
    perform("run", json!({ "session": session, "language": "python", "code": MUCH }));
    while !followed.hear().unwrap().contains("\"turn_finished\"") {}
    let mut leaves = open();
    leaves.say(&subscribe.to_string());
    // A frame that ends the connection; what comes before its answer is read.
    leaves.send(8, &[]);
    leaves.must_end();
    let listed = perform("list", json!({}));
    assert_eq!(listed["sessions"][0]["state"], "idle", "{listed}");
}
