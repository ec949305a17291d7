//! Colour and redrawing, where they help and are wanted. Everything reads the same without them.

use interpreter_core::{
    Palette,
    untrusted::{Hue, Ink},
};
use interpreter_store::Environment;

/// Whether output is painted, and whether a row may be drawn again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    palette: Option<Palette>,
    redraws: bool,
    links: bool,
}

impl Style {
    /// Every row is written once, without colour: for whoever reads a file, and for terminals and
    /// screen readers that want it so.
    pub(super) const PLAIN: Self = Self { palette: None, redraws: false, links: false };

    /// The style of a terminal in its own colours, unless the person or the terminal wants less.
    pub(super) fn new(at_terminal: bool, environment: &Environment) -> Self {
        let terminal = environment.text("TERM");
        if !at_terminal || terminal == Some("dumb") {
            return Self::PLAIN;
        }
        let plain = environment.raw("NO_COLOR").is_some_and(|value| !value.is_empty());
        let links = !matches!(terminal, None | Some("linux"));
        Self { palette: (!plain).then_some(Palette::Own), redraws: true, links }
    }

    /// The same in other colours, or in none. Where rows are written only once, there are none.
    pub(super) fn in_colours(self, palette: Option<Palette>) -> Self {
        Self { palette: palette.filter(|_| self.redraws), ..self }
    }

    /// Whether a word may lead to a file of ours.
    pub(super) fn has_links(self) -> bool {
        self.links
    }

    pub(super) fn has_colour(self) -> bool {
        self.palette.is_some()
    }

    /// Whether a row of the screen may be drawn again.
    pub(super) fn redraws(self) -> bool {
        self.redraws
    }

    pub(super) fn dim(self, text: &str) -> String {
        self.paint(Ink::DIM, text)
    }

    pub(super) fn red(self, text: &str) -> String {
        self.paint(Ink::of(Hue::Red), text)
    }

    fn paint(self, ink: Ink, text: &str) -> String {
        match self.palette {
            Some(palette) => format!("{}{text}\u{1b}[0m", ink.sequence(palette)),
            None => text.to_owned(),
        }
    }

    /// Has what follows drawn in this ink.
    pub(super) fn ink(self, ink: Ink, out: &mut String) {
        if let Some(palette) = self.palette {
            out.push_str(&ink.sequence(palette));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style(at_terminal: bool, pairs: &[(&str, &str)]) -> (bool, bool) {
        let style = Style::new(at_terminal, &Environment::from_pairs(pairs.iter().copied()));
        (style.has_colour(), style.redraws())
    }

    #[test]
    fn colour_and_redrawing_are_for_terminals_that_want_them() {
        assert_eq!(style(true, &[("TERM", "xterm")]), (true, true));
        assert_eq!(style(true, &[("TERM", "xterm"), ("NO_COLOR", "1")]), (false, true));
        assert_eq!(style(true, &[("TERM", "xterm"), ("NO_COLOR", "")]), (true, true));
        assert_eq!(style(true, &[("TERM", "dumb")]), (false, false));
        assert_eq!(style(false, &[("TERM", "xterm")]), (false, false));
    }

    #[test]
    fn other_colours_are_for_terminals_too() {
        let environment = Environment::from_pairs([("TERM", "xterm"), ("NO_COLOR", "1")]);
        let style = Style::new(true, &environment).in_colours(Some(Palette::Dark));
        assert_eq!(style.red("x"), "\u{1b}[0;38;5;210mx\u{1b}[0m");
        assert_eq!(style.in_colours(None).red("x"), "x");
        assert_eq!(Style::PLAIN.in_colours(Some(Palette::Dark)).red("x"), "x");
    }
}
