//! Characters that are not plainly seen: drawn as nothing, as a blank, or only by what they do to
//! others.
//!
//! # Threat
//! A name or a word of a command that reads like another one.
//!
//! # Mechanism
//! One list. It has everything that Unicode calls ignorable by default and the format characters
//! that draw nothing, also in places that are reserved for them; separators and blanks but the
//! space; fillers, joiners and selectors that have a place of their own; and what is no character.
//! The page has the same list, and a test of the `web` crate compares the two.
//!
//! # Limits
//! Marks that stand above or below a letter are seen, and so are numbers and signs that stand under
//! others. Signs that only stack the letters of some scripts, as in Khmer and Burmese, pass: those
//! scripts cannot be written without.

/// Ranges of such characters, each with its first and last, in order. Controls are not among them.
const UNSEEN: &[(u32, u32)] = &[
    // No-break space, soft hyphen, grapheme joiner, Arabic letter mark.
    (0xa0, 0xa0),
    (0xad, 0xad),
    (0x34f, 0x34f),
    (0x61c, 0x61c),
    // Hangul fillers, the space of Ogham, inherent vowels of Khmer, selectors of Mongolian.
    (0x115f, 0x1160),
    (0x1680, 0x1680),
    (0x17b4, 0x17b5),
    (0x180b, 0x180f),
    // Spaces, joiners, marks of direction, separators, invisible operators.
    (0x2000, 0x200f),
    (0x2028, 0x202f),
    (0x205f, 0x206f),
    // Blank of Braille, joiner of Tifinagh, ideographic space, Hangul filler.
    (0x2800, 0x2800),
    (0x2d7f, 0x2d7f),
    (0x3000, 0x3000),
    (0x3164, 0x3164),
    // Surrogates, which only a page meets.
    (0xd800, 0xdfff),
    // No characters, variation selectors, byte order mark, half-width filler, annotations and what
    // stands for an object.
    (0xfdd0, 0xfdef),
    (0xfe00, 0xfe0f),
    (0xfeff, 0xfeff),
    (0xffa0, 0xffa0),
    (0xfff0, 0xfffc),
    (0xfffe, 0xffff),
    // Joiner of Brahmi numbers, controls and blanks of hieroglyphs, filler of Khitan, selector and
    // controls of shorthand, controls of music.
    (0x1107f, 0x1107f),
    (0x13430, 0x1345f),
    (0x16fe4, 0x16fe4),
    (0x1bc9d, 0x1bc9d),
    (0x1bca0, 0x1bca3),
    (0x1d159, 0x1d159),
    (0x1d173, 0x1d17a),
    // Tags and selectors.
    (0xe0000, 0xe0fff),
];

/// Whether a character is in the list, or is no character at all.
pub(crate) fn is_unseen(c: char) -> bool {
    let code = u32::from(c);
    // The usual text pays for nothing.
    code >= 0xa0
        && (code & 0xfffe == 0xfffe
            || UNSEEN
                .binary_search_by(|(first, last)| {
                    if *last < code {
                        std::cmp::Ordering::Less
                    } else if *first > code {
                        std::cmp::Ordering::Greater
                    } else {
                        std::cmp::Ordering::Equal
                    }
                })
                .is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `Default_Ignorable_Code_Point` of Unicode 17, as its file has it.
    const IGNORABLE: &[(u32, u32)] = &[
        (0xad, 0xad),
        (0x34f, 0x34f),
        (0x61c, 0x61c),
        (0x115f, 0x1160),
        (0x17b4, 0x17b5),
        (0x180b, 0x180f),
        (0x200b, 0x200f),
        (0x202a, 0x202e),
        (0x2060, 0x206f),
        (0x3164, 0x3164),
        (0xfe00, 0xfe0f),
        (0xfeff, 0xfeff),
        (0xffa0, 0xffa0),
        (0xfff0, 0xfff8),
        (0x1bca0, 0x1bca3),
        (0x1d173, 0x1d17a),
        (0xe0000, 0xe0fff),
    ];

    /// Format characters (`Cf`), but those that are signs under or over numbers and words.
    const FORMAT: &[(u32, u32)] = &[
        (0xad, 0xad),
        (0x61c, 0x61c),
        (0x180e, 0x180e),
        (0x200b, 0x200f),
        (0x202a, 0x202e),
        (0x2060, 0x2064),
        (0x2066, 0x206f),
        (0xfeff, 0xfeff),
        (0xfff9, 0xfffb),
        (0x13430, 0x1343f),
        (0x1bca0, 0x1bca3),
        (0x1d173, 0x1d17a),
        (0xe0001, 0xe0001),
        (0xe0020, 0xe007f),
    ];

    /// Drawn as a blank or as nothing, whatever their category says.
    const BLANK: &[(u32, u32)] = &[
        (0x2800, 0x2800),
        (0x2d7f, 0x2d7f),
        (0xfffc, 0xfffc),
        (0x1107f, 0x1107f),
        (0x13440, 0x13446),
        (0x16fe4, 0x16fe4),
        (0x1bc9d, 0x1bc9d),
        (0x1d159, 0x1d159),
    ];

    fn each(ranges: &[(u32, u32)]) -> impl Iterator<Item = char> {
        ranges.iter().flat_map(|(first, last)| *first..=*last).filter_map(char::from_u32)
    }

    #[test]
    fn the_list_is_in_order() {
        assert!(UNSEEN.iter().all(|(first, last)| first <= last));
        assert!(UNSEEN.windows(2).all(|pair| pair[0].1 < pair[1].0), "in order, for the search");
    }

    #[test]
    fn everything_that_is_drawn_as_nothing_is_in_the_list() {
        for c in each(IGNORABLE).chain(each(FORMAT)).chain(each(BLANK)) {
            assert!(is_unseen(c), "{}", c.escape_unicode());
        }
        for c in (0xa0..=0x0010_ffff).filter_map(char::from_u32) {
            let code = u32::from(c);
            let is_character = !(0xfdd0..=0xfdef).contains(&code) && code & 0xfffe != 0xfffe;
            assert!(is_unseen(c) || !c.is_whitespace() && is_character, "{}", c.escape_unicode());
        }
    }

    #[test]
    fn everything_that_is_seen_is_not() {
        let seen = "a~¡é\u{301}ßא؀ن۝ก\u{17d2}ក한글漢字ｱ･€…—“”⠿♪𝄞😀\u{fffd}\u{10ffff}";
        let unseen: String = seen.chars().filter(|c| is_unseen(*c)).collect();
        assert_eq!(unseen, "\u{10ffff}");
    }
}
