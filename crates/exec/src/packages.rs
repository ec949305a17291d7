//! Installs and removes packages of a folder, in a sandbox of their own.
//!
//! # Threat
//! A package is code from a stranger, and so is what comes with it. It writes outside of its own
//! folder, calls home, or runs while it is installed. An earlier one left
//! links in the folder that lead elsewhere, or programs by the name of an interpreter.
//!
//! # Mechanism
//! Nothing happens without a [`PackagePermit`]. The installer is the one of the person's own
//! interpreter. It runs in a sandbox that shows the folder of the packages and nothing else of the
//! person's, not even the work folder, and reaches the hosts of the index alone. Packages come as
//! finished builds; to build one is another permit. Outside, nothing of the folder is ever run, and
//! it is read without following links.
//!
//! # Order
//! One order at a time for each folder. That the index can be reached is seen first, so that nobody
//! waits for an installer's own patience.
//!
//! # Limits
//! The index decides what a name stands for. Files below a folder are counted by the limits of a
//! process and not as a whole. If the program is killed in the middle, a package may be there by
//! half; installing it again repairs it.

use crate::{
    ExecError,
    egress::{self, Upstream},
    interpreters::PackageTool,
    runner::Bench,
    sandbox::Machine,
};
use interpreter_core::{
    Confinement, HostContact, Untrusted,
    egress::Host,
    packages::{
        Package, PackageChange, PackageKind, PackageOrder, PackagePermit, PackagesDone,
        PackagesFailed, normal_name,
    },
};
use rustix::fs::{FlockOperation, flock};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

pub use self::{listing::installed, skeleton::TEMPORARY};

mod complaint;
mod listing;
mod skeleton;
mod tool;

/// The most characters of a foreign reason.
const TOLD: usize = 300;

/// Everything that an order needs.
#[derive(Debug)]
pub struct PackageSite {
    /// The folder of the packages of this kind. The confinement has it as its work folder.
    pub folder: PathBuf,
    /// The bounds of the installer.
    pub confinement: Confinement,
    /// A host of the index, which must be reached.
    pub index: Option<(Host, u16)>,
    /// Whether the person's own tool has a password for it, which the installer does not get.
    pub withheld: bool,
    /// The installer.
    pub tool: PackageTool,
    /// The machine.
    pub machine: Machine,
    /// The person's own proxy for the outside, if they have one.
    pub upstream: Option<Arc<Upstream>>,
    /// A private folder of ours, for the way out.
    pub doors: PathBuf,
    /// A file of ours that keeps other sessions from changing the same packages.
    pub lock: PathBuf,
}

/// Does what is permitted.
pub async fn change(
    permit: PackagePermit,
    mut site: PackageSite,
) -> Result<PackagesDone, PackagesFailed> {
    let order = permit.spend();
    if !order.build {
        // Only the person's own installer runs, and their index may be in their own network. Code of
        // a package, which runs while it is built, reaches no address by such a name.
        let (network, upstream) = (&site.confinement.network, site.upstream.as_deref());
        site.confinement.network = egress::with_addresses(network, upstream).await;
    }
    let kind = order.kind;
    let _lock = lock(&site.lock).map_err(PackagesFailed::new)?;
    let before = installed(kind, &site.folder);
    if order.change == PackageChange::Remove
        && let Some(missing) =
            order.packages().iter().find(|one| !is_among(one.name(), &before, kind))
    {
        return Err(PackagesFailed::new(format!("{missing} is not installed for this folder")));
    }
    if order.change == PackageChange::Install
        && let Some((host, port)) = &site.index
    {
        let reached = egress::reach(&site.confinement.network, site.upstream.clone(), host, *port);
        reached.await.map_err(|why| PackagesFailed::new(format!("offline: {why}")))?;
    }
    skeleton::make(&site.folder, &site.tool)
        .map_err(|error| PackagesFailed::new(format!("its folder cannot be prepared: {error}")))?;
    let (outcome, sandbox, network) = match perform(&order, &site).await {
        Ok(performed) => performed,
        Err(error) => return Err(PackagesFailed::new(error.to_string())),
    };
    skeleton::tidy(&site.folder);
    if let Err((reason, needs_build)) = outcome {
        return Err(PackagesFailed { reason, needs_build, network });
    }
    let after = installed(kind, &site.folder);
    if order.change == PackageChange::Install
        && let Some(missing) =
            order.packages().iter().find(|one| !is_among(one.name(), &after, kind))
        && !site.tool.sees_more()
    {
        return Err(PackagesFailed::new(format!("the installer did not install {missing}")));
    }
    Ok(PackagesDone {
        installed: after.iter().filter(|one| !before.contains(one)).cloned().collect(),
        removed: before.into_iter().filter(|one| !is_among(&one.name, &after, kind)).collect(),
        tool: site.tool.name().into(),
        sandbox,
        network,
        remark: listing::remark(&order, &site.folder),
    })
}

/// A password in the settings of pip, uv or npm would be read by the code of packages.
const LOCKED: &str = "the index wants a user name and password, and yours stay outside the sandbox; \
                      use an index without, such as a mirror on this machine";

/// pip says nothing of a password that it lacks.
const OR_LOCKED: &str =
    ", or it wants the password in your settings, which stays outside the sandbox";

type Performed = (Result<(), (String, bool)>, String, Vec<HostContact>);

/// Runs the installer, and looks why it failed if it did.
async fn perform(order: &PackageOrder, site: &PackageSite) -> Result<Performed, ExecError> {
    let PackageSite { confinement, machine, doors, upstream, tool, folder, withheld, .. } = site;
    let mut bench = Bench::open(confinement, machine, doors, upstream.clone()).await?;
    let ended = bench.run(tool.command(order, folder)).await;
    let outcome = match ended {
        Ok(ended) if ended.status == Some(0) => Ok(()),
        Ok(ended) => {
            let complaint = complaint::read(&ended.said);
            let mut needs_build = complaint.needs_build;
            if let (true, Some(look)) = (complaint.not_found, tool.look(order, folder)) {
                needs_build = bench.run(look).await.is_ok_and(|looked| looked.status == Some(0));
            }
            let reason = if needs_build {
                format!("there is no finished build of {} for this machine", order.words())
            } else if complaint.wants_password {
                LOCKED.into()
            } else if complaint.not_found {
                let or = if *withheld { OR_LOCKED } else { "" };
                format!("the index has no {} that fits this machine{or}", order.words())
            } else {
                Untrusted::new(complaint.words).for_terminal_line(TOLD)
            };
            Err((reason, needs_build && !order.build))
        }
        Err(error) => Err((error.to_string(), false)),
    };
    let network = bench.contacts();
    let sandbox = bench.sandbox().to_owned();
    bench.close().await;
    Ok((outcome, sandbox, network))
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
