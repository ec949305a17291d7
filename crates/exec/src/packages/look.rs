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
//! # Limits
//! The index learns the names. An order with leave to build runs code of packages here, in a
//! sandbox that reaches the index by its name alone.

use super::{
    complaint,
    found::{
        self, Accepted, FoundPackage, in_pip_report, in_pylock, requirers_told, taken_by_address,
    },
    listed::Known,
    listing::{Cut, read},
    npm,
    site::{Outcome, PackageSite},
    store::{Store, hash_of},
    tool::{Desk, NO_GIT},
    workshop::Workshop,
};
use crate::{interpreters::PackageTool, runner::Bench};
use interpreter_core::{
    Untrusted,
    packages::{
        PackageChange, PackageKind, PackageOrder, PackagePlan, PlannedPackage, Requirement,
        normal_name,
    },
};
use std::{collections::BTreeMap, io, path::PathBuf};

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
    pub(super) async fn plan(&self, bench: &mut Bench) -> Outcome<PackagePlan> {
        match self.order.kind {
            PackageKind::Python => self.of_python(bench).await,
            PackageKind::Npm => self.of_npm(bench).await,
        }
    }

    async fn of_python(&self, bench: &mut Bench) -> Outcome<PackagePlan> {
        let kind = PackageKind::Python;
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
        // Packages that are there stay as they are, if they can.
        let with_pins: Vec<_> = roots.iter().chain(&pins).cloned().collect();
        let found = match self.resolve(bench, &with_pins).await {
            Err(_) if !pins.is_empty() && self.order.change == PackageChange::Install => {
                self.resolve(bench, &roots).await?
            }
            found => found?,
        };
        let mut plan =
            PackagePlan { roots, base: self.known.base.clone(), ..PackagePlan::default() };
        let requirers = self.requirers(bench, &plan.roots, &found).await;
        for one in found {
            let FoundPackage { mut package, is_source } = one;
            if package.required_by.is_none() {
                package.required_by = requirers.get(&normal_name(kind, &package.name)).cloned();
            }
            if let Some(known) = self.usable(&package.name, &package.version) {
                plan.stays.push(known.clone());
                continue;
            }
            if is_source {
                package = self.build(bench, &package).await?;
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

    /// By which other package each is required, where only a further question tells. The answer is
    /// shown and decides nothing. Without one the list has no such words.
    async fn requirers(
        &self,
        bench: &mut Bench,
        roots: &[String],
        found: &[FoundPackage],
    ) -> BTreeMap<String, String> {
        let is_named = |one: &FoundPackage| {
            self.order.names(&one.package.name)
                || self.usable(&one.package.name, &one.package.version).is_some()
        };
        if found.iter().all(is_named) {
            return BTreeMap::new();
        }
        // Exactly those that were found.
        let pins = found.iter().map(|one| format!("{}=={}", one.package.name, one.package.version));
        let wanted: Vec<_> = roots.iter().cloned().chain(pins).collect();
        let told = async {
            let desk = self.workshop.desk_for(&wanted).ok()?;
            let here = self.here();
            let desk = Desk { here: &here, ..desk.desk() };
            let command = self.site.tool.explain(self.order, desk)?;
            let ended = bench.run(command).await.ok()?;
            let report = read(desk.report, LONGEST, Cut::Refused);
            report.filter(|_| ended.status == Some(0))
        };
        told.await.map(|report| requirers_told(&report)).unwrap_or_default()
    }

    /// The files of packages that are here already.
    fn here(&self) -> Vec<PathBuf> {
        self.known.listed.packages.iter().filter_map(|one| self.store.file_of(one)).collect()
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
    async fn resolve(&self, bench: &mut Bench, wanted: &[String]) -> Outcome<Vec<FoundPackage>> {
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let PackageSite { tool, hosts, .. } = self.site;
        let desk = self.workshop.desk_for(wanted).map_err(|error| own(&error))?;
        let here = self.here();
        let desk = Desk { here: &here, ..desk.desk() };
        let ended = bench.run(tool.resolve(self.order, desk)).await;
        let ended = ended.map_err(|error| (error.to_string(), false))?;
        if ended.status != Some(0) {
            return Err(self.complain(bench, &ended.said).await);
        }
        let report = read(desk.report, LONGEST, Cut::Refused);
        let report = report.ok_or_else(|| ("the installer left no report".to_owned(), false))?;
        let accepted = Accepted { hosts, sources: self.order.build };
        let is_known = |name: &str, version: &str| self.usable(name, version).is_some();
        let found = match tool {
            PackageTool::Uv { .. } => in_pylock(&report, accepted, is_known),
            PackageTool::Pip { .. } | PackageTool::Npm { .. } => {
                in_pip_report(&report, accepted, is_known)
            }
        };
        found.map_err(|reason| {
            let needs_build = !self.order.build && reason.contains("no finished build of");
            (reason, needs_build)
        })
    }

    /// Why the tool found nothing, and whether building would help.
    async fn complain(&self, bench: &mut Bench, said: &str) -> (String, bool) {
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
            needs_build = bench.run(look).await.is_ok_and(|looked| looked.status == Some(0));
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

    /// Makes a finished build of a source, which runs its code.
    async fn build(&self, bench: &mut Bench, source: &PlannedPackage) -> Outcome<PlannedPackage> {
        let failed = |why: String| (format!("{source} cannot be built: {why}"), false);
        let fetched = self.workshop.fetch(bench, self.site, source).await?;
        let into = self.workshop.place(&format!("built-{}", source.name));
        let command = self.site.tool.build(&fetched, &into);
        let command = command.ok_or_else(|| failed("there is no tool for it".into()))?;
        let ended = bench.run(command).await.map_err(|error| failed(error.to_string()))?;
        if ended.status != Some(0) {
            let words = complaint::read(&ended.said).words;
            return Err(failed(Untrusted::new(words).for_terminal_line(TOLD)));
        }
        let entries = fs_err::read_dir(&into).map_err(|error| failed(error.to_string()))?;
        let mut builds = entries.flatten().map(|entry| entry.path()).filter(|path| {
            path.extension().is_some_and(|ending| ending == "whl")
                && path.to_str().and_then(found::file_name).is_some()
        });
        let made = builds.next().ok_or_else(|| failed("its build left no package".into()))?;
        let hash = hash_of(&made).map_err(|error| own(&error))?;
        let built =
            PlannedPackage { hash: format!("sha256:{hash}"), url: String::new(), ..source.clone() };
        self.store
            .make()
            .and_then(|()| self.store.take(&built, &made))
            .map_err(|error| own(&error))?;
        Ok(built)
    }

    async fn of_npm(&self, bench: &mut Bench) -> Outcome<PackagePlan> {
        let PackageSite { tool, hosts, .. } = self.site;
        let before = self.known.listed.lock.as_deref();
        let new = self.workshop.new_folder();
        self.workshop.write_npm(before).map_err(|error| own(&error))?;
        let desk = self.workshop.desk_for(&[]).map_err(|error| own(&error))?;
        let ended = bench.run(tool.resolve(self.order, desk.desk())).await;
        let ended = ended.map_err(|error| (error.to_string(), false))?;
        if ended.status != Some(0) {
            return Err(self.complain(bench, &ended.said).await);
        }
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

/// A failure of this program's own files.
fn own(error: &io::Error) -> (String, bool) {
    (format!("a folder for it cannot be prepared: {error}"), false)
}
