//! The properties of this machine and process that a sandbox depends on.

use super::cgroup::Groups;
use crate::interpreters::SYSTEM;
use interpreter_core::{surroundings::Seen, system_users::SHARED_USER};
use rustix::thread::CapabilitySet;
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

/// Facts about the machine and the process, gathered once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Our own binary.
    pub program: PathBuf,
    /// The person's home, where the client of a container engine finds its images.
    pub home: Option<PathBuf>,
    /// The user we run as.
    pub user: u32,
    /// The group we run as.
    pub group: u32,
    /// The user that root's code becomes, if it has one of its own.
    pub own_user: Option<u32>,
    /// Our privileges.
    pub rights: Rights,
    /// The system's folders and links, as they are.
    pub system: Vec<SystemPath>,
    /// Where something is mounted below the system's folders.
    pub mounted: Vec<PathBuf>,
    /// The version of Landlock that the kernel has, if it has it.
    pub landlock: Option<u32>,
    /// Where control groups can be made.
    pub groups: Groups,
    /// A private folder of ours, for what sandboxes without mounts need. It need not be there.
    pub scratch: PathBuf,
    /// Limits on a user's file watchers.
    pub inotify: Inotify,
    /// How long a start may take here.
    pub patience: Patience,
}

/// How long the parts of a start may take before it is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// For an engine to start our binary. Without rights it copies the whole image first, once.
    pub meeting: Duration,
    /// For an interpreter to be ready.
    pub ready: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { meeting: Duration::from_mins(5), ready: Duration::from_mins(2) }
    }
}

/// How much a user may watch by inotify.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inotify {
    /// Descriptors.
    pub instances: u64,
    /// Files and folders.
    pub watches: u64,
}

impl Inotify {
    /// The kernel's values, or its defaults if they cannot be read.
    fn look() -> Self {
        let read = |name: &str| {
            let text = fs_err::read_to_string(format!("/proc/sys/fs/inotify/max_user_{name}"));
            text.ok()?.trim().parse().ok()
        };
        Self {
            instances: read("instances").unwrap_or(128),
            watches: read("watches").unwrap_or(8192),
        }
    }
}

/// The privileges of the process on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// An ordinary user.
    Ordinary,
    /// Root with its usual capabilities: the sandbox becomes an ordinary user.
    Root,
    /// Root that can become another user and not much else, as in most containers.
    RootWithoutMounts,
    /// The user is called root but cannot become anybody else.
    RootInName,
}

/// One of the system's folders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SystemPath {
    /// A folder.
    Folder(PathBuf),
    /// A link and where it points.
    Link(PathBuf, PathBuf),
}

impl Machine {
    /// Looks at the machine. `program` is our own binary, `scratch` a private folder of ours.
    pub fn look(program: PathBuf, scratch: PathBuf, home: Option<PathBuf>) -> Self {
        let system: Vec<_> =
            SYSTEM.iter().filter_map(|path| system_path(Path::new(path))).collect();
        let mounts = fs_err::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        Self {
            mounted: mounted_below(&system, &mounts),
            program,
            home,
            user: rustix::process::geteuid().as_raw(),
            group: rustix::process::getegid().as_raw(),
            own_user: None,
            rights: rights(),
            landlock: interpreter_jail::landlock_version(),
            groups: Groups::look(),
            scratch,
            inotify: Inotify::look(),
            patience: Patience::default(),
            system,
        }
    }
}

impl Machine {
    /// The user that root's code becomes, and its group.
    pub(super) fn code_user(&self) -> u32 {
        self.own_user.unwrap_or(SHARED_USER)
    }

    /// Begins what takes time before a sandbox can start, aside.
    pub fn get_ready(&self) {
        self.groups.get_ready();
    }
}

/// System files that show possible obstacles to a sandbox.
pub fn surroundings(machine: &Machine) -> Seen {
    let read = |path: &str| fs_err::read_to_string(path).ok();
    let is_there = |path: &str| Path::new(path).exists();
    Seen {
        release: read("/proc/sys/kernel/osrelease").unwrap_or_default(),
        apparmor_restricts: read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
        apparmor_enabled: read("/sys/module/apparmor/parameters/enabled"),
        apparmor_label: read("/proc/self/attr/apparmor/current"),
        apparmor_profile: read("/etc/apparmor.d/interpreter"),
        selinux_enforces: read("/sys/fs/selinux/enforce"),
        label: read("/proc/self/attr/current"),
        clone_allowed: read("/proc/sys/kernel/unprivileged_userns_clone"),
        most_namespaces: read("/proc/sys/user/max_user_namespaces"),
        status: read("/proc/self/status").unwrap_or_default(),
        docker: is_there("/.dockerenv"),
        podman: is_there("/run/.containerenv"),
        modules: read("/sys/kernel/security/lsm"),
        landlock: machine.landlock,
        root: machine.user == 0,
    }
}

fn rights() -> Rights {
    let to_become = CapabilitySet::SETUID | CapabilitySet::SETGID | CapabilitySet::SETPCAP;
    let needed = to_become | CapabilitySet::SYS_ADMIN | CapabilitySet::NET_ADMIN;
    let held = rustix::thread::capabilities(None).map(|sets| sets.effective);
    match (rustix::process::geteuid().is_root(), held) {
        (true, Ok(held)) if held.contains(needed) => Rights::Root,
        (true, Ok(held)) if held.contains(to_become) => Rights::RootWithoutMounts,
        (true, _) => Rights::RootInName,
        (false, _) => Rights::Ordinary,
    }
}

fn system_path(path: &Path) -> Option<SystemPath> {
    let metadata = fs_err::symlink_metadata(path).ok()?;
    if metadata.is_symlink() {
        let target = fs_err::read_link(path).ok()?;
        Some(SystemPath::Link(path.into(), target))
    } else {
        metadata.is_dir().then(|| SystemPath::Folder(path.into()))
    }
}

/// Where something is mounted below folders, as the kernel writes it.
fn mounted_below(folders: &[SystemPath], mounts: &str) -> Vec<PathBuf> {
    let points = mounts.lines().filter_map(|line| line.split(' ').nth(4)).map(PathBuf::from);
    let is_below = |point: &PathBuf| {
        folders.iter().any(|folder| match folder {
            SystemPath::Folder(folder) => point.starts_with(folder) && point != folder,
            SystemPath::Link(..) => false,
        })
    };
    points.filter(is_below).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_below_the_systems_folders_are_known_and_others_do_not_count() {
        let system = [SystemPath::Folder("/etc".into()), SystemPath::Folder("/usr".into())];
        let line = |at: &str| format!("22 1 0:21 / {at} rw - ext4 /dev/vda rw\n");
        let mounts = ["/", "/usr", "/etc/hosts", "/home", "/usr/local"].map(line).concat();
        let below = mounted_below(&system, &mounts);
        assert_eq!(below, ["/etc/hosts", "/usr/local"].map(PathBuf::from));
    }
}
