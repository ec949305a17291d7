//! Installs and removes packages of a folder, in a sandbox of their own.
//!
//! # Threat
//! A package is code from a stranger, and so is what comes with it. It writes outside of its own
//! folder, calls home, or runs while it is installed. An earlier one left
//! links in the folder that lead elsewhere, or programs by the name of an interpreter.
//!
//! # Mechanism
//! The packages that an order comes to are found out first ([`look_up`]), and none of them runs for
//! that. Nothing is installed without a [`PackagePermit`] for exactly those packages ([`change`]).
//! They are fetched by their hashes, and unpacked into a fresh folder by the person's own
//! interpreter, which loads no packages. Then that folder takes the place of the one before, in one
//! step. So neither a package that comes nor one that is installed ever runs in an installer, and
//! what is removed is gone.
//!
//! Each step runs in a sandbox that shows a workshop of its own and the builds that are here, and
//! nothing else of the person's, not even the work folder or the environment; it reaches the hosts
//! of the index alone. To build a package is another permit.
//!
//! Where code of a package has run, nothing is believed again but what that package itself came to:
//! each build has a sandbox and a workshop that nothing else has had, what is taken out of one is a
//! copy with a hash, made when everything in it has ended, and the list that the person sees comes
//! from a look in which no such code ran. No cache of a tool outlives its workshop.
//!
//! # Order
//! One order at a time for each folder. That the index can be reached is seen first, so that nobody
//! waits for an installer's own patience. A plan whose environment has changed since is void.
//!
//! # Limits
//! The index decides what a name stands for. A kernel that runs has its modules in memory, and takes
//! those that it imports later from the new folder.

use self::{
    install::Install, listed::Known, look::Look, site::Used, store::Store, workshop::Workshop,
};
use interpreter_core::packages::{
    Package, PackageChange, PackageKind, PackageLookup, PackagePermit, PackagesDone,
    PackagesFailed, PackagesFound, normal_name,
};
use rustix::fs::{FlockOperation, flock};
use std::path::Path;

pub use self::{
    damage::damage, listing::installed, npm::CACHE, site::PackageSite, skeleton::TEMPORARY,
};

mod build;
mod complaint;
mod damage;
mod found;
mod install;
mod listed;
mod listing;
mod look;
mod npm;
mod scripts;
mod site;
mod skeleton;
mod space;
mod store;
mod swap;
mod tool;
mod workshop;

/// Finds out what an order comes to.
pub async fn look_up(
    lookup: PackageLookup,
    site: PackageSite,
) -> Result<Box<PackagesFound>, PackagesFailed> {
    let order = lookup.spend();
    let _lock = lock(&site.lock).map_err(PackagesFailed::new)?;
    let store = Store::at(&site.files);
    let known = Known::read(order.kind, &site.folder, &store);
    let found = |plan, sandbox: &str, network| {
        let (tool, sandbox) = (site.tool.name().to_owned(), sandbox.to_owned());
        Ok(Box::new(PackagesFound { plan, tool, sandbox, network }))
    };
    if order.change == PackageChange::Remove {
        let mut names = order.packages().iter();
        if let Some(missing) = names.find(|one| !is_among(one.name(), &known.installed, order.kind))
        {
            let reason = format!("{missing} is not installed for this folder");
            return Err(PackagesFailed::new(reason));
        }
        if order.kind == PackageKind::Python && known.is_whole {
            return found(known.without(&order), "", Vec::new());
        }
    }
    if order.change == PackageChange::Install || order.kind == PackageKind::Python {
        site.reach(&site.trusted().await).await?;
    }
    let workshop = prepare(&site, &store)?;
    let look =
        Look { order: &order, site: &site, workshop: &workshop, known: &known, store: &store };
    let mut used = Used::default();
    let planned = look.plan(&mut used).await;
    workshop.close();
    let Used { network, sandbox } = used;
    match planned {
        Ok(plan) => found(plan, sandbox, network),
        Err((reason, needs_build)) => Err(PackagesFailed { reason, needs_build, network }),
    }
}

/// Does what is permitted, and nothing else.
pub async fn change(
    permit: PackagePermit,
    site: PackageSite,
) -> Result<PackagesDone, PackagesFailed> {
    let (order, plan) = permit.spend();
    let _lock = lock(&site.lock).map_err(PackagesFailed::new)?;
    let store = Store::at(&site.files);
    let known = Known::read(order.kind, &site.folder, &store);
    if known.base != plan.base {
        let reason = "the packages of this folder were changed meanwhile; try again";
        return Err(PackagesFailed::new(reason));
    }
    let workshop = prepare(&site, &store)?;
    let install = Install { order, plan, site, workshop, known, store };
    Box::pin(install.perform()).await
}

/// Makes the folders for an order.
fn prepare(site: &PackageSite, store: &Store) -> Result<Workshop, PackagesFailed> {
    let made = store.make().and_then(|()| Workshop::open(site));
    made.map_err(|error| PackagesFailed::new(format!("its folder cannot be prepared: {error}")))
}

fn is_among(name: &str, packages: &[Package], kind: PackageKind) -> bool {
    let name = normal_name(kind, name);
    packages.iter().any(|one| normal_name(kind, &one.name) == name)
}

/// Keeps other sessions from changing the same folder meanwhile.
fn lock(file: &Path) -> Result<fs_err::File, String> {
    let open = fs_err::OpenOptions::new().create(true).append(true).open(file);
    let file = open.map_err(|error| error.to_string())?;
    flock(file.file(), FlockOperation::NonBlockingLockExclusive)
        .map_err(|_| "another session is changing the packages of this folder".to_owned())?;
    Ok(file)
}
