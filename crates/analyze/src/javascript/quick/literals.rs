//! Texts, templates and objects that stand in ordinary JavaScript.

use super::{Field, Id, Kind, Reader, Sort};

impl Reader<'_> {
    /// A text in quotes.
    pub(super) fn string(&mut self) -> Option<Id> {
        let token = self.token();
        (token.sort == Sort::Text).then_some(())?;
        self.at += 1;
        let mut pieces = Vec::new();
        self.pieces(token.start + 1, token.end - 1, &mut pieces)?;
        Some(self.parts.node(Kind::STRING, (token.start, token.end), &pieces))
    }

    /// The plain pieces and the escapes of a text.
    fn pieces(&mut self, from: usize, end: usize, pieces: &mut Vec<(Field, Id)>) -> Option<()> {
        let mut at = from;
        while at < end {
            let rest = &self.source[at..end];
            let plain = rest.find('\\').unwrap_or(rest.len());
            let (kind, length) = match plain {
                0 => (Kind::ESCAPE, escape(rest)?),
                _ => (Kind::STRING_FRAGMENT, plain),
            };
            pieces.push((Field::NONE, self.parts.leaf(kind, (at, at + length))));
            at += length;
        }
        Some(())
    }

    pub(super) fn template(&mut self) -> Option<Id> {
        let start = self.token().start;
        let mut pieces = Vec::new();
        loop {
            let token = self.token();
            self.at += 1;
            let is_last = self.text(token).ends_with('`') && token.end > token.start + 1;
            let end = token.end - if is_last { 1 } else { 2 };
            self.pieces(token.start + 1, end, &mut pieces)?;
            if is_last {
                return Some(self.parts.node(Kind::TEMPLATE, self.span(start), &pieces));
            }
            let inside = [(Field::NONE, self.expressions()?)];
            let next = self.token();
            (next.sort == Sort::More).then_some(())?;
            let hole = self.parts.node(Kind::SUBSTITUTION, (end, next.start + 1), &inside);
            pieces.push((Field::NONE, hole));
        }
    }

    pub(super) fn regex(&mut self) -> Option<Id> {
        let token = self.token();
        self.at += 1;
        let slash = token.start + self.text(token).rfind('/')?;
        let mut inside =
            vec![(Field::PATTERN, self.parts.leaf(Kind::OTHER, (token.start + 1, slash)))];
        if slash + 1 < token.end {
            inside.push((Field::NONE, self.parts.leaf(Kind::OTHER, (slash + 1, token.end))));
        }
        Some(self.parts.node(Kind::OTHER, (token.start, token.end), &inside))
    }

    pub(super) fn object(&mut self) -> Option<Id> {
        let start = self.token().start;
        self.expect("{")?;
        let mut all = Vec::new();
        while !self.eat("}") {
            all.push((Field::NONE, self.deeper(Self::entry)?));
            (self.eat(",") || self.is("}")).then_some(())?;
        }
        Some(self.parts.node(Kind::OBJECT, self.span(start), &all))
    }

    fn entry(&mut self) -> Option<Id> {
        let token = self.token();
        if self.is("...") {
            return self.spread();
        }
        if token.sort == Sort::Word && matches!(self.text(self.ahead(1)), "," | "}") {
            return self.name(Kind::SHORTHAND);
        }
        if token.sort == Sort::Word && self.is_ahead(1, "(") {
            let mut inside = vec![(Field::NAME, self.property()?)];
            inside.push((Field::NONE, self.parameters()?));
            inside.push((Field::BODY, self.block()?));
            return Some(self.parts.node(Kind::OTHER, self.span(token.start), &inside));
        }
        let key = self.key()?;
        self.expect(":")?;
        let inside = [(Field::KEY, key), (Field::VALUE, self.expression()?)];
        Some(self.parts.node(Kind::PAIR, self.span(token.start), &inside))
    }

    /// The key of a pair.
    pub(super) fn key(&mut self) -> Option<Id> {
        let token = self.token();
        match token.sort {
            Sort::Word => self.property(),
            Sort::Text => self.string(),
            Sort::Number => Some(self.leaf(Kind::OTHER)),
            Sort::Sign if self.eat("[") => {
                let inside = [(Field::NONE, self.expression()?)];
                self.expect("]")?;
                Some(self.parts.node(Kind::OTHER, self.span(token.start), &inside))
            }
            Sort::Sign | Sort::Regex | Sort::Template | Sort::More | Sort::End => None,
        }
    }
}

/// How long the escape is that a text begins with, if it is a plain one.
fn escape(text: &str) -> Option<usize> {
    let is_hexadecimal = |length: usize| {
        let digits = text.as_bytes().get(2..2 + length);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    match text.as_bytes().get(1)? {
        b'x' if is_hexadecimal(2) => Some(4),
        b'u' if is_hexadecimal(4) => Some(6),
        b'x' | b'u' | b'0'..=b'9' | b'\r' | b'\n' => None,
        byte if byte.is_ascii() => Some(2),
        _ => None,
    }
}
