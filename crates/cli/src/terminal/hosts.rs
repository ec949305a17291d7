//! The question whether code may reach a host, and the rows about hosts that it tried.

use super::{
    ask::{Left, choice},
    face::{Person, Talk},
    ours::{Ours, ours, word},
    screen::Screen,
    story::grantor,
};
use crate::report::Error;
use interpreter_core::{
    Admission, Body, Grantor, HostContact,
    session::{Event, Grant, HostAnswer, HostWanted},
};
use std::io;

/// How many hosts are listed by name.
const LISTED: usize = 30;

impl Talk {
    /// The code waits to reach a host. Nobody to ask means no.
    pub(super) async fn host(&mut self, wanted: &HostWanted) -> Result<(), Error> {
        let HostWanted { proposal, host, port } = wanted;
        let answer = |grant, by| {
            let (proposal, host, port) = (proposal.clone(), host.clone(), *port);
            Event::HostAnswered(HostAnswer { proposal, host, port, grant, by })
        };
        let (Person::There(there), Some(screen)) = (&mut self.person, self.face.screen()) else {
            self.session.send(answer(None, Grantor::Nobody));
            return Ok(());
        };
        let grant = loop {
            screen.say(word(proposal) + " wants to reach a host that is not listed:")?;
            screen.row(&host.with_port(*port))?;
            let choices = [
                choice('o', "once, for this run", Some(Grant::Once)),
                choice('s', "for this session", Some(Grant::Session)),
                choice('a', "always", Some(Grant::Always)),
                choice('n', "no", None),
            ];
            let said = there.asker.choose(screen, &ours("Allow it?"), &choices).await;
            if said != Ok(Some(Grant::Always)) {
                break said;
            }
            // It holds for every later session, so it takes another key.
            let sure = ours("Add it to your settings, for every session from now on?");
            let choices = [choice('w', "write it", true), choice('b', "go back", false)];
            match there.asker.choose(screen, &sure, &choices).await {
                Ok(true) => break said,
                Ok(false) => {}
                Err(left) => break Err(left),
            }
        };
        let (grant, then) = match grant {
            Ok(grant) => (grant, None),
            Err(Left::Interrupted) => (None, Some(Event::Interrupted)),
            Err(Left::Ended) => (None, None),
            Err(Left::Terminated) => (None, Some(Event::Quit)),
        };
        self.session.send(answer(grant, Grantor::Person));
        if let Some(event) = then {
            self.session.send(event);
        }
        Ok(())
    }
}

/// Tells a record about a host.
#[expect(clippy::wildcard_enum_match_arm, reason = "the caller passes on no other")]
pub(super) fn tell(
    screen: &mut Screen,
    body: &Body,
    head: impl Fn(Ours) -> Ours,
) -> io::Result<()> {
    let (words, host, port) = match body {
        Body::HostWanted { proposal, host, port } => {
            (word(proposal) + " wants to reach", host, port)
        }
        Body::HostGranted { host, port, granted, by, .. } => {
            let granted = match granted {
                Grant::Once => "once",
                Grant::Session => "for the session",
                Grant::Always => "always",
            };
            (ours("allowed ") + granted + " by " + grantor(*by), host, port)
        }
        Body::HostRefused { host, port, by, .. } => {
            (ours("refused by ") + grantor(*by), host, port)
        }
        _ => return Ok(()),
    };
    screen.say(head(words))?;
    screen.row(&format!("{host}:{port}"))
}

/// Lists hosts that were tried.
pub(crate) fn list(screen: &mut Screen, contacts: &[HostContact]) -> io::Result<()> {
    contacts.iter().take(LISTED).try_for_each(|contact| screen.row(&contact.line()))?;
    match contacts.len().saturating_sub(LISTED) {
        0 => Ok(()),
        more => screen.row(&format!("and {more} more")),
    }
}

/// Those that were not let through.
pub(crate) fn refused(contacts: &[HostContact]) -> Vec<HostContact> {
    contacts.iter().filter(|one| one.verdict == Admission::Refused).cloned().collect()
}
