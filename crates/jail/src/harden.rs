//! Makes this very process hard to look into: the one outside, which holds keys and the record.
//!
//! # Threat
//! Another program of the same user, or code that got out of a sandbox, reads keys from our memory
//! or takes over our descriptors; a crash leaves keys on disk.
//!
//! # Mechanism
//! The process is not dumpable: the kernel lets nobody but root trace it, read its memory, its
//! environment or its descriptors. No core is written. Both are read back.
//!
//! # Order
//! First thing, before any key is read. Programs that it starts are dumpable again by themselves;
//! sandboxes have limits of their own.
//!
//! # Limits
//! Root can look into everything. A process started before us may have done so already.
//!
//! # See
//! [PR_SET_DUMPABLE] takes our memory and `/proc` files from other programs of the same user;
//! [ptrace(2)] has the checks that the kernel makes, [core(5)] where a core would go.
//!
//! [PR_SET_DUMPABLE]: https://man7.org/linux/man-pages/man2/PR_SET_DUMPABLE.2const.html
//! [ptrace(2)]: https://man7.org/linux/man-pages/man2/ptrace.2.html
//! [core(5)]: https://man7.org/linux/man-pages/man5/core.5.html

use crate::JailFailure;
use rustix::{
    io::Errno,
    process::{self, DumpableBehavior, Resource, Rlimit},
};
use std::io;

/// Hardens this process against other programs of its user.
pub fn harden() -> Result<(), JailFailure> {
    hide().map_err(|cause| JailFailure {
        step: "keep other programs from looking into this one".into(),
        errno: cause.raw_os_error(),
        cause: cause.to_string(),
    })
}

fn hide() -> io::Result<()> {
    process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    lower_core()?;
    if process::dumpable_behavior()? == DumpableBehavior::NotDumpable
        && process::getrlimit(Resource::Core).current.is_some_and(|most| most <= 1)
    {
        return Ok(());
    }
    Err(io::Error::other("the kernel did not keep the setting"))
}

/// No dump is as small as one byte. Not to 0, which sandboxes inherit: with 0 a crash in one would
/// start the program outside that a pattern with a pipe names. A 0 that we have stays, unless we
/// may raise it.
fn lower_core() -> io::Result<()> {
    let to = |most| Rlimit { current: Some(most), maximum: Some(most) };
    match process::setrlimit(Resource::Core, to(1)) {
        Err(Errno::PERM) => Ok(process::setrlimit(Resource::Core, to(0))?),
        other => Ok(other?),
    }
}
