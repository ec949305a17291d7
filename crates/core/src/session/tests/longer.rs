//! A conversation that is longer than the model takes.

use super::*;

/// A model that takes few tokens, one for each byte.
fn narrow(setup: &mut Setup) {
    setup.profile.window =
        ContextWindow::new(Some(4_000), Some(0), Counter::new(|text| Some(text.len() as u64)));
    setup.approval = Approval::Yes;
    setup.max_calls = 25;
}

/// Two turns of much talk, and a third that is too much.
fn too_much_talk() -> Script {
    let long = "w".repeat(1_500);
    Script::new(narrow).asked().replied(&long).asked().replied(&long).asked()
}

fn summary(text: &str) -> Event {
    Event::Summarised(Ok(Reply { text: Untrusted::new(text), ..Reply::default() }))
}

#[test]
fn a_conversation_that_is_too_long_is_summed_up_and_goes_on() {
    let long = "w".repeat(1_500);
    let script = too_much_talk().replied(&long).asked().gives(&["summarise 6"]);
    let script = script.when(summary("They talked.")).gives(&["note", "call 4"]);
    let messages = script.state.messages();
    assert!(
        matches!(&messages[1], crate::Message::Earlier { text } if text.raw() == "They talked.")
    );
    assert_eq!(messages.len(), 5);
    script.replied("Yes.").gives(&["finish Done"]);
}

#[test]
fn what_cannot_be_summed_up_is_left_out_with_a_sentence_that_says_so() {
    let long = "w".repeat(1_500);
    let failed = Event::Summarised(Err(Failure {
        message: "the server failed".into(),
        hint: None,
        end: TurnEnd::ModelFailed,
    }));
    let script = too_much_talk().replied(&long).asked().when(failed).gives(&["note", "call 4"]);
    let messages = script.state.messages();
    let crate::Message::Earlier { text } = &messages[1] else { panic!("{messages:?}") };
    assert!(text.raw().starts_with("[4 older messages were left out"));
}

#[test]
fn a_summary_can_be_interrupted_and_nothing_is_lost() {
    let long = "w".repeat(1_500);
    let script = too_much_talk().replied(&long).asked().when(Event::Interrupted).gives(&["cancel"]);
    let before = script.state.messages().len();
    let stopped = Reply { finish: Finish::Interrupted, ..Reply::default() };
    let script = script.when(Event::Summarised(Ok(stopped))).gives(&["finish Interrupted"]);
    assert_eq!(script.state.messages().len(), before);
}

#[test]
fn a_provider_that_says_too_long_is_asked_again_with_less_and_only_once() {
    let too_long = || {
        Event::TooLong(Failure {
            message: "too long".into(),
            hint: None,
            end: TurnEnd::ModelFailed,
        })
    };
    let script = Script::new(|setup| setup.approval = Approval::Yes)
        .asked()
        .replied(PYTHON)
        .judged()
        .printed(&"x".repeat(7_000))
        .ran(0)
        .gives(&["call 1"])
        .when(too_long());
    // The opening stays, and the output is the newest, so it is shortened.
    let script = script.gives(&["note", "note", "call 3"]).tells("characters omitted");
    script.when(too_long()).gives(&["error", "finish ModelFailed"]);
}
