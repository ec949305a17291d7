//! Leave to run.

use crate::{Confinement, Proposal, egress::RunHosts};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// Leave to run one proposal, once, inside one confinement.
///
/// Outside this crate a permit can be held, shown and spent, but not made: the fields are
/// private and it is neither `Clone` nor `Deserialize`.
#[derive(Debug)]
#[must_use = "a permit that is not spent runs nothing"]
pub struct Permit {
    proposal: Proposal,
    confinement: Confinement,
    granted_by: Grantor,
    hosts: Box<RunHosts>,
    seconds: Option<NonZeroU32>,
}

/// Who said yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grantor {
    /// The person, to this very question.
    Person,
    /// The person, by typing the code after `interpreter run`.
    Typed,
    /// The person, by `--yes`.
    Flag,
    /// A rule of the person's own.
    Rule,
    /// The person, by an answer that holds for more than one piece of code.
    Standing,
    /// The person, by choosing the mode `auto`.
    Mode,
    /// Nobody: there was no one to ask, so the answer was no.
    Nobody,
}

impl Permit {
    pub(crate) fn grant(
        proposal: Proposal,
        within: Confinement,
        by: Grantor,
        hosts: RunHosts,
    ) -> Self {
        Self {
            proposal,
            confinement: within,
            granted_by: by,
            hosts: Box::new(hosts),
            seconds: None,
        }
    }

    /// The same permit, limited to this many seconds.
    pub(crate) fn for_seconds(self, seconds: Option<NonZeroU32>) -> Self {
        Self { seconds, ..self }
    }

    /// The seconds that the code may run, where that may be less than its confinement says.
    pub fn seconds(&self) -> Option<u64> {
        self.seconds.map(|seconds| seconds.get().into())
    }

    /// The code to run.
    pub fn proposal(&self) -> &Proposal {
        &self.proposal
    }

    /// The bounds of the run.
    pub fn confinement(&self) -> &Confinement {
        &self.confinement
    }

    /// Who said yes.
    pub fn granted_by(&self) -> Grantor {
        self.granted_by
    }

    /// The listed hosts that the code may reach.
    pub fn hosts(&self) -> &RunHosts {
        &self.hosts
    }

    /// Uses the permit up.
    pub fn spend(self) -> (Proposal, Confinement) {
        (self.proposal, self.confinement)
    }
}
