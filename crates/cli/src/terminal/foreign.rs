//! Foreign text, with a mark before every row.
//!
//! # Threat
//! A model or a program that prints something which looks like a question of ours, so that the
//! person answers it.
//!
//! # Mechanism
//! Every row of foreign text starts with a mark of its kind; also a row that is wrapped because
//! the text is too long. We wrap ourselves, at the width that the window has at this moment: the
//! terminal would continue a long line on the first column. Columns are counted by the most that
//! any terminal gives a character ([`width`]). Marks that are drawn over other characters are
//! spelled out beyond a few, because piles of them reach into the rows above.
//!
//! # Limits
//! Terminals lay rows out anew when the window becomes narrower, and then a row continues
//! without its mark. It still cannot be taken for ours: see `core::untrusted::MARK`.

use super::width::{self, Widths};
use interpreter_core::untrusted::TerminalFilter;

/// How many marks may be drawn over one character.
const PILE: u8 = 4;

/// A stream of foreign text on its way to a terminal.
#[derive(Debug)]
pub(crate) struct Foreign {
    mark: &'static str,
    widths: Widths,
    /// Columns of the row that are taken, the mark not counted.
    column: usize,
    in_row: bool,
    /// How many marks were drawn over the last character.
    pile: u8,
    filter: TerminalFilter,
}

impl Foreign {
    /// A stream whose rows start with `mark`.
    pub(crate) fn new(mark: &'static str, widths: Widths) -> Self {
        Self { mark, widths, column: 0, in_row: false, pile: 0, filter: TerminalFilter::default() }
    }

    /// The printable form of the next piece, for a window of `columns`.
    pub(crate) fn feed(&mut self, piece: &str, columns: usize) -> String {
        let safe = self.filter.feed(piece);
        self.lay_out(&safe, columns)
    }

    /// Ends the last row, if it has not ended.
    pub(crate) fn end(&mut self) -> String {
        let held = self.filter.finish();
        let mut out = self.lay_out(held, usize::MAX);
        if self.in_row {
            out.push('\n');
            self.in_row = false;
        }
        out
    }

    fn lay_out(&mut self, safe: &str, columns: usize) -> String {
        let room = room(self.mark, self.widths, columns);
        let mut out = String::with_capacity(safe.len() + 16);
        for c in safe.chars() {
            match c {
                '\n' => {
                    self.start_row(&mut out);
                    out.push('\n');
                    self.in_row = false;
                }
                '\t' => {
                    // Its width depends on where the mark put it, so it is written as blanks.
                    let blanks = 8 - self.column % 8;
                    if !self.in_row || self.column + blanks <= room {
                        self.start_row(&mut out);
                        let blanks = blanks.min(room);
                        out.extend(std::iter::repeat_n(' ', blanks));
                        self.column += blanks;
                    } else {
                        self.break_row(&mut out);
                    }
                }
                c => self.put(c, room, &mut out),
            }
        }
        out
    }

    fn put(&mut self, c: char, room: usize, out: &mut String) {
        self.pile = if width::is_drawn_over(c) { self.pile.saturating_add(1) } else { 0 };
        if self.pile > PILE {
            let spelled: Vec<char> = c.escape_unicode().collect();
            for c in spelled {
                self.write(c, room, out);
            }
        } else {
            self.write(c, room, out);
        }
    }

    fn write(&mut self, c: char, room: usize, out: &mut String) {
        let wide = self.widths.most(c);
        if self.in_row && self.column + wide > room {
            self.break_row(out);
        }
        self.start_row(out);
        // In a window of a few columns a wide character would run over.
        let (c, wide) = if wide > room { ('?', 1) } else { (c, wide) };
        out.push(c);
        self.column += wide;
    }

    fn break_row(&mut self, out: &mut String) {
        out.push('\n');
        self.in_row = false;
    }

    fn start_row(&mut self, out: &mut String) {
        if !self.in_row {
            out.push_str(self.mark);
            self.column = 0;
            self.in_row = true;
        }
    }
}

/// The columns behind a mark. The last column of the window stays free: some terminals wrap when
/// it is filled.
pub(super) fn room(mark: &str, widths: Widths, columns: usize) -> usize {
    columns.saturating_sub(columns_of(mark, widths) + 1).max(1)
}

/// The most columns that a text takes.
pub(super) fn columns_of(text: &str, widths: Widths) -> usize {
    text.chars().map(|c| widths.most(c)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_core::untrusted::MARK;
    use interpreter_store::Environment;
    use proptest::prelude::*;

    const BAR: &str = "  │ ";

    fn widths() -> Widths {
        Widths::of(&Environment::from_pairs([("LANG", "ja_JP.UTF-8")]))
    }

    fn laid_out(columns: usize, text: &str) -> String {
        let mut foreign = Foreign::new("| ", widths());
        foreign.feed(text, columns) + &foreign.end()
    }

    #[test]
    fn every_row_has_the_mark() {
        assert_eq!(laid_out(40, "a\n\nb"), "| a\n| \n| b\n");
    }

    #[test]
    fn a_long_line_cannot_reach_the_first_column() {
        let out = laid_out(20, &format!("{}Run it? y", " ".repeat(19)));
        assert!(out.lines().all(|line| line.starts_with("| ")), "{out}");
        assert!(out.lines().all(|line| line.chars().count() < 20), "{out}");
    }

    #[test]
    fn wide_characters_count_twice() {
        let out = laid_out(20, "漢字漢字漢字漢字漢字漢字");
        assert_eq!(out, "| 漢字漢字漢字漢字\n| 漢字漢字\n");
    }

    #[test]
    fn a_pile_of_marks_is_spelled_out() {
        let out = laid_out(200, &format!("e{}", "\u{301}".repeat(6)));
        assert_eq!(out, format!("| e{}{}\n", "\u{301}".repeat(4), r"\u{301}\u{301}"));
    }

    #[test]
    fn a_row_that_was_begun_is_broken_where_the_window_ends_now() {
        let mut foreign = Foreign::new("| ", widths());
        let out = foreign.feed(&"x".repeat(50), 100) + &foreign.feed("yz", 20);
        assert_eq!(out, format!("| {}\n| yz", "x".repeat(50)));
    }

    /// A terminal that lays everything out anew at another width, as most do.
    fn reflowed(out: &str, columns: usize) -> Vec<String> {
        let mut rows = Vec::new();
        for line in out.split('\n') {
            let (mut row, mut taken) = (String::new(), 0);
            for c in line.chars() {
                let wide = unicode_width::UnicodeWidthChar::width(c).unwrap_or(0);
                if taken + wide > columns {
                    rows.push(std::mem::take(&mut row));
                    taken = 0;
                }
                row.push(c);
                taken += wide;
            }
            rows.push(row);
        }
        rows
    }

    fn tricky() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            any::<String>(),
            Just(MARK.to_string()),
            Just("❚ Run it?  y run".to_owned()),
            Just(" ".repeat(17)),
            Just("\u{302e}\u{3248}漢\u{bbe}".to_owned()),
            Just("\r\n\t\u{1b}[2K\u{202e}".to_owned()),
        ];
        prop::collection::vec(piece, 1..8).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn no_row_begins_as_ours_do_whatever_the_window_does(
            pieces in prop::collection::vec((tricky(), 1_usize..140), 1..6),
            after in prop::collection::vec(1_usize..140, 0..4),
        ) {
            let mut foreign = Foreign::new(BAR, widths());
            let mut out = String::new();
            for (text, columns) in &pieces {
                out.push_str(&foreign.feed(text, *columns));
            }
            out.push_str(&foreign.end());
            // Each row has the mark of foreign text when it is written,
            let rows = out.split_terminator('\n');
            prop_assert!(rows.into_iter().all(|row| row.starts_with(BAR)), "{out:?}");
            // and whatever becomes of it, none can begin with the mark of ours.
            for columns in after {
                for row in reflowed(&out, columns) {
                    prop_assert!(!row.contains(MARK), "{row:?}");
                }
            }
        }

        #[test]
        fn no_row_is_wider_than_the_window(text in tricky(), columns in 8_usize..140) {
            for row in laid_out(columns, &text).split_terminator('\n') {
                let wide: usize = row.chars().map(|c| widths().most(c)).sum();
                prop_assert!(wide < columns, "{row:?} {wide} {columns}");
            }
        }

        #[test]
        fn pieces_do_not_matter(text in tricky(), cut in any::<prop::sample::Index>()) {
            let at: Vec<_> =
                text.char_indices().map(|(i, _)| i).chain([text.len()]).collect();
            let cut = at[cut.index(at.len())];
            let mut foreign = Foreign::new(BAR, widths());
            let out = foreign.feed(&text[..cut], 30)
                + &foreign.feed(&text[cut..], 30)
                + &foreign.end();
            let mut whole = Foreign::new(BAR, widths());
            prop_assert_eq!(out, whole.feed(&text, 30) + &whole.end());
        }
    }
}
