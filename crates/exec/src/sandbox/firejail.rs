//! The program `firejail` makes namespaces for processes, network and mounts; our own fences, those
//! of the landlock backend, stand inside.
//!
//! # Threat
//! That of the native sandbox. It is for machines where user namespaces are refused and firejail,
//! which is setuid, is installed.
//!
//! # Mechanism
//! firejail gives what Landlock cannot: other processes are not seen, there is a loopback of its
//! own, and devices are few. None of its lists of files is relied on: which files are reached is
//! settled by Landlock alone, inside, with no profile of firejail's in between.
//!
//! # Order
//! firejail first; what it starts is our own binary as a jail. There is no `--` before its name:
//! after one, firejail 0.9.72 starts programs through the account's login shell, which may be
//! `nologin`, a shell that speaks another language, or not there.
//!
//! # Limits
//! firejail runs as root until it has built its sandbox: a hole in it is one in the machine. For
//! ordinary users alone, and only those that the system knows by name. The rest is that of Landlock.

use super::{
    landlock::{self, Around, MODES, NAMES, TEMPORARY},
    machine::Machine,
    recipe::{Furniture, Helper, Protection, Recipe, Site, Staging},
    view::View,
};
use crate::{Cause, ExecError};
use interpreter_core::{Backend, Confinement, Kept, Promise};
use interpreter_jail::JAIL;
use std::ffi::OsString;

/// How firejail confines code.
pub(super) static RECIPE: Recipe = Recipe {
    backend: Backend::named("firejail"),
    unasked: false,
    confines: true,
    keeps,
    admits,
    helper: Some(Helper {
        program: "firejail",
        package: "firejail",
        client: &[],
        arguments: |_| Ok(arguments()),
        environment,
        complaints: &["Error: ", "Error "],
        cause: |_| Cause::Firejail,
        meets: None,
        tidying: None,
    }),
    staging: Staging::CopyElsewhere,
    has_door: false,
    own_system: false,
    furniture: Furniture::Outside,
    bounds_all: |_| false,
    plan: |site| landlock::plan_for(site, AROUND),
    view: |_| View::unknown(),
    describe,
};

const AROUND: Around = Around::Namespaces;

fn keeps(promise: Promise) -> Kept {
    match promise {
        Promise::Network => Kept::InPart(
            "pipes in folders that are shown and not staged lead outside; hosts that you allow \
             cannot be reached",
        ),
        Promise::Reading => Kept::InPart(NAMES),
        Promise::Writing => Kept::InPart(MODES),
        Promise::Processes => {
            Kept::InPart("code can end its own sandbox, with everything that is inside")
        }
        Promise::Limits => Kept::InPart(TEMPORARY),
        Promise::Environment
        | Promise::Privileges
        | Promise::Calls
        | Promise::Terminal
        | Promise::Ending => Kept::Yes,
    }
}

fn admits(_: &Confinement, machine: &Machine) -> Result<(), ExecError> {
    RECIPE.not_for_root(machine)?;
    landlock::check(machine, &RECIPE)
}

fn describe(machine: &Machine, protection: &mut Protection) {
    landlock::describe_fence(machine, protection);
    protection.enforced.extend([
        "process, network, ipc and mount namespaces, by firejail".into(),
        "no network but loopback, no local sockets but pairs of them".into(),
    ]);
}

fn environment(site: &Site<'_>) -> Vec<(&'static str, OsString)> {
    vec![
        // Where the jail is found by its name.
        ("PATH", site.layout.drivers().into()),
        // Versions that start programs through a shell take this one before the login shell.
        ("SHELL", "/bin/sh".into()),
    ]
}

fn arguments() -> Vec<OsString> {
    [
        "--quiet",
        "--noprofile",
        "--net=none",
        "--caps.drop=all",
        "--nonewprivs",
        "--ipc-namespace",
        "--hostname=sandbox",
        "--private-dev",
        "--nodbus",
        "--nogroups",
        // Otherwise an empty folder covers it, and with it work folders and copies there; and the rest
        // of /var is read-only even where the work folder may be changed.
        "--keep-var-tmp",
        "--writable-var",
        JAIL,
    ]
    .map(OsString::from)
    .into()
}
