//! Who sends a request, and what they may do.
//!
//! Rights come from the login or the token that the server keeps, never from the request. They are
//! checked where a verb is performed, so a way in that forgets them opens nothing.

use interpreter_core::Person;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The id of whoever runs the server. No person of a team has it: theirs are hexadecimal.
pub(crate) const OPERATOR: &str = "operator";

/// One thing that a caller may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Right {
    /// See sessions, their records and results.
    Watch,
    /// Open sessions, send prompts and code, interrupt.
    Prompt,
    /// Answer questions.
    Answer,
    /// Apply, discard and undo changes.
    Change,
    /// End the server, see its figures, its settings and its machine, withdraw standing answers.
    Admin,
}

impl Right {
    /// Every right, in the order in which they are listed.
    pub const ALL: [Self; 5] = [Self::Watch, Self::Prompt, Self::Answer, Self::Change, Self::Admin];

    /// The word for it on a command line and in JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Watch => "watch",
            Self::Prompt => "prompt",
            Self::Answer => "answer",
            Self::Change => "change",
            Self::Admin => "admin",
        }
    }
}

/// A set of rights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RightSet(u8);

impl RightSet {
    /// All of them: the person whose server it is.
    pub fn all() -> Self {
        Right::ALL.into_iter().collect()
    }

    /// Those that are in both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether this right is among them.
    pub const fn has(self, right: Right) -> bool {
        self.0 & bit(right) != 0
    }
}

impl FromIterator<Right> for RightSet {
    fn from_iter<T: IntoIterator<Item = Right>>(rights: T) -> Self {
        Self(rights.into_iter().fold(0, |set, right| set | bit(right)))
    }
}

const fn bit(right: Right) -> u8 {
    1 << right as u8
}

/// Who sends a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Their name in the record.
    pub name: String,
    /// Their rights.
    pub rights: RightSet,
    /// The person of a team that they are, by id. Nobody for whoever runs the server, and for their
    /// tokens and programs.
    pub person: Option<String>,
}

impl Caller {
    /// Whoever runs the server, or a program of theirs by this name.
    pub fn operator(name: impl Into<String>, rights: RightSet) -> Self {
        Self { name: name.into(), rights, person: None }
    }

    /// The id of the person that they are, by whichever way they come: a token is whoever runs the
    /// server.
    pub(crate) fn person_id(&self) -> &str {
        self.person.as_deref().unwrap_or(OPERATOR)
    }

    /// The person that they are, as the record calls them.
    pub(crate) fn as_person(&self) -> Person {
        Person { id: self.person_id().to_owned(), name: self.name.clone() }
    }

    /// A key for what is remembered of a caller. A person and a token of the same name have
    /// different ones, and so has a person who was removed and added again.
    pub(crate) fn key(&self) -> String {
        match &self.person {
            Some(id) => format!("person {id}"),
            None => format!("name {}", self.name),
        }
    }

    /// Their name and rights, as they may know them. Their id is nobody's to know.
    pub(crate) fn told(&self) -> Value {
        let rights = Right::ALL.into_iter().filter(|right| self.rights.has(*right));
        json!({ "name": self.name, "rights": rights.map(Right::word).collect::<Vec<_>>() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_and_tokens_of_one_name_are_not_confused() {
        let token = Caller::operator("anna", RightSet::all());
        let of = |id: &str| Caller { person: Some(id.into()), ..token.clone() };
        assert_ne!(token.key(), of("1").key());
        assert_ne!(of("1").key(), of("2").key());
        assert_ne!(Caller::operator("1", RightSet::all()).key(), of("1").key());
    }

    #[test]
    fn somebody_knows_their_name_and_rights_and_no_id() {
        let rights = [Right::Prompt, Right::Watch].into_iter().collect();
        let caller = Caller { person: Some("0a1b".into()), ..Caller::operator("anna", rights) };
        assert_eq!(caller.told(), json!({ "name": "anna", "rights": ["watch", "prompt"] }));
    }

    #[test]
    fn a_set_has_what_was_put_in_and_nothing_else() {
        for put in Right::ALL {
            let set: RightSet = [put].into_iter().collect();
            for asked in Right::ALL {
                assert_eq!(set.has(asked), put == asked);
                assert!(RightSet::all().has(asked));
                assert!(!RightSet::default().has(asked));
            }
        }
    }
}
