//! Roles, and the rights that each has. Pure.

use crate::caller::{Right, RightSet};

/// The role of a person in a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TeamRole {
    /// Sees the sessions that are shared with them.
    Viewer,
    /// Has sessions of their own, and decides on their changes; others answer the questions.
    Author,
    /// Also answers questions.
    Approver,
    /// Everything.
    Admin,
}

impl TeamRole {
    /// All of them, each with more rights than the one before.
    pub const ALL: [Self; 4] = [Self::Viewer, Self::Author, Self::Approver, Self::Admin];

    /// The word for it on a command line and in a file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Author => "author",
            Self::Approver => "approver",
            Self::Admin => "admin",
        }
    }

    /// The role of this word.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.word() == word)
    }

    /// The role that has exactly these rights.
    pub(super) fn of_rights(rights: RightSet) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.rights() == rights)
    }

    /// Its rights.
    pub fn rights(self) -> RightSet {
        let rights: &[Right] = match self {
            Self::Viewer => &[Right::Watch],
            Self::Author => &[Right::Watch, Right::Prompt, Right::Change],
            Self::Approver => &[Right::Watch, Right::Prompt, Right::Change, Right::Answer],
            Self::Admin => &Right::ALL,
        };
        rights.iter().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_role_has_the_rights_of_the_one_before_and_more() {
        for pair in TeamRole::ALL.windows(2) {
            let (less, more) = (pair[0].rights(), pair[1].rights());
            assert!(pair[0] < pair[1]);
            assert!(Right::ALL.into_iter().all(|right| !less.has(right) || more.has(right)));
            assert_ne!(less, more);
        }
        assert!(!TeamRole::Viewer.rights().has(Right::Prompt));
        assert!(!TeamRole::Author.rights().has(Right::Answer));
        assert!(!TeamRole::Approver.rights().has(Right::Admin));
        assert_eq!(TeamRole::Admin.rights(), RightSet::all());
    }

    #[test]
    fn a_role_is_known_by_its_exact_word() {
        for role in TeamRole::ALL {
            assert_eq!(TeamRole::of_word(role.word()), Some(role));
            assert_eq!(TeamRole::of_rights(role.rights()), Some(role));
        }
        for wrong in ["", "Admin", "admin ", "root"] {
            assert_eq!(TeamRole::of_word(wrong), None);
        }
    }
}
