//! The container engine podman: [`super::container`] has the part that it shares with docker.
//!
//! # Threat
//! That of a container.
//!
//! # Mechanism
//! For an ordinary user it needs no service and no rights: it makes a user namespace, in which that
//! user keeps their own number. Volumes of an image are ignored.
//!
//! # Order
//! That of a container.
//!
//! # Limits
//! For an ordinary user, the system must have given out subordinate users (`/etc/subuid`).

use super::{
    container,
    machine::Machine,
    recipe::{Furniture, Helper, Recipe, Site, Staging, keeps_around_a_copy},
    view::View,
};
use crate::ExecError;
use interpreter_core::Backend;
use interpreter_jail::JAIL;
use std::{ffi::OsString, path::Path};

/// How podman confines code.
pub(super) static RECIPE: Recipe = Recipe {
    backend: Backend::named("podman"),
    unasked: false,
    confines: true,
    keeps: keeps_around_a_copy,
    admits: |confinement, machine| container::admits(&RECIPE, confinement, machine),
    helper: Some(Helper {
        program: "podman",
        package: "podman",
        client: CLIENT,
        arguments,
        environment,
        complaints: &["Error", "error", "cannot ", JAIL],
        cause: container::cause,
        meets: Some(container::user),
        tidying: Some(&container::TIDYING),
    }),
    staging: Staging::CopyInPlace,
    has_door: true,
    own_system: true,
    furniture: Furniture::Mounted,
    bounds_all,
    plan: container::plan,
    view: |_| View::unknown(),
    describe: container::describe,
};

/// Without rights it can bound nothing by control groups of version 1.
fn bounds_all(machine: &Machine) -> bool {
    machine.user == 0 || Path::new("/sys/fs/cgroup/cgroup.controllers").exists()
}

const CLIENT: &[&str] = &["--remote=false", "--log-level=error"];

/// Its images are in the person's home.
fn environment(site: &Site<'_>) -> Vec<(&'static str, OsString)> {
    let home = site.machine.home.iter().map(|home| ("HOME", home.into()));
    home.chain([("PATH", container::PATH.into())]).collect()
}

fn arguments(site: &Site<'_>) -> Result<Vec<OsString>, ExecError> {
    let own = [
        "--image-volume=ignore",
        "--read-only-tmpfs=false",
        "--systemd=false",
        "--no-hosts",
        // Otherwise it names the person and their home.
        "--passwd=false",
        "--security-opt=mask=/sys",
    ];
    let as_outside = (site.machine.user != 0).then_some("--userns=keep-id");
    let own = own.into_iter().chain(as_outside).map(OsString::from).collect();
    container::arguments(site, CLIENT, own)
}
