//! What can be wrong with a config file.
//!
//! Messages hold keys and small values, never a whole line of a file: someone may have put a
//! secret there.

use super::Layer;
use crate::error::shown;
use std::{io, path::PathBuf};

/// Why there are no settings.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the fields are named in the message of each variant")]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("`{}` could not be read", shown(path))]
    Read { path: PathBuf, source: io::Error },

    /// The file is a folder, a pipe or a device.
    #[error("`{}` must be a regular file and is not", shown(path))]
    NotAFile { path: PathBuf },

    /// The file is no config file that anyone wrote.
    #[error("`{}` is larger than {most} bytes, so it is not read as settings", shown(path))]
    TooLarge { path: PathBuf, most: u64 },

    /// The folder holds more files than anyone wrote.
    #[error("`{}` holds more than {most} files, so none of them is read", shown(path))]
    TooMany { path: PathBuf, most: usize },

    /// The file is not text.
    #[error("`{}` is not UTF-8 text", shown(path))]
    NotText { path: PathBuf },

    /// The file is not TOML, or says something that is not known.
    #[error("{}:{line}:{column}: {message}", shown(path))]
    Parse { path: PathBuf, line: usize, column: usize, message: String },

    /// The project's file sets what only the person may.
    #[error("{}: a project may not set `{key}`: {reason}", shown(path))]
    ProjectMayNot { path: PathBuf, key: &'static str, reason: &'static str },

    /// The project's file is looser than what holds without it.
    #[error(
        "{}: a project may only tighten, and `{key} = {wanted}` is looser than {current}, from \
         {layer}",
        shown(path)
    )]
    ProjectLoosens {
        path: PathBuf,
        key: &'static str,
        wanted: String,
        current: String,
        layer: Layer,
    },

    /// The project's file lists a host that the person's own settings do not.
    #[error(
        "{}: a project may only tighten, and `network.hosts` lists `{host}`, which you do not; if \
         you trust it, `--allow-host {host}` lists it for you",
        shown(path)
    )]
    ProjectListsHost { path: PathBuf, host: String },

    /// The file has a form that nothing can be added to.
    #[error("`{}` cannot be added to; add `{entry}` to `network.hosts` by hand", shown(path))]
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
