//! Colours for light and for dark terminals.
//!
//! Pure: the person's wish, the terminal's answer about its background, and the palette that
//! follows. Must not ask a terminal; the front end does.

use serde::{Deserialize, Serialize};

/// The colours that a person wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Theme {
    /// Those for the background that the terminal has.
    #[default]
    Auto,
    /// Dark colours, for a light background.
    Light,
    /// Light colours, for a dark background.
    Dark,
    /// None.
    None,
}

impl Theme {
    /// All of them, the usual one first.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Light, Self::Dark, Self::None];

    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Light => "light",
            Self::Dark => "dark",
            Self::None => "none",
        }
    }

    /// The one of this name.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|theme| theme.word() == word)
    }

    /// The palette on this background, or `None` for no colours.
    pub fn palette(self, background: Option<Background>) -> Option<Palette> {
        let background = match self {
            Self::None => return None,
            Self::Light => Some(Background::Light),
            Self::Dark => Some(Background::Dark),
            Self::Auto => background,
        };
        Some(match background {
            None => Palette::Own,
            Some(Background::Light) => Palette::Light,
            Some(Background::Dark) => Palette::Dark,
        })
    }
}

/// How bright the background of a terminal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Background {
    /// Nearer to white.
    Light,
    /// Nearer to black.
    Dark,
}

impl Background {
    /// Reads a colour as terminals tell it: `rgb:` and one to four hexadecimal digits for each of
    /// red, green and blue, with slashes between them; `rgba:` has one part more.
    pub fn of_colour(colour: &str) -> Option<Self> {
        let parts = colour.strip_prefix("rgb:").or_else(|| colour.strip_prefix("rgba:"))?;
        let parts: Vec<_> = parts.split('/').map(part).collect::<Option<_>>()?;
        let [red, green, blue] = *parts.get(..3)?.as_array::<3>()?;
        if parts.len() > 4 {
            return None;
        }
        // How bright each of them looks, in thousandths.
        let brightness = 299 * red + 587 * green + 114 * blue;
        Some(if brightness >= 500 * FULL { Self::Light } else { Self::Dark })
    }

    /// Reads `COLORFGBG`, which some terminals set: the numbers of the text's and of the
    /// background's colour among the sixteen, with semicolons between them.
    pub fn of_variable(value: &str) -> Option<Self> {
        match value.rsplit(';').next()?.parse().ok()? {
            7 | 9..=15_u8 => Some(Self::Light),
            0..=6 | 8 => Some(Self::Dark),
            _ => None,
        }
    }
}

/// The largest part of a colour.
const FULL: u32 = 0xffff;

/// A part of a colour, from 0 to [`FULL`].
fn part(digits: &str) -> Option<u32> {
    if !(1..=4).contains(&digits.len()) || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let most = (1 << (4 * digits.len())) - 1;
    Some(u32::from_str_radix(digits, 16).ok()? * FULL / most)
}

/// The colours that text is drawn in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Palette {
    /// The sixteen of the terminal itself, as its owner has chosen them.
    Own,
    /// Dark ones of the usual 256.
    Light,
    /// Light ones of the usual 256.
    Dark,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn answers_of_terminals_are_understood() {
        use Background::{Dark, Light};
        for (answer, background) in [
            ("rgb:ffff/ffff/ffff", Some(Light)),
            ("rgb:0000/0000/0000", Some(Dark)),
            ("rgb:1e/1e/1e", Some(Dark)),
            ("rgb:f/f/f", Some(Light)),
            ("rgb:fdfd/f6f6/e3e3", Some(Light)),
            ("rgb:0000/2b2b/3636", Some(Dark)),
            ("rgba:ffff/ffff/ffff/8000", Some(Light)),
            ("rgb:0000/0000/ffff", Some(Dark)),
            ("rgb:ffff/ffff/0000", Some(Light)),
            ("rgb:ffff/ffff", None),
            ("rgb:fffff/0/0", None),
            ("rgb:/0/0", None),
            ("rgb:+1/0/0", None),
            ("rgb:0/0/0/0/0", None),
            ("white", None),
            ("", None),
        ] {
            assert_eq!(Background::of_colour(answer), background, "{answer}");
        }
        for (value, background) in
            [("0;15", Some(Light)), ("15;0", Some(Dark)), ("15;default;0", Some(Dark)), ("x", None)]
        {
            assert_eq!(Background::of_variable(value), background, "{value}");
        }
    }

    #[test]
    fn a_wish_counts_more_than_an_answer() {
        let dark = Some(Background::Dark);
        assert_eq!(Theme::Light.palette(dark), Some(Palette::Light));
        assert_eq!(Theme::Auto.palette(dark), Some(Palette::Dark));
        assert_eq!(Theme::Auto.palette(None), Some(Palette::Own));
        assert_eq!(Theme::None.palette(dark), None);
        for theme in Theme::ALL {
            assert_eq!(Theme::named(theme.word()), Some(theme));
        }
    }

    proptest! {
        #[test]
        fn anything_may_be_answered(answer in "(rgba?:)?[0-9a-f/]{0,30}.{0,5}") {
            Background::of_colour(&answer);
            Background::of_variable(&answer);
        }
    }
}
