//! Lines that Python does not have and notebooks do: `!command`, `%magic`, `%%magic`.
//!
//! The kernel's driver puts them into words of Python when a cell is not Python as it stands
//! (`crates/host/drivers/notebook.py`); here they are found by the same rules, letter for letter,
//! and put into words that tell what they do. Every line keeps its number.
//!
//! # Threat
//! A line that the driver runs and the analysis takes for something else: a part of a string, of
//! an expression, of a longer line.
//!
//! # Mechanism
//! The scanner is the driver's, not Python's own: what is a string to it is one here, though a
//! newer Python would read it differently. Whatever is not understood stays in the text, where no
//! parser accepts it, and so makes the cell unreadable.
//!
//! # Limits
//! The value of a Python variable in a command is unknown, like any computed part of a text.

use super::depth;
use crate::literal::Literal;
use ruff_python_parser::parse_expression;

/// A cell with such lines.
pub(super) struct Notebook {
    /// The cell in words of Python.
    pub(super) python: String,
    pub(super) scripts: Vec<Script>,
    /// Whether it has more commands than anybody writes, so that not all of it was read.
    pub(super) cut: bool,
    /// Whether it begins a cell of another language: no Python reads any of it.
    pub(super) foreign: bool,
}

/// A script for a shell.
pub(super) struct Script {
    pub(super) text: Literal,
    /// The line of the cell that it begins on, from 1.
    pub(super) line: usize,
}

/// Most commands of a cell that are read.
const MOST: usize = 2_000;

/// The name of a call of the notebook's tools. No rule uses it.
const TOOL: &str = "__notebook__";

/// Reads a cell. Nothing if it has no such line.
pub(super) fn read(text: &str) -> Option<Notebook> {
    let mut reader = Reader { text, scripts: Vec::new(), lines: 0 };
    let cell = cell(text);
    let foreign = cell.is_some();
    let python = match cell {
        Some(cell) => reader.cell(&cell),
        None => reader.translate(text, 1),
    };
    let Reader { mut scripts, lines, .. } = reader;
    let cut = scripts.len() > MOST;
    scripts.truncate(MOST);
    (lines > 0).then_some(Notebook { python, scripts, cut, foreign })
}

/// A cell that begins with `%%`.
struct Cell<'a> {
    blank: &'a str,
    magic: &'a str,
    rest: &'a str,
    /// The rest of the cell, from the end of its first line.
    body: &'a str,
}

fn cell(text: &str) -> Option<Cell<'_>> {
    let after = text.trim_start();
    let blank = &text[..text.len() - after.len()];
    let after = after.strip_prefix("%%")?;
    let (magic, after) = split_word(after);
    let after = after.trim_start_matches([' ', '\t']);
    let end = after.find('\n').unwrap_or(after.len());
    (!magic.is_empty()).then_some(Cell { blank, magic, rest: &after[..end], body: &after[end..] })
}

/// A word and what follows it.
fn split_word(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c| !is_word(c)).unwrap_or(text.len()))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn count_lines(text: &str) -> usize {
    text.matches('\n').count()
}

struct Reader<'a> {
    text: &'a str,
    scripts: Vec<Script>,
    /// How many lines are not Python's own.
    lines: usize,
}

impl Reader<'_> {
    fn cell(&mut self, cell: &Cell<'_>) -> String {
        self.lines += 1;
        let Cell { blank, magic, rest, body } = *cell;
        let first = count_lines(blank) + 1;
        let words = match magic {
            "time" => self.translate(&format!("{rest}{body}"), first),
            "bash" | "sh" => {
                let script = Literal::known(body.strip_prefix('\n').unwrap_or(body));
                self.scripts.push(Script { text: script, line: first + 1 });
                String::new()
            }
            "writefile" => written(rest),
            "html" | "markdown" | "latex" | "svg" | "javascript" => String::new(),
            _ => return self.text.to_owned(),
        };
        format!("{blank}{words}")
    }

    /// The text with every line of a notebook in words of Python.
    fn translate(&mut self, text: &str, first: usize) -> String {
        let (mut words, mut at, mut depth, mut start) = (String::new(), 0, 0_usize, true);
        let mut number = first;
        while at < text.len() {
            if let Some(line) = start.then(|| Line::find(&text[at..])).flatten() {
                words.push_str(&self.line(&line, number));
                at += line.whole.len();
                number += count_lines(line.whole);
                start = false;
                continue;
            }
            let token = token(&text[at..]);
            number += count_lines(token);
            match token {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            start = token == "\n" && depth == 0;
            words.push_str(token);
            at += token.len();
        }
        words
    }

    fn line(&mut self, line: &Line<'_>, number: usize) -> String {
        self.lines += 1;
        let before = line.before;
        let words = match line.what {
            What::Command(command) => self.command(command, number),
            What::Magic("pip", rest) => self.command(&format!("pip {rest}"), number),
            What::Magic("time" | "timeit", rest) => timed(rest),
            What::Magic("matplotlib", _) => "pass".into(),
            What::Magic("cd", rest) => values(rest).1,
            What::Magic("pwd", _) => TOOL.into(),
            What::Magic("env", rest) => self.environment(rest, number),
            // The driver knows no other, and runs nothing of a cell that has one.
            What::Magic(..) => return line.whole.to_owned(),
        };
        let missing = count_lines(line.whole) - count_lines(&words).min(count_lines(line.whole));
        format!("{before}{words}{}", "\n".repeat(missing))
    }

    fn command(&mut self, command: &str, line: usize) -> String {
        let (text, words) = values(command);
        self.scripts.push(Script { text, line });
        words
    }

    /// `%env NAME=VALUE`, `%env NAME VALUE` or `%env NAME`.
    fn environment(&mut self, rest: &str, line: usize) -> String {
        let name = rest.trim().split(['=', ' ']).next().unwrap_or_default();
        if name.len() < rest.trim().len() && name.chars().all(is_word) {
            self.scripts.push(Script { text: Literal::known(format!("export {name}=x")), line });
        }
        values(rest).1
    }
}

/// `%time` and `%timeit`: code that is run.
fn timed(rest: &str) -> String {
    let whole = format!("({rest})");
    if is_expression(&whole) {
        format!("{TOOL}({whole})")
    } else {
        format!("with {TOOL}(): {rest}")
    }
}

/// `%%writefile`: a file that is written. A path that is quoted or computed is not known.
fn written(rest: &str) -> String {
    let (text, words) = values(rest);
    let path = text.whole().map(|text| text.trim().trim_start_matches("-a ").trim());
    let is_plain =
        |path: &&str| path.chars().all(|c| c.is_ascii_alphanumeric() || "._/~+-".contains(c));
    match path.filter(is_plain) {
        Some(path) => format!("open('{path}', 'w')"),
        None => format!("open({words}, 'w')"),
    }
}

/// The driver puts values of Python's variables in the place of `$name` and `{expression}` if it
/// has such variables: the text with holes there, and a call with those expressions.
fn values(text: &str) -> (Literal, String) {
    let (mut literal, mut calls, mut known) = (Literal::default(), Vec::new(), 0);
    let mut at = 0;
    while let Some(found) = text[at..].find(['$', '{']) {
        let start = at + found;
        let end = start + value(&text[start..]).unwrap_or(0);
        if end == start || text[..start].ends_with('$') {
            at = start + 1;
            continue;
        }
        if text[start..].starts_with('{') {
            calls.push(format!("({})", text[start + 1..end - 1].trim()));
        }
        let before = Literal::known(&text[known..start]);
        literal = literal.then(before).then(Literal::computed());
        (at, known) = (end, end);
    }
    let literal = literal.then(Literal::known(&text[known..]));
    (literal, format!("{TOOL}({})", calls.join(", ")))
}

/// How long a value at the beginning of a text is.
fn value(text: &str) -> Option<usize> {
    if let Some(name) = text.strip_prefix('$') {
        let (word, _) = split_word(name);
        let is_name = word.chars().next().is_some_and(|c| !c.is_numeric());
        return is_name.then_some(1 + word.len());
    }
    let inside = text.strip_prefix('{')?;
    let end = inside.find(['{', '}', '\n']).filter(|&end| inside[end..].starts_with('}'))?;
    is_expression(inside[..end].trim()).then_some(end + 2)
}

fn is_expression(text: &str) -> bool {
    depth::check(text).is_ok() && parse_expression(text).is_ok()
}

/// A line of a notebook.
struct Line<'a> {
    whole: &'a str,
    /// Blanks, and the name that the value is given to.
    before: &'a str,
    what: What<'a>,
}

#[derive(Clone, Copy)]
enum What<'a> {
    Command(&'a str),
    Magic(&'a str, &'a str),
}

impl<'a> Line<'a> {
    /// The line at the beginning of a text, if it is a notebook's.
    fn find(text: &'a str) -> Option<Self> {
        let blank = text.len() - text.trim_start_matches([' ', '\t']).len();
        [assigned(text, blank), Some(blank)].into_iter().flatten().find_map(|before| {
            let after = &text[before..];
            let sign = after.chars().next().filter(|sign| "!%".contains(*sign))?;
            let end = line_end(after);
            let (whole, before) = (&text[..before + end], &text[..before]);
            let what = match sign {
                '!' if !after[1..].starts_with(['=', '\n']) && end > 1 => {
                    What::Command(&after[1..end])
                }
                '!' => return None,
                _ => {
                    let (magic, rest) = split_word(&after[1..end]);
                    let rest = rest.trim_start_matches([' ', '\t']);
                    (!magic.is_empty()).then_some(What::Magic(magic, rest))?
                }
            };
            Some(Line { whole, before, what })
        })
    }
}

/// Where the value of an assignment begins.
fn assigned(text: &str, blank: usize) -> Option<usize> {
    let is_first = |c: char| is_word(c) && !c.is_numeric();
    let target = &text[blank..];
    target.chars().next().filter(|&c| is_first(c))?;
    let end = target.find(|c: char| !(is_word(c) || ".,[]\"' \t".contains(c)))?;
    let value = target[end..].strip_prefix('=')?;
    Some(text.len() - value.trim_start_matches([' ', '\t']).len())
}

/// Where a line ends. A backslash before its end makes it go on, but the sign of a command is
/// followed by a character of its own.
fn line_end(text: &str) -> usize {
    let mut from = text.chars().take(2).map(char::len_utf8).sum::<usize>();
    if !text.starts_with('!') {
        from = 1;
    }
    loop {
        let Some(found) = text[from..].find('\n') else { return text.len() };
        let end = from + found;
        if found == 0 || !text[..end].ends_with('\\') {
            return end;
        }
        from = end + 1;
    }
}

/// The token at the beginning of a text, to find where statements start.
fn token(text: &str) -> &str {
    let first = text.chars().next().unwrap_or_default();
    let length = match first {
        '"' | '\'' => triple(text, first).unwrap_or_else(|| single(text, first)),
        '#' => text.find('\n').unwrap_or(text.len()),
        '\\' => text.chars().take(2).map(char::len_utf8).sum(),
        '(' | ')' | '[' | ']' | '{' | '}' | '\n' => 1,
        _ => text
            .find(['"', '\'', '#', '\\', '(', ')', '[', ']', '{', '}', '\n'])
            .unwrap_or(text.len()),
    };
    &text[..length]
}

/// How long a string in triple quotes is, even if it does not end.
fn triple(text: &str, quote: char) -> Option<usize> {
    let quotes: String = [quote; 3].iter().collect();
    text.strip_prefix(quotes.as_str())?;
    let mut at = 3;
    while let Some(found) = text[at..].find([quote, '\\']) {
        at += found;
        if text[at..].starts_with('\\') {
            at += 1 + text[at + 1..].chars().next()?.len_utf8();
        } else if text[at..].starts_with(&quotes) {
            return Some(at + 3);
        } else {
            at += 1;
        }
    }
    Some(text.len())
}

/// How long a string in single quotes is. It ends with its line at the latest.
fn single(text: &str, quote: char) -> usize {
    let mut at = 1;
    loop {
        let Some(found) = text[at..].find([quote, '\\', '\n']) else { return text.len() };
        at += found;
        if text[at..].starts_with(quote) {
            return at + 1;
        }
        if text[at..].starts_with('\n') {
            return at;
        }
        let Some(escaped) = text[at + 1..].chars().next() else { return at };
        at += 1 + escaped.len_utf8();
    }
}

#[cfg(test)]
mod tests;
