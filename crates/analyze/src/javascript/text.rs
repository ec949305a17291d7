//! JavaScript's escapes in strings and identifiers.

/// Text with its escapes replaced by what they mean.
pub(super) fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        rest = escape(&rest[at + 1..], &mut plain);
    }
    plain.push_str(rest);
    plain
}

/// Takes one escape, without its backslash, off the beginning of `text`.
fn escape<'a>(text: &'a str, plain: &mut String) -> &'a str {
    let mut characters = text.chars();
    let Some(first) = characters.next() else { return "" };
    let rest = characters.as_str();
    let simple = match first {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'v' => '\u{b}',
        '0' => '\0',
        '\n' | '\u{2028}' | '\u{2029}' => return rest,
        '\r' => return rest.strip_prefix('\n').unwrap_or(rest),
        'x' => return hexadecimal(rest, 2, plain),
        'u' => match rest.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
            Some((digits, after)) => {
                plain.extend(character(digits));
                return after;
            }
            None => return hexadecimal(rest, 4, plain),
        },
        other => other,
    };
    plain.push(simple);
    rest
}

fn hexadecimal<'a>(text: &'a str, length: usize, plain: &mut String) -> &'a str {
    let Some((digits, after)) = text.split_at_checked(length) else { return text };
    plain.extend(character(digits));
    after
}

fn character(digits: &str) -> Option<char> {
    u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escapes_mean_what_they_mean() {
        for (text, plain) in [
            (r"a\nb", "a\nb"),
            (r"\x65val", "eval"),
            (r"\u0065val", "eval"),
            (r"\u{65}val", "eval"),
            ("a\\\nb", "ab"),
            (r"\'\\", "'\\"),
            (r"\u{110000}x", "x"),
            (r"end\", "end"),
        ] {
            assert_eq!(unescape(text), plain, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_unescaped(text in "(\\\\|\\PC|[xu{}0-9])*") {
            unescape(&text);
        }
    }
}
