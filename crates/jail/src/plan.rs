//! Confinement as a list: everything that will be done to the process, in order.
//!
//! The list can be printed, compared in a test, kept in the record and sent to the process that
//! applies it. It holds no secrets.

use serde::{Deserialize, Serialize};
use std::{
    fmt,
    path::{Path, PathBuf},
};

/// All steps, in order. The last one executes the program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Plan(pub Vec<Step>);

/// One thing done to the process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Leave the terminal: no signals from its keys, no way to type into it.
    NewSession,
    /// Enter new namespaces of these kinds.
    Unshare(Vec<Namespace>),
    /// Show one outside user and group as another one inside the user namespace.
    MapIds {
        /// The number of the user inside.
        inside: u32,
        /// The number of the user outside.
        outside: u32,
        /// The number of the group inside.
        inside_group: u32,
        /// The number of the group outside.
        outside_group: u32,
    },
    /// Get ready to show files of user and group 0 as this user's and group's: for
    /// [`Owner::Mapped`].
    MapOwner {
        /// The user that root's files are shown as.
        to: u32,
    },
    /// Go on as the first process of the new process namespace.
    Fork,
    /// Go on as a child of this process, which stays as its keeper: when the program or its stream
    /// ends, it ends whatever is left.
    Keep,
    /// Start a new root on an empty temporary file system; the old one is at `/old`.
    NewRoot,
    /// Make a folder, and those above it.
    Folder {
        /// Its path in the new root.
        at: PathBuf,
        /// Permission bits of the last one.
        mode: u32,
    },
    /// Make a symbolic link.
    Link {
        /// Its path in the new root.
        at: PathBuf,
        /// The path that it points to.
        to: PathBuf,
    },
    /// Write a small read-only file.
    File {
        /// Its path in the new root.
        at: PathBuf,
        /// Its content.
        text: String,
    },
    /// Mount an empty temporary file system.
    Temporary {
        /// Its path in the new root.
        at: PathBuf,
        /// How much it holds.
        bytes: u64,
        /// Permission bits of its root.
        mode: u32,
    },
    /// Show a path of the old root.
    Bind {
        /// Where it is in the old root.
        from: PathBuf,
        /// Where it is shown.
        to: PathBuf,
        /// The access to it.
        access: BindAccess,
        /// Whose its files are.
        owner: Owner,
    },
    /// Show a path of the old root read-only, cut off from outside: its sockets and pipes lead
    /// nowhere, and locks and watchers reach no further than the sandbox.
    Show {
        /// Where it is in the old root.
        from: PathBuf,
        /// Where it is shown.
        to: PathBuf,
        /// Whose its files are.
        owner: Owner,
    },
    /// Show a folder with its changes kept apart.
    Overlay {
        /// The folder, already in the new root.
        lower: PathBuf,
        /// Where changes land, already in the new root.
        upper: PathBuf,
        /// The kernel's own scratch folder beside it.
        work: PathBuf,
        /// Where it is shown.
        at: PathBuf,
    },
    /// Show a folder read-only, as an overlay of nothing but itself: so its sockets and pipes
    /// lead nowhere, which a plain bind would let through.
    Mirror {
        /// The folder, already in the new root.
        of: PathBuf,
        /// Where it is shown.
        at: PathBuf,
    },
    /// Keep a folder from being renamed, by mounting it on itself.
    Pin {
        /// The path in the new root.
        at: PathBuf,
    },
    /// Mount a process file system that shows this sandbox's processes alone.
    Processes {
        /// Its path in the new root.
        at: PathBuf,
    },
    /// Mount pseudo-terminals of the sandbox's own.
    Terminals {
        /// Its path in the new root.
        at: PathBuf,
    },
    /// Cover a path with something empty that cannot be read.
    Mask {
        /// The path in the new root.
        at: PathBuf,
    },
    /// Let nothing more be made in a mount, but in those below it.
    Seal {
        /// The path in the new root.
        at: PathBuf,
    },
    /// Take away a mount that was needed only on the way.
    Unmount {
        /// The path in the new root.
        at: PathBuf,
    },
    /// Let go of the old root and make the new one read-only.
    LeaveOldRoot,
    /// Give the machine this name.
    Hostname(String),
    /// Switch the loopback interface on.
    Loopback,
    /// Become an ordinary user for good.
    BecomeUser {
        /// The number of the user.
        user: u32,
        /// The group; all others are given up.
        group: u32,
    },
    /// Bound what may be used up.
    Limit {
        /// The resource that is limited.
        resource: Resource,
        /// The most that there may be.
        most: u64,
    },
    /// Bound what the kernel counts for a user, in this user namespace. The person's own share
    /// outside is larger, so something of it is always left to other programs.
    Quota {
        /// The thing that is counted.
        of: Quota,
        /// The most that there may be.
        most: u64,
    },
    /// Give up every capability, for this process and all it starts, and verify it.
    DropCapabilities,
    /// Take every capability out of what programs could ever give, before becoming another user.
    EmptyBoundingSet,
    /// Verify that there is no capability to give up.
    NoCapabilities,
    /// Never gain a privilege by executing a program.
    NoNewPrivileges,
    /// Change nothing but what is at and below these paths, whatever is mounted; keep signals and
    /// abstract sockets inside.
    Landlock {
        /// The paths, in the new root.
        writable: Vec<PathBuf>,
    },
    /// Reach no file but these, whatever is there; keep signals and abstract sockets inside.
    LandlockOnly {
        /// Folders and files that can be read and executed.
        readable: Vec<PathBuf>,
        /// Folders of which the names can be read, there and below, and nothing else.
        listable: Vec<PathBuf>,
        /// Folders and files that can be changed too.
        writable: Vec<PathBuf>,
        /// Device files that can be written.
        devices: Vec<PathBuf>,
        /// The treatment of TCP.
        tcp: Tcp,
    },
    /// Die when the process outside dies.
    DieWithParent,
    /// Refuse system calls, by a compiled filter. `refused` says which, for people. With a second
    /// form of it, what is refused is also told outside: standard input must be a socket then.
    Filter {
        /// The names of the refused calls.
        refused: Vec<String>,
        /// The instructions of the filter.
        program: Vec<u64>,
        /// The same in the form that reports; empty if nothing is reported.
        telling: Vec<u64>,
    },
    /// Ask the kernel whether this process has any right left, and go no further if it has.
    Verify,
    /// Become the program, with an empty environment.
    Execute {
        /// Its path in the new root.
        program: PathBuf,
        /// Its arguments, the first being its name.
        arguments: Vec<String>,
    },
}

/// A kind of namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Namespace {
    /// Users, groups and capabilities.
    User,
    /// The table of mounts.
    Mount,
    /// The numbers of processes.
    Process,
    /// Network interfaces and abstract sockets.
    Network,
    /// System V and POSIX message queues, semaphores, shared memory.
    Ipc,
    /// Host and domain name.
    Hostname,
    /// The tree of control groups.
    Cgroup,
}

/// The access to a bound path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BindAccess {
    /// Can be read, not changed.
    Read,
    /// Can be read and changed.
    Write,
    /// A device that may be used.
    Device,
}

/// Whose the files of a bound path are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    /// Whose they are outside.
    AsOutside,
    /// Root's files are shown as the sandbox user's, and files that it makes become root's.
    Mapped,
}

/// Landlock's treatment of TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tcp {
    /// Leaves it to others.
    Left,
    /// No port is bound or connected to.
    Refused,
}

/// Resources that the kernel counts for a user in a user namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quota {
    /// Descriptors that watch files.
    InotifyInstances,
    /// Files and folders that they watch.
    InotifyWatches,
    /// Namespaces, of each kind.
    Namespaces,
}

/// Resources with a limit for each process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// Private memory of a process.
    Memory,
    /// Processes and threads of the sandbox.
    Processes,
    /// The size of a file.
    FileSize,
    /// Open files of a process.
    OpenFiles,
    /// The size of a core dump.
    Core,
    /// Memory that is never swapped out.
    LockedMemory,
    /// Signals that wait to be taken.
    PendingSignals,
    /// Bytes in message queues.
    MessageQueues,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NewSession => f.write_str("leave the terminal"),
            Self::Unshare(namespaces) => {
                let names: Vec<_> = namespaces.iter().map(|one| one.word()).collect();
                write!(f, "enter new namespaces: {}", names.join(", "))
            }
            Self::MapIds { inside, outside, .. } => {
                write!(f, "show user {outside} as user {inside}")
            }
            Self::MapOwner { to } => write!(f, "get ready to show root's files as user {to}'s"),
            Self::Fork => f.write_str("go on as the first process of the namespace"),
            Self::Keep => f.write_str(
                "stay behind as a keeper that ends whatever is left, and go on in a child",
            ),
            Self::NewRoot => f.write_str("start a new, empty root"),
            Self::Folder { at, mode } => write!(f, "make folder {} ({mode:o})", at.display()),
            Self::Link { at, to } => write!(f, "link {} to {}", at.display(), to.display()),
            Self::File { at, .. } => write!(f, "write {}, read-only", at.display()),
            Self::Temporary { at, bytes, mode } => write!(
                f,
                "mount an empty temporary file system on {} ({mode:o}, at most {bytes} bytes)",
                at.display()
            ),
            Self::Bind { from, to, access, owner } => {
                let access = match access {
                    BindAccess::Read => "read-only",
                    BindAccess::Write => "writable",
                    BindAccess::Device => "as a device",
                };
                shown(f, from, to)?;
                write!(f, ", {access}{}", owner.words())
            }
            Self::Show { from, to, owner } => {
                shown(f, from, to)?;
                write!(f, ", read-only, without its sockets and pipes{}", owner.words())
            }
            Self::Overlay { at, .. } => {
                write!(f, "show {} with its changes kept apart", at.display())
            }
            Self::Mirror { at, .. } => {
                write!(f, "show {} read-only, without its sockets and pipes", at.display())
            }
            Self::Pin { at } => write!(f, "keep {} from being renamed", at.display()),
            Self::Processes { .. } | Self::Terminals { .. } => self.furniture(f),
            Self::Mask { at } => write!(f, "cover {}", at.display()),
            Self::Seal { at } => write!(f, "let nothing more be made in {}", at.display()),
            Self::Unmount { at } => write!(f, "take {} away", at.display()),
            Self::LeaveOldRoot => f.write_str("let go of the old root; make the new one read-only"),
            Self::Hostname(name) => write!(f, "call the machine `{name}`"),
            Self::Loopback => f.write_str("switch loopback on"),
            Self::BecomeUser { user, group } => {
                write!(f, "become user {user}, group {group}, for good")
            }
            Self::Limit { resource, most } => write!(f, "allow at most {most} {}", resource.word()),
            Self::Quota { of, most } => write!(f, "allow at most {most} {} in all", of.word()),
            Self::DropCapabilities => f.write_str("give up every capability, and verify it"),
            Self::EmptyBoundingSet => f.write_str("let no program ever give a capability"),
            Self::NoCapabilities => f.write_str("verify that there are no capabilities"),
            Self::NoNewPrivileges => f.write_str("never gain a privilege again"),
            Self::Landlock { writable } => {
                write!(f, "by Landlock, change nothing but {}", listed(writable))
            }
            Self::LandlockOnly { .. } => self.fence(f),
            Self::DieWithParent => f.write_str("die when the process outside dies"),
            Self::Filter { refused, .. } => {
                write!(f, "refuse {} system calls: {}", refused.len(), refused.join(", "))
            }
            Self::Verify => f.write_str("ask the kernel whether all of this holds"),
            Self::Execute { program, arguments } => {
                write!(f, "become {} {}", program.display(), arguments.join(" "))
            }
        }
    }
}

impl Step {
    /// The sandbox's own folders and devices.
    fn furniture(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Processes { at } = self {
            write!(f, "show the sandbox's own processes on {}", at.display())?;
        }
        if let Self::Terminals { at } = self {
            write!(f, "show pseudo-terminals of its own on {}", at.display())?;
        }
        Ok(())
    }

    /// The exceptions of [`Step::LandlockOnly`].
    fn fence(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::LandlockOnly { readable, listable, writable, devices, tcp } = self else {
            return Ok(());
        };
        write!(f, "by Landlock, read nothing but {}", listed(readable))?;
        if !listable.is_empty() {
            write!(f, "; of {} the names alone", listed(listable))?;
        }
        write!(f, "; change nothing but {}", listed(writable))?;
        write!(f, "; use no device but {}", listed(devices))?;
        match tcp {
            Tcp::Left => Ok(()),
            Tcp::Refused => f.write_str("; use no TCP port"),
        }
    }
}

fn shown(f: &mut fmt::Formatter<'_>, from: &Path, to: &Path) -> fmt::Result {
    write!(f, "show {}", from.display())?;
    if from == to { Ok(()) } else { write!(f, " on {}", to.display()) }
}

fn listed(paths: &[PathBuf]) -> String {
    let paths: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
    paths.join(", ")
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            writeln!(f, "{:3}. {step}", at + 1)?;
        }
        Ok(())
    }
}

impl Owner {
    fn words(self) -> &'static str {
        match self {
            Self::AsOutside => "",
            Self::Mapped => ", root's files as the sandbox user's",
        }
    }
}

impl Namespace {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Mount => "mount",
            Self::Process => "process",
            Self::Network => "network",
            Self::Ipc => "ipc",
            Self::Hostname => "hostname",
            Self::Cgroup => "cgroup",
        }
    }
}

impl Quota {
    /// The words for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::InotifyInstances => "watchers of files (inotify)",
            Self::InotifyWatches => "watched files (inotify)",
            Self::Namespaces => "new namespaces of each kind",
        }
    }
}

impl Resource {
    /// The words for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Memory => "bytes of memory a process",
            Self::Processes => "processes",
            Self::FileSize => "bytes a file",
            Self::OpenFiles => "open files a process",
            Self::Core => "bytes of core dump",
            Self::LockedMemory => "bytes of locked memory",
            Self::PendingSignals => "pending signals",
            Self::MessageQueues => "bytes in message queues",
        }
    }
}
