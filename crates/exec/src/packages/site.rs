//! Where an order for packages is carried out: its folders, its bounds, its index and its tool.
//!
//! Must not install anything.

use super::{complaint, space, workshop::Workshop};
use crate::{
    egress::{self, Upstream},
    interpreters::PackageTool,
    runner::{Bench, ProgramEnd, ToolCommand},
    sandbox::Machine,
};
use interpreter_core::{
    Access, Confinement, HostContact, Untrusted,
    egress::{Host, HostRule},
    packages::PackagesFailed,
};
use std::{path::PathBuf, sync::Arc};

/// The outcome of a step, or why it failed and whether building would help.
pub(super) type Outcome<T> = Result<T, (String, bool)>;

/// Everything that an order needs.
#[derive(Debug)]
pub struct PackageSite {
    /// The folder of the packages of this kind.
    pub folder: PathBuf,
    /// A folder of ours beside it, for the installer. The confinement has it as its work folder.
    pub workshop: PathBuf,
    /// A folder of ours beside it, where finished builds are kept.
    pub files: PathBuf,
    /// The bounds of the installer.
    pub confinement: Confinement,
    /// A host of the index, which must be reached.
    pub index: Option<(Host, u16)>,
    /// The hosts that packages may come from.
    pub hosts: Vec<HostRule>,
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

impl PackageSite {
    /// The bounds of a program that is the person's own, whose index may be in their own network.
    pub(super) async fn trusted(&self) -> Confinement {
        let network = &self.confinement.network;
        let network = egress::with_addresses(network, self.upstream.as_deref()).await;
        Confinement { network, ..self.confinement.clone() }
    }

    /// A sandbox over the workshop, which is watched. The workshop was made afresh for it.
    pub(super) async fn bench(
        &self,
        workshop: &Workshop,
        confinement: &Confinement,
        order: &str,
    ) -> Outcome<PackageStep> {
        let opened = Bench::open(confinement, &self.machine, &self.doors, self.upstream.clone());
        let bench = opened.await.map_err(|error| (error.to_string(), false))?;
        let bench = bench.watching(workshop.folder(), &space::watched(&confinement.limits));
        Ok(PackageStep { bench, order: order.to_owned() })
    }

    /// Sees that the index is there.
    pub(super) async fn reach(&self, confinement: &Confinement) -> Result<(), PackagesFailed> {
        let Some((host, port)) = &self.index else { return Ok(()) };
        let reached = egress::reach(&confinement.network, self.upstream.clone(), host, *port);
        reached.await.map_err(|why| PackagesFailed::new(format!("offline: {why}")))
    }

    /// The same bounds, in which the builds that are here can be read.
    pub(super) fn with_builds(&self, confinement: &Confinement) -> Confinement {
        let mut confinement = confinement.clone();
        confinement.files.insert(self.files.clone(), Access::Read);
        confinement
    }
}

/// One sandbox of an order.
pub(super) struct PackageStep {
    bench: Bench,
    order: String,
}

impl PackageStep {
    /// Runs a program to its end, unless it uses up the disk.
    pub(super) async fn run(&mut self, command: ToolCommand) -> Outcome<ProgramEnd> {
        let ended = self.bench.run(command).await;
        let ended = ended.map_err(|error| (error.to_string(), false))?;
        match ended.reached {
            Some(reached) => Err((space::reached(reached, &self.order), false)),
            None => Ok(ended),
        }
    }

    /// The same for one that has to succeed.
    pub(super) async fn succeed(&mut self, command: ToolCommand) -> Outcome<()> {
        let ended = self.run(command).await?;
        if ended.status == Some(0) {
            return Ok(());
        }
        if ended.said.contains("EINTEGRITY") {
            let reason = "the registry gave another file than the one that was looked up";
            return Err((reason.into(), false));
        }
        let words = complaint::read(&ended.said).words;
        Err((Untrusted::new(words).for_terminal_line(300), false))
    }
}

/// The network contacts and the sandbox of an order.
#[derive(Debug, Default)]
pub(super) struct Used {
    pub(super) network: Vec<HostContact>,
    /// The name of the sandbox; empty if nothing had to run.
    pub(super) sandbox: &'static str,
}

impl Used {
    /// Ends everything inside. The workshop may be read after this, and not before.
    pub(super) async fn close(&mut self, step: PackageStep) {
        self.sandbox = step.bench.sandbox();
        self.network.extend(step.bench.contacts());
        step.bench.close().await;
    }
}
