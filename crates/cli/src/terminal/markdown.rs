//! A model's Markdown, drawn as it comes.
//!
//! Text is written once and never again: nothing flickers, and what has scrolled away stays. So a
//! line is drawn as soon as its kind is certain, and a span (bold, code, a link) as soon as it is
//! closed; until then a few hundred characters at most are held back. A table is laid out when it is
//! complete, or has become long. Fences are not seen here: code comes as code.
//!
//! Markup that is drawn disappears; everything else stays as it was written. Where there is no
//! colour, nothing could tell a bold word from others, and the markup stays.
//!
//! Differences from `CommonMark`, for the sake of people who talk about code: underscores are never
//! markup (`__init__`), neither are stars inside a word (`2*3*4`), and line ends are kept.

use self::{inline::Next, table::Table};
use super::rows::Rows;
use interpreter_core::untrusted::Ink;

mod inline;
mod table;

/// Columns of indentation, or of a rule, after which a line is words.
const DEEPEST: usize = 80;

/// Markdown that is under way.
#[derive(Debug)]
pub(super) struct Markdown {
    /// The part of the line that is not decided yet.
    held: String,
    line: Line,
    /// The character before it.
    before: char,
    table: Table,
}

/// Where in the text we are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// Where a line starts.
    Start,
    /// In a line of words, in this ink.
    Words(Ink),
    /// In a row of a table.
    Row,
}

/// The kind of a line, by its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// More of it has to come.
    Open,
    /// A heading and its level.
    Heading(usize),
    /// An item of a list and the length of its mark.
    Item(usize),
    Quote,
    Rule,
    Row,
    Words,
}

impl Default for Markdown {
    fn default() -> Self {
        Self { held: String::new(), line: Line::Start, before: ' ', table: Table::default() }
    }
}

impl Markdown {
    /// Takes the next character, which is safe.
    pub(super) fn take(&mut self, c: char, rows: &mut Rows) {
        if c == '\n' {
            if self.end_line(rows) {
                rows.put('\n', Ink::PLAIN);
            }
            rows.set_hang(Vec::new());
            return;
        }
        self.held.push(c);
        match self.line {
            Line::Start => self.begin_line(false, rows),
            Line::Words(ink) => self.write(ink, false, rows),
            // Nobody writes such a row.
            Line::Row if self.held.len() > table::LONGEST_ROW => {
                self.table.draw(rows);
                self.line = Line::Words(Ink::PLAIN);
                self.write(Ink::PLAIN, false, rows);
            }
            Line::Row => {}
        }
    }

    /// Draws everything that was held back.
    pub(super) fn end(&mut self, rows: &mut Rows) {
        if !self.held.is_empty() {
            self.end_line(rows);
        }
        self.table.draw(rows);
    }

    /// Draws the line that ends, unless it is the row of a table, which draws it later.
    fn end_line(&mut self, rows: &mut Rows) -> bool {
        if self.line == Line::Start {
            self.begin_line(true, rows);
        }
        let line = std::mem::replace(&mut self.line, Line::Start);
        if line == Line::Row {
            self.table.push(std::mem::take(&mut self.held), rows);
            return false;
        }
        if let Line::Words(ink) = line {
            self.write(ink, true, rows);
        }
        true
    }

    fn begin_line(&mut self, ended: bool, rows: &mut Rows) {
        let kind = kind(&self.held, ended);
        match kind {
            Kind::Open => return,
            Kind::Row => {
                self.line = Line::Row;
                return;
            }
            Kind::Heading(_) | Kind::Item(_) | Kind::Quote | Kind::Rule | Kind::Words => {
                self.table.draw(rows);
            }
        }
        self.before = ' ';
        let indent = self.held.len() - self.held.trim_start_matches(' ').len();
        let text = self.held.split_off(indent);
        let blanks = |count: usize| vec![(' ', Ink::PLAIN); count];
        let mut ink = Ink::PLAIN;
        let paints = rows.has_colour();
        let mut rest = 0;
        if kind != Kind::Rule {
            (0..indent).for_each(|_| rows.put(' ', Ink::PLAIN));
        }
        let mut hang = blanks(indent);
        match kind {
            Kind::Heading(marks) if paints => {
                ink = Ink::BOLD;
                if marks == 1 {
                    ink = ink.with(Ink::UNDERLINED);
                }
                rest = marks + text[marks..].len() - text[marks..].trim_start().len();
            }
            Kind::Item(length) => {
                let bullet = paints && length == 1;
                let mark = if bullet { "•" } else { &text[..length] };
                mark.chars().chain([' ']).for_each(|c| rows.put(c, Ink::PLAIN));
                hang.extend(blanks(length + 1));
                rest = length + 1;
            }
            Kind::Quote => {
                let mark = [('>', Ink::DIM), (' ', Ink::DIM)];
                for (c, ink) in mark {
                    rows.put(c, ink);
                }
                hang.extend(mark);
                rest = if text.starts_with("> ") { 2 } else { 1 };
            }
            Kind::Rule if paints => {
                "───".chars().for_each(|c| rows.put(c, Ink::DIM));
                rest = text.len();
            }
            Kind::Heading(_) | Kind::Rule | Kind::Words | Kind::Open | Kind::Row => {}
        }
        rows.set_hang(hang);
        text[rest..].clone_into(&mut self.held);
        self.line = Line::Words(ink);
        self.write(ink, false, rows);
    }

    /// Writes what is certain of the line.
    fn write(&mut self, ink: Ink, ended: bool, rows: &mut Rows) {
        if !rows.has_colour() {
            std::mem::take(&mut self.held).chars().for_each(|c| rows.put(c, ink));
            return;
        }
        let held = std::mem::take(&mut self.held);
        let mut rest = held.as_str();
        while !rest.is_empty() {
            let next = inline::next(rest, self.before, ended);
            if next == Next::Wait {
                break;
            }
            let length = inline::draw_one(&next, rest, ink, &mut |c, ink| rows.put(c, ink));
            self.before = rest[..length].chars().next_back().unwrap_or(' ');
            rest = &rest[length..];
        }
        rest.clone_into(&mut self.held);
    }
}

/// The kind of a line that begins so. Once it is not open, nothing that follows changes it.
fn kind(line: &str, ended: bool) -> Kind {
    let text = line.trim_start_matches(' ');
    let open_or = |kind: Kind| if ended || line.len() > DEEPEST { kind } else { Kind::Open };
    let Some(first) = text.chars().next() else { return open_or(Kind::Words) };
    match first {
        '#' => {
            let marks = text.len() - text.trim_start_matches('#').len();
            match text[marks..].chars().next() {
                _ if marks > 6 => Kind::Words,
                None => open_or(Kind::Words),
                Some(' ') => Kind::Heading(marks),
                Some(_) => Kind::Words,
            }
        }
        '>' if text.len() == 1 => open_or(Kind::Quote),
        '>' => Kind::Quote,
        '|' => Kind::Row,
        '-' | '*' | '+' | '_' => {
            let marks = text.chars().filter(|c| *c == first).count();
            if text.chars().all(|c| c == first || c == ' ') {
                return open_or(if marks >= 3 && first != '+' { Kind::Rule } else { Kind::Words });
            }
            if first != '_' && text[1..].starts_with(' ') { Kind::Item(1) } else { Kind::Words }
        }
        '0'..='9' => {
            let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let mut after = text[digits..].chars();
            match (after.next(), after.next()) {
                _ if digits > 9 => Kind::Words,
                (None, _) | (Some('.' | ')'), None) => open_or(Kind::Words),
                (Some('.' | ')'), Some(' ')) => Kind::Item(digits + 1),
                (Some(_), _) => Kind::Words,
            }
        }
        _ => Kind::Words,
    }
}

#[cfg(test)]
mod tests;
