//! The output of a run, and the excerpt for a model.
//!
//! The whole output goes to the person and the record as it comes. A model gets an [`Excerpt`]:
//! head and tail, with the exact number of what was left out. Memory is bounded by the excerpt's
//! size, whatever a program prints.

use crate::{
    Untrusted,
    look::{self, Look},
};
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, fmt::Write, ops::Range};

/// Which way a piece of output came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// The program's standard output.
    Stdout,
    /// The program's standard error.
    Stderr,
    /// The value of the last expression, or something shown.
    Result,
}

impl Stream {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
            Self::Result => "result",
        }
    }
}

/// A piece of output as text: itself, or its MIME type if it is not text. A model counts these
/// characters when it asks for a range.
pub fn words<'a>(mime: &str, text: &'a Untrusted) -> Cow<'a, str> {
    if is_words(mime) { text.raw().into() } else { kind(mime).into() }
}

/// Whether output of a kind is text.
pub fn is_words(mime: &str) -> bool {
    mime.starts_with("text/") || mime == "application/json"
}

/// The text in place of output that is not text.
pub fn kind(mime: &str) -> String {
    format!("[{mime}]\n")
}

/// The head and the tail of a text that may be endless.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excerpt {
    head: String,
    /// The last characters after the head; some more than are shown, so that trimming is rare.
    tail: String,
    /// Characters in all.
    total: u64,
}

/// Characters kept at each end.
const KEPT: usize = 4_000;

/// Bytes of the tail at which it is trimmed: a character has at most four.
const TRIM: usize = 8 * KEPT;

impl Excerpt {
    /// Adds the next piece.
    pub fn push(&mut self, piece: &str) {
        let room = KEPT.saturating_sub(usize::try_from(self.total).unwrap_or(KEPT));
        let split = if room == 0 { 0 } else { beginning(piece, room) };
        let (head, rest) = piece.split_at(split);
        self.total += characters(piece);
        self.head.push_str(head);
        // Of a huge piece only its end can stay, so the rest of it is not copied.
        self.tail.push_str(ending(rest));
        if self.tail.len() > TRIM {
            self.tail = ending(&self.tail).to_owned();
        }
    }

    /// The excerpt for a model, and how to see the rest of the output of `run`.
    pub fn text(&self, run: &str) -> Untrusted {
        let mut text = self.head.clone();
        if let Some((first, last)) = self.omitted() {
            omit(&mut text, run, first, last);
        }
        text.push_str(ending(&self.tail));
        Untrusted::new(text)
    }

    /// The same, added to a text, with what it takes to shorten it there.
    pub fn add_to(&self, text: &mut String, run: &str) -> Printed {
        let start = text.len();
        text.push_str(self.text(run).raw());
        let part = start..text.len();
        let kept = if self.omitted().is_some() { Some(KEPT) } else { None };
        Printed::Run { run: run.into(), part, total: self.total, kept }
    }

    /// The first and the last character that are left out, counted from 1.
    pub fn omitted(&self) -> Option<(u64, u64)> {
        let shown = 2 * KEPT as u64;
        (self.total > shown).then(|| (KEPT as u64 + 1, self.total - KEPT as u64))
    }

    /// Whether nothing came.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }
}

/// Number of characters of a text. Most output is ASCII, where that is the number of bytes.
pub fn characters(text: &str) -> u64 {
    let count = if text.is_ascii() { text.len() } else { text.chars().count() };
    count as u64
}

/// Says how much is left out and how it can be seen.
fn omit(text: &mut String, run: &str, first: u64, last: u64) {
    let (count, some) = (last - first + 1, last.min(first + look::MOST - 1));
    // Writing to a string cannot fail.
    _ = write!(
        text,
        "\n[… {count} characters omitted, {first} to {last}; to see some of them, run `{run} \
         {first}-{some}` in the language `{}` …]\n",
        look::LANGUAGE
    );
}

/// The part of a message that a model can see again, and so need not be told twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Printed {
    /// The output of a run.
    Run {
        /// The run's name.
        run: String,
        /// Where in the message it stands, in bytes.
        part: Range<usize>,
        /// The characters that it had.
        total: u64,
        /// The characters that are left at each end, if some are left out.
        kept: Option<usize>,
    },
    /// The whole message is what the model wanted to see of a run.
    Look(Look),
}

impl Printed {
    /// The message with at most `keep` characters at each end of the output, or `None` if it is no
    /// longer than that.
    pub fn shorten(&self, text: &str, keep: usize) -> Option<(String, Self)> {
        match self {
            Self::Run { run, part, total, kept } => {
                let shown = text.get(part.clone())?;
                if kept.unwrap_or(usize::try_from(*total).ok()?.div_ceil(2)) <= keep {
                    return None;
                }
                let (before, after) = (&text[..part.start], &text[part.end..]);
                let mut short = before.to_owned();
                short.push_str(&shown[..beginning(shown, keep)]);
                omit(&mut short, run, keep as u64 + 1, total - keep as u64);
                short.push_str(last_of(shown, keep));
                let part = part.start..short.len();
                short.push_str(after);
                let run = run.clone();
                Some((short, Self::Run { run, part, total: *total, kept: Some(keep) }))
            }
            Self::Look(Look { run, first, last, .. }) => {
                let short = format!(
                    "[characters {first} to {last} of {run} stood here; to see them again, run \
                     `{run} {first}-{last}` in the language `{}`]\n",
                    look::LANGUAGE
                );
                (short.len() < text.len()).then(|| (short, self.clone()))
            }
        }
    }
}

/// Where the first `count` characters of a text end.
fn beginning(text: &str, count: usize) -> usize {
    text.char_indices().nth(count).map_or(text.len(), |(at, _)| at)
}

/// The last characters of a text, as many as are kept.
fn ending(text: &str) -> &str {
    last_of(text, KEPT)
}

/// The last `count` characters of a text.
fn last_of(text: &str, count: usize) -> &str {
    let before = count.checked_sub(1).map(|skipped| text.char_indices().rev().nth(skipped));
    let start = before.map_or(text.len(), |found| found.map_or(0, |(at, _)| at));
    &text[start..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_short_text_is_whole() {
        let mut excerpt = Excerpt::default();
        excerpt.push("one\n");
        excerpt.push("two\n");
        assert_eq!(excerpt.text("p1").raw(), "one\ntwo\n");
    }

    #[test]
    fn a_long_text_says_how_much_is_missing_and_how_to_see_it() {
        let mut excerpt = Excerpt::default();
        for _ in 0..100 {
            excerpt.push(&"x".repeat(1_000));
        }
        let expected = "[… 92000 characters omitted, 4001 to 96000; to see some of them, run \
                        `p1 4001-12000` in the language `output` …]";
        assert!(excerpt.text("p1").raw().contains(expected), "{}", excerpt.text("p1").raw());
    }

    #[test]
    fn a_message_is_shortened_where_it_can_be_seen_again() {
        let mut excerpt = Excerpt::default();
        for number in 0..2_000 {
            excerpt.push(&format!("é{number:04}"));
        }
        let mut text = "[notice]\n".to_owned();
        let printed = excerpt.add_to(&mut text, "p7");
        text.push_str("\n[status 0]\n");
        let (short, printed) = printed.shorten(&text, 10).unwrap();
        assert_eq!(
            short,
            "[notice]\né0000é0001\n[… 9980 characters omitted, 11 to 9990; to see some of them, run \
             `p7 11-8010` in the language `output` …]\né1998é1999\n[status 0]\n"
        );
        assert_eq!(printed.shorten(&short, 10), None);
        let (shorter, _) = printed.shorten(&short, 0).unwrap();
        assert!(shorter.contains("[… 10000 characters omitted, 1 to 10000;"), "{shorter}");
        assert!(shorter.ends_with("…]\n\n[status 0]\n"), "{shorter}");

        let mut short = Excerpt::default();
        short.push("abcd");
        let mut text = String::new();
        let printed = short.add_to(&mut text, "p1");
        assert_eq!(printed.shorten(&text, 2), None);
        assert!(printed.shorten(&text, 1).unwrap().0.starts_with("a\n[… 2 characters omitted"));
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(pieces in prop::collection::vec(".{0,3000}", 0..8)) {
            let whole: Vec<char> = pieces.concat().chars().collect();
            let mut excerpt = Excerpt::default();
            for piece in &pieces {
                excerpt.push(piece);
            }
            let shown = excerpt.text("p1");
            if whole.len() <= 2 * KEPT {
                prop_assert_eq!(excerpt.omitted(), None);
                prop_assert_eq!(shown.raw(), pieces.concat());
            } else {
                let (first, last) = excerpt.omitted().unwrap();
                prop_assert_eq!((first, last), (KEPT as u64 + 1, (whole.len() - KEPT) as u64));
                let head: String = whole[..KEPT].iter().collect();
                let tail: String = whole[whole.len() - KEPT..].iter().collect();
                prop_assert!(shown.raw().starts_with(&head));
                prop_assert!(shown.raw().ends_with(&tail));
            }
        }
    }
}
