//! Long foreign text, a window at a time.
//!
//! Pages with the same question as everything else, so that a key that is held down does not run
//! through pages and then answer something.

use super::{
    ask::{Asker, Left, choice},
    ours::count,
    screen::{Screen, Section},
};
use interpreter_core::Untrusted;
use std::io;

/// The choice at the end of a page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Page,
    All,
    Back,
}

/// How much of a text was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Viewed {
    All,
    /// The person went back before its end.
    Part,
}

/// The longest piece of a line that is shown or not as a whole, in characters. A page ends between
/// two pieces.
const LONGEST: usize = 80;

/// Shows text, such as code or a diff.
pub(crate) async fn text(
    asker: &mut Asker,
    screen: &mut Screen,
    section: Section,
    text: &Untrusted,
) -> io::Result<Result<Viewed, Left>> {
    pages(asker, screen, section, &pieces(text.raw())).await
}

/// Shows the rows of a list.
pub(crate) async fn rows(
    asker: &mut Asker,
    screen: &mut Screen,
    rows: &[String],
) -> io::Result<Result<Viewed, Left>> {
    // A name can hold a line break, and a row of a list is one line.
    let lines: String = rows.iter().map(|row| row.replace(BREAKS, "⏎") + "\n").collect();
    pages(asker, screen, Section::Output, &pieces(&lines)).await
}

/// Characters after which another row is drawn.
const BREAKS: [char; 2] = ['\n', '\r'];

/// A text in pieces, so that no page is longer than the window: a piece ends where a row ends, and
/// a long line has several.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut from, mut length) = (0, 0);
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        length += 1;
        let is_half = c == '\r' && rest.peek().is_some_and(|(_, next)| *next == '\n');
        if !is_half && (BREAKS.contains(&c) || length >= LONGEST) {
            let to = at + c.len_utf8();
            pieces.push(&text[from..to]);
            (from, length) = (to, 0);
        }
    }
    if from < text.len() {
        pieces.push(&text[from..]);
    }
    pieces
}

/// How many lines end in these pieces, or with them.
fn lines(pieces: &[&str]) -> usize {
    let ended = pieces.iter().filter(|piece| piece.ends_with(BREAKS)).count();
    ended + usize::from(pieces.last().is_some_and(|last| !last.ends_with(BREAKS)))
}

async fn pages(
    asker: &mut Asker,
    screen: &mut Screen,
    section: Section,
    pieces: &[&str],
) -> io::Result<Result<Viewed, Left>> {
    let (mut rest, mut pages) = (pieces, true);
    while !rest.is_empty() {
        let shown = if pages { screen.page(section, rest) } else { rest.len() };
        screen.quote(section, &Untrusted::new(rest[..shown].concat()))?;
        rest = &rest[shown..];
        if rest.is_empty() || !pages {
            continue;
        }
        let question = count(lines(rest), "line") + " more.";
        let choices = [
            choice('m', "more", Next::Page),
            choice('a', "all of it", Next::All),
            choice('b', "back", Next::Back),
        ];
        match asker.choose(screen, &question, &choices).await {
            Ok(Next::Page) => {}
            Ok(Next::All) => pages = false,
            Ok(Next::Back) => return Ok(Ok(Viewed::Part)),
            Err(left) => return Ok(Err(left)),
        }
    }
    Ok(Ok(Viewed::All))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_piece_ends_where_a_row_ends() {
        assert_eq!(pieces("a\nb\rc\r\nd"), ["a\n", "b\r", "c\r\n", "d"]);
        assert_eq!(pieces(""), Vec::<&str>::new());
        assert_eq!(lines(&pieces("a\nb\rc\r\nd")), 4);
        let long = "é".repeat(3 * LONGEST + 1) + "\n";
        assert_eq!(pieces(&long).len(), 4);
        assert_eq!((lines(&pieces(&long)), lines(&pieces(&long)[3..]), lines(&[])), (1, 1, 0));
    }

    proptest! {
        #[test]
        fn no_piece_is_long_and_none_is_lost(text in "[a-zé\r\n]{0,400}") {
            let all = pieces(&text);
            prop_assert_eq!(all.concat(), &*text);
            for piece in all {
                prop_assert!(piece.chars().count() <= LONGEST + 1);
                let inner = piece.trim_end_matches(BREAKS);
                prop_assert!(!inner.contains(BREAKS), "{:?}", piece);
            }
        }
    }
}
