//! Colours of code and diffs, as they come.
//!
//! A small lexer instead of a grammar engine: code arrives a few characters at a time and is written
//! once, so a character's colour must be known when it comes. At most one word, or the mark of a
//! comment or string, is held back. Nothing is loaded at start, and the work is the same for every
//! character. Must not change, drop or add a character: a person approves exactly what runs.

use self::languages::{LANGUAGES, Language};
use super::rows::Rows;
use interpreter_core::untrusted::{Hue, Ink};

mod languages;

const KEYWORD: Ink = Ink::of(Hue::Magenta);
const STRING: Ink = Ink::of(Hue::Green);
const NUMBER: Ink = Ink::of(Hue::Cyan);
const NAME: Ink = Ink::of(Hue::Yellow);
const COMMENT: Ink = Ink::DIM;

/// Bytes of code after which the rest has no colours.
const MOST: usize = 256 << 10;

/// Bytes of a word that can be a keyword.
const LONGEST_WORD: usize = 24;

/// The language that code is coloured as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Syntax(Option<usize>);

impl Syntax {
    /// The one that goes by this name, or that of plain text.
    pub(crate) fn of(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        // Kernels are named by their origin too.
        let name = name.strip_prefix("jupyter:").unwrap_or(&name);
        let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        Self(LANGUAGES.iter().position(|one| one.names.contains(&name)))
    }

    fn language(self) -> Option<&'static Language> {
        LANGUAGES.get(self.0?)
    }
}

/// Code that is under way.
#[derive(Debug)]
pub(super) struct Lexer {
    reading: Reading,
    within: Within,
    /// The word or mark that has begun.
    held: String,
    /// Bytes that have come.
    length: usize,
}

#[derive(Clone, Copy, Debug)]
enum Reading {
    Code(&'static Language),
    Diff,
    /// Without colours.
    Plain,
}

/// Where in the code we are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    /// Where a line starts.
    Start,
    Code,
    /// In a comment up to the end of the line.
    Line,
    /// In something that ends with this mark.
    Until {
        end: &'static str,
        ink: Ink,
        escapes: bool,
        one_line: bool,
    },
    /// Behind a backslash in it.
    Escaped {
        end: &'static str,
        ink: Ink,
        one_line: bool,
    },
    /// In a line of a diff.
    Changed(Ink),
}

impl Lexer {
    pub(super) fn new(syntax: Syntax) -> Self {
        Self::reading(syntax.language().map_or(Reading::Plain, Reading::Code))
    }

    /// One for diffs.
    pub(super) fn diff() -> Self {
        Self::reading(Reading::Diff)
    }

    fn reading(reading: Reading) -> Self {
        Self { reading, within: Within::Start, held: String::new(), length: 0 }
    }

    /// Takes the next character, which is safe.
    pub(super) fn take(&mut self, c: char, rows: &mut Rows) {
        self.length += c.len_utf8();
        if self.length > MOST && !matches!(self.reading, Reading::Plain) {
            self.end(rows);
            self.reading = Reading::Plain;
        }
        match self.reading {
            Reading::Plain => rows.put(c, Ink::PLAIN),
            Reading::Diff => self.take_diff(c, rows),
            Reading::Code(language) => {
                self.held.push(c);
                self.advance(language, false, rows);
            }
        }
    }

    /// Writes what was held back.
    pub(super) fn end(&mut self, rows: &mut Rows) {
        match self.reading {
            Reading::Code(language) => self.advance(language, true, rows),
            Reading::Diff => {
                let ink = line_of_diff(&self.held);
                self.give(self.held.len(), ink, rows);
            }
            Reading::Plain => {}
        }
    }

    fn take_diff(&mut self, c: char, rows: &mut Rows) {
        if let Within::Changed(ink) = self.within {
            rows.put(c, ink);
            if c == '\n' {
                self.within = Within::Start;
            }
            return;
        }
        self.held.push(c);
        let is_mark = matches!(c, '+' | '-' | '@') && self.held.len() < 4;
        if !is_mark {
            let ink = line_of_diff(&self.held);
            self.give(self.held.len(), ink, rows);
            self.within = if c == '\n' { Within::Start } else { Within::Changed(ink) };
        }
    }

    /// Writes the first `length` bytes of what is held.
    fn give(&mut self, length: usize, ink: Ink, rows: &mut Rows) {
        for c in self.held.drain(..length) {
            rows.put(c, if c == '\n' { Ink::PLAIN } else { ink });
        }
    }

    /// Writes as much of what is held as is certain.
    fn advance(&mut self, language: &'static Language, ended: bool, rows: &mut Rows) {
        while let Some(first) = self.held.chars().next() {
            let (length, ink) = match self.within {
                Within::Start | Within::Code => match self.token(language, first, ended) {
                    Some(token) => token,
                    None => return,
                },
                Within::Line => (first.len_utf8(), COMMENT),
                Within::Escaped { end, ink, one_line } => {
                    self.within = Within::Until { end, ink, escapes: true, one_line };
                    (first.len_utf8(), ink)
                }
                Within::Until { end, ink, escapes, one_line } => {
                    if self.held.starts_with(end) {
                        self.within = Within::Code;
                        (end.len(), ink)
                    } else if !ended && end.starts_with(self.held.as_str()) {
                        return;
                    } else if escapes && first == '\\' {
                        self.within = Within::Escaped { end, ink, one_line };
                        (1, ink)
                    } else {
                        if one_line && first == '\n' {
                            self.within = Within::Code;
                        }
                        (first.len_utf8(), ink)
                    }
                }
                Within::Changed(ink) => (first.len_utf8(), ink),
            };
            self.give(length, ink, rows);
            if first == '\n' && matches!(self.within, Within::Start | Within::Code | Within::Line) {
                self.within = Within::Start;
            }
        }
    }

    /// The token that what is held begins with, if it is certain.
    fn token(
        &mut self,
        language: &'static Language,
        first: char,
        ended: bool,
    ) -> Option<(usize, Ink)> {
        let held = self.held.as_str();
        if is_word(first) || language.sigils.contains(first) {
            let sigil = if is_word(first) { 0 } else { first.len_utf8() };
            let goes_on = |c: char| is_word(c) || c == '.' && first.is_ascii_digit();
            let length = held[sigil..].find(|c| !goes_on(c)).map_or(held.len(), |at| at + sigil);
            if length == held.len() && !ended && length <= LONGEST_WORD {
                return None;
            }
            self.within = Within::Code;
            return Some((length, language.ink(&self.held[..length])));
        }
        let mut marks = language.line.iter().map(|mark| (*mark, None));
        let mut blocks = language.blocks.iter().map(|(begin, block)| (*begin, Some(block)));
        let could_be = |(mark, _): &(&str, _)| mark.len() > held.len() && mark.starts_with(held);
        if !ended
            && (marks.clone().any(|one| could_be(&one)) || blocks.clone().any(|one| could_be(&one)))
        {
            return None;
        }
        // The longest mark counts: three quotes are not one.
        let found =
            marks.by_ref().chain(blocks.by_ref()).filter(|(mark, _)| held.starts_with(mark));
        let found = found.max_by_key(|(mark, _)| mark.len());
        let begins_word = self.within == Within::Code && language.spaced_comments;
        Some(match found {
            Some((mark, None)) if !(begins_word && mark == "#") => {
                self.within = Within::Line;
                (mark.len(), COMMENT)
            }
            Some((mark, Some(block))) => {
                let ink = if block.is_comment { COMMENT } else { STRING };
                let (end, escapes, one_line) = (block.end, block.escapes, block.one_line);
                self.within = Within::Until { end, ink, escapes, one_line };
                (mark.len(), ink)
            }
            Some(_) | None => {
                // A `#` behind a blank begins a comment in a shell.
                self.within = if first.is_whitespace() { Within::Start } else { Within::Code };
                (first.len_utf8(), Ink::PLAIN)
            }
        })
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The ink of a line of a diff that begins so.
fn line_of_diff(begin: &str) -> Ink {
    match begin.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => Ink::BOLD,
        [b'+', ..] => Ink::of(Hue::Green),
        [b'-', ..] => Ink::of(Hue::Red),
        [b'@', ..] => Ink::of(Hue::Cyan),
        _ => Ink::PLAIN,
    }
}

impl Language {
    fn ink(&self, word: &str) -> Ink {
        let first = word.chars().next().unwrap_or(' ');
        if first.is_ascii_digit() {
            NUMBER
        } else if !is_word(first) && word.len() > 1 {
            NAME
        } else if self.keywords.contains(&word)
            || self.any_case && self.keywords.contains(&word.to_ascii_lowercase().as_str())
        {
            KEYWORD
        } else if self.constants.contains(&word) {
            NUMBER
        } else {
            Ink::PLAIN
        }
    }
}

#[cfg(test)]
mod tests;
