//! The colours of a screen: the person's theme, the environment, and the terminal's own answer.
//!
//! Nothing here asks the terminal; the keyboard does, because the answer comes among the keys.

use super::{picture::Colours, screen::Screen};
use interpreter_core::{Background, Palette, Theme};
use interpreter_store::{Environment, Settings};

/// How the colours of a screen are chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Colouring {
    pub(crate) theme: Theme,
    /// The background of the terminal, where that is known.
    background: Option<Background>,
    /// Whether the terminal has more than its own sixteen colours.
    has_many: bool,
    /// Whether the person wants no colours in general.
    is_unwanted: bool,
}

impl Colouring {
    pub(crate) fn new(theme: Theme, environment: &Environment) -> Self {
        Self {
            theme,
            background: environment.text("COLORFGBG").and_then(Background::of_variable),
            has_many: Colours::of(environment).is_some(),
            is_unwanted: environment.raw("NO_COLOR").is_some_and(|value| !value.is_empty()),
        }
    }

    /// Whether the colours depend on an answer of the terminal.
    pub(super) fn wants_answer(self) -> bool {
        self.theme == Theme::Auto && self.has_many && !self.is_unwanted
    }

    /// The terminal has answered, or has not.
    pub(super) fn answered(&mut self, background: Option<Background>) {
        self.background = background.or(self.background);
    }

    /// The palette, or `None` for no colours. A theme by name counts more than `NO_COLOR`.
    pub(crate) fn palette(self) -> Option<Palette> {
        if self.is_unwanted && self.theme == Theme::Auto {
            return None;
        }
        let palette = self.theme.palette(self.background)?;
        Some(if self.has_many { palette } else { Palette::Own })
    }
}

/// A screen as the person's settings have it. The terminal is not asked.
pub(crate) fn themed(screen: Screen, settings: &Settings, environment: &Environment) -> Screen {
    if !screen.is_terminal() {
        return screen;
    }
    let colouring = Colouring::new(settings.theme.value, environment);
    screen.in_colours(colouring.palette()).plain_if(settings.plain.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn palette(theme: Theme, pairs: &[(&str, &str)], said: Option<Background>) -> Option<Palette> {
        let environment = Environment::from_pairs(pairs.iter().copied());
        let mut colouring = Colouring::new(theme, &environment);
        colouring.answered(said);
        colouring.palette()
    }

    #[test]
    fn the_person_comes_first_and_then_the_terminal() {
        let many = [("TERM", "xterm"), ("COLORTERM", "truecolor")];
        let variable = [("COLORTERM", "24bit"), ("COLORFGBG", "0;15")];
        let plain = [("COLORTERM", "24bit"), ("NO_COLOR", "1")];
        let dark = Some(Background::Dark);
        for (theme, pairs, said, wanted) in [
            (Theme::Auto, &many[..], dark, Some(Palette::Dark)),
            (Theme::Auto, &many, None, Some(Palette::Own)),
            (Theme::Light, &many, dark, Some(Palette::Light)),
            (Theme::None, &many, dark, None),
            (Theme::Auto, &variable, None, Some(Palette::Light)),
            (Theme::Auto, &variable, dark, Some(Palette::Dark)),
            (Theme::Auto, &plain, dark, None),
            (Theme::Dark, &plain, None, Some(Palette::Dark)),
            (Theme::Dark, &[("TERM", "vt220")], None, Some(Palette::Own)),
        ] {
            assert_eq!(palette(theme, pairs, said), wanted, "{theme:?} {pairs:?}");
        }
    }
}
