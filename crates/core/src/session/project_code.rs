//! Whether code of the project that runs with a cell has been approved. See
//! [`crate::project_code`].
//!
//! Must not count a yes that no one gave to a question which names it.

use super::state::State;
use crate::{
    Findings, Grantor, Opinion, Origin, Proposal, Verdict, policy::Ground, project_code::Brought,
    taint::Taint,
};

impl State {
    /// The project's code that would run with a proposal, unless a person has approved it.
    fn unapproved(&self, proposal: &Proposal) -> Option<&Brought> {
        let brought = self.setup.project_code.of(&proposal.language)?;
        (!self.approved_code.has(brought)).then_some(brought)
    }

    /// The findings on a proposal, with the one that the project's code would run with it.
    pub(super) fn with_project_code(&self, proposal: &Proposal, findings: Findings) -> Findings {
        match self.unapproved(proposal) {
            Some(brought) => brought.named_in(findings),
            None => findings,
        }
    }

    /// The verdict on a proposal by its own findings.
    pub(super) fn verdict_on(
        &self,
        proposal: &Proposal,
        findings: &Findings,
        taint: &Taint,
    ) -> Verdict {
        let verdict = self.verdict_by(proposal, findings, taint);
        let Some(brought) = self.unapproved(proposal) else { return verdict };
        // Typed code was looked at by whoever typed it, who may run the environment as well.
        if proposal.origin == Origin::Person {
            return verdict;
        }
        let strict = self.verdict_by(proposal, &brought.not_understood(findings.clone()), taint);
        match (verdict.opinion, strict.opinion) {
            (Opinion::Allow, Opinion::Allow | Opinion::Ask) => Verdict {
                opinion: Opinion::Ask,
                rule: brought.rule(),
                ground: Ground::Default,
                ..strict
            },
            (_, _) => strict,
        }
    }

    /// Somebody said yes to a question that names the code which the project runs with this.
    pub(super) fn approve_project_code(&mut self, proposal: &Proposal, by: Grantor) {
        if by == Grantor::Person
            && let Some(brought) = self.setup.project_code.of(&proposal.language)
        {
            self.approved_code.add(brought);
        }
    }
}
