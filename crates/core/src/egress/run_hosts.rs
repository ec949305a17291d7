//! The hosts that one run may reach without a question.
//!
//! # Threat
//! Code that runs because every name in it was known, and that reaches a listed host in a way that
//! no name betrays: no list of names over a whole language is ever complete.
//!
//! # Mechanism
//! Code that nobody was asked about, because it was understood, reaches those of the listed hosts
//! that its findings name. Another one is a question, as if it were not listed. The proxy holds this,
//! outside the sandbox, so it doesn't depend on the analysis being right.
//!
//! # Limits
//! A program that such code leaves running has the bounds of the run that is under way, or was the
//! last: a wider run widens its bounds. A rule that allows hosts which the code computes allows all
//! that are listed.

use super::Host;
use crate::{Deed, Findings, Grantor};
use std::collections::BTreeSet;

/// The listed hosts that a run may reach.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RunHosts {
    /// All of them.
    #[default]
    Listed,
    /// Only these, as far as they are listed.
    Named(BTreeSet<Host>),
}

impl RunHosts {
    /// Those of code with these findings, which runs because `by` said so.
    pub(crate) fn of(findings: &Findings, by: Grantor) -> Self {
        let rests_on_findings = match by {
            Grantor::Standing | Grantor::Mode => true,
            // Another rule covers code whatever it does.
            Grantor::Rule => findings.is_understood(),
            Grantor::Person | Grantor::Typed | Grantor::Flag | Grantor::Nobody => false,
        };
        if !rests_on_findings {
            return Self::Listed;
        }
        let mut named = BTreeSet::new();
        for one in &findings.capabilities {
            if one.is_a(Deed::Packages.name()) {
                return Self::Listed;
            }
            if !one.is_a(Deed::Connects.name()) {
                continue;
            }
            let argument = one.argument.raw();
            if argument.is_empty() || argument.contains(['$', '`']) {
                // Whoever allows that allows any.
                return Self::Listed;
            }
            named.extend(host_in(argument));
        }
        Self::Named(named)
    }

    /// Whether this host may be reached, if it is listed.
    pub fn has(&self, host: &Host) -> bool {
        match self {
            Self::Listed => true,
            Self::Named(named) => named.contains(host),
        }
    }
}

/// The host in an address as code has it, if it is plain which one that is.
fn host_in(argument: &str) -> Option<Host> {
    let text = argument.split_once("://").map_or(argument, |(_, rest)| rest);
    let text = text.split(['/', '?', '#']).next()?;
    match text.rsplit_once(':') {
        // The colons of an address in brackets are its own.
        Some((host, port))
            if !port.contains(']') && (host.starts_with('[') || !host.contains(':')) =>
        {
            host.parse().ok()
        }
        Some(_) | None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Capability, Risk};

    fn found(capabilities: &[(Deed, &str)]) -> Findings {
        let one = |(deed, argument): &(Deed, &str)| Capability::new(*deed, *argument, 1, Risk::Low);
        Findings::new(capabilities.iter().map(one).collect()).understood()
    }

    fn has(capabilities: &[(Deed, &str)], by: Grantor, host: &str) -> bool {
        RunHosts::of(&found(capabilities), by).has(&host.parse().unwrap())
    }

    #[test]
    fn code_that_nobody_was_asked_about_reaches_what_its_findings_name() {
        for by in [Grantor::Mode, Grantor::Rule, Grantor::Standing] {
            assert!(!has(&[], by, "a.org"));
            assert!(!has(&[(Deed::Reads, "a.org")], by, "a.org"));
            for address in ["a.org", "https://A.org/x?y=b.org", "a.org:8080", "ftp://a.org:21/x#z"]
            {
                assert!(has(&[(Deed::Connects, address)], by, "a.org"), "{address}");
                assert!(!has(&[(Deed::Connects, address)], by, "b.org"), "{address}");
            }
            assert!(has(&[(Deed::Connects, "[::2]:80")], by, "::2"));
            // An argument that isn't plain names nothing.
            for odd in ["https://a.org@b.org/", "b.org\\@a.org", "a.org b.org", "https://"] {
                assert!(!has(&[(Deed::Connects, odd)], by, "a.org"), "{odd}");
                assert!(!has(&[(Deed::Connects, odd)], by, "b.org"), "{odd}");
            }
        }
    }

    #[test]
    fn whoever_was_asked_or_allows_any_host_has_allowed_what_is_listed() {
        for by in [Grantor::Person, Grantor::Typed, Grantor::Flag] {
            assert!(has(&[], by, "a.org"));
        }
        assert!(has(&[(Deed::Connects, "")], Grantor::Rule, "a.org"));
        assert!(has(&[(Deed::Connects, "$HOST")], Grantor::Rule, "a.org"));
        assert!(has(&[(Deed::Packages, "pandas")], Grantor::Rule, "a.org"));
        let unknown = Findings::new(vec![]);
        assert_eq!(RunHosts::of(&unknown, Grantor::Rule), RunHosts::Listed);
    }
}
