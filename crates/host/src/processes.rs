//! Finding, killing and burying processes.
//!
//! # Threat
//! Code that outlives its kernel: background programs, daemons, a program that ignores signals.
//!
//! # Mechanism
//! Everything a kernel starts is in its process group unless it leaves it; the group is killed
//! with the kernel. What left the group is found as a descendant in `/proc`. As the first process
//! of a namespace the host can kill all others at once; anywhere else it is a subreaper, so that
//! whatever loses its parent becomes its child, and it kills its descendants until it has none.
//!
//! # Order
//! Descendants are looked up before their ancestor is killed: after that they are everybody's.
//!
//! # Limits
//! While other kernels live, a daemon (left its group, and its parent has exited) cannot be
//! told from theirs and survives the stop of its own kernel; it dies with the last kernel that is
//! stopped, or with the stream. A process that forks faster than `/proc` is read may slip through
//! a stop likewise.

use nix::errno::Errno;
use nix::sys::prctl::set_child_subreaper;
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::{Pid, getpid};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;

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
                for pid in descendants(getpid()) {
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

/// The living processes that descend from `ancestor`, as far as `/proc` shows them.
pub(crate) fn descendants(ancestor: Pid) -> Vec<Pid> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    for entry in entries.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        if let Some(parent) = parent_of(pid) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut next = vec![ancestor.as_raw()];
    while let Some(parent) = next.pop() {
        let born = children.remove(&parent).unwrap_or_default();
        found.extend(born.iter().copied().map(Pid::from_raw));
        next.extend(born);
    }
    found
}

/// The parent of a process.
fn parent_of(pid: i32) -> Option<i32> {
    let mut line = Vec::new();
    // A name is at most 64 bytes and stands first; the parent is the second field after it.
    File::open(format!("/proc/{pid}/stat")).ok()?.take(512).read_to_end(&mut line).ok()?;
    // The name is whatever the program chose, brackets and spaces included.
    let end = line.iter().rposition(|&byte| byte == b')')?;
    let rest = std::str::from_utf8(&line[end + 1..]).ok()?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_is_read_from_proc() {
        assert_eq!(parent_of(getpid().as_raw()), Some(nix::unistd::getppid().as_raw()));
    }

    #[test]
    fn we_descend_from_our_parent() {
        assert!(descendants(nix::unistd::getppid()).contains(&getpid()));
        assert!(!descendants(getpid()).contains(&getpid()));
    }
}
