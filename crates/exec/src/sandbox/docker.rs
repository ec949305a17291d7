//! The container engine docker: [`super::container`] has the part that it shares with podman.
//!
//! # Threat
//! That of a container; and an engine on another machine, whose folders are not ours.
//!
//! # Mechanism
//! Its client talks to the engine of this machine alone: the person's settings for it are not read.
//!
//! # Order
//! That of a container.
//!
//! # Limits
//! An engine that maps users (rootless, or with `userns-remap`) is noticed when the jail comes as
//! another user, and refused. Volumes of an image are made; Landlock keeps code from writing to them.

use super::{
    container,
    recipe::{Furniture, Helper, Recipe, Site, Staging, keeps_around_a_copy},
    view::View,
};
use crate::ExecError;
use interpreter_core::Backend;
use interpreter_jail::JAIL;
use std::ffi::OsString;

/// How docker confines code.
pub(super) static RECIPE: Recipe = Recipe {
    backend: Backend::named("docker"),
    unasked: false,
    confines: true,
    keeps: keeps_around_a_copy,
    admits: |confinement, machine| container::admits(&RECIPE, confinement, machine),
    helper: Some(Helper {
        program: "docker",
        package: "docker.io",
        client: CLIENT,
        arguments,
        environment: |site| {
            vec![("HOME", site.layout.drivers().into()), ("PATH", container::PATH.into())]
        },
        complaints: &["docker: ", "Cannot connect", "Error", JAIL],
        cause: container::cause,
        meets: Some(container::user),
        tidying: Some(&container::TIDYING),
    }),
    staging: Staging::CopyInPlace,
    has_door: true,
    own_system: true,
    furniture: Furniture::Mounted,
    bounds_all: |_| true,
    plan: container::plan,
    view: |_| View::unknown(),
    describe: container::describe,
};

const CLIENT: &[&str] = &["--host", "unix:///var/run/docker.sock"];

fn arguments(site: &Site<'_>) -> Result<Vec<OsString>, ExecError> {
    let hollow = site.layout.hollow();
    let hidden = format!("type=bind,source={},target=/sys,readonly", hollow.display());
    container::arguments(site, CLIENT, vec!["--mount".into(), hidden.into()])
}
