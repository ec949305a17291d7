//! How many columns a character may take: the most that any terminal gives it.
//!
//! # Threat
//! Terminals disagree about the width of many characters: ambiguous ones in East Asian locales,
//! combining marks they do not know, symbols drawn as emoji. Text that is laid out by the smaller
//! figure can be padded until a terminal wraps it to the first column.
//!
//! # Mechanism
//! Rows are laid out by the largest figure that is known of. A row may end early; it never runs
//! over.
//!
//! # Limits
//! Greek, Cyrillic and accented letters, and the lines of tables, are drawn twice as wide where an
//! East Asian person wants that. They count twice only if the locale is East Asian: otherwise whole
//! languages, and all tables, would be laid out on half of the window.

use interpreter_store::Environment;
use unicode_width::UnicodeWidthChar;

/// The widths of one terminal's characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Widths {
    /// Whether letters whose width is ambiguous may be wide.
    wide_letters: bool,
}

impl Widths {
    /// Those of a terminal in the person's locale.
    pub(super) fn of(environment: &Environment) -> Self {
        let locale =
            ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| environment.text(name));
        let wide = ["zh", "ja", "ko"];
        let wide_letters = locale.is_some_and(|name| wide.iter().any(|one| name.starts_with(one)));
        Self { wide_letters }
    }

    /// The columns that most terminals give to `c`: for alignment, never for safety.
    pub(super) fn likely(c: char) -> usize {
        c.width().unwrap_or(0)
    }

    /// The most columns that the terminal may give to `c`, which is no control character.
    pub(super) fn most(self, c: char) -> usize {
        if matches!(c, ' '..='~') {
            return 1;
        }
        match c {
            // A three-em dash is as wide as it says, and so are some ligatures.
            '\u{2e3b}' | '\u{fdfd}' | '\u{12031}' | '\u{1242b}' => 4,
            // Lines of tables, and blocks.
            '\u{2500}'..='\u{259f}' => 1 + usize::from(self.wide_letters),
            // Tone marks that some terminals draw as wide letters, symbols that may be emoji, and a
            // two-em dash.
            '\u{302a}'..='\u{302f}'
            | '\u{203c}'
            | '\u{2e3a}'
            | '\u{2049}'
            | '\u{2190}'..='\u{2bff}'
            | '\u{3030}'..='\u{33ff}'
            | '\u{1f000}'..='\u{1faff}' => 2,
            c if c.is_alphabetic() && c.width() == Some(1) => 1 + usize::from(self.wide_letters),
            _ => c.width_cjk().unwrap_or(1).clamp(1, 4),
        }
    }
}

/// Whether `c` is drawn over the character before it.
pub(super) fn is_drawn_over(c: char) -> bool {
    !matches!(c, ' '..='~') && c.width() == Some(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(locale: &str) -> Widths {
        Widths::of(&Environment::from_pairs([("LANG", locale)]))
    }

    #[test]
    fn the_larger_figure_counts() {
        for (c, wide) in [
            ('a', 1),
            ('ä', 1),
            ('я', 1),
            ('漢', 2),
            ('│', 1),
            ('▀', 1),
            ('■', 2),
            ('\u{bbe}', 1),
            ('\u{a8fa}', 1),
            ('\u{9be}', 1),
            ('\u{302e}', 2),
            ('\u{3248}', 2),
            ('\u{301}', 1),
            ('❤', 2),
            ('😀', 2),
        ] {
            assert_eq!(of("en_GB.UTF-8").most(c), wide, "{c:?} U+{:04x}", u32::from(c));
        }
        assert_eq!(of("ja_JP.UTF-8").most('я'), 2);
        assert_eq!(of("ja_JP.UTF-8").most('│'), 2);
    }

    #[test]
    fn no_character_is_narrower_than_it_can_be() {
        let (usual, wide) = (of("C"), of("zh_CN.UTF-8"));
        for c in '\u{a0}'..=char::MAX {
            let (narrow, cjk) = (c.width().unwrap_or(1).max(1), c.width_cjk().unwrap_or(1).max(1));
            assert!(usual.most(c) >= narrow, "{c:?}");
            assert!(wide.most(c) >= cjk, "{c:?}");
        }
    }
}
