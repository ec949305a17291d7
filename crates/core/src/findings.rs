//! The result of analysis: capabilities of a proposal, their severity and certainty.
//!
//! Findings inform the question and the rules. They are never a boundary: that is the sandbox.

use crate::Untrusted;
use serde::{Deserialize, Serialize};
use std::{cmp::Reverse, collections::HashMap};

/// Most characters of an argument that are reported; longer ones are cut.
pub const MOST_ARGUMENT: usize = 500;

/// The names of findings.
pub const NAMES: [&str; 7] =
    ["reads", "writes", "deletes", "starts", "connects", "hides", "unreadable"];

/// The findings of one proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Findings {
    /// The gravest of the capabilities, or `Unknown` if the code could not be read.
    pub risk: Risk,
    /// Capabilities of the code, in the order of its lines.
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

/// One thing that the code would do, on however many lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged<'a> {
    /// As in [`Capability::name`].
    pub name: &'a str,
    /// As in [`Capability::argument`].
    pub argument: &'a Untrusted,
    /// The gravest of them.
    pub severity: Risk,
    /// The lines, in order.
    pub lines: Vec<u32>,
}

impl Findings {
    /// The capabilities with the gravest first. Those that differ only in their line are one.
    pub fn by_severity(&self) -> Vec<Merged<'_>> {
        let mut merged: Vec<Merged<'_>> = Vec::new();
        let mut places = HashMap::new();
        for one in &self.capabilities {
            let Capability { name, argument, line, severity } = one;
            let at = *places.entry((name, argument.raw())).or_insert_with(|| {
                merged.push(Merged { name, argument, severity: *severity, lines: Vec::new() });
                merged.len() - 1
            });
            merged[at].severity = merged[at].severity.max(*severity);
            if merged[at].lines.last() != Some(line) {
                merged[at].lines.push(*line);
            }
        }
        // Stable: within one severity they stay in the order of the code.
        merged.sort_by_key(|one| Reverse(one.severity));
        merged
    }

    /// Findings whose risk is the gravest of the capabilities'.
    pub fn new(capabilities: Vec<Capability>) -> Self {
        let risk = capabilities.iter().map(|one| one.severity).max().unwrap_or(Risk::Low);
        Self { risk, capabilities }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gravest_comes_first_and_repetitions_are_one() {
        let found = |name: &str, argument: &str, line, severity| Capability {
            name: name.into(),
            argument: Untrusted::new(argument),
            line,
            severity,
        };
        let mut all: Vec<_> =
            (1..=12).map(|line| found("writes", "a", line, Risk::Medium)).collect();
        all.push(found("reads", "b", 13, Risk::Low));
        all.push(found("deletes", "c", 14, Risk::High));
        let findings = Findings::new(all);
        let told: Vec<_> = findings
            .by_severity()
            .into_iter()
            .map(|one| (one.name, one.lines.len(), one.severity))
            .collect();
        let expected = [("deletes", 1, Risk::High), ("writes", 12, Risk::Medium)];
        assert_eq!(told, [&expected[..], &[("reads", 1, Risk::Low)]].concat());
    }
}
