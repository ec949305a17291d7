//! Text that someone else wrote: a model, a program, a file in a project.
//!
//! # Threat
//! Text that moves the cursor, renames the window, writes the clipboard, reorders what is read,
//! or draws a prompt of its own over ours.
//!
//! # Mechanism
//! [`Untrusted`] has no `Display`. It reaches a terminal only through [`TerminalFilter`], which
//! spells out every character that is not plainly visible, and keeps newlines and tabs. It spells
//! out [`MARK`] too: only the program's own rows begin with that character, and no foreign text
//! can contain it, however a terminal wraps or reflows it. Of all sequences only colours have a
//! meaning, in the output of programs alone, and they become an [`Ink`].
//!
//! # Limits
//! Letters that look like other letters pass: the filter protects the terminal, not the reader.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;

mod filter;
mod ink;
mod unseen;

pub(crate) use unseen::is_unseen;

pub use filter::{JOINER, Sign, TerminalFilter};
pub use ink::{Hue, Ink};

/// The character that begins every row of the program's own on a terminal. Foreign text never
/// shows it.
pub const MARK: char = '❚';

/// Bytes of a piece that is large.
const LARGE: usize = 128 << 10;

/// Text that someone else wrote.
///
/// Output goes through many hands and may be large, so copies share the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Untrusted(Arc<String>);

impl Serialize for Untrusted {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Untrusted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

impl Untrusted {
    /// Marks `text` as somebody else's.
    pub fn new(text: impl Into<String>) -> Self {
        Self(Arc::new(text.into()))
    }

    /// The text as it is, for hashing, running inside a sandbox, or encoding as JSON. Never for
    /// a terminal or a page.
    pub fn raw(&self) -> &str {
        &self.0
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds more of somebody else's text.
    pub fn push(&mut self, more: &Self) {
        let text = Arc::make_mut(&mut self.0);
        // After one large piece more of them follow.
        if more.0.len() >= LARGE {
            text.reserve(8 * LARGE);
        }
        text.push_str(&more.0);
    }

    /// The whole text with everything invisible spelled out.
    pub fn for_terminal(&self) -> String {
        let mut filter = TerminalFilter::default();
        let mut shown = String::with_capacity(self.0.len());
        // Spelled text is nothing but characters.
        let mut take = |sign| {
            if let Sign::Char(c) = sign {
                shown.push(c);
            }
        };
        filter.feed(&self.0, &mut take);
        filter.finish(&mut take);
        shown
    }

    /// The text on one line, cut to `most` characters.
    pub fn for_terminal_line(&self, most: usize) -> String {
        let shown = self.for_terminal().replace('\n', "⏎").replace('\t', " ");
        if shown.chars().count() <= most {
            return shown;
        }
        shown.chars().take(most.saturating_sub(1)).chain(['…']).collect()
    }
}

impl From<String> for Untrusted {
    fn from(text: String) -> Self {
        Self(Arc::new(text))
    }
}

/// Whether a character shows as itself, in its place, and does nothing else.
///
/// Those that join emoji or change them do so in their place alone: see [`filter`].
pub fn is_plain(c: char) -> bool {
    !(c.is_control() || c == MARK || is_unseen(c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escapes_are_spelled_out() {
        let text = Untrusted::new("\u{1b}]0;title\u{7}red\u{1b}[31m\u{9b}2J\u{202e}x");
        assert_eq!(text.for_terminal(), r"\u{1b}]0;title\u{7}red\u{1b}[31m\u{9b}2J\u{202e}x");
    }

    #[test]
    fn invisible_characters_and_odd_blanks_are_spelled_out() {
        for c in "\u{34f}\u{17b4}\u{180b}\u{fe00}\u{fe0f}\u{13430}\u{1bca0}\u{1d173}\u{1d159}\
                  \u{16fe4}\u{2d7f}\u{fdd0}\u{fffc}\u{1fffe}\u{e0100}\
                  \u{a0}\u{1680}\u{2007}\u{202f}\u{205f}\u{3000}\u{2800}\u{85}\u{7f}"
            .chars()
        {
            let shown = Untrusted::new(format!("a{c}b")).for_terminal();
            assert_eq!(shown, format!("a{}b", c.escape_unicode()));
        }
    }

    #[test]
    fn an_emoji_may_be_drawn_as_one() {
        assert_eq!(Untrusted::new("⚠\u{fe0f}!").for_terminal(), "⚠\u{fe0f}!");
        assert_eq!(Untrusted::new("⚠\u{fe0f}\u{fe0f}").for_terminal(), "⚠\u{fe0f}\\u{fe0f}");
        assert_eq!(Untrusted::new("a\u{fe0f}").for_terminal(), r"a\u{fe0f}");
    }

    #[test]
    fn the_mark_of_our_own_rows_is_ours_alone() {
        assert_eq!(Untrusted::new("❚ Run it?").for_terminal(), r"\u{275a} Run it?");
    }

    #[test]
    fn a_return_ends_the_line() {
        assert_eq!(Untrusted::new("safe\rrm -rf\r\nx\r").for_terminal(), "safe\nrm -rf\nx\n");
    }

    #[test]
    fn a_line_is_cut_with_an_ellipsis() {
        assert_eq!(Untrusted::new("a\nbcdef").for_terminal_line(4), "a⏎b…");
    }

    proptest! {
        #[test]
        fn nothing_invisible_gets_through(text in any::<String>()) {
            let shown = Untrusted::new(text).for_terminal();
            let fits = |c: char| "\n\t\u{fe0f}\u{200d}".contains(c) || is_plain(c);
            prop_assert!(shown.chars().all(fits));
            prop_assert!(!shown.contains(MARK));
        }
    }
}
