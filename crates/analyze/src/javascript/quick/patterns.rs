//! Bindings of ordinary JavaScript: names, patterns and parameters, and their plain types.

use super::{Field, Id, Kind, Reader, Sort};

impl Reader<'_> {
    pub(super) fn pattern(&mut self) -> Option<Id> {
        self.deeper(Self::any_pattern)
    }

    fn any_pattern(&mut self) -> Option<Id> {
        let start = self.token().start;
        if self.eat("{") {
            let mut all = Vec::new();
            while !self.eat("}") {
                all.push((Field::NONE, self.bound_entry()?));
                (self.eat(",") || self.is("}")).then_some(())?;
            }
            return Some(self.parts.node(Kind::OBJECT_PATTERN, self.span(start), &all));
        }
        if self.eat("[") {
            let mut all = Vec::new();
            while !self.eat("]") {
                let one = if self.is("...") { self.rest()? } else { self.pattern_or_default()? };
                all.push((Field::NONE, one));
                (self.eat(",") || self.is("]")).then_some(())?;
            }
            return Some(self.parts.node(Kind::ARRAY_PATTERN, self.span(start), &all));
        }
        self.name(Kind::IDENTIFIER)
    }

    fn rest(&mut self) -> Option<Id> {
        let start = self.token().start;
        self.expect("...")?;
        let inside = [(Field::NONE, self.pattern()?)];
        Some(self.parts.node(Kind::OTHER, self.span(start), &inside))
    }

    fn bound_entry(&mut self) -> Option<Id> {
        let token = self.token();
        if self.is("...") {
            return self.rest();
        }
        if token.sort == Sort::Word && matches!(self.text(self.ahead(1)), "," | "}" | "=") {
            let name = self.name(Kind::SHORTHAND_PATTERN)?;
            if !self.eat("=") {
                return Some(name);
            }
            let inside = [(Field::LEFT, name), (Field::RIGHT, self.expression()?)];
            let kind = Kind::OBJECT_ASSIGNMENT_PATTERN;
            return Some(self.parts.node(kind, self.span(token.start), &inside));
        }
        let key = self.key()?;
        self.expect(":")?;
        let inside = [(Field::KEY, key), (Field::VALUE, self.pattern_or_default()?)];
        Some(self.parts.node(Kind::PAIR_PATTERN, self.span(token.start), &inside))
    }

    fn pattern_or_default(&mut self) -> Option<Id> {
        let target = self.pattern()?;
        if !self.eat("=") {
            return Some(target);
        }
        let start = self.parts.start(target);
        let inside = [(Field::LEFT, target), (Field::RIGHT, self.expression()?)];
        Some(self.parts.node(Kind::ASSIGNMENT_PATTERN, self.span(start), &inside))
    }

    pub(super) fn parameters(&mut self) -> Option<Id> {
        let start = self.token().start;
        self.expect("(")?;
        let mut all = Vec::new();
        while !self.eat(")") {
            let one = match (self.is_typed, self.is("...")) {
                (true, _) => self.typed_parameter()?,
                (false, true) => self.rest()?,
                (false, false) => self.pattern_or_default()?,
            };
            all.push((Field::NONE, one));
            (self.eat(",") || self.is(")")).then_some(())?;
        }
        Some(self.parts.node(Kind::FORMAL_PARAMETERS, self.span(start), &all))
    }

    fn typed_parameter(&mut self) -> Option<Id> {
        let start = self.token().start;
        let pattern = if self.is("...") { self.rest()? } else { self.pattern()? };
        let mut inside = vec![(Field::PATTERN, pattern)];
        let kind = if self.eat("?") { Kind::OPTIONAL_PARAMETER } else { Kind::REQUIRED_PARAMETER };
        if let Some(kind) = self.annotation()? {
            inside.push((Field::NONE, kind));
        }
        if self.eat("=") {
            inside.push((Field::VALUE, self.expression()?));
        }
        Some(self.parts.node(kind, self.span(start), &inside))
    }

    /// A type after a colon, if there is one.
    #[expect(clippy::option_option, reason = "no type is no failure")]
    pub(super) fn annotation(&mut self) -> Option<Option<Id>> {
        let start = self.token().start;
        if !self.is_typed || !self.eat(":") {
            return Some(None);
        }
        let inside = [(Field::NONE, self.plain_type()?)];
        // Types that go on are not plain.
        if matches!(self.text(self.token()), "|" | "&" | "<" | "." | "is" | "extends") {
            return None;
        }
        Some(Some(self.parts.node(Kind::OTHER, self.span(start), &inside)))
    }

    /// `string`, `Row`, `Row[]`.
    fn plain_type(&mut self) -> Option<Id> {
        let token = self.token();
        let mut kind = match self.text(token) {
            "string" | "number" | "boolean" | "any" | "unknown" | "never" | "object" => {
                self.leaf(Kind::OTHER)
            }
            "symbol" | "unique" | "keyof" | "infer" | "readonly" | "asserts" => return None,
            _ => self.name(Kind::TYPE_IDENTIFIER)?,
        };
        while self.is("[") && self.is_ahead(1, "]") {
            self.at += 2;
            kind = self.parts.node(Kind::OTHER, self.span(token.start), &[(Field::NONE, kind)]);
        }
        Some(kind)
    }
}
