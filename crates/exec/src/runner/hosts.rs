//! The way out of a sandbox while it is up: hosts that code wants, and what the person says to it.

use super::{Happening, actor::Actor};
use crate::{ExecError, egress::Egress};
use interpreter_core::{
    Backend, Confinement, HostContact,
    egress::Host,
    session::{Grant, HostAnswer, HostWanted},
};
use std::future::pending;

/// The folder, beside that of the change sets, where sandboxes that are about to start find the
/// way out.
const FOLDER: &str = "egress";

impl Actor {
    /// Opens the way out for a sandbox that is about to start. What was granted for the session
    /// stays granted.
    pub(super) fn open_egress(
        &mut self,
        confinement: &Confinement,
        backend: Backend,
    ) -> Result<(), ExecError> {
        self.tried_before = self.tried();
        self.egress = None;
        let Some(asks) = self.setup.asks else { return Ok(()) };
        match backend {
            Backend::Native | Backend::Bubblewrap => {}
            // Nothing leads out by way of a proxy there: nothing at all, or everything.
            Backend::Firejail | Backend::Landlock | Backend::None => return Ok(()),
        }
        let folder = self.setup.changes.folder().with_file_name(FOLDER);
        let upstream = self.setup.upstream.clone();
        let opened = Egress::open(&confinement.network, asks, &folder, upstream);
        let egress = opened.map_err(|error| ExecError::CannotConfine {
            backend: backend.word(),
            reason: format!("the socket for its proxy cannot be made: {error}"),
            hint: None,
        })?;
        egress.grant(&self.granted);
        self.egress = Some(egress);
        Ok(())
    }

    /// A run begins.
    pub(super) fn begin_egress(&self) {
        if let Some(egress) = &self.egress {
            egress.begin_run();
        }
    }

    /// Code wants to reach a host that is not listed. Between runs there is nobody to ask.
    pub(super) async fn host_wanted(&mut self, host: Host, port: u16) {
        match &self.cell {
            Some(cell) => {
                let proposal = cell.proposal.clone();
                let wanted = HostWanted { proposal, host, port };
                self.report(Happening::HostWanted(wanted)).await;
            }
            None => {
                if let Some(egress) = &self.egress {
                    egress.answer(&host, port, None);
                }
            }
        }
    }

    /// What is said to it. For one run alone it counts only while that run goes on: the person may
    /// have thought about it for longer.
    pub(super) fn host_answered(&mut self, answer: HostAnswer) {
        let HostAnswer { proposal, host, port, grant, .. } = answer;
        let goes_on = self.cell.as_ref().is_some_and(|cell| cell.proposal == proposal);
        let counts = match grant {
            Some(Grant::Session | Grant::Always) => true,
            Some(Grant::Once) | None => goes_on,
        };
        if let Some(egress) = self.egress.as_ref().filter(|_| counts) {
            egress.answer(&host, port, grant);
        }
        match grant {
            Some(Grant::Session | Grant::Always) => self.granted.push((host, port)),
            Some(Grant::Once) | None => {}
        }
    }

    /// What was tried since somebody last asked.
    pub(super) fn tried(&mut self) -> Vec<HostContact> {
        let mut tried = std::mem::take(&mut self.tried_before);
        tried.extend(self.egress.as_ref().map(Egress::end_run).unwrap_or_default());
        tried
    }
}

/// Waits for a host that code wants.
pub(super) async fn wanted(egress: Option<&mut Egress>) -> (Host, u16) {
    match egress {
        Some(egress) => egress.question().await,
        None => pending().await,
    }
}
