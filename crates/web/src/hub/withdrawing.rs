//! Rights that a lower role takes from sessions which are open.
//!
//! # Threat
//! Somebody who was an administrator goes on in a folder that their role no longer opens, or has code
//! run by an answer that they may no longer give.
//!
//! # Mechanism
//! Sessions in another folder than the server's end. Until such a session is over, its owner
//! reaches nothing of it: the folder is checked at each request. In the others, standing answers and
//! granted hosts are taken back, and so is a yes to a question that still waits for other people.
//!
//! # Limits
//! Their record stays theirs. An answer that is on its way while the role changes may still hold.

use super::{SessionHub, Shared, Whose, allowed::check, held::HeldSession};
use crate::{caller::Caller, protocol::ProtocolError};
use interpreter_core::session::Event;
use std::path::Path;

impl Shared {
    /// Whether this is the folder of the server.
    pub(super) fn is_ours(&self, folder: &Path) -> bool {
        let real = |path: &Path| fs_err::canonicalize(path).ok();
        let ours = real(&self.setup.work_folder);
        ours.is_some() && real(folder) == ours
    }
}

impl SessionHub {
    /// Ends the sessions that are in another folder than the server's, and takes back everything that
    /// the others do without a question. Reads the disk.
    pub(crate) fn withdraw(&self) {
        for held in self.shared.running() {
            if self.shared.is_ours(&held.context.work_folder) {
                held.take_back();
            } else {
                held.session.send(Event::Quit);
            }
        }
    }

    /// Refuses a session of a person of a team that runs in a folder which they could not open now.
    pub(crate) fn check_reach(&self, caller: &Caller, session: &str) -> Result<(), ProtocolError> {
        let Whose::Person(_) = &self.shared.whose else { return Ok(()) };
        let Some(held) = self.shared.find(session).filter(|held| !held.has_ended()) else {
            return Ok(());
        };
        self.check_folder(caller, &held.context.work_folder)
    }

    /// Refuses another folder than the server's to whoever may not answer: by the settings of the
    /// person, a model may read a folder without a question.
    pub(super) fn check_folder(&self, caller: &Caller, folder: &Path) -> Result<(), ProtocolError> {
        let right = self.shared.whose.folder_right();
        if caller.rights.has(right) || self.shared.is_ours(folder) {
            return Ok(());
        }
        check(caller, &[right])
            .map_err(|error| error.hint("only the folder of the server can be opened without it"))
    }
}

impl SessionHub {
    /// A person has lost rights in all of these sessions.
    pub(crate) fn lost_right(&self, person: &str) {
        for held in self.shared.running() {
            held.lost_right(person);
        }
    }
}

impl HeldSession {
    /// A person has lost rights here: their approvals so far no longer count.
    pub(crate) fn lost_right(&self, person: &str) {
        self.session.send(Event::RightLost(person.to_owned()));
    }

    /// Takes back every standing answer, and every host that was granted.
    pub(crate) fn take_back(&self) {
        for one in self.standing() {
            self.session.send(Event::StandingRevoked(one.number));
        }
        for (host, port) in self.granted_hosts() {
            self.session.send(Event::HostRevoked(host, port));
        }
    }
}
