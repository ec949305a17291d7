//! What bounds a run: files, network, limits, environment.
//!
//! One value says all of it, the same for every backend. It is complete: what is not listed
//! here is not there. Nothing is inherited from the process that starts the sandbox.

use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, path::PathBuf};

/// Everything a run may reach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// The folder the code works in, at the same path inside and outside.
    pub work_folder: PathBuf,
    /// How the code's writes to the work folder are treated.
    pub workspace: Workspace,
    /// Other paths. The narrower path wins; on a tie deny beats write beats read.
    pub files: BTreeMap<PathBuf, Access>,
    /// What the code may talk to outside of the sandbox. Loopback inside always works.
    pub network: Network,
    /// What the code may use up.
    pub limits: Limits,
    /// The whole environment of the code.
    pub environment: BTreeMap<String, String>,
}

/// How writes to the work folder are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Workspace {
    /// They land in a layer of their own and are shown before they touch the folder.
    #[default]
    Stage,
    /// They touch the folder at once.
    Direct,
    /// They are refused.
    ReadOnly,
}

impl Workspace {
    /// The word on the command line and in config files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Stage => "stage",
            Self::Direct => "direct",
            Self::ReadOnly => "read-only",
        }
    }
}

/// What may be done with a path. Ordered, so that the stricter of two is their `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Seen, not changed.
    Read,
    /// Changed at once.
    Write,
    /// Not there.
    Deny,
}

/// What the code may talk to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    /// Nothing but loopback inside the sandbox.
    #[default]
    None,
}

impl Network {
    /// The word in messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "no network",
        }
    }
}

/// What one run, or one sandbox, may use up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Seconds a run may take; none means that only the person ends it.
    pub wall_seconds: Option<u64>,
    /// Bytes of memory each process may have of its own.
    pub memory_bytes: u64,
    /// Processes and threads at once.
    pub processes: u64,
    /// Bytes of the largest file that may be written.
    pub file_bytes: u64,
    /// Files that one process may have open.
    pub open_files: u64,
    /// Bytes of temporary files.
    pub temporary_bytes: u64,
    /// Bytes that a run may print.
    pub output_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        const GIB: u64 = 1 << 30;
        Self {
            wall_seconds: None,
            memory_bytes: 4 * GIB,
            processes: 512,
            file_bytes: 4 * GIB,
            open_files: 1024,
            temporary_bytes: 2 * GIB,
            output_bytes: GIB,
        }
    }
}
