//! How deep Python code nests, by its tokens.
//!
//! # Threat
//! Syntax trees are walked and freed by recursion. Brackets are not the only way to make them
//! deep: `- - - x`, `a.b.c`, `x + x + x` and `lambda: lambda: x` do too.
//!
//! # Mechanism
//! The lexer does not recurse. Every token that could add a level counts, until something ends
//! the expression it belongs to. The sum over all open brackets is at least the tree's depth.
//!
//! # Limits
//! Counts too much rather than too little: an expression of very many terms is refused as well.

use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{Mode, lexer};

/// Deepest nesting that is read.
pub(super) const MOST: usize = 500;

/// Why deeper code is refused.
pub(super) const TOO_DEEP: &str = "code that is nested too deep";

/// The tokens between two brackets.
#[derive(Clone, Copy, Default)]
struct Level {
    /// Tokens that may nest, since the last comma.
    chain: usize,
    /// Lambdas: their parameters have commas too.
    lambdas: usize,
}

impl Level {
    fn depth(self) -> usize {
        1 + self.chain + self.lambdas
    }
}

/// Refuses code that is nested too deep, with the reason.
pub(super) fn check(code: &str) -> Result<(), &'static str> {
    let mut lexer = lexer::lex(code, Mode::Module);
    let mut levels = vec![Level::default()];
    let mut outside = 0; // The depth of all levels but the last.
    let mut indents = 0_usize;
    loop {
        let token = lexer.next_token();
        let level = levels.last_mut().expect("the first level is never closed");
        if opens(token) {
            level.chain += 1;
            outside += level.depth();
            levels.push(Level::default());
        } else if closes(token) {
            if levels.len() == 1 {
                return Err("a bracket that was never opened");
            }
            levels.pop();
            outside -= levels.last().copied().unwrap_or_default().depth();
        } else if ends(token) {
            // A newline that ends a statement also ends brackets that were left open.
            levels.truncate(1);
            levels[0] = Level::default();
            outside = 0;
        } else {
            match token {
                TokenKind::EndOfFile => return Ok(()),
                TokenKind::Indent => indents += 1,
                TokenKind::Dedent => indents = indents.saturating_sub(1),
                TokenKind::Comma => level.chain = 0,
                TokenKind::Lambda => level.lambdas += 1,
                _ if is_leaf(token) => {}
                _ => level.chain += 1,
            }
        }
        let depth = indents + outside + levels.last().copied().unwrap_or_default().depth();
        if depth > MOST {
            return Err(TOO_DEEP);
        }
    }
}

fn opens(token: TokenKind) -> bool {
    use TokenKind::{FStringStart, Lbrace, Lpar, Lsqb, TStringStart};
    matches!(token, Lpar | Lsqb | Lbrace | FStringStart | TStringStart)
}

fn closes(token: TokenKind) -> bool {
    use TokenKind::{FStringEnd, Rbrace, Rpar, Rsqb, TStringEnd};
    matches!(token, Rpar | Rsqb | Rbrace | FStringEnd | TStringEnd)
}

fn ends(token: TokenKind) -> bool {
    matches!(token, TokenKind::Newline | TokenKind::Semi)
}

/// Tokens that hold nothing.
fn is_leaf(token: TokenKind) -> bool {
    use TokenKind::{
        Comment, Complex, FStringMiddle, False, Float, Int, Name, NonLogicalNewline, None, String,
        TStringMiddle, True,
    };
    matches!(
        token,
        Name | Int
            | Float
            | Complex
            | String
            | FStringMiddle
            | TStringMiddle
            | Comment
            | NonLogicalNewline
            | True
            | False
            | None
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_code_is_not_deep() {
        let numbers = vec!["-1"; 50_000].join(", ");
        let calls = "x = f(a.b(c), [1, 2])\n".repeat(5_000);
        for code in [format!("x = [{numbers}]"), calls, "f'{a}{b:{c}}'\n".repeat(2_000)] {
            assert_eq!(check(&code), Ok(()));
        }
    }

    #[test]
    fn every_way_to_nest_is_seen() {
        for piece in [
            "(",
            "[",
            "{",
            "f(",
            "-",
            "not ",
            "await ",
            "lambda: ",
            "lambda a, b: ",
            "lambda a, b=lambda: 1, c=",
            "a.",
            "a + ",
            "a ** ",
            "a if b else ",
            "f\"{",
            "if a: ",
            "class A: ",
            "x[0]",
            "x()",
        ] {
            let code = format!("x = {}", piece.repeat(100_000));
            assert!(check(&code).is_err(), "{piece}");
        }
    }

    #[test]
    fn indentation_counts() {
        let code: String = (0..600).flat_map(|at| [" ".repeat(at), "if a:\n".into()]).collect();
        assert!(check(&code).is_err());
    }
}
