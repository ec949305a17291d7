//! Writes that land without a review.
//!
//! # Threat
//! The analysis calls the write of a new file into the work folder low, because such a file is
//! staged and shown before it lands. Where nothing is staged, that would let code of a model change
//! files unseen.
//!
//! # Mechanism
//! Before anything is decided on findings, they are weighed by where the code would run. Without a
//! sandbox, with a workspace that is written directly, or with any folder that code may change, no
//! write counts as less than medium. Everything that looks at the risk (rules, the automatic mode,
//! standing answers, the question) is given findings that have been weighed.
//!
//! # Limits
//! It raises and never lowers. Which path is meant is not looked at: a link in the work folder can
//! lead to a folder that code may change.

use crate::{Access, Confinement, Deed, Findings, Risk, Workspace};

/// Findings as grave as they are where the code would run.
pub fn weighed(mut findings: Findings, within: &Confinement) -> Findings {
    if !lands_unseen(within) {
        return findings;
    }
    for one in &mut findings.capabilities {
        if one.is_a(Deed::Writes.name()) {
            one.severity = one.severity.max(Risk::Medium);
            findings.risk = findings.risk.max(one.severity);
        }
    }
    findings
}

/// Whether some file may be changed without a review.
fn lands_unseen(within: &Confinement) -> bool {
    within.sandbox.is_none()
        || within.workspace == Workspace::Direct
        || within.files.values().any(|access| *access == Access::Write)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Backend, Capability, Choice, Sandboxing, session::tests::confinement};

    fn risk(deed: Deed, severity: Risk, within: &Confinement) -> Risk {
        let found = Findings::new(vec![Capability::new(deed, "out.csv", 1, severity)]);
        let weighed = weighed(found, within);
        assert_eq!(weighed.risk, weighed.capabilities[0].severity);
        weighed.risk
    }

    fn unreviewed() -> Vec<Confinement> {
        let staged = confinement();
        let choice = Sandboxing { backend: Choice::Only(Backend::NONE), ..Sandboxing::default() };
        vec![
            Confinement { workspace: Workspace::Direct, ..staged.clone() },
            Confinement { sandbox: choice, ..staged.clone() },
            Confinement { files: [("/data".into(), Access::Write)].into(), ..staged },
        ]
    }

    #[test]
    fn a_write_that_lands_unseen_is_never_low() {
        assert_eq!(risk(Deed::Writes, Risk::Low, &confinement()), Risk::Low);
        let read_only = Confinement { workspace: Workspace::ReadOnly, ..confinement() };
        assert_eq!(risk(Deed::Writes, Risk::Low, &read_only), Risk::Low);
        for within in unreviewed() {
            assert_eq!(risk(Deed::Writes, Risk::Low, &within), Risk::Medium);
            assert_eq!(risk(Deed::Reads, Risk::Low, &within), Risk::Low);
        }
    }

    #[test]
    fn nothing_is_ever_lowered() {
        for within in unreviewed().into_iter().chain([confinement()]) {
            for severity in [Risk::Medium, Risk::Unknown, Risk::High] {
                assert_eq!(risk(Deed::Writes, severity, &within), severity);
                assert_eq!(risk(Deed::Deletes, severity, &within), severity);
            }
        }
    }
}
