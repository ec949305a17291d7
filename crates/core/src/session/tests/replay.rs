//! The record is the replay: after every step of any session, its records give its conversation.

use super::{
    replaying::past_cell,
    rewinding::{no_changes, went_back},
    *,
};
use crate::{Image, Message, file_header::FileHeader};
use proptest::prelude::*;

/// A session with a world around it that answers every effect, one way or another.
pub(super) struct World {
    pub(super) state: State,
    pub(super) records: Vec<Body>,
    /// The effects that want an answer.
    pub(super) open: Vec<Effect>,
}

impl World {
    pub(super) fn new(window: Option<u64>, sees_images: bool, approval: Approval) -> Self {
        let script = Script::new(|setup| {
            setup.profile.window =
                ContextWindow::new(window, Some(0), Counter::new(|text| Some(text.len() as u64)));
            setup.profile.sees_images = sees_images;
            setup.approval = approval;
        });
        Self { state: script.state, records: vec![], open: vec![] }
    }

    /// Does as the driver does, with a record that goes through JSON.
    pub(super) fn happens(&mut self, event: Event) {
        let mut bodies = self.state.bodies(&event);
        let effects = self.state.step(event);
        bodies.extend(effects.iter().filter_map(|effect| effect.body("place/model")));
        self.records.extend(bodies.into_iter().map(|body| {
            let text = serde_json::to_string(&body).unwrap();
            serde_json::from_str::<Body>(&text).unwrap()
        }));
        self.open = effects;
        assert!(
            self.state.is_told_by(self.records.clone()),
            "{:#?}\n{:#?}",
            self.records.last(),
            self.state.messages(),
        );
    }

    /// Something that can happen now.
    pub(super) fn next(&mut self, choice: u8) -> Event {
        let event = self.open.pop().and_then(|effect| answer(effect, choice));
        event.unwrap_or_else(|| by_itself(choice))
    }
}

fn image() -> Image {
    let png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    Image::decode(png).unwrap()
}

pub(super) fn failure() -> Failure {
    Failure { message: "it failed".into(), hint: None, end: TurnEnd::ModelFailed }
}

pub(super) fn reply(choice: u8) -> Event {
    let call = |code: &str| ToolCall {
        id: format!("c{choice}"),
        name: crate::message::EXECUTE.into(),
        arguments: Untrusted::new(format!(r#"{{"language":"python","code":"{code}"}}"#)),
    };
    let text = |text: &str| Reply { text: Untrusted::new(text), ..Reply::default() };
    let look = "```output\np1 1-20\n```\n";
    Event::Replied(match choice % 9 {
        0 => text("Done."),
        1 => text(PYTHON),
        2 => text(&PYTHON.repeat(2)),
        3 => Reply { calls: vec![call("print(1)"), call("print(2)")], ..text("Both.") },
        4 => Reply { calls: vec![ToolCall { name: "unknown".into(), ..call("x") }], ..text("") },
        5 => text(look),
        6 => text(&"w".repeat(1_500)),
        7 => Reply { finish: Finish::Length, ..text(PYTHON) },
        _ => Reply { finish: Finish::Interrupted, ..text("I was") },
    })
}

/// An answer to an effect, if it wants one.
pub(super) fn answer(effect: Effect, choice: u8) -> Option<Event> {
    Some(match effect {
        Effect::CallModel { .. } => match choice % 12 {
            0 => Event::Failed(failure()),
            1 => Event::TooLong(failure()),
            2 => Event::Interrupted,
            _ => reply(choice),
        },
        Effect::CancelModel => reply(8),
        Effect::Summarise { .. } => {
            let text = Untrusted::new(if choice.is_multiple_of(4) { "" } else { "They talked." });
            let finish = if choice % 5 == 1 { Finish::Interrupted } else { Finish::Stop };
            let said = Ok(Reply { text, finish, ..Reply::default() });
            Event::Summarised(if choice.is_multiple_of(5) { Err(failure()) } else { said })
        }
        Effect::Judge(_) => Event::Judged(Findings::new(vec![]).understood()),
        Effect::JudgeAll(cells) => {
            Event::JudgedAll(cells.iter().map(|_| Findings::new(vec![]).understood()).collect())
        }
        Effect::Rewind { number, .. } => went_back(number, choice),
        Effect::ChangeSet(_) if choice.is_multiple_of(3) => Event::RunnerFailed(failure()),
        Effect::ChangeSet(_) => Event::Settled(no_changes()),
        Effect::Review => Event::Reviewed(no_changes()),
        Effect::AskReplay(_) if choice.is_multiple_of(6) => Event::Interrupted,
        Effect::AskReplay(question) if choice % 6 > 2 => question.answer(GivenAnswer::Run),
        Effect::AskReplay(question) => question.answer(reject()),
        Effect::Look(_) if choice.is_multiple_of(2) => Event::Looked(Err("no such run".into())),
        Effect::Look(_) => Event::Looked(Ok(Untrusted::new("seen"))),
        Effect::Ask(question) => {
            let answer = match choice % 5 {
                0 => GivenAnswer::Reject { reason: None },
                1 => GivenAnswer::Reject { reason: Some("no".into()) },
                2 => GivenAnswer::Edit { code: "print(3)".into() },
                3 => return Some(Event::Interrupted),
                _ => GivenAnswer::Run,
            };
            question.answer(answer)
        }
        Effect::Prepare { .. } if choice.is_multiple_of(7) => Event::RunnerFailed(failure()),
        Effect::Prepare { .. } if choice % 7 == 1 => Event::Interrupted,
        Effect::Prepare { language, .. } => prepared(language),
        Effect::Run(_) if choice.is_multiple_of(8) => Event::NotBegun,
        Effect::Run(permit) => {
            let (proposal, status) = (permit.proposal().id.clone(), Some(i32::from(choice % 3)));
            Event::Ran(Ran { proposal, status, ..Ran::default() })
        }
        Effect::FindModel(_) if choice.is_multiple_of(3) => Event::ModelFound(Err(failure())),
        Effect::FindModel(_) => {
            let sees_images = choice % 3 == 1;
            let opening = vec![
                Message::System { text: "be brief".into() },
                Message::user("an example"),
                Message::Assistant { text: Untrusted::new("so"), calls: vec![] },
            ];
            let window = ContextWindow::new(None, None, Counter::default());
            let profile = ModelProfile { opening, strength: Strength::Small, window, sees_images };
            let (name, notes) = ("place/new".into(), vec!["it is new".into()]);
            Event::ModelFound(Ok(Box::new(NewModel { name, profile, notes })))
        }
        Effect::Restart(_) => Event::Restarted(vec![language("python")]),
        _ => return None,
    })
}

fn language(name: &str) -> Language {
    language::example().find(name).unwrap()
}

/// Cells of an earlier time.
fn past_cells(count: u8) -> Vec<PastCell> {
    let end = |number| match number % 3 {
        0 => CellEnd::Done,
        1 => CellEnd::Failed,
        _ => CellEnd::Stopped,
    };
    (1..=count).map(|number| past_cell(number, "print(1)", end(number))).collect()
}

/// Something that the person, the code or a kernel does.
fn by_itself(choice: u8) -> Event {
    match choice % 19 {
        18 => Event::ReplayWanted(Box::new(Replay { cells: past_cells(choice / 19) })),
        0..5 => Event::Asked("do it".into()),
        5 => Event::Submitted {
            language: language("python"),
            code: "print(4)".into(),
            invocation: None,
        },
        6 => Event::Restart(None),
        7 => Event::ModelWanted("place/new".into()),
        8 => Event::KernelEnded { language: language("python"), how: "exited with 1".into() },
        9 => Event::Interrupted,
        10 => {
            let (image, kept) =
                (image(), crate::Blob { hash: String::new(), bytes: 0, characters: 0 });
            Event::Attached(Attachment { name: "a.png".into(), image, kept })
        }
        13 => Event::Retried,
        14 => Event::Forgotten,
        15 => Event::StandingGiven(crate::Span::Session, crate::Coverage::All),
        16 => Event::FileAttached(AttachedFile {
            name: "a.txt".into(),
            bytes: 3,
            text: Untrusted::new("a``b"),
        }),
        17 => Event::HeaderGiven(FileHeader::new("a.csv", b"x,y\n1,2\n").unwrap()),
        11 => Event::Output(Output::text("p1", Stream::Stdout, "long ".repeat(400))),
        _ => Event::Output(Output::text("p1", Stream::Stderr, "short")),
    }
}

proptest! {
    #[test]
    fn the_records_of_any_session_give_its_conversation_after_every_step(
        window in prop_oneof![Just(None), Just(Some(4_000)), Just(Some(900))],
        sees in any::<bool>(),
        yes in any::<bool>(),
        choices in prop::collection::vec((any::<u8>(), any::<u8>()), 1..60),
    ) {
        let approval = if yes { Approval::Yes } else { Approval::AsRulesSay };
        let mut world = World::new(window, sees, approval);
        for (choice, other) in choices {
            // Now and then something comes before the answer.
            if other.is_multiple_of(4) {
                let open = std::mem::take(&mut world.open);
                world.happens(by_itself(other / 4));
                world.open.splice(0..0, open);
            }
            let event = world.next(choice);
            let open = std::mem::take(&mut world.open);
            world.happens(event);
            world.open.splice(0..0, open);
        }
        world.happens(Event::Quit);
    }
}

#[test]
fn a_reply_that_broke_off_is_on_record_and_not_in_the_conversation() {
    let mut world = World::new(None, false, Approval::Yes);
    world.happens(Event::Asked("do it".into()));
    // The driver notes what came before the failure.
    world.records.push(Body::Reply {
        text: Untrusted::new("I was about"),
        reasoning: Untrusted::default(),
        calls: vec![],
        finish: Finish::Length,
    });
    world.happens(Event::Failed(failure()));
    world.happens(Event::Asked("again".into()));
    world.happens(reply(1));
}

#[test]
fn another_record_tells_another_conversation() {
    let mut world = World::new(None, false, Approval::Yes);
    for event in
        [Event::Asked("do it".into()), reply(3), Event::Judged(Findings::new(vec![]).understood())]
    {
        world.happens(event);
    }
    assert!(!world.state.is_told_by(vec![]));
    for left_out in 0..world.records.len() {
        let mut records = world.records.clone();
        let body = records.remove(left_out);
        let matters =
            matches!(body, Body::Request { .. } | Body::Reply { .. } | Body::Conversation { .. });
        assert_eq!(world.state.is_told_by(records), !matters, "{body:?}");
    }
}

#[test]
fn a_replayed_session_goes_on_where_it_was() {
    let mut world = World::new(None, false, Approval::Yes);
    world.happens(Event::Asked("do it".into()));
    world.happens(reply(0));
    let mut again = State::replay(world.state.setup.clone(), world.records.clone());
    let effects = again.step(Event::Asked("more".into()));
    let [Effect::CallModel { messages, unseen: 1 }] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(messages[..3], *world.state.messages());
}

/// The conversation without its opening, pictures in words.
pub(super) fn said(world: &World) -> Vec<Message> {
    let mut said = world.state.messages()[world.state.setup.profile.opening.len()..].to_vec();
    for message in &mut said {
        message.hide();
    }
    said
}

/// The records of a world, as a session begins.
pub(super) fn whole(world: &World, opening: usize) -> Vec<crate::Record> {
    let confinement = Box::new(world.state.setup.confinement.clone());
    let started = Body::SessionStarted {
        version: String::new(),
        model: None,
        confinement,
        opening: Some(opening),
        asks: None,
        imported: false,
    };
    numbered([started].into_iter().chain(world.records.iter().cloned()))
}

/// Bodies as records.
pub(super) fn numbered(bodies: impl IntoIterator<Item = Body>) -> Vec<crate::Record> {
    let record = |(seq, body)| {
        let (v, time, session) = (1, "2026-01-02T03:04:05Z".into(), "s1".into());
        crate::Record { v, seq, time, session, who: None, body }
    };
    (1..).zip(bodies).map(record).collect()
}

proptest! {
    #[test]
    fn any_conversation_goes_on_in_a_session_with_another_opening(
        window in prop_oneof![Just(None), Just(Some(900))],
        choices in prop::collection::vec(any::<u8>(), 1..40),
        examples in 0_usize..3,
    ) {
        let mut world = World::new(window, true, Approval::Yes);
        let opening = world.state.setup.profile.opening.len();
        for choice in choices {
            let event = world.next(choice);
            let open = std::mem::take(&mut world.open);
            world.happens(event);
            world.open.splice(0..0, open);
        }
        let mut other = world.state.setup.clone();
        other.profile.opening = vec![Message::user("an example"); examples];
        let earlier = Earlier::of("s1", other.clone(), &whole(&world, opening), None).unwrap();
        let plain = |messages: &[Message]| serde_json::to_value(messages).unwrap();
        prop_assert_eq!(plain(&earlier.messages), plain(&said(&world)));
        // The new session tells it again, and can be resumed in turn.
        let mut next = World::new(window, true, Approval::Yes);
        next.state = State::new(other.clone());
        next.happens(Event::Resumed(Box::new(earlier.clone())));
        prop_assert_eq!(plain(&said(&next)), plain(&earlier.messages));
        let again = Earlier::of("s2", other, &whole(&next, examples), None).unwrap();
        prop_assert_eq!(plain(&again.messages), plain(&earlier.messages));
    }
}

#[test]
fn a_resumed_conversation_counts_on_and_the_model_knows() {
    let mut world = World::new(None, false, Approval::Yes);
    for event in
        [Event::Asked("do it".into()), reply(3), Event::Judged(Findings::new(vec![]).understood())]
    {
        world.happens(event);
    }
    let opening = world.state.setup.profile.opening.len();
    let setup = world.state.setup.clone();
    let earlier = Earlier::of("s1", setup.clone(), &whole(&world, opening), None).unwrap();
    assert_eq!(earlier.last_prompt(), Some("do it"));
    let mut next = State::new(setup);
    next.step(Event::Resumed(Box::new(earlier.clone())));
    assert_eq!(next.next_id, 2);
    next.step(Event::Asked("more".into()));
    let Some(Message::User { text, .. }) = next.messages().last() else { panic!("no prompt") };
    assert!(text.starts_with("more\n\n[The conversation goes on in a new session"), "{text}");
    // Not in the middle of another one.
    next.step(Event::Replied(Reply::default()));
    let before = next.messages().len();
    next.step(Event::Resumed(Box::new(earlier)));
    assert_eq!(next.messages().len(), before);
}

/// A session of a version that did not yet record how many messages are its own.
#[test]
fn a_session_of_an_early_version_goes_on_without_its_opening() {
    let stored = include_str!("before_opening.jsonl");
    let records = stored.lines().map(|line| serde_json::from_str::<crate::Record>(line).unwrap());
    let records: Vec<_> = records.collect();
    let is_silent = |body: &Body| matches!(body, Body::SessionStarted { opening: None, .. });
    assert!(is_silent(&records[0].body), "{:?}", records[0]);
    let setup = World::new(None, false, Approval::Yes).state.setup;
    let earlier = Earlier::of("s1", setup, &records, None).unwrap();
    assert_eq!(earlier.last_prompt(), Some("what is the word?"));
    let roles: Vec<_> =
        earlier.messages.iter().map(|one| serde_json::to_value(one).unwrap()).collect();
    let roles: Vec<_> = roles.iter().map(|one| one["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "result", "assistant"]);
    assert_eq!(earlier.next_id, 2);
}
