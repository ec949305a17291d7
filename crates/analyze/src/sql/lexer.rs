//! Cuts SQL into words, names, strings and signs. One pass, no recursion, any text.

/// A piece of SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Word(&'a str),
    /// A quoted name.
    Name(&'a str),
    /// A string.
    Text(&'a str),
    Sign(char),
    /// The end of a statement.
    End,
    /// A string, name or comment that has no end.
    Open,
}

impl Token<'_> {
    /// Whether it is this word. Quoted names are none.
    pub(super) fn is(&self, word: &str) -> bool {
        matches!(self, Self::Word(own) if own.eq_ignore_ascii_case(word))
    }
}

/// The tokens of a text, each with its line from 1.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = (Token<'_>, usize)> {
    let mut lexer = Lexer { text, at: 0, line: 1, start: true, ends_with_line: false };
    std::iter::from_fn(move || lexer.next())
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    /// Whether nothing but blanks was on this line so far.
    start: bool,
    /// Whether this is a command of the shell of a database, which a line ends.
    ends_with_line: bool,
}

impl<'a> Lexer<'a> {
    fn next(&mut self) -> Option<(Token<'a>, usize)> {
        loop {
            let rest = &self.text[self.at..];
            let first = rest.chars().next()?;
            if first == '\n' {
                self.take(1);
                self.start = true;
                if std::mem::take(&mut self.ends_with_line) {
                    return Some((Token::End, self.line - 1));
                }
            } else if first.is_whitespace() {
                self.take(first.len_utf8());
            } else if rest.starts_with("--") {
                self.take(rest.find('\n').unwrap_or(rest.len()));
            } else if let Some(comment) = rest.strip_prefix("/*") {
                match comment.find("*/") {
                    // MySQL reads this comment as code.
                    Some(_) if rest.starts_with("/*!") || rest.starts_with("/*M!") => {
                        // So does MariaDB; a number says from which version on.
                        let code = rest.trim_start_matches(['/', '*', 'M', '!']);
                        let code = code.trim_start_matches(|c: char| c.is_ascii_digit());
                        self.take(rest.len() - code.len());
                    }
                    Some(end) => self.take(end + 4),
                    None => return Some(self.give(Token::Open, rest.len())),
                }
            } else if rest.starts_with("*/") {
                self.take(2);
            } else {
                let token = self.token(rest, first);
                self.start = false;
                return Some(token);
            }
        }
    }

    fn token(&mut self, rest: &'a str, first: char) -> (Token<'a>, usize) {
        match first {
            ';' => self.give(Token::End, 1),
            '\'' => self.quoted(rest, "'", 1, Token::Text),
            '"' => self.quoted(rest, "\"", 1, Token::Name),
            '`' => self.quoted(rest, "`", 1, Token::Name),
            '$' => {
                // `$$ … $$` and `$name$ … $name$` of PostgreSQL.
                let name = rest[1..].find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
                match name.map(|end| end + 1).filter(|&end| rest[end..].starts_with('$')) {
                    Some(end) => self.quoted(rest, &rest[..=end], end + 1, Token::Text),
                    None => self.give(Token::Sign('$'), 1),
                }
            }
            '.' if self.start => {
                self.ends_with_line = true;
                let end = 1 + word_end(&rest[1..]);
                self.give(Token::Word(&rest[..end]), end)
            }
            c if c.is_alphabetic() || c == '_' => {
                let end = word_end(rest);
                self.give(Token::Word(&rest[..end]), end)
            }
            c => self.give(Token::Sign(c), c.len_utf8()),
        }
    }

    /// Something between two marks; the mark doubled stands for itself.
    fn quoted(
        &mut self,
        rest: &'a str,
        mark: &str,
        open: usize,
        kind: impl Fn(&'a str) -> Token<'a>,
    ) -> (Token<'a>, usize) {
        let mut at = open;
        loop {
            let Some(found) = rest[at..].find(mark) else {
                return self.give(Token::Open, rest.len());
            };
            let end = at + found;
            if mark.len() == 1 && rest[end + 1..].starts_with(mark) {
                at = end + 2;
                continue;
            }
            return self.give(kind(&rest[open..end]), end + mark.len());
        }
    }

    fn give(&mut self, token: Token<'a>, length: usize) -> (Token<'a>, usize) {
        let line = self.line;
        self.take(length);
        (token, line)
    }

    fn take(&mut self, length: usize) {
        self.line += self.text[self.at..self.at + length].matches('\n').count();
        self.at += length;
    }
}

fn word_end(text: &str) -> usize {
    text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn strings_names_and_comments_are_told_apart() {
        let all: Vec<_> = tokens("a 'it''s' \"b\" -- c\n/* d; */ e;.shell ls\nf $$x;y$$")
            .map(|(token, _)| token)
            .collect();
        assert_eq!(
            all,
            [
                Token::Word("a"),
                Token::Text("it''s"),
                Token::Name("b"),
                Token::Word("e"),
                Token::End,
                Token::Sign('.'),
                Token::Word("shell"),
                Token::Word("ls"),
                Token::Word("f"),
                Token::Text("x;y"),
            ]
        );
        let dot: Vec<_> = tokens("  .shell ls\nx").map(|(token, _)| token).collect();
        assert_eq!(dot, [Token::Word(".shell"), Token::Word("ls"), Token::End, Token::Word("x")]);
        assert_eq!(tokens("'x").next(), Some((Token::Open, 1)));
    }

    proptest! {
        #[test]
        fn any_text_ends(text in "[\\PC\\n'\"`$*/;.-]*") {
            let last = text.matches('\n').count() + 1;
            prop_assert!(tokens(&text).all(|(_, line)| line <= last));
        }
    }
}
