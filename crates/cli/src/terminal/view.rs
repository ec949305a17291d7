//! The ways of showing a session.

use super::{answer::FinalAnswer, chat::Chat, plain::Plain, screen::Screen};
use interpreter_agent::HeldLines;

/// One way of showing a session.
pub(crate) enum View {
    /// JSON lines for scripts.
    Json,
    /// A chat.
    Chat(Box<Chat>),
    /// A program's output.
    Plain(Box<Plain>),
    /// The answer alone.
    Quiet(Box<FinalAnswer>),
}

impl View {
    /// The screen for rows of ours, if there is one.
    pub(crate) fn screen(&mut self) -> Option<&mut Screen> {
        match self {
            Self::Json => None,
            Self::Chat(chat) => Some(chat.screen()),
            Self::Plain(plain) => plain.screen().ok(),
            Self::Quiet(answer) => Some(answer.screen()),
        }
    }

    /// Ends the row that is open on a terminal, for somebody else who draws on it. `None` if
    /// nothing is shown to a person.
    pub(super) fn leave_terminal(&mut self) -> Option<()> {
        let screen = self.screen()?;
        if screen.is_terminal() {
            // If it is gone, whoever draws on it finds out.
            _ = screen.close().is_ok();
        }
        Some(())
    }

    /// Keeps lines that are typed from the code for as long as the result lives: they may be
    /// answers.
    pub(super) fn hold_input(&self) -> Option<HeldLines> {
        match self {
            Self::Plain(plain) => Some(plain.hold_input()),
            Self::Json | Self::Chat(_) | Self::Quiet(_) => None,
        }
    }
}
