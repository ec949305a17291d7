//! Going back to before a cell: the conversation is that of then, and nothing runs unasked.

use super::{
    replay::{World, answer, said, whole},
    *,
};
use crate::{Beside, FilesRewound, KernelRewound, MemoryRewound, Rewound, session::Earlier};
use proptest::prelude::*;

pub(super) fn no_changes() -> Changes {
    let (state, files, left_out) = (ChangesState::Staged, vec![], vec![]);
    Changes { id: "c1".into(), state, files, left_out }
}

pub(super) fn went_back(number: u32, choice: u8) -> Event {
    let memory = match choice % 3 {
        0 => MemoryRewound::Restored { beside: Beside::default() },
        1 => MemoryRewound::Fresh,
        _ => MemoryRewound::Lost { reason: "its copy is gone".into() },
    };
    let files = match choice % 4 {
        0 => FilesRewound::NotStaged,
        1 => FilesRewound::NotRestored { reason: "too many".into() },
        _ => FilesRewound::Restored,
    };
    let language = language::example().find("python").unwrap();
    let kernels = vec![KernelRewound { language, memory }];
    Event::WentBack(Ok(Rewound { number, kernels, files }))
}

fn restored(number: u32) -> Event {
    went_back(number, 6)
}

fn lost(number: u32) -> Event {
    went_back(number, 2)
}

/// Answers whatever is open until the session waits for the person.
fn settle(world: &mut World, choice: u8) {
    for _ in 0..40 {
        if world.open.iter().any(|one| matches!(one, Effect::FinishTurn(_) | Effect::End)) {
            return;
        }
        let event = world.next(choice);
        world.happens(event);
    }
}

fn is_idle(world: &World) -> bool {
    matches!(world.state.phase, crate::session::state::Phase::Idle)
}

/// Answers whatever is open until the turn is over.
fn calm(world: &mut World) {
    for _ in 0..200 {
        if is_idle(world) {
            return;
        }
        let event = world.open.pop().map_or(Some(Event::Interrupted), |one| answer(one, 4));
        if let Some(event) = event {
            world.happens(event);
        }
    }
    panic!("the turn does not end");
}

/// A session in which two cells ran, in two turns.
fn two_turns() -> World {
    let mut world = World::new(None, false, Approval::AsRulesSay);
    for prompt in ["one", "two"] {
        world.happens(Event::Asked(prompt.into()));
        world.happens(super::replay::reply(1));
        settle(&mut world, 4);
    }
    world
}

fn rewind(world: &World, cell: &str) -> Option<Rewind> {
    let setup = world.state.setup.clone();
    let opening = setup.profile.opening.len();
    Rewind::to(cell, setup, &[], &whole(world, opening))
}

fn plain(messages: &[crate::Message]) -> serde_json::Value {
    serde_json::to_value(messages).unwrap()
}

#[test]
fn the_prompt_of_the_cell_goes_with_it() {
    let mut world = two_turns();
    let before = said(&world);
    let way = rewind(&world, "p2").unwrap();
    assert_eq!(way.prompt.as_deref(), Some("two"));
    assert_eq!(way.undone.iter().map(|cell| &*cell.id).collect::<Vec<_>>(), ["p2"]);
    assert_eq!(way.memory.iter().map(|cell| &*cell.id).collect::<Vec<_>>(), ["p1"]);
    assert_eq!((way.number(), way.languages()), (2, vec!["python"]));
    world.happens(Event::RewindWanted(Box::new(way)));
    let now = said(&world);
    assert!(now.len() < before.len());
    assert_eq!(now[..], before[..now.len()]);
    let is_prompt = |one: &&crate::Message| matches!(one, crate::Message::User { .. });
    assert_eq!(now.iter().filter(is_prompt).count(), 1);
    world.happens(restored(2));
    world.happens(Event::Reviewed(no_changes()));
    // It no longer counts, and its number is not given again.
    assert!(rewind(&world, "p2").is_none());
    world.happens(Event::Asked("three".into()));
    world.happens(super::replay::reply(1));
    settle(&mut world, 4);
    assert!(rewind(&world, "p3").is_some());
    assert!(rewind(&world, "p1").is_some_and(|way| way.memory.is_empty()));
}

#[test]
fn lost_memory_is_rebuilt_after_the_persons_yes_and_files_go_back_again() {
    let mut world = two_turns();
    let way = rewind(&world, "p2").unwrap();
    let mut told = |event: Option<Event>| {
        let yes = || match world.open.pop() {
            Some(Effect::AskReplay(question)) => question.answer(GivenAnswer::Run),
            other => panic!("{other:?}"),
        };
        let event = event.unwrap_or_else(yes);
        world.happens(event);
        let besides = ["conversation", "question", "question_closed"];
        let all = world.open.iter().map(short).filter(|one| !besides.contains(&one.as_str()));
        all.collect::<Vec<_>>()
    };
    assert_eq!(told(Some(Event::RewindWanted(Box::new(way)))), ["rewound", "rewind 2 Everything"]);
    assert_eq!(told(Some(lost(2))), ["came_back", "restart python"]);
    assert_eq!(told(Some(Event::Restarted(vec![]))), ["replay", "judge 1 cells"]);
    let asked = told(Some(Event::JudgedAll(vec![Findings::new(vec![])])));
    assert_eq!(asked.last().unwrap(), "ask to run p3 again");
    assert_eq!(told(None), ["answer by Person", "prepare python"]);
    let python = language::example().find("python").unwrap();
    assert_eq!(told(Some(prepared(python))), ["run_started", "run p3 by Person"]);
    let ran = Ran { proposal: "p3".into(), status: Some(0), ..Ran::default() };
    assert_eq!(told(Some(Event::Ran(ran))), ["note", "rewind 2 FilesAlone"]);
    assert_eq!(told(Some(lost(2))), ["review"]);
    assert_eq!(told(Some(Event::Reviewed(no_changes()))), ["changes", "finish Done"]);
}

#[test]
fn what_was_applied_is_undone_first_and_only_if_the_person_said_so() {
    let mut world = two_turns();
    let applied = Changes { state: ChangesState::Applied, ..no_changes() };
    world.records.push(Body::Changes(applied));
    let way = rewind(&world, "p2").unwrap();
    assert_eq!(way.applied.len(), 1);
    let undo = Event::RewindWanted(Box::new(Rewind { undo: true, ..way.clone() }));
    world.happens(undo);
    let said: Vec<_> = world.open.iter().map(short).collect();
    assert_eq!(said.last().unwrap(), "change set Undo(All)");
    // One that cannot be undone stays, and the rest goes back.
    world.happens(Event::RunnerFailed(super::replay::failure()));
    assert!(short(world.open.last().unwrap()).starts_with("rewind 2"));
    let mut world = two_turns();
    world.happens(Event::RewindWanted(Box::new(way)));
    let said: Vec<_> = world.open.iter().map(short).collect();
    assert!(!said.iter().any(|one| one.starts_with("change set")), "{said:?}");
    world.happens(restored(2));
    world.happens(Event::Reviewed(no_changes()));
    world.happens(Event::Asked("go on".into()));
    let last = format!("{:?}", world.state.messages().last());
    assert!(last.contains("applied to their folder since then are still there"), "{last}");
}

/// An application from before the cell, undone since and redone, is none that came since.
#[test]
fn only_what_was_applied_since_counts_as_applied_since() {
    use ChangesState::{Applied, Undone};
    let count = |all: &[ChangesState]| {
        let mut world = two_turns();
        for (at, state) in all.iter().enumerate() {
            let is_redo = *state == Applied && at > 0 && all[at - 1] == Undone;
            let wish = if *state == Undone {
                "undo"
            } else if is_redo {
                "redo"
            } else {
                "apply"
            };
            let wish = wish.to_owned();
            let wanted = Body::ChangesWanted { wish, paths: vec![], seen: None, put: None };
            world.records.push(wanted);
            world.records.push(Body::Changes(Changes { state: *state, ..no_changes() }));
        }
        rewind(&world, "p2").unwrap().applied.len()
    };
    assert_eq!(count(&[Applied, Undone, Applied]), 1);
    assert_eq!(count(&[Applied, Undone]), 0);
    assert_eq!(count(&[Undone, Applied]), 0);
    assert_eq!(count(&[Applied, Applied, Undone, Applied]), 2);
}

proptest! {
    /// Wherever the person goes back to: the conversation is that of the records before the cell,
    /// the records tell of it after every step, and without their yes nothing runs.
    #[test]
    fn going_back_gives_the_conversation_of_then_and_no_permit(
        window in prop_oneof![Just(None), Just(Some(900))],
        choices in prop::collection::vec(any::<u8>(), 10..60),
        which in any::<prop::sample::Index>(),
        choice in any::<u8>(),
        more in prop::collection::vec(any::<u8>(), 0..20),
    ) {
        let mut world = World::new(window, true, Approval::AsRulesSay);
        for choice in choices {
            let event = world.next(choice);
            let open = std::mem::take(&mut world.open);
            world.happens(event);
            world.open.splice(0..0, open);
        }
        calm(&mut world);
        let setup = world.state.setup.clone();
        let opening = setup.profile.opening.len();
        let records = whole(&world, opening);
        let cells = PastCell::all(&[], &records);
        if cells.is_empty() {
            return Ok(());
        }
        let cell = &which.get(&cells).id;
        let way = Rewind::to(cell, setup.clone(), &[], &records).unwrap();
        let earlier = Earlier::of("s1", setup, &records, Some(cell)).unwrap();
        world.open.clear();
        world.happens(Event::RewindWanted(Box::new(way)));
        prop_assert_eq!(plain(&said(&world)), plain(&earlier.messages));
        // To the end, with a no to every question.
        for _ in 0..20 {
            let event = match world.open.pop() {
                Some(Effect::AskReplay(question)) => question.answer(reject()),
                Some(Effect::Rewind { number, .. }) => went_back(number, choice),
                Some(Effect::Restart(_)) => Event::Restarted(vec![]),
                Some(Effect::JudgeAll(cells)) => {
                    Event::JudgedAll(vec![Findings::new(vec![]); cells.len()])
                }
                Some(Effect::Review) => Event::Reviewed(no_changes()),
                Some(effect) => {
                    let runs = matches!(effect, Effect::Run(_) | Effect::Prepare { .. });
                    prop_assert!(!runs, "something runs");
                    continue;
                }
                None => break,
            };
            world.happens(event);
        }
        prop_assert!(is_idle(&world));
        prop_assert_eq!(plain(&said(&world)), plain(&earlier.messages));
        prop_assert!(rewind(&world, cell).is_none());
        // The session goes on from there.
        for choice in more {
            let event = world.next(choice);
            world.happens(event);
        }
    }
}
