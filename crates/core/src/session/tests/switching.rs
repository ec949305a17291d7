//! The model is changed in the middle of a session.

use super::*;
use crate::Message;

/// The opening for a model of this kind.
fn opening(words: &str, examples: usize) -> Vec<Message> {
    let example = |at: usize| {
        let text = Untrusted::new(format!("answer {at}"));
        [Message::user(format!("question {at}")), Message::Assistant { text, calls: vec![] }]
    };
    let system = Message::System { text: words.into() };
    [system].into_iter().chain((0..examples).flat_map(example)).collect()
}

fn profile(words: &str, examples: usize) -> ModelProfile {
    ModelProfile {
        opening: opening(words, examples),
        strength: if examples > 0 { Strength::Small } else { Strength::Usual },
        window: ContextWindow::new(None, None, Counter::default()),
        sees_images: false,
    }
}

fn found(profile: ModelProfile) -> Event {
    let (name, notes) = ("place/new".into(), vec![]);
    Event::ModelFound(Ok(Box::new(NewModel { name, profile, notes })))
}

fn wanted() -> Event {
    Event::ModelWanted("place/new".into())
}

fn not_found() -> Event {
    Event::ModelFound(Err(Failure {
        message: "no such model".into(),
        hint: Some("choose another".into()),
        end: TurnEnd::ModelFailed,
    }))
}

/// The conversation without its beginning.
fn said(script: &Script, opening: usize) -> Vec<Message> {
    script.state.messages()[opening..].to_vec()
}

const CHANGED: [&str; 3] = ["model_changed", "use model", "finish Done"];

#[test]
fn a_new_model_is_sent_the_whole_conversation_after_a_beginning_of_its_own() {
    let script = Script::new(|_| {}).asked().gives(&["call 2"]).replied("Yes.").asked();
    let script = script.gives(&["call 1"]).replied("Again.").gives(&["finish Done"]);
    let before = said(&script, 1);
    let script = script.when(wanted()).gives(&["find model place/new"]);
    let script = script.when(found(profile("be brief", 2))).gives(&CHANGED);
    assert_eq!(said(&script, 5), before);
    let messages = script.state.messages();
    assert_eq!(messages[..5], opening("be brief", 2));
    // And back: what was shown as examples is gone, and nothing that was said.
    let script = script.asked().gives(&["call 10"]).replied("Third.").when(wanted());
    let script = script.when(found(profile("be good", 0))).gives(&CHANGED);
    assert_eq!(script.state.messages()[..1], opening("be good", 0));
    assert_eq!(said(&script, 1)[..4], before);
    assert_eq!(said(&script, 1).len(), 6);
    script.asked().gives(&["call 8"]);
}

#[test]
fn a_model_that_cannot_be_had_changes_nothing() {
    let script = Script::new(|_| {}).asked().replied("Yes.");
    let before = said(&script, 0);
    let failed = not_found();
    let [Body::Error { message, hint }] = &failed.bodies()[..] else { panic!("{failed:?}") };
    assert_eq!((message.as_str(), hint.as_deref()), ("no such model", Some("choose another")));
    let script = script.when(wanted()).when(failed).gives(&["note", "finish Done"]);
    assert_eq!(said(&script, 0), before);
    script.asked().gives(&["call 1"]);
}

#[test]
fn a_turn_keeps_its_model_and_nothing_comes_of_a_find_that_nobody_asked_for() {
    let script = Script::new(|_| {}).asked().when(wanted()).gives(&["note"]);
    let script = script.when(found(profile("be brief", 0))).gives(&[]);
    let script = script.replied(PYTHON).judged().when(wanted()).gives(&["note"]);
    let script = script.answered("p1", GivenAnswer::Run).gives(&["run p1 by Person"]);
    script.when(found(profile("be brief", 0))).gives(&[]).ran(0).tells("[no output]");
    let ended = Script::new(|_| {}).when(wanted()).when(Event::Quit).gives(&["end"]);
    ended.when(found(profile("be brief", 0))).gives(&[]);
}

#[test]
fn how_much_is_sent_follows_the_model() {
    let long = "w".repeat(3_000);
    let narrow = || {
        let window =
            ContextWindow::new(Some(4_000), Some(0), Counter::new(|text| Some(text.len() as u64)));
        ModelProfile { window, ..profile("be brief", 0) }
    };
    let script = Script::new(|_| {}).asked().replied(&long).asked().replied(&long);
    let script = script.when(wanted()).when(found(narrow())).asked();
    // The part itself is more than the new model takes, so it cannot sum it up.
    let script = script.gives(&["note", "call 3"]);
    let Message::Earlier { text } = &said(&script, 1)[0] else { panic!("{:?}", said(&script, 1)) };
    assert!(text.raw().contains("older messages were left out"));
}

#[test]
fn a_small_model_ends_a_turn_with_what_was_printed_and_another_is_asked_what_it_means() {
    let run = |script: Script| script.asked().replied(PYTHON).judged();
    let script = Script::new(|setup| setup.approval = Approval::Yes);
    let script = script.when(wanted()).when(found(profile("be brief", 1)));
    let script = run(script).printed("1\n").ran(0).gives(&["finish Done"]);
    let script = script.when(wanted()).when(found(profile("be good", 0)));
    let script = run(script).when(Event::Output(Output {
        proposal: "p2".into(),
        stream: Stream::Stdout,
        text: Untrusted::new("2\n"),
        mime: "text/plain".into(),
        bundle: [].into(),
        display: None,
        bytes: None,
        kept: None,
    }));
    let ran = Ran { proposal: "p2".into(), status: Some(0), ..Ran::default() };
    script.when(Event::Ran(ran)).gives(&["call 1"]).tells("-2\n");
}

/// The pictures that are sent with the next prompt.
fn sent_pictures(script: &mut Script) -> usize {
    let effects = script.state.step(Event::Asked("look".into()));
    let Some(Effect::CallModel { messages, .. }) = effects.last() else { panic!("{effects:?}") };
    messages.iter().map(|message| message.images().len()).sum()
}

#[test]
fn pictures_are_words_to_a_model_that_does_not_see_and_are_there_for_the_next_that_does() {
    let attached = || {
        let image = crate::Image::decode(crate::image::RED).unwrap();
        let kept = crate::Blob { hash: "h".into(), bytes: 1, characters: 0 };
        Event::Attached(Attachment { name: "red.png".into(), image, kept })
    };
    let seeing = || ModelProfile { sees_images: true, ..profile("be good", 0) };
    let mut script = Script::new(|setup| setup.profile = seeing()).when(attached());
    assert_eq!(sent_pictures(&mut script), 1);
    // An image that waits for a prompt is not sent to a model that would not see it, and a note
    // says so.
    let script = script.replied("Red.").when(attached()).when(wanted());
    let script = script.when(found(profile("be brief", 0)));
    let mut script = script.gives(&["model_changed", "use model", "note", "finish Done"]);
    assert_eq!(sent_pictures(&mut script), 0);
    let script = script.replied("I am told of one.").when(wanted());
    let mut script = script.when(found(seeing())).gives(&CHANGED);
    assert_eq!(sent_pictures(&mut script), 1);
}
