//! Drives: performs the effects that the session asks for.
//!
//! A [`Scene`] gathers what a session needs: settings, interpreters, confinement, model. A
//! [`Session`] is the handle that every front end holds, terminal or other: it sends events and
//! watches updates. Behind it one loop records each event, steps the session, records each
//! effect, and only then performs it.
//!
//! The only crate where a permit meets something that can run it. Must not print.

pub use interpreter_exec::Completions;

pub use crate::{
    choose::ChooseError,
    error::AgentError,
    scene::Scene,
    session::{Live, Mode, Session, Update},
};

mod attach;
mod audience;
pub mod changes;
mod choose;
pub mod doctor;
mod driver;
pub mod embedded;
mod error;
mod grants;
mod journal;
pub mod languages;
mod local;
pub mod models;
mod network;
mod project;
mod scene;
mod session;
mod speech;
