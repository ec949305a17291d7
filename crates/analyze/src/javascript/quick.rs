//! A quick reading of ordinary JavaScript, and of TypeScript with plain types.
//!
//! # Threat
//! The parser for all code follows several readings of it at once, which takes most of the time of
//! an analysis. A second parser that reads some code differently would miss what it does.
//!
//! # Mechanism
//! One pass without going back: whether a bracket begins the parameters of a function shows by the
//! sign after the one that closes it. It makes the same tree as the other parser, which tests
//! compare, and gives up on whatever it does not know, on every error, and beyond a depth. Then the
//! other one reads all of the code.
//!
//! # Limits
//! Classes, generators, labels, JSX and most types are left to the other parser. Comments are no
//! nodes here; nothing asks for them.

use super::{
    kinds::{Field, Kind},
    tree::Tree,
};
use parts::{Id, Parts};
use tokens::{Sort, Token, tokens};

mod expressions;
mod literals;
mod parts;
mod patterns;
mod statements;
mod tokens;

/// How deep statements and expressions may be inside each other.
const DEPTH: usize = 100;

/// Words that are no names.
const RESERVED: [&str; 49] = [
    "async",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "import",
    "in",
    "instanceof",
    "let",
    "new",
    "null",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "undefined",
    "var",
    "void",
    "while",
    "with",
    "yield",
    "get",
    "set",
    "declare",
    "namespace",
    "module",
    "abstract",
    "type",
];

/// The tree of a script, unless it is for the other parser.
pub(super) fn read(source: &str, is_typed: bool) -> Option<Tree> {
    let tokens = tokens(source)?;
    let mut reader = Reader {
        source,
        tokens,
        at: 0,
        parts: Parts::default(),
        left: DEPTH,
        is_typed,
        is_choice: false,
    };
    let mut statements = Vec::new();
    while reader.token().sort != Sort::End {
        statements.push((Field::NONE, reader.statement()?));
    }
    let root = reader.parts.node(Kind::OTHER, (0, source.len()), &statements);
    Some(reader.parts.tree(root, source))
}

struct Reader<'a> {
    source: &'a str,
    tokens: Vec<Token>,
    at: usize,
    parts: Parts,
    /// How much deeper it may go.
    left: usize,
    is_typed: bool,
    /// Whether it is between the signs of a choice.
    is_choice: bool,
}

impl<'a> Reader<'a> {
    /// The next token.
    fn token(&self) -> Token {
        self.ahead(0)
    }

    fn ahead(&self, by: usize) -> Token {
        self.tokens[(self.at + by).min(self.tokens.len() - 1)]
    }

    fn text(&self, token: Token) -> &'a str {
        &self.source[token.start..token.end]
    }

    /// Whether the token that is `by` ahead of the next one is this word or sign.
    fn is_ahead(&self, by: usize, text: &str) -> bool {
        self.text(self.ahead(by)) == text
    }

    fn is(&self, text: &str) -> bool {
        self.is_ahead(0, text)
    }

    /// Goes over this word or sign, if it is next.
    fn eat(&mut self, text: &str) -> bool {
        let is = self.is(text);
        self.at += usize::from(is);
        is
    }

    fn expect(&mut self, text: &str) -> Option<()> {
        self.eat(text).then_some(())
    }

    /// Where the last token ends.
    fn last_end(&self) -> usize {
        self.at.checked_sub(1).map_or(0, |at| self.tokens[at].end)
    }

    /// From here to the end of the last token.
    fn span(&self, start: usize) -> (usize, usize) {
        (start, self.last_end())
    }

    /// Reads something inside something else, unless that is too deep.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        let found = read(self);
        self.left += 1;
        found
    }

    fn is_name(&self, token: Token) -> bool {
        token.sort == Sort::Word && !RESERVED.contains(&self.text(token))
    }

    /// A name, as a node of this kind.
    fn name(&mut self, kind: Kind) -> Option<Id> {
        let token = self.token();
        self.is_name(token).then(|| self.leaf(kind))
    }

    /// The next token as a node.
    fn leaf(&mut self, kind: Kind) -> Id {
        let token = self.token();
        self.at += 1;
        self.parts.leaf(kind, (token.start, token.end))
    }

    /// The name of a property: any word.
    fn property(&mut self) -> Option<Id> {
        (self.token().sort == Sort::Word).then(|| self.leaf(Kind::PROPERTY_IDENTIFIER))
    }
}

#[cfg(test)]
#[path = "quick_tests.rs"]
mod tests;
