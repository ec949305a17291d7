//! How many people must approve code, and who must not: what a rule can demand beyond one yes.
//!
//! # Threat
//! Somebody who approves their own code, or approves it twice under two names; a second rule, or a
//! project's, by which fewer people suffice.
//!
//! # Mechanism
//! Demands are combined to one that is at least as strict as each of them. A person is known by an
//! id that they do not choose, whatever they are called and by whichever way they come.
//! `session/ballot.rs` counts.
//!
//! # Limits
//! Two accounts of the same human being are two people here.
//!
//! Plain values.

use serde::{Deserialize, Deserializer, Serialize, de};

/// The most answers that a rule can demand.
pub const MOST_ANSWERS: u8 = 5;

/// Who must approve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Quorum {
    /// So many different people.
    pub answers: u8,
    /// None of whom wrote it, or had it written.
    #[serde(default)]
    pub not_author: bool,
}

impl Default for Quorum {
    fn default() -> Self {
        Self { answers: 1, not_author: false }
    }
}

impl Quorum {
    /// The demand that meets both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            answers: self.answers.max(other.answers),
            not_author: self.not_author || other.not_author,
        }
    }

    /// Whether it asks for no more than any question does: one yes.
    pub fn is_plain(self) -> bool {
        self.answers <= 1 && !self.not_author
    }

    /// Whether everything that meets this also meets the other.
    pub fn covers(self, other: Self) -> bool {
        self.and(other) == self
    }

    /// It in words, unless it is plain.
    pub fn words(self) -> Option<String> {
        match (self.answers, self.not_author) {
            (0 | 1, false) => None,
            (0 | 1, true) => Some("approved by somebody else than the author".into()),
            (answers, false) => Some(format!("approved by {answers} people")),
            (answers, true) => Some(format!("approved by {answers} people other than the author")),
        }
    }
}

/// Reads how many people must approve.
pub(crate) fn answers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u8>, D::Error> {
    let answers = i64::deserialize(deserializer)?;
    u8::try_from(answers)
        .ok()
        .filter(|one| (1..=MOST_ANSWERS).contains(one))
        .map(Some)
        .ok_or_else(|| de::Error::custom(format!("`answers` is a number from 1 to {MOST_ANSWERS}")))
}

/// A person who can be told from every other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// By which they are known.
    pub id: String,
    /// Their name, or that of the program by which they come.
    pub name: String,
}

/// How many people a session has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum People {
    /// One, at a terminal, on a server of their own or behind a script.
    #[default]
    One,
    /// Those of a team, each known.
    Several,
}

/// The demand on the answers to a question, as the record has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedQuorum {
    /// Who must approve.
    #[serde(flatten)]
    pub quorum: Quorum,
    /// Those who wrote it, or had it written.
    pub authors: Vec<Person>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn quorum() -> impl Strategy<Value = Quorum> {
        (1..=MOST_ANSWERS, any::<bool>())
            .prop_map(|(answers, not_author)| Quorum { answers, not_author })
    }

    #[test]
    fn only_more_than_one_yes_needs_words() {
        assert_eq!(Quorum::default().words(), None);
        let words = |answers, not_author| Quorum { answers, not_author }.words().unwrap();
        assert_eq!(words(2, false), "approved by 2 people");
        assert_eq!(words(1, true), "approved by somebody else than the author");
        assert_eq!(words(3, true), "approved by 3 people other than the author");
    }

    proptest! {
        #[test]
        fn both_is_as_strict_as_each_and_in_any_order(a in quorum(), b in quorum(), c in quorum()) {
            prop_assert!(a.and(b).covers(a) && a.and(b).covers(b));
            prop_assert_eq!(a.and(b), b.and(a));
            prop_assert_eq!(a.and(b).and(c), a.and(b.and(c)));
            prop_assert_eq!(a.and(Quorum::default()), a);
            // No stricter than need be.
            prop_assert!(!(c.covers(a) && c.covers(b)) || c.covers(a.and(b)));
        }
    }
}
