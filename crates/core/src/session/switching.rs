//! The model is changed for another one, between two turns. The conversation stays.
//!
//! The conversation is kept in a shape that every model can be sent; only how it begins, and what
//! is known of the model, are the new one's. If that one is not available, nothing has changed.

use super::{
    effect::Effect,
    event::{Event, Failure, NewModel},
    state::{Phase, State},
};
use crate::{Body, record::TurnEnd};
use std::{mem, sync::Arc};

impl State {
    /// Events that have to do with another model.
    pub(super) fn switching(&mut self, phase: Phase, event: Event) {
        match (phase, event) {
            (Phase::Idle, Event::ModelWanted(name)) => {
                self.phase = Phase::Switching;
                self.then(Effect::FindModel(name));
            }
            (phase, Event::ModelWanted(_)) => {
                self.phase = phase;
                self.note("the model can be changed between turns, and is not changed now");
            }
            (Phase::Switching, Event::ModelFound(found)) => self.model_found(found),
            (phase, _) => self.phase = phase,
        }
    }

    /// The model that was wanted is there, or is not.
    fn model_found(&mut self, found: Result<Box<NewModel>, Failure>) {
        match found {
            Ok(new) => self.use_model(*new),
            // Why is on record already.
            Err(_) => self.note("the model stays as it was"),
        }
        self.finish(TurnEnd::Done);
    }

    fn use_model(&mut self, new: NewModel) {
        let NewModel { name, profile, notes } = new;
        let before = self.setup.profile.opening.len();
        let messages = Arc::make_mut(&mut self.messages);
        messages.splice(..before, profile.opening.iter().cloned());
        // The new model has seen nothing, and what an old one counted is not how it counts.
        self.changed_after(0);
        self.window = profile.window.clone();
        self.setup.profile = profile;
        let opening = Some(self.setup.profile.opening.len());
        self.record(Body::ModelChanged { model: name, opening });
        self.then(Effect::UseModel);
        for text in notes {
            self.note(text);
        }
        // Those that go with the next prompt are kept if they can be seen.
        for image in mem::take(&mut self.attached) {
            self.attach(image);
        }
    }
}
