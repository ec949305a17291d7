//! Words of the program's own.
//!
//! # Threat
//! Foreign text inside a sentence of ours, which a person then takes for our word.
//!
//! # Mechanism
//! [`Ours`] is made of literals, numbers and single plain words, and of nothing else: there is no
//! way from a `String` to it. The screen puts the mark of our own rows before an [`Ours`] and
//! before nothing else.

use std::ops::Add;

/// Text of the program's own, for a row of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ours(String);

/// Stands for a blank at which a row is not broken.
pub(super) const UNBROKEN: &str = "\u{a0}";

/// The longest word that is taken over.
const LONGEST_WORD: usize = 40;

/// Begins a text of our own.
pub(crate) fn ours(text: impl Into<Ours>) -> Ours {
    text.into()
}

/// A name that we or the person chose, such as an id or a language. It must be one plain word of
/// ASCII letters, digits and `-_.:+#/`: it cannot make a sentence. Anything else becomes `?`.
pub(crate) fn word(name: &str) -> Ours {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:+#/".contains(c);
    let fits = !name.is_empty() && name.len() <= LONGEST_WORD && name.chars().all(plain);
    Ours(if fits { name.to_owned() } else { "?".to_owned() })
}

/// A number of things: `1 file`, `2 files`.
pub(crate) fn count(number: impl TryInto<u64>, thing: &'static str) -> Ours {
    let number = number.try_into().unwrap_or(u64::MAX);
    let plural = if number == 1 { "" } else { "s" };
    Ours(format!("{number} {thing}{plural}"))
}

/// A number with commas: `98,412`.
pub(crate) fn thousands(number: u64) -> Ours {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    Ours(text)
}

impl Ours {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The same, not to be broken at the end of a row.
    pub(crate) fn unbroken(self) -> Self {
        Self(self.0.replace(' ', UNBROKEN))
    }

    /// Joins several with something between them.
    pub(crate) fn joined(parts: impl IntoIterator<Item = Self>, between: &'static str) -> Self {
        let parts: Vec<_> = parts.into_iter().map(|part| part.0).collect();
        Self(parts.join(between))
    }
}

impl From<&'static str> for Ours {
    fn from(text: &'static str) -> Self {
        Self(text.to_owned())
    }
}

impl From<char> for Ours {
    /// A key to press: one character, and only a plain one.
    fn from(key: char) -> Self {
        Self(if key.is_ascii_graphic() { key.to_string() } else { "?".to_owned() })
    }
}

macro_rules! numbers {
    ($($number:ty),*) => {
        $(impl From<$number> for Ours {
            fn from(number: $number) -> Self {
                Self(number.to_string())
            }
        })*
    };
}

numbers!(u16, u32, u64, usize, i32);

impl<T: Into<Self>> Add<T> for Ours {
    type Output = Self;

    fn add(mut self, more: T) -> Self {
        self.0.push_str(&more.into().0);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_made_of_literals_numbers_and_words() {
        let text = ours("Keep ") + count(2_usize, "change") + " (set " + word("10d9afa1") + ")?";
        assert_eq!(text.as_str(), "Keep 2 changes (set 10d9afa1)?");
    }

    #[test]
    fn long_numbers_have_commas() {
        let all = [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (98_412, "98,412"),
            (1_234_567, "1,234,567"),
        ];
        for (number, text) in all {
            assert_eq!(thousands(number).as_str(), text);
        }
    }

    #[test]
    fn a_word_cannot_be_a_sentence() {
        for name in ["", "Run it? y", "a\nb", "\u{1b}[2J", "ä", &"x".repeat(41)] {
            assert_eq!(word(name).as_str(), "?", "{name:?}");
        }
        assert_eq!(word("jupyter:python3").as_str(), "jupyter:python3");
    }
}
