//! Who may answer in a session of a team, at the moment when somebody does.
//!
//! The list is read anew for each answer: whoever has lost the right meanwhile, by their role or with
//! a share, is not on it, and `interpreter-core` then drops their earlier yes. Without a team nobody
//! is known, and no session waits for several people.

use super::{SessionHub, reading::elsewhere};
use crate::{Caller, protocol::ProtocolError};
use interpreter_core::session::{Event, Voter};
use std::collections::BTreeSet;

/// Knows who may answer in the sessions of one person.
pub(crate) trait Approvers: Send + Sync {
    /// The ids of everybody who may answer in this session now. Reads the disk.
    fn of(&self, session: &str) -> Result<BTreeSet<String>, ProtocolError>;

    /// The person whose sessions these are, with the rights that they have now. Reads the disk.
    fn owner(&self) -> Result<Caller, ProtocolError>;

    /// Shares the session `to` as `from` is shared: it goes on from there. Writes to the disk.
    fn carry_over(&self, from: &str, to: &str) -> Result<(), ProtocolError>;
}

impl SessionHub {
    /// A caller as somebody who answers, where people are known.
    pub(super) async fn voter(
        &self,
        caller: &Caller,
        session: &str,
    ) -> Result<Option<Voter>, ProtocolError> {
        let Some(approvers) = self.shared.approvers.clone() else { return Ok(None) };
        let session = session.to_owned();
        let may_answer = elsewhere(move || approvers.of(&session)).await?;
        Ok(Some(Voter { person: caller.as_person(), may_answer }))
    }

    /// Whose words these events are, where people are known, and the events.
    pub(super) fn spoken_by(&self, caller: &Caller, events: Vec<Event>) -> Vec<Event> {
        let spoke = self.shared.approvers.as_ref().map(|_| Event::Spoke(caller.as_person()));
        spoke.into_iter().chain(events).collect()
    }
}
