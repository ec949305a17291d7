//! Errors in a config file.
//!
//! Messages hold keys and small values, never a whole line of a file: someone may have put a
//! secret there.

use crate::error::shown;
use std::{fmt, io, path::PathBuf};

/// An error in a config file: the place, the key with the cause, and the next step.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it; lines and columns count from 1")]
pub struct Fault {
    pub path: PathBuf,
    pub line: usize,
    pub column: usize,
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, column, message } = self;
        write!(f, "{}:{line}:{column}: {message}", shown(path))
    }
}

fn each(faults: &[Fault]) -> String {
    faults.iter().map(Fault::to_string).collect::<Vec<_>>().join("\n")
}

/// Why there are no settings.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the fields are named in the message of each variant")]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read `{}`", shown(path))]
    Read { path: PathBuf, source: io::Error },

    /// The file is a folder, a pipe or a device.
    #[error("`{}` is not a regular file", shown(path))]
    NotAFile { path: PathBuf },

    /// The file is larger than anyone writes by hand.
    #[error("`{}` is larger than {most} bytes, so it is not read as settings", shown(path))]
    TooLarge { path: PathBuf, most: u64 },

    /// The folder holds more files than anyone wrote.
    #[error("`{}` holds more than {most} files, so none of them is read", shown(path))]
    TooMany { path: PathBuf, most: usize },

    /// The file is not text.
    #[error("`{}` is not UTF-8 text", shown(path))]
    NotText { path: PathBuf },

    /// The file is not TOML, sets something unknown, or sets what a project may not.
    #[error("{}", each(.0))]
    Invalid(Vec<Fault>),

    /// A variable or an option has a value that does not fit.
    #[error("{from}: {reason}")]
    Words { from: String, reason: String },

    /// A setting that is asked for by name is not declared.
    #[error(
        "there is no setting `{name}`{}",
        near.as_ref().map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
    )]
    NoSetting { name: String, near: Option<String> },

    /// The file has a form that nothing can be added to.
    #[error("`{}` has a form that `{entry}` cannot be added to", shown(path))]
    CannotKeep { path: PathBuf, entry: String },

    /// A profile's name is not one.
    #[error("`{name}` is not the name of a profile; use letters, digits, `-`, `_` and `.`")]
    ProfileName { name: String },

    /// There is no such profile.
    #[error(
        "there is no profile `{name}`: `{}` does not exist{}",
        shown(path),
        if others.is_empty() { String::new() } else { format!("; there are {}", others.join(", ")) }
    )]
    NoProfile { name: String, path: PathBuf, others: Vec<String> },
}
