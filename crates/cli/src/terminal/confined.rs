//! Where code runs and what bounds it, in words.

use super::{
    ours::{Ours, count, ours, word},
    screen::Screen,
};
use interpreter_core::{Backend, Choice, Confinement, Network, Workspace};
use std::io;

/// Where code runs, in a few words.
pub(crate) fn within(confinement: &Confinement) -> Ours {
    match confinement.sandbox.backend {
        Choice::Auto => ours("in a sandbox"),
        Choice::Only(Backend::NONE) => ours("WITHOUT A SANDBOX"),
        Choice::Only(backend) => ours("in the ") + backend.word() + " sandbox",
    }
}

/// A warning for a run that is less confined than usual.
pub(crate) fn header(backend: &str, missing: &[String]) -> Option<Ours> {
    if backend == Backend::NONE.word() {
        return Some(ours("NO SANDBOX: the code has all your permissions"));
    }
    let promises = missing.iter().filter_map(|words| Some(words.split_once(" in full,")?.0));
    let mut promises = promises.peekable();
    promises.peek()?;
    let promises = Ours::joined(promises.map(word), ", ");
    Some(word(backend) + " sandbox; not fully kept: " + promises)
}

/// The limits of every run, in a few words. Hosts and paths are in [`granted`].
pub(crate) fn bounds(confinement: &Confinement) -> Ours {
    if confinement.sandbox.is_none() {
        return ours("all your permissions, the whole network, files written directly");
    }
    let files = match confinement.workspace {
        Workspace::Stage => "files staged",
        Workspace::Direct => "files written directly",
        Workspace::ReadOnly => "files read-only",
    };
    let network = match &confinement.network {
        Network::Open(_) => ours("OPEN NETWORK"),
        Network::Only(hosts) if !hosts.allow.is_empty() => {
            ours("network only to ") + count(hosts.allow.len(), "host")
        }
        Network::None | Network::Only(_) => ours("no network"),
    };
    let has_more = confinement.granted_words().is_some() || !confinement.secrets.is_empty();
    let granted = if has_more { ", more granted" } else { "" };
    network + ", " + files + granted
}

/// Whether the bounds are so wide that they are shown as a warning.
pub(crate) fn is_alarming(confinement: &Confinement) -> bool {
    confinement.sandbox.is_none() || matches!(confinement.network, Network::Open(_))
}

/// The hosts, paths and uses of secrets that the person has granted.
pub(crate) fn granted(confinement: &Confinement) -> Vec<String> {
    let hosts = match &confinement.network {
        Network::Only(hosts) if !hosts.allow.is_empty() => Some(confinement.network.words()),
        Network::None | Network::Only(_) | Network::Open(_) => None,
    };
    let paths = confinement.granted_words().map(|words| format!("granted {words}"));
    let secrets = confinement.secret_words().map(|words| format!("code can use, unseen: {words}"));
    hosts.into_iter().chain(paths).chain(secrets).collect()
}

/// Says who runs where, within which bounds: "Code runs in a sandbox: …".
pub(crate) fn bounded(
    screen: &mut Screen,
    subject: Ours,
    confinement: &Confinement,
) -> io::Result<()> {
    let words = subject + " " + within(confinement) + ": " + bounds(confinement) + ".";
    screen.announce(words, is_alarming(confinement))?;
    granted(confinement).iter().try_for_each(|row| screen.row(row))
}
