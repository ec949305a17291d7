//! Package indexes, as the person's own tools name them.
//!
//! `python`, `npm`, `rust` and `debian` stand in the list of hosts for the places that pip, npm,
//! cargo and apt fetch from on this machine. They come from the settings of these tools, or else
//! from the built-in default in the tool's own files. No index is named in this program.
//!
//! Of an address only host and port are taken, and for code inside the address without user and
//! password. A file that is not there, cannot be read or makes no sense says nothing.
//!
//! Must not follow a project's files: a project could list hosts with them.

use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, fmt, str::FromStr};

pub use self::machine::{Index, IndexMachine};

mod address;
mod apt;
mod cargo;
mod machine;
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

    /// Resolves the tool's settings on this machine.
    pub fn find(self, machine: &IndexMachine<'_>) -> Index {
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

#[cfg(test)]
mod tests;
