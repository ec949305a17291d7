//! How many colours the cells of a terminal have.
//!
//! There is no question that every terminal answers, so this goes by `COLORTERM`, which terminals
//! set, and by the system's description of the terminal.

use interpreter_store::Environment;
use std::{io::Read, path::PathBuf};

/// The colours of a terminal's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colours {
    /// All of them.
    True,
    /// The usual 256.
    Palette,
}

impl Colours {
    /// Those of this terminal, if they are enough for a picture.
    pub(crate) fn of(environment: &Environment) -> Option<Self> {
        if matches!(environment.text("COLORTERM"), Some("truecolor" | "24bit")) {
            return Some(Self::True);
        }
        let name = environment.text("TERM")?;
        if name.ends_with("-direct") {
            return Some(Self::True);
        }
        let number = places(environment, name)
            .find_map(|path| described(&path))
            .unwrap_or_else(|| if name.ends_with("-256color") { 256 } else { 8 });
        (number >= 256).then_some(Self::Palette)
    }

    /// The colour as the end of an SGR code.
    pub(super) fn code(self, [red, green, blue]: [u8; 3]) -> String {
        match self {
            Self::True => format!("2;{red};{green};{blue}"),
            Self::Palette => format!("5;{}", nearest([red, green, blue])),
        }
    }
}

/// The levels of the palette's cube of 6 × 6 × 6 colours.
const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// The nearest colour of the palette: of its cube, or of its 24 greys.
fn nearest(colour: [u8; 3]) -> u8 {
    let level = |one: u8| {
        let far = |at: &usize| LEVELS[*at].abs_diff(one);
        (0..LEVELS.len()).min_by_key(far).unwrap_or(0)
    };
    let cube = colour.map(level);
    let mean = colour.iter().map(|&one| u32::from(one)).sum::<u32>() / 3;
    let grey = u8::try_from((mean.saturating_sub(3) / 10).min(23)).unwrap_or(23);
    let in_cube = distance(colour, cube.map(|at| LEVELS[at]));
    let number = cube.iter().fold(0, |all, &at| all * 6 + u8::try_from(at).unwrap_or(0));
    if distance(colour, [8 + 10 * grey; 3]) < in_cube { 232 + grey } else { 16 + number }
}

fn distance(one: [u8; 3], other: [u8; 3]) -> u32 {
    one.iter().zip(other).map(|(&one, other)| u32::from(one.abs_diff(other)).pow(2)).sum()
}

/// Where descriptions of a terminal may be.
fn places(environment: &Environment, name: &str) -> impl Iterator<Item = PathBuf> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_+.".contains(c);
    let first = name.chars().next().filter(char::is_ascii_alphanumeric);
    let first = first.filter(|_| name.chars().all(plain));
    let folder = |variable| environment.raw(variable).map(PathBuf::from);
    let folders = [
        folder("TERMINFO"),
        folder("HOME").map(|home| home.join(".terminfo")),
        Some("/etc/terminfo".into()),
        Some("/lib/terminfo".into()),
        Some("/usr/share/terminfo".into()),
    ];
    let name = name.to_owned();
    folders.into_iter().flatten().flat_map(move |folder| {
        let letter = first.map(|first| folder.join(first.to_string()).join(&name));
        let number = first.map(|first| folder.join(format!("{:x}", u32::from(first))).join(&name));
        letter.into_iter().chain(number)
    })
}

/// The number of colours that a description gives.
fn described(path: &std::path::Path) -> Option<u32> {
    let mut bytes = Vec::new();
    fs_err::File::open(path).ok()?.take(64 << 10).read_to_end(&mut bytes).ok()?;
    colours_in(&bytes)
}

/// The thirteenth number of a compiled description: see `term(5)`.
fn colours_in(bytes: &[u8]) -> Option<u32> {
    let short = |at: usize| Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    let wide = match short(0)? {
        0o432 => false,
        0o1036 => true,
        _ => return None,
    };
    let (names, flags, numbers) = (short(2)?, short(4)?, short(6)?);
    if numbers <= 13 {
        return None;
    }
    let start = (12 + usize::from(names) + usize::from(flags)).next_multiple_of(2);
    if wide {
        let at = start + 13 * 4;
        return Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    }
    let number = short(start + 13 * 2)?;
    (number < 0x8000).then_some(number.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(pairs: &[(&str, &str)]) -> Option<Colours> {
        Colours::of(&Environment::from_pairs(pairs.iter().copied()))
    }

    #[test]
    fn a_terminal_says_it_or_its_description_does() {
        assert_eq!(of(&[("TERM", "xterm"), ("COLORTERM", "truecolor")]), Some(Colours::True));
        assert_eq!(of(&[("TERM", "some-direct")]), Some(Colours::True));
        assert_eq!(of(&[("TERM", "unheard-of-256color")]), Some(Colours::Palette));
        assert_eq!(of(&[("TERM", "unheard-of")]), None);
        assert_eq!(of(&[("TERM", "../../../../etc/passwd")]), None);
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn a_description_has_a_number_of_colours() {
        let described = |magic: u16, numbers: &[u8], count: u16| {
            let mut bytes = Vec::new();
            for short in [magic, 5, 2, count, 0, 0] {
                bytes.extend(short.to_le_bytes());
            }
            bytes.extend(b"test\0ab\0");
            bytes.extend(numbers);
            colours_in(&bytes)
        };
        let mut numbers = [0xff; 28];
        assert_eq!(described(0o432, &numbers, 14), None);
        numbers[26..].copy_from_slice(&256_u16.to_le_bytes());
        assert_eq!(described(0o432, &numbers, 14), Some(256));
        assert_eq!(described(0o432, &numbers[..20], 14), None);
        let mut numbers = [0; 56];
        numbers[52..].copy_from_slice(&0x0100_0000_u32.to_le_bytes());
        assert_eq!(described(0o1036, &numbers, 14), Some(1 << 24));
        assert_eq!(described(0o7, &numbers, 14), None);
    }

    #[test]
    fn the_palette_has_a_near_colour() {
        for (colour, number) in [
            ([0, 0, 0], 16),
            ([255; 3], 231),
            ([255, 0, 0], 196),
            ([8; 3], 232),
            ([95, 135, 175], 67),
        ] {
            assert_eq!(nearest(colour), number, "{colour:?}");
        }
    }

    proptest! {
        #[test]
        fn any_description_may_be_there(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            colours_in(&bytes);
        }

        #[test]
        fn no_colour_is_far_off(colour in any::<[u8; 3]>()) {
            let number = nearest(colour);
            prop_assert!(number >= 16);
            let shown = match number {
                232.. => [8 + 10 * (number - 232); 3],
                _ => [(number - 16) / 36, (number - 16) / 6 % 6, (number - 16) % 6]
                    .map(|at| LEVELS[usize::from(at)]),
            };
            prop_assert!(distance(colour, shown) <= 3 * 48 * 48, "{:?} {:?}", colour, shown);
        }
    }
}
