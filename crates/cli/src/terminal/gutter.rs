//! Foreign text, with a mark before every line.
//!
//! # Threat
//! A model or a program that prints something which looks like our own question, so that the
//! person answers it.
//!
//! # Mechanism
//! Every line of foreign text, also one that is wrapped because it is too long, starts with a
//! mark. We wrap ourselves: the terminal would continue a long line on the first column.
//!
//! # Limits
//! Where output is not a terminal there is no mark, because another program reads it.

use interpreter_core::{Untrusted, untrusted::TerminalFilter};
use unicode_width::UnicodeWidthChar;

/// A stream of foreign text on its way to the terminal.
#[derive(Debug)]
pub(crate) struct Gutter {
    mark: &'static str,
    width: Option<usize>,
    column: usize,
    place: Place,
    filter: TerminalFilter,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    LineStart,
    InLine,
}

impl Gutter {
    /// A stream whose lines start with `mark` on a terminal of this width; without a width it is
    /// not a terminal, and there is no mark.
    pub(crate) fn new(mark: &'static str, width: Option<usize>) -> Self {
        Self {
            mark: if width.is_some() { mark } else { "" },
            // The last column stays free: some terminals wrap when it is filled.
            width: width.map(|width| width.saturating_sub(mark.chars().count() + 1).max(8)),
            column: 0,
            place: Place::LineStart,
            filter: TerminalFilter::default(),
        }
    }

    /// The printable form of the next piece.
    pub(crate) fn feed(&mut self, piece: &Untrusted) -> String {
        let safe = self.filter.feed(piece.raw());
        self.lay_out(&safe)
    }

    /// What ends the last line, if it has not ended.
    pub(crate) fn end(&mut self) -> String {
        let held = self.filter.finish();
        let mut out = self.lay_out(held);
        if self.place == Place::InLine {
            out.push('\n');
            self.place = Place::LineStart;
        }
        out
    }

    fn lay_out(&mut self, safe: &str) -> String {
        let mut out = String::with_capacity(safe.len() + 16);
        for c in safe.chars() {
            if c == '\n' {
                self.start_line(&mut out);
                out.push('\n');
                self.place = Place::LineStart;
                continue;
            }
            let blanks = 8 - self.column % 8;
            let wide = if c == '\t' { blanks } else { c.width().unwrap_or(0) };
            if self.place == Place::InLine
                && self.width.is_some_and(|width| self.column + wide > width)
            {
                out.push('\n');
                self.place = Place::LineStart;
            }
            self.start_line(&mut out);
            match (c, self.width) {
                // Its width depends on where the mark put it, so it is written as blanks.
                ('\t', Some(_)) => out.extend(std::iter::repeat_n(' ', wide)),
                (c, _) => out.push(c),
            }
            self.column += wide;
        }
        out
    }

    fn start_line(&mut self, out: &mut String) {
        if self.place == Place::LineStart {
            out.push_str(self.mark);
            self.column = 0;
            self.place = Place::InLine;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laid_out(width: usize, text: &str) -> String {
        let mut gutter = Gutter::new("| ", Some(width));
        let mut out = gutter.feed(&Untrusted::new(text));
        out.push_str(&gutter.end());
        out
    }

    #[test]
    fn every_line_has_the_mark() {
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
    fn elsewhere_there_is_no_mark_and_no_wrapping() {
        let mut gutter = Gutter::new("| ", None);
        let text = format!("{}\tx\n", "y".repeat(300));
        assert_eq!(gutter.feed(&Untrusted::new(&*text)), text);
    }
}
