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
//! Where there are no mounts that would hide what is not listed, [`Places`] makes it the only fence:
//! then nothing can be read either that is not named.
//!
//! # Order
//! After no-new-privileges, which the kernel demands, and before the filter, which refuses the
//! calls that are used here.
//!
//! # Limits
//! Does not cover `stat`, `chmod` and the like, nor sockets with a path. Older kernels know fewer
//! of the rules: what they know is enforced, and [`version`] says what that is.
//!
//! # See
//! [landlock(7)], and the [kernel's page] with what each version knows and does not.
//!
//! [landlock(7)]: https://man7.org/linux/man-pages/man7/landlock.7.html
//! [kernel's page]: https://docs.kernel.org/userspace-api/landlock.html

use crate::{Tcp, sys};
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};
use std::{
    io,
    path::{Path, PathBuf},
};

/// The newest rules that were tried. Later kernels are asked for no more than these.
const TRIED: ABI = ABI::V7;

/// The version of Landlock, or `None` if the kernel has none or it is switched off.
pub fn version() -> Option<u32> {
    sys::landlock_version().ok().and_then(|version| u32::try_from(version).ok()).filter(|&v| v > 0)
}

/// All files that can be reached, where Landlock is the only fence around them.
pub(crate) struct Places<'a> {
    pub(crate) readable: &'a [PathBuf],
    pub(crate) listable: &'a [PathBuf],
    pub(crate) writable: &'a [PathBuf],
    pub(crate) devices: &'a [PathBuf],
}

impl Places<'_> {
    /// Confines this process for good: nothing can be reached but these.
    pub(crate) fn confine(&self, tcp: Tcp) -> io::Result<()> {
        let everything = AccessFs::from_all(TRIED);
        let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
        let mut rules = Ruleset::default().handle_access(everything).map_err(io::Error::other)?;
        if tcp == Tcp::Refused {
            rules = rules.handle_access(AccessNet::from_all(TRIED)).map_err(io::Error::other)?;
        }
        let scoped = rules.scope(Scope::from_all(TRIED)).map_err(io::Error::other)?;
        let mut rules = scoped.create().map_err(io::Error::other)?;
        let all = [
            (self.readable, AccessFs::from_read(TRIED)),
            (self.listable, AccessFs::ReadDir.into()),
            (self.writable, everything),
            (self.devices, device),
        ];
        for (paths, access) in all {
            for path in paths {
                rules = allow(rules, path, access)?;
            }
        }
        enforced(rules)
    }
}

/// Allows `access` to `path` and what is below it; of a file, what a file has of it.
fn allow(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> io::Result<RulesetCreated> {
    let opened = PathFd::new(path).map_err(io::Error::other)?;
    let is_folder = rustix::fs::fstat(&opened)
        .is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir());
    let access = if is_folder { access } else { access & AccessFs::from_file(TRIED) };
    rules.add_rule(PathBeneath::new(opened, access)).map_err(io::Error::other)
}

fn enforced(rules: RulesetCreated) -> io::Result<()> {
    match rules.restrict_self().map_err(io::Error::other)?.ruleset {
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
        RulesetStatus::NotEnforced => Err(io::Error::other("the kernel has no Landlock")),
    }
}

/// Confines this process for good: only what is at and below `writable` can be changed.
pub(crate) fn confine(writable: &[PathBuf]) -> io::Result<()> {
    let opened = |path: &Path| PathFd::new(path).map_err(io::Error::other);
    let root = opened(Path::new("/"))?;
    let writable = writable.iter().map(|path| opened(path)).collect::<io::Result<Vec<_>>>()?;
    let rules = rules(root, writable).map_err(io::Error::other)?;
    enforced(rules)
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
