//! Package indexes, as the person's own tools name them.
//!
//! `python`, `npm`, `rust` and `debian` stand in the list of hosts for the places that pip, npm,
//! cargo and apt fetch from on this machine: what their settings say, and where those say nothing,
//! what the installed tool itself has built in, read from its own files. No index is named in this
//! program.
//!
//! Of an address only host and port are taken, and for code inside the address without user and
//! password. A file that is not there, cannot be read or makes no sense says nothing.
//!
//! Must not follow a project's files: a project could list hosts with them.

use crate::Environment;
use interpreter_core::egress::HostRule;
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    fs::File,
    io::Read,
    path::{Path, PathBuf},
    str::FromStr,
};

mod address;
mod apt;
mod cargo;
mod npm;
mod python;

/// A kind of packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// pip and uv.
    Python,
    /// npm.
    Npm,
    /// cargo.
    Rust,
    /// apt.
    Debian,
}

impl Preset {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Python, Self::Npm, Self::Rust, Self::Debian];

    /// The word in lists of hosts.
    pub fn word(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Npm => "npm",
            Self::Rust => "rust",
            Self::Debian => "debian",
        }
    }

    /// The tool whose settings are read.
    pub fn tool(self) -> &'static str {
        match self {
            Self::Python => "pip",
            Self::Npm => "npm",
            Self::Rust => "cargo",
            Self::Debian => "apt",
        }
    }

    /// What the tool's settings come to on this machine.
    pub fn find(self, machine: &Machine<'_>) -> Index {
        let mut index = match self {
            Self::Python => python::find(machine),
            Self::Npm => npm::find(machine),
            Self::Rust => cargo::find(machine),
            Self::Debian => apt::find(machine),
        };
        let mut seen = BTreeSet::new();
        index.hosts.retain(|rule| seen.insert(rule.clone()));
        index
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Preset {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|preset| preset.word() == text).ok_or(())
    }
}

/// Where settings are looked for.
#[derive(Clone, Copy, Debug)]
pub struct Machine<'a> {
    /// The environment.
    pub environment: &'a Environment,
    /// The person's home.
    pub home: Option<&'a Path>,
    /// Where the system's files are: `/`.
    pub root: &'a Path,
    /// Where interpreters and their tools are installed, such as `/usr`.
    pub prefixes: &'a [PathBuf],
}

/// What the settings of a tool come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    /// The places it fetches from.
    pub hosts: Vec<HostRule>,
    /// What tells the same tool inside to fetch from there.
    pub variables: BTreeMap<String, String>,
}

/// The largest file that is read. Settings are small, and so is what is read of a tool.
const MOST: u64 = 4 << 20;

/// Files of a folder that are looked at.
const MOST_FILES: usize = 200;

impl Machine<'_> {
    fn in_home(&self, path: &str) -> Option<PathBuf> {
        Some(self.home?.join(path))
    }

    fn in_config(&self, path: &str) -> Option<PathBuf> {
        match self.environment.raw("XDG_CONFIG_HOME").map(PathBuf::from) {
            Some(config) if config.is_absolute() => Some(config.join(path)),
            Some(_) | None => self.in_home(".config").map(|config| config.join(path)),
        }
    }

    fn in_root(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }
}

/// The text of a file, if it is a file with text.
fn read(path: &Path) -> Option<String> {
    // Looked at before it is opened: to open a pipe would wait for its writer.
    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    // Half of a file could name another place than all of it.
    let read = File::open(path).ok()?.take(MOST + 1).read_to_string(&mut text).ok()?;
    (read as u64 <= MOST).then_some(text)
}

/// The files and folders in a folder, by name.
fn list(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.flatten().take(MOST_FILES).map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests;
