//! Drives: performs the effects that the session asks for.
//!
//! A [`Context`] gathers what a session needs: settings, interpreters, confinement, model. A
//! [`Session`] is the handle that every front end holds, terminal or other: it sends events and
//! watches updates. Behind it one loop records each event, steps the session, records each
//! effect, and only then performs it.
//!
//! The only crate where a permit meets something that can run it. Must not print.

pub use interpreter_exec::{Completions, HeldLines, OpenedFile, StagedLook, TypedLines};
pub use interpreter_model::{DocumentAddress, DocumentClient, DocumentError, Headway};
pub use interpreter_workspace::{Export, ExportOf, ExportedFile, ReceivedFile};

pub use crate::{
    advice::Advise,
    attach::{attached_image, attached_text},
    choose::{ChooseError, providers},
    context::{Context, Explained},
    error::{AgentError, chain, says_look_again, says_outline_unseen},
    offered::OfferedModel,
    session::{Session, SessionUpdates},
    update::{Live, Looker, Mode, NotBegun, Update},
    upload::Upload,
};

mod advice;
mod attach;
pub mod changes;
mod choose;
mod context;
pub mod doctor;
mod driver;
pub mod embedded;
mod error;
mod file_headers;
mod grants;
pub mod import;
mod input;
mod journal;
pub mod languages;
mod local;
mod meter;
pub mod models;
mod narrowing;
mod network;
mod offered;
mod packages;
mod profile;
mod project;
mod resume;
pub mod rules;
mod scanners;
mod secrets;
mod session;
mod speech;
mod update;
mod upload;
