//! A budget of the day is not passed: by a clock, a kill, a race, another session, a damaged file
//! or a provider that miscounts.

use super::{DEAR, FREE, refused, selling};
use crate::{
    models::servers::{Paced, Plain},
    protocol_client::Server,
    scene::{Scene, Seen},
};
use serde_json::{Value, json};
use std::{io::Read, process::Stdio, thread};

const TWO_PROMPTS: [&str; 3] = ["--set", "budget.day.turns=2", "hi"];

fn is_used_up(seen: &Seen, budget: &str) -> bool {
    let text = seen.stdout() + &seen.stderr();
    text.contains(&format!("`budget.day.{budget}` is used up"))
}

/// A prompt in a session of its own, with a budget of the day. Whether it was answered.
#[track_caller]
fn is_answered(scene: &Scene, model: &str, budget: &str) -> bool {
    let setting = format!("budget.day.{budget}");
    let seen = scene.run(&["--set", &setting, "-m", model, "go"]);
    let is_used_up = is_used_up(&seen, budget.split_once('=').unwrap().0);
    assert_ne!(is_used_up, seen.stdout().contains("Hello."), "{}{}", seen.stdout(), seen.stderr());
    !is_used_up
}

#[test]
fn a_zone_or_a_clock_that_comes_back_finds_what_was_spent() {
    // Two zones in which it is never the same day.
    let mut scene = Scene::new().model_says(&["Hello."]);
    let mut ask = |zone: &str| {
        scene = std::mem::replace(&mut scene, Scene::new()).variable("TZ", zone);
        let seen = scene.chat(&TWO_PROMPTS);
        assert_ne!(is_used_up(&seen, "turns"), seen.stdout().contains("Hello."));
        is_used_up(&seen, "turns")
    };
    let (east, west) = ("<+14>-14", "<-12>12");
    assert_eq!((ask(east), ask(east), ask(east)), (false, false, true));
    // The control: where it is another day, another day begins, and has its own budget.
    assert_eq!((ask(west), ask(west), ask(west)), (false, false, true));
    for zone in [east, west, east, west] {
        assert!(ask(zone), "{zone}");
    }
}

#[test]
fn sessions_that_ask_at_once_share_one_budget() {
    let scene = Scene::new().model_says(&["Hello."]);
    let seen: Vec<_> = thread::scope(|scope| {
        let all: Vec<_> = (0..6).map(|_| scope.spawn(|| scene.chat(&TWO_PROMPTS))).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let answered = seen.iter().filter(|one| one.stdout().contains("Hello.")).count();
    let stopped = seen.iter().filter(|one| is_used_up(one, "turns")).count();
    assert_eq!((answered, stopped), (2, 4));
}

#[test]
fn a_session_that_is_continued_has_no_day_of_its_own() {
    let scene = Scene::new().model_says(&["Hello.", "Hello.", "Hello."]);
    let ask = |more: &[&str]| scene.chat(&[more, &TWO_PROMPTS].concat());
    assert!(ask(&[]).stdout().contains("Hello."));
    assert!(ask(&["--continue"]).stdout().contains("Hello."));
    for more in [&["--continue"][..], &[]] {
        let seen = ask(more).exits(5).lacks("Hello.");
        assert!(is_used_up(&seen, "turns"), "{more:?}");
    }
    // The control.
    let wider = ["--continue", "--set", "budget.day.turns=9", "hi"];
    scene.chat(&wider).mentions("Hello.").exits(0);
}

#[test]
fn a_session_that_is_killed_while_a_model_writes_has_spent_all_the_same() {
    for (budget, price) in [("tokens=100", FREE), ("cost=0.5", DEAR)] {
        let server = Paced::start();
        let scene = selling(&server.address, price);
        let setting = format!("budget.day.{budget}");
        let mut child = scene
            .command(&["--set", &setting, "-m", "dear/m", "go"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        server.says("I will ");
        let (mut heard, mut byte) = (Vec::new(), [0]);
        let mut output = child.stdout.take().unwrap();
        while !heard.ends_with(b"I will") {
            assert_eq!(output.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&heard));
            heard.push(byte[0]);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let hello = Plain::streaming("Hello.");
        let put = |scene: &Scene, price: &str| {
            let provider = format!(
                "title = 'Dear'\nformat = 'openai'\nbase_url = '{}/v1'\n\n[[model]]\nname = '*'\n\
                 tools = false\n{price}\n",
                hello.address
            );
            let file = scene.home().join(".config/interpreter/providers/dear.toml");
            scene.put(&file, provider.as_bytes());
        };
        put(&scene, price);
        assert!(!is_answered(&scene, "dear/m", budget), "{budget}");
        assert!(hello.asked().is_empty());
        // The control: nobody was killed here.
        let fresh = selling(&hello.address, price);
        assert!(is_answered(&fresh, "dear/m", budget), "{budget}");
    }
}

fn with_budget(scene: Scene, budget: &str) -> Scene {
    let config = format!("model = \"dear/m\"\n[budget.day]\n{budget}\n");
    scene.home_file(".config/interpreter/config.toml", &config)
}

#[test]
fn a_session_that_is_closed_while_a_model_writes_has_spent_all_the_same() {
    let server = Paced::start();
    let scene = with_budget(selling(&server.address, DEAR), "cost = 0.5");
    let (mut process, mut client) = Server::stdio(&scene);
    let session = client.open(json!({}));
    client.ok("prompt", json!({ "session": session, "text": "go" }));
    server.says("I will ");
    client.wait_for(|line| line["live"] == "text");
    client.ok("close", json!({ "session": session }));
    client.end_input();
    assert!(process.wait().success());
    let said = refused(&scene.run(&["--json", "go"]).exits(5));
    assert!(said.starts_with("`budget.day.cost` is used up: $"), "{said}");
    // The control: nothing was asked here.
    let hello = Plain::streaming("Hello.");
    let fresh = with_budget(selling(&hello.address, DEAR), "cost = 0.5");
    fresh.run(&["go"]).mentions("Hello.").exits(0);
}

/// A model that says "Hello." and claims to have used this.
fn claiming(usage: &str) -> Plain {
    let chunk = |value: Value| format!("data: {value}\n\n");
    let hello = chunk(json!({ "choices": [{ "delta": { "content": "Hello." } }] }));
    let end = chunk(json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] }));
    let usage = format!("data: {{\"choices\":[],\"usage\":{usage}}}\n\n");
    let body = format!("{hello}{end}{usage}data: [DONE]\n\n");
    Plain::answering("200 OK", "text/event-stream", &body)
}

#[test]
fn no_claim_of_a_provider_frees_a_budget_or_uses_up_all_of_them() {
    let usage = |input: &str, output: &str, cost: &str| {
        format!("{{\"prompt_tokens\":{input},\"completion_tokens\":{output},\"cost\":{cost}}}")
    };
    let huge = "18446744073709551615";
    for (input, output, cost) in [
        ("0", "0", "0"),
        ("1", "0", "0"),
        ("0", "1", "null"),
        ("-5", "-5", "-100"),
        ("-5", "7", "-1e300"),
        ("0.5", "0.5", "\"0\""),
        ("null", "0", "{}"),
        (huge, huge, "1e300"),
        (huge, "0", "-0.0"),
        ("1e400", "1e400", "1e400"),
        ("[]", "\"9\"", "true"),
    ] {
        let server = claiming(&usage(input, output, cost));
        let scene = selling(&server.address, DEAR);
        // A prompt and the instructions have many hundred tokens, and far fewer than a million.
        let claim = format!("{input} {output} {cost}");
        let is_known = is_answered(&scene, "dear/m", "tokens=300");
        assert!(is_known, "{claim}: the first is answered");
        assert!(!is_answered(&scene, "dear/m", "tokens=300"), "{claim}");
        assert!(!is_answered(&scene, "dear/m", "cost=0.01"), "{claim}");
        assert!(is_answered(&scene, "dear/m", "tokens=10000000"), "{claim}");
        assert!(is_answered(&scene, "dear/m", "cost=1000000"), "{claim}");
    }
    // The control: a count that can be is taken, and so is a cost.
    let server = claiming(&usage("900", "10", "0.004"));
    let scene = selling(&server.address, DEAR);
    assert!(is_answered(&scene, "dear/m", "tokens=910"));
    assert!(is_answered(&scene, "dear/m", "tokens=911"));
    assert!(!is_answered(&scene, "dear/m", "tokens=1820"));
    assert!(is_answered(&scene, "dear/m", "cost=0.009"));
    assert!(!is_answered(&scene, "dear/m", "cost=0.009"));
}

#[test]
fn a_call_that_fails_is_counted() {
    for (status, kind, body) in [
        ("500 Oops", "application/json", "{}"),
        (
            "200 OK",
            "text/event-stream",
            "data: {\"choices\":[{\"delta\":{\"content\":\"I\"}}]}\n\n",
        ),
        ("200 OK", "text/event-stream", "data: nonsense\n\n"),
        ("200 OK", "text/html", "<p>"),
    ] {
        let server = Plain::answering(status, kind, body);
        let scene = selling(&server.address, DEAR);
        let set = ["--set", "budget.day.cost=0.5", "-m", "dear/m", "--json"];
        let ask = || scene.run(&[&set[..], &["go"]].concat());
        let first = ask();
        assert!(!refused(&first).contains("is used up"), "{status} {body}");
        let asked = server.asked().len();
        let said = refused(&ask().exits(5));
        assert!(said.starts_with("`budget.day.cost` is used up: $"), "{said}");
        assert_eq!(server.asked().len(), asked);
    }
}

#[test]
fn a_damaged_file_stops_whoever_has_a_budget_and_is_not_written_over() {
    let scene = Scene::new().model_says(&["Hello."]);
    scene.chat(&TWO_PROMPTS).mentions("Hello.").exits(0);
    let file = scene.data().join("spent.json");
    let right = fs_err::read_to_string(&file).unwrap();
    for wrong in ["", "{", "\0\0\0\0", &right.replace("\"turns\":1", "\"turns\":-1")] {
        assert_ne!(wrong, right);
        scene.put(&file, wrong.as_bytes());
        let seen = scene.chat(&TWO_PROMPTS).mentions("spent.json").mentions("damaged");
        seen.lacks("Hello.");
        // Without a budget of the day nothing depends on it.
        scene.chat(&["hi"]).mentions("Hello.").exits(0);
        assert_eq!(fs_err::read_to_string(&file).unwrap(), wrong);
    }
    scene.put(&file, right.as_bytes());
    scene.chat(&TWO_PROMPTS).mentions("Hello.").exits(0);
    assert!(is_used_up(&scene.chat(&TWO_PROMPTS), "turns"));
    fs_err::remove_file(&file).unwrap();
    scene.chat(&TWO_PROMPTS).mentions("Hello.").exits(0);
}
