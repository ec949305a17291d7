//! A piece of code that wants to happen.
//!
//! Its hash stands in the question, the record and the run, so that what is shown is what runs.

use crate::{Language, Untrusted, hash::sha256};
use serde::{Deserialize, Serialize};

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
    code: Untrusted,
    hash: String,
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
        Self { id, origin, call, language, code, hash }
    }

    /// The same proposal with the person's own code in place of what was proposed.
    #[must_use]
    pub fn edited(self, code: Untrusted) -> Self {
        Self::new(self.id, self.origin, self.call, self.language, code)
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
