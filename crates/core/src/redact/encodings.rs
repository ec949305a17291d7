//! The forms in which a value may turn up: as it is, escaped, or encoded.

use crate::secret::LEAST;
use base64::{
    Engine, alphabet,
    engine::general_purpose::{GeneralPurpose, NO_PAD, STANDARD_NO_PAD},
};
use std::fmt::Write;

/// Bytes of a line that is looked for by itself, as a diff shows it.
const LINE: usize = 16;

/// Every form of a value, each once.
pub(super) fn forms(value: &str) -> Vec<Vec<u8>> {
    let mut forms: Vec<Vec<u8>> = vec![value.into()];
    forms.extend(escaped(value).map(String::into_bytes));
    if value.contains('\n') {
        let lines = value.lines().map(str::trim).filter(|line| line.len() >= LINE);
        forms.extend(lines.map(Into::into));
    }
    for plain in ["", "/", "!'()*", "/:@", " "] {
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

/// As strings are escaped in JSON and in most languages.
fn escaped(value: &str) -> impl Iterator<Item = String> {
    let quoted = serde_json::to_string(value).unwrap_or_default();
    let plain = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let plain = plain.unwrap_or_default().to_owned();
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
    [plain, ascii, slashes].into_iter()
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
            || b"-._~".contains(&byte)
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
