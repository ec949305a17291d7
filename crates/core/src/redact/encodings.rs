//! The forms in which a value may turn up: as it is, escaped, or encoded.

use crate::secret::LEAST;
use base64::{
    Engine, alphabet,
    engine::general_purpose::{GeneralPurpose, NO_PAD, STANDARD_NO_PAD},
};
use std::fmt::Write;

/// Bytes of a line that is looked for by itself, as a diff shows it.
const LINE: usize = 16;

/// Bytes of a value at most that is also looked for as pages show it, and in UTF-16. No value that
/// code may use is longer.
const SHOWN: usize = 4 << 10;

/// Bytes that stay as they are in an address, beside letters, digits and `-._`. A space stands for a
/// plus sign in its place.
const IN_ADDRESSES: [&str; 9] = ["", " ", FORM, "* ", "~", "~ ", "~/", "~!'()*", "~/:@"];

/// The same in the forms that we write ourselves.
const FORM: &str = "*";

/// Signs that encoders of JSON escape without need, and how: Go; Jinja; Gson; .NET; PHP.
const IN_JSON: [(&str, Hex); 5] = [
    ("&<>", Hex::Lower),
    ("&<>'", Hex::Lower),
    ("&<>'=", Hex::Lower),
    ("&<>'\"+`", Hex::Upper),
    ("&<>'\"/", Hex::Upper),
];

/// How pages write the two kinds of quotes.
const QUOTES: [&str; 3] = ["\"", "&quot;", "&#34;"];
const APOSTROPHES: [&str; 5] = ["'", "&#39;", "&#x27;", "&#039;", "&apos;"];

/// Every form of a value, each once.
pub(super) fn forms(value: &str) -> Vec<Vec<u8>> {
    let mut forms: Vec<Vec<u8>> = vec![value.into()];
    forms.extend(escaped(value).map(String::into_bytes));
    if value.len() <= SHOWN {
        forms.extend(in_page(value).map(String::into_bytes));
        forms.extend(in_utf16(value));
    }
    if value.contains('\n') {
        let lines = value.lines().map(str::trim).filter(|line| line.len() >= LINE);
        forms.extend(lines.map(Into::into));
    }
    for plain in IN_ADDRESSES {
        forms.push(percent(value, plain, Hex::Upper).into_bytes());
        forms.push(percent(value, plain, Hex::Lower).into_bytes());
    }
    let digits = crate::hash::hex(value.as_bytes());
    forms.push(digits.to_uppercase().into_bytes());
    forms.push(digits.into_bytes());
    for engine in [STANDARD_NO_PAD, GeneralPurpose::new(&alphabet::URL_SAFE, NO_PAD)] {
        forms.extend((0..3).map(|offset| base64(value.as_bytes(), offset, &engine)));
    }
    forms.retain(|form| form.len() >= LEAST);
    forms.sort_unstable();
    forms.dedup();
    forms
}

/// A value in a string of JSON, without the quotes. It is one of its forms.
pub(crate) fn in_json(value: &str) -> String {
    let quoted = serde_json::Value::from(value).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// A value in a form. It is one of its forms.
pub(crate) fn in_form(value: &str) -> String {
    percent(value, FORM, Hex::Upper)
}

/// As strings are escaped in JSON and in most languages.
fn escaped(value: &str) -> impl Iterator<Item = String> {
    let plain = in_json(value);
    let ascii = plain.chars().fold(String::new(), |mut text, c| {
        if c.is_ascii() {
            text.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                _ = write!(text, "\\u{unit:04x}");
            }
        }
        text
    });
    let slashes = plain.replace('/', "\\/");
    let known = if value.len() <= SHOWN { &IN_JSON[..] } else { &[] };
    let more = known.iter().map(|(signs, hex)| escaped_more(&plain, signs, *hex));
    let more: Vec<_> = more.collect();
    [plain, ascii, slashes].into_iter().chain(more)
}

/// A string of JSON with more signs escaped than need be.
fn escaped_more(plain: &str, signs: &str, hex: Hex) -> String {
    plain.chars().fold(String::new(), |mut text, c| {
        if !signs.contains(c) {
            text.push(c);
        } else if c == '/' {
            text.push_str("\\/");
        } else {
            if c == '"' {
                // It has been escaped already.
                text.pop();
            }
            // Writing to a string cannot fail.
            _ = match hex {
                Hex::Upper => write!(text, "\\u{:04X}", u32::from(c)),
                Hex::Lower => write!(text, "\\u{:04x}", u32::from(c)),
            };
        }
        text
    })
}

/// As text is written in HTML and XML.
fn in_page(value: &str) -> impl Iterator<Item = String> {
    let text = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let both = QUOTES.iter().flat_map(|quote| APOSTROPHES.iter().map(move |other| (quote, other)));
    let quoted: Vec<_> =
        both.map(|(quote, other)| text.replace('\'', other).replace('"', quote)).collect();
    // Handlebars, and Mustache.
    let more = text.replace('=', "&#x3D;").replace('`', "&#x60;").replace('"', "&quot;");
    let mustache = more.replace('\'', "&#39;").replace('/', "&#x2F;");
    quoted.into_iter().chain([more.replace('\'', "&#x27;"), mustache])
}

/// In UTF-16, the lower byte first or last: what both have in common, if it is ASCII.
fn in_utf16(value: &str) -> [Vec<u8>; 2] {
    let units = || value.encode_utf16();
    let mut low_first: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
    let mut high_first: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
    low_first.pop_if(|byte| *byte == 0);
    if high_first.first() == Some(&0) {
        high_first.remove(0);
    }
    [low_first, high_first]
}

#[derive(Clone, Copy)]
enum Hex {
    Upper,
    Lower,
}

/// As in an address. `plain` are the bytes that stay as they are, beside letters and digits; if a
/// space is among them, it becomes a plus sign.
fn percent(value: &str, plain: &str, hex: Hex) -> String {
    value.bytes().fold(String::new(), |mut text, byte| {
        if byte == b' ' && plain.contains(' ') {
            text.push('+');
        } else if byte.is_ascii_alphanumeric()
            || b"-._".contains(&byte)
            || plain.as_bytes().contains(&byte)
        {
            text.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            _ = match hex {
                Hex::Upper => write!(text, "%{byte:02X}"),
                Hex::Lower => write!(text, "%{byte:02x}"),
            };
        }
        text
    })
}

/// The digits that depend on the value alone, if `offset` bytes stand before it.
fn base64(value: &[u8], offset: usize, engine: &GeneralPurpose) -> Vec<u8> {
    let mut bytes = vec![0; offset];
    bytes.extend_from_slice(value);
    let digits = engine.encode(&bytes).into_bytes();
    let (first, last) = ((offset * 8).div_ceil(6), bytes.len() * 8 / 6);
    digits.get(first..last).unwrap_or_default().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(value: &str, form: &str) -> bool {
        forms(value).iter().any(|one| one == form.as_bytes())
    }

    #[test]
    fn a_value_is_known_in_its_usual_forms() {
        assert!(has("pass/word é\"1", "pass/word é\"1"));
        assert!(has("pass/word é\"1", "pass/word é\\\"1"));
        assert!(has("pass/word é\"1", "pass/word \\u00e9\\\"1"));
        assert!(has("pass/word é\"1", "pass%2Fword%20%C3%A9%221"));
        assert!(has("pass/word é\"1", "pass%2fword%20%c3%a9%221"));
        assert!(has("pass/word é\"1", "pass/word%20%C3%A9%221"));
        assert!(has("pass/word é\"1", "pass%2Fword+%C3%A9%221"));
        assert!(has("password1", "70617373776f726431") && has("password1", "70617373776F726431"));
    }

    #[test]
    fn a_value_is_known_as_other_programs_write_it() {
        let value = "a&b<c>d'e\"f=g+h/i";
        for form in [
            r#"a\u0026b\u003cc\u003ed'e\"f=g+h/i"#,
            r#"a\u0026b\u003cc\u003ed\u0027e\"f=g+h/i"#,
            r#"a\u0026b\u003cc\u003ed\u0027e\"f\u003dg+h/i"#,
            r"a\u0026b\u003Cc\u003Ed\u0027e\u0022f=g\u002Bh/i",
            r"a\u0026b\u003Cc\u003Ed\u0027e\u0022f=g+h\/i",
            "a&amp;b&lt;c&gt;d'e\"f=g+h/i",
            "a&amp;b&lt;c&gt;d&#39;e&#34;f=g+h/i",
            "a&amp;b&lt;c&gt;d&#39;e&quot;f=g+h/i",
            "a&amp;b&lt;c&gt;d&#x27;e&quot;f=g+h/i",
            "a&amp;b&lt;c&gt;d&#x27;e&quot;f&#x3D;g+h/i",
            "a&amp;b&lt;c&gt;d&#39;e&quot;f&#x3D;g+h&#x2F;i",
        ] {
            assert!(has(value, form), "{form}");
        }
        // A backslash before a quote is not the one that escapes it.
        assert!(has("pass\\\"word", r"pass\\\u0022word"));
        assert!(has("password", "p\0a\0s\0s\0w\0o\0r\0d"));
        for form in ["sk%7Elive%7E0123%2A+x", "sk%7elive%7e0123*+x", "sk~live~0123%2A%20x"] {
            assert!(has("sk~live~0123* x", form), "{form}");
        }
    }

    /// The automaton grows with the forms.
    #[test]
    fn a_value_without_special_signs_has_few_forms() {
        // As it is, two in hexadecimal, three in base64, one in UTF-16.
        assert_eq!(forms("ghp0123456789klmnopKLMNOP").len(), 7);
        let signs: String = (' '..='~').collect();
        assert!(forms(&signs).len() <= 60, "{}", forms(&signs).len());
        let long = signs.repeat(SHOWN / signs.len() + 1);
        assert!(forms(&long).len() <= 30, "{}", forms(&long).len());
    }

    #[test]
    fn base64_is_known_wherever_the_value_stands() {
        let value = "sk-Canary_0123456789";
        for before in ["", "a", "ab", "abc", "Basic user:"] {
            for after in ["", "x", "xy", "\n"] {
                let encoded = STANDARD_NO_PAD.encode(format!("{before}{value}{after}"));
                let found = forms(value).iter().any(|form| {
                    encoded.as_bytes().windows(form.len()).any(|window| window == form)
                });
                assert!(found, "{before}|{after}: {encoded}");
            }
        }
    }
}
