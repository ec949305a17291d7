//! What a run prints, and how much of it a model is shown.
//!
//! The whole output goes to the person and the record as it comes. A model gets an [`Excerpt`]:
//! head and tail, with the exact number of what was left out. Memory is bounded by the excerpt's
//! size, whatever a program prints.

use crate::{Untrusted, look};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

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
        self.total += piece.chars().count() as u64;
        self.head.push_str(head);
        // Of a huge piece only its end can stay, so the rest of it is not copied.
        self.tail.push_str(ending(rest));
        if self.tail.len() > TRIM {
            self.tail = ending(&self.tail).to_owned();
        }
    }

    /// What a model is shown of what `run` printed, and how it can see more.
    pub fn text(&self, run: &str) -> Untrusted {
        let mut text = self.head.clone();
        if let Some((first, last)) = self.omitted() {
            let (count, some) = (last - first + 1, last.min(first + look::MOST - 1));
            // Writing to a string cannot fail.
            _ = write!(
                text,
                "\n[… {count} characters omitted, {first} to {last}; to see some of them, run \
                 `{run} {first}-{some}` in the language `{}` …]\n",
                look::LANGUAGE
            );
        }
        text.push_str(ending(&self.tail));
        Untrusted::new(text)
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

/// Where the first `count` characters of a text end.
fn beginning(text: &str, count: usize) -> usize {
    text.char_indices().nth(count).map_or(text.len(), |(at, _)| at)
}

/// The last characters of a text, as many as are kept.
fn ending(text: &str) -> &str {
    let start = text.char_indices().rev().nth(KEPT - 1).map_or(0, |(at, _)| at);
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
