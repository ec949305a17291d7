//! Rows in passing: they stand there only until anything else does.
//!
//! The last lines of a program's output, one row of ours below them, and below that the line that the
//! person is typing. Each is one row of the window at the moment it is drawn, so all of them can be
//! taken away again. Must not draw: the screen does.

use super::{
    foreign::Foreign,
    ours::{Ours, ours},
    own_rows::{own_mark, own_rows},
    rows::{CLEAR, room},
    section::Section,
    style::Style,
    width::Widths,
};
use interpreter_core::Untrusted;

/// Rows of the window that are left to what stands above and below.
const LEFT_FREE: usize = 3;

/// Rows that the next one replaces. Once they are drawn the cursor is on the last of them.
#[derive(Debug)]
pub(super) struct Passing {
    text: String,
    rows: usize,
}

impl Passing {
    /// Lays them out for a window of this size.
    pub(super) fn new(
        lines: &[&str],
        own: &Ours,
        draft: &str,
        (columns, rows): (usize, usize),
        widths: Widths,
        style: Style,
    ) -> Self {
        let lines = &lines[lines.len().saturating_sub(rows.saturating_sub(LEFT_FREE))..];
        let mut text = String::new();
        for line in lines {
            let mut foreign = Foreign::new(Section::Printed, widths, style);
            let laid_out = foreign.feed(line, columns) + &foreign.end(columns);
            // A row that was drawn again is the last one that counts.
            let row = laid_out.split_inclusive('\n').next().unwrap_or_default();
            text.push_str(row.rsplit(CLEAR).next().unwrap_or_default());
        }
        let own = own_rows(own, widths, columns);
        text.push_str(&style.dim(own.first().map_or("", String::as_str)));
        if !draft.is_empty() {
            text.push('\n');
            text.push_str(&typed(draft, widths, columns));
        }
        Self { text, rows: lines.len() + 1 + usize::from(!draft.is_empty()) }
    }

    /// The text that draws them.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The text that takes them away: up to the first of them, and everything below goes.
    pub(super) fn clearing(&self) -> String {
        match self.rows {
            0 | 1 => CLEAR.to_owned(),
            rows => format!("\r\u{1b}[{}A\u{1b}[J", rows - 1),
        }
    }
}

/// The row of a line that is being typed: as much of its end as fits.
fn typed(draft: &str, widths: Widths, columns: usize) -> String {
    let mark = own_mark(&ours("> "));
    let plain = Untrusted::new(draft).for_terminal().replace('\n', "⏎");
    let mut left = room(&mark, widths, columns);
    let fits = |c: &char| {
        let taken = widths.most(*c);
        let fits = taken <= left;
        left = left.saturating_sub(taken);
        fits
    };
    let mut end: Vec<char> = plain.chars().rev().take_while(fits).collect();
    end.reverse();
    format!("{mark}{}", String::from_iter(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_store::Environment;

    fn drawn(lines: &[&str], draft: &str, window: (usize, usize)) -> Passing {
        let widths = Widths::of(&Environment::default());
        Passing::new(lines, &ours("running · 3 s"), draft, window, widths, Style::PLAIN)
    }

    #[test]
    fn each_is_one_row_and_the_newest_lines_are_kept() {
        let lines = ["one", "two, which is much wider than the window", "three"];
        let passing = drawn(&lines, "a line that is\nbeing typed", (16, 5));
        let rows: Vec<_> = passing.text().split('\n').collect();
        // Signs that some terminals draw two columns wide count as such.
        let shown = ["  ┆ two, which ", "  ┆ three", "❚ running · 3", "❚ > eing typed"];
        assert_eq!(
            rows.iter().map(|row| row.trim_end()).collect::<Vec<_>>(),
            shown.map(str::trim_end)
        );
        assert_eq!(passing.clearing(), "\r\u{1b}[3A\u{1b}[J");
        assert!(rows.iter().all(|row| row.chars().count() <= 16), "{rows:?}");
    }

    #[test]
    fn one_row_is_taken_away_without_touching_another() {
        let passing = drawn(&[], "", (80, 24));
        assert_eq!((passing.text(), passing.clearing().as_str()), ("❚ running · 3 s", CLEAR));
        // In a window with no room for them, the lines of the program are left out.
        assert_eq!(drawn(&["one"], "", (80, 3)).text(), "❚ running · 3 s");
    }
}
