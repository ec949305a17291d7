//! The step after a line of the chat.

use crate::terminal::ask::Left;
use interpreter_core::session::{Earlier, Event};

/// The step after a line.
#[derive(Debug)]
pub(super) enum Next {
    Turn(Event),
    /// A new session, with the settings of this profile if one is named.
    New(Option<String>),
    /// A new session that begins with this conversation.
    Fork(Box<Earlier>),
    Leave(Left),
}

impl Next {
    /// The step after a question of a command was left: only the end of the program is one.
    pub(super) fn after(left: Left) -> Option<Self> {
        match left {
            Left::Interrupted | Left::Ended | Left::Nobody(_) => None,
            Left::Terminated => Some(Self::Leave(left)),
        }
    }
}
