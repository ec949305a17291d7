//! Statements of ordinary JavaScript.

use super::{Field, Id, Kind, Reader, Sort};

impl Reader<'_> {
    pub(super) fn statement(&mut self) -> Option<Id> {
        self.deeper(Self::any_statement)
    }

    fn any_statement(&mut self) -> Option<Id> {
        let token = self.token();
        let start = token.start;
        if token.sort == Sort::Word && self.is_ahead(1, ":") {
            return None;
        }
        match self.text(token) {
            "{" => self.block(),
            ";" => Some(self.leaf(Kind::OTHER)),
            "var" | "let" | "const" => {
                let declared = self.declaration()?;
                self.ended(Kind::OTHER, start, &declared)
            }
            "if" => {
                self.at += 1;
                let mut inside = vec![(Field::CONDITION, self.bracketed()?)];
                inside.push((Field::CONSEQUENCE, self.statement()?));
                if self.is("else") {
                    let begin = self.token().start;
                    self.at += 1;
                    let other = self.statement()?;
                    let clause =
                        self.parts.node(Kind::OTHER, self.span(begin), &[(Field::NONE, other)]);
                    inside.push((Field::ALTERNATIVE, clause));
                }
                Some(self.parts.node(Kind::OTHER, self.span(start), &inside))
            }
            "while" => {
                self.at += 1;
                let inside =
                    [(Field::CONDITION, self.bracketed()?), (Field::BODY, self.statement()?)];
                Some(self.parts.node(Kind::WHILE, self.span(start), &inside))
            }
            "for" => self.repeated(),
            "return" | "throw" => {
                self.at += 1;
                let kind = if self.text(token) == "return" { Kind::RETURN } else { Kind::THROW };
                let next = self.token();
                let is_bare = next.is_first || matches!(self.text(next), ";" | "}");
                let value = if is_bare { None } else { Some((Field::NONE, self.expressions()?)) };
                self.ended(kind, start, value.as_slice())
            }
            "break" | "continue" => {
                let kind = if self.text(token) == "break" { Kind::BREAK } else { Kind::OTHER };
                self.at += 1;
                self.ended(kind, start, &[])
            }
            "try" => self.attempt(),
            "function" => self.function(Kind::FUNCTION_DECLARATION),
            "async" if self.is_ahead(1, "function") => self.function(Kind::FUNCTION_DECLARATION),
            "import" if !matches!(self.text(self.ahead(1)), "(" | ".") => self.import(),
            "export" if matches!(self.text(self.ahead(1)), "const" | "function" | "async") => {
                self.at += 1;
                let declared = self.statement()?;
                Some(self.parts.node(Kind::OTHER, self.span(start), &[(Field::NONE, declared)]))
            }
            _ => {
                let value = self.expressions()?;
                self.ended(Kind::OTHER, start, &[(Field::NONE, value)])
            }
        }
    }

    /// A statement that ends here: with a semicolon, a line, or what it is in.
    fn ended(&mut self, kind: Kind, start: usize, inside: &[(Field, Id)]) -> Option<Id> {
        let is_ended = self.eat(";") || self.is("}") || {
            let next = self.token();
            // A sign that could go on with the line before is read in more than one way.
            let is_doubtful = next.sort == Sort::Template
                || next.sort == Sort::Regex
                || (next.sort == Sort::Sign
                    && !matches!(self.text(next), "{" | "!" | "~" | "++" | "--"))
                || matches!(self.text(next), "in" | "instanceof" | "of" | "as" | "satisfies");
            next.is_first && !is_doubtful
        };
        is_ended.then(|| self.parts.node(kind, self.span(start), inside))
    }

    /// The variables of a declaration.
    fn declaration(&mut self) -> Option<Vec<(Field, Id)>> {
        self.at += 1;
        let mut all = Vec::new();
        loop {
            let start = self.token().start;
            let mut inside = vec![(Field::NAME, self.pattern()?)];
            if let Some(kind) = self.annotation()? {
                inside.push((Field::NONE, kind));
            }
            if self.eat("=") {
                inside.push((Field::VALUE, self.expression()?));
            }
            let one = self.parts.node(Kind::VARIABLE, self.span(start), &inside);
            all.push((Field::NONE, one));
            if !self.eat(",") {
                return Some(all);
            }
        }
    }

    /// `for (const a of b)`, `for (const a in b)` and `for (let a = b; c; d)`.
    fn repeated(&mut self) -> Option<Id> {
        let start = self.token().start;
        self.at += 1;
        self.expect("(")?;
        let is_declared = matches!(self.text(self.token()), "var" | "let" | "const");
        if is_declared && self.is_each() {
            self.at += 1;
            let left = self.pattern()?;
            let is_each = self.eat("of") || self.eat("in");
            is_each.then_some(())?;
            let right = self.expressions()?;
            self.expect(")")?;
            let inside =
                [(Field::LEFT, left), (Field::RIGHT, right), (Field::BODY, self.statement()?)];
            return Some(self.parts.node(Kind::FOR_IN, self.span(start), &inside));
        }
        let mut inside = Vec::new();
        if is_declared {
            let begin = self.token().start;
            let declared = self.declaration()?;
            self.expect(";")?;
            inside.push((Field::NONE, self.parts.node(Kind::OTHER, self.span(begin), &declared)));
        } else {
            self.is(";").then_some(())?;
            inside.push((Field::NONE, self.leaf(Kind::OTHER)));
        }
        if self.is(";") {
            inside.push((Field::CONDITION, self.leaf(Kind::OTHER)));
        } else {
            inside.push((Field::CONDITION, self.expressions()?));
            self.expect(";")?;
        }
        if !self.is(")") {
            inside.push((Field::NONE, self.expressions()?));
        }
        self.expect(")")?;
        inside.push((Field::BODY, self.statement()?));
        Some(self.parts.node(Kind::FOR, self.span(start), &inside))
    }

    /// Whether a declaration in the head of a loop is of one thing of many.
    fn is_each(&self) -> bool {
        let first = self.ahead(1);
        let after = if first.mate > 0 { first.mate + 1 - self.at } else { 2 };
        matches!(self.text(self.ahead(after)), "of" | "in")
    }

    fn attempt(&mut self) -> Option<Id> {
        let start = self.token().start;
        self.at += 1;
        let mut inside = vec![(Field::BODY, self.block()?)];
        let begin = self.token().start;
        if self.eat("catch") {
            let mut clause = Vec::new();
            if self.eat("(") {
                clause.push((Field::PARAMETER, self.pattern()?));
                self.expect(")")?;
            }
            clause.push((Field::BODY, self.block()?));
            let clause = self.parts.node(Kind::OTHER, self.span(begin), &clause);
            inside.push((Field::NONE, clause));
        }
        let begin = self.token().start;
        if self.eat("finally") {
            let clause = [(Field::BODY, self.block()?)];
            let clause = self.parts.node(Kind::OTHER, self.span(begin), &clause);
            inside.push((Field::NONE, clause));
        }
        (inside.len() > 1).then(|| self.parts.node(Kind::OTHER, self.span(start), &inside))
    }

    pub(super) fn block(&mut self) -> Option<Id> {
        let start = self.token().start;
        self.expect("{")?;
        let mut inside = Vec::new();
        while !self.eat("}") {
            inside.push((Field::NONE, self.statement()?));
        }
        Some(self.parts.node(Kind::OTHER, self.span(start), &inside))
    }

    /// `(a)` after a word.
    fn bracketed(&mut self) -> Option<Id> {
        let start = self.token().start;
        self.expect("(")?;
        let inside = self.expressions()?;
        self.expect(")")?;
        Some(self.parts.node(Kind::PARENTHESIZED, self.span(start), &[(Field::NONE, inside)]))
    }

    /// A function, as a statement or an expression.
    pub(super) fn function(&mut self, kind: Kind) -> Option<Id> {
        let start = self.token().start;
        self.eat("async");
        self.expect("function")?;
        let mut inside = Vec::new();
        if kind == Kind::FUNCTION_DECLARATION || !self.is("(") {
            inside.push((Field::NAME, self.name(Kind::IDENTIFIER)?));
        }
        inside.push((Field::NONE, self.parameters()?));
        if let Some(kind) = self.annotation()? {
            inside.push((Field::NONE, kind));
        }
        inside.push((Field::BODY, self.deeper(Self::block)?));
        Some(self.parts.node(kind, self.span(start), &inside))
    }

    fn import(&mut self) -> Option<Id> {
        let start = self.token().start;
        self.at += 1;
        let mut inside = Vec::new();
        if self.token().sort != Sort::Text {
            inside.push((Field::NONE, self.import_clause()?));
            self.expect("from")?;
        }
        inside.push((Field::SOURCE, self.string()?));
        self.ended(Kind::IMPORT_STATEMENT, start, &inside)
    }

    fn import_clause(&mut self) -> Option<Id> {
        let start = self.token().start;
        let mut parts = Vec::new();
        if self.token().sort == Sort::Word {
            parts.push((Field::NONE, self.name(Kind::IDENTIFIER)?));
            if !self.eat(",") {
                return Some(self.parts.node(Kind::IMPORT_CLAUSE, self.span(start), &parts));
            }
        }
        let begin = self.token().start;
        if self.eat("*") {
            self.expect("as")?;
            let name = [(Field::NONE, self.name(Kind::IDENTIFIER)?)];
            let all = self.parts.node(Kind::NAMESPACE_IMPORT, self.span(begin), &name);
            parts.push((Field::NONE, all));
        } else {
            self.expect("{")?;
            let mut names = Vec::new();
            while !self.eat("}") {
                let begin = self.token().start;
                let mut one = vec![(Field::NAME, self.name(Kind::IDENTIFIER)?)];
                if self.eat("as") {
                    one.push((Field::ALIAS, self.name(Kind::IDENTIFIER)?));
                }
                let one = self.parts.node(Kind::OTHER, self.span(begin), &one);
                names.push((Field::NONE, one));
                (self.eat(",") || self.is("}")).then_some(())?;
            }
            let all = self.parts.node(Kind::NAMED_IMPORTS, self.span(begin), &names);
            parts.push((Field::NONE, all));
        }
        Some(self.parts.node(Kind::IMPORT_CLAUSE, self.span(start), &parts))
    }
}
