//! Paths in rules and in code, made comparable.
//!
//! # Limits
//! Nothing is looked at: a link that leads elsewhere is compared by its own name.

use super::Patterns;
use crate::findings::CUT;
use std::path::{Path, PathBuf};

/// The folders that paths are relative to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The folder that relative paths are in.
    pub work_folder: PathBuf,
    /// The folder that `~` stands for.
    pub home: Option<PathBuf>,
}

/// How code, or a path in it, and a rule belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// Not at all.
    No,
    /// Perhaps: the code isn't understood, so it may do more than was found.
    Unknown,
    /// Perhaps: it is computed, or a folder in which something fits.
    Maybe,
    /// Surely.
    Yes,
}

impl Places {
    /// A path without shortcuts, absolute where that is known.
    pub(crate) fn plain(&self, path: &str) -> String {
        let home = self.home.as_deref().and_then(Path::to_str);
        let after = ["~", "$HOME", "${HOME}"].into_iter().find_map(|name| {
            path.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        let base = match (after, home) {
            (Some(_), Some(home)) => home,
            _ if path.starts_with('/') => "",
            (Some(_), None) => "~",
            (None, _) => self.work_folder.to_str().unwrap_or_default(),
        };
        let mut parts: Vec<&str> = Vec::new();
        for part in base.split('/').chain(after.unwrap_or(path).split('/')) {
            match part {
                "" | "." => {}
                ".." => _ = parts.pop(),
                part => parts.push(part),
            }
        }
        format!("/{}", parts.join("/"))
    }

    /// Whether one of `patterns` fits the path.
    pub(super) fn fit(&self, patterns: &Patterns, path: &str) -> Fit {
        if path.is_empty() {
            return Fit::Maybe;
        }
        let plain = self.plain(path);
        let is_open =
            Self::is_of_others(path) || plain.contains(['*', '?', '[', '$', '`', '{', CUT]);
        let below = format!("{}/", plain.trim_end_matches('/'));
        let one = |pattern: &str| {
            // A pattern that begins with a star is about any folder.
            let pattern =
                if pattern.starts_with('*') { pattern.to_owned() } else { self.plain(pattern) };
            let fixed = pattern.split('*').next().unwrap_or_default();
            if super::patterns::glob(&pattern, &plain) {
                Fit::Yes
            } else if is_open || fixed.starts_with(&below) {
                // A folder may hold what is meant, and so may a path that the shell fills in.
                Fit::Maybe
            } else {
                Fit::No
            }
        };
        patterns.iter().map(one).max().unwrap_or(Fit::No)
    }

    /// Whether a path may begin in the folder of another account, or another one of the shell's:
    /// `~ann`, `~+`.
    fn is_of_others(path: &str) -> bool {
        path.strip_prefix('~').is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
    }

    /// Whether a path is surely in the work folder.
    pub(crate) fn is_in_work_folder(&self, path: &str) -> bool {
        !path.is_empty()
            && !path.contains(['$', '`', '*', CUT])
            && !Self::is_of_others(path)
            && Path::new(&self.plain(path)).starts_with(&self.work_folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> Places {
        Places { work_folder: "/home/ann/work".into(), home: Some("/home/ann".into()) }
    }

    fn fit(pattern: &str, path: &str) -> Fit {
        places().fit(&Patterns::one(pattern), path)
    }

    #[test]
    fn a_path_is_compared_by_where_it_leads() {
        for path in
            ["~/.ssh/id", "/home/ann/.ssh/id", "../.ssh/id", "$HOME/.ssh/id", "./..//.ssh/./id"]
        {
            assert_eq!(fit("~/.ssh/*", path), Fit::Yes, "{path}");
        }
        for path in ["~/.sshx/id", "data/a.csv", "./~ann/.ssh/id", "/root/.ssh/id"] {
            assert_eq!(fit("~/.ssh/*", path), Fit::No, "{path}");
        }
        assert_eq!(fit("data/*", "data/../../.ssh/id"), Fit::No);
        assert_eq!(fit("data/*", "/home/ann/work/data/a"), Fit::Yes);
        assert_eq!(fit("*.key", "/anywhere/a.key"), Fit::Yes);
    }

    #[test]
    fn what_is_computed_or_holds_what_is_meant_may_fit() {
        for path in ["", "$X/id", "/home/*", "~", "/", "..", "a/a/…", "~ann/.ssh/id", "~+/x"] {
            assert_eq!(fit("~/.ssh/*", path), Fit::Maybe, "{path}");
        }
        assert!(places().is_in_work_folder("a/b") && !places().is_in_work_folder("a/../../b"));
        assert!(!places().is_in_work_folder("a/a/…"), "it may leave the folder behind the cut");
        assert!(!places().is_in_work_folder("~ann/a"));
        assert!(!places().is_in_work_folder("") && !places().is_in_work_folder("$X/a"));
    }
}
