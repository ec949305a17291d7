//! Text that someone else wrote: a model, a program, a file in a project.
//!
//! # Threat
//! Text that moves the cursor, renames the window, writes the clipboard, reorders what is read,
//! or draws a prompt of its own over ours.
//!
//! # Mechanism
//! [`Untrusted`] has no `Display`. It reaches a terminal only through [`TerminalFilter`], which
//! spells out every character that is not plainly visible, and keeps newlines and tabs.
//!
//! # Limits
//! Letters that look like other letters pass: the filter protects the terminal, not the reader.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;

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
        let mut shown = filter.feed(&self.0);
        shown.push_str(filter.finish());
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

/// Makes a stream of foreign text safe to print, piece by piece. A carriage return becomes the
/// end of a line: it could otherwise be used to overwrite what stands there.
#[derive(Debug, Default)]
pub struct TerminalFilter {
    after_return: bool,
}

impl TerminalFilter {
    /// The printable form of the next piece.
    pub fn feed(&mut self, piece: &str) -> String {
        let mut shown = String::with_capacity(piece.len());
        for c in piece.chars() {
            if self.after_return {
                shown.push('\n');
                self.after_return = false;
                if c == '\n' {
                    continue;
                }
            }
            match c {
                '\r' => self.after_return = true,
                '\n' | '\t' => shown.push(c),
                c if is_plain(c) => shown.push(c),
                c => shown.extend(c.escape_unicode()),
            }
        }
        shown
    }

    /// What was held back because the text might have gone on.
    pub fn finish(&mut self) -> &'static str {
        if std::mem::take(&mut self.after_return) { "\n" } else { "" }
    }
}

/// Whether a character shows as itself, in its place, and does nothing else.
fn is_plain(c: char) -> bool {
    !c.is_control()
        && !matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
    // Emoji sequences are joined with U+200D; alone it is as invisible as the others, and it
    // is rare enough in output to be spelled out.
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
    fn a_return_ends_the_line() {
        assert_eq!(Untrusted::new("safe\rrm -rf\r\nx\r").for_terminal(), "safe\nrm -rf\nx\n");
    }

    #[test]
    fn a_line_is_cut_with_an_ellipsis() {
        assert_eq!(Untrusted::new("a\nbcdef").for_terminal_line(4), "a⏎b…");
    }

    proptest! {
        #[test]
        fn no_control_character_gets_through(text in any::<String>()) {
            let shown = Untrusted::new(text).for_terminal();
            prop_assert!(shown.chars().all(|c| c == '\n' || c == '\t' || is_plain(c)));
        }

        #[test]
        fn pieces_do_not_matter(text in any::<String>(), cut in any::<prop::sample::Index>()) {
            let at = text.char_indices().map(|(i, _)| i).chain([text.len()]).collect::<Vec<_>>();
            let cut = at[cut.index(at.len())];
            let mut filter = TerminalFilter::default();
            let mut shown = filter.feed(&text[..cut]);
            shown.push_str(&filter.feed(&text[cut..]));
            shown.push_str(filter.finish());
            prop_assert_eq!(shown, Untrusted::new(text).for_terminal());
        }
    }
}
