//! The machine that settings are read from, and the result for one tool.

use crate::{Environment, regular};
use interpreter_core::egress::HostRule;
use std::{
    collections::BTreeMap,
    io::Read,
    path::{Path, PathBuf},
};

/// Where settings are looked for.
#[derive(Clone, Copy, Debug)]
pub struct IndexMachine<'a> {
    /// The environment.
    pub environment: &'a Environment,
    /// The person's home.
    pub home: Option<&'a Path>,
    /// Where the system's files are: `/`.
    pub root: &'a Path,
    /// Where interpreters and their tools are installed, such as `/usr`.
    pub prefixes: &'a [PathBuf],
}

/// The resolved settings of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    /// The places it fetches from.
    pub hosts: Vec<HostRule>,
    /// Variables that make the same tool inside fetch from there.
    pub variables: BTreeMap<String, String>,
    /// Whether the tool would send a user name and password there. They are not among the variables.
    pub has_password: bool,
}

/// The largest file that is read. Settings are small, and so is what is read of a tool.
const MOST: u64 = 4 << 20;

/// Files of a folder that are looked at.
const MOST_FILES: usize = 200;

impl IndexMachine<'_> {
    pub(super) fn in_home(&self, path: &str) -> Option<PathBuf> {
        Some(self.home?.join(path))
    }

    pub(super) fn in_config(&self, path: &str) -> Option<PathBuf> {
        match self.environment.raw("XDG_CONFIG_HOME").map(PathBuf::from) {
            Some(config) if config.is_absolute() => Some(config.join(path)),
            Some(_) | None => self.in_home(".config").map(|config| config.join(path)),
        }
    }

    pub(super) fn in_root(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }
}

/// The text of a file, if it is a file with text.
pub(super) fn read(path: &Path) -> Option<String> {
    let mut text = String::new();
    // Half of a file could name another place than all of it.
    let read = regular::open(path).ok()?.take(MOST + 1).read_to_string(&mut text).ok()?;
    (read as u64 <= MOST).then_some(text)
}

/// The files and folders in a folder, by name.
pub(super) fn list(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.flatten().take(MOST_FILES).map(|entry| entry.path()).collect();
    paths.sort();
    paths
}
