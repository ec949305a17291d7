//! The way out of a sandbox while it is up.

use super::command::RunnerSetup;
use crate::{ExecError, egress::Egress, sandbox::recipe};
use interpreter_core::{Backend, Confinement, Grant, HostContact, egress::Host};
use std::{future::pending, path::Path};

/// The folder, beside that of the change sets, where sandboxes that are about to start find the
/// way out.
const FOLDER: &str = "egress";

/// The way out of the sandbox that is up, and the grants that outlive it.
#[derive(Debug, Default)]
pub(super) struct WayOut {
    egress: Option<Egress>,
    /// Hosts that were granted for the session.
    granted: Vec<(Host, u16)>,
    /// Attempts from a sandbox that is gone, which are not reported yet.
    tried_before: Vec<HostContact>,
}

impl WayOut {
    /// Opens the way out for a sandbox that is about to start. Hosts that were granted for the
    /// session stay granted.
    pub(super) fn open(
        &mut self,
        confinement: &Confinement,
        backend: Backend,
        setup: &RunnerSetup,
    ) -> Result<(), ExecError> {
        self.tried_before = self.tried();
        self.egress = None;
        let Some(asks) = setup.asks else { return Ok(()) };
        if !recipe(backend).has_door {
            // Nothing leads out by way of a proxy there: nothing at all, or everything.
            return Ok(());
        }
        let folder = setup.changes.folder().with_file_name(FOLDER);
        let upstream = setup.upstream.clone();
        let opened = Egress::open(&confinement.network, asks, &folder, upstream);
        let egress = opened.map_err(|error| ExecError::CannotConfine {
            backend: backend.word(),
            reason: format!("the socket for its proxy cannot be made: {error}"),
            cause: None,
        })?;
        egress.grant(&self.granted);
        self.egress = Some(egress);
        Ok(())
    }

    /// The socket that the sandbox finds its way out by.
    pub(super) fn door(&self) -> Option<&Path> {
        self.egress.as_ref().map(Egress::door)
    }

    /// A run begins.
    pub(super) fn begin_run(&self) {
        if let Some(egress) = &self.egress {
            egress.begin_run();
        }
    }

    /// Waits for a host that code wants.
    pub(super) async fn wanted(&mut self) -> (Host, u16) {
        match &mut self.egress {
            Some(egress) => egress.question().await,
            None => pending().await,
        }
    }

    /// Lets code reach a host, or refuses it.
    pub(super) fn answer(&mut self, host: Host, port: u16, grant: Option<Grant>) {
        if let Some(egress) = &self.egress {
            egress.answer(&host, port, grant);
        }
        if matches!(grant, Some(Grant::Session | Grant::Always)) {
            self.granted.push((host, port));
        }
    }

    /// The attempts since the last call.
    pub(super) fn tried(&mut self) -> Vec<HostContact> {
        let mut tried = std::mem::take(&mut self.tried_before);
        tried.extend(self.egress.as_ref().map(Egress::end_run).unwrap_or_default());
        tried
    }
}
