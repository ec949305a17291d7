//! Why weights cannot be used, or be got rid of.

use std::{io, path::PathBuf};

/// An error in the weights on this machine.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the fields are named in the message of each variant")]
pub enum ShelfError {
    /// There are none.
    #[error("`embedded/{name}` is not on this machine")]
    Missing { name: String },

    /// The file is another one, or only a part of it.
    #[error("`{}` has {bytes} bytes and must have {wanted}", path.display())]
    WrongSize { path: PathBuf, bytes: u64, wanted: u64 },

    /// The file is another one.
    #[error(
        "`{}` is not the file that it should be: its SHA-256 is {hash} and must be {wanted}; it is \
         not used",
        path.display()
    )]
    Altered { path: PathBuf, hash: String, wanted: String },

    /// Somebody else is at it.
    #[error("another `interpreter` is fetching or removing a model in `{}`", folder.display())]
    Busy { folder: PathBuf },

    /// The disk.
    #[error("the file of the model cannot be read")]
    Read { source: io::Error },

    /// The disk.
    #[error("the folder of the models cannot be written to")]
    Write { source: io::Error },

    /// The disk.
    #[error("the model cannot be removed")]
    Remove { source: io::Error },
}
