//! Hosts that were granted for the rest of the session, as questions about code show them.
//!
//! # Threat
//! A yes to code that was shown as code without a network, after somebody else has allowed a host
//! for the session.
//!
//! # Mechanism
//! A grant is noted as it is given, and every later question about code lists it, under its hash.
//! A yes to a question that was put before the grant leads to the question anew, see `deciding.rs`.
//! One that was put before a grant was taken back stands: the code reaches less than it says.
//!
//! Must not decide who reaches what: that is the gate's of `interpreter-exec`. Pure.

use crate::{Grant, egress::Host};
use std::collections::BTreeSet;

/// Hosts that a question names.
const NAMED: usize = 20;

/// The hosts that were granted, with their ports.
#[derive(Debug, Default)]
pub(super) struct HostGrants {
    hosts: BTreeSet<(Host, u16)>,
    given: u64,
}

impl HostGrants {
    /// Takes note of an answer. A grant for one run ends with it.
    pub(super) fn note(&mut self, host: &Host, port: u16, grant: Option<Grant>) {
        match grant {
            Some(Grant::Session | Grant::Always) => {
                self.given += u64::from(self.hosts.insert((host.clone(), port)));
            }
            Some(Grant::Once) | None => {}
        }
    }

    /// Takes back all that are meant, and gives them.
    pub(super) fn take_back(&mut self, is_meant: impl Fn(&Host, u16) -> bool) -> Vec<(Host, u16)> {
        self.hosts.extract_if(.., |(host, port)| is_meant(host, *port)).collect()
    }

    /// How many were ever given.
    pub(super) fn given(&self) -> u64 {
        self.given
    }

    /// They in one line, or `None` without any.
    pub(super) fn line(&self) -> Option<String> {
        let mut names: Vec<_> =
            self.hosts.iter().take(NAMED).map(|(host, port)| host.with_port(*port)).collect();
        let more = self.hosts.len().saturating_sub(NAMED);
        if more > 0 {
            names.push(format!("{more} more"));
        }
        let names = names.join(", ");
        (!names.is_empty()).then(|| format!("hosts granted in this session: {names}"))
    }
}
