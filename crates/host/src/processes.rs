//! Finding, killing and burying processes.
//!
//! # Threat
//! Code that outlives its kernel: background programs, daemons, a program that ignores signals.
//!
//! # Mechanism
//! Everything a kernel starts is in its process group unless it leaves it; the group is killed
//! with the kernel. What left the group is found as a descendant in `/proc`. What lost its parent
//! becomes a child of the host: as the first process of a namespace it gets all orphans, anywhere
//! else it is a subreaper. When a kernel is stopped, everything is killed that does not descend
//! from another kernel: so its daemons go with it, wherever they hid.
//!
//! # Order
//! Passes over `/proc` go on until one meets nobody new: see [`kill_all_but`]. What is born too
//! fast for that ends everything, by the one signal to all that nothing can outrun.
//!
//! # Limits
//! Whose an orphan was cannot be told, so orphans of the other kernels are killed too. A kernel
//! that ends by itself takes only its group with it; daemons it left live until a kernel is
//! stopped or the stream ends. Where the host is not the first process of a namespace, signals to
//! all are not to be had, and what forks faster than `/proc` is read may slip through.

use crate::census::Census;
use nix::errno::Errno;
use nix::sys::prctl::set_child_subreaper;
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::{Pid, getpid};
use std::collections::HashSet;

/// What the host is to the processes around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The first of a namespace that holds nothing but what it started.
    First,
    /// One among others, which must be left alone.
    Ordinary,
}

impl Role {
    /// Takes on the role this process has. Orphans come to it from now on.
    pub(crate) fn assume() -> Result<Self, Errno> {
        if getpid() == Pid::from_raw(1) {
            return Ok(Self::First);
        }
        set_child_subreaper(true)?;
        Ok(Self::Ordinary)
    }

    /// Kills everything that was ever started.
    pub(crate) fn kill_all(self) {
        match self {
            Self::First => send(Pid::from_raw(-1), Signal::SIGKILL),
            Self::Ordinary => {
                for pid in Census::take().descendants(getpid(), &[]) {
                    send(pid, Signal::SIGKILL);
                }
            }
        }
    }

    /// Kills everything and waits until it is dead. Children of the dead come to us and are
    /// killed in their turn.
    pub(crate) fn end_all(self) {
        loop {
            self.kill_all();
            // EINVAL is a death by a signal that has no name, and EINTR none at all.
            if waitpid(None, None) == Err(Errno::ECHILD) {
                return;
            }
        }
    }
}

/// Sends a signal to a process. That it may be gone already is in the nature of signals.
pub(crate) fn send(pid: Pid, signal: Signal) {
    kill(pid, signal).unwrap_or_default();
}

/// Sends a signal to a process group, which may be empty already.
pub(crate) fn send_group(leader: Pid, signal: Signal) {
    killpg(leader, signal).unwrap_or_default();
}

/// Children that are dead and not buried.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Dead {
    /// There are none.
    None,
    /// This one.
    One(Pid),
    /// One that died of a signal without a name, which hides the rest of what is known of it.
    Unnamed,
}

/// Whether there was anyone to bury.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Buried {
    None,
    One,
}

const PEEK: WaitPidFlag =
    WaitPidFlag::WEXITED.union(WaitPidFlag::WNOHANG).union(WaitPidFlag::WNOWAIT);

/// Looks for a dead child and leaves it unburied: until it is buried, its number and its
/// group's cannot belong to anyone else.
pub(crate) fn find_dead() -> Dead {
    match waitid(Id::All, PEEK) {
        Ok(WaitStatus::StillAlive) | Err(Errno::ECHILD) => Dead::None,
        Ok(status) => status.pid().map_or(Dead::Unnamed, Dead::One),
        Err(_) => Dead::Unnamed,
    }
}

/// Whether this child is dead.
pub(crate) fn is_dead(child: Pid) -> bool {
    !matches!(waitid(Id::Pid(child), PEEK), Ok(WaitStatus::StillAlive))
}

/// Buries a dead child, or any if none is named.
pub(crate) fn bury(child: Option<Pid>) -> Buried {
    match waitpid(child, Some(WaitPidFlag::WNOHANG)) {
        Ok(WaitStatus::StillAlive) | Err(Errno::ECHILD) => Buried::None,
        Ok(_) | Err(_) => Buried::One,
    }
}

/// Passes over `/proc` after which whatever is still being born is not worth sparing anyone for.
const PASSES: usize = 100;

/// Kills whatever was ever started but the `spared` and what descends from them.
///
/// A process with a deadly signal pending cannot fork. So a pass that began after the last kill
/// and meets nobody new proves that nobody is left: whoever was born before is in it.
pub(crate) fn kill_all_but(role: Role, spared: &[Pid]) {
    let mut killed = HashSet::new();
    for _ in 0..PASSES {
        let found = Census::take().descendants(getpid(), spared);
        let new: Vec<_> = found.into_iter().filter(|&pid| killed.insert(pid)).collect();
        if new.is_empty() {
            return;
        }
        for pid in new {
            send(pid, Signal::SIGKILL);
        }
    }
    role.kill_all();
}
