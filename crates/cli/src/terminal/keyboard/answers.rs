//! The terminal's answers about itself, taken from among the person's keys. [`Asking`] says which
//! questions there are, and why so.

use crate::terminal::{
    picture::{Graphics, graphics::Asking},
    strokes::Stroke,
};
use interpreter_core::Background;
use std::{
    collections::hash_map::RandomState,
    hash::{BuildHasher, Hasher},
};

/// The state of asking about pictures.
#[derive(Debug, Default)]
pub(super) enum Answers {
    #[default]
    Unasked,
    /// Being asked, and whether the last question has been answered.
    Awaited(Asking, bool),
    Known(Graphics),
}

impl Answers {
    /// The questions to put, one after the other. A terminal is asked once.
    pub(super) fn questions(&mut self) -> Vec<String> {
        if let Self::Known(_) = self {
            return Vec::new();
        }
        let asking = Asking::new(number());
        let questions = asking.questions().into();
        *self = Self::Awaited(asking, false);
        questions
    }

    /// Notes that the next question is put.
    pub(super) fn ask(&mut self) {
        if let Self::Awaited(_, answered) = self {
            *answered = false;
        }
    }

    pub(super) fn is_awaited(&self) -> bool {
        matches!(self, Self::Awaited(_, false))
    }

    /// The ways to show pictures that the terminal has. It is not asked again.
    pub(super) fn conclude(&mut self) -> Graphics {
        let graphics = match self {
            Self::Awaited(asking, true) => asking.found(),
            Self::Known(known) => *known,
            // Some that came before the terminal fell silent count for nothing.
            Self::Awaited(_, false) | Self::Unasked => Graphics::default(),
        };
        *self = Self::Known(graphics);
        graphics
    }

    /// Takes the answers from among the strokes. Nothing else ever sees them.
    pub(super) fn taken_from(&mut self, mut strokes: Vec<Stroke>) -> Vec<Stroke> {
        strokes.retain(|stroke| {
            let Stroke::Told(answer) = stroke else { return true };
            if let Self::Awaited(asking, answered) = self {
                *answered |= asking.hear(answer);
            }
            false
        });
        strokes
    }
}

/// Asks for the colour of the background, and clears whatever a terminal has made of a question
/// that it does not know.
pub(super) const COLOUR: &str = "\u{1b}]11;?\u{1b}\\\r\u{1b}[2K";

/// The state of asking about the background.
#[derive(Debug, Default)]
pub(super) struct Backdrop {
    is_awaited: bool,
    found: Option<Background>,
}

impl Backdrop {
    /// Notes that the terminal is asked.
    pub(super) fn ask(&mut self) {
        *self = Self { is_awaited: true, found: None };
    }

    /// Looks for the answer among the strokes.
    pub(super) fn hear(&mut self, strokes: &[Stroke]) {
        if !self.is_awaited {
            return;
        }
        for stroke in strokes {
            if let Stroke::Told(answer) = stroke {
                let colour = answer.strip_prefix("]11;");
                self.found = colour.and_then(Background::of_colour).or(self.found);
            }
        }
    }

    /// The answer, if there was one. Nothing that comes later counts.
    pub(super) fn conclude(&mut self) -> Option<Background> {
        self.is_awaited = false;
        self.found.take()
    }
}

/// A number that nobody can guess: an answer must have it.
fn number() -> u32 {
    let random = RandomState::new().build_hasher().finish();
    // Kitty takes no zero.
    u32::try_from(random >> 33).unwrap_or(1).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_asked_once_and_its_answers_are_no_keys() {
        let mut answers = Answers::default();
        assert_eq!(answers.questions().len(), 2);
        answers.ask();
        let kind = Stroke::Told("[?62;4c".into());
        let strokes = vec![Stroke::Typed('a'), kind.clone(), Stroke::Typed('b')];
        let keys = [Stroke::Typed('a'), Stroke::Typed('b')];
        assert_eq!(answers.taken_from(strokes), keys);
        assert!(!answers.is_awaited());
        // A terminal that falls silent at the second question has said nothing.
        answers.ask();
        assert!(answers.is_awaited());
        assert_eq!(answers.conclude(), Graphics::default());
        assert_eq!(answers.taken_from(vec![kind]), []);
        assert!(answers.questions().is_empty());
        assert_eq!(answers.conclude(), Graphics::default());
    }

    #[test]
    fn a_background_counts_only_while_it_is_asked_for() {
        let white = [Stroke::Typed('a'), Stroke::Told("]11;rgb:ffff/ffff/ffff".into())];
        let mut backdrop = Backdrop::default();
        backdrop.hear(&white);
        assert_eq!(backdrop.conclude(), None);
        backdrop.ask();
        backdrop.hear(&[Stroke::Told("]10;rgb:0/0/0".into())]);
        backdrop.hear(&white);
        assert_eq!(backdrop.conclude(), Some(Background::Light));
        backdrop.hear(&white);
        assert_eq!(backdrop.conclude(), None);
    }
}
