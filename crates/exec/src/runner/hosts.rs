//! The way out of a sandbox while it is up.

use super::command::RunnerSetup;
use crate::{
    ExecError,
    egress::{AskedHost, Doorway, Egress, Waiting, WaitingUse},
    sandbox::recipe,
};
use interpreter_core::{
    Backend, Confinement, Grant, HostContact, Redactor, SecretUse,
    egress::{Host, RunHosts},
};
use std::{collections::BTreeMap, future::pending, mem};
use tokio::sync::oneshot;

/// The folder, beside that of the change sets, where sandboxes that are about to start find the
/// way out.
const FOLDER: &str = "egress";

/// The way out of the sandbox that is up, and the grants that outlive it.
#[derive(Debug, Default)]
pub(super) struct WayOut {
    egress: Option<Egress>,
    /// Hosts that were granted for the session.
    granted: Vec<(Host, u16)>,
    /// Contacts of a sandbox that is gone, which are not reported yet.
    before: (Vec<HostContact>, Vec<SecretUse>),
    /// Requests that wait until their use of a secret is on record, by number.
    waiting: BTreeMap<u64, oneshot::Sender<bool>>,
    /// The number of the newest.
    last: u64,
}

/// Something that code wants.
pub(super) enum Wanted {
    /// To reach a host.
    Host(AskedHost),
    /// To use a secret, which waits by this number.
    Use(u64, SecretUse),
}

impl WayOut {
    /// Opens the way out for a sandbox that is about to start. Hosts that were granted for the
    /// session stay granted.
    pub(super) fn open(
        &mut self,
        confinement: &Confinement,
        backend: Backend,
        setup: &RunnerSetup,
        redactor: &Redactor,
    ) -> Result<(), ExecError> {
        self.end_run();
        self.before = self.contacts();
        self.egress = None;
        let Some(asks) = setup.asks else { return Ok(()) };
        if !recipe(backend).has_door {
            // Nothing leads out by way of a proxy there: nothing at all, or everything.
            return Ok(());
        }
        let folder = setup.changes.folder().with_file_name(FOLDER);
        let upstream = setup.upstream.clone();
        let broker = setup.broker.clone();
        let opened = Egress::open(&confinement.network, asks, &folder, upstream, broker);
        let egress = opened.map_err(|error| ExecError::CannotConfine {
            backend: backend.word(),
            reason: format!("the socket for its proxy cannot be made: {error}"),
            cause: None,
        })?;
        egress.mask_with(redactor);
        egress.grant(&self.granted);
        self.egress = Some(egress);
        Ok(())
    }

    /// The files by which the sandbox finds its way out.
    pub(super) fn doorway(&self) -> Option<Doorway<'_>> {
        self.egress.as_ref().map(Egress::doorway)
    }

    /// Knows these secrets from now on.
    pub(super) fn mask_with(&self, redactor: &Redactor) {
        if let Some(egress) = &self.egress {
            egress.mask_with(redactor);
        }
    }

    /// A run begins, which may reach these of the listed hosts.
    pub(super) fn begin_run(&self, hosts: RunHosts) {
        if let Some(egress) = &self.egress {
            egress.begin_run(hosts);
        }
    }

    /// Waits for something that code wants.
    pub(super) async fn wanted(&mut self) -> Wanted {
        let Some(egress) = &mut self.egress else { return pending().await };
        match egress.waiting().await {
            Waiting::Host(asked) => Wanted::Host(asked),
            Waiting::Use(WaitingUse { of, answer, .. }) => {
                self.last += 1;
                self.waiting.insert(self.last, answer);
                Wanted::Use(self.last, of)
            }
        }
    }

    /// Lets a request go out whose use of a secret is on record, or ends it.
    pub(super) fn answer_use(&mut self, number: u64, goes_out: bool) {
        if let Some(answer) = self.waiting.remove(&number) {
            // Whoever waited may have left.
            _ = answer.send(goes_out).is_ok();
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

    /// Lets code reach a host no more that was granted since.
    pub(super) fn close(&mut self, host: Host, port: u16) {
        if let Some(egress) = &self.egress {
            egress.close(&host, port);
        }
        let place = (host, port);
        self.granted.retain(|granted| *granted != place);
    }

    /// The run is over: requests that still wait for the record go nowhere.
    pub(super) fn end_run(&mut self) {
        self.waiting.clear();
        if let Some(egress) = &mut self.egress {
            egress.end_run();
        }
    }

    /// The attempts, and the uses of secrets, since the last call.
    pub(super) fn contacts(&mut self) -> (Vec<HostContact>, Vec<SecretUse>) {
        let (mut tried, mut used) = mem::take(&mut self.before);
        if let Some(egress) = &self.egress {
            tried.extend(egress.tried());
            used.extend(egress.used());
        }
        (tried, used)
    }
}
