//! Hosts that code wants to reach: asked about while it runs, refused otherwise.

use super::{
    effect::Effect,
    event::{HostAnswer, HostWanted},
    running::Run,
    state::{Interruption, Phase, State},
};
use crate::Grantor;

/// Code wants to reach a host that is not listed. Whoever is asked decides; where nothing runs,
/// or what runs is being stopped, nobody is asked.
pub(super) fn wanted(mut state: State, phase: Phase, wanted: HostWanted) -> (State, Vec<Effect>) {
    let ask = matches!(phase, Phase::Running(Run { interrupted: Interruption::None, .. }));
    state.phase = phase;
    if ask {
        return (state, vec![Effect::AskHost(wanted)]);
    }
    let HostWanted { proposal, host, port } = wanted;
    let refusal = HostAnswer { proposal, host, port, grant: None, by: Grantor::Nobody };
    (state, vec![Effect::AnswerHost(refusal)])
}

/// An answer. One that comes when the run is over still holds, for the session or for good.
pub(super) fn answered(
    mut state: State,
    phase: Phase,
    mut answer: HostAnswer,
) -> (State, Vec<Effect>) {
    state.phase = phase;
    // Nobody cannot say yes.
    if answer.by == Grantor::Nobody {
        answer.grant = None;
    }
    (state, vec![Effect::AnswerHost(answer)])
}
