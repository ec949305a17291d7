//! Contacts that belong to no run: made by programs that code left running.
//!
//! They are reported before the next run begins, before interpreters restart or go back, and at the
//! end of the session. So the next run is not said to have made them, and none is lost.

use super::Actor;
use interpreter_core::{Denial, session::Event};

impl Actor {
    /// Reports whatever has not been reported since the last run, with these denials.
    pub(super) async fn report_late(&mut self, denials: Vec<Denial>) {
        let (network, secrets) = self.way_out.contacts();
        if network.is_empty() && denials.is_empty() && secrets.is_empty() {
            return;
        }
        let after = self.newest_run.clone();
        self.report(Ok(Event::TriedLate { after, network, denials, secrets })).await;
    }

    /// The same, unless a run goes on, whose contacts are its own.
    pub(super) async fn report_between(&mut self) {
        if self.state.cell().is_none() {
            self.report_late(Vec::new()).await;
        }
    }
}
