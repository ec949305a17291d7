//! A session that comes from another one reaches no further than that one did.
//!
//! # Threat
//! Somebody goes on with a session that was held in narrow bounds, by options of a command line that
//! nobody gives again; the code of the conversation, or whatever it made the model believe, then finds
//! wider ones.
//!
//! # Mechanism
//! The first record of a session has its bounds. Of both, the narrower hold: for the folder, for the
//! network and for granted paths. Where that cannot be had, because it is another sandbox or a list of
//! hosts against none, the session does not begin.
//!
//! # Limits
//! Limits of memory and time are those of the settings, and so are secrets that code can use.

use crate::{AgentError, Context, context::plainly, network::proxy_variables};
use interpreter_core::{Access, Confinement, Network, Workspace, egress::Hosts};
use interpreter_store::NetworkMode;
use std::path::PathBuf;

impl Context {
    /// Narrows the bounds of sessions to those of the session that they come from.
    pub fn reach_no_further(&mut self, than: &Confinement) -> Result<(), AgentError> {
        let now = self.settings.sandboxing();
        let accepts_more = !now.allow_missing.is_subset(&than.sandbox.allow_missing);
        if now.backend.is_looser_than(than.sandbox.backend) || accepts_more {
            return Err(wider("the sandbox of the settings confines less than the one it had"));
        }
        let folder = &mut self.settings.workspace.value;
        *folder = narrower_folder(*folder, than.workspace);
        let had_way_out = proxy_variables().keys().any(|name| than.environment.contains_key(name));
        if !had_way_out {
            self.settings.network_mode.value = NetworkMode::None;
        }
        self.network = match self.settings.network_mode.value {
            NetworkMode::None => {
                self.network_variables.clear();
                Network::None
            }
            NetworkMode::Listed | NetworkMode::Open => {
                let narrower = narrower_network(&self.network, &than.network);
                narrower.ok_or_else(|| wider("the settings open the network, and it had a list"))?
            }
        };
        let work_folder = self.work_folder.clone();
        let is_shown = |path: &PathBuf| than.shown.contains(path);
        self.settings.allowed_files.retain(|one| is_shown(&plainly(&work_folder.join(&one.value))));
        let granted = std::mem::take(&mut self.granted).into_iter();
        self.granted = granted.filter_map(|one| narrower_grant(one, than)).collect();
        Ok(())
    }

    /// The name, in the record, of the model that a session would talk to.
    pub fn talks_to(&self) -> Result<String, AgentError> {
        let choice = self.choice()?;
        Ok(match choice.apart(self.picked.as_deref()) {
            Some(word) => choice.recorded_name_of(word)?,
            None => choice.recorded_name()?,
        })
    }
}

fn wider(reason: &str) -> AgentError {
    AgentError::Resume { reason: format!("{reason}; `interpreter --resume` has options for that") }
}

/// The stricter of two ways to treat the folder.
fn narrower_folder(one: Workspace, other: Workspace) -> Workspace {
    match (one, other) {
        (Workspace::ReadOnly, _) | (_, Workspace::ReadOnly) => Workspace::ReadOnly,
        (Workspace::Stage, _) | (_, Workspace::Stage) => Workspace::Stage,
        (Workspace::Direct, Workspace::Direct) => Workspace::Direct,
    }
}

/// The hosts that both reach, unless that has no name: every host but for a list. Where one of them
/// has no list, every host is asked about.
fn narrower_network(now: &Network, than: &Network) -> Option<Network> {
    let both = |hosts: &Hosts, earlier: &Hosts, allow: Vec<_>| {
        let more = earlier.deny.iter().filter(|rule| !hosts.deny.contains(rule)).cloned();
        Hosts { allow, deny: hosts.deny.iter().cloned().chain(more).collect() }
    };
    let none = Hosts::default();
    let network = match (now, than) {
        (Network::Open(_), Network::None | Network::Only(_)) => return None,
        (Network::Open(hosts), Network::Open(earlier)) => {
            Network::Open(both(hosts, earlier, hosts.allow.clone()))
        }
        (Network::Only(hosts), Network::Open(earlier)) => {
            Network::Only(both(hosts, earlier, hosts.allow.clone()))
        }
        (Network::Only(hosts), Network::None | Network::Only(_)) => {
            let earlier = if let Network::Only(earlier) = than { earlier } else { &none };
            let is_in_both = |rule: &&_| earlier.allow.contains(rule);
            let allow = hosts.allow.iter().filter(is_in_both).cloned().collect();
            Network::Only(both(hosts, earlier, allow))
        }
        (Network::None, Network::Open(earlier) | Network::Only(earlier)) => {
            Network::Only(both(&none, earlier, Vec::new()))
        }
        (Network::None, Network::None) => Network::None,
    };
    Some(match network {
        Network::Only(hosts) if hosts.is_empty() => Network::None,
        other @ (Network::None | Network::Only(_) | Network::Open(_)) => other,
    })
}

/// A grant as far as the earlier session had it.
fn narrower_grant(
    (path, access): (PathBuf, Access),
    than: &Confinement,
) -> Option<(PathBuf, Access)> {
    if !than.shown.contains(&path) {
        return None;
    }
    let earlier = match than.files.get(&path) {
        Some(Access::Write) => Access::Write,
        Some(Access::Read | Access::Deny) | None => Access::Read,
    };
    Some((path, access.min(earlier)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_core::Limits;
    use std::{
        collections::{BTreeMap, BTreeSet},
        path::Path,
    };

    fn hosts(allow: &[&str], deny: &[&str]) -> Hosts {
        let rules = |all: &[&str]| all.iter().map(|one| one.parse().unwrap()).collect();
        Hosts { allow: rules(allow), deny: rules(deny) }
    }

    #[test]
    fn no_host_is_reached_that_one_of_both_did_not_reach() {
        let (none, open) = (Network::None, Network::Open(hosts(&[], &["evil.example"])));
        let only = |allow: &[&str], deny: &[&str]| Network::Only(hosts(allow, deny));
        let listed = only(&["a.example", "b.example"], &[]);
        for (now, than, expected) in [
            (&listed, &none, Some(none.clone())),
            (&listed, &only(&["b.example", "c.example"], &["d.example"]), {
                Some(only(&["b.example"], &["d.example"]))
            }),
            (&listed, &open, Some(only(&["a.example", "b.example"], &["evil.example"]))),
            (&none, &listed, Some(none.clone())),
            (&none, &open, Some(only(&[], &["evil.example"]))),
            (&open, &open, Some(open.clone())),
            (&open, &listed, None),
            (&open, &none, None),
        ] {
            assert_eq!(narrower_network(now, than), expected, "{now:?} {than:?}");
        }
    }

    #[test]
    fn the_folder_is_treated_as_the_stricter_of_both_says() {
        let strict_first = [Workspace::ReadOnly, Workspace::Stage, Workspace::Direct];
        for (at, one) in strict_first.into_iter().enumerate() {
            for (there, other) in strict_first.into_iter().enumerate() {
                assert_eq!(narrower_folder(one, other), strict_first[at.min(there)]);
            }
        }
    }

    #[test]
    fn a_path_is_granted_as_far_as_it_was() {
        let path = |name: &str| Path::new("/data").join(name);
        let than = Confinement {
            work_folder: "/work".into(),
            workspace: Workspace::Stage,
            files: [(path("read"), Access::Read), (path("write"), Access::Write)].into(),
            granted: BTreeSet::new(),
            shown: [path("read"), path("write")].into(),
            network: Network::None,
            secrets: Vec::new(),
            limits: Limits::default(),
            sandbox: interpreter_core::Sandboxing::default(),
            environment: BTreeMap::new(),
        };
        let granted = |name: &str, access| Some(narrower_grant((path(name), access), &than)?.1);
        assert_eq!(granted("write", Access::Write), Some(Access::Write));
        assert_eq!(granted("write", Access::Read), Some(Access::Read));
        assert_eq!(granted("read", Access::Write), Some(Access::Read));
        assert_eq!(granted("other", Access::Read), None);
    }
}
