//! Rules that want several answers, or not the author's: on a real server nobody meets them alone, by
//! whichever door they come, and two others do.

use crate::{
    api::new_token,
    people::{Followed, Member, team},
    protocol_client::scripted,
    scene::{Scene, cell},
    serving::Serving,
};
use serde_json::{Value, json};

const CONFIG: &str = ".config/interpreter/config.toml";
const RULE: &str = "[[rule]]\ndecision = 'ask'\nlanguage = 'python'\nanswers = 2\n";
const OTHERS: &str =
    "[[rule]]\ndecision = 'ask'\nlanguage = 'python'\nanswers = 2\nnot_author = true\n";
const CODE: &str = "print(6 * 7)";

fn scene(rules: &str) -> Scene {
    Scene::new().home_file(CONFIG, rules)
}

/// A session of this person, which the others may drive.
fn shared(owner: &Member<'_>, others: &[&str], mode: &str) -> (String, Followed) {
    let session = owner.open(mode);
    for name in others {
        let share = json!({ "with": name, "as": "drive" });
        owner.ok("grant", json!({ "session": session, "share": share }));
    }
    let followed = owner.follow(&session);
    (session, followed)
}

/// The answer to a question.
fn answer(session: &str, question: &Value, decision: Value) -> Value {
    let mut fields = decision;
    fields["session"] = session.into();
    fields["question"] = question["id"].clone();
    fields["hash"] = question["hash"].clone();
    fields
}

fn yes(session: &str, question: &Value) -> Value {
    answer(session, question, json!({ "decision": "run" }))
}

fn run(who: &Member<'_>, session: &str, seen: &mut Followed) -> Value {
    who.ok("run", json!({ "session": session, "language": "python", "code": CODE }));
    seen.record("question")
}

fn waits_for(missing: u8) -> Value {
    json!({ "state": "waiting", "missing": missing })
}

#[test]
fn two_others_run_what_nobody_runs_alone() {
    let scene = scene(OTHERS);
    let people = [("anna", "approver"), ("ben", "approver"), ("cleo", "admin")];
    let serving = team(&scene, &people);
    let [anna, ben, cleo] = people.map(|(name, _)| Member::new(&serving, name));
    let (session, mut seen) = shared(&anna, &["ben", "cleo"], "run");
    let question = run(&anna, &session, &mut seen);
    let quorum = &question["quorum"];
    assert_eq!((&quorum["answers"], &quorum["not_author"]), (&json!(2), &json!(true)));
    assert_eq!(quorum["authors"][0]["name"], "anna", "{question}");
    assert_eq!(question["may_stand"], false);
    let yes = yes(&session, &question);

    // Not by its author, not to something else, not for more than this, and not twice.
    assert_eq!(anna.refused("answer", yes.clone()), "you_wrote_it");
    let mut another = yes.clone();
    another["hash"] = "0".repeat(64).into();
    assert_eq!(ben.refused("answer", another), "another_hash");
    for (span, code) in
        [("turn", "not_fitting"), ("session", "not_fitting"), ("always", "not_allowed")]
    {
        let stand = json!({ "decision": "stand", "span": span, "covers": "kind" });
        assert_eq!(ben.refused("answer", answer(&session, &question, stand)), code, "{span}");
    }
    assert_eq!(ben.ok("answer", yes.clone()), waits_for(1));
    let approval = seen.record("approval");
    assert_eq!((&approval["who"], &approval["missing"]), (&json!("ben"), &json!(1)));
    assert_eq!(ben.refused("answer", yes.clone()), "already_approved");

    // Through other doors, and with another login, it is the same person.
    let again = Member::new(&serving, "ben");
    assert_eq!(again.refused("answer", yes.clone()), "already_approved");
    let target = format!("/v1/sessions/{session}/questions/q1/answer");
    let body = json!({ "hash": question["hash"], "decision": "run" });
    for (who, status, code) in [(&ben, 409, "already_approved"), (&anna, 403, "you_wrote_it")] {
        let refused = who.ask("POST", &target, Some(&body));
        assert_eq!(refused.status, status, "{refused:?}");
        assert!(refused.body.contains(code), "{refused:?}");
        let mut socket = who.socket();
        let mut line = yes.clone();
        (line["id"], line["do"]) = (7.into(), "answer".into());
        socket.socket.say(&line.to_string());
        let reply = socket.wait_for(|line| line["id"] == 7);
        assert_eq!(reply["error"]["code"], code, "{reply}");
    }
    // It is still asked, and says by whom it was approved.
    let listed = cleo.ok("list", json!({}));
    let open = &listed["questions"][0];
    assert_eq!((&open["approved"][0]["name"], &open["missing"]), (&json!("ben"), &json!(1)));
    assert_eq!(listed["you"]["name"], "cleo");

    // The control: another person decides it.
    assert_eq!(cleo.ok("answer", yes), json!({}));
    let last = seen.record("approval");
    assert_eq!((&last["who"], &last["missing"]), (&json!("cleo"), &json!(0)));
    assert_eq!(seen.record("answer")["who"], "cleo");
    assert_eq!(seen.record("output")["text"], "42\n");
    seen.record("turn_finished");
}

#[test]
fn any_no_ends_it_whoever_has_said_yes() {
    let scene = scene(RULE);
    let people = [("anna", "approver"), ("ben", "approver")];
    let serving = team(&scene, &people);
    let [anna, ben] = people.map(|(name, _)| Member::new(&serving, name));
    let (session, mut seen) = shared(&anna, &["ben"], "run");
    let question = run(&anna, &session, &mut seen);
    // This rule does not mind the author.
    assert_eq!(anna.ok("answer", yes(&session, &question)), waits_for(1));
    ben.ok("answer", answer(&session, &question, json!({ "decision": "reject" })));
    let end = seen.wait_for(|line| line["kind"] == "output" || line["kind"] == "turn_finished");
    assert_eq!(end["end"], "refused", "{end}");
    assert_eq!(anna.refused("answer", yes(&session, &question)), "closed");
}

#[test]
fn an_edit_makes_its_giver_an_author_and_starts_anew() {
    let scene = scene(OTHERS);
    let people =
        [("anna", "approver"), ("ben", "approver"), ("cleo", "approver"), ("dora", "approver")];
    let serving = team(&scene, &people);
    let [anna, ben, cleo, dora] = people.map(|(name, _)| Member::new(&serving, name));
    let (session, mut seen) = shared(&anna, &["ben", "cleo", "dora"], "run");
    let first = run(&anna, &session, &mut seen);
    assert_eq!(cleo.ok("answer", yes(&session, &first)), waits_for(1));
    let edit = json!({ "decision": "edit", "code": "print(6 * 8)" });
    ben.ok("answer", answer(&session, &first, edit));
    let second = seen.record("question");
    // A yes to the code of before is one to nothing.
    let mut late = yes(&session, &second);
    late["hash"] = first["hash"].clone();
    assert_eq!(dora.refused("answer", late), "another_hash");
    assert_eq!(dora.refused("answer", yes(&session, &first)), "closed");
    for author in [&anna, &ben] {
        assert_eq!(author.refused("answer", yes(&session, &second)), "you_wrote_it");
    }
    assert_eq!(cleo.ok("answer", yes(&session, &second)), waits_for(1));
    assert_eq!(dora.ok("answer", yes(&session, &second)), json!({}));
    assert_eq!(seen.record("output")["text"], "48\n");
}

#[test]
fn the_yes_of_whoever_may_not_answer_any_more_does_not_count() {
    let scene = scene(OTHERS);
    let people =
        [("anna", "approver"), ("ben", "approver"), ("cleo", "approver"), ("dora", "approver")];
    let serving = team(&scene, &people);
    let [anna, ben, cleo, dora] = people.map(|(name, _)| Member::new(&serving, name));
    let names = ["ben", "cleo", "dora"];
    for take_away in ["role", "share", "person"] {
        let (session, mut seen) = shared(&anna, &names, "run");
        let question = run(&anna, &session, &mut seen);
        let yes = yes(&session, &question);
        let ben = if take_away == "role" { &ben } else { &Member::new(&serving, "ben") };
        assert_eq!(ben.ok("answer", yes.clone()), waits_for(1));
        match take_away {
            "role" => {
                scene.run(&["serve", "user", "role", "ben", "author"]).exits(0);
            }
            "share" => {
                let fields = json!({ "session": session, "unshare": "ben" });
                anna.ok("grant", fields);
            }
            _ => {
                scene.run(&["serve", "user", "remove", "ben"]).exits(0);
            }
        }
        assert_eq!(cleo.ok("answer", yes.clone()), waits_for(1), "{take_away}");
        let gone = seen.record("approval_withdrawn");
        assert_eq!(gone["person"]["name"], "ben", "{take_away}");
        if take_away == "role" {
            scene.run(&["serve", "user", "role", "ben", "approver"]).exits(0);
            // A yes that was withdrawn does not come back by itself.
            let listed = cleo.ok("list", json!({ "session": session }));
            assert_eq!(listed["questions"][0]["approved"].as_array().unwrap().len(), 1);
        }
        // The control: two who may.
        assert_eq!(dora.ok("answer", yes), json!({}), "{take_away}");
        assert_eq!(seen.record("output")["text"], "42\n");
        seen.record("turn_finished");
        anna.ok("close", json!({ "session": session }));
    }
}

#[test]
fn a_yes_that_was_taken_back_does_not_come_back_with_the_right() {
    let scene = scene(OTHERS);
    let people = [("anna", "approver"), ("ben", "approver"), ("cleo", "approver")];
    let serving = team(&scene, &people);
    let [anna, ben, cleo] = people.map(|(name, _)| Member::new(&serving, name));
    for take_away in ["share", "role"] {
        let (session, mut seen) = shared(&anna, &["ben", "cleo"], "run");
        let question = run(&anna, &session, &mut seen);
        let yes = yes(&session, &question);
        assert_eq!(ben.ok("answer", yes.clone()), waits_for(1));
        if take_away == "share" {
            anna.ok("grant", json!({ "session": session, "unshare": "ben" }));
            let share = json!({ "with": "ben", "as": "drive" });
            anna.ok("grant", json!({ "session": session, "share": share }));
        } else {
            scene.run(&["serve", "user", "role", "ben", "viewer"]).exits(0);
            // The server has seen it once the yes is gone.
            seen.record("approval_withdrawn");
            scene.run(&["serve", "user", "role", "ben", "approver"]).exits(0);
        }
        assert_eq!(cleo.ok("answer", yes.clone()), waits_for(1), "{take_away}");
        // The control: said once more, it counts.
        let ben = Member::new(&serving, "ben");
        assert_eq!(ben.ok("answer", yes), json!({}), "{take_away}");
        assert_eq!(seen.record("output")["text"], "42\n");
        seen.record("turn_finished");
        anna.ok("close", json!({ "session": session }));
    }
}

#[test]
fn the_operator_is_one_person_with_every_token_and_the_record_names_all() {
    let scene = scene(OTHERS);
    let people = [("anna", "approver"), ("ben", "approver")];
    let serving = team(&scene, &people);
    let [anna, ben] = people.map(|(name, _)| Member::new(&serving, name));
    let operator = Member { serving: &serving, login: serving.log_in() };
    let token = new_token(&scene, "ci", "watch,prompt,answer");
    let (session, mut seen) = shared(&operator, &["anna", "ben"], "run");
    let question = run(&operator, &session, &mut seen);
    let yes = yes(&session, &question);
    // The token speaks for the operator.
    let mut line = yes.clone();
    (line["id"], line["do"]) = (1.into(), "answer".into());
    let said = serving.post("/v1/do", &[&token], &line.to_string());
    assert!(said.body.contains("you_wrote_it"), "{said:?}");
    anna.ok("answer", yes.clone());
    ben.ok("answer", yes);
    seen.record("turn_finished");
    operator.ok("close", json!({ "session": session }));
    serving.stop();
    let shown = scene.run(&["history", "show", &session]).exits(0);
    shown.mentions("approved, 1 more needed, by anna").mentions("approved, by ben");
    let exported = scene.run(&["history", "export", &session, "--format", "jsonl"]);
    let exported = exported.exits(0).stdout();
    assert_eq!(exported.matches(r#""kind":"approval""#).count(), 2, "{exported}");
    scene.run(&["audit", "verify"]).exits(0);
}

#[test]
fn one_person_is_told_at_once_and_nothing_answers_in_the_place_of_others() {
    for rule in [RULE, "[[rule]]\ndecision = 'ask'\nlanguage = 'python'\nnot_author = true\n"] {
        let automatic = format!("{rule}[approval]\nmode = 'auto'\nup_to = 'medium'\n");
        for config in [rule, &automatic] {
            let scene = scene(config);
            for more in [&[][..], &["--yes"]] {
                let arguments = [&["run", "-l", "python", "-c", CODE][..], more].concat();
                let seen = scene.run(&arguments).exits(3);
                seen.lacks("42").mentions("interpreter serve --team");
            }
        }
    }
    // On a server of one person, too.
    let scene = scene(RULE);
    let serving = Serving::start(&scene);
    let alone = Member { serving: &serving, login: serving.log_in() };
    let session = alone.open("run");
    let mut seen = alone.follow(&session);
    alone.ok("run", json!({ "session": session, "language": "python", "code": CODE }));
    let verdict = seen.record("verdict");
    assert_eq!(verdict["decision"], "deny", "{verdict}");
    assert!(verdict["rule"].as_str().unwrap().contains("--team"), "{verdict}");
    assert_eq!(seen.record("turn_finished")["end"], "refused");
    // The control: what the rule does not cover runs.
    alone.ok("run", json!({ "session": session, "language": "shell", "code": "echo 42" }));
    assert_eq!(seen.record("output")["text"], "42\n");
}

#[test]
fn a_model_goes_on_after_two_and_a_resumed_question_needs_both_again() {
    let says = [&cell("python", CODE) as &str, "Done."];
    let scene = scripted(scene(OTHERS).model_says(&says));
    let people = [("anna", "author"), ("ben", "approver"), ("cleo", "approver")];
    let serving = team(&scene, &people);
    let [anna, ben, cleo] = people.map(|(name, _)| Member::new(&serving, name));
    let (first, mut seen) = shared(&anna, &["ben", "cleo"], "chat");
    anna.ok("prompt", json!({ "session": first, "text": "compute" }));
    assert_eq!(seen.record("author")["person"]["name"], "anna");
    let question = seen.record("question");
    assert_eq!(ben.ok("answer", yes(&first, &question)), waits_for(1));
    anna.ok("close", json!({ "session": first }));

    let again = anna.ok("resume", json!({ "session": first }))["session"].clone();
    let again = again.as_str().unwrap();
    for name in ["ben", "cleo"] {
        let share = json!({ "with": name, "as": "drive" });
        anna.ok("grant", json!({ "session": again, "share": share }));
    }
    let mut seen = anna.follow(again);
    let told = seen.record("note");
    assert!(told["text"].as_str().unwrap().contains("approved"), "{told}");
    let question = seen.record("question");
    assert_eq!(question["quorum"]["authors"][0]["name"], "anna");
    assert_eq!(cleo.ok("answer", yes(again, &question)), waits_for(1));
    assert_eq!(ben.ok("answer", yes(again, &question)), json!({}));
    assert_eq!(seen.record("output")["text"], "42\n");
}

#[test]
fn the_link_of_a_chat_stays_until_nobody_is_missing() {
    let says = [&cell("python", CODE) as &str, "Done.", "Bye."];
    let scene = scripted(scene(OTHERS).model_says(&says));
    let people = [("anna", "approver"), ("ben", "approver")];
    let serving = team(&scene, &people);
    let [anna, ben] = people.map(|(name, _)| Member::new(&serving, name));
    let operator = Member { serving: &serving, login: serving.log_in() };
    let token = new_token(&scene, "front", "watch,prompt");
    let mut messages = Vec::new();
    let mut chat = |text: &str| {
        messages.push(json!({ "role": "user", "content": text }));
        let body = json!({ "model": "interpreter", "messages": messages }).to_string();
        let answer = serving.post("/v1/chat/completions", &[&token], &body);
        let answer: Value = serde_json::from_str(&answer.body).unwrap();
        let said = answer["choices"][0]["message"]["content"].as_str().unwrap().to_owned();
        messages.push(json!({ "role": "assistant", "content": said }));
        said
    };
    let first = chat("compute");
    let question = operator.ok("list", json!({}))["questions"][0].clone();
    let session = question["session"].as_str().unwrap();
    let link = format!("/#/s/{session}");
    assert!(first.contains(&link), "{first}");
    for name in ["anna", "ben"] {
        let share = json!({ "with": name, "as": "drive" });
        operator.ok("grant", json!({ "session": session, "share": share }));
    }
    // The token prompted, and whoever runs the server is the token.
    assert_eq!(operator.refused("answer", yes(session, &question)), "you_wrote_it");
    assert_eq!(anna.ok("answer", yes(session, &question)), waits_for(1));
    let second = chat("yes");
    assert!(second.contains(&link) && second.contains("not passed on"), "{second}");
    assert_eq!(ben.ok("answer", yes(session, &question)), json!({}));
    let third = chat("thanks");
    assert!(third.contains("42"), "{third}");
}

#[test]
fn a_rule_that_makes_no_sense_is_an_error_and_the_rest_is_told() {
    for (wrong, part) in [
        ("decision = 'ask'\nanswers = 0", "from 1 to 5"),
        ("decision = 'ask'\nanswers = 6", "from 1 to 5"),
        ("decision = 'ask'\nanswers = 'two'", "not a text"),
        ("decision = 'allow'\nanswers = 2", "go with"),
        ("decision = 'deny'\nnot_author = true", "go with"),
        ("decision = 'ask'\nnot_autor = true", "not_autor"),
    ] {
        let scene = scene(&format!("[[rule]]\n{wrong}\n"));
        scene.run(&["rules"]).exits(2).mentions(part);
    }
    let project = "[[rule]]\ndecision = 'ask'\nlanguage = 'python'\nnot_author = true\n";
    let scene = scene(RULE).file(".interpreter/config.toml", project).file("x.py", CODE);
    scene.run(&["rules"]).exits(0).mentions("to be approved by 2 people");
    let tested = scene.run(&["rules", "test", "x.py", "--json"]).exits(0);
    let tested: Value = serde_json::from_str(&tested.stdout()).unwrap();
    assert_eq!(tested["decision"], "ask");
    // The project tightens the person's rule, and does not replace it.
    assert_eq!(tested["quorum"], json!({ "answers": 2, "not_author": true }));
    let words = "approved by 2 people other than the author";
    scene.run(&["rules", "test", "x.py"]).exits(0).mentions(words);
    scene.run(&["run", "--explain", "-l", "python", "-c", CODE]).exits(0).mentions(words);
}

/// A rule that wants others for code that deletes wants them for code that isn't understood too.
#[test]
fn code_that_is_not_understood_waits_for_others() {
    let rule = "[[rule]]\ndecision = 'ask'\nfinding = 'deletes'\nanswers = 2\nnot_author = true\n";
    let scene = scene(rule);
    let people = [("anna", "approver"), ("ben", "approver"), ("cleo", "approver")];
    let serving = team(&scene, &people);
    let [anna, ben, _] = people.map(|(name, _)| Member::new(&serving, name));
    for code in [
        "import pathlib\npathlib.os.remove('a')",
        "print.__self__.exec('1')",
        "import cProfile\ncProfile.run('1')",
        "import os\nos.remove('a')",
    ] {
        let (session, mut seen) = shared(&anna, &["ben", "cleo"], "run");
        anna.ok("run", json!({ "session": session, "language": "python", "code": code }));
        let question = seen.record("question");
        let quorum = &question["quorum"];
        assert_eq!(
            (&quorum["answers"], &quorum["not_author"]),
            (&json!(2), &json!(true)),
            "{code}"
        );
        assert_eq!(anna.refused("answer", yes(&session, &question)), "you_wrote_it", "{code}");
        assert_eq!(ben.ok("answer", yes(&session, &question)), waits_for(1), "{code}");
        ben.ok("answer", answer(&session, &question, json!({ "decision": "reject" })));
        anna.ok("close", json!({ "session": session }));
    }
    // The control: code that is understood and deletes nothing asks no one.
    let (session, mut seen) = shared(&anna, &["ben", "cleo"], "run");
    anna.ok("run", json!({ "session": session, "language": "python", "code": CODE }));
    assert_eq!(seen.record("output")["text"], "42\n");
}
