//! Kinds of shares, and the rights that each gives. Pure.

use crate::caller::{Right, RightSet};
use serde::{Deserialize, Serialize};

/// A way in which a session is shared. Nobody may do more by it than their role allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShareKind {
    /// See its records and results.
    Watch,
    /// Also send prompts.
    Suggest,
    /// Also answer, interrupt, run code and decide on changes, in their own name.
    Drive,
}

impl ShareKind {
    /// All of them, each with more than the one before.
    pub const ALL: [Self; 3] = [Self::Watch, Self::Suggest, Self::Drive];

    /// The word for it in JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Watch => "watch",
            Self::Suggest => "suggest",
            Self::Drive => "drive",
        }
    }

    pub(super) fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// The rights that it gives. The right to rule the server is never among them.
    pub(super) fn rights(self) -> RightSet {
        let rights: &[Right] = match self {
            Self::Watch => &[Right::Watch],
            Self::Suggest => &[Right::Watch, Right::Prompt],
            Self::Drive => &[Right::Watch, Right::Prompt, Right::Answer, Right::Change],
        };
        rights.iter().copied().collect()
    }
}
