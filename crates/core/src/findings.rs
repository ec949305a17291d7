//! What analysis says a proposal would touch, how bad, how sure.
//!
//! Findings inform the question and the rules. They are never a boundary: that is the sandbox.

use crate::Untrusted;
use serde::{Deserialize, Serialize};

/// What analysis says about one proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Findings {
    /// The gravest of the capabilities, or `Unknown` if the code could not be read.
    pub risk: Risk,
    /// What the code would do, in the order of its lines.
    pub capabilities: Vec<Capability>,
}

/// How much harm is possible. Ordered, so that the graver of two is their `max`; not being able
/// to tell counts as grave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Computes, prints, reads the work folder.
    Low,
    /// Changes files, starts programs.
    Medium,
    /// Analysis cannot tell.
    Unknown,
    /// Deletes, talks to the network, hides what it does.
    High,
}

impl Risk {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::Unknown => "unknown",
            Self::High => "high",
        }
    }
}

/// One thing that the code would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capability {
    /// What: `reads`, `writes`, `deletes`, `starts`, `connects`, `hides`, `unreadable`.
    pub name: String,
    /// To what: a path, a program, a host; empty if it is computed.
    pub argument: Untrusted,
    /// The line of the code, from 1.
    pub line: u32,
    /// How grave.
    pub severity: Risk,
}

impl Findings {
    /// Findings whose risk is the gravest of the capabilities'.
    pub fn new(capabilities: Vec<Capability>) -> Self {
        let risk = capabilities.iter().map(|one| one.severity).max().unwrap_or(Risk::Low);
        Self { risk, capabilities }
    }
}
