//! Control groups: bounds for all processes of a sandbox together, where available.
//!
//! # Threat
//! Many processes that are each within their own limit; shared memory, which no process's limit
//! counts; forks that are faster than they can be killed.
//!
//! # Mechanism
//! The sandbox's first process is put into a separate group before it reads its plan, so that
//! everything it starts is in it too. Version 2 of control groups is used if the person's own part
//! of the tree is delegated to them, as systemd does it: a group is made in the nearest group above
//! ours that allows it and passes the controllers on. For root there is version 1 besides. The
//! kernel's counts are evidence of why a process ended. A group of version 2, with or without
//! controllers, can also be paused as a whole for a moment, so that its files can be examined.
//!
//! # Order
//! Bounds are written before the process is put in. The group is removed after everything in it
//! is dead; one that was left behind by a crash is removed by the next session.
//!
//! # Limits
//! Without delegation there is no group, and then memory is bounded for each process alone.
//! Nothing inside sees the groups: no part of them is mounted there.

use self::mounts::{group_in, mounts};
use interpreter_core::Limits;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};
use std::{
    fs::File,
    io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

/// The name of our groups, before the number of the process that made them.
const NAME: &str = "interpreter-";

/// Bytes beyond the limit of one process: for our own, and for the files that it reads. So a
/// single process that wants too much meets its own limit first, which it can tell its code of.
const ROOM: u64 = 128 << 20;

/// Processes of ours in the sandbox.
const OURS: u64 = 4;

/// The file by which a group is stopped, and the longest time that this may take.
const FREEZE: &str = "cgroup.freeze";
const FREEZING: Duration = Duration::from_secs(1);

/// Bytes of a file of counts; they hold some ten short lines.
const COUNTS: usize = 1024;

/// A group of version 2, or one group for each controller of version 1.
#[derive(Debug)]
pub(crate) struct Group {
    memory: PathBuf,
    processes: PathBuf,
    version: Version,
    /// Where the kernel counts whom it killed for memory. Asked after each run, so it stays open.
    kills: OnceLock<File>,
    /// Where the kernel counts the processes. Asked before each run.
    count: OnceLock<File>,
    /// How many there may be.
    most: u64,
    /// A group of version 2 with the same processes, which can all be stopped at once.
    freezer: Option<PathBuf>,
}

/// Everything in a group, stopped until this is dropped.
#[derive(Debug)]
pub(crate) struct Frozen(PathBuf);

impl Drop for Frozen {
    fn drop(&mut self) {
        // A failed write means that the group is gone, and with it every paused process.
        drop(fs_err::write(self.0.join(FREEZE), "0"));
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// Where the kernel shows its groups, and ours among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    /// Our own group of version 2, below which or beside which others can be made.
    own: Option<PathBuf>,
    /// The mount that `own` is in.
    top: PathBuf,
    /// Our own groups of version 1, by controller.
    memory: Option<PathBuf>,
    processes: Option<PathBuf>,
}

impl Groups {
    /// Looks at this process's own groups.
    pub(crate) fn look() -> Self {
        let read = |path: &str| fs_err::read_to_string(path).unwrap_or_default();
        Self::parse(&read("/proc/self/mountinfo"), &read("/proc/self/cgroup"))
    }

    fn parse(mountinfo: &str, groups: &str) -> Self {
        let mut found = Self::default();
        for mount in mounts(mountinfo) {
            let own = |controller: &str| own_group(groups, controller, mount.root, mount.at);
            match mount.kind {
                "cgroup2" => (found.own, found.top) = (own(""), mount.at.into()),
                "cgroup" if mount.has("memory") => found.memory = own("memory"),
                "cgroup" if mount.has("pids") => found.processes = own("pids"),
                _ => {}
            }
        }
        found
    }

    /// Has the kernel get ready to put a process into a group. The first such move after a while
    /// waits for all processors to have passed a certain point, which takes ten milliseconds and
    /// more; the next ones do not. So this process is put where it is already, aside, while
    /// settings are read and interpreters are found.
    pub(crate) fn get_ready(&self) {
        let Some(own) = self.memory.clone().or_else(|| self.own.clone()) else { return };
        std::thread::spawn(move || {
            // Where it is refused nothing is lost but time.
            drop(fs_err::write(own.join("cgroup.procs"), std::process::id().to_string()));
        });
    }

    /// Makes a group with these bounds, or explains why none is available.
    pub(crate) fn make(&self, limits: &Limits) -> Result<Group, String> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{NAME}{}-{number}", std::process::id());
        self.make_two(&name, limits).or_else(|two| match (&self.memory, &self.processes) {
            (Some(memory), Some(processes)) => {
                let group = Group::one(memory, processes, &name, limits);
                let mut group = group.map_err(|error| error.to_string())?;
                group.freezer = self.own.as_deref().and_then(|own| make_freezer(own, &name));
                Ok(group)
            }
            _ => Err(two),
        })
    }

    /// A group of version 2, in the nearest place that lets us.
    fn make_two(&self, name: &str, limits: &Limits) -> Result<Group, String> {
        let none = "no control group is delegated to you; with systemd, start the program by \
                    `systemd-run --user --scope -p Delegate=yes`";
        let own = self.own.as_deref().ok_or(none)?;
        let above = own.ancestors().take_while(|path| path.starts_with(&self.top));
        for parent in above {
            sweep(parent);
            let at = parent.join(name);
            if fs_err::create_dir(&at).is_err() {
                continue;
            }
            let group = Group::at(at.clone(), at, Version::Two, limits);
            // Without the controllers these files are not there.
            if group.bound(limits).is_ok() {
                return Ok(group);
            }
        }
        Err(none.into())
    }
}

/// A group of version 2 without any controller, beside those of version 1. The freezer of version 1
/// does for nothing: what it has stopped cannot be killed, and would outlive a session that is.
fn make_freezer(own: &Path, name: &str) -> Option<PathBuf> {
    sweep(own);
    let at = own.join(name);
    fs_err::create_dir(&at).ok()?;
    if at.join(FREEZE).exists() {
        return Some(at);
    }
    drop(fs_err::remove_dir(&at));
    None
}

/// Our own group in the hierarchy of a controller, as a path that can be opened.
fn own_group(groups: &str, controller: &str, root: &str, at: &str) -> Option<PathBuf> {
    let path = group_in(groups, controller)?;
    // In a container the mount begins at a group and not at the top.
    let below = path.strip_prefix(root).unwrap_or_else(|_| Path::new(""));
    (!below.components().any(|part| part == std::path::Component::ParentDir))
        .then(|| Path::new(at).join(below))
}

/// Removes groups of sessions that have crashed. One that is in use cannot be removed.
fn sweep(parent: &Path) {
    let Ok(entries) = fs_err::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.strip_prefix(NAME)?.split('-').next());
        let gone = |process: &str| !Path::new("/proc").join(process).exists();
        if owner.is_some_and(gone) {
            // Its processes may still be dying; then the next session removes it.
            drop(fs_err::remove_dir(entry.path()));
        }
    }
}

impl Group {
    fn at(memory: PathBuf, processes: PathBuf, version: Version, limits: &Limits) -> Self {
        let most = limits.processes.saturating_add(OURS);
        let (kills, count) = (OnceLock::new(), OnceLock::new());
        let freezer = (version == Version::Two).then(|| memory.clone());
        Self { memory, processes, version, kills, count, most, freezer }
    }

    fn one(memory: &Path, processes: &Path, name: &str, limits: &Limits) -> io::Result<Self> {
        for parent in [memory, processes] {
            sweep(parent);
        }
        let group = Self::at(memory.join(name), processes.join(name), Version::One, limits);
        fs_err::create_dir(&group.memory)?;
        fs_err::create_dir(&group.processes)?;
        group.bound(limits)?;
        Ok(group)
    }

    fn bound(&self, limits: &Limits) -> io::Result<()> {
        let bytes = limits.memory_bytes.saturating_add(ROOM).to_string();
        fs_err::write(self.processes.join("pids.max"), self.most.to_string())?;
        match self.version {
            Version::Two => {
                fs_err::write(self.memory.join("memory.max"), &bytes)?;
                // Where there is no swap there is no such file.
                drop(fs_err::write(self.memory.join("memory.swap.max"), "0"));
            }
            Version::One => {
                fs_err::write(self.memory.join("memory.limit_in_bytes"), &bytes)?;
                drop(fs_err::write(self.memory.join("memory.memsw.limit_in_bytes"), &bytes));
            }
        }
        Ok(())
    }

    /// Puts a process, and all it will start, into the group.
    pub(crate) fn add(&self, process: u32) -> io::Result<()> {
        fs_err::write(self.memory.join("cgroup.procs"), process.to_string())?;
        if self.version == Version::One {
            fs_err::write(self.processes.join("cgroup.procs"), process.to_string())?;
            if let Some(freezer) = &self.freezer {
                // Without it a session works as well; a snapshot is then taken file by file.
                drop(fs_err::write(freezer.join("cgroup.procs"), process.to_string()));
            }
        }
        Ok(())
    }

    /// Pauses everything in the group, and waits until that is done. `None` if the kernel cannot.
    pub(crate) fn freeze(&self) -> Option<Frozen> {
        let freezer = self.freezer.as_ref()?;
        let events = File::open(freezer.join("cgroup.events")).ok()?;
        fs_err::write(freezer.join(FREEZE), "1").ok()?;
        let frozen = Frozen(freezer.clone());
        let until = Instant::now() + FREEZING;
        // The kernel wakes whoever waits for this file when what it says changes. A process that
        // waits for a disk may take longer, and writes nothing meanwhile.
        while !is_frozen(&events) {
            let left = until.checked_duration_since(Instant::now())?;
            let left = Timespec::try_from(left).ok()?;
            let mut waited = [PollFd::new(&events, PollFlags::PRI)];
            match poll(&mut waited, Some(&left)) {
                Ok(0) => return None,
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return None,
            }
        }
        Some(frozen)
    }

    /// How many processes the kernel has killed because the group's memory was used up.
    pub(crate) fn killed_for_memory(&self) -> u64 {
        let name = match self.version {
            Version::One => "memory.oom_control",
            Version::Two => "memory.events",
        };
        read(&self.kills, &self.memory.join(name), |text| count(text, "oom_kill")).unwrap_or(0)
    }

    /// Whether many more processes can be started. Where few can, it takes a closer look to know.
    pub(crate) fn has_room(&self) -> bool {
        let path = self.processes.join("pids.current");
        let now = read(&self.count, &path, |text| text.trim().parse::<u64>().ok()).flatten();
        now.is_some_and(|now| now < self.most / 2)
    }

    /// How many times a process could not be started because the group had enough.
    #[cfg(test)]
    fn refused_processes(&self) -> u64 {
        let text = fs_err::read_to_string(self.processes.join("pids.events"));
        count(&text.unwrap_or_default(), "max")
    }
}

impl Drop for Group {
    /// Kills what is left in the group, where the kernel can, and removes it.
    fn drop(&mut self) {
        // If something still dies in it, or was never there, the next session removes what is.
        if self.version == Version::Two {
            // Since Linux 5.14; before it the process namespace does the same.
            drop(fs_err::write(self.memory.join("cgroup.kill"), "1"));
        }
        drop(fs_err::remove_dir(&self.memory));
        if self.version == Version::One {
            drop(fs_err::remove_dir(&self.processes));
            drop(self.freezer.as_ref().map(fs_err::remove_dir));
        }
    }
}

/// The content of a file of counts, which is opened once.
fn read<T>(held: &OnceLock<File>, path: &Path, parse: impl FnOnce(&str) -> T) -> Option<T> {
    if held.get().is_none()
        && let Ok(file) = File::open(path)
    {
        // It is not set: nobody else has the group.
        _ = held.set(file);
    }
    let mut text = [0; COUNTS];
    let length = held.get()?.read_at(&mut text, 0).ok()?;
    Some(parse(str::from_utf8(&text[..length]).ok()?))
}

/// Whether everything in a group stands still.
fn is_frozen(events: &File) -> bool {
    let mut text = [0; COUNTS];
    let length = events.read_at(&mut text, 0).unwrap_or(0);
    str::from_utf8(&text[..length]).is_ok_and(|text| count(text, "frozen") == 1)
}

/// A number from lines of names and numbers.
fn count(text: &str, name: &str) -> u64 {
    let mut pairs = text.lines().filter_map(|line| line.split_once(' '));
    pairs.find(|(key, _)| *key == name).and_then(|(_, count)| count.parse().ok()).unwrap_or(0)
}

pub(super) mod mounts;

#[cfg(test)]
mod tests {
    use super::*;

    const SYSTEMD: &str = "\
30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot";
    const OLD: &str = "\
30 23 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
31 23 0:27 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids
32 23 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw";

    #[test]
    fn our_own_groups_are_found() {
        let groups =
            Groups::parse(SYSTEMD, "0::/user.slice/user-1000.slice/app.slice/term.scope\n");
        let own = "/sys/fs/cgroup/user.slice/user-1000.slice/app.slice/term.scope";
        assert_eq!(groups.own.as_deref(), Some(Path::new(own)));
        let groups = Groups::parse(OLD, "8:pids:/\n4:cpu,memory:/job/1\n0::/\n");
        assert_eq!(groups.memory.as_deref(), Some(Path::new("/sys/fs/cgroup/memory/job/1")));
        assert_eq!(groups.processes.as_deref(), Some(Path::new("/sys/fs/cgroup/pids")));
        assert_eq!(Groups::parse("", ""), Groups::default());
    }

    #[test]
    fn in_a_container_the_path_is_that_below_the_mount() {
        let mounts = "30 23 0:26 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup2 rw";
        let groups = Groups::parse(mounts, "0::/docker/abc/inner\n");
        assert_eq!(groups.own.as_deref(), Some(Path::new("/sys/fs/cgroup/inner")));
        let outside = Groups::parse(mounts, "0::/../other\n");
        assert_eq!(outside.own.as_deref(), Some(Path::new("/sys/fs/cgroup")));
    }

    #[test]
    fn without_delegation_the_reason_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().join("gone");
        let groups = Groups { own: Some(top.join("ours")), top, ..Groups::default() };
        let why = groups.make(&Limits::default()).unwrap_err();
        assert!(why.contains("delegated"), "{why}");
    }

    /// The kernel's files, played by a folder: what is written can be read.
    #[test]
    fn the_nearest_group_that_lets_us_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().to_owned();
        let own = top.join("a/b");
        fs_err::create_dir_all(&own).unwrap();
        let groups = Groups { own: Some(own.clone()), top, ..Groups::default() };
        let limits = Limits { memory_bytes: 1 << 20, processes: 7, ..Limits::default() };
        let group = groups.make(&limits).unwrap();
        assert_eq!(group.memory.parent(), Some(own.as_path()));
        let read = |name: &str| fs_err::read_to_string(group.memory.join(name)).unwrap();
        assert_eq!(
            (read("memory.max"), read("pids.max")),
            ((ROOM + (1 << 20)).to_string(), "11".into())
        );
        group.add(4711).unwrap();
        assert_eq!(read("cgroup.procs"), "4711");
        fs_err::write(group.memory.join("memory.events"), "low 0\noom 3\noom_kill 2\n").unwrap();
        assert_eq!((group.killed_for_memory(), group.refused_processes()), (2, 0));
    }

    #[test]
    fn where_root_has_version_one_the_kernel_bounds_what_is_put_in() {
        let groups = Groups::look();
        let limits = Limits { memory_bytes: 64 << 20, processes: 0, ..Limits::default() };
        let Ok(group) = groups.make(&limits) else { return };
        #[expect(clippy::disallowed_methods, reason = "a process to be bounded")]
        let mut shell = std::process::Command::new("/bin/sh")
            .args(["-c", "read go; sleep 9 & sleep 9 & sleep 9 & sleep 9 & wait"])
            .stdin(std::process::Stdio::piped())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        group.add(shell.id()).unwrap();
        drop(shell.stdin.take());
        // Of four sleepers only three fit beside the shell, which gives up.
        shell.wait().unwrap();
        assert!(group.refused_processes() > 0);
        let inside = fs_err::read_to_string(group.processes.join("cgroup.procs")).unwrap();
        for process in inside.lines() {
            let process = rustix::process::Pid::from_raw(process.parse().unwrap()).unwrap();
            _ = rustix::process::kill_process(process, rustix::process::Signal::KILL).is_ok();
        }
        drop(group);
    }

    #[test]
    fn what_is_frozen_stands_still_until_it_is_let_go() {
        let groups = Groups::look();
        let limits = Limits { memory_bytes: 64 << 20, processes: 8, ..Limits::default() };
        let Ok(group) = groups.make(&limits) else { return };
        if group.freezer.is_none() {
            return;
        }
        let place = tempfile::tempdir().unwrap();
        let counter = place.path().join("counter");
        #[expect(clippy::disallowed_methods, reason = "a process to be stopped")]
        let mut shell = std::process::Command::new("/bin/sh")
            .args(["-c", "read go; while :; do echo x >> counter; done"])
            .current_dir(place.path())
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        group.add(shell.id()).unwrap();
        drop(shell.stdin.take());
        let size = || fs_err::metadata(&counter).map_or(0, |data| data.len());
        let grows_past = |mark: u64| while size() <= mark {};
        grows_past(10);
        let frozen = group.freeze().unwrap();
        let before = size();
        for _ in 0..1_000 {
            std::thread::yield_now();
            assert_eq!(size(), before);
        }
        drop(frozen);
        grows_past(before);
        // A paused process can still be killed.
        let frozen = group.freeze().unwrap();
        shell.kill().unwrap();
        shell.wait().unwrap();
        drop(frozen);
    }
}
