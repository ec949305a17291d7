//! What really happened when a proposal ran, measured from outside.

use serde::{Deserialize, Serialize};

/// What a run did, by outside evidence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effects {
    /// The change set that holds the staged files; none if nothing is staged.
    pub changes: Option<String>,
    /// Files of the work folder that differ from the person's.
    pub files: Vec<FileChange>,
    /// Hosts that were tried.
    pub network: Vec<HostContact>,
}

/// One file that differs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileChange {
    /// Relative to the work folder. A program chose this name, so it is shown through a filter.
    pub path: String,
    /// How it differs.
    pub change: Change,
}

/// How a file differs from the person's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It is new.
    Created,
    /// Its content, kind or mode is another.
    Changed,
    /// It is gone.
    Deleted,
}

impl Change {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed => "changed",
            Self::Deleted => "deleted",
        }
    }
}

/// One attempt to reach a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostContact {
    /// The host's name or address.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Whether it was let through.
    pub verdict: String,
}
