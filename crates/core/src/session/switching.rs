//! The model is changed for another one, between two turns. The conversation stays.
//!
//! What was said is kept in a shape that every model can be sent; only how it begins, and what is
//! known of the model, are the new one's. If that one cannot be had, nothing has changed.

use super::{
    effect::Effect,
    event::{Failure, NewModel},
    pictures,
    state::{Phase, State},
    step::finish,
};
use crate::{Body, record::TurnEnd};
use std::{mem, sync::Arc};

pub(super) fn begin(mut state: State, name: String) -> (State, Vec<Effect>) {
    state.phase = Phase::Switching;
    (state, vec![Effect::FindModel(name)])
}

/// A turn is under way, which one model begins and ends.
pub(super) fn not_now(mut state: State, phase: Phase) -> (State, Vec<Effect>) {
    state.phase = phase;
    (state, vec![note("the model can be changed between turns, and is not changed now".into())])
}

pub(super) fn end(mut state: State, found: Result<Box<NewModel>, Failure>) -> (State, Vec<Effect>) {
    let mut effects = match found {
        Ok(new) => take(&mut state, *new),
        // Why is on record already.
        Err(_) => vec![note("the model stays as it was".into())],
    };
    let (state, more) = finish(state, TurnEnd::Done);
    effects.extend(more);
    (state, effects)
}

fn take(state: &mut State, new: NewModel) -> Vec<Effect> {
    let NewModel { name, audience, notes } = new;
    let before = state.setup.audience.opening.len();
    let messages = Arc::make_mut(&mut state.messages);
    messages.splice(..before, audience.opening.iter().cloned());
    // The new model has seen nothing, and what an old one counted is not how it counts.
    state.sent = 0;
    state.gauge = audience.gauge.clone();
    state.setup.audience = audience;
    let mut effects = vec![Effect::Note(Body::ModelChanged { model: name }), Effect::UseModel];
    effects.extend(notes.into_iter().map(note));
    // Those that go with the next prompt are kept if they can be seen.
    for image in mem::take(&mut state.attached) {
        effects.extend(pictures::keep(state, image));
    }
    effects
}

fn note(text: String) -> Effect {
    Effect::Note(Body::Note { text })
}
