//! The native Linux sandbox, as a plan.
//!
//! For an ordinary user the user namespace comes first, because it gives the right to make the
//! others. For root it comes last: mounts are made as root, root's files are shown as the
//! sandbox user's by an id-mapped mount, and then the process becomes a real unprivileged user.
//! A user namespace alone would not do: root shown as somebody else is still root to files.

use super::{
    machine::{Inotify, Machine, Rights, SystemPath},
    recipe::{Furniture, Protection, Recipe, Site, Staging},
    view::View,
};
use crate::{Cause, ExecError, Interpreters, egress::TRUSTED};
use interpreter_core::{Access as Reach, Backend, Confinement, Kept, Workspace};
use interpreter_jail::attack::ATTACK;
use interpreter_jail::{
    BindAccess, Filter, FilterError, FilterRule, Namespace, Owner, Plan, Quota, Resource, Step,
    rules,
};
use interpreter_jupyter::JUPYTER;
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

/// How our own sandbox confines code.
pub(super) static RECIPE: Recipe = Recipe {
    backend: Backend::named("native"),
    unasked: true,
    confines: true,
    keeps: |_| Kept::Yes,
    admits: |_, _| Ok(()),
    helper: None,
    staging: Staging::Overlay,
    has_door: true,
    own_system: false,
    furniture: Furniture::Planned,
    bounds_all: |_| false,
    plan,
    view: View::of,
    describe,
};

/// The user that the code sees itself as when we are root.
const SHOWN_USER: u32 = 1000;

/// Where our own binary stands inside.
pub(super) const HOST_PROGRAM: &str = "/run/interpreter/host";

/// Where the host meets the proxy.
pub(super) const DOOR: &str = interpreter_host::egress::SOCKET;

/// The person's folder as it is, for putting files back.
pub(crate) const LOWER: &str = "/run/interpreter/lower";

/// Where files of checkpoints are laid out for the host to copy back.
pub(crate) const BACK: &str = "/run/interpreter/back";
const SET: &str = "/run/interpreter/set";

/// The person's folder while the sandbox is built. Nothing inside ever sees it: a socket or a pipe
/// in it would lead to a process outside.
const RAW: &str = "/run/interpreter/raw";

/// Bytes of a covered folder in which something is shown: for the folders on the way.
const HOLLOW: u64 = 64 << 10;

const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// The steps that enforce a confinement on this machine. Without the folder of a change set, a
/// staged workspace is shown read-only. Without a door there is no way out at all.
fn plan(site: &Site<'_>) -> Result<Plan, ExecError> {
    let Site { confinement, stage, door, machine, .. } = *site;
    check_work_folder(confinement)?;
    let others = vec![
        Namespace::Mount,
        Namespace::Process,
        Namespace::Network,
        Namespace::Ipc,
        Namespace::Hostname,
        Namespace::Cgroup,
    ];
    let user = Step::Unshare(vec![Namespace::User]);
    let code = machine.code_user();
    let (mut steps, owner, last) = match machine.rights {
        Rights::Ordinary => {
            let ids = map_ids([machine.user; 2], [machine.group; 2]);
            (vec![user, ids, Step::Unshare(others), Step::Fork], Owner::AsOutside, vec![])
        }
        Rights::Root => (
            vec![Step::MapOwner { to: code }, Step::Unshare(others), Step::Fork],
            Owner::Mapped,
            vec![
                Step::BecomeUser { user: code, group: code },
                user,
                map_ids([SHOWN_USER, code], [SHOWN_USER, code]),
            ],
        ),
        Rights::RootWithoutMounts => {
            return Err(no_root("this process is root without the right to make mounts"));
        }
        Rights::RootInName => {
            return Err(no_root("this process is root without the right to become another user"));
        }
    };
    steps.insert(0, Step::NewSession);
    steps.push(Step::NewRoot);
    steps.extend(system(machine));
    steps.extend(furniture(confinement, machine));
    let shown = |from: &Path, to: &str| bind(from, to, BindAccess::Read, Owner::AsOutside);
    steps.extend(door.map(|door| shown(door.socket, DOOR)));
    steps.extend(door.and_then(|door| door.trusted).map(|from| shown(from, TRUSTED)));
    steps.extend(reachable(confinement, owner));
    steps.extend(work_folder(confinement, stage, owner));
    steps.extend(pins(confinement));
    steps.extend(masks(confinement, owner));
    for step in &mut steps {
        keep_packages_current(step, confinement);
    }
    steps.extend([Step::LeaveOldRoot, Step::Hostname("sandbox".into()), Step::Loopback]);
    steps.extend(last);
    steps.extend(quotas(machine));
    steps.extend(limits(confinement));
    become_host(steps, Step::DropCapabilities, site)
}

/// The last steps of every plan with a root of its own, in the one order that holds: capabilities,
/// Landlock, the filter, a look at all of it, and only then the host.
pub(super) fn become_host(
    mut steps: Vec<Step>,
    capabilities: Step,
    site: &Site<'_>,
) -> Result<Plan, ExecError> {
    for step in &mut steps {
        leave_the_host_more(step);
    }
    steps.extend([capabilities, Step::NoNewPrivileges]);
    if site.machine.landlock.is_some() {
        steps.push(Step::Landlock { writable: writable(site.confinement) });
    }
    steps.push(Step::DieWithParent);
    steps.extend([filter_of(rules(), site.recipe)?, Step::Verify]);
    steps.push(Step::Execute {
        program: HOST_PROGRAM.into(),
        arguments: vec![
            interpreter_host::HOST.into(),
            site.confinement.limits.processes.to_string(),
            site.confinement.limits.open_files.to_string(),
        ],
    });
    Ok(Plan(steps))
}

/// The host may have more open than the code that it starts, to which it gives the limit that is
/// meant.
fn leave_the_host_more(step: &mut Step) {
    if let Step::Limit { resource: Resource::OpenFiles, most } = step {
        *most = most.saturating_mul(2);
    }
}

fn no_root(reason: &str) -> ExecError {
    RECIPE.refuses(reason, Some(Cause::Root))
}

fn map_ids([inside, outside]: [u32; 2], [inside_group, outside_group]: [u32; 2]) -> Step {
    Step::MapIds { inside, outside, inside_group, outside_group }
}

pub(super) fn check_work_folder(confinement: &Confinement) -> Result<(), ExecError> {
    let folder = &confinement.work_folder;
    let refuse =
        |reason: &str| Err(ExecError::WorkFolder { folder: folder.clone(), reason: reason.into() });
    if !folder.is_absolute() {
        return refuse("its path is not absolute");
    }
    let holds_system = ["/usr", "/etc", "/proc", "/dev", "/sys", "/run/interpreter"]
        .iter()
        .any(|path| Path::new(path).starts_with(folder));
    if holds_system {
        return refuse("it holds the system");
    }
    let inside_kernel = ["/proc", "/dev", "/sys"].iter().any(|path| folder.starts_with(path));
    if inside_kernel {
        return refuse("it belongs to the kernel");
    }
    let denied = |above: &&Path| confinement.files.get(*above) == Some(&Reach::Deny);
    if let Some(place) = folder.ancestors().find(denied) {
        let place = place.display();
        return refuse(&format!("code may not see {place}"));
    }
    Ok(())
}

fn bind(
    from: impl Into<PathBuf>,
    to: impl Into<PathBuf>,
    access: BindAccess,
    owner: Owner,
) -> Step {
    Step::Bind { from: from.into(), to: to.into(), access, owner }
}

/// A path that is only read: nothing in it leads outside.
fn show(from: &Path, to: &Path, owner: Owner) -> Step {
    Step::Show { from: from.to_owned(), to: to.to_owned(), owner }
}

/// The system, read-only.
fn system(machine: &Machine) -> impl Iterator<Item = Step> {
    machine.system.iter().map(|path| match path {
        SystemPath::Folder(path) => show(path, path, Owner::AsOutside),
        SystemPath::Link(at, to) => Step::Link { at: at.clone(), to: to.clone() },
    })
}

/// The usual folders and devices.
fn furniture(confinement: &Confinement, machine: &Machine) -> Vec<Step> {
    let bytes = confinement.limits.temporary_bytes;
    let temporary = Path::new(confinement.temporary());
    let link = |at: &str, to: &str| Step::Link { at: at.into(), to: to.into() };
    let mut steps = vec![
        Step::Processes { at: "/proc".into() },
        Step::Temporary { at: temporary.to_owned(), bytes, mode: 0o1777 },
        Step::Folder { at: temporary.join("home"), mode: 0o777 },
        link("/var/run", "/run"),
        Step::Temporary { at: "/dev/shm".into(), bytes, mode: 0o1777 },
        Step::Terminals { at: "/dev/pts".into() },
        link("/dev/ptmx", "pts/ptmx"),
        link("/dev/fd", "/proc/self/fd"),
        link("/dev/stdin", "/proc/self/fd/0"),
        link("/dev/stdout", "/proc/self/fd/1"),
        link("/dev/stderr", "/proc/self/fd/2"),
        show(&machine.program, Path::new(HOST_PROGRAM), Owner::AsOutside),
        // The same program by other names.
        link(&format!("/run/interpreter/{JUPYTER}"), "host"),
        link(&format!("/run/interpreter/{ATTACK}"), "host"),
    ];
    if may_be_a_link(Path::new("/var/tmp"), confinement) {
        steps.push(Step::Link { at: "/var/tmp".into(), to: temporary.to_owned() });
    }
    steps.extend(DEVICES.map(|path| bind(path, path, BindAccess::Device, Owner::AsOutside)));
    steps
        .extend(Interpreters::drivers().map(|(at, text)| Step::File { at, text: text.to_owned() }));
    steps
}

/// Whether a path can be a link of ours: nothing is shown there or below it, which would be shown
/// where the link leads instead.
pub(super) fn may_be_a_link(path: &Path, confinement: &Confinement) -> bool {
    let mut shown = confinement.files.keys().chain([&confinement.work_folder]);
    !shown.any(|one| one.starts_with(path))
}

/// The listed paths, wider before narrower, but for those below something denied: they come after
/// what covers it.
fn reachable(confinement: &Confinement, owner: Owner) -> impl Iterator<Item = Step> {
    let open = confinement.files.keys().filter(|path| !is_below_denied(confinement, path));
    open.filter_map(move |path| shown(confinement, path, owner))
}

/// A listed path, or `None` if it is denied.
fn shown(confinement: &Confinement, path: &Path, owner: Owner) -> Option<Step> {
    let owner = if confinement.granted.contains(path) { owner } else { Owner::AsOutside };
    match confinement.files.get(path)? {
        Reach::Read => Some(show(path, path, owner)),
        Reach::Write => Some(bind(path, path, BindAccess::Write, owner)),
        Reach::Deny => None,
    }
}

/// Shows the folder of installed packages as it is. Packages come into it during a session, and an
/// overlay would go on saying of a module that code has missed before that it is not there. Only
/// our own installer writes there.
fn keep_packages_current(step: &mut Step, confinement: &Confinement) {
    if let Step::Show { from, to, owner } = &*step
        && is_of_packages(from)
        && !confinement.granted.contains(from)
    {
        *step = bind(from.clone(), to.clone(), BindAccess::Read, *owner);
    }
}

/// Whether a folder has the name of one where packages are installed: `packages/KEY/env`.
fn is_of_packages(folder: &Path) -> bool {
    let mut names = folder.components().rev().map(|name| name.as_os_str().as_encoded_bytes());
    let (last, key, above) = (names.next(), names.next(), names.next());
    let is_key = |key: &[u8]| key.len() == 24 && key.iter().all(u8::is_ascii_hexdigit);
    last == Some(b"env") && key.is_some_and(is_key) && above == Some(b"packages")
}

fn is_below_denied(confinement: &Confinement, path: &Path) -> bool {
    let mut above = path.ancestors().skip(1);
    above.any(|folder| confinement.files.get(folder) == Some(&Reach::Deny))
}

fn work_folder(confinement: &Confinement, stage: Option<&Path>, owner: Owner) -> Vec<Step> {
    let folder = &confinement.work_folder;
    match (confinement.workspace, stage) {
        (Workspace::Direct, _) => vec![bind(folder, folder, BindAccess::Write, owner)],
        (Workspace::ReadOnly, _) | (Workspace::Stage, None) => vec![
            bind(folder, RAW, BindAccess::Read, owner),
            Step::Mirror { of: RAW.into(), at: folder.clone() },
            Step::Unmount { at: RAW.into() },
        ],
        (Workspace::Stage, Some(set)) => vec![
            bind(folder, RAW, BindAccess::Read, owner),
            bind(set, SET, BindAccess::Write, owner),
            bind(set.join(interpreter_workspace::BACK), BACK, BindAccess::Read, owner),
            Step::Mirror { of: RAW.into(), at: LOWER.into() },
            Step::Overlay {
                lower: RAW.into(),
                upper: Path::new(SET).join("upper"),
                work: Path::new(SET).join("work"),
                at: folder.clone(),
            },
            Step::Unmount { at: SET.into() },
            Step::Unmount { at: RAW.into() },
        ],
    }
}

/// Folders that must not be renamed, because code's writes are real there: those above what is
/// denied, which would stand uncovered under another name tomorrow, and those above everything else
/// that is shown in another way, in whose place code could put its own.
pub(super) fn pinned(confinement: &Confinement) -> BTreeSet<&Path> {
    let work = &confinement.work_folder;
    let is_real = |folder: &Path| {
        let narrowest = confinement.files.iter().rev().find(|(path, _)| folder.starts_with(path));
        if folder.starts_with(work) {
            return confinement.workspace == Workspace::Direct && folder != work;
        }
        narrowest.is_some_and(|(path, reach)| *reach == Reach::Write && path != folder)
    };
    let listed = confinement.files.keys().chain([work]);
    listed.flat_map(|path| path.ancestors().skip(1)).filter(|folder| is_real(folder)).collect()
}

fn pins(confinement: &Confinement) -> impl Iterator<Item = Step> {
    pinned(confinement).into_iter().map(|at| Step::Pin { at: at.to_owned() })
}

/// Covers what is denied, also where the person's folder is shown a second time; and shows what
/// is listed below it, because the narrower path wins.
fn masks(confinement: &Confinement, owner: Owner) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut hollow = Vec::new();
    for (path, reach) in &confinement.files {
        if *reach != Reach::Deny {
            let below = is_below_denied(confinement, path);
            steps.extend(below.then(|| shown(confinement, path, owner)).flatten());
            continue;
        }
        let in_work = path.strip_prefix(&confinement.work_folder).ok();
        let holds = |(inner, reach): (&PathBuf, &Reach)| {
            *reach != Reach::Deny && inner != path && inner.starts_with(path)
        };
        // In the work folder nothing is listed but what is denied, and nothing may be made.
        if in_work.is_none() && confinement.files.iter().any(holds) {
            let (at, bytes, mode) = (path.clone(), HOLLOW, 0o711);
            steps.push(Step::Temporary { at, bytes, mode });
            hollow.push(Step::Seal { at: path.clone() });
            continue;
        }
        steps.push(Step::Mask { at: path.clone() });
        let second = match confinement.workspace {
            Workspace::Stage => in_work.map(|below| Path::new(LOWER).join(below)),
            Workspace::Direct | Workspace::ReadOnly => None,
        };
        steps.extend(second.map(|at| Step::Mask { at }));
    }
    steps.extend(hollow);
    steps
}

/// Paths that code may change.
pub(super) fn writable(confinement: &Confinement) -> Vec<PathBuf> {
    let listed = confinement.files.iter().filter(|(_, reach)| **reach == Reach::Write);
    let work = match confinement.workspace {
        Workspace::Stage | Workspace::Direct => Some(confinement.work_folder.clone()),
        Workspace::ReadOnly => None,
    };
    let usual = [confinement.temporary(), "/dev", "/proc"].map(PathBuf::from);
    usual.into_iter().chain(work).chain(listed.map(|(path, _)| path.clone())).collect()
}

/// Resources that the kernel counts per user, and the person's other programs need too: code gets a
/// part.
fn quotas(machine: &Machine) -> [Step; 3] {
    let Inotify { instances, watches } = machine.inotify;
    [
        (Quota::InotifyInstances, (instances / 8).max(8)),
        (Quota::InotifyWatches, (watches / 8).max(1024)),
        // The filter refuses them too.
        (Quota::Namespaces, 0),
    ]
    .map(|(of, most)| Step::Quota { of, most })
}

pub(super) fn limits(confinement: &Confinement) -> [Step; 8] {
    let limits = &confinement.limits;
    [
        (Resource::Memory, limits.memory_bytes),
        (Resource::Processes, limits.processes),
        (Resource::FileSize, limits.file_bytes),
        (Resource::OpenFiles, limits.open_files),
        // No dump is as small. With 0 a crash would still start the program outside that a pattern
        // with a pipe names (core(5)), as root; with 1 it doesn't.
        (Resource::Core, 1),
        // Small, because the kernel counts these for the person as a whole.
        (Resource::LockedMemory, 32 << 10),
        (Resource::PendingSignals, 1024),
        (Resource::MessageQueues, 100 << 10),
    ]
    .map(|(resource, most)| Step::Limit { resource, most })
}

/// Compiles the rules of a filter.
pub(super) fn filter_of(
    rules: Result<Vec<FilterRule>, FilterError>,
    recipe: &Recipe,
) -> Result<Step, ExecError> {
    let filter = rules.and_then(|rules| Filter::compile(&rules));
    let filter = filter.map_err(|error| recipe.refuses(error.to_string(), None))?;
    let Filter { refused, program, telling } = filter;
    Ok(Step::Filter { refused, program, telling })
}

fn describe(machine: &Machine, protection: &mut Protection) {
    protection.enforced.extend(
        [
            "user, mount, process, network, ipc, hostname and cgroup namespaces",
            "the system read-only, the home absent",
            "sockets, pipes, locks and watchers of all that is only read lead nowhere",
            "no network but loopback; the only way out is a proxy that lets through what is allowed",
            "no capabilities, no new privileges",
            "system-call filter",
            "limits on each process, on processes, file size and temporary files",
        ]
        .map(String::from),
    );
    protection.missing.extend(machine.mounted.first().map(|at| {
        let at = at.display();
        format!(
            "locks on larger files in part, because something is mounted in the system's folders \
             ({at})"
        )
    }));
    match machine.landlock {
        Some(version) => protection.enforced.push(format!(
            "Landlock (version {version}): writes to the listed folders alone{}",
            if version >= SCOPED { ", signals and abstract sockets kept inside" } else { "" }
        )),
        None => protection.missing.push(
            "Landlock, a second fence around files, because the kernel has none (it came with \
             Linux 5.13 and must be among the `lsm=` modules)"
                .into(),
        ),
    }
}

/// The version of Landlock that knows signals and abstract sockets.
const SCOPED: u32 = 6;

#[cfg(test)]
mod tests;
