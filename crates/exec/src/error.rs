//! What can go wrong between a permit and its output.

use crate::workspace::WorkspaceError;
use std::{io, path::PathBuf};

/// Why a permitted proposal did not run, or its changes could not be handled.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// The sandbox could not be built; nothing ran.
    #[error("the {backend} sandbox cannot be built here: {reason}")]
    CannotConfine {
        /// The backend.
        backend: &'static str,
        /// The step that failed and why.
        reason: String,
        /// What may help.
        hint: Option<String>,
    },
    /// The work folder cannot be shown in a sandbox.
    #[error("the folder {folder} cannot be the work folder: {reason}")]
    WorkFolder {
        /// The folder.
        folder: PathBuf,
        /// Why.
        reason: &'static str,
    },
    /// The language's interpreter is not there.
    #[error("no interpreter for {language} was found")]
    NoInterpreter {
        /// The language.
        language: String,
        /// How to get one.
        hint: String,
    },
    /// The interpreter did not start.
    #[error("the {language} interpreter did not start: {reason}")]
    Kernel {
        /// The language.
        language: String,
        /// Why.
        reason: String,
    },
    /// The sandbox ended by itself.
    #[error("the sandbox ended unexpectedly: {reason}")]
    SandboxEnded {
        /// What is known.
        reason: String,
    },
    /// The stream to the sandbox broke.
    #[error("the stream to the sandbox broke")]
    Stream(#[from] io::Error),
    /// Staged changes could not be handled.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
}
