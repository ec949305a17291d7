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
//! reaches no address of the person's network, and over a copy: of what they leave, only the own
//! files of those packages count (`scripts.rs`).
//!
//! # Order
//! Unpacked, taken out of reach of every sandbox, looked at, listed, swapped in, and only then is
//! the old one removed. npm's files are taken in by their hashes before any script runs.
//!
//! # Limits
//! A package of npm that was built keeps the files that its scripts left, as they are, until it
//! goes.

use super::{
    damage::damage,
    found, is_among,
    listed::{Known, Listed},
    listing::installed,
    npm, scripts,
    site::{Outcome, PackageSite, Used},
    skeleton,
    space::PackageSpace,
    store::Store,
    swap::swap,
    workshop::{Workshop, write_npm},
};
use interpreter_core::{
    Limits,
    packages::{
        Package, PackageChange, PackageKind, PackageOrder, PackagePlan, PackagesDone,
        PackagesFailed, PlannedPackage,
    },
};
use std::{
    io,
    path::{Path, PathBuf},
};

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
        let mut used = Used::default();
        let done = match self.make(&mut used).await {
            Ok(new) => self.put_in_place(&new),
            Err(failed) => Err(failed),
        };
        let runs_scripts = self.runs_scripts();
        let Self { order, plan, site, workshop, known, store } = self;
        workshop.close();
        sweep(&site, &store);
        let Used { network, sandbox } = used;
        if let Err((reason, needs_build)) = done {
            return Err(PackagesFailed { reason, needs_build, network });
        }
        let kind = order.kind;
        let after = installed(kind, &site.folder);
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

    /// Makes the environment, and returns its folder, which no sandbox sees any more.
    async fn make(&self, used: &mut Used) -> Outcome<PathBuf> {
        let new = self.workshop.new_folder();
        let renewed = self.workshop.renew();
        renewed
            .and_then(|()| skeleton::make(&new, &self.site.tool))
            .map_err(|error| own(&error))?;
        match self.order.kind {
            PackageKind::Python => self.unpack(used).await?,
            PackageKind::Npm => self.install_npm(used).await?,
        }
        let made = self.workshop.take_out().map_err(|error| own(&error))?;
        if self.runs_scripts() {
            self.run_scripts(used, &made).await?;
        }
        Ok(made)
    }

    fn runs_scripts(&self) -> bool {
        self.order.kind == PackageKind::Npm
            && self.order.build
            && self.order.change == PackageChange::Install
    }

    fn limits(&self) -> &Limits {
        &self.site.confinement.limits
    }

    fn planned(&self) -> impl Iterator<Item = &PlannedPackage> {
        self.plan.stays.iter().chain(&self.plan.list.comes)
    }

    /// Fetches finished builds, or takes those that are here, and unpacks all of them.
    async fn unpack(&self, used: &mut Used) -> Outcome<()> {
        let mut packages: Vec<(&PlannedPackage, Option<PathBuf>)> = Vec::new();
        for one in self.planned() {
            let here = self.store.sound(one);
            if here.is_none() && one.url.is_empty() {
                return Err((format!("the file of {one} is gone; try again"), false));
            }
            packages.push((one, here));
        }
        let (site, workshop) = (&self.site, &self.workshop);
        let plan = workshop.write_plan(site, &packages, false).map_err(|error| own(&error))?;
        let command = site.tool.unpack(&plan);
        let command = command.ok_or_else(|| ("there is no Python for it".to_owned(), false))?;
        let confinement = site.with_builds(&site.trusted().await);
        let mut step = site.bench(workshop, &confinement, &self.order.words()).await?;
        let done = step.succeed(command).await;
        used.close(step).await;
        done?;
        let mut room = PackageSpace::below(&site.files, self.limits());
        for (one, _) in packages.iter().filter(|(_, here)| here.is_none()) {
            let file = workshop.files().join(found::file_name(&one.url).unwrap_or_default());
            self.store.take(one, &file, &mut room).map_err(|error| own(&error))?;
        }
        Ok(())
    }

    /// Has npm install what is on its list. No script runs. Of its cache nothing is kept but the
    /// files of packages, each by its hash.
    async fn install_npm(&self, used: &mut Used) -> Outcome<()> {
        let (site, workshop) = (&self.site, &self.workshop);
        let (new, cache) = (workshop.new_folder(), workshop.cache());
        let laid = write_npm(&new, self.plan.lock.as_deref())
            .and_then(|()| self.store.lay_out(self.planned(), &cache));
        laid.map_err(|error| own(&error))?;
        let confinement = site.trusted().await;
        let mut step = site.bench(workshop, &confinement, &self.order.words()).await?;
        let done = step.succeed(site.tool.install_listed(&new)).await;
        used.close(step).await;
        done?;
        let mut room = PackageSpace::below(&site.files, self.limits());
        self.store.take_from(self.planned(), &cache, &mut room).map_err(|error| own(&error))
    }

    /// Runs the install scripts of the packages that the order names, over a copy.
    async fn run_scripts(&self, used: &mut Used, made: &Path) -> Outcome<()> {
        let (site, workshop) = (&self.site, &self.workshop);
        let new = workshop.new_folder();
        let copied = workshop.renew().and_then(|()| scripts::copy_all(made, &new, self.limits()));
        copied.map_err(|error| own(&error))?;
        let mut step = site.bench(workshop, &site.confinement, &self.order.words()).await?;
        let done = step.succeed(site.tool.run_scripts(&new, self.order.packages())).await;
        used.close(step).await;
        done?;
        for one in self.order.packages() {
            self.bring(one.name(), &new, made).map_err(|error| own(&error))?;
        }
        Ok(())
    }

    /// Takes over the own files of a package, with those of the packages that are in its file.
    fn bring(&self, name: &str, from: &Path, to: &Path) -> io::Result<()> {
        let all = npm::with_bundled(self.plan.lock.as_deref(), name);
        for place in all {
            scripts::bring(&place, from, to, self.limits())?;
        }
        Ok(())
    }

    /// Looks at what was made, lists it, and puts it in the place of the one before.
    fn put_in_place(&self, new: &Path) -> Outcome<()> {
        let kind = self.order.kind;
        let made = installed(kind, new);
        self.agrees(&made)?;
        skeleton::make(new, &self.site.tool).map_err(|error| own(&error))?;
        let mut built = Vec::new();
        if kind == PackageKind::Npm {
            write_npm(new, self.plan.lock.as_deref()).map_err(|error| own(&error))?;
            built = self.bring_built(new).map_err(|error| own(&error))?;
        }
        Listed::of(&self.plan, built).write(new).map_err(|error| own(&error))?;
        if let (PackageKind::Python, Some(odd)) = (kind, damage(kind, new).first()) {
            let odd = odd.strip_prefix(new).unwrap_or(odd).display().to_string();
            let odd = interpreter_core::Untrusted::new(odd).for_terminal_line(200);
            return Err((format!("a file of no package was written: {odd}"), false));
        }
        swap(new, &self.site.folder, &self.workshop.place("before")).map_err(|error| own(&error))
    }

    /// That what is there is what was planned.
    fn agrees(&self, made: &[Package]) -> Outcome<()> {
        let kind = self.order.kind;
        let same = |one: &PlannedPackage, other: &Package| {
            one.normal_name(kind) == interpreter_core::packages::normal_name(kind, &other.name)
                && (one.version == other.version || kind == PackageKind::Python)
        };
        if let Some(odd) = made.iter().find(|one| !self.planned().any(|planned| same(planned, one)))
        {
            return Err((format!("the installer installed {odd}, which was not planned"), false));
        }
        let is_made = |one: &PlannedPackage| made.iter().any(|made| same(one, made));
        let missing = self.planned().find(|one| {
            !is_made(one) && (kind == PackageKind::Python || self.order.names(&one.name))
        });
        match missing {
            Some(one) => Err((format!("the installer did not install {one}"), false)),
            None => Ok(()),
        }
    }

    /// Brings along the files that install scripts have left, of packages that stay.
    fn bring_built(&self, new: &Path) -> io::Result<Vec<String>> {
        let stays = |name: &&String| self.plan.stays.iter().any(|one| one.name == **name);
        let is_there = |name: &&String| scripts::is_there(name, &self.site.folder);
        let kept = self.known.listed.built.iter().filter(stays).filter(is_there);
        let mut built: Vec<String> = kept.filter(|name| !self.order.names(name)).cloned().collect();
        for name in &built {
            self.bring(name, &self.site.folder, new)?;
        }
        if self.runs_scripts() {
            built.extend(self.order.packages().iter().map(|one| one.name().to_owned()));
        }
        Ok(built)
    }
}

/// Removes builds that no environment of this folder has any more.
fn sweep(site: &PackageSite, store: &Store) {
    let Some(root) = site.folder.parent() else { return };
    let entries = fs_err::read_dir(root).into_iter().flatten().flatten();
    // The list of an environment is read the same for every kind.
    let kept = entries
        .flat_map(|entry| Known::read(PackageKind::Python, &entry.path(), store).listed.packages);
    store.sweep(&kept.collect::<Vec<_>>());
}

/// A failure of this program's own files.
fn own(error: &io::Error) -> (String, bool) {
    (format!("its folder cannot be prepared: {error}"), false)
}
