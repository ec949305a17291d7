//! The bounds of a run: files, network, limits, environment.
//!
//! One value for every backend. It is complete: anything not listed here is absent. Nothing is
//! inherited from the process that starts the sandbox.

use crate::{Choice, Sandboxing, SecretGrant, Untrusted, egress::Hosts};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::{Path, PathBuf},
};

pub use self::summary::ConfinementSummary;

mod summary;

/// Everything a run may reach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// The folder the code works in, at the same path inside and outside.
    pub work_folder: PathBuf,
    /// How the code's writes to the work folder are treated.
    pub workspace: Workspace,
    /// Other paths. The narrower path wins; on a tie deny beats write beats read.
    pub files: BTreeMap<PathBuf, Access>,
    /// Those of them that the person granted for this session. They are shown as the work folder
    /// is: as if the code's user were the person.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub granted: BTreeSet<PathBuf>,
    /// Exact paths to show although their names are those of secrets. All others of such a name in
    /// the work folder are hidden, see [`crate::sensitive`].
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub shown: BTreeSet<PathBuf>,
    /// Hosts that code may reach outside the sandbox. Loopback inside always works.
    pub network: Network,
    /// Secrets that code can use without seeing them, and where.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<SecretGrant>,
    /// Resource limits of the code.
    pub limits: Limits,
    /// Which sandbox enforces this, and what that may lack.
    #[serde(default, skip_serializing_if = "Sandboxing::is_usual")]
    pub sandbox: Sandboxing,
    /// The whole environment of the code.
    pub environment: BTreeMap<String, String>,
}

impl Confinement {
    /// The person's grants for this session, in a few words for a terminal, or `None` without any.
    pub fn granted_words(&self) -> Option<String> {
        const NAMED: usize = 10;
        let words = |path: &PathBuf| {
            let shown = Untrusted::new(path.display().to_string()).for_terminal_line(200);
            match self.files.get(path) {
                Some(Access::Write) => format!("to change {shown}"),
                Some(Access::Read | Access::Deny) | None => format!("to see {shown}"),
            }
        };
        let mut parts: Vec<_> = self.granted.iter().take(NAMED).map(words).collect();
        let more = self.granted.len().saturating_sub(NAMED);
        if more > 0 {
            parts.push(format!("{more} more"));
        }
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// The secrets that code can use, and where, in a few words for a terminal, or `None` without
    /// any.
    pub fn secret_words(&self) -> Option<String> {
        const NAMED: usize = 5;
        let words = |grant: &SecretGrant| format!("{} for {grant}", grant.name);
        let mut parts: Vec<_> = self.secrets.iter().take(NAMED).map(words).collect();
        let more = self.secrets.len().saturating_sub(NAMED);
        if more > 0 {
            parts.push(format!("{more} more"));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// The bounds of a run in short lines that a person reads: where it runs, what it reaches, what
    /// was granted. `asks_for_hosts` says whether a person is asked about hosts that are not listed.
    pub fn lines(&self, asks_for_hosts: bool) -> Vec<String> {
        if self.sandbox.is_none() {
            return vec![
                "without a sandbox: all your permissions, the whole network, files written directly"
                    .into(),
            ];
        }
        let place = match self.sandbox.backend {
            Choice::Auto => "in a sandbox".to_owned(),
            Choice::Only(backend) => format!("in the {} sandbox", backend.word()),
        };
        let network = match &self.network {
            Network::Open(_) => "open network",
            Network::Only(hosts) if !hosts.allow.is_empty() && asks_for_hosts => {
                "network only to listed hosts (any other host is asked about)"
            }
            Network::Only(hosts) if !hosts.allow.is_empty() => "network only to listed hosts",
            Network::None | Network::Only(_) if asks_for_hosts => {
                "no network until you allow a host (each one is asked about)"
            }
            Network::None | Network::Only(_) => "no network",
        };
        let files = match self.workspace {
            Workspace::Stage => "files staged",
            Workspace::Direct => "files written directly",
            Workspace::ReadOnly => "files read-only",
        };
        let hosts = match &self.network {
            Network::Only(hosts) if !hosts.allow.is_empty() => Some(self.network.words()),
            Network::None | Network::Only(_) | Network::Open(_) => None,
        };
        let paths = self.granted_words().map(|words| format!("granted {words}"));
        let secrets = self.secret_words().map(|words| format!("code can use, unseen: {words}"));
        let more = hosts.into_iter().chain(paths).chain(secrets);
        [format!("{place}: {network}, {files}")].into_iter().chain(more).collect()
    }

    /// The temporary folder that code sees where the sandbox has mounts of its own.
    pub fn temporary(&self) -> &'static str {
        temporary_beside(&self.work_folder)
    }

    /// Adds an entry. Where there is one of the same path, the stricter of both holds.
    pub fn add(&mut self, path: PathBuf, access: Access) {
        let entry = self.files.entry(path).or_insert(access);
        *entry = access.max(*entry);
    }

    /// The access to a path outside the work folder, by the narrowest entry at or above it. `None`
    /// means that the path is absent, like everything that is not listed.
    pub fn access(&self, path: &Path) -> Option<Access> {
        path.ancestors().find_map(|above| self.files.get(above).copied())
    }
}

/// Where code finds a temporary folder of its own: `/tmp`, unless that is the work folder itself, which
/// is shown at its own path.
pub fn temporary_beside(work_folder: &Path) -> &'static str {
    if work_folder == Path::new("/tmp") { "/run/interpreter/tmp" } else { "/tmp" }
}

/// How writes to the work folder are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Workspace {
    /// They land in a layer of their own and are shown before they touch the folder.
    #[default]
    Stage,
    /// They touch the folder at once.
    Direct,
    /// They are refused.
    ReadOnly,
}

impl Workspace {
    /// The word on the command line and in config files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Stage => "stage",
            Self::Direct => "direct",
            Self::ReadOnly => "read-only",
        }
    }
}

/// The access to a path. Ordered, so that the stricter of two is their `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Seen, not changed.
    Read,
    /// Changed at once.
    Write,
    /// Not there.
    Deny,
}

/// Hosts that code may reach. In any case the sandbox has a separate network, and the only way out
/// is a proxy outside that decides by this list. An unlisted host is refused, unless the person
/// grants it when asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    /// Nothing but loopback inside the sandbox.
    #[default]
    None,
    /// The listed hosts.
    Only(Hosts),
    /// Every public host that is not denied, and addresses of one's own network that are listed.
    Open(Hosts),
}

impl Network {
    /// It in a few words.
    pub fn words(&self) -> String {
        const NAMED: usize = 3;
        match self {
            Self::Only(hosts) if !hosts.allow.is_empty() => {
                let mut names: Vec<_> =
                    hosts.allow.iter().take(NAMED).map(ToString::to_string).collect();
                let more = hosts.allow.len().saturating_sub(NAMED);
                if more > 0 {
                    names.push(format!("{more} more"));
                }
                format!("network only to {}", names.join(", "))
            }
            Self::None | Self::Only(_) => "no network".into(),
            Self::Open(_) => "OPEN NETWORK".into(),
        }
    }
}

/// Resource limits of one run, or of one sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Seconds a run may take; none means that only the person ends it.
    pub wall_seconds: Option<u64>,
    /// Seconds of processor time that a run, with all that it starts, may use; none means no
    /// limit.
    pub cpu_seconds: Option<u64>,
    /// Bytes of memory per process, and in total if cgroups are available.
    pub memory_bytes: u64,
    /// Processes and threads at once.
    pub processes: u64,
    /// Bytes of the largest file that may be written.
    pub file_bytes: u64,
    /// Files that one process may have open.
    pub open_files: u64,
    /// Bytes of temporary files.
    pub temporary_bytes: u64,
    /// Bytes on the disk of all files that wait for a decision.
    pub staged_bytes: u64,
    /// Files and folders that wait for a decision.
    pub staged_files: u64,
    /// Bytes that a run may print.
    pub output_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        const GIB: u64 = 1 << 30;
        Self {
            wall_seconds: None,
            cpu_seconds: None,
            memory_bytes: 4 * GIB,
            processes: 512,
            file_bytes: 4 * GIB,
            open_files: 512,
            temporary_bytes: 2 * GIB,
            staged_bytes: 8 * GIB,
            staged_files: 1_000_000,
            output_bytes: GIB,
        }
    }
}

/// A limit that something came up against. Its words name it, its value and what raises it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// Seconds that a run may take.
    Time(u64),
    /// Seconds of processor time that a run may use.
    Cpu(u64),
    /// Bytes of memory that a process may have.
    Memory(u64),
    /// Processes and threads at once.
    Processes(u64),
    /// Bytes of all staged files.
    Staged(u64),
    /// How many files and folders are staged.
    StagedFiles(u64),
    /// Bytes that the disk with the staged files must keep free.
    FreeSpace(u64),
    /// Files that the disk with the staged files must still have room for.
    FreeFiles(u64),
    /// Bytes that a run may print.
    Output(u64),
}

impl fmt::Display for Reached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(seconds) => write!(f, "time ({seconds} s; `--time-limit` raises it)"),
            Self::Cpu(seconds) => write!(f, "CPU time ({seconds} s; `--cpu-limit` raises it)"),
            Self::Memory(bytes) => {
                write!(f, "memory ({}; `--memory-limit` raises it)", size(*bytes))
            }
            Self::Processes(count) => {
                write!(f, "processes ({count}; `limits.processes` in your config file raises it)")
            }
            Self::Staged(bytes) => {
                let bytes = size(*bytes);
                write!(f, "staged files ({bytes}; `limits.staged` in your config file raises it)")
            }
            Self::StagedFiles(count) => write!(
                f,
                "the number of staged files ({count}; `limits.staged_files` in your config file \
                 raises it)"
            ),
            Self::FreeSpace(bytes) => write!(
                f,
                "free disk space for staged files (less than {} left; free some space)",
                size(*bytes)
            ),
            Self::FreeFiles(count) => write!(
                f,
                "room for staged files (the disk can hold fewer than {count} more files; remove some)"
            ),
            Self::Output(bytes) => {
                write!(
                    f,
                    "output ({}; `limits.output` in your config file raises it)",
                    size(*bytes)
                )
            }
        }
    }
}

/// A number of bytes, as a config file has it.
fn size(bytes: u64) -> String {
    let units = [(1_u64 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")];
    let whole = units.into_iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit));
    whole.map_or_else(|| format!("{bytes} bytes"), |(unit, word)| format!("{}{word}", bytes / unit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn path() -> impl Strategy<Value = PathBuf> {
        prop::collection::vec("[abc]", 1..5).prop_map(|parts| Path::new("/").join(parts.join("/")))
    }

    fn access() -> impl Strategy<Value = Access> {
        prop::sample::select(vec![Access::Read, Access::Write, Access::Deny])
    }

    proptest! {
        #[test]
        fn the_narrower_path_wins_and_on_a_tie_the_stricter_word(
            entries in prop::collection::vec((path(), access()), 0..8), asked in path(),
        ) {
            let mut confinement = crate::session::tests::confinement();
            confinement.files.clear();
            let mut backwards = confinement.clone();
            for (path, access) in &entries {
                confinement.add(path.clone(), *access);
            }
            for (path, access) in entries.iter().rev() {
                backwards.add(path.clone(), *access);
            }
            // The order in which they were listed does not count.
            prop_assert_eq!(&confinement.files, &backwards.files);
            let over = entries.iter().filter(|(path, _)| asked.starts_with(path));
            let narrowest = over.clone().map(|(path, _)| path.components().count()).max();
            let wanted = over
                .filter(|(path, _)| Some(path.components().count()) == narrowest)
                .map(|(_, access)| *access)
                .max();
            prop_assert_eq!(confinement.access(&asked), wanted);
        }
    }

    #[test]
    fn a_network_is_told_in_a_few_words_and_by_name_in_the_record() {
        let listed = |names: &[&str]| Hosts {
            allow: names.iter().map(|name| name.parse().unwrap()).collect(),
            deny: vec![],
        };
        let only = |names: &[&str]| Network::Only(listed(names));
        assert_eq!(only(&[]).words(), "no network");
        assert_eq!(only(&["a.org", "*.b.org"]).words(), "network only to a.org, *.b.org");
        let many = only(&["a.org", "b.org", "c.org", "d.org", "e.org"]);
        assert_eq!(many.words(), "network only to a.org, b.org, c.org, 2 more");
        let json = |network: &Network| serde_json::to_string(network).unwrap();
        assert_eq!(json(&Network::None), r#""none""#);
        assert_eq!(json(&only(&["a.org"])), r#"{"only":{"allow":["a.org"]}}"#);
        assert_eq!(json(&Network::Open(listed(&[]))), r#"{"open":{"allow":[]}}"#);
        assert_eq!(serde_json::from_str::<Network>(r#""none""#).unwrap(), Network::None);
    }

    #[test]
    fn the_lines_say_whether_hosts_are_asked_about() {
        let first = |network: Network, asks| {
            let confinement = Confinement { network, ..crate::session::tests::confinement() };
            confinement.lines(asks).remove(0)
        };
        let only = |names: &[&str]| {
            let allow = names.iter().map(|name| name.parse().unwrap()).collect();
            Network::Only(Hosts { allow, deny: vec![] })
        };
        for network in [Network::None, only(&[])] {
            assert_eq!(first(network.clone(), false), "in a sandbox: no network, files staged");
            assert_eq!(
                first(network, true),
                "in a sandbox: no network until you allow a host (each one is asked about), files \
                 staged"
            );
        }
        let listed = "in a sandbox: network only to listed hosts";
        assert_eq!(first(only(&["a.org"]), false), format!("{listed}, files staged"));
        assert_eq!(
            first(only(&["a.org"]), true),
            format!("{listed} (any other host is asked about), files staged")
        );
    }

    #[test]
    fn a_limit_says_its_value_and_what_raises_it() {
        let said = |reached: Reached| reached.to_string();
        assert_eq!(said(Reached::Time(5)), "time (5 s; `--time-limit` raises it)");
        assert_eq!(said(Reached::Cpu(5)), "CPU time (5 s; `--cpu-limit` raises it)");
        assert!(said(Reached::Memory(4 << 30)).starts_with("memory (4G; "));
        assert!(said(Reached::Output(1 << 20)).starts_with("output (1M; "));
        assert!(said(Reached::Staged(8 << 30)).starts_with("staged files (8G; `limits.staged`"));
        assert!(said(Reached::StagedFiles(5)).starts_with("the number of staged files (5; "));
        assert!(said(Reached::FreeSpace(1 << 30)).contains("less than 1G left"));
        assert!(said(Reached::Output(1_000)).starts_with("output (1000 bytes; "));
    }
}
