//! The errors between a permit and its output. They state facts; advice is for whoever shows them.

use interpreter_core::{Backend, Lack, Untrusted};
use interpreter_workspace::WorkspaceError;
use std::{io, path::PathBuf};

/// Why a permitted proposal did not run, or its changes could not be handled.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the fields are named in the message of each variant")]
pub enum ExecError {
    /// The sandbox could not be built; nothing ran.
    #[error("cannot build the {backend} sandbox: {reason}")]
    CannotConfine {
        backend: &'static str,
        /// The step that failed and why.
        reason: String,
        /// The kind of obstacle, if it is a known one.
        cause: Option<Cause>,
    },
    /// The backend keeps less than is promised, and nobody allowed that.
    #[error("{} keeps less than is promised:{}", called(backend), listed(lacks))]
    Lacking { backend: &'static str, lacks: Vec<Lack> },
    /// The backend has no such way to show the work folder.
    #[error("{} cannot keep changes to the work folder {how}", called(backend))]
    CannotStage {
        backend: &'static str,
        /// The requested handling: `apart` or `away`.
        how: &'static str,
    },
    /// None of the backends that were tried will do.
    #[error("no sandbox that keeps every promise can be built here:{}", refused(refusals))]
    NoBackend {
        /// Each with its reason, in short.
        refusals: Vec<(&'static str, String)>,
        /// The first known kind of obstacle, of the strongest backend that has one.
        cause: Option<Cause>,
    },
    /// The work folder cannot be shown in a sandbox.
    #[error("{folder} cannot be the work folder: {reason}")]
    WorkFolder { folder: PathBuf, reason: String },
    /// The language's interpreter is not there.
    #[error("no interpreter for {language} was found")]
    NoInterpreter { language: String },
    /// The interpreter did not start.
    #[error("the {language} interpreter did not start: {reason}")]
    Kernel { language: String, reason: String },
    /// The sandbox ended by itself.
    #[error("the sandbox ended unexpectedly: {reason}")]
    SandboxEnded { reason: String },
    /// The stream to the sandbox broke.
    #[error("the stream to the sandbox broke")]
    Stream(#[from] io::Error),
    /// This session has not staged anything.
    #[error("nothing is staged in this session")]
    NothingStaged,
    /// Hunks were picked by numbers that the person has not seen.
    #[error("the hunks of `{}` have not been shown as they are now", shown(.path))]
    HunksNotShown {
        /// The file.
        path: String,
    },
    /// The snapshot that a decision names is not the one that is held.
    #[error("what is staged has changed since it was shown")]
    LookAgain,
    /// A file of the person's own cannot be staged, or a file cannot be read.
    #[error("`{}` is out of reach: {why}", shown(.path))]
    OutOfReach {
        /// Its path in the work folder.
        path: String,
        why: String,
    },
    /// Changes to the work folder are not kept apart.
    #[error("this session stages nothing: changes to the work folder are {how}")]
    StagesNothing {
        /// `direct` or `read-only`.
        how: &'static str,
    },
    /// Staged changes could not be handled.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
}

fn shown(path: &str) -> String {
    Untrusted::new(path).for_terminal_line(200)
}

/// The known obstacles to building a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The backend does not serve root.
    Root,
    /// Root's code runs as another user, who cannot write to the work folder.
    RootCannotWrite,
    /// A program is not installed; the package that has it.
    NotInstalled(&'static str),
    /// bubblewrap did not start our program.
    Bubblewrap,
    /// firejail did not start our program.
    Firejail,
    /// The system refuses user namespaces.
    UserNamespacesRefused,
    /// The system's limit of user namespaces is reached.
    UserNamespacesUsedUp,
    /// The system refuses a fresh `/proc`.
    ProcRefused,
    /// The work folder cannot have an overlay.
    NoOverlay,
    /// A folder cannot be shown by an overlay, so its sockets and pipes would lead outside.
    NotCutOff,
    /// A secret is in a folder that code may write to, and cannot be hidden there.
    SecretInWritable,
    /// The kernel has no Landlock, or an old one.
    Landlock,
    /// The container engine has no such image.
    NoImage,
    /// The image's system does not run our binary.
    ImageMisfit,
    /// The person may not use the container engine.
    EngineForbidden,
    /// The container engine does not run.
    EngineDown,
    /// The container engine did not start our program.
    EngineFailed,
    /// A container engine cannot bind a path, for its name.
    NotBindable,
}

fn called(backend: &str) -> String {
    if backend == Backend::NONE.word() {
        "running without a sandbox".into()
    } else {
        format!("the {backend} sandbox")
    }
}

fn listed(lacks: &[Lack]) -> String {
    lacks.iter().map(|lack| row(lack.promise.word(), lack.why)).collect()
}

fn refused(refusals: &[(&str, String)]) -> String {
    refusals.iter().map(|(backend, why)| row(backend, why)).collect()
}

/// A line below the first one.
fn row(name: &str, why: &str) -> String {
    format!("\n  {name}: {why}")
}
