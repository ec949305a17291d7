//! The steps by which a model sees more of what a run printed.

use super::{
    effect::Effect,
    state::{Phase, State},
    words,
};
use crate::{Message, Printed, Proposal, Untrusted, look::Look};
use std::collections::VecDeque;

impl State {
    /// Reads the next part that the model wants to see. When it has seen everything, its other
    /// proposals come next, or it is asked to go on.
    pub(super) fn look(&mut self, looks: VecDeque<Look>, mut waiting: VecDeque<Proposal>) {
        if let Some(look) = looks.front().cloned() {
            let Look { run, first, last, .. } = &look;
            self.note(format!(
                "the model looks at what {run} printed, characters {first} to {last}"
            ));
            self.then(Effect::Look(look));
            self.phase = Phase::Looking { looks, waiting };
            return;
        }
        match waiting.pop_front() {
            Some(first) => self.propose(first, waiting),
            None => self.call_model(),
        }
    }

    /// Tells the model what it wanted to see.
    pub(super) fn looked(
        &mut self,
        mut looks: VecDeque<Look>,
        waiting: VecDeque<Proposal>,
        seen: Result<Untrusted, String>,
    ) {
        if let Some(look) = looks.pop_front() {
            let call = look.call.clone();
            self.say(match seen {
                Ok(text) => {
                    let (images, printed) = (Vec::new(), Some(Printed::Look(look)));
                    Message::Result { call, text, images, printed }
                }
                Err(reason) => Message::result(call, words::could_not_show(&reason)),
            });
        }
        self.look(looks, waiting);
    }
}
