//! The catalogue of attacks: every promise of SECURITY.md, attacked on every backend, as root and as
//! an ordinary user.
//!
//! Success is judged from outside wherever possible: a secret's text in the output, a changed file
//! of the person's, a missing process, a connection that was made. Each has a *control*: the same
//! code must succeed where nothing stops it, so that one which fails for a silly reason is noticed.
//! Attacks that get through on a backend must match its declared gaps, and its declared gaps must
//! be real.

use crate::{backends::LANDLOCK, engines::is_engine, scene::Who};
use interpreter_core::Backend;

mod columns;
mod descriptors;
mod kernel;
mod limits;
mod namespaces;
mod network;
mod outside;
mod privileges;
mod proc;
mod processes;
mod proxy;
mod reading;
mod rules;
mod session;
mod sockets;
mod spoofing;
mod staging;
mod terminal;
mod writing;

/// Code that tries something, and how it is seen from outside whether it got it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attack {
    /// The number of the promise in SECURITY.md that it is aimed at.
    pub(crate) promise: u8,
    pub(crate) name: &'static str,
    language: Language,
    /// `@SECRET@` and the like stand for what [`outside`] puts there for this attack alone.
    code: &'static str,
    evidence: Evidence,
    arena: Arena,
    control: Control,
    /// Where it gets through, because the backend lacks the promise.
    through: &'static [Backend],
    /// Whether it gets through there for root too, whose code becomes another user.
    for_root: bool,
    need: Option<Need>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Language {
    Python,
    Shell,
    JavaScript,
}

/// The sign that an attack has succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Evidence {
    /// It prints the text of a secret that stands outside, for this attack alone.
    Canary,
    /// A file of the person's is not as it was, or is there now.
    File,
    /// A process outside has died, or was stopped.
    Process,
    /// Something outside was connected to, or was sent something.
    Connection,
    /// Something came out of a terminal outside.
    Terminal,
    /// This is in the work folder when all has been applied: a name, and what it must not be.
    Applied(&'static str, Forged),
    /// More than this many bytes were printed.
    Flood(usize),
    /// The interpreter that was to run the next cell is gone, and the host with it.
    End,
    /// The kernel did not refuse, which only the code itself can see: it prints `ESCAPED`.
    Printed,
}

/// A change that must not be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Forged {
    /// It is there at all.
    Present,
    /// Something else than a file, a folder or a link.
    Special,
    /// A mode with the bits of another user.
    Setuid,
    /// An attribute of overlays.
    Attribute(&'static str),
}

/// Which session it is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Arena {
    /// An ordinary one.
    Usual,
    /// One where hosts are listed, so that there is a proxy.
    Proxy,
    /// One with small limits.
    Limits,
    /// One whose changes are staged, and applied at its end.
    Staging,
    /// One of its own.
    Alone,
}

/// Where it succeeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Control {
    /// Without a sandbox, as an ordinary user.
    Bare,
    /// Without a sandbox, as root of namespaces of its own: what it does to the machine is done to
    /// those.
    OwnNamespaces,
    /// Without a sandbox, as root. Only for what harms nothing.
    Root,
    /// In the native sandbox, with what it wants to reach listed by its number.
    Listed,
    /// By its interpreter alone, without this program.
    Plain,
}

/// A requirement of the control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    /// Addresses of the newer kind.
    Ipv6,
    /// A network beside loopback.
    Interface,
    /// A device or file.
    Path(&'static str),
    /// Somebody who can make a program that gives privileges.
    SetuidProgram,
}

impl Attack {
    const fn new(
        promise: u8,
        name: &'static str,
        language: Language,
        evidence: Evidence,
        code: &'static str,
    ) -> Self {
        Self {
            promise,
            name,
            language,
            code,
            evidence,
            arena: Arena::Usual,
            control: Control::Bare,
            through: &[],
            for_root: false,
            need: None,
        }
    }

    const fn arena(mut self, arena: Arena) -> Self {
        self.arena = arena;
        self
    }

    const fn control(mut self, control: Control) -> Self {
        self.control = control;
        self
    }

    /// It gets through here, for ordinary users.
    const fn through(mut self, backends: &'static [Backend]) -> Self {
        self.through = backends;
        self
    }

    /// It gets through here, for everybody.
    const fn through_for_all(mut self, backends: &'static [Backend]) -> Self {
        self.through = backends;
        self.for_root = true;
        self
    }

    const fn needs(mut self, need: Need) -> Self {
        self.need = Some(need);
        self
    }

    /// Whether it is to get through.
    fn gets_through(&self, backend: Backend, who: Who) -> bool {
        // A container shows root's folder as it is, and what everybody may use in it.
        let of_root = self.for_root || is_engine(backend);
        self.through.contains(&backend) && (of_root || !who.is_root())
    }

    /// Whether it has a meaning there.
    fn is_for(&self, backend: Backend, who: Who) -> bool {
        // Without a sandbox nothing is staged; in landlock root's code is another user.
        let stages = backend != Backend::NONE && (backend != LANDLOCK || !who.is_root());
        self.arena != Arena::Staging || stages
    }
}

/// All of them.
pub(crate) fn all() -> impl Iterator<Item = &'static Attack> {
    [
        reading::ATTACKS,
        writing::ATTACKS,
        proc::ATTACKS,
        descriptors::ATTACKS,
        sockets::ATTACKS,
        processes::ATTACKS,
        terminal::ATTACKS,
        namespaces::ATTACKS,
        kernel::ATTACKS,
        privileges::ATTACKS,
        network::ATTACKS,
        proxy::ATTACKS,
        limits::ATTACKS,
        spoofing::ATTACKS,
        staging::ATTACKS,
    ]
    .into_iter()
    .flatten()
}
