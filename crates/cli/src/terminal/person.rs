//! The person whom a session may ask, and the means to do so.

use super::{
    ask::Asker,
    chat::Chat,
    screen::Screen,
    signals::Signals,
    theme::{Colouring, themed},
};
use crate::report::Error;
use interpreter_agent::Context;
use interpreter_store::Folders;

/// Whether a person is there to answer.
pub(crate) enum Person {
    Nobody(Signals),
    /// They are called to the controlling terminal for what must be asked: onto a screen of its own,
    /// unless what the session shows is there too.
    Called(Box<Console>, Option<Box<Chat>>),
    Present(Box<Console>),
}

/// The means to ask a person at a terminal.
pub(crate) struct Console {
    pub(crate) asker: Asker,
    pub(crate) editor: Option<String>,
    pub(crate) folders: Folders,
    /// How the colours of the screen are chosen.
    pub(crate) colouring: Colouring,
}

impl Console {
    pub(crate) fn new(asker: Asker, context: &Context) -> Self {
        Self {
            asker: asker.marked_for(&context.confinement()),
            editor: context.environment.editor().map(Into::into),
            folders: context.folders.clone(),
            colouring: Colouring::new(context.settings.theme.value, &context.environment),
        }
    }

    /// Chooses colours by the settings, whatever was chosen since.
    pub(crate) fn choose_colours(&mut self, context: &Context) {
        self.colouring = Colouring::new(context.settings.theme.value, &context.environment);
    }

    /// Has a screen, and typed lines, drawn in the colours that the person wants. If they depend on
    /// the terminal it is asked; the cursor must be at the beginning of an empty row.
    pub(crate) async fn use_theme(&mut self, screen: &mut Screen) {
        if screen.redraws() && self.colouring.wants_answer() {
            self.colouring.answered(self.asker.background().await);
        }
        screen.use_colours(self.colouring.palette());
        self.asker.use_colours(screen.has_colour());
    }
}

/// Where questions to a person who is called are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Questions {
    /// Among what the session shows, if that is on the controlling terminal.
    WithTheRest,
    /// On a screen of their own.
    Apart,
}

impl Person {
    /// Whoever may be at the controlling terminal; nobody if there is none.
    pub(crate) fn called(context: &Context, questions: Questions) -> Result<Self, Error> {
        let Some(asker) = Asker::calling(&context.environment)? else {
            return Ok(Self::Nobody(Signals::new()?));
        };
        let confinement = context.confinement();
        let device = asker.device(questions);
        let desk = device.map(|device| {
            let screen = Screen::on(&device, &context.environment);
            let screen = themed(screen, &context.settings, &context.environment);
            Box::new(Chat::new(screen, confinement.clone()))
        });
        Ok(Self::Called(Box::new(Console::new(asker, context)), desk))
    }

    /// The question that was put is not open any more.
    pub(super) fn withdraw_question(&self) {
        match self {
            Self::Nobody(_) => {}
            Self::Called(console, _) | Self::Present(console) => console.asker.rest(),
        }
    }

    pub(super) fn signals(&mut self) -> &mut Signals {
        match self {
            Self::Nobody(signals) => signals,
            Self::Called(console, _) | Self::Present(console) => &mut console.asker.signals,
        }
    }
}
