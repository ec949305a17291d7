//! The visible paths of a sandbox, by its plan: so that a refused path can be distinguished from a
//! missing one.
//!
//! A driver reports the system's error for a path. That is a claim: the driver shares a process
//! with the code. It is passed on only if the plan, which the code cannot influence, says that the
//! sandbox caused such an error. Nothing is looked up in the file system, so that a claim cannot
//! reveal whether a file exists outside.
//!
//! # Limits
//! Links inside are not followed: a path that leads out of what is shown by a link is not told.

use crate::is_system;
use interpreter_core::Denial;
use interpreter_jail::{BindAccess, Plan, Step};
use std::{
    collections::BTreeMap,
    path::{Component, Path, PathBuf},
};

/// Bytes of the longest path that the system takes.
const LONGEST: usize = 4096;

/// The access to a path and everything below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    /// It can be read.
    Read,
    /// The work folder, where writes are refused.
    ReadOnlyWork,
    /// It can be changed.
    Write,
    /// It is covered.
    Covered,
    /// It is the kernel's or our own.
    Furniture,
}

/// The visible paths of a sandbox.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct View(BTreeMap<PathBuf, Shown>);

impl View {
    /// The visible paths of a plan.
    pub(super) fn of(plan: &Plan) -> Self {
        let own = ["/proc", "/sys", "/dev", "/run/interpreter"].map(PathBuf::from);
        let mut view: BTreeMap<_, _> = own.into_iter().map(|at| (at, Shown::Furniture)).collect();
        for step in &plan.0 {
            if let Some((at, shown)) = shown_by(step)
                && !view.iter().any(|(own, one)| *one == Shown::Furniture && at.starts_with(own))
            {
                view.insert(at.clone(), shown);
            }
        }
        Self(view)
    }

    /// For a sandbox without a plan: no refusal counts as its doing.
    pub(super) fn unknown() -> Self {
        Self([(PathBuf::from("/"), Shown::Furniture)].into())
    }

    /// The denial, if the sandbox made the system answer `code` for `path`.
    pub(crate) fn denied(&self, path: &str, code: &str) -> Option<Denial> {
        const OUTSIDE: &str = "it is outside of what code sees";
        let whole = plain(path)?;
        let path = whole.to_str()?;
        match (self.at(&whole), code) {
            (None, "ENOENT" | "EACCES" | "EPERM") => Some(Denial::hidden(path, OUTSIDE)),
            (None, "EROFS") => Some(Denial::unchangeable(path, OUTSIDE)),
            (Some((at, Shown::Covered)), "ENOENT" | "EACCES" | "EPERM" | "EROFS" | "ENOTDIR") => {
                let denial = Denial::hidden(path, "it is covered, because secrets are kept there");
                Some(if at == whole { denial } else { denial.for_good() })
            }
            (Some((_, Shown::Read)), "EROFS") => {
                let denial = Denial::unchangeable(path, "it can be read and not changed");
                Some(if is_system(&whole) { denial.for_good() } else { denial })
            }
            (Some((_, Shown::ReadOnlyWork)), "EROFS") => Some(
                Denial::unchangeable(path, "the work folder is read-only here")
                    .granted_by("--workspace stage"),
            ),
            // The usual permissions of a file, or one that is not there: not our doing.
            (None | Some(_), _) => None,
        }
    }

    /// The narrowest place that holds a path.
    fn at(&self, path: &Path) -> Option<(&Path, Shown)> {
        path.ancestors().find_map(|at| Some((self.0.get_key_value(at)?.0.as_path(), self.0[at])))
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "all others show nothing that code may want")]
fn shown_by(step: &Step) -> Option<(&PathBuf, Shown)> {
    match step {
        Step::Bind { to, access: BindAccess::Read, .. } | Step::Show { to, .. } => {
            Some((to, Shown::Read))
        }
        Step::Bind { to, access: BindAccess::Write, .. } => Some((to, Shown::Write)),
        Step::Link { at, .. } | Step::File { at, .. } => Some((at, Shown::Read)),
        Step::Temporary { at, .. } | Step::Overlay { at, .. } => Some((at, Shown::Write)),
        Step::Mirror { at, .. } => Some((at, Shown::ReadOnlyWork)),
        Step::Mask { at } | Step::Seal { at } => Some((at, Shown::Covered)),
        _ => None,
    }
}

/// A path without `.` and `..`, or `None` if it is not absolute.
fn plain(path: &str) -> Option<PathBuf> {
    if !path.starts_with('/') || path.len() > LONGEST || path.contains('\0') {
        return None;
    }
    let mut plain = PathBuf::new();
    for part in Path::new(path).components() {
        match part {
            Component::ParentDir => _ = plain.pop(),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_jail::Owner;

    fn view() -> View {
        let bind = |at: &str, access| Step::Bind {
            from: at.into(),
            to: at.into(),
            access,
            owner: Owner::AsOutside,
        };
        let work = PathBuf::from("/home/u/project");
        View::of(&Plan(vec![
            bind("/usr", BindAccess::Read),
            bind("/home/u/.pyenv", BindAccess::Read),
            Step::Temporary { at: "/tmp".into(), bytes: 1, mode: 0o777 },
            Step::Temporary { at: "/dev/shm".into(), bytes: 1, mode: 0o777 },
            Step::Mirror { of: "/run/interpreter/raw".into(), at: "/run/interpreter/lower".into() },
            Step::Overlay {
                lower: "/a".into(),
                upper: "/b".into(),
                work: "/c".into(),
                at: work.clone(),
            },
            Step::Mask { at: work.join(".env") },
            Step::Mask { at: work.join(".ssh") },
        ]))
    }

    fn told(path: &str, code: &str) -> Option<String> {
        view().denied(path, code).map(|denial| denial.line())
    }

    #[test]
    fn what_the_plan_confirms_is_told_with_the_least_that_allows_it() {
        for (path, code, grant) in [
            ("/home/u/notes.txt", "ENOENT", Some("--allow-read /home/u/notes.txt")),
            ("/home/u/project/../x", "ENOENT", Some("--allow-read /home/u/x")),
            ("/home/u/out", "EROFS", Some("--allow-write /home/u/out")),
            ("/home/u/project/.env", "EACCES", Some("--allow-read /home/u/project/.env")),
            ("/home/u/project/.ssh/id", "EACCES", None),
            ("/home/u/.pyenv/x", "EROFS", Some("--allow-write /home/u/.pyenv/x")),
            ("/usr/lib/x", "EROFS", None),
        ] {
            let denial = view().denied(path, code).unwrap_or_else(|| panic!("{path} {code}"));
            assert_eq!(denial.grant.as_deref(), grant, "{path} {code}");
        }
    }

    #[test]
    fn what_it_does_not_confirm_is_not_told() {
        for (path, code) in [
            ("/home/u/project/missing.txt", "ENOENT"),
            ("/home/u/project/theirs.txt", "EACCES"),
            ("/usr/missing", "ENOENT"),
            ("/usr/private", "EACCES"),
            ("/tmp/x", "EROFS"),
            ("/proc/1/mem", "EACCES"),
            ("/dev/shm/x", "ENOENT"),
            ("/run/interpreter/lower/x", "EROFS"),
            ("/home/u/notes.txt", "EISDIR"),
            ("/home/u/notes.txt", "no such file"),
            ("notes.txt", "ENOENT"),
            ("", "ENOENT"),
            ("/a\0b", "ENOENT"),
        ] {
            assert_eq!(told(path, code), None, "{path} {code}");
        }
        assert_eq!(told(&format!("/{}", "x".repeat(5000)), "ENOENT"), None);
    }
}
