//! The program `bwrap` makes the namespaces and mounts; our own fences stand inside.
//!
//! # Threat
//! That of the native sandbox. It is for machines where this program may not make user namespaces
//! and bubblewrap may: it is setuid, or the system's policy names it.
//!
//! # Mechanism
//! The same list of binds, links and covers as in the native sandbox, as arguments. bubblewrap
//! starts our own binary as a jail: it sets limits, verifies that there are no capabilities, and
//! adds Landlock and the filter, before it becomes the host and the first process inside.
//!
//! # Order
//! Arguments are obeyed in their order: wide before narrow, covers last, and the root is made
//! read-only at the end.
//!
//! # Limits
//! For ordinary users alone: a root that is shown as somebody else is still root to files. Where
//! changes are kept apart code works in a copy; other work folders are bound as they are, so sockets
//! and pipes in them lead outside.

use super::{
    folder::Layout,
    in_copy::uncovered,
    machine::{Machine, SystemPath},
    native::{DOOR, HOST_PROGRAM, become_host, check_work_folder, limits, may_be_a_link, pinned},
    recipe::{Furniture, Helper, Protection, Recipe, Site, Staging, keeps_around_a_copy},
    view::View,
};
use crate::{Cause, ExecError, Interpreters, egress::TRUSTED};
use interpreter_core::{Access, Backend, Confinement, Workspace};
use interpreter_jail::{JAIL, Plan, Step, attack::ATTACK};
use interpreter_jupyter::JUPYTER;
use std::{collections::BTreeMap, ffi::OsString, path::Path};

/// How bubblewrap confines code.
pub(super) static RECIPE: Recipe = Recipe {
    backend: Backend::named("bubblewrap"),
    unasked: true,
    confines: true,
    keeps: keeps_around_a_copy,
    admits: |_, machine| RECIPE.not_for_root(machine),
    helper: Some(Helper {
        program: "bwrap",
        package: "bubblewrap",
        client: &[],
        arguments,
        environment: |_| vec![],
        complaints: &["bwrap: "],
        cause: |_| Cause::Bubblewrap,
        meets: None,
        tidying: None,
    }),
    staging: Staging::CopyInPlace,
    has_door: true,
    own_system: false,
    furniture: Furniture::Mounted,
    bounds_all: |_| false,
    plan,
    view: |_| View::unknown(),
    describe,
};

/// Its arguments.
#[derive(Default)]
struct Arguments(Vec<OsString>);

impl Arguments {
    fn add<I: Into<OsString>>(&mut self, words: impl IntoIterator<Item = I>) {
        self.0.extend(words.into_iter().map(Into::into));
    }

    fn bind(&mut self, how: &str, from: &Path, to: &Path) {
        self.0.extend([how.into(), from.into(), to.into()]);
    }
}

/// Where changes are kept apart, the copy stands in the work folder's place.
fn arguments(site: &Site<'_>) -> Result<Vec<OsString>, ExecError> {
    let Site { confinement, copy, door, layout, machine, .. } = *site;
    check_work_folder(confinement)?;
    let mut all = Arguments::default();
    all.add(["--unshare-all", "--unshare-user", "--die-with-parent", "--new-session"]);
    all.add(["--as-pid-1", "--cap-drop", "ALL", "--clearenv", "--hostname", "sandbox"]);
    // The jail is found by its name; what it becomes has an empty environment.
    all.add(["--setenv", "PATH", "/run/interpreter"]);
    for path in &machine.system {
        match path {
            SystemPath::Folder(path) => all.bind("--ro-bind", path, path),
            SystemPath::Link(at, to) => all.bind("--symlink", to, at),
        }
    }
    furniture(&mut all, confinement, layout, machine);
    if let Some(door) = door {
        all.bind("--ro-bind", door.socket, Path::new(DOOR));
        if let Some(trusted) = door.trusted {
            all.bind("--ro-bind", trusted, Path::new(TRUSTED));
        }
    }
    let work = &confinement.work_folder;
    let pins = pinned(confinement).into_iter().filter(|pin| !pin.starts_with(work));
    let pins = pins.filter(|pin| is_folder(pin)).map(|pin| (pin, Access::Write));
    let listed = confinement.files.iter().map(|(path, access)| (path.as_path(), *access));
    // A path that is listed is no pin. Wide before narrow.
    let shown: BTreeMap<_, _> = pins.chain(listed).collect();
    for (path, access) in shown {
        match access {
            Access::Read => all.bind("--ro-bind", path, path),
            Access::Write => all.bind("--bind", path, path),
            Access::Deny => {}
        }
    }
    match (confinement.workspace, copy) {
        (Workspace::Stage, Some(copy)) => {
            all.bind("--bind", copy, work);
            covers(&mut all, &uncovered(confinement), layout);
        }
        (Workspace::ReadOnly | Workspace::Stage, _) => {
            all.bind("--ro-bind", work, work);
            covers(&mut all, confinement, layout);
        }
        (Workspace::Direct, _) => {
            all.bind("--bind", work, work);
            covers(&mut all, confinement, layout);
        }
    }
    all.add(["--remount-ro", "/", "--chdir", "/", "--", JAIL]);
    Ok(all.0)
}

/// The usual folders and devices.
fn furniture(all: &mut Arguments, confinement: &Confinement, layout: &Layout, machine: &Machine) {
    let bytes = confinement.limits.temporary_bytes.to_string();
    all.add(["--proc", "/proc", "--dev", "/dev"]);
    let temporary = confinement.temporary();
    for at in [temporary, "/dev/shm"] {
        all.add(["--perms", "1777", "--size", &bytes, "--tmpfs", at]);
    }
    all.add(["--remount-ro", "/dev", "--perms", "0777", "--dir", &format!("{temporary}/home")]);
    if may_be_a_link(Path::new("/var/tmp"), confinement) {
        all.add(["--symlink", temporary, "/var/tmp"]);
    }
    all.add(["--symlink", "/run", "/var/run"]);
    all.bind("--ro-bind", &machine.program, Path::new(HOST_PROGRAM));
    for name in [JAIL, JUPYTER, ATTACK] {
        all.add(["--symlink", "host", &format!("/run/interpreter/{name}")]);
    }
    for (at, _) in Interpreters::drivers() {
        let name = at.file_name().unwrap_or_default();
        all.bind("--ro-bind", &layout.drivers().join(name), &at);
    }
}

fn is_folder(path: &Path) -> bool {
    fs_err::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// Covers what is denied, and keeps folders above it from being renamed where writes are real.
fn covers(all: &mut Arguments, confinement: &Confinement, layout: &Layout) {
    let denied = confinement.files.iter().filter(|(_, access)| **access == Access::Deny);
    let denied: Vec<_> = denied.map(|(path, _)| path).collect();
    let kind = |path: &Path| fs_err::symlink_metadata(path).ok().map(|data| data.file_type());
    let in_work = |pin: &&Path| pin.starts_with(&confinement.work_folder) && is_folder(pin);
    for pin in pinned(confinement).into_iter().filter(in_work) {
        all.bind("--bind", pin, pin);
    }
    for path in denied {
        match kind(path) {
            Some(kind) if kind.is_dir() => {
                all.add(["--perms", "0000", "--size", "4096", "--tmpfs"]);
                all.add([path, Path::new("--remount-ro"), path]);
            }
            // A link holds no secret; what it points to is not there, or is covered itself.
            Some(kind) if kind.is_symlink() => {}
            Some(_) => all.bind("--ro-bind", &layout.empty(), path),
            None => {}
        }
    }
}

/// The steps of our own binary inside, before it is the host.
fn plan(site: &Site<'_>) -> Result<Plan, ExecError> {
    check_work_folder(site.confinement)?;
    let steps = limits(site.confinement).into();
    become_host(steps, Step::NoCapabilities, site)
}

fn describe(machine: &Machine, protection: &mut Protection) {
    protection.enforced.extend(
        [
            "user, mount, process, network, ipc, hostname and cgroup namespaces, by bubblewrap",
            "the system read-only, the home absent",
            "no network but loopback; the only way out is a proxy that lets through what is allowed",
            "no capabilities, no new privileges",
            "system-call filter",
            "limits on each process, on processes, file size and temporary files",
        ]
        .map(String::from),
    );
    protection.enforced.extend(machine.landlock.map(|version| {
        format!("Landlock (version {version}): writes to the listed folders alone")
    }));
}
