//! What a run prints, and how much of it a model is shown.
//!
//! The whole output goes to the person and the record as it comes. A model gets an [`Excerpt`]:
//! head and tail, with the exact number of what was left out. Memory is bounded by the excerpt's
//! size, whatever a program prints.

use crate::Untrusted;
use serde::{Deserialize, Serialize};
use std::{collections::VecDeque, fmt::Write};

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
    tail: VecDeque<char>,
    omitted: u64,
}

/// Characters kept at each end.
const KEPT: usize = 4_000;

impl Excerpt {
    /// Adds the next piece.
    pub fn push(&mut self, piece: &str) {
        let room = KEPT.saturating_sub(self.head.chars().count().min(KEPT));
        let split = piece.char_indices().nth(room).map_or(piece.len(), |(at, _)| at);
        let (head, rest) = if self.tail.is_empty() { piece.split_at(split) } else { ("", piece) };
        self.head.push_str(head);
        // Of a huge piece only its end can stay, so the rest of it is counted and not copied.
        let count = rest.chars().count();
        let skipped = count.saturating_sub(KEPT);
        self.omitted += skipped as u64;
        self.tail.extend(rest.chars().skip(skipped));
        while self.tail.len() > KEPT {
            self.tail.pop_front();
            self.omitted += 1;
        }
    }

    /// What a model is shown.
    pub fn text(&self) -> Untrusted {
        let mut text = self.head.clone();
        if self.omitted > 0 {
            // Writing to a string cannot fail.
            _ = write!(text, "\n[… {} characters omitted …]\n", self.omitted);
        }
        text.extend(&self.tail);
        Untrusted::new(text)
    }

    /// Whether nothing came.
    pub fn is_empty(&self) -> bool {
        self.head.is_empty()
    }
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
        assert_eq!(excerpt.text().raw(), "one\ntwo\n");
    }

    #[test]
    fn a_long_text_says_how_much_is_missing() {
        let mut excerpt = Excerpt::default();
        for _ in 0..100 {
            excerpt.push(&"x".repeat(1_000));
        }
        assert!(excerpt.text().raw().contains("[… 92000 characters omitted …]"));
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(pieces in prop::collection::vec(".{0,3000}", 0..8)) {
            let mut together = Excerpt::default();
            together.push(&pieces.concat());
            let mut apart = Excerpt::default();
            for piece in &pieces {
                apart.push(piece);
            }
            prop_assert_eq!(apart.text(), together.text());
        }
    }
}
