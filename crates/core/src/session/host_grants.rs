//! Hosts that were granted for the rest of the session, as questions about code show them.
//!
//! # Threat
//! A yes to code that was shown as code without a network, after somebody else has allowed a host
//! for the session.
//!
//! # Mechanism
//! A grant is noted as it is given, and every later question about code lists it, under its hash.
//! A yes to a question that was put before the grant leads to the question anew, see `deciding.rs`.
//!
//! Must not decide who reaches what: that is the gate's of `interpreter-exec`. Pure.

use crate::{Grant, egress::Host};
use std::collections::BTreeSet;

/// Hosts that a question names.
const NAMED: usize = 20;

/// The hosts that were granted, with their ports.
#[derive(Debug, Default)]
pub(super) struct HostGrants(BTreeSet<(Host, u16)>);

impl HostGrants {
    /// Takes note of an answer. A grant for one run ends with it.
    pub(super) fn note(&mut self, host: &Host, port: u16, grant: Option<Grant>) {
        match grant {
            Some(Grant::Session | Grant::Always) => _ = self.0.insert((host.clone(), port)),
            Some(Grant::Once) | None => {}
        }
    }

    /// How many there are. None is ever taken back.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// They in one line, or `None` without any.
    pub(super) fn line(&self) -> Option<String> {
        let mut names: Vec<_> =
            self.0.iter().take(NAMED).map(|(host, port)| host.with_port(*port)).collect();
        let more = self.0.len().saturating_sub(NAMED);
        if more > 0 {
            names.push(format!("{more} more"));
        }
        let names = names.join(", ");
        (!names.is_empty()).then(|| format!("hosts granted in this session: {names}"))
    }
}
