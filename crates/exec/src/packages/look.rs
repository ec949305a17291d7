//! Finds out what an order comes to, before anybody is asked: every package by version and hash.
//!
//! # Threat
//! To ask a tool what it would install can run code of packages: sources are built to find out what
//! they require, a wheel may require one by an address, and packages that are installed run with
//! the interpreter of their environment.
//!
//! # Mechanism
//! The person's own interpreter, without any packages but pip itself, which can start no program.
//! The tools see no environment, only names and versions. Their report is read outside and refused
//! as a whole if it has anything but finished builds of the index.
//!
//! An order with leave to build runs code of packages first, in a sandbox that reaches the index by
//! its name alone. Its report only says which sources to build. Each is built on its own
//! (`build.rs`), and then it is asked again which packages the order comes to, with those builds
//! and without running anything: the list is that one.
//!
//! # Limits
//! The index learns the names. The requirements of a source are those that its own build states.

use super::{
    complaint,
    found::{
        self, Accepted, FoundPackage, in_pip_report, in_pylock, requirers_told, taken_by_address,
    },
    listed::Known,
    listing::{Cut, read},
    npm,
    site::{Outcome, PackageSite, PackageStep, Used},
    store::Store,
    tool::{NO_GIT, PackageSources},
    workshop::{Workshop, write_npm},
};
use crate::{interpreters::PackageTool, runner::ToolCommand};
use interpreter_core::{
    Untrusted,
    packages::{
        PackageChange, PackageKind, PackageOrder, PackagePlan, PlannedPackage, Requirement,
        normal_name,
    },
};
use std::{io, path::PathBuf};

/// Bytes of the longest report.
const LONGEST: u64 = 64 << 20;

/// The most characters of a foreign reason.
const TOLD: usize = 300;

/// A password in the settings of pip, uv or npm would be read by the code of packages.
const LOCKED: &str = "the index wants a user name and password, and yours stay outside the sandbox; \
                      use an index without, such as a mirror on this machine";

/// pip says nothing of a password that it lacks.
const OR_LOCKED: &str =
    ", or it wants the password in your settings, which stays outside the sandbox";

/// One look into the index.
pub(super) struct Look<'a> {
    pub(super) order: &'a PackageOrder,
    pub(super) site: &'a PackageSite,
    pub(super) workshop: &'a Workshop,
    pub(super) known: &'a Known,
    pub(super) store: &'a Store,
}

impl Look<'_> {
    /// The plan of the order.
    pub(super) async fn plan(&self, used: &mut Used) -> Outcome<PackagePlan> {
        match self.order.kind {
            PackageKind::Python => self.of_python(used).await,
            PackageKind::Npm => self.of_npm(used).await,
        }
    }

    async fn of_python(&self, used: &mut Used) -> Outcome<PackagePlan> {
        let named: Vec<_> = match self.order.change {
            PackageChange::Install => {
                self.order.packages().iter().map(|one| one.text().to_owned()).collect()
            }
            PackageChange::Remove => Vec::new(),
        };
        let mut roots = self.known.roots_without(self.order);
        roots.extend(named.clone());
        let mut pins = self.known.pins(self.order);
        if self.order.change == PackageChange::Remove {
            pins.retain(|pin| {
                !pin.split_once("==").is_some_and(|(name, _)| self.order.names(name))
            });
        }
        let sources =
            if self.order.build { PackageSources::Built } else { PackageSources::Refused };
        // Packages that are there stay as they are, if they can.
        let mut wanted: Vec<_> = roots.iter().chain(&pins).cloned().collect();
        let mut found = self.resolve(used, &wanted, sources, &[]).await;
        if found.is_err() && !pins.is_empty() && self.order.change == PackageChange::Install {
            wanted.clone_from(&roots);
            found = self.resolve(used, &wanted, sources, &[]).await;
        }
        let mut found = found?;
        let mut built = Vec::new();
        if sources == PackageSources::Built {
            for one in found.iter().filter(|one| one.is_source) {
                built.push(self.build(used, &one.package).await?);
            }
            found = self.resolve(used, &wanted, PackageSources::Refused, &built).await?;
        }
        let mut plan =
            PackagePlan { roots, base: self.known.base.clone(), ..PackagePlan::default() };
        for one in found {
            let FoundPackage { mut package, .. } = one;
            if let Some(own) = among(&built, &package.name, &package.version) {
                package = PlannedPackage { required_by: package.required_by, ..own.clone() };
            } else if let Some(known) = self.usable(&package.name, &package.version) {
                plan.stays.push(known.clone());
                continue;
            }
            let before = self.known.version_of(PackageKind::Python, &package.name);
            package.replaces =
                before.filter(|before| *before != package.version).map(str::to_owned);
            if self.order.names(&package.name) {
                package.required_by = None;
            }
            plan.list.comes.push(package);
        }
        plan.list.comes.sort();
        self.count_what_goes(&mut plan);
        Ok(plan)
    }

    /// A package of the list whose file is here.
    fn usable(&self, name: &str, version: &str) -> Option<&PlannedPackage> {
        let known = self.known.find(PackageKind::Python, name, version);
        known.filter(|one| self.store.has(one))
    }

    /// Packages that are installed and not part of a plan go.
    fn count_what_goes(&self, plan: &mut PackagePlan) {
        let kind = self.order.kind;
        let is_planned = |name: &str| {
            let name = normal_name(kind, name);
            let mut all = plan.list.comes.iter().chain(&plan.stays);
            all.any(|one| one.normal_name(kind) == name)
        };
        let goes = self.known.installed.iter().filter(|one| !is_planned(&one.name));
        plan.list.goes = goes.cloned().collect();
    }

    /// Asks the tool which packages these requirements come to.
    async fn resolve(
        &self,
        used: &mut Used,
        wanted: &[String],
        sources: PackageSources,
        built: &[PlannedPackage],
    ) -> Outcome<Vec<FoundPackage>> {
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let PackageSite { tool, hosts, .. } = self.site;
        let bound: Vec<_> =
            built.iter().map(|one| format!("{}=={}", one.name, one.version)).collect();
        let places = self.workshop.renew().and_then(|()| self.workshop.desk_for(wanted, &bound));
        let places = places.map_err(|error| own(&error))?;
        let here: Vec<PathBuf> = self
            .known
            .listed
            .packages
            .iter()
            .chain(built)
            .filter_map(|one| self.store.sound(one))
            .collect();
        let desk = places.desk(&here, sources);
        let mut step = self.open(sources).await?;
        let ended = self.ask(&mut step, tool.resolve(self.order, desk)).await;
        if let (Ok(()), Some(command)) = (&ended, tool.explain(desk)) {
            // It is shown and decides nothing: without an answer, nothing is shown.
            _ = step.run(command).await.is_ok();
        }
        used.close(step).await;
        ended?;
        let report = read(desk.report, LONGEST, Cut::Refused);
        let report = report.ok_or_else(|| ("the installer left no report".to_owned(), false))?;
        let accepted = Accepted { hosts, sources: sources == PackageSources::Built };
        let is_known = |name: &str, version: &str| {
            among(built, name, version).is_some() || self.usable(name, version).is_some()
        };
        let found = match tool {
            PackageTool::Uv { .. } => in_pylock(&report, accepted, is_known),
            PackageTool::Pip { .. } | PackageTool::Npm { .. } => {
                in_pip_report(&report, accepted, is_known)
            }
        };
        let mut found = found.map_err(|reason| {
            let needs_build = !self.order.build && reason.contains("no finished build of");
            (reason, needs_build)
        })?;
        let told = read(desk.requirers, LONGEST, Cut::Refused);
        let told = told.map(|text| requirers_told(&text)).unwrap_or_default();
        for FoundPackage { package, .. } in &mut found {
            if package.required_by.is_none() {
                package.required_by = told.get(&package.normal_name(PackageKind::Python)).cloned();
            }
        }
        Ok(found)
    }

    /// A sandbox for one look. Code of a package reaches no address by a name of the index.
    async fn open(&self, sources: PackageSources) -> Outcome<PackageStep> {
        let site = self.site;
        let confinement = match sources {
            PackageSources::Built => site.confinement.clone(),
            PackageSources::Refused => site.trusted().await,
        };
        let confinement = site.with_builds(&confinement);
        site.bench(self.workshop, &confinement, &self.order.words()).await
    }

    /// Runs a tool that has to find something.
    async fn ask(&self, step: &mut PackageStep, command: ToolCommand) -> Outcome<()> {
        let ended = step.run(command).await?;
        if ended.status == Some(0) {
            return Ok(());
        }
        Err(self.complain(step, &ended.said).await)
    }

    /// Why the tool found nothing, and whether building would help.
    async fn complain(&self, step: &mut PackageStep, said: &str) -> (String, bool) {
        let (order, site) = (self.order, self.site);
        if let Some((name, by)) = taken_by_address(said).filter(|_| !order.build) {
            let by = by.unwrap_or_else(|| order.words());
            return (found::by_address(&name, Some(&by)), false);
        }
        if said.contains(NO_GIT) {
            let what = format!("something that {} requires", order.words());
            return (found::by_address(&what, None), false);
        }
        let complaint = complaint::read(said);
        let mut needs_build = complaint.needs_build;
        if let (true, Some(look)) = (complaint.not_found, site.tool.look(order)) {
            needs_build = step.run(look).await.is_ok_and(|looked| looked.status == Some(0));
        }
        let reason = if needs_build {
            format!("there is no finished build of {} for this machine", order.words())
        } else if complaint.wants_password {
            LOCKED.into()
        } else if complaint.not_found {
            let or = if site.withheld { OR_LOCKED } else { "" };
            format!("the index has no {} that fits this machine{or}", order.words())
        } else {
            Untrusted::new(complaint.words).for_terminal_line(TOLD)
        };
        (reason, needs_build && !order.build)
    }

    async fn of_npm(&self, used: &mut Used) -> Outcome<PackagePlan> {
        let PackageSite { tool, hosts, .. } = self.site;
        let before = self.known.listed.lock.as_deref();
        let new = self.workshop.new_folder();
        let made = self.workshop.renew().and_then(|()| write_npm(&new, before));
        let places = made.and_then(|()| self.workshop.desk_for(&[], &[]));
        let places = places.map_err(|error| own(&error))?;
        // No script runs for this, whatever the order has leave for.
        let mut step = self.open(PackageSources::Refused).await?;
        let desk = places.desk(&[], PackageSources::Refused);
        let ended = self.ask(&mut step, tool.resolve(self.order, desk)).await;
        used.close(step).await;
        ended?;
        let lock = read(&new.join("package-lock.json"), LONGEST, Cut::Refused);
        let lock = lock.and_then(|lock| String::from_utf8(lock).ok());
        let lock = lock.ok_or_else(|| ("npm left no list".to_owned(), false))?;
        let mut plan = PackagePlan { base: self.known.base.clone(), ..PackagePlan::default() };
        for mut one in npm::in_lock(&lock, hosts).map_err(|reason| (reason, false))? {
            let kind = PackageKind::Npm;
            let known = self.known.find(kind, &one.name, &one.version);
            // Its scripts are to run, also where it is here already.
            let is_wanted = self.order.build && self.order.names(&one.name);
            if !is_wanted && known.is_some_and(|known| known.hash == one.hash) {
                plan.stays.push(one);
                continue;
            }
            let before = self.known.version_of(kind, &one.name);
            one.replaces = before.filter(|before| *before != one.version).map(str::to_owned);
            plan.list.comes.push(one);
        }
        self.count_what_goes(&mut plan);
        plan.roots = npm::roots_of(&lock);
        let waiting = npm::with_scripts(&lock).into_iter().filter(|name| {
            let read = Requirement::parse(PackageKind::Npm, name);
            read.is_ok() && self.order.names(name)
        });
        let waiting: Vec<_> = waiting.collect();
        plan.remark = (!waiting.is_empty()
            && !self.order.build
            && self.order.change == PackageChange::Install)
            .then(|| {
                format!(
                    "{} has install scripts, which did not run; `{}` runs them, in the sandbox",
                    waiting.join(", "),
                    self.order.clone().with_build().command()
                )
            });
        plan.lock = Some(lock);
        Ok(plan)
    }
}

/// The package of this name and version.
fn among<'a>(
    packages: &'a [PlannedPackage],
    name: &str,
    version: &str,
) -> Option<&'a PlannedPackage> {
    let kind = PackageKind::Python;
    let name = normal_name(kind, name);
    packages.iter().find(|one| one.normal_name(kind) == name && one.version == version)
}

/// A failure of this program's own files.
fn own(error: &io::Error) -> (String, bool) {
    (format!("a folder for it cannot be prepared: {error}"), false)
}
