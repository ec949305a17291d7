//! Reads the start of a line of prose: which list items it stands in, and what it begins.
//!
//! A fence inside a list item is indented with the item, and whether four spaces make a line plain
//! code depends on the items around it. So the open items must be known, by the rules of
//! `CommonMark`. Block quotes are followed only to keep those items right. Their content is
//! somebody else's words: never a proposal, and taken for a paragraph. HTML and links are ignored.
//!
//! Work is linear in the text, however deep the lists and however long the lines.

/// The list items that are open, and whether a paragraph is.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// How many columns each item takes from the lines inside it, from the outside in.
    items: Vec<usize>,
    /// Whether the innermost item has nothing in it yet.
    childless: bool,
    paragraph: Paragraph,
}

/// A paragraph that the next line may continue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Paragraph {
    #[default]
    None,
    /// In the innermost item.
    Here,
    /// In a block quote.
    Quoted,
}

/// The rest of a line after the part that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Nothing: the part is the whole line.
    EndOfLine,
    /// A character that is not [`is_structural`].
    Char(char),
}

/// The construct that a line begins, after its list items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Blank,
    /// Something complete in itself that is not a paragraph: a heading, a rule.
    Complete,
    /// Four blanks or more: code by indentation, unless a paragraph goes on.
    Indented,
    /// A fence, if enough characters of its kind follow.
    Fence,
    /// Words.
    Text,
}

/// The parsed start of a line.
#[derive(Debug)]
pub(super) struct Reading {
    /// How many of the open items the line stands in.
    matched: usize,
    /// The items that begin on this line.
    opened: Vec<usize>,
    /// Whether the line has the mark of a block quote.
    quoted: bool,
    /// How many bytes belong to the items.
    used: usize,
    /// Columns of blanks between the items and the content; exact if fewer than four.
    pub(super) indent: usize,
    pub(super) content: Content,
}

impl Reading {
    /// How many bytes of the line are list markers, and the blanks around them.
    pub(super) fn markers(&self) -> usize {
        if self.opened.is_empty() { 0 } else { self.used }
    }
}

/// Whether a line that has only such characters so far may still be anything.
pub(super) fn is_structural(c: char) -> bool {
    matches!(c, ' ' | '\t' | '-' | '+' | '*' | '_' | '=' | '#' | '>' | '0'..='9' | '.' | ')')
}

impl Lines {
    /// How many columns the open items take from the lines inside them.
    pub(super) fn width(&self) -> usize {
        self.items.iter().sum()
    }

    /// Reads the start of a line: its structural characters, and what comes after them.
    pub(super) fn read(&self, start: &str, next: Next) -> Reading {
        let mut cursor = Cursor::new(start);
        let mut reading = Reading {
            matched: 0,
            opened: Vec::new(),
            quoted: false,
            used: 0,
            indent: 0,
            content: Content::Blank,
        };
        if next == Next::EndOfLine && cursor.is_blank() {
            reading.matched = self.items.len();
            return reading;
        }
        while let Some(&width) = self.items.get(reading.matched) {
            if !cursor.take_columns(width) {
                break;
            }
            reading.matched += 1;
        }
        let one_mark = one_mark_from(start);
        reading.content = loop {
            reading.used = cursor.at;
            reading.indent = cursor.indent();
            if next == Next::EndOfLine && cursor.is_blank() {
                break Content::Blank;
            }
            if reading.indent >= 4 {
                break Content::Indented;
            }
            cursor.skip_blanks();
            let rest = cursor.rest();
            // Whether the line would interrupt a paragraph, if it began something else.
            let interrupts = self.paragraph == Paragraph::Here
                && reading.matched == self.items.len()
                && reading.opened.is_empty()
                && !reading.quoted;
            if rest.is_empty() {
                break match next {
                    Next::Char('`' | '~') if !reading.quoted => Content::Fence,
                    Next::Char(_) | Next::EndOfLine => Content::Text,
                };
            }
            if rest.starts_with('>') {
                cursor.advance(1);
                cursor.take_columns(1);
                reading.quoted = true;
                continue;
            }
            let whole = next == Next::EndOfLine;
            if is_heading(rest, next)
                || (whole && interrupts && is_underline(rest))
                || (whole && cursor.at >= one_mark && is_rule(rest))
            {
                break Content::Complete;
            }
            let Some(width) = cursor.take_marker(next, interrupts) else { break Content::Text };
            if !reading.quoted {
                reading.opened.push(reading.indent + width);
            }
        };
        reading
    }

    /// Takes note of a line that was read, once it is known what it begins.
    pub(super) fn settle(&mut self, reading: Reading) {
        let same = reading.opened.is_empty() && !reading.quoted;
        let words = match reading.content {
            Content::Text => true,
            Content::Indented => self.paragraph != Paragraph::None && same,
            Content::Blank | Content::Complete | Content::Fence => false,
        };
        // A paragraph goes on even where its items or its quote do not: all of them stay open.
        let lazy = words
            && same
            && match self.paragraph {
                Paragraph::None => false,
                Paragraph::Here => reading.matched < self.items.len(),
                Paragraph::Quoted => true,
            };
        if lazy {
            return;
        }
        self.items.truncate(reading.matched);
        let blank = reading.content == Content::Blank;
        if blank && same && self.childless {
            // An item may begin with one empty line, not with two.
            self.items.pop();
        }
        self.childless = blank && !reading.opened.is_empty() && !reading.quoted;
        self.items.extend(reading.opened);
        self.paragraph = match (words, reading.quoted) {
            (false, _) => Paragraph::None,
            (true, false) => Paragraph::Here,
            (true, true) => Paragraph::Quoted,
        };
    }
}

/// A place in a line, by bytes and by columns. A tab has several columns, which may be taken in
/// part.
struct Cursor<'a> {
    line: &'a str,
    at: usize,
    column: usize,
    /// Columns of the tab at `at` that are already taken.
    taken: usize,
}

impl<'a> Cursor<'a> {
    fn new(line: &'a str) -> Self {
        Self { line, at: 0, column: 0, taken: 0 }
    }

    fn rest(&self) -> &'a str {
        &self.line[self.at..]
    }

    fn is_blank(&self) -> bool {
        self.rest().bytes().all(is_blank)
    }

    /// Columns of blanks from here, counted no further than five blanks.
    fn indent(&self) -> usize {
        let mut end = self.column + self.taken;
        for byte in self.rest().bytes().take_while(|&byte| is_blank(byte)).take(5) {
            end = after(byte, end);
        }
        end - self.column - self.taken
    }

    /// Takes so many columns of blanks, or nothing if there are fewer.
    fn take_columns(&mut self, wanted: usize) -> bool {
        let (mut at, mut column, mut taken) = (self.at, self.column, self.taken);
        let goal = column + taken + wanted;
        while column + taken < goal {
            match self.line.as_bytes().get(at) {
                Some(&byte) if is_blank(byte) => {
                    let end = after(byte, column);
                    if end > goal {
                        taken = goal - column;
                    } else {
                        (at, column, taken) = (at + 1, end, 0);
                    }
                }
                Some(_) | None => return false,
            }
        }
        (self.at, self.column, self.taken) = (at, column, taken);
        true
    }

    fn skip_blanks(&mut self) {
        while let Some(&byte) = self.line.as_bytes().get(self.at).filter(|&&byte| is_blank(byte)) {
            (self.at, self.column, self.taken) = (self.at + 1, after(byte, self.column), 0);
        }
    }

    /// Passes over characters that are not tabs.
    fn advance(&mut self, count: usize) {
        self.at += count;
        self.column += count;
    }

    /// Takes a list marker and the blanks that belong to it; says how wide they are.
    fn take_marker(&mut self, next: Next, interrupts: bool) -> Option<usize> {
        let rest = self.rest().as_bytes();
        let digits = rest.iter().take(10).take_while(|byte| byte.is_ascii_digit()).count();
        let length = match (digits, rest.get(digits)) {
            (0, Some(b'-' | b'+' | b'*')) => 1,
            (1..=9, Some(b'.' | b')')) => digits + 1,
            _ => return None,
        };
        match (rest.get(length), next) {
            (Some(&byte), _) if is_blank(byte) => {}
            (None, Next::EndOfLine) => {}
            _ => return None,
        }
        let empty = next == Next::EndOfLine && rest[length..].iter().all(|&byte| is_blank(byte));
        let first = digits == 0
            || rest[..digits].iter().rev().enumerate().all(|(at, &digit)| match at {
                0 => digit == b'1',
                _ => digit == b'0',
            });
        // Otherwise a year or a dash at the start of a line would turn prose into a list.
        if interrupts && (empty || !first) {
            return None;
        }
        self.advance(length);
        let blanks = self.indent();
        // Five blanks or more: one of them is the marker's, the others begin plain code.
        let blanks = if empty || blanks >= 5 { 1 } else { blanks };
        self.take_columns(blanks);
        Some(length + blanks)
    }
}

/// The column after a blank that stands at `column`: a tab reaches to the next multiple of four.
pub(super) fn after(blank: u8, column: usize) -> usize {
    if blank == b'\t' { (column / 4 + 1) * 4 } else { column + 1 }
}

/// Whether a character is one of those that indent a line.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn is_heading(rest: &str, next: Next) -> bool {
    let level = rest.bytes().take(7).take_while(|&byte| byte == b'#').count();
    (1..=6).contains(&level)
        && match rest.as_bytes().get(level) {
            Some(&byte) => is_blank(byte),
            None => next == Next::EndOfLine,
        }
}

/// Whether a whole line makes the paragraph above it a heading.
fn is_underline(rest: &str) -> bool {
    let marks = rest.trim_end_matches([' ', '\t']);
    marks.bytes().all(|byte| byte == b'=') || marks.bytes().all(|byte| byte == b'-')
}

/// Whether the rest of a line, known to have one kind of mark, is a rule across the page.
fn is_rule(rest: &str) -> bool {
    rest.starts_with(['*', '-', '_']) && rest.bytes().filter(|&b| !is_blank(b)).nth(2).is_some()
}

/// From where on a line has blanks and one kind of mark only. Found once for the whole line: a
/// line of many markers would otherwise be searched to its end from each of them.
fn one_mark_from(line: &str) -> usize {
    let mut mark = None;
    for (at, byte) in line.bytes().enumerate().rev().filter(|&(_, byte)| !is_blank(byte)) {
        if *mark.get_or_insert(byte) != byte {
            return at + 1;
        }
    }
    0
}
