//! Shows sessions to other programs: the protocol, the API and the page.
//!
//! Everything that arrives here was sent by somebody else. A request is allowed by the [`http`] gate
//! and performed by a [`Service`], which checks the right of its [`Caller`] again. Nothing here
//! prints, runs code or reads a setting: values go in and come out.

pub use crate::{
    caller::{Caller, Right, RightSet},
    hub::{HubSetup, SessionHub},
    lines::Lines,
    people::{ShareKind, TeamError, TeamHub, TeamRole},
    service::{Service, SessionCount},
    stdio::serve_stdio,
};

mod caller;
mod client;
mod files;
pub mod http;
mod hub;
mod lines;
#[cfg(test)]
mod page_characters;
mod people;
pub mod protocol;
mod reach;
mod service;
mod serving;
pub mod socket;
mod stdio;
mod stream_lines;
