//! Why a model could not be fetched.

use crate::shelf::ShelfError;
use std::{io, path::PathBuf};

/// Why a model could not be fetched.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the fields are named in the message of each variant")]
pub enum PullError {
    /// The folder, or what is in it.
    #[error(transparent)]
    Shelf(#[from] ShelfError),

    /// No source served.
    #[error("`embedded/{name}` could not be fetched{}", listed(failures))]
    NoSource { name: String, failures: Vec<Failure>, kept: u64 },

    /// It is not the file that the catalogue names.
    #[error(
        "what came from {} is not `{file}`: its SHA-256 is {hash} and must be {wanted}; it was removed",
        from.join(" and ")
    )]
    Mismatch { file: String, hash: String, wanted: String, from: Vec<String> },

    /// The disk is too small.
    #[error(
        "`{}` has room for {} and {} are needed", folder.display(), megabytes(*free),
        megabytes(*needed)
    )]
    NoRoom { folder: PathBuf, needed: u64, free: u64 },

    /// The disk.
    #[error("what came of the model cannot be written")]
    Write { source: io::Error },

    /// The file that was named.
    #[error("the file that the model was to be taken from cannot be read")]
    From { source: io::Error },
}

/// A source that did not serve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Its name.
    pub source: String,
    /// Why not, in words that may be shown.
    pub why: String,
}

fn listed(failures: &[Failure]) -> String {
    let mut text = String::new();
    for Failure { source, why } in failures {
        text.push_str("\n  ");
        text.push_str(source);
        text.push_str(": ");
        text.push_str(why);
    }
    text
}

fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes / 1_000_000)
}
