//! The steps by which a model sees more of what a run printed.

use super::{
    effect::Effect,
    state::{Phase, State},
    step::{call_model, propose},
    words,
};
use crate::{Body, Message, Printed, Proposal, Untrusted, look::Look};
use std::collections::VecDeque;

/// Reads what the model wants to see next. When it has seen everything, what else it proposed is
/// looked at, or it is asked to go on.
pub(super) fn next(
    mut state: State,
    looks: VecDeque<Look>,
    mut waiting: VecDeque<Proposal>,
) -> (State, Vec<Effect>) {
    if let Some(Look { run, first, last, .. }) = looks.front() {
        let text = format!("the model looks at what {run} printed, characters {first} to {last}");
        let note = Effect::Note(Body::Note { text });
        let look = looks.front().cloned().map(Effect::Look);
        state.phase = Phase::Looking { looks, waiting };
        return (state, [note].into_iter().chain(look).collect());
    }
    match waiting.pop_front() {
        Some(first) => propose(state, first, waiting),
        None => call_model(state),
    }
}

/// Tells the model what it wanted to see.
pub(super) fn looked(
    mut state: State,
    mut looks: VecDeque<Look>,
    waiting: VecDeque<Proposal>,
    seen: Result<Untrusted, String>,
) -> (State, Vec<Effect>) {
    if let Some(look) = looks.pop_front() {
        let call = look.call.clone();
        state.say(match seen {
            Ok(text) => {
                let (images, printed) = (Vec::new(), Some(Printed::Look(look)));
                Message::Result { call, text, images, printed }
            }
            Err(reason) => Message::result(call, words::could_not_show(&reason)),
        });
    }
    next(state, looks, waiting)
}
