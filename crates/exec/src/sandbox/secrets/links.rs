//! Links in folders that are shown, and where they lead.
//!
//! # Threat
//! A secret that is read under the very name that is hidden, because a folder on the way is a link:
//! `.config` leads to `dot/config`, as it does where somebody keeps such files in a repository.
//!
//! # Mechanism
//! A link is resolved step by step, and only as far as it stays in what is shown. Of a link to a
//! folder nothing is listed: the few names that count behind a link of this name are looked up.
//!
//! # Limits
//! The target of a link through `/proc` or the system's folders is not found.

use super::{Access, Confinement};
use std::{
    collections::VecDeque,
    ffi::OsString,
    path::{Component, Path, PathBuf},
};

/// Links that are followed for one path, as many as the kernel follows.
const MOST_LINKS: usize = 40;

/// The paths below which code sees anything of the person's.
pub(super) fn roots(confinement: &Confinement) -> Vec<PathBuf> {
    let listed = confinement.files.iter().filter(|(_, access)| **access != Access::Deny);
    let listed = listed.map(|(path, _)| path.clone());
    listed.chain([confinement.work_folder.clone()]).collect()
}

/// The real path of something that is below one of `roots`, which are real paths. Nothing elsewhere
/// is looked at.
pub(super) fn resolved(path: &Path, roots: &[PathBuf]) -> Option<PathBuf> {
    let mut at = PathBuf::from("/");
    let mut left: VecDeque<OsString> = parts(path).collect();
    let mut links = 0;
    while let Some(part) = left.pop_front() {
        if part == ".." {
            at.pop();
            continue;
        }
        let next = at.join(&part);
        if roots.iter().any(|root| root.starts_with(&next)) {
            at = next;
            continue;
        }
        if !roots.iter().any(|root| next.starts_with(root)) {
            return None;
        }
        if !fs_err::symlink_metadata(&next).ok()?.is_symlink() {
            at = next;
            continue;
        }
        links += 1;
        if links > MOST_LINKS {
            return None;
        }
        let target = fs_err::read_link(&next).ok()?;
        if target.is_absolute() {
            at = PathBuf::from("/");
        }
        for part in parts(&target).collect::<Vec<_>>().into_iter().rev() {
            left.push_front(part);
        }
    }
    let is_below = |root: &PathBuf| at != *root && at.starts_with(root);
    let holds_one = roots.iter().any(|root| root.starts_with(&at));
    (!holds_one && roots.iter().any(is_below)).then_some(at)
}

/// The parts of a path that lead on, from its first.
fn parts(path: &Path) -> impl Iterator<Item = OsString> {
    path.components().filter_map(|part| match part {
        Component::Normal(_) | Component::ParentDir => Some(part.as_os_str().to_owned()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}
