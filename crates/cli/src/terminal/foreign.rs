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
//! any terminal gives a character ([`width`](super::width)). Marks that are drawn over other
//! characters are spelled out beyond a few, because piles of them reach into the rows above.
//!
//! Text is made safe first ([`TerminalFilter`]). Only then is it read as Markdown or as code, and
//! laid out ([`Rows`]): neither can add a character that is not safe.
//!
//! # Limits
//! Terminals lay rows out anew when the window becomes narrower, and then a row continues
//! without its mark. It still cannot be taken for ours: see `core::untrusted::MARK`.

use super::{
    markdown::Markdown, rows::Rows, section::Section, style::Style, syntax::Lexer, width::Widths,
};
use interpreter_core::untrusted::{Ink, Sign, TerminalFilter};

/// A stream of foreign text on its way to a terminal.
#[derive(Debug)]
pub(crate) struct Foreign {
    filter: TerminalFilter,
    reader: Reader,
    rows: Rows,
}

/// How safe text is read.
#[derive(Debug)]
enum Reader {
    /// As it is, in this ink.
    Plain(Ink),
    Markdown(Box<Markdown>),
    Code(Box<Lexer>),
}

impl Reader {
    fn take(&mut self, sign: Sign, rows: &mut Rows) {
        match (self, sign) {
            (Self::Plain(ink), Sign::Char(c)) => rows.put(c, *ink),
            (Self::Plain(ink), Sign::Ink(next)) => *ink = next,
            (Self::Plain(_), Sign::Return) => rows.carry_back(),
            (Self::Plain(_), Sign::Erase { all }) => rows.erase(all),
            (Self::Markdown(markdown), Sign::Char(c)) => markdown.take(c, rows),
            (Self::Code(lexer), Sign::Char(c)) => lexer.take(c, rows),
            // Their text is spelled out.
            (
                Self::Markdown(_) | Self::Code(_),
                Sign::Ink(_) | Sign::Return | Sign::Erase { .. },
            ) => {}
        }
    }
}

impl Foreign {
    /// A stream for a terminal.
    pub(crate) fn new(section: Section, widths: Widths, style: Style) -> Self {
        let reader = match section {
            Section::Prose => Reader::Markdown(Box::default()),
            Section::Code(syntax) => Reader::Code(Box::new(Lexer::new(syntax))),
            Section::Diff => Reader::Code(Box::new(Lexer::diff())),
            Section::Thoughts => Reader::Plain(Ink::DIM),
            Section::Printed | Section::Told | Section::Output => Reader::Plain(Ink::PLAIN),
        };
        let rows = Rows::new(section.mark(), widths, style, section.wrap());
        Self { filter: filter(section), reader, rows }
    }

    /// A stream for somebody who reads a file: nothing is wrapped, painted or read as Markdown.
    pub(crate) fn elsewhere(section: Section, indent: &'static str, widths: Widths) -> Self {
        let rows = Rows::new(indent, widths, Style::PLAIN, super::rows::Wrap::Anywhere);
        Self { filter: filter(section), reader: Reader::Plain(Ink::PLAIN), rows }
    }

    /// The printable form of the next piece, for a window of `columns`.
    pub(crate) fn feed(&mut self, piece: &str, columns: usize) -> String {
        let Self { filter, reader, rows } = self;
        rows.begin(columns);
        filter.feed(piece, &mut |sign| reader.take(sign, rows));
        rows.take()
    }

    /// The word that has begun, if the text seems to have stopped in its middle.
    pub(crate) fn settle(&mut self, columns: usize) -> String {
        self.rows.begin(columns);
        self.rows.settle();
        self.rows.take()
    }

    /// Ends the last row, if it has not ended.
    pub(crate) fn end(&mut self, columns: usize) -> String {
        let Self { filter, reader, rows } = self;
        rows.begin(columns);
        filter.finish(&mut |sign| reader.take(sign, rows));
        match reader {
            Reader::Plain(_) => {}
            Reader::Markdown(markdown) => markdown.end(rows),
            Reader::Code(lexer) => lexer.end(rows),
        }
        rows.end();
        rows.take()
    }

    /// Whether a row has begun that has not ended.
    pub(crate) fn in_row(&self) -> bool {
        self.rows.in_row()
    }
}

fn filter(section: Section) -> TerminalFilter {
    if section == Section::Printed { TerminalFilter::drawing() } else { TerminalFilter::default() }
}

#[cfg(test)]
mod tests;
