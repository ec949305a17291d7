//! `SQLite`'s failures, by what a person can do about them.

use crate::StoreError;
use rusqlite::{Error, ErrorCode, ffi};
use std::path::Path;

/// The error for a failure of the database at `path`.
pub(super) fn failure(path: &Path, source: Error) -> StoreError {
    let path = path.to_path_buf();
    if matches!(
        source,
        Error::FromSqlConversionFailure(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::InvalidColumnType(..)
            | Error::Utf8Error(..)
    ) {
        return StoreError::Broken { path };
    }
    let Some(error) = source.sqlite_error() else { return StoreError::Database { path, source } };
    // A foreign enum that may grow: what is not told apart here is shown as it is.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the rest has no advice of its own")]
    match error.code {
        ErrorCode::DiskFull => StoreError::Full { path, source },
        // The shared memory beside a database could not grow: there was no room for it.
        ErrorCode::SystemIoFailure if error.extended_code == ffi::SQLITE_IOERR_SHMSIZE => {
            StoreError::Full { path, source }
        }
        ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied => {
            StoreError::ReadOnly { path, source }
        }
        ErrorCode::DatabaseBusy
        | ErrorCode::DatabaseLocked
        | ErrorCode::FileLockingProtocolFailed => StoreError::Locked { path, source },
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => {
            StoreError::Corrupt { path, source }
        }
        // Only our own constraints and triggers exist: what is in the file is not what we wrote.
        ErrorCode::ConstraintViolation => StoreError::Broken { path },
        _ => StoreError::Database { path, source },
    }
}
