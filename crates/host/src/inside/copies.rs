//! Copies of a kernel's memory: processes that its driver forked, and that sleep until they are
//! woken to take its place.
//!
//! # Threat
//! The driver shares a process with hostile code. It may name a process that is no copy, one of
//! another kernel, or the host itself; it may end, wake or stop its copies, and fork without end.
//!
//! # Mechanism
//! A process is held only if it descends from the host and neither is nor descends from another
//! kernel or its copies. Before it takes the kernel's place it must be a child of the host, so that
//! its death is seen. Whatever it is, it harms only that kernel: it gets nothing that the kernel
//! did not have. Copies die with their kernel, and with whatever ends everything.
//!
//! # Order
//! The kernel is dead and buried before a copy is woken: both have the same wires, and only one of
//! them may read.
//!
//! # Limits
//! A copy that the driver makes and does not tell of is an orphan like any other: see
//! [`super::processes`]. While a copy holds a kernel's pipes, it is not seen from outside that the
//! kernel has closed its own ends of them.

use super::{
    census::{Census, is_alive},
    kernel::Kernel,
    processes::{send, send_group},
};
use rustix::{
    param::page_size,
    process::{Pid, Signal, getpid},
};
use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read},
};

/// The signal by which the host wakes a copy. It also continues one that was stopped.
pub(crate) const WAKE: Signal = Signal::CONT;

/// Bytes of a file about a process.
const ABOUT: u64 = 4096;

/// The copies of one kernel.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    /// By their numbers: a higher one is a later one.
    held: BTreeMap<u32, Pid>,
    /// Bytes that they take together at most; they share some with the kernel.
    bound: u64,
}

impl Copies {
    /// Their processes.
    pub(crate) fn pids(&self) -> impl Iterator<Item = Pid> {
        self.held.values().copied()
    }

    /// Forgets a process that is dead: its number, if it was a copy.
    pub(crate) fn forget(&mut self, pid: Pid) -> Option<u32> {
        let found = self.held.iter().find(|(_, held)| **held == pid);
        let number = *found?.0;
        self.held.remove(&number);
        Some(number)
    }

    /// Takes one out, to be the kernel.
    pub(crate) fn take(&mut self, number: u32) -> Option<Pid> {
        self.held.remove(&number)
    }

    /// Ends one.
    pub(crate) fn release(&mut self, number: u32) {
        if let Some(pid) = self.held.remove(&number) {
            end(pid);
        }
    }

    /// Ends those with this number and later ones.
    pub(crate) fn release_from(&mut self, number: u32) {
        for pid in self.held.split_off(&number).into_values() {
            end(pid);
        }
    }

    /// Ends all of them. Returns their numbers.
    pub(crate) fn release_all(&mut self) -> Vec<u32> {
        let all = std::mem::take(&mut self.held);
        for &pid in all.values() {
            end(pid);
        }
        all.into_keys().collect()
    }

    /// Holds another copy, and ends the oldest until the rest use at most `most` bytes that
    /// `kernel` does not share. It takes long to tell what processes share, and the kernel waits
    /// meanwhile, so that is asked only when all of them could take more.
    fn add(&mut self, number: u32, copy: Pid, kernel: Pid, most: u64) {
        if self.held.is_empty() {
            self.bound = 0;
        }
        // Sleeping copies write nothing: a new one adds no more than it has.
        self.bound = self.bound.saturating_add(resident(copy).unwrap_or(u64::MAX));
        if let Some(before) = self.held.insert(number, copy) {
            end(before);
        }
        while self.bound > most && !self.held.is_empty() {
            let (all, own) = (together(kernel, self.pids()), resident(kernel).unwrap_or(0));
            self.bound = all;
            if all.saturating_sub(own) <= most {
                break;
            }
            if let Some((_, oldest)) = self.held.pop_first() {
                end(oldest);
            }
        }
    }
}

/// Holds `process` as a copy of a kernel, if it can be one. Whether it is held.
pub(crate) fn hold(
    kernels: &mut BTreeMap<u32, Kernel>,
    kernel: u32,
    number: u32,
    process: u32,
    most: u64,
) -> bool {
    let Some(pid) = i32::try_from(process).ok().and_then(Pid::from_raw) else { return false };
    let others = kernels.iter().filter(|(other, _)| **other != kernel);
    let spared: Vec<_> = others.flat_map(|(_, other)| other.family()).collect();
    let Some(kernel) = kernels.get_mut(&kernel) else { return false };
    let known = kernel.family().any(|one| one == pid);
    if known || !Census::take().descendants(getpid(), &spared).contains(&pid) {
        return false;
    }
    let of = kernel.pid();
    kernel.copies.add(number, pid, of, most);
    kernel.copies.held.contains_key(&number)
}

/// Whether a copy is there and would be buried by us.
pub(crate) fn is_ours(pid: Pid) -> bool {
    is_alive(pid) && Census::take().is_child(getpid(), pid)
}

/// Kills a copy. It leads a group of its own, which is otherwise empty.
fn end(pid: Pid) {
    send(pid, Signal::KILL);
}

/// Kills a kernel that makes way for a copy, with everything that it started.
pub(crate) fn clear_away(kernel: Pid) {
    for pid in Census::take().descendants(kernel, &[]) {
        send(pid, Signal::KILL);
    }
    send_group(kernel, Signal::KILL);
    send(kernel, Signal::KILL);
}

/// Bytes that a kernel and its copies take. Each process's proportional share adds up to that; where
/// the system does not tell it, nothing counts as shared.
fn together(kernel: Pid, copies: impl Iterator<Item = Pid>) -> u64 {
    let all: Vec<_> = copies.chain([kernel]).collect();
    let shares = all.iter().map(|&pid| share(pid)).sum::<io::Result<u64>>();
    shares.unwrap_or_else(|_| all.iter().map(|&pid| resident(pid).unwrap_or(0)).sum())
}

/// Bytes of a process that are in memory.
fn resident(pid: Pid) -> io::Result<u64> {
    let text = about(pid, "statm")?;
    let pages = text.split_ascii_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok());
    Ok(pages.unwrap_or(0).saturating_mul(page_size() as u64))
}

/// The same, with what it shares divided by those who share it.
fn share(pid: Pid) -> io::Result<u64> {
    let text = about(pid, "smaps_rollup")?;
    let share = text.lines().find_map(|line| {
        let kibibytes = line.strip_prefix("Pss:")?.trim().strip_suffix(" kB")?;
        kibibytes.trim().parse::<u64>().ok()
    });
    share.map(|kibibytes| kibibytes << 10).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn about(pid: Pid, file: &str) -> io::Result<String> {
    let mut text = String::new();
    let path = format!("/proc/{}/{file}", pid.as_raw_pid());
    File::open(path)?.take(ABOUT).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_process_has_a_share_of_what_it_has_in_memory() {
        let (resident, share) = (resident(getpid()).unwrap(), share(getpid()).unwrap());
        assert!(share > 0 && share <= resident + (1 << 20), "{share} of {resident}");
    }

    #[test]
    fn a_process_alone_takes_no_more_than_it_has() {
        let (alone, resident) =
            (together(getpid(), std::iter::empty()), resident(getpid()).unwrap());
        assert!(alone <= resident + (1 << 20), "{alone} of {resident}");
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "processes to be looked at")]
    fn what_copies_take_is_asked_only_when_it_could_be_too_much() {
        let mut sleeping: Vec<_> =
            (0..4).map(|_| Command::new("sleep").arg("1000").spawn().unwrap()).collect();
        let pids: Vec<_> = sleeping.iter().map(Pid::from_child).collect();
        let (mut copies, mut bound) = (Copies::default(), 0);
        for (&pid, number) in pids.iter().zip(1..) {
            copies.add(number, pid, getpid(), 1 << 30);
            assert!(copies.bound > bound, "{copies:?}");
            bound = copies.bound;
        }
        assert_eq!(copies.held.len(), 4);
        // A process that nothing is known of could take anything.
        let gone = Pid::from_raw(i32::MAX).unwrap();
        copies.add(5, gone, getpid(), 1 << 30);
        assert!(copies.bound < 1 << 30, "{copies:?}");
        for child in &mut sleeping {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}
