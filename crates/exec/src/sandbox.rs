//! Sandboxes: each starts a host in isolation and hands back the stream to it.
//!
//! # Threat
//! See `SECURITY.md`: code that a hostile model wrote.
//!
//! # Mechanism
//! A backend turns a `Confinement` into the list of steps that `interpreter-jail`
//! applies to a process of its own. That process is our own binary, started under another name;
//! it confines itself and becomes the host. Each backend is a value in a file of its own, a
//! `Recipe`; `backends` lists them, `choose` says which may be used, and `start` follows one.
//!
//! # Order
//! The plan is complete before the process starts. If any step fails the process ends and says
//! which; nothing runs half confined.
//!
//! # Limits
//! Without a control group, memory is bounded for each process and not for all together. The
//! person's groups that give access to files under `/etc` or `/opt` still do inside.

pub(crate) use self::{
    backends::recipe,
    cgroup::Frozen,
    choose::Search,
    in_copy::covered,
    native::{BACK, LOWER},
    running::Sandbox,
    start::start,
    view::View,
    watch::Refusals,
};
pub use self::{
    backends::{has_own_system, keeps},
    choose::{admit, find, first},
    machine::{Machine, Patience, surroundings},
    recipe::Protection,
    start::explain,
};

mod backends;
mod bare;
mod bubblewrap;
mod cgroup;
mod choose;
mod container;
mod counting;
mod docker;
mod firejail;
mod folder;
mod in_copy;
mod landlock;
mod machine;
mod meeting;
mod native;
mod podman;
mod recipe;
mod running;
pub mod secrets;
mod start;
mod view;
mod watch;
