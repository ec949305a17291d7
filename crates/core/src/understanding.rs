//! Whether code is understood: whether every name in it is on a list of harmless ones.
//!
//! # Threat
//! Findings say what was seen. Code that reaches something dangerous by a way that no rule knows has
//! none, and would pass wherever a decision rests on findings and no one looks.
//!
//! # Mechanism
//! The question is turned round. Code counts as understood only if each call, attribute and import
//! in it is known, either as harmless or as one whose findings tell all that it does. Everything
//! else, other languages and older records included, isn't understood: the default says that, and
//! joining findings never makes code understood.
//!
//! # Limits
//! It rests on lists of names. That a library does what its documentation says isn't checked.

use crate::Untrusted;
use serde::{Deserialize, Serialize};

/// Most names that are listed as not known.
pub const MOST_UNKNOWN: usize = 8;

/// Most characters of such a name.
const LONGEST: usize = 60;

/// How many of them a rule's text mentions.
const MENTIONED: usize = 3;

/// Whether every name in some code is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Understanding {
    /// Each of them is known.
    Understood,
    /// Some aren't: the first of these. None are listed if there is no list for the language.
    Unknown(Vec<UnknownName>),
}

impl Default for Understanding {
    fn default() -> Self {
        Self::Unknown(Vec::new())
    }
}

/// A name that isn't on the list, or another reason why code isn't understood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnknownName {
    /// The name as the code has it, with its module if that is known.
    pub name: Untrusted,
    /// The line of the code, from 1.
    pub line: u32,
}

impl UnknownName {
    /// A name on a line. It is cut if it is long.
    pub fn new(name: &str, line: u32) -> Self {
        Self { name: Untrusted::new(Untrusted::new(name).for_terminal_line(LONGEST)), line }
    }
}

impl Understanding {
    /// Why the code isn't understood, in words; `None` if it is.
    pub fn why_not(&self) -> Option<String> {
        let names = match self {
            Self::Understood => return None,
            Self::Unknown(names) => names,
        };
        let one = |unknown: &UnknownName| {
            let name = unknown.name.for_terminal_line(LONGEST).replace('`', "'");
            format!("`{name}` (line {})", unknown.line)
        };
        let mentioned: Vec<_> = names.iter().take(MENTIONED).map(one).collect();
        let words = match (mentioned.join(", "), names.len().saturating_sub(MENTIONED)) {
            (none, _) if none.is_empty() => return Some("not understood".into()),
            (all, 0) => all,
            (first, _) => format!("{first} and more"),
        };
        Some(format!("not understood: {words}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Capability, Deed, Findings, Risk};

    #[test]
    fn a_record_without_the_field_is_not_understood() {
        let old: Findings = serde_json::from_str(r#"{"risk":"low","capabilities":[]}"#).unwrap();
        assert!(!old.is_understood());
        assert_eq!(old, Findings::new(vec![]));
        let known = Findings::new(vec![]).understood();
        let text = serde_json::to_string(&known).unwrap();
        assert_eq!(serde_json::from_str::<Findings>(&text).unwrap(), known);
    }

    #[test]
    fn joining_findings_never_makes_code_understood() {
        let (known, unknown) = (Findings::new(vec![]).understood(), Findings::new(vec![]));
        assert!(known.clone().and(unknown.clone()).is_understood());
        assert!(!unknown.and(known.clone()).is_understood());
        let unread = Capability::new(Deed::Unreadable, "x", 1, Risk::Unknown);
        assert!(!known.and(Findings::new(vec![unread])).is_understood());
    }

    #[test]
    fn the_reason_names_some_of_them_on_one_line() {
        let names = |all: &[&str]| {
            Understanding::Unknown(all.iter().map(|one| UnknownName::new(one, 2)).collect())
        };
        let words = |all: &[&str]| names(all).why_not().unwrap();
        assert_eq!(words(&[]), "not understood");
        assert_eq!(words(&["pathlib.os"]), "not understood: `pathlib.os` (line 2)");
        assert!(words(&["a", "b", "c", "d"]).ends_with("`c` (line 2) and more"));
        let hostile = words(&[&"a`\n\u{1b}[2J".repeat(50)]);
        assert!(!hostile.contains(['\n', '\u{1b}']) && hostile.len() < 120, "{hostile}");
        assert_eq!(Understanding::Understood.why_not(), None);
    }
}
