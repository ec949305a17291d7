//! Makes a stream of foreign text safe to draw, piece by piece.
//!
//! # Threat
//! See [`super`]. A stream adds: a sequence that is cut in two, so that neither half looks like one.
//!
//! # Mechanism
//! Whatever may still become a sequence, a line end or a joined emoji is held back until the next
//! character decides. The same text gives the same signs, whatever the pieces. At most
//! `LONGEST` characters are held back.
//!
//! There are two manners. Names, code and prose are *spelled*: a carriage return ends the line, and
//! every escape is spelled out. A program's output is *drawn*: its colours become an [`Ink`], and a
//! carriage return or an erased line is passed on as such, for a drawer that knows where the line
//! begins. Every other sequence is spelled out there too.

use super::{
    ink::{Ink, Tint},
    is_plain,
};

/// One thing that safe text asks to be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// A character that shows as itself, the end of a line, or a tab.
    Char(char),
    /// How the characters that follow are drawn.
    Ink(Ink),
    /// The characters that follow are written over the line so far.
    Return,
    /// The rest of the line goes, or all of it.
    Erase {
        /// Also the part before the cursor.
        all: bool,
    },
}

/// Makes foreign text safe to draw.
#[derive(Debug, Default)]
pub struct TerminalFilter {
    /// Whether colours, returns and erasing are passed on.
    draws: bool,
    tint: Tint,
    /// A sequence that has begun.
    begun: String,
    after_return: bool,
    /// Whether the last character can be drawn as an emoji, and how it was changed since.
    emoji: Emoji,
}

/// Where in an emoji the text is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Emoji {
    #[default]
    None,
    /// Behind one that may still be changed.
    Bare,
    /// Behind one that was changed.
    Changed,
    /// Behind one and a joiner, which is held back.
    Joining,
}

/// Has the character before it drawn as an emoji. Anywhere else it is invisible.
pub(super) const EMOJI_STYLE: char = '\u{fe0f}';

/// Joins two emoji. Anywhere else it is invisible.
pub const JOINER: char = '\u{200d}';

/// Characters of a sequence that are held back.
const LONGEST: usize = 64;

impl TerminalFilter {
    /// A filter for the output of programs, which passes on colours, returns and erasing.
    pub fn drawing() -> Self {
        Self { draws: true, ..Self::default() }
    }

    /// Hands on the signs of the next piece.
    pub fn feed(&mut self, piece: &str, to: &mut impl FnMut(Sign)) {
        for c in piece.chars() {
            if matches!(c, ' '..='~') && self.is_idle() {
                self.emoji = Emoji::None;
                to(Sign::Char(c));
            } else {
                self.take(c, to);
            }
        }
    }

    /// Whether nothing is held back.
    fn is_idle(&self) -> bool {
        !self.after_return && self.begun.is_empty() && self.emoji != Emoji::Joining
    }

    /// Ends the text: whatever was held back is neither a sequence nor an emoji. A return in
    /// spelled text ends the line.
    pub fn finish(&mut self, to: &mut impl FnMut(Sign)) {
        self.spell_begun(to);
        self.settle_joiner(to);
        if std::mem::take(&mut self.after_return) && !self.draws {
            to(Sign::Char('\n'));
        }
        self.emoji = Emoji::None;
    }

    fn take(&mut self, c: char, to: &mut impl FnMut(Sign)) {
        if !self.begun.is_empty() {
            if self.goes_on(c, to) {
                return;
            }
            self.spell_begun(to);
        }
        if std::mem::take(&mut self.after_return) {
            match (c, self.draws) {
                ('\n', _) => return to(Sign::Char('\n')),
                (_, true) => to(Sign::Return),
                (_, false) => to(Sign::Char('\n')),
            }
        }
        if self.emoji == Emoji::Joining {
            if can_be_emoji(c) {
                to(Sign::Char(JOINER));
            } else {
                self.settle_joiner(to);
            }
        }
        let before = std::mem::take(&mut self.emoji);
        match c {
            '\r' => self.after_return = true,
            '\u{1b}' if self.draws => self.begun.push(c),
            '\n' | '\t' => to(Sign::Char(c)),
            EMOJI_STYLE if before == Emoji::Bare => {
                self.emoji = Emoji::Changed;
                to(Sign::Char(c));
            }
            JOINER if matches!(before, Emoji::Bare | Emoji::Changed) => self.emoji = Emoji::Joining,
            c if is_plain(c) => {
                let tone = matches!(c, '\u{1f3fb}'..='\u{1f3ff}') && before == Emoji::Bare;
                self.emoji = match (tone, can_be_emoji(c)) {
                    (true, _) => Emoji::Changed,
                    (false, true) => Emoji::Bare,
                    (false, false) => Emoji::None,
                };
                to(Sign::Char(c));
            }
            c => spell(c, to),
        }
    }

    /// Takes the next character of a sequence, if it can be one.
    fn goes_on(&mut self, c: char, to: &mut impl FnMut(Sign)) -> bool {
        match (self.begun.len(), c) {
            (1, '[') | (2..LONGEST, '0'..='9' | ';' | ':') => self.begun.push(c),
            (2.., 'm') => {
                self.tint.take(&self.begun[2..]);
                self.begun.clear();
                to(Sign::Ink(self.tint.ink()));
            }
            (2.., 'K') => {
                let all = matches!(&self.begun[2..], "1" | "2");
                self.begun.clear();
                to(Sign::Erase { all });
            }
            _ => return false,
        }
        true
    }

    fn spell_begun(&mut self, to: &mut impl FnMut(Sign)) {
        for c in std::mem::take(&mut self.begun).chars() {
            if is_plain(c) { to(Sign::Char(c)) } else { spell(c, to) }
        }
    }

    fn settle_joiner(&mut self, to: &mut impl FnMut(Sign)) {
        if self.emoji == Emoji::Joining {
            self.emoji = Emoji::None;
            spell(JOINER, to);
        }
    }
}

fn spell(c: char, to: &mut impl FnMut(Sign)) {
    c.escape_unicode().for_each(|c| to(Sign::Char(c)));
}

/// Whether a character is drawn as an emoji if [`EMOJI_STYLE`] follows it.
fn can_be_emoji(c: char) -> bool {
    matches!(c,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2194}'..='\u{21aa}' | '\u{231a}'..='\u{23ff}' | '\u{24c2}'
        | '\u{25aa}'..='\u{2759}' | '\u{275b}'..='\u{27bf}' | '\u{2934}'..='\u{2935}'
        | '\u{2b05}'..='\u{2b55}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}'
        | '\u{1f000}'..='\u{1faff}')
}

#[cfg(test)]
mod tests {
    use super::{super::MARK, *};
    use proptest::prelude::*;

    /// The signs of a program's output, as text: `{…}` for all that is no character.
    fn drawn(pieces: &[&str]) -> String {
        let mut filter = TerminalFilter::drawing();
        let mut shown = String::new();
        let mut show = |sign| match sign {
            Sign::Char(c) => shown.push(c),
            Sign::Ink(ink) => {
                shown.push('{');
                shown.push_str(&ink.sequence(crate::Palette::Own)[2..]);
                shown.push('}');
            }
            Sign::Return => shown.push_str("{return}"),
            Sign::Erase { all } => shown.push_str(if all { "{erase all}" } else { "{erase}" }),
        };
        for piece in pieces {
            filter.feed(piece, &mut show);
        }
        filter.finish(&mut show);
        shown
    }

    #[test]
    fn colours_returns_and_erasing_are_passed_on() {
        assert_eq!(drawn(&["a\u{1b}[1;31mb\u{1b}[m"]), "a{0;1;31m}b{0m}");
        assert_eq!(
            drawn(&["1%\r2%\u{1b}[K\r\n3%\u{1b}[2K\r"]),
            "1%{return}2%{erase}\n3%{erase all}"
        );
        assert_eq!(drawn(&["\u{1b}", "[3", "1", "mx"]), "{0;31m}x");
    }

    #[test]
    fn every_other_sequence_is_spelled_out() {
        for sequence in [
            "[2J",
            "[H",
            "[1;1H",
            "[5A",
            "[1G",
            "[6n",
            "[?25l",
            "[?1049h",
            "[>c",
            "[ q",
            "[1 m",
            "]0;title\u{7}",
            "]8;;http://x\u{1b}\\",
            "]52;c;eA==\u{7}",
            "Pq#0\u{1b}\\",
            "_Ga=q\u{1b}\\",
            "^x\u{1b}\\",
            "c",
            "7",
            "8",
            "(0",
            "#8",
            "[3",
            "[<1m",
            "[=1m",
            "[1$r",
            "[1;31",
        ] {
            let shown = drawn(&[&format!("a\u{1b}{sequence}b")]);
            assert!(shown.starts_with("a\\u{1b}"), "{sequence:?}: {shown}");
            assert!(!shown.contains("m}"), "{sequence:?}: {shown}");
        }
        assert_eq!(drawn(&["\u{9b}31m\u{90}q"]), "\\u{9b}31m\\u{90}q");
        let long = format!("\u{1b}[{}m", "1;".repeat(40));
        assert!(drawn(&[&long]).starts_with("\\u{1b}[1;1;"));
    }

    #[test]
    fn emoji_are_joined_and_nothing_else_is() {
        let family = "👩\u{200d}👩\u{200d}👧";
        assert_eq!(drawn(&[family]), family);
        let technician = "🧑\u{1f3fd}\u{200d}💻 ❤\u{fe0f}\u{200d}🔥";
        assert_eq!(drawn(&[technician]), technician);
        assert_eq!(drawn(&["a\u{200d}b"]), r"a\u{200d}b");
        assert_eq!(drawn(&["👩\u{200d}b"]), r"👩\u{200d}b");
        assert_eq!(drawn(&["👩\u{200d}"]), r"👩\u{200d}");
        assert_eq!(drawn(&["👩\u{200d}\u{200d}👩"]), r"👩\u{200d}\u{200d}👩");
        assert_eq!(drawn(&["👩\u{200d}❚"]), r"👩\u{200d}\u{275a}");
    }

    fn tricky() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            any::<String>(),
            "\u{1b}\\[[0-9;:]{0,6}[mKJ]",
            "[\r\n👩\u{200d}\u{fe0f}\u{1f3fd}\u{1b}\\[;m0-9❚]{0,8}",
        ];
        prop::collection::vec(piece, 1..6).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(text in tricky(), cut in any::<prop::sample::Index>()) {
            let at: Vec<_> = text.char_indices().map(|(i, _)| i).chain([text.len()]).collect();
            let cut = at[cut.index(at.len())];
            prop_assert_eq!(drawn(&[&text[..cut], &text[cut..]]), drawn(&[&text]));
        }

        #[test]
        fn every_character_is_visible(text in tricky()) {
            let mut filter = TerminalFilter::drawing();
            let mut shown = Vec::new();
            let mut take = |sign| if let Sign::Char(c) = sign { shown.push(c) };
            filter.feed(&text, &mut take);
            filter.finish(&mut take);
            let fits = |c: &char| "\n\t\u{fe0f}\u{200d}".contains(*c) || is_plain(*c);
            prop_assert!(shown.iter().all(fits), "{:?}", shown);
            prop_assert!(!shown.contains(&MARK));
        }
    }
}
