//! Makes an environment of exactly the packages of a plan, and puts it in its place.
//!
//! # Threat
//! The packages of before are code of strangers, and so are those that come. Neither may run while
//! something is installed, decide what is installed, or outlive its removal.
//!
//! # Mechanism
//! The environment is made anew from finished builds with known hashes, in an empty folder. The old
//! one is not shown to the sandbox and not read. Install scripts of npm run only where the order
//! has leave to build, only those of the packages that it names, in a sandbox of their own that
//! reaches no address of the person's network.
//!
//! # Order
//! Unpacked, looked at, listed, swapped in, and only then is the old one removed.
//!
//! # Limits
//! A package of npm that was built keeps the folder that its scripts left, as it is, until it goes.

use super::{
    damage::damage,
    found, is_among,
    listed::{Known, Listed},
    listing::installed,
    site::{Outcome, PackageSite},
    skeleton,
    store::Store,
    swap::swap,
    workshop::{Workshop, copy_folder},
};
use crate::runner::Bench;
use interpreter_core::{
    Confinement, HostContact,
    packages::{
        Package, PackageChange, PackageKind, PackageOrder, PackagePlan, PackagesDone,
        PackagesFailed, PlannedPackage,
    },
};
use std::{io, path::PathBuf};

/// One installation.
pub(super) struct Install {
    pub(super) order: PackageOrder,
    pub(super) plan: PackagePlan,
    pub(super) site: PackageSite,
    pub(super) workshop: Workshop,
    pub(super) known: Known,
    pub(super) store: Store,
}

impl Install {
    pub(super) async fn perform(self) -> Result<PackagesDone, PackagesFailed> {
        let mut network = Vec::new();
        let made = self.make(&mut network).await;
        let done = match made {
            Ok(sandbox) => self.put_in_place().map(|()| sandbox),
            Err(failed) => Err(failed),
        };
        let runs_scripts = self.runs_scripts();
        let Self { order, plan, site, workshop, known, store } = self;
        workshop.close();
        let sandbox = match done {
            Ok(sandbox) => sandbox,
            Err((reason, needs_build)) => {
                return Err(PackagesFailed { reason, needs_build, network });
            }
        };
        let kind = order.kind;
        let after = installed(kind, &site.folder);
        if kind == PackageKind::Python {
            sweep(&site, &store);
        }
        let before = known.installed;
        let is_new =
            |one: &Package| !before.contains(one) || (runs_scripts && order.names(&one.name));
        Ok(PackagesDone {
            installed: after.iter().filter(|one| is_new(one)).cloned().collect(),
            removed: before
                .iter()
                .filter(|one| !is_among(&one.name, &after, kind))
                .cloned()
                .collect(),
            tool: site.tool.name().into(),
            sandbox: sandbox.into(),
            network,
            remark: plan.remark,
        })
    }

    /// Makes the environment, in the workshop.
    async fn make(&self, network: &mut Vec<HostContact>) -> Outcome<&'static str> {
        let new = self.workshop.new_folder();
        let confinement = self.site.with_builds(&self.site.trusted().await);
        skeleton::make(&new, &self.site.tool).map_err(|error| own(&error))?;
        if self.order.kind == PackageKind::Npm {
            self.workshop.write_npm(self.plan.lock.as_deref()).map_err(|error| own(&error))?;
        }
        let sandbox = self.in_bench(&confinement, network, Step::Unpack).await?;
        if self.runs_scripts() {
            self.in_bench(&self.site.confinement, network, Step::Scripts).await?;
        }
        Ok(sandbox)
    }

    fn runs_scripts(&self) -> bool {
        self.order.kind == PackageKind::Npm
            && self.order.build
            && self.order.change == PackageChange::Install
    }

    async fn in_bench(
        &self,
        confinement: &Confinement,
        network: &mut Vec<HostContact>,
        step: Step,
    ) -> Outcome<&'static str> {
        let opened = self.site.bench(confinement).await;
        let mut bench = opened.map_err(|failed| (failed.reason, false))?;
        let done = match (step, self.order.kind) {
            (Step::Unpack, PackageKind::Python) => self.unpack(&mut bench).await,
            (Step::Unpack, PackageKind::Npm) => {
                let command = self.site.tool.install_listed(&self.workshop.new_folder());
                self.run_npm(&mut bench, command).await
            }
            (Step::Scripts, _) => {
                let new = self.workshop.new_folder();
                let command = self.site.tool.run_scripts(&new, self.order.packages());
                self.run_npm(&mut bench, command).await
            }
        };
        let sandbox = bench.sandbox();
        network.extend(bench.contacts());
        bench.close().await;
        done.map(|()| sandbox)
    }

    async fn unpack(&self, bench: &mut Bench) -> Outcome<()> {
        let mut packages: Vec<(&PlannedPackage, Option<PathBuf>)> = Vec::new();
        for one in self.plan.stays.iter().chain(&self.plan.list.comes) {
            let here = self.store.file_of(one);
            if here.is_none() && one.url.is_empty() {
                return Err((format!("the file of {one} is gone; try again"), false));
            }
            packages.push((one, here));
        }
        self.workshop.unpack(bench, &self.site, &packages).await?;
        for (one, _) in packages.iter().filter(|(_, here)| here.is_none()) {
            let name = found::file_name(&one.url).unwrap_or_default();
            self.store.take(one, &self.workshop.files().join(name)).map_err(|error| own(&error))?;
        }
        Ok(())
    }

    async fn run_npm(&self, bench: &mut Bench, command: crate::runner::ToolCommand) -> Outcome<()> {
        let ended = bench.run(command).await.map_err(|error| (error.to_string(), false))?;
        if ended.status == Some(0) {
            return Ok(());
        }
        if ended.said.contains("EINTEGRITY") {
            let reason = "the registry gave another file than the one that was looked up";
            return Err((reason.into(), false));
        }
        let words = super::complaint::read(&ended.said).words;
        Err((interpreter_core::Untrusted::new(words).for_terminal_line(300), false))
    }

    /// Looks at what was made, lists it, and puts it in the place of the one before.
    fn put_in_place(&self) -> Outcome<()> {
        let (new, kind) = (self.workshop.new_folder(), self.order.kind);
        let made = installed(kind, &new);
        self.agrees(&made)?;
        skeleton::make(&new, &self.site.tool).map_err(|error| own(&error))?;
        let mut built = Vec::new();
        if kind == PackageKind::Npm {
            self.workshop.write_npm(self.plan.lock.as_deref()).map_err(|error| own(&error))?;
            built = self.bring_built().map_err(|error| own(&error))?;
        }
        skeleton::clear(&new.join(super::listed::LIST)).map_err(|error| own(&error))?;
        Listed::of(&self.plan, built).write(&new).map_err(|error| own(&error))?;
        if let (PackageKind::Python, Some(odd)) = (kind, damage(kind, &new).first()) {
            let odd = odd.strip_prefix(&new).unwrap_or(odd).display().to_string();
            let odd = interpreter_core::Untrusted::new(odd).for_terminal_line(200);
            return Err((format!("a file of no package was written: {odd}"), false));
        }
        swap(&new, &self.site.folder, &self.workshop.place("before")).map_err(|error| own(&error))
    }

    /// That what is there is what was planned.
    fn agrees(&self, made: &[Package]) -> Outcome<()> {
        let kind = self.order.kind;
        let planned = || self.plan.stays.iter().chain(&self.plan.list.comes);
        let same = |one: &PlannedPackage, other: &Package| {
            one.normal_name(kind) == interpreter_core::packages::normal_name(kind, &other.name)
                && (one.version == other.version || kind == PackageKind::Python)
        };
        if let Some(odd) = made.iter().find(|one| !planned().any(|planned| same(planned, one))) {
            return Err((format!("the installer installed {odd}, which was not planned"), false));
        }
        let is_made = |one: &PlannedPackage| made.iter().any(|made| same(one, made));
        let missing = planned().find(|one| {
            !is_made(one) && (kind == PackageKind::Python || self.order.names(&one.name))
        });
        match missing {
            Some(one) => Err((format!("the installer did not install {one}"), false)),
            None => Ok(()),
        }
    }

    /// Brings along the folders that install scripts have left, of packages that stay.
    fn bring_built(&self) -> io::Result<Vec<String>> {
        let stays = |name: &&String| self.plan.stays.iter().any(|one| one.name == **name);
        let kept = self.known.listed.built.iter().filter(stays);
        let mut built: Vec<String> = kept.filter(|name| !self.order.names(name)).cloned().collect();
        for name in &built {
            let inside = PathBuf::from("node_modules").join(name);
            let from = self.site.folder.join(&inside);
            if fs_err::symlink_metadata(&from).is_ok_and(|found| found.is_dir()) {
                copy_folder(&from, &self.workshop.new_folder().join(&inside))?;
            }
        }
        if self.runs_scripts() {
            built.extend(self.order.packages().iter().map(|one| one.name().to_owned()));
        }
        Ok(built)
    }
}

/// The steps that need a sandbox.
#[derive(Clone, Copy)]
enum Step {
    Unpack,
    Scripts,
}

/// Removes builds that no environment of this folder has any more.
fn sweep(site: &PackageSite, store: &Store) {
    let Some(root) = site.folder.parent() else { return };
    let entries = fs_err::read_dir(root).into_iter().flatten().flatten();
    let kept = entries
        .flat_map(|entry| Known::read(PackageKind::Python, &entry.path(), store).listed.packages);
    store.sweep(&kept.collect::<Vec<_>>());
}

/// A failure of this program's own files.
fn own(error: &io::Error) -> (String, bool) {
    (format!("its folder cannot be prepared: {error}"), false)
}
