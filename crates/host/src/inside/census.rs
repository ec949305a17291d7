//! The processes inside, read from `/proc`: whose children they are, and how much they use.
//!
//! # Limits
//! `/proc` is read one process after another, so the picture is of no single moment. Processes
//! come in the order of their numbers, which is that of their birth until the numbers begin
//! again: a parent is read before its child. Time of a child that is buried in between is then
//! missed, and counted the next time, rather than counted twice.
//!
//! A process that ignores SIGCHLD buries its children without taking over their times: nobody
//! counts them any more.

use rustix::{
    param::clock_ticks_per_second,
    process::{Pid, Resource, getpid, getrlimit},
};
use std::{
    collections::{HashMap, HashSet},
    fs::{self, File},
    io::Read,
    os::unix::fs::FileExt,
};

/// A process, alive or dead and not buried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Process {
    pid: i32,
    parent: i32,
    is_alive: bool,
    /// Processor time of its own, in ticks.
    own: u64,
    /// Processor time of its children that are dead and buried, and of theirs.
    buried: u64,
    threads: u64,
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
        let mut next = vec![ancestor.as_raw_pid()];
        while let Some(parent) = next.pop() {
            for born in children.remove(&parent).unwrap_or_default() {
                let Some(pid) = Pid::from_raw(born.pid).filter(|pid| !spared.contains(pid)) else {
                    continue;
                };
                next.push(born.pid);
                if born.is_alive {
                    found.push(pid);
                }
            }
        }
        found
    }

    /// Whether one is a child of another.
    pub(crate) fn is_child(&self, parent: Pid, child: Pid) -> bool {
        let (parent, child) = (parent.as_raw_pid(), child.as_raw_pid());
        self.0.iter().any(|process| (process.pid, process.parent) == (child, parent))
    }

    /// Milliseconds of processor time that everything below this process has used, alive or not.
    pub(crate) fn used(&self) -> u64 {
        let us = getpid().as_raw_pid();
        let below: HashSet<_> = self.below(us);
        let ticks: u64 = self
            .0
            .iter()
            .map(|process| match process.pid {
                // Our own use counts against nobody inside.
                pid if pid == us => process.buried,
                pid if below.contains(&pid) => process.own + process.buried,
                _ => 0,
            })
            .sum();
        ticks * 1_000 / clock_ticks_per_second().max(1)
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

/// Whether a process is there and not dead.
pub(crate) fn is_alive(pid: Pid) -> bool {
    read(pid.as_raw_pid()).is_some_and(|process| process.is_alive)
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
        is_alive: !matches!(*fields.first()?, "Z" | "X"),
        parent: fields.get(1)?.parse().ok()?,
        own: number(11)? + number(12)?,
        buried: number(13)? + number(14)?,
        threads: number(17)?,
    })
}

/// Whether there is room for another process, told without looking at all of them each time.
#[derive(Debug)]
pub(crate) struct Room {
    /// The limit on processes and threads, or `None` if the kernel does not count them for this
    /// sandbox alone.
    limit: Option<u64>,
    /// How many there were when they were last counted, and the number born last then.
    counted: Option<(u64, u64)>,
    /// Where the system says which number it gave last. Held open: this is asked for every cell.
    numbers: Option<File>,
}

impl Room {
    /// Room that never runs out.
    pub(crate) fn boundless() -> Self {
        Self { limit: None, counted: None, numbers: None }
    }

    /// The room that all processes of this namespace have together: `most`, or what the limit of
    /// this process says if that is less.
    pub(crate) fn of_namespace(most: Option<u64>) -> Self {
        let limit = getrlimit(Resource::Nproc).current.into_iter().chain(most).min();
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
    use rustix::process::getppid;

    #[test]
    fn we_descend_from_our_parent_unless_it_is_spared() {
        let census = Census::take();
        let parent = getppid().unwrap();
        assert!(census.descendants(parent, &[]).contains(&getpid()));
        assert!(!census.descendants(parent, &[getpid()]).contains(&getpid()));
        assert!(!census.descendants(getpid(), &[]).contains(&getpid()));
    }

    #[test]
    fn a_name_cannot_pass_for_a_field() {
        let line = b"7 (a) Z 1 (b)) S 3 7 7 0 -1 4194304 1 2 3 4 10 20 30 40 20 0 5 0 99 0 0";
        let process = parse(7, line).unwrap();
        assert_eq!((process.parent, process.is_alive), (3, true));
        assert_eq!((process.own, process.buried, process.threads), (30, 70, 5));
    }

    #[test]
    fn what_is_below_us_uses_no_time_when_there_is_nothing() {
        // Threads of this test program are no processes of their own.
        let census = Census(vec![read(getpid().as_raw_pid()).unwrap()]);
        assert_eq!(census.below(getpid().as_raw_pid()).len(), 1);
        assert!(census.tasks() >= 1);
    }

    #[test]
    fn room_is_counted_again_only_when_it_may_have_run_out() {
        let room = |limit| Room { limit: Some(limit), ..Room::of_namespace(None) };
        assert!(room(1).is_crowded());
        let mut room = room(1 << 40);
        assert!(!room.is_crowded());
        let counted = room.counted;
        assert!(counted.is_some() && !room.is_crowded());
        assert_eq!(room.counted, counted);
        assert!(!Room::boundless().is_crowded());
        // A lower bound from outside counts.
        assert!(Room::of_namespace(Some(1)).is_crowded());
    }
}
