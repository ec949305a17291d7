//! The bounds of a run in words: the files, the network, the limits, and the sandbox.
//!
//! For a person who asks what would bound a run; a question about code has fewer words, see
//! [`Confinement::lines`]. Paths are shortened and made safe for a terminal here. Must not leave out
//! a bound silently: what is not named is counted.

use super::{Confinement, Limits, Network, Workspace, size};
use crate::{Access, Untrusted, sandbox::Backend};
use serde::Serialize;
use std::path::Path;

/// Paths and hosts that are named.
const NAMED: usize = 20;

/// The bounds of a run in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConfinementSummary {
    /// The sandbox that is tried first, or that there is none.
    pub sandbox: String,
    /// The files that code can see or change.
    pub files: Vec<String>,
    /// The hosts that it reaches.
    pub network: Vec<String>,
    /// How much of the machine it may use.
    pub limits: Vec<String>,
}

impl Confinement {
    /// The bounds in words, with `backend` as the sandbox. `asks_for_hosts` is as for
    /// [`Confinement::lines`].
    pub fn summary(&self, backend: Backend, asks_for_hosts: bool) -> ConfinementSummary {
        let limits = self.limits.words();
        if self.sandbox.is_none() {
            return ConfinementSummary {
                sandbox: "none: the code has all your permissions".into(),
                files: vec!["all your files, changed directly".into()],
                network: vec!["the whole network".into()],
                limits,
            };
        }
        ConfinementSummary {
            sandbox: backend.word().into(),
            files: self.file_words(),
            network: self.network_words(asks_for_hosts),
            limits,
        }
    }

    fn file_words(&self) -> Vec<String> {
        let folder = shown(&self.work_folder);
        let folder = match self.workspace {
            Workspace::Stage => format!("{folder}: changes are staged until you decide"),
            Workspace::Direct => format!("{folder}: changed directly"),
            Workspace::ReadOnly => format!("{folder}: read-only"),
        };
        let one = |(path, access): (&std::path::PathBuf, &Access)| {
            let path = shown(path);
            match access {
                Access::Read => format!("{path}: read-only"),
                Access::Write => format!("{path}: changed directly"),
                Access::Deny => format!("{path}: hidden"),
            }
        };
        let mut words = vec![folder];
        words.extend(self.files.iter().take(NAMED).map(one));
        words.extend(more(self.files.len()));
        words.push("files with the names of secrets: hidden, unless you allowed them".into());
        words.push("programs of the system: read-only; everything else is absent".into());
        words
    }

    fn network_words(&self, asks_for_hosts: bool) -> Vec<String> {
        let mut words = match &self.network {
            Network::Open(_) => vec!["every public host".to_owned()],
            Network::Only(hosts) if !hosts.allow.is_empty() => {
                let names = hosts.allow.iter().take(NAMED).map(ToString::to_string);
                names.chain(more(hosts.allow.len())).collect()
            }
            Network::None | Network::Only(_) => vec!["no host".to_owned()],
        };
        if let Network::Only(hosts) | Network::Open(hosts) = &self.network {
            let denied = hosts.deny.iter().take(NAMED).map(|rule| format!("never {rule}"));
            words.extend(denied.chain(more(hosts.deny.len())));
        }
        if asks_for_hosts {
            words.push("you are asked about any other host".into());
        }
        words
    }
}

impl Limits {
    /// Each limit in words.
    fn words(&self) -> Vec<String> {
        let seconds = |limit: Option<u64>| {
            limit.map_or_else(|| "no limit".to_owned(), |seconds| format!("{seconds} s"))
        };
        vec![
            format!("time: {}", seconds(self.wall_seconds)),
            format!("CPU time: {}", seconds(self.cpu_seconds)),
            format!("memory: {}", size(self.memory_bytes)),
            format!("processes: {}", self.processes),
            format!("one file: {}", size(self.file_bytes)),
            format!("open files: {}", self.open_files),
            format!("temporary files: {}", size(self.temporary_bytes)),
            format!("staged: {} in {} files", size(self.staged_bytes), self.staged_files),
            format!("output: {}", size(self.output_bytes)),
        ]
    }
}

fn more(count: usize) -> Option<String> {
    (count > NAMED).then(|| format!("{} more", count - NAMED))
}

fn shown(path: &Path) -> String {
    Untrusted::new(path.display().to_string()).for_terminal_line(200)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Sandboxing, session::tests::confinement};

    #[test]
    fn every_bound_is_named_or_counted() {
        let mut within = confinement();
        for number in 0..30 {
            within.files.insert(format!("/data/{number:02}").into(), Access::Read);
        }
        within.network = Network::None;
        within.limits.wall_seconds = Some(5);
        let told = within.summary(Backend::ALL[0], true);
        assert!(told.files.contains(&"/data/00: read-only".to_owned()), "{told:?}");
        assert!(told.files.iter().any(|line| line.ends_with(" more")), "{told:?}");
        assert_eq!(told.network, ["no host", "you are asked about any other host"]);
        assert_eq!(told.limits[0], "time: 5 s");
        assert_eq!(told.limits[2], "memory: 4G");
    }

    #[test]
    fn without_a_sandbox_nothing_is_promised() {
        let within = Confinement {
            sandbox: Sandboxing {
                backend: crate::Choice::Only(Backend::NONE),
                ..Default::default()
            },
            ..confinement()
        };
        let told = within.summary(Backend::NONE, false);
        assert_eq!(told.network, ["the whole network"]);
    }
}
