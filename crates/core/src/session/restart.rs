//! Kernels that end beside a run: on the person's wish, or by themselves.
//!
//! The model is told with its next result, because what it believes to be in a variable is gone.

use super::{
    effect::Effect,
    state::{Phase, State},
    step::finish,
    words,
};
use crate::{Language, record::TurnEnd};

/// Notices that the model is told at once; of more than these the newest say enough.
const NOTICES: usize = 8;

pub(super) fn begin(mut state: State, language: Option<Language>) -> (State, Vec<Effect>) {
    state.phase = Phase::Restarting;
    (state, vec![Effect::Restart(language)])
}

pub(super) fn end(mut state: State, languages: &[Language]) -> (State, Vec<Effect>) {
    if !languages.is_empty() {
        notice(&mut state, words::restarted(languages));
    }
    finish(state, TurnEnd::Done)
}

pub(super) fn lost(
    mut state: State,
    phase: Phase,
    language: &Language,
    how: &str,
) -> (State, Vec<Effect>) {
    notice(&mut state, words::kernel_ended(language.name(), how));
    state.phase = phase;
    (state, vec![])
}

/// Keeps something to tell the model with its next result.
fn notice(state: &mut State, text: String) {
    state.notices.push(text);
    if state.notices.len() > NOTICES {
        state.notices.remove(0);
    }
}
