//! Reads the arguments of a tool call: `{"language": "…", "code": "…"}`.
//!
//! Twice, for two ends. [`CallCode`] gives the code while it is still being written, so that a
//! person can read along; nothing runs by it. [`parse`] reads the finished arguments, strictly:
//! arguments that are not exactly what was asked for are refused with a reason, never repaired.

use serde::Deserialize;
use serde_json::{Value, error::Category};

/// Why the arguments of a call could not be read. Says nothing that the model wrote.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// They are something else altogether.
    #[error("the arguments are not a JSON object with the strings `language` and `code`")]
    NotAnObject,

    /// They stop too soon.
    #[error("the arguments end in the middle of their JSON")]
    Cut,

    /// They are not JSON.
    #[error("the arguments are not valid JSON")]
    NotJson {
        /// The error, with its place.
        source: serde_json::Error,
    },

    /// A name stands there more than once, so it is not clear what was meant.
    #[error("the arguments have `language` or `code` more than once")]
    Twice,

    /// A name does not stand there.
    #[error("the arguments have no `{field}`, which must be a string")]
    Missing {
        /// The name.
        field: &'static str,
    },

    /// A name stands there with a number, a list or the like.
    #[error("`{field}` in the arguments is not a string")]
    NotAString {
        /// The name.
        field: &'static str,
    },
}

/// The arguments before their types are checked, so that the messages are ours.
#[derive(Deserialize)]
struct Arguments {
    #[serde(default)]
    language: Option<Value>,
    #[serde(default)]
    code: Option<Value>,
}

/// The language and the code that finished arguments hold. Other names beside them are ignored.
pub fn parse(arguments: &str) -> Result<(String, String), CallError> {
    // Checked first because a list of two strings would pass for the two fields in order.
    if !arguments.trim_start_matches(is_space).starts_with('{') {
        return Err(CallError::NotAnObject);
    }
    let Arguments { language, code } =
        serde_json::from_str(arguments).map_err(|source| match source.classify() {
            Category::Eof => CallError::Cut,
            Category::Data => CallError::Twice,
            Category::Syntax | Category::Io => CallError::NotJson { source },
        })?;
    Ok((string("language", language)?, string("code", code)?))
}

fn string(field: &'static str, value: Option<Value>) -> Result<String, CallError> {
    match value {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(CallError::NotAString { field }),
        None => Err(CallError::Missing { field }),
    }
}

/// Decodes the code of a call while its arguments arrive, in pieces cut anywhere.
///
/// For display only. It follows the arguments as far as it takes to find the code at their top;
/// once they are malformed, or the code is complete, it gives nothing more.
#[derive(Debug, Default)]
pub struct CallCode {
    state: State,
    language: Option<String>,
}

/// Where in the arguments we are.
#[derive(Debug, Default)]
enum State {
    /// Before the object.
    #[default]
    Before,
    /// Before a name.
    BeforeName,
    /// In a name, which is this so far.
    Name { text: Text, name: String },
    /// Between a name and its colon.
    BeforeColon(Field),
    /// Between a colon and its value.
    BeforeValue(Field),
    /// In the code.
    Code(Text),
    /// In the name of the language, which is this so far.
    Language(Text, String),
    /// In another string, inside so many lists and objects.
    Other(Text, usize),
    /// In a number, `true`, `false` or `null`.
    Word,
    /// Inside so many lists and objects.
    Nested(usize),
    /// After a value.
    AfterValue,
    /// Nothing more is to be had.
    Over,
}

#[derive(Clone, Copy, Debug)]
enum Field {
    Code,
    Language,
    Other,
}

/// Bytes of a name that are kept. Longer ones are nothing that we look for.
const LONGEST: usize = 64;

impl CallCode {
    /// Takes the next piece of the arguments in; gives what it adds to the code.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other states yield nothing")]
    pub fn feed(&mut self, piece: &str) -> String {
        let mut code = String::new();
        for c in piece.chars() {
            self.state = match std::mem::replace(&mut self.state, State::Over) {
                State::Code(mut text) => {
                    match text.take(c) {
                        Taken::Nothing => {}
                        Taken::Char(decoded) => code.push(decoded),
                        Taken::End | Taken::Malformed => break,
                    }
                    State::Code(text)
                }
                State::Language(mut text, mut name) => match text.take(c) {
                    Taken::Nothing => State::Language(text, name),
                    Taken::Char(decoded) => {
                        keep(&mut name, decoded);
                        State::Language(text, name)
                    }
                    Taken::End => {
                        self.language = Some(name);
                        State::AfterValue
                    }
                    Taken::Malformed => State::Over,
                },
                state => state.take(c),
            };
        }
        code
    }

    /// The language, once it is known. Arguments may have it behind the code.
    pub fn language(&self) -> Option<&str> {
        self.language.as_deref()
    }
}

fn keep(name: &mut String, c: char) {
    if name.len() < LONGEST {
        name.push(c);
    }
}

impl State {
    /// The state after a character that adds nothing to the code.
    fn take(self, c: char) -> Self {
        match (self, c) {
            (Self::Name { text, name }, c) => in_name(text, name, c),
            (Self::Other(mut text, depth), c) => match (text.take(c), depth) {
                (Taken::Nothing | Taken::Char(_), _) => Self::Other(text, depth),
                (Taken::End, 0) => Self::AfterValue,
                (Taken::End, _) => Self::Nested(depth),
                (Taken::Malformed, _) => Self::Over,
            },

            (Self::Word | Self::AfterValue, ',') => Self::BeforeName,
            (Self::Word, c) if is_space(c) => Self::AfterValue,
            (Self::Word, 'a'..='z' | 'E' | '0'..='9' | '+' | '-' | '.') => Self::Word,

            (Self::Nested(depth), '"') => Self::Other(Text::default(), depth),
            (Self::Nested(depth), '{' | '[') => Self::Nested(depth + 1),
            (Self::Nested(1), '}' | ']') => Self::AfterValue,
            (Self::Nested(depth), '}' | ']') => Self::Nested(depth - 1),
            (Self::Nested(depth), _) => Self::Nested(depth),

            (state, c) if is_space(c) => state,
            (Self::Before, '{') => Self::BeforeName,
            (Self::BeforeName, '"') => Self::Name { text: Text::default(), name: String::new() },
            (Self::BeforeColon(field), ':') => Self::BeforeValue(field),
            (Self::BeforeValue(Field::Code), '"') => Self::Code(Text::default()),
            (Self::BeforeValue(Field::Language), '"') => {
                Self::Language(Text::default(), String::new())
            }
            (Self::BeforeValue(Field::Other), '"') => Self::Other(Text::default(), 0),
            (Self::BeforeValue(_), '{' | '[') => Self::Nested(1),
            (Self::BeforeValue(_), 'a'..='z' | '0'..='9' | '-') => Self::Word,
            _ => Self::Over,
        }
    }
}

fn in_name(mut text: Text, mut name: String, c: char) -> State {
    match text.take(c) {
        Taken::Nothing => State::Name { text, name },
        Taken::Char(decoded) => {
            keep(&mut name, decoded);
            State::Name { text, name }
        }
        Taken::End => State::BeforeColon(match name.as_str() {
            "code" => Field::Code,
            "language" => Field::Language,
            _ => Field::Other,
        }),
        Taken::Malformed => State::Over,
    }
}

/// Decodes one JSON string, character by character, after its opening quote.
#[derive(Debug, Default)]
struct Text {
    escape: Escape,
    /// The first half of a character that is written as two escapes.
    high: Option<u32>,
}

#[derive(Debug, Default)]
enum Escape {
    #[default]
    None,
    /// After a backslash.
    Begun,
    /// After `\u`, and so many of its four digits.
    Unicode { digits: u32, value: u32 },
}

/// The meaning of a character in a JSON string.
enum Taken {
    /// It is part of an escape.
    Nothing,
    /// With what came before, this.
    Char(char),
    /// It ends the string.
    End,
    /// It cannot stand there.
    Malformed,
}

impl Text {
    fn take(&mut self, c: char) -> Taken {
        match std::mem::take(&mut self.escape) {
            Escape::None => match c {
                '\\' => {
                    self.escape = Escape::Begun;
                    Taken::Nothing
                }
                _ if self.high.is_some() => Taken::Malformed,
                '"' => Taken::End,
                '\0'..='\x1f' => Taken::Malformed,
                c => Taken::Char(c),
            },
            Escape::Begun if c == 'u' => {
                self.escape = Escape::Unicode { digits: 0, value: 0 };
                Taken::Nothing
            }
            Escape::Begun if self.high.is_some() => Taken::Malformed,
            Escape::Begun => match c {
                '"' | '\\' | '/' => Taken::Char(c),
                'b' => Taken::Char('\u{8}'),
                'f' => Taken::Char('\u{c}'),
                'n' => Taken::Char('\n'),
                'r' => Taken::Char('\r'),
                't' => Taken::Char('\t'),
                _ => Taken::Malformed,
            },
            Escape::Unicode { digits, value } => {
                let Some(digit) = c.to_digit(16) else { return Taken::Malformed };
                let value = value * 16 + digit;
                if digits == 3 {
                    return self.unit(value);
                }
                self.escape = Escape::Unicode { digits: digits + 1, value };
                Taken::Nothing
            }
        }
    }

    /// Takes the value of one `\u` escape, which may be half of a character.
    fn unit(&mut self, value: u32) -> Taken {
        let value = match (self.high.take(), value) {
            (None, 0xd800..=0xdbff) => {
                self.high = Some(value);
                return Taken::Nothing;
            }
            (None, _) => value,
            (Some(high), 0xdc00..=0xdfff) => 0x10000 + ((high - 0xd800) << 10) + (value - 0xdc00),
            (Some(_), _) => return Taken::Malformed,
        };
        // Fails for a second half that has no first.
        char::from_u32(value).map_or(Taken::Malformed, Taken::Char)
    }
}

/// The blanks of JSON.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::{error::Error, fmt::Write};

    fn one_by_one(arguments: &str) -> String {
        let mut call = CallCode::default();
        arguments.chars().map(|c| call.feed(c.encode_utf8(&mut [0; 4]))).collect()
    }

    fn at_once(arguments: &str) -> String {
        CallCode::default().feed(arguments)
    }

    #[test]
    fn the_code_is_read_along() {
        for (arguments, expected) in [
            (r#"{"language": "python", "code": "print(1)"}"#, "print(1)"),
            (r#"{"code":"a\n\"b\"\\\/\b\f\r\t","language":"sh"}"#, "a\n\"b\"\\/\u{8}\u{c}\r\t"),
            (r#"{"code":"\u00e9\uD83D\uDE00 é😀"#, "é😀 é😀"),
            (" \t\r\n{ \"code\" \n:\t\"x\" } ", "x"),
            (r#"{"c\u006fde": "x"}"#, "x"),
            // Only at the top, and only the value of that name.
            (r#"{"a": {"code": "no"}, "b": [{"code": "no"}, "]}"], "code": "yes"}"#, "yes"),
            (r#"{"a": "\"code\": \"no\"", "code": "yes"}"#, "yes"),
            (r#"{"coder": "no", "cod": "no", "": "no", "code": "yes"}"#, "yes"),
            (r#"{"a": -1.5e+3, "b": null,"c":true , "code": "yes"}"#, "yes"),
            (r#"{"language": "code", "code": "yes"}"#, "yes"),
            // A finished field stays finished.
            (r#"{"code": "yes", "code": "no"}"#, "yes"),
            // Not a string, not there, not yet.
            (r#"{"code": ["no"]}"#, ""),
            (r#"{"code": 1, "language": "no"}"#, ""),
            ("{}", ""),
            ("", ""),
            ("[\"code\", \"no\"]", ""),
            ("\"code\"", ""),
            (r#"{"code"#, ""),
            // As far as it is well-formed.
            ("{\"code\": \"a\nb\"}", "a"),
            (r#"{"code": "a\xb"}"#, "a"),
            (r#"{"code": "a\u12g4b"}"#, "a"),
            (r#"{"code": "a\ud83dxb"}"#, "a"),
            (r#"{"code": "a\ud83d\nb"}"#, "a"),
            (r#"{"code": "a\ud83d\u0041b"}"#, "a"),
            (r#"{"code": "a\ude00b"}"#, "a"),
            (r#"{"code": "a\ud83d"}"#, "a"),
            (r#"{code: "no"}"#, ""),
            (r#"{"code" "no"}"#, ""),
            (r#"{"a": ?, "code": "no"}"#, ""),
            (r#"{"a": "b" "code": "no"}"#, ""),
        ] {
            assert_eq!(at_once(arguments), expected, "{arguments}");
            assert_eq!(one_by_one(arguments), expected, "in pieces: {arguments}");
        }
    }

    #[test]
    fn code_comes_as_soon_as_it_is_known() {
        let mut call = CallCode::default();
        for (piece, expected) in [
            ("{\"code\": \"a", "a"),
            ("\\", ""),
            ("n\\u00", "\n"),
            ("e9\\ud83d", "é"),
            ("\\ude00b", "😀b"),
        ] {
            assert_eq!(call.feed(piece), expected, "{piece}");
        }
    }

    #[test]
    fn whole_arguments_are_read_strictly() {
        let both = |arguments| parse(arguments).unwrap();
        assert_eq!(both(r#"{"language":"r","code":"\u0000\n"}"#), ("r".into(), "\0\n".into()));
        assert_eq!(both(r#" {"code":"","x":[{}],"language":""} "#), (String::new(), String::new()));
    }

    #[test]
    fn bad_arguments_are_refused_with_a_reason() {
        for (arguments, expected) in [
            ("", "the arguments are not a JSON object with the strings `language` and `code`"),
            (
                "print(1)",
                "the arguments are not a JSON object with the strings `language` and `code`",
            ),
            (
                r#"["python", "print(1)"]"#,
                "the arguments are not a JSON object with the strings `language` and `code`",
            ),
            (
                r#"{"language": "python", "code": "pri"#,
                "the arguments end in the middle of their JSON",
            ),
            ("{}", "the arguments have no `language`, which must be a string"),
            (r#"{"language": "python"}"#, "the arguments have no `code`, which must be a string"),
            (
                r#"{"language": "python", "code": null}"#,
                "the arguments have no `code`, which must be a string",
            ),
            (r#"{"language": 3, "code": "x"}"#, "`language` in the arguments is not a string"),
            (r#"{"language": "sh", "code": ["x"]}"#, "`code` in the arguments is not a string"),
            (
                r#"{"language": "sh", "code": "x", "code": "y"}"#,
                "the arguments have `language` or `code` more than once",
            ),
            ("{\"language\": \"sh\", \"code\": \"a\nb\"}", "the arguments are not valid JSON"),
            (r#"{"language": "sh", "code": "a"} b"#, "the arguments are not valid JSON"),
            (r#"{"language": "sh", "code": "\ud83d."}"#, "the arguments are not valid JSON"),
        ] {
            assert_eq!(parse(arguments).unwrap_err().to_string(), expected, "{arguments}");
        }
    }

    #[test]
    fn a_reason_never_quotes_the_model() {
        let error = parse("{\"language\": \u{1b}[31m}").unwrap_err();
        assert_eq!(error.source().unwrap().to_string(), "expected value at line 1 column 14");
    }

    #[test]
    fn time_is_linear_in_the_arguments() {
        let long = "x\\n".repeat(1 << 18);
        let deep = "[".repeat(1 << 18);
        assert_eq!(one_by_one(&format!("{{\"code\": \"{long}\"}}")).len(), 2 << 18);
        assert_eq!(one_by_one(&format!("{{\"a\": {deep}")), "");
        assert!(parse(&format!("{{\"a\": {deep}")).is_err());
    }

    proptest! {
        #[test]
        fn what_is_shown_is_what_was_meant(
            language in any::<String>(),
            code in any::<String>(),
            other in any::<String>(),
            code_first in any::<bool>(),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let field = |name: &str, text: &str| format!("\"{name}\": {}", Value::from(text));
            let mut fields = [field("language", &language), field("code", &code)];
            if code_first {
                fields.reverse();
            }
            let nested = serde_json::json!({ "code": [&other, { "code": &other }] });
            let arguments = format!("{{\"x\": {nested}, {}}}", fields.join(" , "));
            prop_assert_eq!(&one_by_one(&arguments), &code);

            let places: Vec<_> = arguments.char_indices().map(|(at, _)| at).collect();
            let mut cuts: Vec<_> = cuts.iter().map(|cut| places[cut.index(places.len())]).collect();
            cuts.sort_unstable();
            let (mut call, mut shown, mut at) = (CallCode::default(), String::new(), 0);
            for cut in cuts.into_iter().chain([arguments.len()]) {
                shown.push_str(&call.feed(&arguments[at..cut]));
                at = cut;
            }
            prop_assert_eq!(&shown, &code);
            prop_assert_eq!(parse(&arguments).unwrap(), (language, code));
        }

        #[test]
        fn escaped_to_the_last_character_it_is_the_same(code in any::<String>()) {
            let mut escaped = String::new();
            for unit in code.encode_utf16() {
                write!(escaped, "\\u{unit:04x}").unwrap();
            }
            let arguments = format!("{{\"code\":\"{escaped}\"}}");
            prop_assert_eq!(at_once(&arguments), &*code);
            prop_assert_eq!(one_by_one(&arguments), code);
        }

        #[test]
        fn anything_may_come(text in any::<String>(), json in r#"[{}\[\]":,\\ucode0d8 \n]{0,80}"#) {
            for arguments in [text, format!("{{\"code\": \"{json}"), json] {
                let shown = at_once(&arguments);
                prop_assert_eq!(&one_by_one(&arguments), &shown);
                if let Ok((_, code)) = parse(&arguments) {
                    prop_assert_eq!(code, shown);
                }
            }
        }
    }
}
