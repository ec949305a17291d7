//! Packages: which one code misses, which may be installed, and by which name.
//!
//! # Threat
//! A package is code from a stranger. Its name comes from a model, from a program's output or from
//! a project, and could be an option, an address or a path to the tool that installs it.
//!
//! # Mechanism
//! A [`Requirement`] is a name and versions, read strictly; there is no other way to name a package
//! to an installer. An order is looked up first, which gives a [`PackagePlan`]: every package that
//! comes, by hash. An installation needs a [`PackagePermit`] for one plan, which only a session
//! makes.
//!
//! # Limits
//! A name says nothing about who is behind it: the person decides, and a name that is only guessed
//! from an import is marked as such.
//!
//! Pure: finding, installing and listing are `interpreter-exec`'s.

pub use self::{
    missing::missing,
    modules::{distribution, is_known},
    order::{PackageChange, PackageLookup, PackageOrder, PackagePermit},
    plan::{PackageList, PackagePlan, PackagesFound, PlannedPackage},
    request::requested,
    requirement::{Requirement, RequirementError, normal_name},
};

mod missing;
mod modules;
mod order;
mod plan;
mod request;
mod requirement;

use serde::{Deserialize, Serialize};
use std::fmt;

/// Where packages come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PackageKind {
    /// For Python.
    Python,
    /// For JavaScript.
    Npm,
}

impl PackageKind {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Npm => "npm",
        }
    }
}

impl fmt::Display for PackageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A package that is installed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Package {
    /// Where it comes from: the JSON has it as `source`, since records have a `kind` of their own.
    #[serde(rename = "source")]
    pub kind: PackageKind,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The SHA-256 of the list of its files with their hashes, or the hash that npm checked.
    pub hash: String,
}

impl fmt::Display for Package {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

/// Whether packages that code misses may be installed, from strict to loose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PackagePolicy {
    /// No, and the person is not asked.
    Never,
    /// The person is asked each time.
    #[default]
    Ask,
    /// Yes, without a question; but never by running code of the package.
    Allow,
}

/// The packages that a session may offer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackageSetup {
    /// Whether they may be installed.
    pub policy: PackagePolicy,
    /// The kinds that can be installed here.
    pub kinds: Vec<PackageKind>,
    /// Whether a script may run again with what it missed. Not if it has read data that is gone.
    pub script_runs_again: bool,
    /// Whether there is a person who could answer, so that the index may be asked for them.
    pub has_person: bool,
}

impl PackageSetup {
    /// Whether packages of a kind can be installed, or asked for.
    pub fn offers(&self, kind: PackageKind) -> bool {
        self.policy != PackagePolicy::Never && self.kinds.contains(&kind)
    }
}

/// The outcome of an order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackagesDone {
    /// The packages that came, or are here in another version.
    pub installed: Vec<Package>,
    /// The packages that are gone.
    pub removed: Vec<Package>,
    /// The tool that did it: `pip`, `uv` or `npm`.
    pub tool: String,
    /// The sandbox that it ran in.
    pub sandbox: String,
    /// Hosts that were contacted.
    pub network: Vec<crate::HostContact>,
    /// A remark for the person.
    pub remark: Option<String>,
}

/// Why an order was not carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackagesFailed {
    /// In a sentence without a full stop.
    pub reason: String,
    /// Whether it could be built from its source, which runs its code.
    pub needs_build: bool,
    /// Hosts that were contacted.
    pub network: Vec<crate::HostContact>,
}

impl PackagesFailed {
    /// A failure for which building would change nothing.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), needs_build: false, network: Vec::new() }
    }
}
