//! Landlock, a system-call filter and limits, without any namespace: for machines that refuse user
//! namespaces, such as most containers. Also the inner fence of the firejail backend.
//!
//! # Threat
//! That of the native sandbox.
//!
//! # Mechanism
//! Landlock lets through the listed places alone: the system, the installation of the interpreters,
//! a private folder for temporary files, and the work folder. Landlock cannot except something
//! from a folder that it allows, so a folder that holds something denied is allowed entry by entry.
//! It also keeps signals, tracing and abstract sockets inside. The filter refuses every socket but
//! pairs, System V objects, and calls that reach other processes. A keeper outside the fence ends
//! whatever is left.
//!
//! # Order
//! The keeper first; then limits, no new privileges, Landlock; as root, another user for good; then
//! the filter and the host.
//!
//! # Limits
//! Landlock does not cover `stat` and `readlink`, nor changes of mode, owner, times and attributes:
//! those reach every file of the person's. All processes are visible in `/proc`. A new entry in a
//! folder that is allowed entry by entry is not reachable. `keeps` has the whole list.

use super::{
    machine::{Machine, Rights, SystemPath},
    native::{check_work_folder, filter_of, limits},
    recipe::{Furniture, Protection, Recipe, Site, Staging},
    view::View,
};
use crate::{Cause, ExecError};
use interpreter_core::{Access, Backend, Confinement, Kept, Promise, Workspace};
use interpreter_jail::{
    FilterError, FilterRule, Plan, Resource, Step, Tcp, rules, rules_where_shared,
    rules_without_network,
};
use std::path::{Path, PathBuf};

/// The first version of Landlock that covers the emptying of files.
const NEEDED: u32 = 3;

const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// How Landlock confines code.
pub(super) static RECIPE: Recipe = Recipe {
    backend: Backend::named("landlock"),
    unasked: true,
    confines: true,
    keeps,
    admits,
    helper: None,
    staging: Staging::CopyElsewhere,
    has_door: false,
    own_system: false,
    furniture: Furniture::Outside,
    bounds_all: |_| false,
    plan: |site| plan_for(site, Around::Nothing),
    view: |_| View::unknown(),
    describe,
};

fn keeps(promise: Promise) -> Kept {
    match promise {
        Promise::Network => Kept::InPart(
            "pipes in folders that are shown and not staged lead outside; interfaces are seen; \
             there is no loopback, and hosts that you allow cannot be reached",
        ),
        Promise::Reading => Kept::InPart(NAMES),
        Promise::Writing => Kept::InPart(MODES),
        Promise::Processes => Kept::InPart(
            "all processes and their command lines are seen; code can end its own sandbox, with \
             everything that is inside; before Landlock 6 (Linux 6.12) yours can be signalled",
        ),
        Promise::Privileges => Kept::InPart(
            "setuid files and the bounding set stay; no program gains anything by them",
        ),
        Promise::Ending => Kept::InPart(
            "a program that forks faster than it is killed may outlive the session by a while",
        ),
        Promise::Limits => Kept::InPart(TEMPORARY),
        Promise::Environment | Promise::Calls | Promise::Terminal => Kept::Yes,
    }
}

pub(super) const NAMES: &str =
    "names, sizes and times of all files can be learnt, not what is in them";

pub(super) const MODES: &str =
    "modes, times and attributes of your other files can be changed, not what is in them";

pub(super) const TEMPORARY: &str = "temporary files are bounded one by one; processes are counted together with yours unless \
     there is a control group, and watchers of files (inotify) always are; in folders that are \
     shown and not staged they see others, and locks hold outside";

/// Root's code becomes another user, who is shown root's files as they are.
fn admits(confinement: &Confinement, machine: &Machine) -> Result<(), ExecError> {
    match (machine.rights, confinement.workspace) {
        (Rights::Ordinary, _) | (Rights::Root | Rights::RootWithoutMounts, Workspace::ReadOnly) => {
        }
        (Rights::Root | Rights::RootWithoutMounts, Workspace::Stage | Workspace::Direct) => {
            return Err(RECIPE.refuses(
                "root's code runs as another user, who cannot change your folder",
                Some(Cause::RootCannotWrite),
            ));
        }
        (Rights::RootInName, _) => RECIPE.not_for_root(machine)?,
    }
    check(machine, &RECIPE)
}

/// The surroundings of this fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Around {
    Nothing,
    /// Namespaces for processes and network, made by a helper.
    Namespaces,
}

/// The steps that enforce a confinement by Landlock and a filter. Where changes are kept apart, its
/// work folder is the copy that code works in, see `in_copy.rs`.
pub(super) fn plan_for(site: &Site<'_>, around: Around) -> Result<Plan, ExecError> {
    check_work_folder(site.confinement)?;
    let (confinement, machine) = (&site.elsewhere(), site.machine);
    let places = places(confinement, site, around)?;
    let mut steps = vec![Step::NewSession];
    if around == Around::Nothing {
        steps.push(Step::Keep);
    }
    let user = if machine.user == 0 { machine.code_user() } else { machine.user };
    steps.extend(limits(confinement).map(|step| beside_others(step, user)));
    steps.extend([Step::NoNewPrivileges, places]);
    if machine.user == 0 {
        // After Landlock, which names places that only root may enter.
        steps.push(Step::EmptyBoundingSet);
        steps.push(Step::BecomeUser { user, group: user });
    }
    steps.extend([Step::NoCapabilities, Step::DieWithParent]);
    steps.push(filter_of(refused(around), site.recipe)?);
    // An ordinary user has no right to empty the bounding set, which the helper does for them.
    if machine.user == 0 || around == Around::Namespaces {
        steps.push(Step::Verify);
    }
    steps.push(Step::Execute {
        program: machine.program.clone(),
        arguments: vec![interpreter_host::HOST.into()],
    });
    Ok(Plan(steps))
}

fn refused(around: Around) -> Result<Vec<FilterRule>, FilterError> {
    let mut all = rules()?;
    all.extend(rules_where_shared()?);
    match around {
        Around::Nothing => all.extend(rules_without_network()?),
        Around::Namespaces => {}
    }
    Ok(all)
}

/// Without a user namespace the kernel counts the person's other processes too.
pub(super) fn beside_others(step: Step, user: u32) -> Step {
    if let Step::Limit { resource: Resource::Processes, most } = step {
        let most = most.saturating_add(tasks_of(user));
        return Step::Limit { resource: Resource::Processes, most };
    }
    step
}

/// How many processes and threads a user has.
fn tasks_of(user: u32) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let Ok(entries) = fs_err::read_dir("/proc") else { return 0 };
    let processes = entries.flatten().filter(|entry| {
        entry.file_name().to_str().is_some_and(|name| name.bytes().all(|b| b.is_ascii_digit()))
    });
    let own = processes.filter(|entry| entry.metadata().is_ok_and(|data| data.uid() == user));
    // The number of links of the folder is that of its entries and two.
    let tasks = own.map(|entry| {
        fs_err::metadata(entry.path().join("task")).map_or(1, |data| data.nlink().saturating_sub(2))
    });
    tasks.sum()
}

/// The reachable places.
fn places(confinement: &Confinement, site: &Site<'_>, around: Around) -> Result<Step, ExecError> {
    let Site { recipe, layout, machine, .. } = site;
    let of_kind = |wanted: Access| {
        let listed = confinement.files.iter().filter(move |(_, access)| **access == wanted);
        listed.map(|(path, _)| path.clone())
    };
    let denied: Vec<_> = of_kind(Access::Deny).filter(|path| path.exists()).collect();
    let system = machine.system.iter().filter_map(|path| match path {
        SystemPath::Folder(path) => Some(path.clone()),
        SystemPath::Link(..) => None,
    });
    let mut wide: Vec<_> = system.chain(of_kind(Access::Read)).collect();
    let mut writable: Vec<_> = of_kind(Access::Write).collect();
    let work = confinement.work_folder.clone();
    match confinement.workspace {
        Workspace::ReadOnly | Workspace::Stage => wide.push(work),
        Workspace::Direct => writable.push(work),
    }
    for folder in &writable {
        if let Some(inside) = denied.iter().find(|path| path.starts_with(folder)) {
            return Err(recipe.refuses(
                format!("it cannot cover {} in a folder that code may change", inside.display()),
                Some(Cause::SecretInWritable),
            ));
        }
    }
    // Landlock knows no narrower path in a folder that code may change.
    let narrower = of_kind(Access::Read).chain([site.confinement.work_folder.clone()]);
    let staged = site.confinement.workspace != Workspace::Direct;
    for path in narrower.filter(|path| staged || *path != site.confinement.work_folder) {
        if of_kind(Access::Write).any(|folder| path.starts_with(folder)) {
            return Err(recipe.refuses(
                format!(
                    "it cannot keep {} as it is in a folder that code may change",
                    path.display()
                ),
                None,
            ));
        }
    }
    let mut readable = vec![layout.drivers(), machine.program.clone(), "/proc".into()];
    let mut listable = Vec::new();
    for folder in wide {
        allow_around(&folder, &denied, &mut readable, &mut listable);
    }
    writable.push(layout.temporary());
    Ok(Step::LandlockOnly {
        readable,
        listable,
        writable,
        devices: DEVICES.map(PathBuf::from).into_iter().filter(|path| path.exists()).collect(),
        tcp: match around {
            Around::Nothing => Tcp::Refused,
            Around::Namespaces => Tcp::Left,
        },
    })
}

/// Allows a folder, or all in it but what is denied.
fn allow_around(
    path: &Path,
    denied: &[PathBuf],
    readable: &mut Vec<PathBuf>,
    listable: &mut Vec<PathBuf>,
) {
    let mut next = vec![path.to_owned()];
    while let Some(path) = next.pop() {
        if denied.contains(&path) {
            continue;
        }
        if !denied.iter().any(|one| one.starts_with(&path)) {
            readable.push(path);
            continue;
        }
        let entries = fs_err::read_dir(&path).into_iter().flatten().flatten();
        // The target of a link is allowed at its own place, or not at all.
        let entries =
            entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
        next.extend(entries.map(|entry| entry.path()));
        listable.push(path);
    }
}

fn describe(machine: &Machine, protection: &mut Protection) {
    describe_fence(machine, protection);
    protection.enforced.push("no sockets but pairs of them".into());
}

/// Says what this fence enforces, whatever stands around it.
pub(super) fn describe_fence(machine: &Machine, protection: &mut Protection) {
    let version = machine.landlock.unwrap_or_default();
    protection.enforced.extend([
        format!("Landlock (version {version}): nothing is read or changed but what is listed"),
        "no capabilities, no new privileges".into(),
        "system-call filter".into(),
        "limits on each process and on file size".into(),
    ]);
}

/// Whether the kernel has what is needed.
pub(super) fn check(machine: &Machine, recipe: &Recipe) -> Result<(), ExecError> {
    let reason = match machine.landlock {
        Some(version) if version >= NEEDED => return Ok(()),
        Some(version) => format!("the kernel has Landlock {version}, and {NEEDED} is needed"),
        None => "the kernel has no Landlock, or it is switched off".into(),
    };
    Err(recipe.refuses(reason, Some(Cause::Landlock)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_denied_is_left_out_and_all_beside_it_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["a/secret", "a/b", "c"] {
            fs_err::create_dir_all(at(name)).unwrap();
        }
        fs_err::write(at("file"), "x").unwrap();
        std::os::unix::fs::symlink("/", at("link")).unwrap();
        let (mut readable, mut listable) = (Vec::new(), Vec::new());
        allow_around(folder.path(), &[at("a/secret")], &mut readable, &mut listable);
        readable.sort();
        listable.sort();
        assert_eq!(readable, [at("a/b"), at("c"), at("file")]);
        assert_eq!(listable, [folder.path().to_owned(), at("a")]);
        let (mut readable, mut listable) = (Vec::new(), Vec::new());
        allow_around(folder.path(), &[], &mut readable, &mut listable);
        assert_eq!((readable.len(), listable.len()), (1, 0));
    }

    #[test]
    fn our_own_tasks_are_counted() {
        assert!(tasks_of(rustix::process::getuid().as_raw()) >= 1);
    }
}
