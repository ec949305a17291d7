//! Reads `.env` files: names and values, one to a line.
//!
//! Understands what the usual tools agree on: `export`, comments, single and double quotes, escapes in
//! double quotes. Expands nothing and runs nothing.

use crate::Secret;

/// The longest name of a secret.
const LONGEST_NAME: usize = 128;

/// Whether a secret may have this name: one that a variable can have too.
pub fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    let begins = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    begins
        && name.len() <= LONGEST_NAME
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The variables in a file, in their order; or the number of the first line that is none.
pub fn parse(text: &str) -> Result<Vec<(String, Secret)>, usize> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut found = Vec::new();
    let mut rest = text;
    let mut number = 0;
    while !rest.is_empty() {
        number += 1;
        let line = rest.split('\n').next().unwrap_or_default();
        let plain = line.trim();
        if plain.is_empty() || plain.starts_with('#') {
            rest = rest.get(line.len() + 1..).unwrap_or_default();
            continue;
        }
        let (name, after) = line.split_once('=').ok_or(number)?;
        let name = name.trim();
        let name = name.strip_prefix("export ").map_or(name, str::trim);
        if !is_name(name) {
            return Err(number);
        }
        let begin = line.len() - after.len();
        let (value, length) = value(&rest[begin..]).ok_or(number)?;
        found.push((name.to_owned(), Secret::new(value)));
        let lines = rest[begin..begin + length].matches('\n').count();
        number += lines;
        rest = rest[begin + length..].strip_prefix('\n').unwrap_or(&rest[begin + length..]);
    }
    Ok(found)
}

/// A value, and how many bytes it takes to the end of its line. `None` if a quote does not end.
fn value(text: &str) -> Option<(String, usize)> {
    let line = text.split('\n').next().unwrap_or_default();
    let skipped = line.len() - line.trim_start().len();
    let begins = &text[skipped..];
    let quote = begins.chars().next().filter(|c| matches!(c, '"' | '\''));
    let Some(quote) = quote else {
        // A comment begins behind a space.
        let value = line.split(" #").next().unwrap_or_default();
        return Some((value.trim().to_owned(), line.len()));
    };
    let mut value = String::new();
    let mut characters = begins.char_indices().skip(1);
    while let Some((at, c)) = characters.next() {
        match c {
            _ if c == quote => {
                let end = skipped + at + 1;
                let behind = text[end..].split('\n').next().unwrap_or_default();
                let is_fine = behind.trim().is_empty() || behind.trim().starts_with('#');
                return is_fine.then_some((value, end + behind.len()));
            }
            '\\' if quote == '"' => match characters.next()?.1 {
                'n' => value.push('\n'),
                'r' => value.push('\r'),
                't' => value.push('\t'),
                other @ ('"' | '\\' | '$' | '`') => value.push(other),
                other => value.extend(['\\', other]),
            },
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<Vec<(String, String)>, usize> {
        let pair = |(name, value): (String, Secret)| (name, value.reveal().to_owned());
        parse(text).map(|all| all.into_iter().map(pair).collect())
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
    }

    #[test]
    fn the_usual_forms_are_read() {
        let text = "\u{feff}# comment\n\nA=1\nexport B = two words # comment\nC='it''\n";
        assert_eq!(read(text), Err(5));
        let text = "A=1\r\nexport B = two words # comment\nC='a # \\n'\nD=\"x\\n\\\"y\\\"\" # c\nE=\n\
                    F=\"first\nsecond\"\nG=a#b";
        let expected = [
            ("A", "1"),
            ("B", "two words"),
            ("C", "a # \\n"),
            ("D", "x\n\"y\""),
            ("E", ""),
            ("F", "first\nsecond"),
            ("G", "a#b"),
        ];
        assert_eq!(read(text), Ok(pairs(&expected)));
    }

    #[test]
    fn a_line_that_is_none_is_named() {
        assert_eq!(read("A=1\nnonsense\n"), Err(2));
        assert_eq!(read("A='1\n2'\n3=x\n"), Err(3));
        assert_eq!(read("A=\"open\n"), Err(1));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in any::<String>()) {
            _ = parse(&text).is_ok();
        }

        #[test]
        fn a_quoted_value_comes_back(value in "[^'\u{0}]{0,40}") {
            let read = read(&format!("X='{value}'\nY=1\n"));
            prop_assert_eq!(read, Ok(pairs(&[("X", &value), ("Y", "1")])));
        }
    }
}
