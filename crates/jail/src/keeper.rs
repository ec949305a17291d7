//! The process that stays behind and sees to it that nothing outlives the sandbox, where there is
//! no process namespace that would.
//!
//! # Threat
//! Code that kills or stops the host, forks away from it, or is still there when the session ends.
//!
//! # Mechanism
//! The keeper is not confined, adopts every orphan that the program inside leaves, and waits for
//! one of two things: the program ends, or the stream from outside does. Then it kills its children
//! until it has none: whatever a dead one leaves comes to it in its turn. If the program does not
//! end within a while after the stream has, it is killed too.
//!
//! # Order
//! Made before anything is given up, so that what confines the code does not confine it.
//!
//! # Limits
//! Code that may signal the keeper can kill it: Landlock prevents that if the kernel has version 6;
//! nothing does without a sandbox. Processes that fork faster than they are killed are bounded only
//! by the number of processes.
//!
//! # See
//! [PR_SET_CHILD_SUBREAPER] gives it the orphans; [pid_namespaces(7)] do the same by
//! themselves where they exist.
//!
//! [PR_SET_CHILD_SUBREAPER]: https://man7.org/linux/man-pages/man2/PR_SET_CHILD_SUBREAPER.2const.html
//! [pid_namespaces(7)]: https://man7.org/linux/man-pages/man7/pid_namespaces.7.html

use crate::sys::{self, Forked};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{self, Pid, PidfdFlags, Signal, WaitOptions},
};
use std::{fs, io};

/// How long the program inside may take to end after its stream has.
const PATIENCE: Timespec = Timespec { tv_sec: 2, tv_nsec: 0 };

/// Forks. The child goes on with the plan; the parent stays as its keeper and does not return,
/// unless it cannot be one.
pub(crate) fn keep() -> io::Result<()> {
    process::set_child_subreaper(Some(process::getpid()))?;
    match sys::fork()? {
        Forked::Child => Ok(()),
        Forked::Parent(child) => {
            let status = watch(child);
            end_all();
            sys::exit_now(status?);
        }
    }
}

/// Waits for the program or the stream to end, and gives the program's status.
fn watch(child: Pid) -> io::Result<i32> {
    // Otherwise the stream would not end when the program inside does.
    let nothing = fs::File::open("/dev/null")?;
    rustix::stdio::dup2_stdout(&nothing)?;
    let program = process::pidfd_open(child, PidfdFlags::empty())?;
    let input = io::stdin();
    let mut both = [
        PollFd::new(&program, PollFlags::IN),
        // Nothing is read here: only the end of the writer matters.
        PollFd::new(&input, PollFlags::RDHUP),
    ];
    wait(&mut both, None)?;
    if both[0].revents().is_empty() {
        wait(&mut both[..1], Some(&PATIENCE))?;
        process::kill_process(child, Signal::KILL)?;
    }
    loop {
        match process::waitpid(Some(child), WaitOptions::empty()) {
            Ok(Some((_, status))) => {
                let signal = status.terminating_signal().map(|signal| 128 + signal);
                return Ok(status.exit_status().or(signal).unwrap_or(1));
            }
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn wait(what: &mut [PollFd<'_>], longest: Option<&Timespec>) -> io::Result<()> {
    loop {
        match poll(what, longest) {
            Ok(_) => return Ok(()),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Kills all children, and those that come from them, until there are none.
fn end_all() {
    loop {
        for child in children() {
            // It may have ended by itself.
            _ = process::kill_process(child, Signal::KILL).is_ok();
        }
        match process::wait(WaitOptions::empty()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

fn children() -> Vec<Pid> {
    let ours = process::getpid();
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter_map(Pid::from_raw).filter(|&process| parent(process) == Some(ours)).collect()
}

fn parent(of: Pid) -> Option<Pid> {
    #[expect(clippy::disallowed_methods, reason = "a process that is gone has no parent")]
    let line = fs::read(format!("/proc/{}/stat", of.as_raw_nonzero())).ok()?;
    // The name is whatever the program chose, brackets and spaces included.
    let end = line.iter().rposition(|&byte| byte == b')')?;
    let fields = std::str::from_utf8(&line[end + 1..]).ok()?;
    Pid::from_raw(fields.split_ascii_whitespace().nth(1)?.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_child_a_process_is_stands_in_its_file() {
        assert_eq!(parent(process::getpid()), process::getppid());
        assert_eq!(parent(Pid::from_raw(i32::MAX).unwrap()), None);
    }
}
