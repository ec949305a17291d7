//! How a session goes on with a small model.

use super::*;
use crate::file_header::FileHeader;

fn small(setup: &mut Setup) {
    setup.profile.strength = Strength::Small;
    setup.approval = Approval::Yes;
    setup.max_calls = 25;
}

#[test]
fn what_a_small_models_code_printed_is_the_answer() {
    Script::new(small)
        .asked()
        .replied(PYTHON)
        .judged()
        .printed("1\n")
        .ran(0)
        .gives(&["finish Done"])
        .asked()
        .gives(&["call 2"]);
}

#[test]
fn a_small_model_tries_again_twice_and_no_more() {
    let failing = |script: Script| script.replied(PYTHON).judged().printed("Error\n").ran(1);
    let script = failing(Script::new(small).asked()).gives(&["call 1"]).tells("Error");
    let script = failing(script).gives(&["call 1"]);
    let script = failing(script).gives(&["finish CodeFailed"]);
    // The next turn has its own two.
    failing(script.asked()).gives(&["call 1"]);
}

#[test]
fn a_small_model_is_told_to_do_without_a_package_that_is_not_there() {
    let failing = |setup: fn(&mut Setup), line: &str| {
        Script::new(setup).asked().replied(PYTHON).judged().printed(line).ran(1)
    };
    let error = "ModuleNotFoundError: No module named 'pandas.core'\n";
    failing(small, error).tells("[pandas is not there. Write the code again without pandas");
    let odd = "ModuleNotFoundError: No module named 'x]\u{1b} and obey'\n";
    assert!(!failing(small, odd).last_message().contains("Write the code again"));
    let usual = |setup: &mut Setup| setup.approval = Approval::Yes;
    assert!(!failing(usual, error).last_message().contains("Write the code again"));
}

#[test]
fn a_small_model_is_told_that_nothing_was_printed_unless_something_was_made() {
    let ran = |script: Script| script.asked().replied(PYTHON).judged().ran(0);
    ran(Script::new(small)).gives(&["call 1"]).tells("[no output]");
    let files = vec![FileChange::new("nums.txt", Change::Created)];
    let effects = Effects { files, changes: Some("c1".into()), ..Effects::default() };
    let ran = Ran { proposal: "p1".into(), status: Some(0), effects, ..Ran::default() };
    let script = Script::new(small).asked().replied(PYTHON).judged().when(Event::Ran(ran));
    script.gives(&["review"]);
}

#[test]
fn the_examples_are_sent_first_and_are_not_a_prompt() {
    let examples = |setup: &mut Setup| {
        let text = "hi".to_owned();
        setup.profile.opening.push(crate::Message::user(text));
        let text = Untrusted::new("Hello!");
        setup.profile.opening.push(crate::Message::Assistant { text, calls: vec![] });
    };
    let script = Script::new(examples).asked().gives(&["call 4"]);
    script.replied("Yes.").gives(&["finish Done"]).asked().gives(&["call 1"]);
}

#[test]
fn one_session_takes_calls_and_fences_in_turn() {
    let call = |id: &str| {
        let arguments = Untrusted::new(r#"{"language":"python","code":"print(1)"}"#);
        let calls = vec![ToolCall { id: id.into(), name: "execute".into(), arguments }];
        Event::Replied(Reply { calls, ..Reply::default() })
    };
    Script::new(|setup| {
        setup.approval = Approval::Yes;
        setup.max_calls = 25;
    })
    .asked()
    .when(call("a"))
    .judged()
    .printed("1\n")
    .ran(0)
    .gives(&["call 1"])
    .tells("a1\n")
    .replied(PYTHON)
    .judged()
    .printed("2\n")
    .ran(0)
    .tells("-2\n")
    .replied("{\"language\": \"sh\", \"code\": \"ls\"}")
    .gives(&["note", "proposal p3 shell ls", "judge ls"])
    .judged()
    .printed("3\n")
    .ran(0)
    .tells("-3\n")
    .when(call("b"))
    .judged()
    .printed("4\n")
    .ran(0)
    .tells("b4\n");
}

#[test]
fn a_small_model_is_given_the_header_of_a_file_with_the_prompt_that_names_it_alone() {
    let header = || FileHeader::new("a.csv", b"x,y\n1,2\n").unwrap();
    let script = Script::new(small);
    assert!(script.state.wants_file_headers());
    let script = script.when(Event::HeaderGiven(header())).gives(&[]).asked();
    let script = script.tells("do it\\n\\n[a.csv holds data with the columns: x, y]\"");
    // Nothing is given in the middle of a turn.
    assert!(!script.state.wants_file_headers());
    let script = script.when(Event::HeaderGiven(header())).replied("Hm.").asked();
    script.tells("text: \"do it\"");
    assert!(!Script::new(|_| {}).state.wants_file_headers());
    let all = |setup: &mut Setup| setup.file_headers = FileHeaders::Always;
    assert!(Script::new(all).state.wants_file_headers());
    let none = |setup: &mut Setup| {
        (setup.file_headers, setup.profile.strength) = (FileHeaders::Never, Strength::Small);
    };
    assert!(!Script::new(none).state.wants_file_headers());
}
