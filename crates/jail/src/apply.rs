//! Applies a plan to this process, step by step.
//!
//! Every step either does what it says or ends the whole attempt. Steps that confine verify what
//! they did where the kernel can be asked.

use crate::{
    JailFailure, Namespace, Plan, Quota, Resource, Step, keeper, landlock,
    mounts::{self, Mounts},
    notice,
    sys::{self, Forked},
    verify,
};
use rustix::{
    process::{self, Rlimit, Signal, WaitOptions},
    thread::{self, CapabilitySet, CapabilitySets, Gid, Uid},
};
use std::{io, os::unix::process::CommandExt, path::Path};

/// Applies a plan. Returns only on failure, and then the process must end.
pub(crate) fn apply(plan: &Plan) -> JailFailure {
    let mut mounts = Mounts::default();
    for step in &plan.0 {
        if let Err(cause) = one(step, &mut mounts) {
            return JailFailure::at(step, &cause);
        }
    }
    JailFailure {
        step: "execute the program".into(),
        errno: None,
        cause: "the plan names none".into(),
    }
}

fn one(step: &Step, mounts: &mut Mounts) -> io::Result<()> {
    match step {
        Step::NewSession => Ok(process::setsid().map(drop)?),
        Step::Unshare(namespaces) => {
            sys::unshare(namespaces.iter().map(|&one| flag(one)).fold(0, |all, one| all | one))
        }
        Step::MapIds { inside, outside, inside_group, outside_group } => {
            map_ids([*inside, *outside], [*inside_group, *outside_group])
        }
        Step::MapOwner { to } => mounts.prepare_owner(*to),
        Step::Fork => become_first(),
        Step::Keep => keeper::keep(),
        Step::NewRoot => mounts::new_root(),
        Step::Folder { at, mode } => mounts::folder(at, *mode),
        Step::Link { at, to } => {
            mounts::parents(at)?;
            std::os::unix::fs::symlink(to, at)
        }
        Step::File { at, text } => mounts::file(at, text),
        Step::Temporary { at, bytes, mode } => mounts::temporary(at, *bytes, *mode),
        Step::Bind { from, to, access, owner } => mounts.bind(from, to, *access, *owner),
        Step::Show { from, to, owner } => mounts.show(from, to, *owner),
        Step::Overlay { lower, upper, work, at } => mounts::overlay(lower, upper, work, at),
        Step::Mirror { of, at } => mounts::mirror(of, at),
        Step::Pin { at } => mounts::pin(at),
        Step::Processes { at } => mounts::processes(at),
        Step::Terminals { at } => mounts::terminals(at),
        Step::Mask { at } => mounts::mask(at),
        Step::Seal { at } => mounts::seal(at),
        Step::Unmount { at } => mounts::unmount(at),
        Step::LeaveOldRoot => mounts::leave_old_root(),
        Step::Hostname(name) => Ok(rustix::system::sethostname(name.as_bytes())?),
        Step::Loopback => sys::interface_up("lo"),
        Step::BecomeUser { user, group } => become_user(*user, *group),
        Step::Limit { resource, most } => limit(*resource, *most),
        Step::Quota { of, most } => quota(*of, *most),
        Step::DropCapabilities => drop_capabilities(),
        Step::EmptyBoundingSet => empty_bounding_set(),
        Step::NoCapabilities => verified(
            thread::capabilities(None)? == no_capabilities(),
            "there are capabilities, and no right to give them up",
        ),
        Step::NoNewPrivileges => {
            thread::set_no_new_privs(true)?;
            verified(thread::no_new_privs()?, "the kernel did not keep the setting")
        }
        Step::Landlock { writable } => landlock::confine(writable),
        Step::LandlockOnly { readable, listable, writable, devices, tcp } => {
            landlock::Places { readable, listable, writable, devices }.confine(*tcp)
        }
        Step::DieWithParent => Ok(process::set_parent_process_death_signal(Some(Signal::KILL))?),
        Step::Filter { program, telling, .. } if telling.is_empty() => sys::install_filter(program),
        Step::Filter { program, telling, .. } => notice::install(program, telling),
        Step::Verify => verify::verify(),
        Step::Execute { program, arguments } => Err(execute(program, arguments)),
    }
}

fn flag(namespace: Namespace) -> libc::c_int {
    match namespace {
        Namespace::User => libc::CLONE_NEWUSER,
        Namespace::Mount => libc::CLONE_NEWNS,
        Namespace::Process => libc::CLONE_NEWPID,
        Namespace::Network => libc::CLONE_NEWNET,
        Namespace::Ipc => libc::CLONE_NEWIPC,
        Namespace::Hostname => libc::CLONE_NEWUTS,
        Namespace::Cgroup => libc::CLONE_NEWCGROUP,
    }
}

fn verified(holds: bool, otherwise: &str) -> io::Result<()> {
    if holds { Ok(()) } else { Err(io::Error::other(otherwise.to_owned())) }
}

fn map_ids(user: [u32; 2], group: [u32; 2]) -> io::Result<()> {
    // Changing the user has made the process unreadable to itself, its own maps included.
    process::set_dumpable_behavior(process::DumpableBehavior::Dumpable)?;
    write("/proc/self/setgroups", "deny")?;
    write("/proc/self/uid_map", &format!("{} {} 1", user[0], user[1]))?;
    write("/proc/self/gid_map", &format!("{} {} 1", group[0], group[1]))
}

fn write(path: &str, text: &str) -> io::Result<()> {
    let file = std::fs::OpenOptions::new().write(true).open(path)?;
    io::Write::write_all(&mut &file, text.as_bytes())
}

/// The new process namespace begins with the next child. The old process stays as its keeper: it
/// holds nothing open but standard error, and ends when the child does.
fn become_first() -> io::Result<()> {
    // Before the fork: the child changes the root of both, and may be faster.
    let nothing = std::fs::File::open("/dev/null")?;
    match sys::fork()? {
        Forked::Child => Ok(()),
        Forked::Parent(child) => {
            process::set_parent_process_death_signal(Some(Signal::KILL))?;
            // Otherwise the stream would not end when the program inside does.
            rustix::stdio::dup2_stdin(&nothing)?;
            rustix::stdio::dup2_stdout(&nothing)?;
            loop {
                match process::waitpid(Some(child), WaitOptions::empty()) {
                    Ok(Some((_, status))) => {
                        let status = status
                            .exit_status()
                            .or_else(|| status.terminating_signal().map(|signal| 128 + signal));
                        sys::exit_now(status.unwrap_or(1));
                    }
                    Ok(None) | Err(rustix::io::Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
    }
}

fn become_user(user: u32, group: u32) -> io::Result<()> {
    let (user, group) = (Uid::from_raw(user), Gid::from_raw(group));
    thread::set_thread_groups(&[])?;
    thread::set_thread_res_gid(group, group, group)?;
    thread::set_thread_res_uid(user, user, user)?;
    verified(
        process::getuid() == user && process::geteuid() == user && process::getegid() == group,
        "the kernel kept another user",
    )
}

fn limit(resource: Resource, most: u64) -> io::Result<()> {
    let resource = match resource {
        // Not the address space: Node and others reserve far more of it than they use.
        Resource::Memory => process::Resource::Data,
        Resource::Processes => process::Resource::Nproc,
        Resource::FileSize => process::Resource::Fsize,
        Resource::OpenFiles => process::Resource::Nofile,
        Resource::Core => process::Resource::Core,
        Resource::LockedMemory => process::Resource::Memlock,
        Resource::PendingSignals => process::Resource::Sigpending,
        Resource::MessageQueues => process::Resource::Msgqueue,
    };
    // A hard limit can only be lowered.
    let most = process::getrlimit(resource).maximum.map_or(most, |hard| hard.min(most));
    Ok(process::setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?)
}

/// The kernel's files are those of the user namespace that this process is in now.
fn quota(of: Quota, most: u64) -> io::Result<()> {
    let names: &[&str] = match of {
        Quota::InotifyInstances => &["inotify_instances"],
        Quota::InotifyWatches => &["inotify_watches"],
        Quota::Namespaces => &[
            "user_namespaces",
            "mnt_namespaces",
            "pid_namespaces",
            "net_namespaces",
            "ipc_namespaces",
            "uts_namespaces",
            "cgroup_namespaces",
            "time_namespaces",
        ],
    };
    for name in names {
        match write(&format!("/proc/sys/user/max_{name}"), &most.to_string()) {
            // The kernel has no such thing, and so nothing to use up.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            written => written?,
        }
    }
    Ok(())
}

fn drop_capabilities() -> io::Result<()> {
    thread::clear_ambient_capability_set()?;
    empty_bounding_set()?;
    let none = no_capabilities();
    thread::set_capabilities(None, none)?;
    verified(thread::capabilities(None)? == none, "capabilities are left")
}

fn empty_bounding_set() -> io::Result<()> {
    for capability in CapabilitySet::all() {
        match thread::remove_capability_from_bounding_set(capability) {
            // The kernel is older than our list and does not know this one.
            Ok(()) | Err(rustix::io::Errno::INVAL) => {}
            Err(error) => return Err(error.into()),
        }
    }
    verified(
        CapabilitySet::all()
            .iter()
            .all(|one| !thread::capability_is_in_bounding_set(one).unwrap_or(false)),
        "capabilities are left in the bounding set",
    )
}

fn no_capabilities() -> CapabilitySets {
    CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    }
}

fn execute(program: &Path, arguments: &[String]) -> io::Error {
    #[expect(clippy::disallowed_methods, reason = "replaces this process; starts no other")]
    let mut command = std::process::Command::new(program);
    if let Some((name, rest)) = arguments.split_first() {
        command.arg0(name).args(rest);
    }
    command.env_clear().exec()
}
