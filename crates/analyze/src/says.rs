//! A statement about a place in the code, before it becomes a finding.

use crate::{
    rule::{Pattern, Rule},
    saved::Saves,
};
use interpreter_core::{Confidence, Deed, Risk};

/// Where in the code something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    /// The line, from 1.
    pub(crate) line: u32,
    /// The columns on it, from 1: the first, and the one after the last.
    pub(crate) columns: Option<(u32, u32)>,
}

/// The statement of a rule on code that it fits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Says<'a> {
    pub(crate) deed: Deed,
    pub(crate) severity: Risk,
    pub(crate) reason: &'a str,
    /// The statement of whoever added the rule; empty for the rules of this crate.
    pub(crate) source: &'a str,
    pub(crate) confidence: Confidence,
    /// Whether it is of an added rule, and not of ours.
    pub(crate) is_added: bool,
    /// Whether it only saves what its object names.
    pub(crate) saves: Option<Saves>,
}

impl<'a> Says<'a> {
    pub(crate) fn new(deed: Deed, severity: Risk, reason: &'a str) -> Self {
        let (source, confidence, is_added) = ("", Confidence::Certain, false);
        Self { deed, severity, reason, source, confidence, is_added, saves: None }
    }

    /// The same, if it is less sure.
    pub(crate) fn at_most(self, most: Confidence) -> Self {
        Self { confidence: self.confidence.min(most), ..self }
    }
}

impl<P: Pattern> Rule<P> {
    /// Its statement on code that it fits.
    pub(crate) fn says(&self) -> Says<'_> {
        // The words of a rule that was added stand in its source, beside ours.
        let is_added = self.is_added();
        let reason = if is_added { "" } else { self.reason.as_str() };
        let saves = self.on.saves();
        let says = Says::new(self.capability, self.severity, reason);
        Says { source: &self.source, is_added, saves, ..says }
    }
}
