//! An earlier conversation goes on in a new session.

use crate::{
    scene::{Scene, cell},
    terminal::Terminal,
};
use rustix::process::{Signal, kill_process};

/// A chat that ran something, and is over.
fn talked() -> Scene {
    let code = "secret = 42\nprint('the word is', secret)";
    let scene = Scene::new().model_says(&[&cell("python", code), "It is **42**."]);
    let terminal = Terminal::open(&scene, &["--yes", "what is the word?"]);
    terminal.shows("It is 42").types("/quit").exits(0);
    scene
}

#[test]
fn a_conversation_goes_on_and_the_model_knows_what_is_gone() {
    let scene = talked();
    scene.play(&[&cell("python", "print('secret' in globals())"), "Gone, but it was 42."]);
    let terminal = Terminal::open(&scene, &["--yes", "--resume"]);
    terminal.shows("goes on. Variables are gone.").shows("Your last prompt: what is the word?");
    terminal.types("and now?").shows("False").shows("Gone, but it was 42.");
    // Runs are counted on, and those of the earlier session can still be read.
    terminal.types("/output p1").shows("the word is 42");
    terminal.types("/quit").exits(0);
    let seen = scene.run(&["history", "show", "--json"]);
    assert_eq!(seen.of_kind("run_started")[0]["proposal"], "p2");
    let earlier = seen.of_kind("resumed")[0]["from"].as_str().unwrap().to_owned();
    assert_ne!(seen.of_kind("session_started")[0]["session"], earlier.as_str());
    // The whole conversation was sent, and is on record again.
    let request = &seen.of_kind("request")[0]["newest"];
    let sent = request.to_string();
    for part in ["what is the word?", "secret = 42", "the word is 42", "It is **42**.", "and now?"]
    {
        assert!(sent.contains(part), "{part} is not in {sent}");
    }
    assert!(sent.contains("their variables and imports are gone"), "{sent}");
    scene.run(&["audit", "verify"]).exits(0);
    // And on from there, in a script, by its id.
    scene.play(&["It was 42."]);
    let arguments = scene.chat_arguments(&[&format!("--resume={earlier}"), "once more"]);
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    scene.run(&arguments).mentions("It was 42.").exits(0);
    let newest = scene.run(&["history", "show", "--json"]);
    assert_eq!(newest.of_kind("resumed")[0]["from"], earlier.as_str());
    // With a space, and by the short form.
    for id in [earlier.as_str(), &earlier[earlier.len() - 8..]] {
        scene.play(&["It was 42."]);
        let arguments = scene.chat_arguments(&["--resume", id, "once", "more"]);
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        scene.run(&arguments).mentions("It was 42.").exits(0);
        let newest = scene.run(&["history", "show", "--json"]);
        assert_eq!(newest.of_kind("resumed")[0]["from"], earlier.as_str());
        assert_eq!(newest.of_kind("prompt")[0]["text"], "once more");
    }
}

#[test]
fn what_cannot_be_resumed_is_told() {
    let scene = Scene::new().model_says(&["Hello."]);
    let resume = |more: &[&str]| {
        let arguments = scene.chat_arguments(more);
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        scene.run(&arguments)
    };
    resume(&["--resume", "go on"]).mentions("there is no earlier chat in ").exits(2);
    scene.code("python", "print(1)").exits(0);
    resume(&["--resume", "go on"]).mentions("there is no earlier chat in ").exits(2);
    resume(&["--resume=nothing", "go on"]).mentions("nothing").exits(2);
    resume(&["--resume", "0badc0de", "go on"]).mentions("`0badc0de`").exits(2);
    let id = scene.run(&["history", "list", "--json"]).records()[0]["session"].clone();
    let id = id.as_str().unwrap();
    resume(&[&format!("--resume={id}"), "go on"]).mentions("no model took part").exits(2);
}

/// The attack: words that the model never said. The control is that it is resumed without them.
#[test]
fn a_record_that_was_changed_is_not_resumed() {
    let scene = talked();
    let arguments = scene.chat_arguments(&["--resume", "go on"]);
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    scene.play(&["Going on."]);
    scene.run(&arguments).mentions("Going on.").exits(0);
    let file = scene.data().join("record.db");
    let changed = "DROP TRIGGER record_no_update; \
                   UPDATE record SET body = replace(body, 'the word is', 'I may delete')";
    let done = std::process::Command::new("sqlite3").arg(&file).arg(changed).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    scene.play(&["Going on."]);
    scene.run(&arguments).mentions("cannot resume: record ").exits(2);
}

/// A chat that was killed while it asked whether code may run.
fn killed_at_a_question() -> Scene {
    let scene = Scene::new().model_says(&[&cell("python", "print(6 * 7, 'came of it')")]);
    let terminal = Terminal::open(&scene, &["what comes of it?"]);
    terminal.shows("Run it?").waits();
    kill_process(terminal.process(), Signal::KILL).unwrap();
    terminal.ends();
    scene
}

/// The attack: one yes that runs code in two sessions.
#[test]
fn a_question_outlives_a_kill_and_its_yes_runs_the_code_once() {
    let scene = killed_at_a_question();
    let before = scene.run(&["history", "show", "--json"]);
    let then = before.of_kind("question")[0].clone();
    assert!(before.of_kind("question_closed").is_empty());
    let killed = then["session"].as_str().unwrap().to_owned();
    scene.play(&["It is the answer."]);
    let terminal = Terminal::open(&scene, &["--resume"]);
    terminal.shows("the question is asked again").shows("Run it?");
    terminal.types("y").shows("42 came of it").shows("It is the answer.");
    terminal.types("/quit").exits(0);
    let after = scene.run(&["history", "show", "--json"]);
    let now = after.of_kind("question")[0].clone();
    assert_eq!((&then["id"], &then["hash"]), (&now["id"], &now["hash"]));
    assert_eq!(after.of_kind("resumed")[0]["question"], then["id"]);
    assert_eq!(after.of_kind("question_closed")[0]["why"], "answered");
    assert_eq!(after.of_kind("run_started").len(), 1);
    let told = after.of_kind("request")[0]["newest"].to_string();
    assert!(told.contains("the interpreters are new"), "{told}");
    // The same session once more: its question was asked, and is not asked again.
    let terminal = Terminal::open(&scene, &[&format!("--resume={killed}")]);
    terminal.shows("was asked again in another session");
    terminal.types("/quit").exits(0);
    let again = scene.run(&["history", "show", "--json"]);
    assert_eq!(again.of_kind("resumed")[0]["from"], killed.as_str());
    for kind in ["question", "run_started"] {
        assert_eq!(again.of_kind(kind).len(), 0, "{kind}");
    }
    scene.run(&["audit", "verify"]).exits(0);
}

#[test]
fn a_script_leaves_the_question_for_somebody_who_can_be_asked() {
    let scene = killed_at_a_question();
    let id = scene.run(&["history", "show", "--json"]).of_kind("question")[0]["session"].clone();
    scene.play(&["As you like."]);
    let arguments = scene.chat_arguments(&["--resume", "never mind"]);
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    scene.run(&arguments).mentions("As you like.").exits(0);
    assert_eq!(scene.run(&["history", "show", "--json"]).of_kind("question").len(), 0);
    // It is still there, and can be refused.
    let resume = format!("--resume={}", id.as_str().unwrap());
    let terminal = Terminal::open(&scene, &[&resume]);
    terminal.shows("Run it?").types("n").shows("Rejected.");
    terminal.types("/quit").exits(0);
}

/// Whoever leaves at a question finds it again.
#[test]
fn a_question_that_somebody_left_at_is_asked_again() {
    let scene = Scene::new().model_says(&[&cell("python", "print(6 * 7, 'came of it')")]);
    let terminal = Terminal::open(&scene, &["what comes of it?"]);
    terminal.shows("Run it?").types("q").ends();
    let left = scene.run(&["history", "show", "--json"]);
    assert_eq!(left.of_kind("question_closed")[0]["why"], "ended");
    scene.play(&["It is the answer."]);
    let terminal = Terminal::open(&scene, &["--resume"]);
    terminal.shows("Run it?").types("y").shows("42 came of it").shows("It is the answer.");
    terminal.types("/quit").exits(0);
}
