//! Going back to before a cell, as other programs do it: shown first, and done as it was shown.

use crate::{
    protocol_client::{Client, Server, scripted},
    scene::{Scene, cell},
};
use serde_json::{Value, json};

/// Says yes to everything until the turn is over, and gives what was printed.
fn through(client: &mut Client) -> String {
    let mut printed = String::new();
    loop {
        let record = client.wait_for(|line| line.get("kind").is_some());
        match record["kind"].as_str().unwrap() {
            "output" => printed += record["text"].as_str().unwrap(),
            "question" => {
                let word = if record["about"] == "changes" { "later" } else { "run" };
                let reply = client.answer(&record, json!({ "decision": word }));
                assert!(reply.get("ok").is_some(), "{reply}");
            }
            "turn_finished" => return printed,
            _ => {}
        }
    }
}

fn prompt(client: &mut Client, session: &str, text: &str) -> String {
    client.ok("prompt", json!({ "session": session, "text": text }));
    through(client)
}

fn plan(client: &mut Client, session: &str, before: &str) -> Value {
    client.ok("rewind", json!({ "session": session, "before": before }))
}

fn wish(session: &str, plan: &Value) -> Value {
    json!({ "session": session, "before": plan["before"], "hash": plan["hash"] })
}

#[test]
fn memory_files_and_conversation_go_back_as_they_were_shown() {
    let write = |text: &str| format!("x = '{text}'\nopen('a.txt', 'w').write(x)");
    let scene = scripted(Scene::new().model_says(&[
        &cell("python", &write("one")),
        "One.",
        &cell("python", &write("two")),
        "Two.",
        &cell("python", "print('x is', x, open('a.txt').read())"),
        "Seen.",
    ]));
    let (_server, mut client) = Server::stdio(&scene);
    let session = client.open(json!({}));
    prompt(&mut client, &session, "first");
    prompt(&mut client, &session, "second");
    let listed = client.ok("rewind", json!({ "session": session }));
    let ids: Vec<_> = listed["cells"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert_eq!(ids, ["p1", "p2"]);
    let shown = plan(&mut client, &session, "p2");
    assert_eq!(shown["cells"], json!([{ "id": "p2", "language": "python" }]));
    assert_eq!(shown["prompt"], "second");
    assert_eq!(shown["interpreters"][0]["from"], "memory", "{shown}");
    assert_eq!((&shown["staged"], &shown["applied"]), (&json!("kept"), &json!([])));
    client.ok("rewind", wish(&session, &shown));
    let rewound = client.record("rewound");
    assert_eq!((&rewound["to"], &rewound["cells"]), (&json!("p2"), &json!(["p2"])));
    through(&mut client);
    assert_eq!(prompt(&mut client, &session, "look"), "x is one one\n");
    let seen = scene.run(&["history", "show", &session, "--json"]);
    let sent = seen.of_kind("request").last().unwrap()["newest"].to_string();
    assert!(!sent.contains("second"), "{sent}");
    scene.run(&["audit", "verify"]).exits(0);
}

#[test]
fn a_plan_that_is_out_of_date_is_not_followed() {
    let scene = Scene::new();
    let (_server, mut client) = Server::stdio(&scene);
    let session = client.open(json!({ "mode": "run" }));
    client.run(&session, "python", "x = 1");
    client.run(&session, "python", "x = 2");
    let shown = plan(&mut client, &session, "p2");
    for other in
        [json!("0".repeat(64)), json!(""), plan(&mut client, &session, "p1")["hash"].clone()]
    {
        let mut wish = wish(&session, &shown);
        wish["hash"] = other;
        assert_eq!(client.refused("rewind", wish), "look_again");
    }
    client.run(&session, "python", "x = 3");
    assert_eq!(client.refused("rewind", wish(&session, &shown)), "look_again");
    assert_eq!(client.run(&session, "python", "print(x)"), "3\n");
    let unknown = json!({ "session": session, "before": "p9" });
    assert_eq!(client.refused("rewind", unknown), "no_such_cell");
    // The control: what was shown last is followed. Cells that rebuild the memory are asked about.
    let shown = plan(&mut client, &session, "p2");
    client.ok("rewind", wish(&session, &shown));
    client.record("rewound");
    through(&mut client);
    assert_eq!(client.run(&session, "python", "print(x)"), "1\n");
}

/// A plan shows a colleague's prompt and file, or it is another plan.
#[test]
fn whatever_would_be_lost_was_shown() {
    let scene = scripted(Scene::new().model_says(&[
        &cell("python", "x = 1"),
        "One.",
        &cell("python", "x = 2"),
        "Two.",
        "Only words.",
    ]));
    let (_server, mut client) = Server::stdio(&scene);
    let session = client.open(json!({}));
    prompt(&mut client, &session, "first");
    prompt(&mut client, &session, "second");
    let mut shown = plan(&mut client, &session, "p2");
    assert_eq!((&shown["prompts"], &shown["sent"]), (&json!(1), &json!([])));
    let put = json!({ "session": session, "path": "mine.txt", "base64": "bWluZQo=" });
    for step in ["prompt", "put"] {
        if step == "prompt" {
            prompt(&mut client, &session, "third");
        } else {
            client.ok("put", put.clone());
        }
        assert_eq!(client.refused("rewind", wish(&session, &shown)), "look_again", "{step}");
        shown = plan(&mut client, &session, "p2");
    }
    assert_eq!((&shown["prompts"], &shown["sent"]), (&json!(2), &json!(["mine.txt"])));
    // The control: looking at the changes makes it no other plan.
    client.ok("changes", json!({ "session": session }));
    client.ok("rewind", wish(&session, &shown));
    client.record("rewound");
    through(&mut client);
    let staged = client.ok("changes", json!({ "session": session }));
    assert_eq!(staged["files"], json!([]), "it was shown, and is gone");
}

#[test]
fn code_that_goes_on_printing_does_not_keep_anybody_from_going_back() {
    let scene = Scene::new();
    let (_server, mut client) = Server::stdio(&scene);
    let session = client.open(json!({ "mode": "run" }));
    client.run(&session, "python", "x = 1");
    let printing = "import threading, time\n\
                    def go():\n while True: print('still', flush=True); time.sleep(0.02)\n\
                    threading.Thread(target=go, daemon=True).start()\nx = 2";
    client.run(&session, "python", printing);
    let shown = plan(&mut client, &session, "p2");
    for _ in 0..3 {
        // It has printed since.
        client.record("output");
    }
    client.ok("rewind", wish(&session, &shown));
    client.record("rewound");
    through(&mut client);
    assert_eq!(client.run(&session, "python", "print(x)"), "1\n");
}

#[test]
fn going_back_again_and_again_stays_quick_for_everybody() {
    let scene = Scene::new();
    let (_server, mut client) = Server::stdio(&scene);
    let session = client.open(json!({ "mode": "run" }));
    client.run(&session, "shell", "echo first > a.txt");
    for _ in 0..40 {
        client.run(&session, "shell", "true");
        let listed = client.ok("rewind", json!({ "session": session }));
        let newest = listed["cells"].as_array().unwrap().last().unwrap()["id"].clone();
        let shown = plan(&mut client, &session, newest.as_str().unwrap());
        client.ok("rewind", wish(&session, &shown));
        client.record("rewound");
        through(&mut client);
    }
    // Each way back once doubled the work of the next.
    let listed = client.ok("rewind", json!({ "session": session }));
    assert_eq!(listed["cells"].as_array().unwrap().len(), 1);
}

#[test]
fn applied_files_are_undone_if_that_is_wanted_and_only_then() {
    for undo in [false, true] {
        let scene = Scene::new().file("kept.txt", "mine");
        let (_server, mut client) = Server::stdio(&scene);
        let session = client.open(json!({ "mode": "run" }));
        client.run(&session, "shell", "echo new > kept.txt");
        let shown = client.ok("changes", json!({ "session": session }));
        client.ok("apply", json!({ "session": session, "changes": shown["id"] }));
        assert_eq!(scene.read("kept.txt").as_deref(), Some("new\n"));
        let shown = plan(&mut client, &session, "p1");
        assert_eq!(shown["applied"][0]["path"], "kept.txt", "{shown}");
        let mut wish = wish(&session, &shown);
        wish["undo"] = undo.into();
        client.ok("rewind", wish);
        client.record("rewound");
        through(&mut client);
        let left = if undo { "mine" } else { "new\n" };
        assert_eq!(scene.read("kept.txt").as_deref(), Some(left));
    }
}
