//! The person whom a session may ask, and the means to do so.

use super::{ask::Asker, signals::Signals};
use interpreter_store::Folders;

/// Whether a person is there to answer.
pub(crate) enum Person {
    Nobody(Signals),
    Present(Box<Console>),
}

/// The means to ask a person at a terminal.
pub(crate) struct Console {
    pub(crate) asker: Asker,
    pub(crate) editor: Option<String>,
    pub(crate) folders: Folders,
}

impl Person {
    pub(super) fn signals(&mut self) -> &mut Signals {
        match self {
            Self::Nobody(signals) => signals,
            Self::Present(console) => &mut console.asker.signals,
        }
    }
}
