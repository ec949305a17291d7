//! The steps while code runs, and when it has run.

use super::{
    effect::Effect,
    event::{Chunk, Event, Ran},
    pictures::Pictures,
    state::{Interruption, Phase, State, Work},
    step::{call_model, end_turn, propose},
    words,
};
use crate::{Excerpt, Message, Origin, instructions::Strength, output, record::TurnEnd};
use std::mem;

/// What runs, and what came of it so far.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) work: Work,
    pub(super) interrupted: Interruption,
    excerpt: Excerpt,
    pictures: Pictures,
}

impl Run {
    pub(super) fn new(work: Work) -> Self {
        let (excerpt, pictures) = (Excerpt::default(), Pictures::default());
        Self { work, interrupted: Interruption::None, excerpt, pictures }
    }

    fn printed(&mut self, chunk: Chunk) {
        self.excerpt.push(&output::words(&chunk.mime, &chunk.text));
        self.pictures.take(chunk);
    }
}

/// Something happened that has to do with what runs.
#[expect(clippy::wildcard_enum_match_arm, reason = "the caller passes on no other")]
pub(super) fn happened(mut state: State, mut run: Run, event: Event) -> (State, Vec<Effect>) {
    let effect = match event {
        Event::Output(chunk) => {
            run.printed(chunk);
            None
        }
        Event::InputWanted(wanted) => Some(Effect::AskInput(wanted)),
        Event::InputGiven(typed) => Some(Effect::GiveInput(typed)),
        Event::Interrupted => {
            run.interrupted = Interruption::Asked;
            Some(Effect::Interrupt)
        }
        Event::Ran(ran) => return finished(state, run, &ran),
        _ => None,
    };
    state.phase = Phase::Running(run);
    (state, effect.into_iter().collect())
}

fn finished(mut state: State, run: Run, ran: &Ran) -> (State, Vec<Effect>) {
    let Run { work, interrupted, excerpt, pictures } = run;
    let stopped = interrupted == Interruption::Asked;
    let notices = mem::take(&mut state.notices);
    // What a person ran is no answer to a model that did not propose it.
    if work.current.origin == Origin::Model {
        let call = work.current.call.clone();
        let mut told = words::ran(call, ran, &excerpt, stopped, &notices);
        pictures.add_to(&mut told, state.setup.audience.sight);
        if state.setup.audience.strength == Strength::Small && !ran.succeeded() {
            words::advise(&mut told);
        }
        state.say(told);
    }
    state.outcome = if ran.succeeded() { TurnEnd::Done } else { TurnEnd::CodeFailed };
    state.staged = ran.effects.changes.clone().map(|id| (id, ran.effects.files.clone()));
    let Work { current, mut waiting } = work;
    if ran.succeeded() && !stopped {
        if let Some(next) = waiting.pop_front() {
            return propose(state, next, waiting);
        }
    } else {
        for skipped in waiting.into_iter().filter(|skipped| skipped.call.is_some()) {
            state.say(Message::result(skipped.call, words::not_reached()));
        }
    }
    match (current.origin, interrupted) {
        (_, Interruption::Asked) => end_turn(state, TurnEnd::Interrupted),
        (Origin::Model, Interruption::None) => go_on(state, &excerpt, ran),
        (Origin::Person, Interruption::None) => {
            let outcome = state.outcome;
            end_turn(state, outcome)
        }
    }
}

/// How often a small model is given a result in one turn, so that it tries again.
const RETRIES: u32 = 2;

/// After a run of a model's code: the model says what it means, or does more.
///
/// A small model is not asked what it means: it would make something up. What the code printed is
/// the answer; where it failed, or nothing came of it, the model may try again, but not for ever.
fn go_on(mut state: State, excerpt: &Excerpt, ran: &Ran) -> (State, Vec<Effect>) {
    let came = !excerpt.is_empty() || !ran.effects.files.is_empty();
    match state.setup.audience.strength {
        Strength::Usual => call_model(state),
        Strength::Small if (ran.succeeded() && came) || state.retries == RETRIES => {
            let outcome = state.outcome;
            end_turn(state, outcome)
        }
        Strength::Small => {
            state.retries += 1;
            call_model(state)
        }
    }
}
