//! Rows about hosts that code tried to reach.

use super::{
    ours::{Ours, ours, word},
    screen::Screen,
    transcript::grantor,
};
use interpreter_core::{Admission, Body, Grant, HostContact, HostWanted, SecretUse, WantedUse};
use std::io;

/// How many hosts are listed by name.
const LISTED: usize = 30;

/// Tells a record about a host, or about a secret that was used there.
#[expect(clippy::wildcard_enum_match_arm, reason = "the caller passes on no other")]
pub(super) fn tell(
    screen: &mut Screen,
    body: &Body,
    head: impl Fn(Ours) -> Ours,
) -> io::Result<()> {
    let (words, host, port) = match body {
        Body::HostWanted(HostWanted { proposal, host, port, .. }) => {
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
        Body::HostRevoked { host, port } => (ours("taken back"), host, port),
        Body::SecretUsed(WantedUse { proposal, of, .. }) => {
            screen.say(head(word(proposal) + " secret"))?;
            return screen.row_of_words(&of.line());
        }
        _ => return Ok(()),
    };
    screen.say(head(words))?;
    screen.row(&format!("{host}:{port}"))
}

/// Lists hosts that were tried.
pub(crate) fn list(screen: &mut Screen, contacts: &[HostContact]) -> io::Result<()> {
    contacts.iter().take(LISTED).try_for_each(|contact| screen.row_of_words(&contact.line()))?;
    match contacts.len().saturating_sub(LISTED) {
        0 => Ok(()),
        more => screen.row(&format!("and {more} more")),
    }
}

/// Lists uses of secrets.
pub(super) fn uses(screen: &mut Screen, uses: &[SecretUse]) -> io::Result<()> {
    uses.iter().take(LISTED).try_for_each(|one| screen.row_of_words(&one.line()))?;
    match uses.len().saturating_sub(LISTED) {
        0 => Ok(()),
        more => screen.row(&format!("and {more} more uses of secrets")),
    }
}

/// Those that were not let through.
pub(crate) fn refused(contacts: &[HostContact]) -> Vec<HostContact> {
    contacts.iter().filter(|one| one.verdict == Admission::Refused).cloned().collect()
}
