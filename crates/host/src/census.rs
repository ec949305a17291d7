//! What `/proc` says of the processes inside: whose children they are, and what they use.
//!
//! # Limits
//! `/proc` is read one process after another, so the picture is of no single moment. Processes
//! come in the order of their numbers, which is that of their birth until the numbers begin
//! again: a parent is read before its child. Time of a child that is buried in between is then
//! missed, and counted the next time, rather than counted twice.
//!
//! A process that ignores SIGCHLD buries its children without taking over their times: nobody
//! counts them any more.

use nix::sys::resource::{Resource, getrlimit};
use nix::unistd::{Pid, SysconfVar, getpid, sysconf};
use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::FileExt;

/// A process, alive or dead and not buried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Process {
    pid: i32,
    parent: i32,
    state: Life,
    /// Processor time of its own, in ticks.
    own: u64,
    /// Processor time of its children that are dead and buried, and of theirs.
    buried: u64,
    threads: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    Alive,
    Dead,
}

/// The processes that `/proc` shows, in the order of their numbers.
#[derive(Debug)]
pub(crate) struct Census(Vec<Process>);

impl Census {
    /// Looks at all of them once.
    pub(crate) fn take() -> Self {
        let Ok(entries) = fs::read_dir("/proc") else { return Self(Vec::new()) };
        let numbers =
            entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        Self(numbers.filter_map(read).collect())
    }

    /// The living that descend from `ancestor`, but not from any of the `spared`.
    pub(crate) fn descendants(&self, ancestor: Pid, spared: &[Pid]) -> Vec<Pid> {
        let mut children: HashMap<i32, Vec<&Process>> = HashMap::new();
        for process in &self.0 {
            children.entry(process.parent).or_default().push(process);
        }
        let mut found = Vec::new();
        let mut next = vec![ancestor.as_raw()];
        while let Some(parent) = next.pop() {
            for born in children.remove(&parent).unwrap_or_default() {
                let pid = Pid::from_raw(born.pid);
                if spared.contains(&pid) {
                    continue;
                }
                next.push(born.pid);
                if born.state == Life::Alive {
                    found.push(pid);
                }
            }
        }
        found
    }

    /// Milliseconds of processor time that everything below this process has used, alive or not.
    pub(crate) fn used(&self) -> u64 {
        let us = getpid();
        let below: HashSet<_> = self.below(us.as_raw());
        let ticks: u64 = self
            .0
            .iter()
            .map(|process| match process.pid {
                // What we use ourselves is nobody's fault inside.
                pid if pid == us.as_raw() => process.buried,
                pid if below.contains(&pid) => process.own + process.buried,
                _ => 0,
            })
            .sum();
        let per_second = sysconf(SysconfVar::CLK_TCK).ok().flatten();
        let per_second = per_second.and_then(|count| u64::try_from(count).ok()).unwrap_or(100);
        ticks * 1_000 / per_second.max(1)
    }

    /// All numbers below one, the dead included.
    fn below(&self, ancestor: i32) -> HashSet<i32> {
        let mut found = HashSet::from([ancestor]);
        loop {
            let before = found.len();
            for process in &self.0 {
                if found.contains(&process.parent) {
                    found.insert(process.pid);
                }
            }
            if found.len() == before {
                return found;
            }
        }
    }

    fn tasks(&self) -> u64 {
        self.0.iter().map(|process| process.threads.max(1)).sum()
    }
}

fn read(pid: i32) -> Option<Process> {
    let mut line = Vec::new();
    // A name is at most 64 bytes and stands first; all that is wanted is in the 20 fields after.
    File::open(format!("/proc/{pid}/stat")).ok()?.take(512).read_to_end(&mut line).ok()?;
    parse(pid, &line)
}

fn parse(pid: i32, line: &[u8]) -> Option<Process> {
    // The name is whatever the program chose, brackets and spaces included.
    let end = line.iter().rposition(|&byte| byte == b')')?;
    let rest = std::str::from_utf8(&line[end + 1..]).ok()?;
    let fields: Vec<_> = rest.split_ascii_whitespace().take(18).collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    Some(Process {
        pid,
        state: if matches!(*fields.first()?, "Z" | "X") { Life::Dead } else { Life::Alive },
        parent: fields.get(1)?.parse().ok()?,
        own: number(11)? + number(12)?,
        buried: number(13)? + number(14)?,
        threads: number(17)?,
    })
}

/// Whether there is room for another process, told without looking at all of them each time.
#[derive(Debug)]
pub(crate) struct Room {
    /// How many processes and threads there may be; none if nobody counts them for us alone.
    limit: Option<u64>,
    /// How many there were when they were last counted, and the number born last then.
    counted: Option<(u64, u64)>,
    /// Where the system says which number it gave last. Held open: this is asked for every cell.
    numbers: Option<File>,
}

impl Room {
    /// Room without bounds.
    pub(crate) fn boundless() -> Self {
        Self { limit: None, counted: None, numbers: None }
    }

    /// The room that the system gives all processes of this namespace together.
    pub(crate) fn of_namespace() -> Self {
        let limit = getrlimit(Resource::RLIMIT_NPROC).ok().map(|(soft, _)| soft);
        Self { limit, counted: None, numbers: File::open("/proc/loadavg").ok() }
    }

    /// Whether nearly all room is taken.
    pub(crate) fn is_crowded(&mut self) -> bool {
        let Some(limit) = self.limit else { return false };
        let most = limit - limit / 16;
        let newest = self.newest();
        // Each that was born since then has taken a number.
        if let (Some((count, then)), Some(now)) = (self.counted, newest)
            && let Some(born) = now.checked_sub(then)
            && count.saturating_add(born) < most
        {
            return false;
        }
        let count = Census::take().tasks();
        self.counted = newest.map(|now| (count, now));
        count >= most
    }

    /// The number that was given last in this namespace.
    fn newest(&self) -> Option<u64> {
        let mut line = [0; 256];
        let length = self.numbers.as_ref()?.read_at(&mut line, 0).ok()?;
        std::str::from_utf8(&line[..length]).ok()?.split_ascii_whitespace().last()?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::unistd::getppid;

    #[test]
    fn we_descend_from_our_parent_unless_it_is_spared() {
        let census = Census::take();
        assert!(census.descendants(getppid(), &[]).contains(&getpid()));
        assert!(!census.descendants(getppid(), &[getpid()]).contains(&getpid()));
        assert!(!census.descendants(getpid(), &[]).contains(&getpid()));
    }

    #[test]
    fn a_name_cannot_pass_for_a_field() {
        let line = b"7 (a) Z 1 (b)) S 3 7 7 0 -1 4194304 1 2 3 4 10 20 30 40 20 0 5 0 99 0 0";
        let process = parse(7, line).unwrap();
        assert_eq!((process.parent, process.state), (3, Life::Alive));
        assert_eq!((process.own, process.buried, process.threads), (30, 70, 5));
    }

    #[test]
    fn what_is_below_us_uses_no_time_when_there_is_nothing() {
        // Threads of this test program are no processes of their own.
        let census = Census(vec![read(getpid().as_raw()).unwrap()]);
        assert_eq!(census.below(getpid().as_raw()).len(), 1);
        assert!(census.tasks() >= 1);
    }

    #[test]
    fn room_is_counted_again_only_when_it_may_have_run_out() {
        let room = |limit| Room { limit: Some(limit), ..Room::of_namespace() };
        assert!(room(1).is_crowded());
        let mut room = room(1 << 40);
        assert!(!room.is_crowded());
        let counted = room.counted;
        assert!(counted.is_some() && !room.is_crowded());
        assert_eq!(room.counted, counted);
        assert!(!Room::boundless().is_crowded());
    }
}
