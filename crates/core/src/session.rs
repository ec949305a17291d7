//! The session as a function: from a state and an event to the next state and what to do.
//!
//! [`State::step`] is the whole of it. It reads nothing, waits for nothing and performs nothing. The
//! record of a session is also its replay: [`State::replay`]. The one loop that performs effects is
//! `interpreter-agent`'s driver: it records the event, steps, records each effect and only then
//! performs it.
//!
//! The only place in the program where a [`crate::Permit`] is made is `deciding.rs`.

pub use self::{
    answers::{AnswerRefused, AnswerTaken, Covered, GivenAnswer, Posed, QuestionAnswer, Voter},
    approval::{Approval, HowAsked},
    cells::{CellEnd, CellMemory, PastCell},
    changes_wish::{ChangesWish, TurnReach},
    effect::{Effect, PackagesQuestion, Question},
    event::{
        Answer, AttachedFile, Attachment, Earlier, Event, Failure, HostAnswer, NewModel,
        PackagesAnswer, Settle,
    },
    rewind_plan::{ComesBack, PlannedCell, PlannedInterpreter, RewindPlan},
    setup::{ModelProfile, Setup},
    state::State,
    wishes::{Replay, ReplayCell, ReplayQuestion, Rewind, checkpoint_number},
    words::{INTERRUPTED, death, named_signal, restarted},
};

mod answering;
mod answers;
mod approval;
mod asking;
mod ballot;
mod cells;
mod changes_wish;
mod deciding;
mod effect;
mod event;
mod host_grants;
mod look;
mod packages;
mod pictures;
mod project_code;
mod proposed;
mod questions;
mod reopening;
mod replay;
mod replaying;
mod resuming;
mod retracting;
mod rewind_plan;
mod rewinding;
mod running;
mod sending;
mod setup;
mod state;
mod step;
mod switching;
mod time;
mod wishes;
mod words;

#[cfg(test)]
pub(crate) mod tests;
