//! What can go wrong between a permit and its output.

use crate::workspace::WorkspaceError;
use interpreter_core::{Backend, Lack};
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
    /// The backend keeps less than is promised, and nobody allowed that.
    #[error("{} keeps less than is promised: {}", called(backend), listed(lacks))]
    Lacking {
        /// The backend.
        backend: &'static str,
        /// What it lacks.
        lacks: Vec<Lack>,
    },
    /// The backend has no such way to show the work folder.
    #[error("{} cannot keep changes to the work folder {how}", called(backend))]
    CannotStage {
        /// The backend.
        backend: &'static str,
        /// What was asked for: `apart` or `away`.
        how: &'static str,
        /// What can be asked for instead.
        hint: &'static str,
    },
    /// None of the backends that were tried will do.
    #[error("no sandbox that keeps what is promised can be built here: {}", refused(refusals))]
    NoBackend {
        /// Each with its reason.
        refusals: Vec<(&'static str, String)>,
        /// What may help.
        hint: Option<String>,
    },
    /// The work folder cannot be shown in a sandbox.
    #[error("the folder {folder} cannot be the work folder: {reason}")]
    WorkFolder {
        /// The folder.
        folder: PathBuf,
        /// Why, and what to do instead.
        reason: String,
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

fn called(backend: &str) -> String {
    if backend == Backend::None.word() {
        "running without a sandbox".into()
    } else {
        format!("the {backend} sandbox")
    }
}

fn listed(lacks: &[Lack]) -> String {
    let words: Vec<_> =
        lacks.iter().map(|lack| format!("{}: {}", lack.promise, lack.why)).collect();
    words.join("; ")
}

fn refused(refusals: &[(&str, String)]) -> String {
    let words: Vec<_> = refusals.iter().map(|(_, why)| why.as_str()).collect();
    words.join("; ")
}
