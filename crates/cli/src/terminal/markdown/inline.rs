//! The spans of a line: bold, italic, struck, code, links, and mathematics, which stays as it is.
//!
//! A line arrives in pieces. [`next`] decides on its beginning, or says that more has to come; what
//! it has decided holds whatever comes. A span is looked for over [`LONGEST`] bytes and no further,
//! so the work is linear in the text and little is held back.

use interpreter_core::untrusted::{Hue, Ink};

/// Bytes in which a span must end.
pub(super) const LONGEST: usize = 240;

/// Bytes in which the target of a link must end.
const LONGEST_TARGET: usize = 1_000;

/// The beginning of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next<'a> {
    /// More of the line has to come.
    Wait,
    /// So many bytes are what they are.
    Text(usize),
    /// A character whose backslash goes.
    Escaped(char),
    /// A span of `length` bytes, whose content has this ink.
    Span {
        length: usize,
        content: &'a str,
        ink: Ink,
    },
    Code {
        length: usize,
        content: &'a str,
    },
    Link {
        length: usize,
        text: &'a str,
        target: &'a str,
    },
}

/// Draws one part, and says how many bytes it has.
pub(super) fn draw_one(
    next: &Next<'_>,
    text: &str,
    ink: Ink,
    put: &mut dyn FnMut(char, Ink),
) -> usize {
    match next {
        Next::Wait => 0,
        Next::Text(length) => {
            text[..*length].chars().for_each(|c| put(c, ink));
            *length
        }
        Next::Escaped(c) => {
            put(*c, ink);
            1 + c.len_utf8()
        }
        Next::Span { length, content, ink: more } => {
            draw(content, ink.with(*more), put);
            *length
        }
        Next::Code { length, content } => {
            content.chars().for_each(|c| put(c, ink.with(Ink::of(Hue::Cyan))));
            *length
        }
        Next::Link { length, text, target } => {
            draw(text, ink.with(Ink::UNDERLINED), put);
            // The person sees where it leads, whatever it says.
            if !(text == target && target.contains("://")) {
                " (".chars().chain(target.chars()).chain([')']).for_each(|c| put(c, Ink::DIM));
            }
            *length
        }
    }
}

/// Draws a text as a whole.
pub(super) fn draw(text: &str, ink: Ink, put: &mut dyn FnMut(char, Ink)) {
    let (mut rest, mut before) = (text, ' ');
    while !rest.is_empty() {
        let length = draw_one(&next(rest, before, true), rest, ink, put).max(1);
        before = rest[..length].chars().next_back().unwrap_or(' ');
        rest = &rest[length..];
    }
}

/// Decides on the beginning of `text`, which is not empty. `before` is the character before it, and
/// `ended` says whether the line ends with it.
pub(super) fn next(text: &str, before: char, ended: bool) -> Next<'_> {
    let first = text.chars().next().unwrap_or(' ');
    let found = match first {
        '*' | '~' => delimited(text, first, before, ended),
        '`' => code(text, ended),
        '[' => link(text, ended),
        '!' => match text[1..].chars().next() {
            None if !ended => Next::Wait,
            Some('[') => match link(&text[1..], ended) {
                Next::Link { length, text, target } => {
                    Next::Link { length: length + 1, text, target }
                }
                Next::Wait => Next::Wait,
                Next::Text(_) | Next::Escaped(_) | Next::Span { .. } | Next::Code { .. } => {
                    Next::Text(1)
                }
            },
            None | Some(_) => Next::Text(1),
        },
        '$' => dollars(text, ended),
        '\\' => backslash(text, ended),
        c => Next::Text(c.len_utf8()),
    };
    // A span that does not end in time is text.
    if ended && found == Next::Wait { Next::Text(first.len_utf8()) } else { found }
}

/// How many times `c` begins a text.
fn run(text: &str, c: char) -> usize {
    text.len() - text.trim_start_matches(c).len()
}

/// The text up to where a span must end.
fn near(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}

/// Waits for more, unless nothing that comes can matter.
fn missing<'a>(text: &str, most: usize, ended: bool, otherwise: usize) -> Next<'a> {
    if ended || text.len() > most { Next::Text(otherwise) } else { Next::Wait }
}

fn delimited(text: &str, mark: char, before: char, ended: bool) -> Next<'_> {
    let marks = run(text, mark);
    let ink = match (mark, marks) {
        _ if marks == text.len() => {
            return if ended || marks > 3 { Next::Text(marks) } else { Next::Wait };
        }
        ('*', 1) => Ink::ITALIC,
        ('*', 2) => Ink::BOLD,
        ('*', 3) => Ink::BOLD.with(Ink::ITALIC),
        ('~', 2) => Ink::STRUCK,
        _ => return Next::Text(marks),
    };
    if text[marks..].starts_with(char::is_whitespace) || before.is_ascii_alphanumeric() {
        return Next::Text(marks);
    }
    // A lone star is more often a star.
    let most = if marks == 1 { LONGEST / 3 } else { LONGEST };
    let window = near(text, most);
    let mut at = marks;
    while let Some(found) = window.get(at..).and_then(|rest| rest.find([mark, '`', '\\'])) {
        let start = at + found;
        // Nothing in code or mathematics is a mark, nor behind a backslash.
        let inner = match text[start..].chars().next() {
            Some('`') => Some(code(&text[start..], ended)),
            Some('\\') => Some(backslash(&text[start..], ended)),
            _ => None,
        };
        if let Some(inner) = inner {
            at = start
                + match inner {
                    Next::Code { length, .. } | Next::Text(length) => length,
                    Next::Escaped(c) => 1 + c.len_utf8(),
                    Next::Wait | Next::Span { .. } | Next::Link { .. } => return Next::Wait,
                };
            continue;
        }
        let length = run(&window[start..], mark);
        let end = start + length;
        if end == text.len() && !ended {
            return Next::Wait;
        }
        let closes = length == marks
            && !text[..start].ends_with(char::is_whitespace)
            && !text[end..].starts_with(|c: char| c.is_ascii_alphanumeric());
        if closes {
            return Next::Span { length: end, content: &text[marks..start], ink };
        }
        at = end;
    }
    missing(text, most, ended, marks)
}

fn code(text: &str, ended: bool) -> Next<'_> {
    let marks = run(text, '`');
    if marks == text.len() {
        return if ended || marks > LONGEST { Next::Text(marks) } else { Next::Wait };
    }
    let window = near(text, LONGEST);
    let mut at = marks;
    while let Some(found) = window.get(at..).and_then(|rest| rest.find('`')) {
        let start = at + found;
        let end = start + run(&window[start..], '`');
        if end == text.len() && !ended {
            return Next::Wait;
        }
        if end - start == marks {
            let content = &text[marks..start];
            let inner = content.strip_prefix(' ').and_then(|inner| inner.strip_suffix(' '));
            let content = inner.filter(|inner| !inner.trim().is_empty()).unwrap_or(content);
            return Next::Code { length: end, content };
        }
        at = end;
    }
    missing(text, LONGEST, ended, marks)
}

/// Where the bracket that `text` begins with is closed.
fn closed(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}

fn link(text: &str, ended: bool) -> Next<'_> {
    let Some(end) = closed(near(text, LONGEST), '[', ']') else {
        return missing(text, LONGEST, ended, 1);
    };
    let words = &text[1..end];
    let rest = &text[end + 1..];
    match rest.chars().next() {
        None => missing(text, usize::MAX, ended, 1),
        Some('(') if !words.is_empty() => match closed(near(rest, LONGEST_TARGET), '(', ')') {
            Some(close) => {
                Next::Link { length: end + 2 + close, text: words, target: rest[1..close].trim() }
            }
            None => missing(rest, LONGEST_TARGET, ended, 1),
        },
        Some(_) => Next::Text(1),
    }
}

/// Mathematics between dollars stays as it is. An amount of money is none.
fn dollars(text: &str, ended: bool) -> Next<'_> {
    let marks = run(text, '$').min(2);
    let Some(after) = text[marks..].chars().next() else {
        return missing(text, 1, ended, marks);
    };
    if after.is_whitespace() || marks == 1 && after.is_ascii_digit() {
        return Next::Text(marks);
    }
    let window = near(text, LONGEST);
    match window.get(marks..).and_then(|rest| rest.find(&"$$"[..marks])) {
        Some(at) => Next::Text(2 * marks + at),
        None => missing(text, LONGEST, ended, marks),
    }
}

/// A backslash makes a mark a character, or begins mathematics.
fn backslash(text: &str, ended: bool) -> Next<'_> {
    let close = match text[1..].chars().next() {
        None => return missing(text, 1, ended, 1),
        Some('(') => "\\)",
        Some('[') => "\\]",
        Some(c) if c.is_ascii_punctuation() && !matches!(c, ')' | ']') => return Next::Escaped(c),
        Some(_) => return Next::Text(1),
    };
    let window = near(text, LONGEST);
    match window.get(2..).and_then(|rest| rest.find(close)) {
        Some(at) => Next::Text(4 + at),
        None => missing(text, LONGEST, ended, 2),
    }
}
