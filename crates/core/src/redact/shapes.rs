//! The shapes by which tokens of well-known services are recognised, as data in `shapes.toml`.

use serde::Deserialize;
use std::{ops::Range, sync::OnceLock};

/// A kind of token: how it begins, and what follows.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shape {
    /// The name that stands in the place of a token.
    pub(super) name: String,
    /// How a token begins.
    pub(super) starts: Vec<String>,
    /// The bytes that follow.
    #[serde(rename = "of")]
    alphabet: Alphabet,
    /// The number of bytes that follow: the fewest and the most.
    length: (usize, usize),
    /// Bits of entropy in each byte that follows, at least. An example has few.
    #[serde(default)]
    entropy: f64,
    /// Text that must be among what follows.
    #[serde(default)]
    contains: String,
    /// Text that is among what follows in examples.
    #[serde(default)]
    except: Vec<String>,
    /// Whether it may stand in the middle of a word.
    #[serde(default)]
    inside: bool,
    /// Bytes of which one must follow the token, unless the text ends.
    #[serde(default)]
    before: String,
    /// Whether its beginning is no part of the secret.
    #[serde(default)]
    pub(super) keeps: bool,
    /// Whether letters and digits must be mixed in it: names and dates are not.
    #[serde(default)]
    mixed: bool,
}

/// Letters and digits in a row that make a word, if both are among them, no word of a language.
const MIXED: usize = 8;

/// A set of bytes, written as in a regular expression: `A-Za-z0-9_-`.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct Alphabet(Box<[bool; 256]>);

#[derive(Deserialize)]
struct File {
    shape: Vec<Shape>,
}

/// All shapes. They are read when they are first needed.
pub(super) fn shapes() -> &'static [Shape] {
    static SHAPES: OnceLock<Vec<Shape>> = OnceLock::new();
    SHAPES.get_or_init(|| {
        let file: File = toml::from_str(include_str!("shapes.toml")).expect("a test reads it");
        file.shape
    })
}

/// Whether more of a text may follow.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Open,
    Final,
}

/// Where a token ends.
pub(super) enum Ends {
    At(usize),
    /// It is none.
    Nowhere,
    /// The text ends before that is clear.
    Undecided,
}

impl Shape {
    /// Where the token ends whose beginning was found at `start`, and how far the text was read.
    pub(super) fn ends(&self, text: &[u8], start: &Range<usize>, end: End) -> (Ends, usize) {
        let before = start.start.checked_sub(1).map(|at| text[at]);
        let in_word = before.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if in_word && !self.inside {
            return (Ends::Nowhere, start.end);
        }
        let (least, most) = self.length;
        let rest = &text[start.end..];
        let rest = &rest[..rest.len().min(most + 1)];
        let length = rest.iter().take_while(|byte| self.alphabet.0[usize::from(**byte)]).count();
        let until = start.end + length;
        if length > most {
            return (Ends::Nowhere, until);
        }
        if end == End::Open && until == text.len() {
            return (Ends::Undecided, until);
        }
        let token = &rest[..length];
        let has = |part: &str| token.windows(part.len()).any(|window| window == part.as_bytes());
        let is_closed = self.before.is_empty()
            || text.get(until).is_none_or(|next| self.before.as_bytes().contains(next));
        let fits = length >= least
            && is_closed
            && (!self.mixed || is_mixed(token))
            && (self.contains.is_empty() || has(&self.contains))
            && !self.except.iter().any(|part| has(part))
            && entropy(token) >= self.entropy;
        (if fits { Ends::At(until) } else { Ends::Nowhere }, until)
    }
}

#[cfg(test)]
impl Shape {
    /// Something that may follow the beginning, by numbers that somebody else chooses.
    pub(super) fn example(&self, mut chosen: impl FnMut() -> u64) -> String {
        let all: Vec<_> =
            (b'!'..=b'~').filter(|byte| self.alphabet.0[usize::from(*byte)]).collect();
        let (least, most) = self.length;
        let length = usize::midpoint(least, most.min(least + 60));
        let at = |number: u64, most: usize| usize::try_from(number % most as u64).unwrap();
        let mut text: String =
            (0..length).map(|_| char::from(all[at(chosen() >> 8, all.len())])).collect();
        if !self.contains.is_empty() {
            let place = at(chosen() >> 8, length - self.contains.len() - 8) + 4;
            text.replace_range(place..place + self.contains.len(), &self.contains);
        }
        text
    }

    /// Whether its tokens have entropy, and examples do not.
    pub(super) fn looks_random(&self) -> bool {
        self.entropy > 0.0
    }

    /// Something that may follow a whole token.
    pub(super) fn closing(&self) -> String {
        self.before.chars().take(1).collect()
    }
}

/// Whether a run of letters and digits has both, and is long enough.
fn is_mixed(token: &[u8]) -> bool {
    token.split(|byte| !byte.is_ascii_alphanumeric()).any(|run| {
        run.len() >= MIXED
            && run.iter().any(u8::is_ascii_digit)
            && run.iter().any(u8::is_ascii_alphabetic)
    })
}

/// Shannon's entropy of the bytes, in bits for each.
#[expect(clippy::cast_precision_loss, reason = "a token has few bytes")]
fn entropy(token: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in token {
        counts[usize::from(*byte)] += 1;
    }
    let share = |count: u32| f64::from(count) / token.len() as f64;
    let counts = counts.into_iter().filter(|count| *count > 0);
    -counts.map(|count| share(count) * share(count).log2()).sum::<f64>()
}

impl TryFrom<String> for Alphabet {
    type Error = String;

    /// A dash stands for itself at the end.
    fn try_from(text: String) -> Result<Self, String> {
        let mut table = Box::new([false; 256]);
        let mut rest = text.as_bytes();
        while let Some((&first, after)) = rest.split_first() {
            let (last, after) = match after {
                [b'-', last, after @ ..] => (*last, after),
                _ => (first, after),
            };
            if last < first {
                return Err(format!("`{text}` has a reversed range"));
            }
            (first..=last).for_each(|byte| table[usize::from(byte)] = true);
            rest = after;
        }
        Ok(Self(table))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_shape_can_be_read_and_has_bounds() {
        let names: BTreeSet<_> = shapes().iter().map(|shape| &shape.name).collect();
        assert_eq!(names.len(), shapes().len(), "a name is there twice");
        assert!(shapes().len() >= 120, "{}", shapes().len());
        for shape in shapes() {
            let (least, most) = shape.length;
            assert!(least >= 8 && least <= most && most <= 8192, "{}", shape.name);
            assert!(!shape.starts.is_empty(), "{}", shape.name);
            assert!(shape.starts.iter().all(|start| start.len() >= 3), "{}", shape.name);
            assert!(!shape.except.iter().any(String::is_empty), "{}", shape.name);
        }
    }

    #[test]
    fn entropy_tells_examples_from_tokens() {
        assert!(entropy(b"xxxxxxxxxxxxxxxx") < 0.1);
        assert!(entropy(b"k3J9sQ0zL1mN7pR2") > 3.5);
    }

    #[test]
    fn an_alphabet_is_read_like_a_class_of_characters() {
        let table = Alphabet::try_from("a-c_-".to_owned()).unwrap().0;
        let bytes: String =
            (0..=255_u8).filter(|byte| table[usize::from(*byte)]).map(char::from).collect();
        assert_eq!(bytes, "-_abc");
        assert!(Alphabet::try_from("z-a".to_owned()).is_err());
    }
}
