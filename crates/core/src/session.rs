//! The session as a function: from a state and an event to the next state and what to do.
//!
//! [`step`] is the whole of it. It reads nothing, waits for nothing and performs nothing, so the
//! record of a session is also its replay. The one loop that performs effects is
//! `interpreter-agent`'s driver: it records the event, steps, records each effect and only then
//! performs it.
//!
//! The only place in the program where a [`crate::Permit`] is made is `step::permit`.

pub use self::{
    effect::{Effect, Question},
    event::{
        Answer, Attachment, Chunk, Echo, Event, Failure, Grant, HostAnswer, HostWanted,
        InputWanted, NewModel, Ran, Settle, Typed,
    },
    state::{Approval, Audience, Setup, Sight, State},
    step::step,
    words::{Kernel, death, ending, named_signal},
};

mod effect;
mod event;
mod hosts;
mod look;
mod pictures;
mod restart;
mod running;
mod sending;
mod state;
mod step;
mod switching;
mod words;

#[cfg(test)]
pub(crate) mod tests;
