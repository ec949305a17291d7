//! Confines this very process on Linux, then becomes the program.
//!
//! # Threat
//! Code that reads the person's files, writes outside its folder, talks to the network, sees or
//! signals other processes, gains privileges, or outlives its session.
//!
//! # Mechanism
//! A [`Plan`] is a printed list of [`Step`]s: new namespaces, a new root with the system
//! read-only and the home absent, an overlay for the work folder, limits, no capabilities, no new
//! privileges, Landlock, a system-call filter. [`enter_if_asked`] applies it in a process of its own, which
//! has one thread, and then executes the program. A step that fails ends the process: nothing
//! runs half confined. [`attack`] is what `doctor` starts inside to try the walls.
//!
//! # Order
//! Mounts come before rights are given up; capabilities are verified to be gone before
//! no-new-privileges is set; the filter comes after all that, because every step before it may need
//! a call that it refuses; then the kernel is asked whether all of it holds.
//!
//! # Limits
//! A bug in the kernel is not contained. Folders that are bound writable can be filled or
//! destroyed. CPU time is shared with the rest of the machine.
//!
//! # See
//! [namespaces(7)], [user_namespaces(7)], [capabilities(7)] and [no_new_privs]; the modules name
//! the pages of their own mechanisms.
//!
//! [namespaces(7)]: https://man7.org/linux/man-pages/man7/namespaces.7.html
//! [user_namespaces(7)]: https://man7.org/linux/man-pages/man7/user_namespaces.7.html
//! [capabilities(7)]: https://man7.org/linux/man-pages/man7/capabilities.7.html
//! [no_new_privs]: https://docs.kernel.org/userspace-api/no_new_privs.html

pub use crate::plan::{BindAccess, Namespace, Owner, Plan, Quota, Resource, Step, Tcp};

#[cfg(target_os = "linux")]
pub use crate::{
    enter::{JAIL, encode, enter_if_asked},
    failure::JailFailure,
    filter::{
        Answers, Architecture, Condition, Filter, FilterAnswer, FilterError, FilterRule, profile,
        rules, rules_where_shared, rules_without_network,
    },
    harden::harden,
    landlock::version as landlock_version,
    notice::{Listener, Notice},
};

#[cfg(target_os = "linux")]
mod apply;
#[cfg(target_os = "linux")]
pub mod attack;
#[cfg(target_os = "linux")]
mod enter;
#[cfg(target_os = "linux")]
mod failure;
#[cfg(target_os = "linux")]
mod filter;
#[cfg(target_os = "linux")]
mod harden;
#[cfg(target_os = "linux")]
mod keeper;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod notice;
mod plan;
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "the one file that may hold it")]
mod sys;
#[cfg(target_os = "linux")]
mod verify;

/// Where there is no Linux there is no jail to enter.
#[cfg(not(target_os = "linux"))]
pub fn enter_if_asked() {}
