//! The network as a list: which hosts code may reach, as values.
//!
//! # Threat
//! Code that sends what it has read to somewhere, fetches what nobody asked for, or talks to
//! services of the person's own network that trust whoever can reach them.
//!
//! # Mechanism
//! A [`Host`] is read strictly, in one spelling. [`Hosts`] holds what is listed and what is denied;
//! denied outranks listed, however narrow. An address is judged once more, after names have become
//! addresses, by [`refused`] and by the [`Vicinity`] of this machine: a name that is listed does not
//! make a private address reachable, nor one of this machine or its neighbours.
//!
//! # Order
//! First the name, then the address that it led to, then the connection to that very address.
//!
//! # Limits
//! Says nothing about what is sent to a host that is listed. Whoever runs such a host, or shares
//! its address behind it, can pass on what it is sent.
//!
//! Pure: resolving and connecting are `interpreter-exec`'s.

pub use self::{
    host::{Host, HostError, authority},
    mask::HostMask,
    range::refused,
    rule::{HostRule, Ports, RuleError},
    run_hosts::RunHosts,
    vicinity::{Interface, Route, Vicinity, forms},
};

mod host;
mod mask;
mod range;
mod rule;
mod run_hosts;
mod vicinity;

use serde::{Deserialize, Serialize};
use std::{fmt, net::IpAddr};

/// Allowed and denied hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hosts {
    /// Allowed hosts.
    pub allow: Vec<HostRule>,
    /// Denied hosts; these win.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<HostRule>,
}

/// The decision of a list on a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostDecision {
    /// It is listed.
    Allow,
    /// It is denied, by this rule.
    Deny(HostRule),
    /// The list does not mention it.
    Unlisted,
}

impl Hosts {
    /// Whether both lists are empty.
    pub fn is_empty(&self) -> bool {
        self.allow.is_empty() && self.deny.is_empty()
    }

    /// The decision of the list on a host and a port. Deny wins.
    pub fn judge(&self, host: &Host, port: u16) -> HostDecision {
        if let Some(rule) = self.deny.iter().find(|rule| rule.denies(host, port)) {
            return HostDecision::Deny(rule.clone());
        }
        let listed = self.allow.iter().any(|rule| rule.allows(host, port));
        if listed { HostDecision::Allow } else { HostDecision::Unlisted }
    }

    /// Whether a host is listed by its very name, and not by a pattern.
    pub fn names(&self, host: &Host, port: u16) -> bool {
        self.allow.iter().any(|rule| rule.is_of_one() && rule.allows(host, port))
    }

    /// Why an address may not be connected to, although its host is let through: it is denied by
    /// its number; or it is not listed by its number and leads to this machine, to a neighbour or
    /// into somebody's own network. `look` asks the kernel, and is called only where that decides;
    /// without an answer the address is refused.
    pub fn refuses_address<E: fmt::Display>(
        &self,
        address: IpAddr,
        port: u16,
        look: impl FnOnce(&[IpAddr]) -> Result<Vicinity, E>,
    ) -> Option<String> {
        let host = Host::Address(address.to_canonical());
        match self.judge(&host, port) {
            HostDecision::Allow => None,
            HostDecision::Deny(rule) => Some(format!("{host} is denied by the rule `{rule}`")),
            HostDecision::Unlisted => {
                leads_inside(address, look).map(|what| format!("{host} is {what}"))
            }
        }
    }
}

/// The kind of an address that may be reached only if it is listed by number.
pub fn leads_inside<E: fmt::Display>(
    address: IpAddr,
    look: impl FnOnce(&[IpAddr]) -> Result<Vicinity, E>,
) -> Option<String> {
    if let Some(range) = refused(address) {
        return Some(range.to_owned());
    }
    match look(&forms(address)) {
        Ok(vicinity) => vicinity.holds(address).map(str::to_owned),
        Err(error) => Some(format!(
            "possibly an address of this machine: its addresses are unknown ({error})"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rules(list: &[&str]) -> Vec<HostRule> {
        list.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn hosts(allow: &[&str], deny: &[&str]) -> Hosts {
        Hosts { allow: rules(allow), deny: rules(deny) }
    }

    #[expect(clippy::unnecessary_wraps, reason = "the shape of every look")]
    fn alone(_: &[IpAddr]) -> Result<Vicinity, String> {
        Ok(Vicinity::default())
    }

    fn judge(hosts: &Hosts, host: &str, port: u16) -> &'static str {
        match hosts.judge(&host.parse().unwrap(), port) {
            HostDecision::Allow => "allow",
            HostDecision::Deny(_) => "deny",
            HostDecision::Unlisted => "unlisted",
        }
    }

    #[test]
    fn deny_outranks_allow_however_narrow() {
        let hosts = hosts(&["a.example.org:443", "*.example.org:*"], &["*.example.org"]);
        assert_eq!(judge(&hosts, "a.example.org", 443), "deny");
        // Without a port a denial is of all ports, and a permission of the web's.
        assert_eq!(judge(&hosts, "b.example.org", 8443), "deny");
        assert_eq!(judge(&hosts, "example.org", 443), "unlisted");
    }

    #[test]
    fn a_listed_name_opens_no_private_address_and_a_listed_address_does() {
        let named = hosts(&["intranet.example.org"], &[]);
        let address = "10.1.2.3".parse().unwrap();
        assert_eq!(
            named.refuses_address(address, 443, alone).unwrap(),
            "10.1.2.3 is a private address"
        );
        let numbered = hosts(&["intranet.example.org", "10.1.2.3"], &[]);
        assert_eq!(numbered.refuses_address(address, 443, alone), None);
        assert!(numbered.refuses_address(address, 22, alone).is_some());
    }

    #[test]
    fn an_address_can_be_denied_behind_its_name() {
        let hosts = hosts(&["example.org"], &["93.184.216.34"]);
        let said = hosts.refuses_address("93.184.216.34".parse().unwrap(), 443, alone).unwrap();
        assert_eq!(said, "93.184.216.34 is denied by the rule `93.184.216.34`");
        assert_eq!(hosts.refuses_address("93.184.216.35".parse().unwrap(), 443, alone), None);
    }

    #[test]
    fn an_address_in_the_dress_of_version_six_is_the_same_address() {
        let hosts = hosts(&["127.0.0.1:8000"], &["93.184.216.34"]);
        assert_eq!(judge(&hosts, "::ffff:127.0.0.1", 8000), "allow");
        assert_eq!(judge(&hosts, "[::ffff:5db8:d822]", 1), "deny");
        assert!(hosts.refuses_address("::ffff:127.0.0.1".parse().unwrap(), 8001, alone).is_some());
        assert_eq!(hosts.refuses_address("::ffff:127.0.0.1".parse().unwrap(), 8000, alone), None);
    }

    #[test]
    fn an_address_of_this_machine_must_be_listed_by_its_number() {
        let address = "11.22.33.44".parse().unwrap();
        let here = |asked: &[IpAddr]| {
            assert_eq!(asked, [address]);
            let own = Interface { own: address, network: address, bits: 24 };
            Ok::<_, String>(Vicinity { interfaces: vec![own], routes: vec![] })
        };
        let named = hosts(&["me.example.org"], &[]);
        let said = named.refuses_address(address, 443, here).unwrap();
        assert_eq!(said, "11.22.33.44 is an address of this machine");
        let numbered = hosts(&["11.22.33.44"], &[]);
        assert_eq!(numbered.refuses_address(address, 443, here), None);
        let unknown = |_: &[IpAddr]| Err("no netlink");
        let said = named.refuses_address(address, 443, unknown).unwrap();
        assert!(said.contains("no netlink"), "{said}");
    }

    #[test]
    fn the_list_survives_the_record() {
        let hosts = hosts(&["*.example.org:443", "[::1]:80", "example.net:*"], &["x.org"]);
        let json = serde_json::to_string(&hosts).unwrap();
        assert_eq!(
            json,
            r#"{"allow":["*.example.org:443","[::1]:80","example.net:*"],"deny":["x.org"]}"#
        );
        assert_eq!(serde_json::from_str::<Hosts>(&json).unwrap(), hosts);
    }

    proptest! {
        #[test]
        fn more_denials_never_allow_more(
            allow in prop::collection::vec("(\\*\\.)?[a-c]\\.[a-b]\\.org(:[1-3])?", 0..4),
            deny in prop::collection::vec("(\\*\\.)?[a-c]\\.[a-b]\\.org(:[1-3])?", 0..4),
            host in "([a-c]\\.)?[a-c]\\.[a-b]\\.org",
            port in 1_u16..4,
        ) {
            let parsed = |list: &[String]| list.iter().map(|one| one.parse().unwrap()).collect();
            let host: Host = host.parse().unwrap();
            let open = Hosts { allow: parsed(&allow), deny: vec![] };
            let closed = Hosts { allow: parsed(&allow), deny: parsed(&deny) };
            if closed.judge(&host, port) == HostDecision::Allow {
                prop_assert_eq!(open.judge(&host, port), HostDecision::Allow);
                prop_assert!(!closed.deny.iter().any(|rule| rule.denies(&host, port)));
            }
        }
    }
}
