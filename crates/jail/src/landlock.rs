//! A second fence around files: the kernel's Landlock.
//!
//! # Threat
//! A mount that is writable by mistake, a path that leads around a read-only one, a signal or an
//! abstract socket that leaves the sandbox although its namespaces should not let it.
//!
//! # Mechanism
//! Everything can be read and executed that is there at all; only the listed paths can be
//! written. Signals and abstract sockets stay within. The rules hold for this process and all it
//! starts, cannot be taken back, and do not depend on mounts or namespaces.
//!
//! # Order
//! After no-new-privileges, which the kernel demands, and before the filter, which refuses the
//! calls that are used here.
//!
//! # Limits
//! Does not cover `stat`, `chmod` and the like, nor sockets with a path. Older kernels know fewer
//! of the rules: what they know is enforced, and [`version`] says what that is.

use crate::sys;
use landlock::{
    ABI, Access, AccessFs, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};
use std::{
    io,
    path::{Path, PathBuf},
};

/// The newest rules that were tried. Later kernels are asked for no more than these.
const TRIED: ABI = ABI::V7;

/// The version of Landlock that the kernel has; none if it has none or it is switched off.
pub fn version() -> Option<u32> {
    sys::landlock_version().ok().and_then(|version| u32::try_from(version).ok()).filter(|&v| v > 0)
}

/// Confines this process for good: only what is at and below `writable` can be changed.
pub(crate) fn confine(writable: &[PathBuf]) -> io::Result<()> {
    let opened = |path: &Path| PathFd::new(path).map_err(io::Error::other);
    let root = opened(Path::new("/"))?;
    let writable = writable.iter().map(|path| opened(path)).collect::<io::Result<Vec<_>>>()?;
    let rules = rules(root, writable).map_err(io::Error::other)?;
    match rules.restrict_self().map_err(io::Error::other)?.ruleset {
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
        RulesetStatus::NotEnforced => Err(io::Error::other("the kernel has no Landlock")),
    }
}

fn rules(root: PathFd, writable: Vec<PathFd>) -> Result<RulesetCreated, RulesetError> {
    let everything = AccessFs::from_all(TRIED);
    let mut rules = Ruleset::default()
        .handle_access(everything)?
        .scope(Scope::from_all(TRIED))?
        .create()?
        .add_rule(PathBeneath::new(root, AccessFs::from_read(TRIED)))?;
    for path in writable {
        rules = rules.add_rule(PathBeneath::new(path, everything))?;
    }
    Ok(rules)
}
