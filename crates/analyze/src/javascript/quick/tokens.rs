//! The tokens of ordinary JavaScript, and which brackets belong together.
//!
//! Gives up on whatever is unusual: names with escapes or beyond ASCII, private names, decorators,
//! old comments. Where a slash could begin an expression or divide, it divides after a closing
//! bracket; the reading then fails where that is wrong. Every byte is looked at a fixed number of
//! times.

/// The sort of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Word,
    Number,
    Text,
    Regex,
    /// A template up to its first substitution or its end.
    Template,
    /// A template from the end of a substitution to the next one or its end.
    More,
    Sign,
    End,
}

/// One token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) sort: Sort,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether it is the first on its line.
    pub(super) is_first: bool,
    /// Where in the list the bracket is that closes this one.
    pub(super) mate: usize,
}

/// Signs of more than one character, the longest first.
const SIGNS: [&str; 36] = [
    ">>>=", "...", "===", "!==", "**=", "<<=", ">>=", ">>>", "&&=", "||=", "??=", "=>", "==", "!=",
    "<=", ">=", "&&", "||", "??", "?.", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=",
    "<<", ">>", "**", "<!", "*/", "#!",
];

/// Words after which a slash begins an expression.
const BEFORE_REGEX: [&str; 14] = [
    "return",
    "typeof",
    "case",
    "in",
    "delete",
    "void",
    "throw",
    "new",
    "else",
    "do",
    "instanceof",
    "of",
    "await",
    "yield",
];

/// The tokens of some code, with one more for its end.
pub(super) fn tokens(source: &str) -> Option<Vec<Token>> {
    let mut lexer =
        Lexer { source, at: 0, all: Vec::with_capacity(source.len() / 4), open: vec![] };
    while let Some(is_first) = lexer.skip()? {
        lexer.token(is_first)?;
    }
    let Lexer { mut all, open, .. } = lexer;
    let end = source.len();
    all.push(Token { sort: Sort::End, start: end, end, is_first: true, mate: 0 });
    open.is_empty().then_some(all)
}

struct Lexer<'a> {
    source: &'a str,
    at: usize,
    all: Vec<Token>,
    /// The brackets that are open, and the templates whose substitution is.
    open: Vec<(u8, usize)>,
}

impl Lexer<'_> {
    fn byte(&self, after: usize) -> u8 {
        self.source.as_bytes().get(self.at + after).copied().unwrap_or_default()
    }

    /// Goes over space and comments. Gives whether a line ended among them, or nothing at the end.
    #[expect(clippy::option_option, reason = "the end is no failure")]
    fn skip(&mut self) -> Option<Option<bool>> {
        let mut is_first = self.all.is_empty();
        while self.at < self.source.len() {
            match (self.byte(0), self.byte(1)) {
                (b'\n', _) => (is_first, self.at) = (true, self.at + 1),
                (b' ' | b'\t' | b'\r', _) => self.at += 1,
                (b'/', b'/') => {
                    let rest = &self.source[self.at..];
                    // Other ends of a line are not ASCII.
                    let end = rest.find('\n').unwrap_or(rest.len());
                    if rest[..end].contains(['\r', '\u{2028}', '\u{2029}']) {
                        return None;
                    }
                    self.at += end;
                }
                (b'/', b'*') => {
                    let inside = &self.source[self.at + 2..];
                    let end = inside.find("*/")?;
                    is_first |= inside[..end].contains('\n');
                    self.at += end + 4;
                }
                _ => return Some(Some(is_first)),
            }
        }
        Some(None)
    }

    fn push(&mut self, sort: Sort, length: usize, is_first: bool) {
        let (start, end) = (self.at, self.at + length);
        self.all.push(Token { sort, start, end, is_first, mate: 0 });
        self.at = end;
    }

    fn token(&mut self, is_first: bool) -> Option<()> {
        let rest = &self.source.as_bytes()[self.at..];
        let byte = self.byte(0);
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' => {
                let is_in = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$');
                let length = rest.iter().take_while(|byte| is_in(byte)).count();
                // A name may go on with what is not read here.
                if rest.get(length).is_some_and(|&next| next == b'\\' || !next.is_ascii()) {
                    return None;
                }
                self.push(Sort::Word, length, is_first);
            }
            b'0'..=b'9' => self.number(rest, is_first)?,
            b'"' | b'\'' => {
                let mut length = 1;
                while *rest.get(length)? != byte {
                    length += match rest[length] {
                        b'\n' | b'\r' => return None,
                        b'\\' => 2,
                        _ => 1,
                    };
                }
                self.push(Sort::Text, length + 1, is_first);
            }
            b'`' => self.template(Sort::Template, is_first)?,
            b'/' if self.begins_regex() => self.regex(rest, is_first)?,
            b'(' | b'[' | b'{' => {
                self.open.push((byte, self.all.len()));
                self.push(Sort::Sign, 1, is_first);
            }
            b'}' if self.open.last()?.0 == b'`' => {
                self.open.pop();
                self.template(Sort::More, is_first)?;
            }
            b')' | b']' | b'}' => {
                let (opened, at) = self.open.pop()?;
                if !matches!((opened, byte), (b'(', b')') | (b'[', b']') | (b'{', b'}')) {
                    return None;
                }
                self.all[at].mate = self.all.len();
                self.push(Sort::Sign, 1, is_first);
            }
            b'.' if self.byte(1).is_ascii_digit() => return None,
            b'#' | b'@' | b'\\' => return None,
            _ if byte.is_ascii_punctuation() => self.sign(is_first)?,
            _ => return None,
        }
        Some(())
    }

    fn sign(&mut self, is_first: bool) -> Option<()> {
        let rest = &self.source[self.at..];
        let long = SIGNS.iter().find(|sign| rest.starts_with(**sign));
        let length = match long {
            // `a?.5:b`, and what begins or ends a comment.
            Some(&"?.") if self.byte(2).is_ascii_digit() => return None,
            Some(&("<!" | "*/" | "#!")) => return None,
            Some(&"--") if is_first && rest.starts_with("-->") => return None,
            Some(sign) => sign.len(),
            None => 1,
        };
        self.push(Sort::Sign, length, is_first);
        Some(())
    }

    fn number(&mut self, rest: &[u8], is_first: bool) -> Option<()> {
        let count = |from: usize| {
            rest[from..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count()
        };
        let mut length = count(0);
        // Only the plainest of numbers with a dot or an exponent.
        if rest[..length].iter().all(u8::is_ascii_digit) && rest.get(length) == Some(&b'.') {
            if !rest.get(length + 1).is_some_and(u8::is_ascii_digit) {
                return None;
            }
            length += 1 + count(length + 1);
        }
        let has_exponent = matches!(rest[length - 1], b'e' | b'E') && !rest.starts_with(b"0x");
        let goes_on = |byte: &u8| matches!(byte, b'_' | b'$' | b'.' | b'\\') || !byte.is_ascii();
        if has_exponent || rest.get(length).is_some_and(goes_on) {
            return None;
        }
        self.push(Sort::Number, length, is_first);
        Some(())
    }

    /// A template, from its quote or the end of a substitution.
    fn template(&mut self, sort: Sort, is_first: bool) -> Option<()> {
        let rest = &self.source.as_bytes()[self.at..];
        let mut length = 1;
        loop {
            match (*rest.get(length)?, rest.get(length + 1)) {
                (b'`', _) => break,
                (b'$', Some(b'{')) => {
                    self.open.push((b'`', 0));
                    length += 1;
                    break;
                }
                (b'\\', _) => length += 2,
                _ => length += 1,
            }
        }
        self.push(sort, length + 1, is_first);
        Some(())
    }

    fn begins_regex(&self) -> bool {
        let Some(last) = self.all.last() else { return true };
        let text = &self.source[last.start..last.end];
        match last.sort {
            Sort::Word => BEFORE_REGEX.contains(&text),
            Sort::Sign => !matches!(text, ")" | "]" | "}" | "++" | "--"),
            Sort::More | Sort::Template => !text.ends_with('`'),
            Sort::Number | Sort::Text | Sort::Regex | Sort::End => false,
        }
    }

    fn regex(&mut self, rest: &[u8], is_first: bool) -> Option<()> {
        let (mut length, mut is_class) = (1, false);
        loop {
            match *rest.get(length)? {
                b'\n' | b'\r' => return None,
                b'\\' => length += 1,
                b'[' => is_class = true,
                b']' => is_class = false,
                b'/' if !is_class => break,
                _ => {}
            }
            length += 1;
        }
        let flags = rest[length + 1..].iter().take_while(|byte| byte.is_ascii_lowercase()).count();
        self.push(Sort::Regex, length + 1 + flags, is_first);
        Some(())
    }
}
