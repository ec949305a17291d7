//! The exact packages that an order comes to: each file by name, version and hash.
//!
//! An installer finds out before anything is asked, without running anything of a package. The
//! packages that the plan names are shown, recorded and installed, and no others.

use super::{Package, PackageKind, Requirement, normal_name};
use crate::HostContact;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One finished build.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PlannedPackage {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The hash of its file: `sha256:` and hexadecimal digits, or for npm the integrity of the
    /// lock.
    pub hash: String,
    /// Where the file is fetched. Empty for a file that is here: it was built, or comes in another.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub url: String,
    /// The package that requires it, where that is known and the order does not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required_by: Option<String>,
    /// The version whose place it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
}

impl PlannedPackage {
    /// A package, if its name and version are ones that an order could have.
    pub fn new(
        kind: PackageKind,
        name: &str,
        version: &str,
        hash: String,
        url: String,
    ) -> Option<Self> {
        let read = Requirement::parse(kind, name).ok()?;
        let plain = |c: char| c.is_ascii_alphanumeric() || ".+!-_".contains(c);
        let fits = !version.is_empty() && version.len() <= 64 && version.chars().all(plain);
        let hash_fits = hash.len() <= 256 && hash.chars().all(|c| c.is_ascii_graphic());
        let url_fits = url.len() <= 2048 && url.chars().all(|c| c.is_ascii_graphic());
        (fits && hash_fits && url_fits && read.name() == read.text()).then(|| Self {
            name: name.to_owned(),
            version: version.to_owned(),
            hash,
            url,
            required_by: None,
            replaces: None,
        })
    }

    /// The name in the one spelling by which names are compared.
    pub fn normal_name(&self, kind: PackageKind) -> String {
        normal_name(kind, &self.name)
    }
}

impl fmt::Display for PlannedPackage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

/// Everything that comes and goes by an order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageList {
    /// The packages that come, with those that they require.
    pub comes: Vec<PlannedPackage>,
    /// The packages that go.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub goes: Vec<Package>,
}

impl PackageList {
    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.comes.is_empty() && self.goes.is_empty()
    }
}

/// A list, and what an installer must know beside it. Nothing more is installed than the packages
/// of the list and those that stay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackagePlan {
    /// The packages that come and go.
    pub list: PackageList,
    /// The packages that stay as they are.
    pub stays: Vec<PlannedPackage>,
    /// The packages that were asked for by name, as they were asked for.
    pub roots: Vec<String>,
    /// npm's own list, from which the packages above were read.
    pub lock: Option<String>,
    /// The hash of the list of what is installed, which must still be the same.
    pub base: String,
    /// A remark for the person.
    pub remark: Option<String>,
}

/// The outcome of a look into the index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackagesFound {
    /// The plan.
    pub plan: PackagePlan,
    /// The tool that found it: `pip`, `uv` or `npm`.
    pub tool: String,
    /// The sandbox that it ran in; empty if nothing had to run.
    pub sandbox: String,
    /// Hosts that were contacted.
    pub network: Vec<HostContact>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_versions_and_hashes_are_planned() {
        let of = |name: &str, version: &str, hash: &str| {
            let (hash, url) = (hash.to_owned(), String::new());
            PlannedPackage::new(PackageKind::Python, name, version, hash, url).is_some()
        };
        assert!(of("six", "1.16.0", "sha256:00"));
        for (name, version, hash) in [
            ("six==1", "1", "x"),
            ("\u{1b}[2J", "1", "x"),
            ("six", "", "x"),
            ("six", "1 ; rm", "x"),
            ("six", "../1", "x"),
            ("six", "1", "a b"),
            ("six @ http://x", "1", "x"),
        ] {
            assert!(!of(name, version, hash), "{name} {version} {hash}");
        }
    }
}
