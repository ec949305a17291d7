//! A piece of code that wants to happen.
//!
//! Its hash stands in the question, the record and the run, so that what is shown is what runs.

use crate::{Invocation, Language, Untrusted, hash::sha256};
use serde::{Deserialize, Serialize};

/// The longest code that runs, in bytes. Anything shown, judged and recorded as a whole needs a
/// bound.
pub const MOST_CODE: usize = 4 << 20;

/// Why no interpreter is given this code, or `None` if it can be proposed.
pub fn unfit(code: &str) -> Option<String> {
    if code.len() > MOST_CODE {
        return Some(format!(
            "the code is longer than {} MiB; put data into a file and let the code read it",
            MOST_CODE >> 20
        ));
    }
    // Shells drop it or wait for what it stands for, and it cannot be seen.
    code.find('\0')
        .map(|at| format!("the code contains a NUL character (at byte {}); remove it", at + 1))
}

/// One piece of code, in one language, that wants to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// Its name within the session: `p1`, `p2` …
    pub id: String,
    /// Who wrote it.
    pub origin: Origin,
    /// The tool call it came in, if it came in one.
    pub call: Option<String>,
    /// The language it is in.
    pub language: Language,
    /// How it was called, if it came from a command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invocation: Option<Invocation>,
    /// The cell that it runs again, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<Again>,
    code: Untrusted,
    hash: String,
}

/// A cell that runs again, to rebuild the memory of its interpreter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Again {
    /// The id that it had.
    pub cell: String,
    /// Whether it failed then too. It may have set something before that.
    pub failed: bool,
}

/// Who wrote a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The model.
    Model,
    /// The person, after `interpreter run` or at the prompt.
    Person,
}

impl Proposal {
    /// A proposal of `code`, which is kept byte for byte.
    pub fn new(
        id: String,
        origin: Origin,
        call: Option<String>,
        language: Language,
        code: Untrusted,
    ) -> Self {
        let hash = sha256(code.raw().as_bytes());
        Self { id, origin, call, language, invocation: None, again: None, code, hash }
    }

    /// The same proposal with the person's own code in place of what was proposed.
    #[must_use]
    pub fn edited(self, code: Untrusted) -> Self {
        let invocation = self.invocation;
        Self { invocation, ..Self::new(self.id, self.origin, self.call, self.language, code) }
    }

    /// Why it cannot run whatever anybody says, or `None` if it can.
    pub(crate) fn unfit(&self) -> Option<String> {
        unfit(self.code.raw())
    }

    /// The id of the cell that it runs again, or its own.
    pub fn again_id(&self) -> &str {
        self.again.as_ref().map_or(&self.id, |again| &again.cell)
    }

    /// The code.
    pub fn code(&self) -> &Untrusted {
        &self.code
    }

    /// The SHA-256 of the code.
    pub fn hash(&self) -> &str {
        &self.hash
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_has_a_bound_that_is_named() {
        assert_eq!(unfit(&"x".repeat(MOST_CODE)), None);
        let why = unfit(&"x".repeat(MOST_CODE + 1)).unwrap();
        assert!(why.starts_with("the code is longer than 4 MiB"), "{why}");
    }

    #[test]
    fn a_nul_is_named_with_its_place() {
        assert_eq!(unfit("echo a\u{1}"), None);
        assert!(unfit("echo a\0echo b").unwrap().contains("(at byte 7)"));
    }
}
