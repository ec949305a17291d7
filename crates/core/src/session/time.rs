//! The steps when the time of a turn is over.
//!
//! Whatever is under way is stopped as by an interrupt, and nothing else begins: no proposal, no call
//! of the model, no question. Changes so far stay staged, undecided. The clock is the front end's.

use super::{
    event::Event,
    state::{Phase, State, Work},
    words,
};
use crate::{Body, record::TurnEnd};

impl State {
    /// The turn has used up its time. Between two turns, and once there is nothing left but to decide
    /// on the changes, that means nothing.
    pub(super) fn time_up(&mut self, phase: Phase, seconds: u64) {
        if matches!(
            phase,
            Phase::Idle
                | Phase::Reviewing { .. }
                | Phase::Settling
                | Phase::Restarting
                | Phase::Rewinding(_)
                | Phase::Switching
                | Phase::Ended
        ) {
            self.phase = phase;
            return;
        }
        self.is_late = true;
        self.record(Body::TimeUp { seconds });
        if let Phase::Asking { work, .. } = phase {
            self.too_late(work);
        } else if matches!(
            phase,
            Phase::Looking { .. } | Phase::Judging { .. } | Phase::Weighing(_)
        ) {
            // They are soon over, and the turn with them.
            self.phase = phase;
        } else {
            self.take(phase, Event::Interrupted);
        }
    }

    /// Code that comes when the time is over does not run.
    pub(super) fn too_late(&mut self, work: Work) {
        self.drop_work(work, words::could_not_run("the turn has used up its time"));
        self.end_turn(TurnEnd::TimedOut);
    }
}
