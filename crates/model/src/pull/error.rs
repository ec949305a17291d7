//! Why a model could not be fetched.

use crate::shelf::ShelfError;
use std::{io, path::PathBuf};

/// Why a model could not be fetched.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the fields are named in the message of each variant")]
pub enum PullError {
    /// The folder of the models.
    #[error(transparent)]
    Shelf(#[from] ShelfError),

    /// The server did not serve the file.
    #[error("`embedded/{name}` could not be downloaded: {host} {why}")]
    Server { name: String, host: String, why: String, kept: u64 },

    /// The address to download from.
    #[error("`HF_ENDPOINT` is not an address such as `https://huggingface.co`")]
    Endpoint,

    /// The file has another hash than the catalogue.
    #[error(
        "the file from {} is not `{file}`: its SHA-256 is {hash} and must be {wanted}; it is not used",
        from.join(" and ")
    )]
    Mismatch { file: String, hash: String, wanted: String, from: Vec<String> },

    /// The disk has too little space.
    #[error(
        "`{}` has room for {} and {} are needed", folder.display(), megabytes(*free),
        megabytes(*needed)
    )]
    NoRoom { folder: PathBuf, needed: u64, free: u64 },

    /// The disk does not take it.
    #[error("the download cannot be written")]
    Write { source: io::Error },

    /// The file that was named.
    #[error("the file of the model cannot be read")]
    From { source: io::Error },

    /// The file that was named is another one, or cut short.
    #[error("`{}` has {bytes} bytes and must have {wanted}", path.display())]
    FromSize { path: PathBuf, bytes: u64, wanted: u64 },
}

fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes / 1_000_000)
}
