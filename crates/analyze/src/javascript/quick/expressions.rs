//! Expressions of ordinary JavaScript.

use super::{Field, Id, Kind, Reader, Sort};

/// How tightly an operator binds, if it takes two sides.
fn strength(sign: &str) -> Option<u8> {
    Some(match sign {
        "||" => 2,
        "&&" => 3,
        "|" => 4,
        "^" => 5,
        "&" => 6,
        "==" | "!=" | "===" | "!==" => 7,
        "<" | ">" | "<=" | ">=" | "instanceof" | "in" => 8,
        "<<" | ">>" | ">>>" => 9,
        "+" | "-" => 10,
        "*" | "/" | "%" => 11,
        _ => return None,
    })
}

impl Reader<'_> {
    /// An expression, or several with commas between them.
    pub(super) fn expressions(&mut self) -> Option<Id> {
        let first = self.expression()?;
        if !self.is(",") {
            return Some(first);
        }
        let mut all = vec![(Field::NONE, first)];
        while self.eat(",") {
            all.push((Field::NONE, self.expression()?));
        }
        let start = self.parts.start(first);
        Some(self.parts.node(Kind::SEQUENCE, self.span(start), &all))
    }

    pub(super) fn expression(&mut self) -> Option<Id> {
        self.deeper(Self::any_expression)
    }

    fn any_expression(&mut self) -> Option<Id> {
        if self.is_arrow() {
            return self.arrow();
        }
        let left = self.choice()?;
        let kind = match self.text(self.token()) {
            "=" => Kind::ASSIGNMENT,
            "+=" | "-=" | "*=" | "/=" | "%=" | "**=" | "<<=" | ">>=" | ">>>=" | "&=" | "|="
            | "^=" | "&&=" | "||=" | "??=" => Kind::AUGMENTED_ASSIGNMENT,
            _ => return Some(left),
        };
        self.is_target(left).then_some(())?;
        self.at += 1;
        let inside = [(Field::LEFT, left), (Field::RIGHT, self.expression()?)];
        let start = self.parts.start(left);
        Some(self.parts.node(kind, self.span(start), &inside))
    }

    /// Whether something can be set.
    fn is_target(&self, id: Id) -> bool {
        matches!(self.parts.kind(id), Kind::IDENTIFIER | Kind::MEMBER | Kind::SUBSCRIPT)
    }

    /// Whether a function with an arrow begins here.
    fn is_arrow(&self) -> bool {
        let at = self.at + usize::from(self.is("async"));
        let Some(&first) = self.tokens.get(at) else { return false };
        let after = if self.text(first) == "(" { first.mate } else { at } + 1;
        let is =
            |at: usize, text: &str| self.tokens.get(at).is_some_and(|&one| self.text(one) == text);
        if is(after, "=>") {
            return true;
        }
        // With a type before the arrow. In a choice, the same may be something else.
        self.is_typed && !self.is_choice && self.text(first) == "(" && is(after, ":") && {
            let rest = self.tokens[after + 1..].iter().take(16);
            let is_type = |text: &str| {
                matches!(text, "[" | "]") || text.bytes().all(|b| b.is_ascii_alphanumeric())
            };
            let mut rest = rest.map(|&one| self.text(one)).skip_while(|text| is_type(text));
            rest.next() == Some("=>")
        }
    }

    fn arrow(&mut self) -> Option<Id> {
        let start = self.token().start;
        self.eat("async");
        let mut inside = Vec::new();
        if self.is("(") {
            inside.push((Field::NONE, self.parameters()?));
            if !self.is_choice
                && let Some(kind) = self.annotation()?
            {
                inside.push((Field::NONE, kind));
            }
        } else {
            inside.push((Field::PARAMETER, self.name(Kind::IDENTIFIER)?));
        }
        self.expect("=>")?;
        let body = if self.is("{") { self.block() } else { self.expression() };
        inside.push((Field::BODY, body?));
        Some(self.parts.node(Kind::ARROW_FUNCTION, self.span(start), &inside))
    }

    fn choice(&mut self) -> Option<Id> {
        let condition = self.operation(0)?;
        if !self.eat("?") {
            return Some(condition);
        }
        // Where a colon may end it, a type after a bracket cannot be told.
        let outside = std::mem::replace(&mut self.is_choice, true);
        let consequence = self.expression()?;
        self.is_choice = outside;
        self.expect(":")?;
        let alternative = self.expression()?;
        let inside = [
            (Field::CONDITION, condition),
            (Field::CONSEQUENCE, consequence),
            (Field::ALTERNATIVE, alternative),
        ];
        let start = self.parts.start(condition);
        Some(self.parts.node(Kind::TERNARY, self.span(start), &inside))
    }

    /// Operators that bind at least so tightly, and their sides.
    fn operation(&mut self, least: u8) -> Option<Id> {
        let mut left = self.prefixed()?;
        while let Some(strength) = strength(self.text(self.token())) {
            if strength < least {
                break;
            }
            let operator = self.token();
            // It may begin the arguments of a type.
            if self.is_typed && self.text(operator) == "<" {
                return None;
            }
            let sign = self.text(operator) == "+";
            self.at += 1;
            let mut inside = vec![(Field::LEFT, left)];
            if sign {
                let plus = self.parts.leaf(Kind::PLUS, (operator.start, operator.end));
                inside.push((Field::OPERATOR, plus));
            }
            inside.push((Field::RIGHT, self.operation(strength + 1)?));
            let start = self.parts.start(left);
            left = self.parts.node(Kind::BINARY, self.span(start), &inside);
        }
        // These have rules of their own on what may stand beside them.
        (!matches!(self.text(self.token()), "??" | "**" | "as" | "satisfies")).then_some(left)
    }

    fn prefixed(&mut self) -> Option<Id> {
        let token = self.token();
        let kind = match self.text(token) {
            "!" | "~" | "-" | "+" | "typeof" | "void" | "delete" => Kind::OTHER,
            "++" | "--" => Kind::UPDATE,
            // Before a sign it may be a name.
            "await" if self.ahead(1).sort == Sort::Word => Kind::AWAIT,
            "await" => return None,
            _ => return self.suffixed(),
        };
        let mut inside = Vec::new();
        if self.text(token) == "+" {
            inside.push((Field::OPERATOR, self.leaf(Kind::PLUS)));
        } else {
            self.at += 1;
        }
        let argument = self.deeper(Self::prefixed)?;
        (kind != Kind::UPDATE || self.is_target(argument)).then_some(())?;
        let field = if kind == Kind::AWAIT { Field::NONE } else { Field::ARGUMENT };
        inside.push((field, argument));
        Some(self.parts.node(kind, self.span(token.start), &inside))
    }

    fn suffixed(&mut self) -> Option<Id> {
        let of = self.chain()?;
        let next = self.token();
        if next.is_first || !matches!(self.text(next), "++" | "--") {
            return Some(of);
        }
        self.at += 1;
        self.is_target(of).then_some(())?;
        let start = self.parts.start(of);
        Some(self.parts.node(Kind::UPDATE, self.span(start), &[(Field::ARGUMENT, of)]))
    }

    /// Something and what follows it: members, calls and elements.
    fn chain(&mut self) -> Option<Id> {
        let mut left = if self.is("new") { self.made()? } else { self.primary()? };
        loop {
            let start = self.parts.start(left);
            let next = self.token();
            left = match (next.sort, self.text(next)) {
                (Sort::Sign, "(") => {
                    let inside = [(Field::FUNCTION, left), (Field::ARGUMENTS, self.arguments()?)];
                    self.parts.node(Kind::CALL, self.span(start), &inside)
                }
                (Sort::Template, _) => {
                    let inside = [(Field::FUNCTION, left), (Field::ARGUMENTS, self.template()?)];
                    self.parts.node(Kind::CALL, self.span(start), &inside)
                }
                (Sort::Sign, "?.") => self.optional(left)?,
                // A type argument or an assertion.
                (Sort::Sign, "!" | "<") if self.is_typed && !next.is_first => return None,
                _ => match self.member(left)? {
                    Some(member) => member,
                    None => return Some(left),
                },
            };
        }
    }

    /// A member or an element of something, if one follows.
    #[expect(clippy::option_option, reason = "nothing that follows is no failure")]
    fn member(&mut self, of: Id) -> Option<Option<Id>> {
        let start = self.parts.start(of);
        if self.eat(".") {
            let inside = [(Field::OBJECT, of), (Field::PROPERTY, self.property()?)];
            return Some(Some(self.parts.node(Kind::MEMBER, self.span(start), &inside)));
        }
        if self.eat("[") {
            let inside = [(Field::OBJECT, of), (Field::INDEX, self.expressions()?)];
            self.expect("]")?;
            return Some(Some(self.parts.node(Kind::SUBSCRIPT, self.span(start), &inside)));
        }
        Some(None)
    }

    /// `a?.b` and `a?.[b]`.
    fn optional(&mut self, of: Id) -> Option<Id> {
        let start = self.parts.start(of);
        let sign = self.leaf(Kind::OTHER);
        let (kind, last) = if self.eat("[") {
            let index = self.expressions()?;
            self.expect("]")?;
            (Kind::SUBSCRIPT, (Field::INDEX, index))
        } else {
            (Kind::MEMBER, (Field::PROPERTY, self.property()?))
        };
        let inside = [(Field::OBJECT, of), (Field::NONE, sign), last];
        Some(self.parts.node(kind, self.span(start), &inside))
    }

    /// `new A.B(c)`.
    fn made(&mut self) -> Option<Id> {
        let start = self.token().start;
        self.at += 1;
        let mut of = self.name(Kind::IDENTIFIER)?;
        while let Some(member) = self.member(of)? {
            of = member;
        }
        self.is("(").then_some(())?;
        let inside = [(Field::CONSTRUCTOR, of), (Field::ARGUMENTS, self.arguments()?)];
        Some(self.parts.node(Kind::NEW, self.span(start), &inside))
    }

    fn arguments(&mut self) -> Option<Id> {
        let start = self.token().start;
        self.expect("(")?;
        let all = self.list(")")?;
        Some(self.parts.node(Kind::ARGUMENTS, self.span(start), &all))
    }

    /// Expressions and spread ones, up to a sign that ends them.
    pub(super) fn list(&mut self, end: &str) -> Option<Vec<(Field, Id)>> {
        let mut all = Vec::new();
        while !self.eat(end) {
            let one = if self.is("...") { self.spread()? } else { self.expression()? };
            all.push((Field::NONE, one));
            (self.eat(",") || self.is(end)).then_some(())?;
        }
        Some(all)
    }

    pub(super) fn spread(&mut self) -> Option<Id> {
        let start = self.token().start;
        self.expect("...")?;
        let inside = [(Field::NONE, self.expression()?)];
        Some(self.parts.node(Kind::SPREAD, self.span(start), &inside))
    }

    fn primary(&mut self) -> Option<Id> {
        let token = self.token();
        match token.sort {
            Sort::Number => return Some(self.leaf(Kind::OTHER)),
            Sort::Text => return self.string(),
            Sort::Template => return self.template(),
            Sort::Regex => return self.regex(),
            Sort::More | Sort::End => return None,
            Sort::Word | Sort::Sign => {}
        }
        match self.text(token) {
            "(" => {
                self.at += 1;
                let inside = [(Field::NONE, self.expressions()?)];
                self.expect(")")?;
                Some(self.parts.node(Kind::PARENTHESIZED, self.span(token.start), &inside))
            }
            "[" => {
                self.at += 1;
                let all = self.list("]")?;
                Some(self.parts.node(Kind::ARRAY, self.span(token.start), &all))
            }
            "{" => self.object(),
            "this" | "null" | "true" | "false" | "undefined" => Some(self.leaf(Kind::OTHER)),
            "function" => self.function(Kind::FUNCTION_EXPRESSION),
            "async" if self.is_ahead(1, "function") => self.function(Kind::FUNCTION_EXPRESSION),
            "import" if self.is_ahead(1, "(") => Some(self.leaf(Kind::IMPORT)),
            _ => self.name(Kind::IDENTIFIER),
        }
    }
}
