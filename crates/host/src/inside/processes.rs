//! Finding, killing and burying processes.
//!
//! # Threat
//! Code that outlives its kernel: background programs, daemons, a program that ignores signals.
//!
//! # Mechanism
//! Everything that a kernel starts is in its process group unless it leaves it; the group is killed
//! with the kernel. A process that left the group is found as a descendant in `/proc`. An orphan
//! becomes a child of the host: as the first process of a namespace it gets all orphans, anywhere
//! else it is a subreaper. When a kernel is stopped, everything is killed that does not descend
//! from another kernel, so its daemons go with it, wherever they hid.
//!
//! # Order
//! Passes over `/proc` repeat until one meets nobody new: see [`kill_all_but`]. If processes appear
//! too fast for that, everything is ended by the one signal to all, which nothing can outrun. The
//! host waits until the killed are dead before it reports the end of their kernel.
//!
//! # Limits
//! Nothing tells whose an orphan was, so orphans of the other kernels are killed too. A kernel
//! that ends by itself takes only its group with it; daemons it left live until a kernel is
//! stopped or the stream ends. Where the host is not the first process of a namespace, signals to
//! all do not exist, and a program that forks faster than `/proc` is read may slip through.

use super::census::Census;
use rustix::process::{Pid, Signal, getpid, kill_process, kill_process_group, set_child_subreaper};
use std::{collections::HashSet, io};

/// The role of the host for the processes around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The first of a namespace that holds nothing but what it started.
    First,
    /// One among others, which must be left alone.
    Ordinary,
}

impl Role {
    /// Takes on the role this process has. Orphans come to it from now on.
    pub(crate) fn assume() -> io::Result<Self> {
        if getpid() == Pid::INIT {
            return Ok(Self::First);
        }
        set_child_subreaper(Some(getpid()))?;
        Ok(Self::Ordinary)
    }

    /// Kills everything that was ever started.
    pub(crate) fn kill_all(self) {
        match self {
            // To group 1 is to minus 1: to everybody but the sender.
            Self::First => send_group(Pid::INIT, Signal::KILL),
            Self::Ordinary => {
                for pid in Census::take().descendants(getpid(), &[]) {
                    send(pid, Signal::KILL);
                }
            }
        }
    }
}

/// Sends a signal to a process. That it may be gone already is in the nature of signals.
pub(crate) fn send(pid: Pid, signal: Signal) {
    kill_process(pid, signal).unwrap_or_default();
}

/// Sends a signal to a process group, which may be empty already.
pub(crate) fn send_group(leader: Pid, signal: Signal) {
    kill_process_group(leader, signal).unwrap_or_default();
}

/// Passes over `/proc` after which whatever is still being born is not worth sparing anyone for.
const PASSES: usize = 100;

/// Kills whatever was ever started but the `spared` and what descends from them. Gives those that
/// were killed; they may take a moment to die.
///
/// A process with a deadly signal pending cannot fork. So a pass that began after the last kill
/// and meets nobody new proves that nobody is left: whoever was born before is in it.
pub(crate) fn kill_all_but(role: Role, spared: &[Pid]) -> HashSet<Pid> {
    let mut killed = HashSet::new();
    for _ in 0..PASSES {
        let found = Census::take().descendants(getpid(), spared);
        let new: Vec<_> = found.into_iter().filter(|&pid| killed.insert(pid)).collect();
        if new.is_empty() {
            return killed;
        }
        for pid in new {
            send(pid, Signal::KILL);
        }
    }
    role.kill_all();
    killed
}
