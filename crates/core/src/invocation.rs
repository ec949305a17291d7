//! How code was called from a command line.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The words by which code was called. Code with a file is a script: it runs as its interpreter
/// would run that file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invocation {
    /// Its name as it was typed: the path of a file, `-c` or `-`.
    pub name: String,
    /// The whole path of its file, if it came from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// Its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
}
