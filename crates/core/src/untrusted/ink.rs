//! The colours that foreign text may have, and the one sequence that asks for them.
//!
//! # Threat
//! Text that a program hides: concealed, blinking, in the colour of its background, or in one that
//! the person's terminal happens to have as its background.
//!
//! # Mechanism
//! [`Tint`] reads the parameters of an SGR sequence (`ESC [ … m`) and reduces them to an [`Ink`]:
//! one of six colours that no terminal has as its background, and attributes that leave text
//! readable. Black, white and greys become the terminal's own colour. A coloured background becomes
//! reverse video in that colour, whatever the foreground; other backgrounds are ignored. Nothing of
//! a sequence is passed on: an [`Ink`] is written anew.
//!
//! # Limits
//! A person whose palette has red as its background cannot read red text. With a terminal's own
//! sixteen colours, how well they are read is up to its owner: yellow is faint on most white ones.

use crate::theme::Palette;
use std::fmt::Write;

/// A colour that can be read on light and on dark terminals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hue {
    /// Red.
    Red,
    /// Green.
    Green,
    /// Yellow.
    Yellow,
    /// Blue.
    Blue,
    /// Magenta.
    Magenta,
    /// Cyan.
    Cyan,
}

/// How a character is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ink {
    hue: Option<Hue>,
    attributes: u8,
}

const BOLD: u8 = 1;
const DIM: u8 = 2;
const ITALIC: u8 = 4;
const UNDERLINED: u8 = 8;
const REVERSED: u8 = 16;
const STRUCK: u8 = 32;

/// Attributes, with their parameters.
const ATTRIBUTES: [(u8, u8); 6] =
    [(BOLD, 1), (DIM, 2), (ITALIC, 3), (UNDERLINED, 4), (REVERSED, 7), (STRUCK, 9)];

impl Ink {
    /// The terminal's own colour.
    pub const PLAIN: Self = Self { hue: None, attributes: 0 };
    /// Bold.
    pub const BOLD: Self = Self { hue: None, attributes: BOLD };
    /// Dim.
    pub const DIM: Self = Self { hue: None, attributes: DIM };
    /// Italic.
    pub const ITALIC: Self = Self { hue: None, attributes: ITALIC };
    /// Underlined.
    pub const UNDERLINED: Self = Self { hue: None, attributes: UNDERLINED };
    /// Struck through.
    pub const STRUCK: Self = Self { hue: None, attributes: STRUCK };

    /// A colour.
    pub const fn of(hue: Hue) -> Self {
        Self { hue: Some(hue), attributes: 0 }
    }

    /// Both together. The colour is that of `other`, if it has one.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self { hue: other.hue.or(self.hue), attributes: self.attributes | other.attributes }
    }

    /// The sequence that makes a terminal draw so, whatever it did before.
    pub fn sequence(self, palette: Palette) -> String {
        let is_dim = self.attributes & DIM != 0;
        // How faint dim text is, no terminal says; a grey can be read.
        let number = match palette {
            Palette::Own => None,
            Palette::Light => self.hue.map(Hue::on_light).or(is_dim.then_some(GREY_ON_LIGHT)),
            Palette::Dark => self.hue.map(Hue::on_dark).or(is_dim.then_some(GREY_ON_DARK)),
        };
        let mut text = "\u{1b}[0".to_owned();
        for (attribute, parameter) in ATTRIBUTES {
            // Dim colours are hard to read.
            let is_left = attribute == DIM && (self.hue.is_some() || number.is_some());
            if self.attributes & attribute != 0 && !is_left {
                // Writing to a string cannot fail.
                _ = write!(text, ";{parameter}");
            }
        }
        _ = match (number, self.hue) {
            (Some(number), _) => write!(text, ";38;5;{number}"),
            (None, Some(hue)) => write!(text, ";{}", hue.own()),
            (None, None) => Ok(()),
        };
        text.push('m');
        text
    }
}

/// Greys of the 256 colours that stand for dim text.
const GREY_ON_LIGHT: u8 = 241;
const GREY_ON_DARK: u8 = 247;

impl Hue {
    /// The code of the terminal's own colour.
    fn own(self) -> u8 {
        match self {
            Self::Red => 31,
            Self::Green => 32,
            Self::Yellow => 33,
            Self::Blue => 34,
            Self::Magenta => 35,
            Self::Cyan => 36,
        }
    }

    /// The number among the 256 colours, for a light background.
    fn on_light(self) -> u8 {
        match self {
            Self::Red => 124,
            Self::Green => 22,
            Self::Yellow => 94,
            Self::Blue => 25,
            Self::Magenta => 127,
            Self::Cyan => 23,
        }
    }

    /// The same, for a dark background.
    fn on_dark(self) -> u8 {
        match self {
            Self::Red => 210,
            Self::Green => 114,
            Self::Yellow => 221,
            Self::Blue => 75,
            Self::Magenta => 176,
            Self::Cyan => 80,
        }
    }
}

/// A colour as a program asks for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Wanted {
    #[default]
    Usual,
    /// Between black and white.
    Grey,
    Hue(Hue),
}

/// The state that SGR sequences have led to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tint {
    text: Wanted,
    behind: Wanted,
    attributes: u8,
}

impl Tint {
    /// Takes in the parameters of a sequence. Those that are unknown, or would hide text, do
    /// nothing.
    pub(super) fn take(&mut self, parameters: &str) {
        let mut rest = parameters.split(';');
        while let Some(one) = rest.next() {
            let mut parts = one.split(':');
            let code = number(parts.next().unwrap_or_default());
            match code {
                Some(38 | 48) => {
                    // With colons the whole colour is one parameter, with semicolons several.
                    let wanted = if one.contains(':') {
                        let mut fields: Vec<_> = parts.filter_map(number).collect();
                        // A colour space may stand before red, green and blue.
                        if fields.len() > 4 {
                            fields.remove(1);
                        }
                        extended(&mut fields.into_iter())
                    } else {
                        extended(&mut rest.by_ref().map(|field| number(field).unwrap_or(0)))
                    };
                    let place = if code == Some(38) { &mut self.text } else { &mut self.behind };
                    *place = wanted;
                }
                Some(4) if one == "4:0" => self.attributes &= !UNDERLINED,
                Some(code) => self.simple(code),
                None => {}
            }
        }
    }

    fn simple(&mut self, code: u16) {
        match code {
            0 => *self = Self::default(),
            22 => self.attributes &= !(BOLD | DIM),
            23 => self.attributes &= !ITALIC,
            24 => self.attributes &= !UNDERLINED,
            27 => self.attributes &= !REVERSED,
            29 => self.attributes &= !STRUCK,
            21 => self.attributes |= UNDERLINED,
            30..=37 => self.text = basic(code - 30),
            39 => self.text = Wanted::Usual,
            40..=47 => self.behind = basic(code - 40),
            49 => self.behind = Wanted::Usual,
            90..=97 => self.text = basic(code - 90 + 8),
            100..=107 => self.behind = basic(code - 100 + 8),
            _ => {
                let known = ATTRIBUTES.iter().find(|(_, known)| u16::from(*known) == code);
                self.attributes |= known.map_or(0, |(attribute, _)| *attribute);
            }
        }
    }

    /// The ink that comes of it.
    pub(super) fn ink(self) -> Ink {
        let mut attributes = self.attributes;
        let hue = match (self.behind, self.text) {
            (Wanted::Hue(hue), _) => {
                attributes ^= REVERSED;
                Some(hue)
            }
            (Wanted::Usual | Wanted::Grey, Wanted::Hue(hue)) => Some(hue),
            (Wanted::Usual | Wanted::Grey, Wanted::Grey) => {
                attributes |= DIM;
                None
            }
            (Wanted::Usual | Wanted::Grey, Wanted::Usual) => None,
        };
        Ink { hue, attributes }
    }
}

/// A parameter. An empty one is zero.
fn number(text: &str) -> Option<u16> {
    if text.is_empty() { Some(0) } else { text.parse().ok() }
}

/// One of the sixteen basic colours.
fn basic(number: u16) -> Wanted {
    match number {
        1 | 9 => Wanted::Hue(Hue::Red),
        2 | 10 => Wanted::Hue(Hue::Green),
        3 | 11 => Wanted::Hue(Hue::Yellow),
        4 | 12 => Wanted::Hue(Hue::Blue),
        5 | 13 => Wanted::Hue(Hue::Magenta),
        6 | 14 => Wanted::Hue(Hue::Cyan),
        8 => Wanted::Grey,
        _ => Wanted::Usual,
    }
}

/// A colour by number, or by red, green and blue.
fn extended(fields: &mut impl Iterator<Item = u16>) -> Wanted {
    match fields.next() {
        Some(5) => match fields.next().unwrap_or(0) {
            number @ 0..=15 => basic(number),
            number @ 16..=231 => {
                let part = |step: u16| if step == 0 { 0 } else { 55 + 40 * step };
                let at = number - 16;
                mixed(part(at / 36), part(at / 6 % 6), part(at % 6))
            }
            238..=249 => Wanted::Grey,
            _ => Wanted::Usual,
        },
        Some(2) => {
            let mut part = || fields.next().unwrap_or(0).min(255);
            let (red, green, blue) = (part(), part(), part());
            mixed(red, green, blue)
        }
        _ => Wanted::Usual,
    }
}

/// The nearest of the colours that can be read everywhere.
fn mixed(red: u16, green: u16, blue: u16) -> Wanted {
    let (most, least) = (red.max(green).max(blue), red.min(green).min(blue));
    let spread = most - least;
    if spread < most / 4 || most < 40 {
        return if (80..=190).contains(&most) { Wanted::Grey } else { Wanted::Usual };
    }
    let is_near = |part: u16| most - part < spread / 2;
    Wanted::Hue(match (is_near(red), is_near(green), is_near(blue)) {
        (true, true, _) => Hue::Yellow,
        (true, false, true) => Hue::Magenta,
        (true, false, false) => Hue::Red,
        (false, true, true) => Hue::Cyan,
        (false, true, false) => Hue::Green,
        (false, false, _) => Hue::Blue,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ink(parameters: &str) -> String {
        let mut tint = Tint::default();
        tint.take(parameters);
        tint.ink().sequence(Palette::Own)[2..].to_owned()
    }

    #[test]
    fn colours_are_reduced_to_six() {
        for (asked, drawn) in [
            ("31", "0;31m"),
            ("91", "0;31m"),
            ("1;4;32", "0;1;4;32m"),
            ("38;5;196", "0;31m"),
            ("38;5;208", "0;33m"),
            ("38;2;10;20;200", "0;34m"),
            ("38:2::10:200:20", "0;32m"),
            ("38:2:10:200:20", "0;32m"),
            ("38:5:51;3", "0;3;36m"),
            ("90", "0;2m"),
            ("38;5;244", "0;2m"),
            ("31;0", "0m"),
            ("", "0m"),
            ("1;22", "0m"),
            ("4:0", "0m"),
        ] {
            assert_eq!(ink(asked), drawn, "{asked}");
        }
    }

    #[test]
    fn nothing_hides_text() {
        for hidden in ["8", "5", "6", "30", "37", "97", "30;40", "38;2;0;0;0;48;2;1;1;1", "99999"] {
            assert_eq!(ink(hidden), "0m", "{hidden}");
        }
        // Text in the colour of its background is text on that colour.
        assert_eq!(ink("31;41"), "0;7;31m");
        assert_eq!(ink("37;41"), "0;7;31m");
        assert_eq!(ink("7;41"), "0;31m");
        assert_eq!(ink("2;33"), "0;33m");
    }

    /// Red, green and blue of one of the 256 colours that is not the terminal's own.
    fn parts(number: u8) -> [f64; 3] {
        let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
        let parts = match number.checked_sub(232) {
            Some(grey) => [8 + 10 * grey; 3],
            None => [(number - 16) / 36, (number - 16) / 6 % 6, (number - 16) % 6].map(level),
        };
        parts.map(f64::from)
    }

    /// How much two colours differ in brightness, from 1 to 21, as the WCAG defines it.
    fn contrast(one: [f64; 3], other: [f64; 3]) -> f64 {
        let brightness = |parts: [f64; 3]| {
            let linear = parts.map(|part| {
                let part = part / 255.0;
                if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
            });
            0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05
        };
        let (one, other) = (brightness(one), brightness(other));
        one.max(other) / one.min(other)
    }

    #[test]
    fn every_colour_can_be_read_on_its_background() {
        let hues = [Hue::Red, Hue::Green, Hue::Yellow, Hue::Blue, Hue::Magenta, Hue::Cyan];
        let inks: Vec<_> = hues.map(Ink::of).into_iter().chain([Ink::DIM]).collect();
        let light: [[u8; 3]; 4] = [[255; 3], [253, 246, 227], [242; 3], [239, 241, 245]];
        let dark = [[0; 3], [30; 3], [0, 43, 54], [46, 52, 64], [40, 44, 52], [48, 10, 36]];
        for (palette, backgrounds) in [(Palette::Light, &light[..]), (Palette::Dark, &dark[..])] {
            for ink in &inks {
                let sequence = ink.sequence(palette);
                let number = sequence.strip_prefix("\u{1b}[0;38;5;").unwrap();
                let number: u8 = number.strip_suffix('m').unwrap().parse().unwrap();
                for behind in backgrounds {
                    let contrast = contrast(parts(number), behind.map(f64::from));
                    assert!(contrast >= 4.5, "{number} on {behind:?}: {contrast}");
                }
            }
        }
    }

    #[test]
    fn attributes_are_kept_in_every_palette() {
        let ink = Ink::BOLD.with(Ink::of(Hue::Red));
        assert_eq!(ink.sequence(Palette::Light), "\u{1b}[0;1;38;5;124m");
        assert_eq!(Ink::DIM.with(Ink::ITALIC).sequence(Palette::Dark), "\u{1b}[0;3;38;5;247m");
        assert_eq!(Ink::DIM.sequence(Palette::Own), "\u{1b}[0;2m");
        assert_eq!(Ink::PLAIN.sequence(Palette::Dark), "\u{1b}[0m");
    }
}
