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
//! Nothing here can see what copies share with each other and with their kernel: they are not
//! dumpable. So what a copy has alone is estimated, from above for a kernel that takes memory and
//! writes to it. One that gives memory back and takes other in large pages has more; the limit of the
//! sandbox counts all of it, and copies end first.
//!
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
    held: BTreeMap<u32, SleepingCopy>,
    /// The kernel when the newest was held, and the pages that it had been given until then.
    since: Option<(Pid, u64)>,
}

/// A copy that sleeps.
#[derive(Clone, Copy, Debug)]
struct SleepingCopy {
    pid: Pid,
    /// Bytes that it has and the next one has not, about.
    alone: u64,
}

impl Copies {
    /// Their processes.
    pub(crate) fn pids(&self) -> impl Iterator<Item = Pid> {
        self.held.values().map(|copy| copy.pid)
    }

    /// Forgets a process that is dead: its number, if it was a copy.
    pub(crate) fn forget(&mut self, pid: Pid) -> Option<u32> {
        let number = *self.held.iter().find(|(_, held)| held.pid == pid)?.0;
        self.remove(number);
        Some(number)
    }

    /// Takes one out, to be the kernel.
    pub(crate) fn take(&mut self, number: u32) -> Option<Pid> {
        Some(self.held.remove(&number)?.pid)
    }

    /// Takes one out. The one before may have all that it had alone.
    fn remove(&mut self, number: u32) -> Option<Pid> {
        let SleepingCopy { pid, alone } = self.held.remove(&number)?;
        if let Some((_, before)) = self.held.range_mut(..number).next_back() {
            before.alone = before.alone.saturating_add(alone).min(resident(before.pid));
        }
        Some(pid)
    }

    /// Ends one.
    pub(crate) fn release(&mut self, number: u32) {
        if let Some(pid) = self.remove(number) {
            end(pid);
        }
    }

    /// Ends those with this number and later ones.
    pub(crate) fn release_from(&mut self, number: u32) {
        for copy in self.held.split_off(&number).into_values() {
            end(copy.pid);
        }
    }

    /// Ends all of them. Returns their numbers.
    pub(crate) fn release_all(&mut self) -> Vec<u32> {
        let all = std::mem::take(&mut self.held);
        for copy in all.values() {
            end(copy.pid);
        }
        all.into_keys().collect()
    }

    /// Holds another copy, and ends the oldest until the rest have at most `most` bytes that `kernel`
    /// does not share.
    fn add(&mut self, number: u32, copy: Pid, kernel: Pid, most: u64) {
        let given = pages_given(kernel);
        // A woken copy counts its own from nothing.
        let before = self.since.replace((kernel, given));
        let then = before.filter(|(then, _)| *then == kernel).map_or(0, |(_, given)| given);
        if let Some(mut newest) = self.held.last_entry() {
            let newest = newest.get_mut();
            let (all, own) = (resident(newest.pid), resident(kernel));
            // Pages that the kernel was given since are new, or stand for those that the copy keeps.
            let written = given.saturating_sub(then).saturating_mul(page_size() as u64);
            let dropped = all.saturating_sub(own);
            let alone = newest.alone.saturating_add(written).saturating_add(dropped);
            newest.alone = alone.min(all);
        }
        if let Some(before) = self.held.insert(number, SleepingCopy { pid: copy, alone: 0 }) {
            end(before.pid);
        }
        while self.together() > most
            && let Some((_, oldest)) = self.held.pop_first()
        {
            end(oldest.pid);
        }
    }

    /// Bytes that all of them have beside the kernel, about.
    fn together(&self) -> u64 {
        self.held.values().map(|copy| copy.alone).fold(0, u64::saturating_add)
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

/// Bytes of a process that are in memory. Nothing for one that is gone.
fn resident(pid: Pid) -> u64 {
    let text = about(pid, "statm").unwrap_or_default();
    let pages = text.split_ascii_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or(0).saturating_mul(page_size() as u64)
}

/// How often the system has given a process a page, or one of its own for one that it shared.
fn pages_given(pid: Pid) -> u64 {
    let text = about(pid, "stat").unwrap_or_default();
    // The name is whatever the program chose, brackets and spaces included.
    let rest = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    rest.split_ascii_whitespace().nth(7).and_then(|count| count.parse().ok()).unwrap_or(0)
}

fn about(pid: Pid, file: &str) -> io::Result<String> {
    let mut bytes = Vec::new();
    let path = format!("/proc/{}/{file}", pid.as_raw_pid());
    File::open(path)?.take(ABOUT).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        io::Write,
        process::{Child, Command, Stdio},
    };

    /// A process that waits, and has what it needs in memory.
    #[expect(clippy::disallowed_methods, reason = "a process to be looked at")]
    fn waiting() -> Child {
        let mut command = Command::new("cat");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.as_mut().unwrap().write_all(b"x").unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        child
    }

    #[test]
    fn pages_are_counted_as_they_are_written() {
        let before = pages_given(getpid());
        let written = std::hint::black_box(vec![1_u8; 8 << 20]);
        assert!(pages_given(getpid()) > before);
        assert!(resident(getpid()) >= written.len() as u64);
    }

    #[test]
    fn a_copy_counts_for_what_the_kernel_has_written_since_and_no_more_than_it_has() {
        let mut sleeping: Vec<_> = (0..3).map(|_| waiting()).collect();
        let pids: Vec<_> = sleeping.iter().map(Pid::from_child).collect();
        let (mut copies, mut written) = (Copies::default(), Vec::new());
        for (&pid, number) in pids.iter().zip(1..) {
            copies.add(number, pid, getpid(), 1 << 30);
            assert_eq!(copies.held[&number].alone, 0, "{copies:?}");
            written.push(std::hint::black_box(vec![1_u8; 8 << 20]));
        }
        for number in 1..3 {
            let copy = copies.held[&number];
            assert!(copy.alone > 0 && copy.alone <= resident(copy.pid), "{copies:?}");
        }
        // The first has that of the second too, as far as it is as large.
        copies.release(2);
        assert!(copies.together() > 0 && copies.together() <= resident(pids[0]), "{copies:?}");
        // The oldest goes first.
        let gone = Pid::from_raw(i32::MAX).unwrap();
        copies.add(4, gone, getpid(), 0);
        assert_eq!(copies.held.keys().copied().collect::<Vec<_>>(), [4]);
        for child in &mut sleeping {
            child.kill().unwrap_or_default();
            child.wait().unwrap();
        }
    }
}
