//! Rows of our own: each begins with our mark, none is wider than the window.

use super::{
    ours::{Ours, UNBROKEN, ours},
    rows::room,
    width::Widths,
};
use interpreter_core::untrusted::MARK;

/// The mark of our own and what stands behind it, for the row that a person types in.
pub(super) fn own_mark(text: &Ours) -> String {
    format!("{MARK} {}", text.as_str())
}

/// Rows of our own, each with the mark, none wider than the window. Broken between words where
/// that is possible.
pub(super) fn own_rows(text: &Ours, widths: Widths, columns: usize) -> Vec<String> {
    let mark = own_mark(&ours(""));
    let room = room(&mark, widths, columns);
    let mut rows = Vec::new();
    for line in text.as_str().split('\n') {
        let mut rest = line;
        loop {
            let fits = fitting(rest, widths, room);
            let (row, more) = if fits == rest.len() {
                (rest, "")
            } else {
                let here = rest[fits..].starts_with(' ').then_some(fits);
                let at = here.or_else(|| rest[..fits].rfind(' ')).filter(|at| *at > 0);
                let at = at.unwrap_or(fits);
                (&rest[..at], rest[at..].trim_start_matches(' '))
            };
            let row = row.trim_end_matches(' ').replace(UNBROKEN, " ");
            rows.push(format!("{mark}{row}"));
            if more.is_empty() {
                break;
            }
            rest = more;
        }
    }
    rows
}

/// How many bytes of `text` fit into `room` columns: at least one character.
fn fitting(text: &str, widths: Widths, room: usize) -> usize {
    let mut taken = 0;
    for (at, c) in text.char_indices() {
        taken += widths.most(c);
        if taken > room && at > 0 {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_store::Environment;
    use proptest::prelude::*;

    fn widths() -> Widths {
        Widths::of(&Environment::default())
    }

    #[test]
    fn our_own_rows_are_wrapped_between_words_and_marked() {
        let text = ours("Run it?  y run · n reject · e edit\n  indented");
        assert_eq!(
            own_rows(&text, widths(), 24),
            ["❚ Run it?  y run · n", "❚ reject · e edit", "❚   indented"]
        );
        assert_eq!(own_rows(&ours(""), widths(), 20), ["❚ "]);
    }

    proptest! {
        #[test]
        fn no_word_of_ours_is_lost(
            words in prop::collection::vec(prop::sample::select(&["a", "réject", "·", "xxxxxxxxxxxxxxxxxxxxxxxx"][..]), 0..20),
            columns in 1_usize..60,
        ) {
            let text = Ours::joined(words.iter().map(|word| ours(*word)), " ");
            let rows = own_rows(&text, widths(), columns);
            prop_assert!(rows.iter().all(|row| row.starts_with(MARK)));
            let together: String =
                rows.iter().flat_map(|row| row.chars().skip(2)).filter(|c| *c != ' ').collect();
            prop_assert_eq!(together, words.concat());
        }
    }
}
