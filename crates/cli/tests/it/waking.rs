//! Questions outlive the server: they are listed and answered after the next start, by whoever could
//! answer them before, and run code once.

use crate::{
    people::{Member, team},
    protocol_client::{Client, Server, scripted},
    scene::{Scene, cell},
    serving::Serving,
};
use rustix::process::Signal;
use serde_json::{Value, json};

const CODE: &str = "open('ran', 'a').write('x')\nprint('it ran')";

fn answer(session: &str, question: &Value, decision: &str) -> Value {
    json!({
        "session": session, "question": question["id"], "hash": question["hash"],
        "decision": decision,
    })
}

/// The sessions whose questions are open, by the list.
fn asking(client: &mut Client) -> Vec<String> {
    let listed = client.ok("list", json!({}));
    let of = |one: &Value| one["session"].as_str().unwrap().to_owned();
    listed["questions"].as_array().unwrap().iter().map(of).collect()
}

/// A session that was asking when its server ended with this signal.
fn left_asking(scene: &Scene, signal: Signal) -> (String, Value) {
    left_asking_about(scene, signal, CODE)
}

fn left_asking_about(scene: &Scene, signal: Signal, code: &str) -> (String, Value) {
    scene.play(&[&cell("python", code), "Done."]);
    let (mut server, mut client) = Server::stdio(scene);
    let session = client.open(json!({}));
    client.ok("prompt", json!({ "session": session, "text": "go" }));
    let question = client.record("question");
    server.signal(signal);
    server.wait();
    scene.play(&["Done."]);
    (session, question)
}

#[test]
fn a_question_is_answered_after_its_server_has_ended() {
    for signal in [Signal::KILL, Signal::TERM] {
        let scene = scripted(Scene::new());
        let (session, question) = left_asking(&scene, signal);
        let (_server, mut client) = Server::stdio(&scene);
        let listed = client.ok("list", json!({}));
        let open = &listed["questions"][0];
        assert_eq!(open["session"], session, "{listed}");
        for name in ["id", "hash", "code"] {
            assert_eq!(open[name], question[name], "{name}");
        }
        let row = &listed["sessions"][0];
        assert_eq!((&row["state"], &row["questions"]), (&json!("ended"), &json!(1)));
        let one = client.ok("list", json!({ "session": session }));
        assert_eq!(one["questions"][0]["id"], question["id"]);

        // To something else there is no answer, and nothing begins.
        let mut other = question.clone();
        other["hash"] = "0".repeat(64).into();
        assert_eq!(client.refused("answer", answer(&session, &other, "run")), "another_hash");
        other["id"] = "q9".into();
        assert_eq!(client.refused("answer", answer(&session, &other, "run")), "ended");
        assert_eq!(client.ok("list", json!({}))["sessions"].as_array().unwrap().len(), 1);

        let reply = client.ok("answer", answer(&session, &question, "run"));
        let again = reply["session"].as_str().unwrap().to_owned();
        client.ok("subscribe", json!({ "session": again, "after": 0 }));
        assert_eq!(client.record("resumed")["from"], session);
        assert_eq!(client.record("output")["text"], "it ran\n");

        // A yes counts once, by whichever name.
        for id in [&session, &again] {
            assert_eq!(client.refused("answer", answer(id, &question, "run")), "closed");
        }
        assert_eq!(asking(&mut client).iter().filter(|one| **one == session).count(), 0);
    }
}

#[test]
fn a_question_goes_on_through_one_server_after_another() {
    let scene = scripted(Scene::new());
    let (first, question) = left_asking(&scene, Signal::KILL);
    let (mut server, mut client) = Server::stdio(&scene);
    let second = client.ok("resume", json!({ "session": first }))["session"].clone();
    client.ok("subscribe", json!({ "session": second, "after": 0 }));
    client.record("question");
    assert_eq!(asking(&mut client), [second.as_str().unwrap()]);
    server.signal(Signal::KILL);
    server.wait();
    // Whoever has the first link answers in the third session.
    let (_server, mut client) = Server::stdio(&scene);
    assert_eq!(asking(&mut client), [second.as_str().unwrap()]);
    let third = client.ok("answer", answer(&first, &question, "run"))["session"].clone();
    client.ok("subscribe", json!({ "session": third, "after": 0 }));
    assert_eq!(client.record("resumed")["from"], second);
    assert_eq!(client.record("output")["text"], "it ran\n");
}

#[test]
fn two_answers_at_once_meet_in_one_session() {
    let scene = scripted(Scene::new());
    let (session, question) = left_asking(&scene, Signal::KILL);
    let server = Server::socket(&scene);
    let replies: Vec<Value> = std::thread::scope(|scope| {
        let racers: Vec<_> = (0..4)
            .map(|_| {
                let mut client = server.client();
                let fields = answer(&session, &question, "run");
                scope.spawn(move || client.request("answer", fields))
            })
            .collect();
        racers.into_iter().map(|racer| racer.join().unwrap()).collect()
    });
    let counted = replies.iter().filter(|reply| reply.get("ok").is_some()).count();
    assert_eq!(counted, 1, "{replies:?}");
    let late = replies.iter().filter(|reply| reply["error"]["code"] == "closed").count();
    assert_eq!(late, 3, "{replies:?}");
    let mut client = server.client();
    let listed = client.ok("list", json!({}));
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 2, "{listed}");
}

#[test]
fn a_session_that_was_closed_waits_for_nobody() {
    let scene = scripted(Scene::new().model_says(&[&cell("python", CODE), "Done."]));
    let (_server, mut client) = Server::stdio(&scene);
    let session = client.open(json!({}));
    client.ok("prompt", json!({ "session": session, "text": "go" }));
    let question = client.record("question");
    client.ok("close", json!({ "session": session }));
    assert_eq!(asking(&mut client), [""; 0]);
    assert_eq!(client.refused("answer", answer(&session, &question, "run")), "ended");
    // The control: whoever wants it takes it up again.
    let again = client.ok("resume", json!({ "session": session }))["session"].clone();
    client.ok("subscribe", json!({ "session": again, "after": 0 }));
    let asked = client.record("question");
    assert!(client.answer(&asked, json!({ "decision": "reject" })).get("ok").is_some());
}

/// A secret was taken out of the code on record, so the code is not there to be run. The control is
/// every other test.
#[test]
fn code_that_is_not_whole_on_record_waits_for_nobody_and_begins_nothing() {
    let value = "Kp4-Ty9_Qw2.rH6mZ8sX";
    let scene = scripted(Scene::new().variable("EXAMPLE_API_TOKEN", value));
    scene.play(&[&cell("python", "print(1)"), "Done."]);
    let (mut server, mut client) = Server::stdio(&scene);
    let session = client.open(json!({}));
    client.ok("prompt", json!({ "session": session, "text": "go" }));
    let first = client.record("question");
    let edit = json!({ "decision": "edit", "code": format!("print('{value}')") });
    assert!(client.answer(&first, edit).get("ok").is_some());
    let question = client.record("question");
    server.signal(Signal::KILL);
    server.wait();
    scene.play(&["Done."]);
    assert!(question["code"].as_str().unwrap().contains("[secret"), "{question}");
    assert_eq!(question["masked"], json!(["EXAMPLE_API_TOKEN"]));
    let (_server, mut client) = Server::stdio(&scene);
    assert_eq!(asking(&mut client), [""; 0]);
    for decision in ["run", "reject"] {
        assert_eq!(client.refused("answer", answer(&session, &question, decision)), "ended");
    }
    assert_eq!(client.ok("list", json!({}))["sessions"].as_array().unwrap().len(), 1);
}

/// Deleting the session that went on must not make the code run once more.
#[test]
fn a_question_does_not_come_back_when_its_answer_is_deleted() {
    let scene = scripted(Scene::new());
    let (session, question) = left_asking(&scene, Signal::KILL);
    let (mut server, mut client) = Server::stdio(&scene);
    let again = client.ok("answer", answer(&session, &question, "run"))["session"].clone();
    client.ok("subscribe", json!({ "session": again, "after": 0 }));
    client.record("output");
    server.signal(Signal::TERM);
    server.wait();
    scene.run(&["history", "delete", again.as_str().unwrap(), "--yes"]).exits(0);
    let (_server, mut client) = Server::stdio(&scene);
    assert_eq!(asking(&mut client), [""; 0]);
    assert_eq!(client.refused("answer", answer(&session, &question, "run")), "ended");
}

#[test]
fn code_that_a_rule_of_now_denies_is_not_asked_about() {
    let scene = scripted(Scene::new());
    let (session, question) = left_asking(&scene, Signal::KILL);
    add_rule(&scene, "decision = 'deny'\nlanguage = 'python'");
    let (_server, mut client) = Server::stdio(&scene);
    assert_eq!(client.refused("answer", answer(&session, &question, "run")), "refused");
    assert_eq!(asking(&mut client), [""; 0]);
}

fn add_rule(scene: &Scene, rule: &str) {
    let config = scene.home().join(".config/interpreter/config.toml");
    let settings = fs_err::read_to_string(&config).unwrap_or_default();
    fs_err::create_dir_all(config.parent().unwrap()).unwrap();
    fs_err::write(&config, format!("{settings}\n[[rule]]\n{rule}\n")).unwrap();
}

#[test]
fn rules_of_now_decide_on_what_was_asked_then() {
    let scene = scripted(Scene::new());
    let (session, question) = left_asking(&scene, Signal::KILL);
    add_rule(&scene, "decision = 'ask'\nlanguage = 'python'");
    let (_server, mut client) = Server::stdio(&scene);
    let reply = client.request("answer", answer(&session, &question, "run"));
    assert_eq!(reply["error"]["code"], "another_hash", "{reply}");
    // The new question waits in the session that goes on.
    let asking = asking(&mut client);
    assert_eq!(asking.len(), 1);
    assert!(reply["error"]["hint"].as_str().unwrap().contains(&asking[0]), "{reply}");
    client.ok("subscribe", json!({ "session": asking[0], "after": 0 }));
    let asked = client.record("question");
    client.answer(&asked, json!({ "decision": "run" }));
    assert_eq!(client.record("output")["text"], "it ran\n");
}

#[test]
fn in_a_team_another_answers_after_the_next_start_and_nobody_who_could_not_before() {
    let rule = "[[rule]]\ndecision = 'ask'\nlanguage = 'python'\nanswers = 1\nnot_author = true\n";
    let scene = Scene::new().home_file(".config/interpreter/config.toml", rule);
    let scene = scripted(scene.model_says(&[&cell("python", CODE), "Done."]));
    let people =
        [("anna", "approver"), ("ben", "approver"), ("cleo", "approver"), ("dora", "approver")];
    let serving = team(&scene, &people);
    let [anna, ..] = people.map(|(name, _)| Member::new(&serving, name));
    let (asked, run, theirs) = (anna.open("chat"), anna.open("run"), anna.open("chat"));
    for (session, shares) in [
        (&asked, [("ben", "drive"), ("cleo", "watch")]),
        (&run, [("ben", "drive"), ("cleo", "watch")]),
    ] {
        for (name, kind) in shares {
            let share = json!({ "with": name, "as": kind });
            anna.ok("grant", json!({ "session": session, "share": share }));
        }
    }
    let mut seen = anna.follow(&asked);
    anna.ok("prompt", json!({ "session": asked, "text": "go" }));
    let question = seen.record("question");
    let mut seen = anna.follow(&run);
    anna.ok("run", json!({ "session": run, "language": "python", "code": "print(42)" }));
    let own = seen.record("question");
    let mut seen = anna.follow(&theirs);
    let share = json!({ "with": "ben", "as": "drive" });
    anna.ok("grant", json!({ "session": theirs, "share": share }));
    Member::new(&serving, "ben").ok("prompt", json!({ "session": theirs, "text": "go" }));
    let of_ben = seen.record("question");
    serving.stop();

    scene.play(&["Done."]);
    let serving = Serving::start_with(&scene, &["--team"]);
    let [anna, ben, cleo, dora] = people.map(|(name, _)| Member::new(&serving, name));
    let yes = answer(&asked, &question, "run");
    assert_eq!(dora.refused("answer", yes.clone()), "unknown_session");
    assert_eq!(cleo.refused("answer", yes.clone()), "not_allowed");
    assert_eq!(anna.listed().len(), 3);
    // The rule wants somebody else's; the session goes on all the same, and waits for that.
    assert_eq!(anna.refused("answer", yes.clone()), "you_wrote_it");
    assert_eq!(anna.listed().len(), 4);
    let listed = ben.ok("list", json!({}));
    assert_eq!(listed["questions"].as_array().unwrap().len(), 3, "{listed}");
    // Who wrote the prompt is the author, and not whoever the session belongs to.
    assert_eq!(ben.refused("answer", answer(&theirs, &of_ben, "run")), "you_wrote_it");
    anna.ok("answer", answer(&theirs, &of_ben, "run"));
    for (session, question, printed) in [(&asked, &question, "it ran\n"), (&run, &own, "42\n")] {
        let reply = ben.ok("answer", answer(session, question, "run"));
        let again = reply["session"].as_str().unwrap();
        // It is Anna's, and shared as before.
        assert_eq!(anna.follow(again).record("output")["text"], printed);
        let mut seen = cleo.follow(again);
        let said = seen.record("answer");
        assert_eq!((&said["who"], &said["decision"]), (&json!("ben"), &json!("run")));
        assert!(!dora.listed().contains(&again.to_owned()));
        let row = &anna.ok("list", json!({ "session": again }))["sessions"][0];
        assert_eq!(row.get("owner"), None, "{row}");
    }
}
