//! The list of an environment: every package in it by hash, and the names that were asked for.
//!
//! It stands in the environment and comes and goes with it. Only this program writes it, outside of
//! every sandbox; code sees it and cannot change it. An environment without a list was made by an
//! earlier version: of its packages only names and versions count, and every file comes anew.

use super::{
    listing::{self, Cut, installed, read},
    skeleton,
    store::Store,
};
use interpreter_core::{
    hash::sha256,
    packages::{Package, PackageKind, PackageOrder, PackagePlan, PlannedPackage, normal_name},
};
use serde::{Deserialize, Serialize};
use std::{io, path::Path};

/// The name of the list in its environment.
pub(super) const LIST: &str = "packages.json";

/// Bytes of the longest list.
const LONGEST: u64 = 32 << 20;

/// The list of an environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Listed {
    /// The packages that were asked for, as they were.
    pub(super) roots: Vec<String>,
    pub(super) packages: Vec<PlannedPackage>,
    /// npm's own list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) lock: Option<String>,
    /// Packages of npm whose install scripts ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) built: Vec<String>,
}

/// The state of an environment.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    pub(super) listed: Listed,
    /// The hash of the list, for a plan that is made from it.
    pub(super) base: String,
    /// Whether every package is there by its hash, so that its file can be used again.
    pub(super) is_whole: bool,
    /// The packages themselves.
    pub(super) installed: Vec<Package>,
}

impl Known {
    pub(super) fn read(kind: PackageKind, folder: &Path, store: &Store) -> Self {
        let installed = installed(kind, folder);
        let text = read(&folder.join(LIST), LONGEST, Cut::Refused);
        let listed = text.as_deref().and_then(|text| serde_json::from_slice::<Listed>(text).ok());
        let base = sha256(text.as_deref().unwrap_or_default());
        let Some(listed) = listed else {
            let roots = installed.iter().map(|one| pin(kind, &one.name, &one.version)).collect();
            let lock = listing::npm_lock_text(folder).filter(|_| kind == PackageKind::Npm);
            let is_whole = installed.is_empty();
            let roots = if kind == PackageKind::Npm { Vec::new() } else { roots };
            let listed = Listed { roots, lock, ..Listed::default() };
            return Self { listed, base, is_whole, installed };
        };
        let is_whole = kind == PackageKind::Npm || listed.packages.iter().all(|one| store.has(one));
        Self { listed, base, is_whole, installed }
    }

    /// The package of this name and version, as it is on the list.
    pub(super) fn find(
        &self,
        kind: PackageKind,
        name: &str,
        version: &str,
    ) -> Option<&PlannedPackage> {
        let name = normal_name(kind, name);
        let same = |one: &&PlannedPackage| one.normal_name(kind) == name && one.version == version;
        self.listed.packages.iter().find(same)
    }

    /// The version of a package that is installed.
    pub(super) fn version_of(&self, kind: PackageKind, name: &str) -> Option<&str> {
        let name = normal_name(kind, name);
        let found = self.installed.iter().find(|one| normal_name(kind, &one.name) == name);
        found.map(|one| one.version.as_str())
    }

    /// The plan by which packages of Python go. The others stay as they are.
    pub(super) fn without(&self, order: &PackageOrder) -> PackagePlan {
        let mut plan = PackagePlan { base: self.base.clone(), ..PackagePlan::default() };
        plan.list.goes =
            self.installed.iter().filter(|one| order.names(&one.name)).cloned().collect();
        plan.stays =
            self.listed.packages.iter().filter(|one| !order.names(&one.name)).cloned().collect();
        plan.roots = self.roots_without(order);
        plan
    }

    /// The packages that were asked for before and are not named now.
    pub(super) fn roots_without(&self, order: &PackageOrder) -> Vec<String> {
        let name_of = |text: &str| {
            let read = interpreter_core::packages::Requirement::parse(order.kind, text).ok();
            read.map(|read| read.name().to_owned())
        };
        let kept = self
            .listed
            .roots
            .iter()
            .filter(|text| name_of(text).is_some_and(|name| !order.names(&name)));
        kept.cloned().collect()
    }

    /// The versions that shall stay, as far as they can.
    pub(super) fn pins(&self, order: &PackageOrder) -> Vec<String> {
        let is_free = |name: &str| {
            let name = normal_name(order.kind, name);
            let mut named = order.packages().iter().filter(|one| one.normal_name() == name);
            named.any(|one| one.text() != one.name())
        };
        let kept = self.installed.iter().filter(|one| !is_free(&one.name));
        kept.map(|one| pin(order.kind, &one.name, &one.version)).collect()
    }
}

impl Listed {
    /// The list of an environment that was made by a plan.
    pub(super) fn of(plan: &PackagePlan, built: Vec<String>) -> Self {
        let (mut packages, lock) = (plan.stays.clone(), plan.lock.clone());
        packages.extend(plan.list.comes.iter().map(|one| PlannedPackage {
            required_by: None,
            replaces: None,
            ..one.clone()
        }));
        packages.sort();
        Self { roots: plan.roots.clone(), packages, lock, built }
    }

    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        let text = serde_json::to_vec(self).map_err(io::Error::other)?;
        skeleton::write_new(&folder.join(LIST), &text)
    }
}

fn pin(kind: PackageKind, name: &str, version: &str) -> String {
    match kind {
        PackageKind::Python => format!("{name}=={version}"),
        PackageKind::Npm => format!("{name}@{version}"),
    }
}
