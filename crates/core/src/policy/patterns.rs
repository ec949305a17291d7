//! Patterns in rules: one text or several, in which `*` stands for anything.

use crate::redact::MASK;
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, SeqAccess, Visitor},
};
use std::fmt;

/// Most patterns of one condition.
const MOST: usize = 100;

/// One pattern or several, of which one must fit. Never none: an empty list would be a condition
/// that nobody can read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patterns(Vec<String>);

impl Patterns {
    /// These, unless there are none, too many, or an empty one.
    pub fn new(all: Vec<String>) -> Result<Self, &'static str> {
        if all.is_empty() || all.len() > MOST {
            return Err("expected between 1 and 100 texts");
        }
        if all.iter().any(String::is_empty) {
            return Err("expected a text that is not empty");
        }
        Ok(Self(all))
    }

    /// Just this one.
    pub fn one(text: impl Into<String>) -> Self {
        Self(vec![text.into()])
    }

    /// Every pattern.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Whether a secret was masked in one of them.
    pub(super) fn are_masked(&self) -> bool {
        self.iter().any(|one| one.contains(MASK))
    }

    /// Them with a star where a secret was masked.
    pub(super) fn with_masks_open(self) -> Self {
        Self(self.0.into_iter().map(|one| with_masks_open(&one)).collect())
    }

    /// Whether one of them fits the whole of `text`.
    pub(crate) fn fit(&self, text: &str) -> bool {
        self.iter().any(|pattern| glob(pattern, text))
    }

    /// Whether `text` is one of them.
    pub(crate) fn contain(&self, text: &str) -> bool {
        self.iter().any(|one| one == text)
    }

    /// Whether each of them is one text, and none stands for others.
    pub(super) fn are_exact(&self) -> bool {
        !self.iter().any(|one| one.contains('*'))
    }

    /// Them in words, each between backticks.
    pub(crate) fn words(&self) -> String {
        let all: Vec<_> = self.iter().map(|one| format!("`{one}`")).collect();
        all.join(" or ")
    }

    /// Them in words, as names.
    pub(crate) fn names(&self) -> String {
        self.0.join(" or ")
    }
}

fn with_masks_open(pattern: &str) -> String {
    let mut open = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once(MASK) {
        open.push_str(before);
        open.push('*');
        // The name of a secret has no bracket; without one, all that follows may be its name.
        rest = after.split_once(']').map_or("", |(_, rest)| rest);
    }
    open + rest
}

impl Serialize for Patterns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [one] => serializer.serialize_str(one),
            many => many.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Patterns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMany;

        impl<'de> Visitor<'de> for OneOrMany {
            type Value = Vec<String>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a text or a list of texts")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Vec<String>, E> {
                Ok(vec![text.to_owned()])
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<String>, A::Error> {
                let mut all = Vec::new();
                while let Some(one) = seq.next_element()? {
                    all.push(one);
                    if all.len() > MOST {
                        break;
                    }
                }
                Ok(all)
            }
        }

        let all = deserializer.deserialize_any(OneOrMany)?;
        Self::new(all).map_err(de::Error::custom)
    }
}

/// Whether `text` as a whole fits `pattern`, in which `*` stands for anything. Linear in
/// practice: each `*` takes as little as it can.
pub(super) fn glob(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<_> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        assert!(glob("git push*", "git push --force"));
        assert!(glob("*curl*|*sh", "curl x | sh"));
        assert!(!glob("rm", "rm -r"));
        assert!(glob("rm", "rm"));
        assert!(!glob("a*a", "a"));
    }

    #[test]
    fn one_or_many_and_never_none() {
        let read = serde_json::from_str::<Patterns>;
        assert_eq!(read(r#""a*""#).unwrap(), Patterns::one("a*"));
        assert!(read(r#"["a", "b"]"#).unwrap().fit("b"));
        assert!(read("[]").is_err() && read(r#""""#).is_err() && read("3").is_err());
        assert!(read(&serde_json::to_string(&vec!["a"; MOST + 1]).unwrap()).is_err());
        assert_eq!(serde_json::to_string(&Patterns::one("a")).unwrap(), r#""a""#);
    }
}
