//! What can go wrong around a session.

use crate::ChooseError;
use interpreter_core::{Untrusted, record::TurnEnd, session::Failure};
use interpreter_exec::{ExecError, workspace::WorkspaceError};
use interpreter_model::{ModelError, pull::PullError};
use interpreter_store::StoreError;
use std::path::{Path, PathBuf};

/// Why a session could not start or go on.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// Settings or the record.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The choice of a model.
    #[error(transparent)]
    Choose(#[from] ChooseError),
    /// The model itself.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Fetching or removing a model that runs in this program.
    #[error(transparent)]
    Pull(#[from] PullError),
    /// Nothing but this machine may be reached, and the model is elsewhere.
    #[error(
        "`embedded/{name}` cannot be fetched: nothing but this machine may be reached (`offline`)"
    )]
    PullOffline {
        /// The model.
        name: String,
    },
    /// The sandbox or what runs in it.
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// Staged changes.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// A kind of packages that is listed, and of which nothing is known here.
    #[error(
        "`{preset}` is listed among the hosts, and {tool} names no place that it fetches from; set one \
         in its own settings, or list its host by name"
    )]
    NoIndex {
        /// What is listed.
        preset: &'static str,
        /// The tool that was looked at.
        tool: &'static str,
    },
    /// A path that was to be shown to code.
    #[error("`{}` cannot be shown to code: {reason}", path.display())]
    Grant {
        /// The path, as it was typed.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A picture cannot be shown to the model.
    #[error("the picture `{}` cannot be sent: {reason}", shown(path))]
    Image {
        /// Its path, as it was typed.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The work folder.
    #[error("the work folder cannot be found")]
    WorkFolder(#[source] std::io::Error),
    /// Our own binary.
    #[error("this program cannot find its own file, which the sandbox is started from")]
    Program(#[source] std::io::Error),
}

/// A path as a message may hold it.
fn shown(path: &Path) -> String {
    Untrusted::new(path.to_string_lossy()).for_terminal_line(200)
}

impl AgentError {
    /// What helps, where the sandbox or the choice of a model knows it.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others have no advice of their own")]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Exec(error) => exec_failure(error).hint,
            Self::Choose(error) => error.hint(),
            _ => None,
        }
    }
}

/// An error and its causes, on one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let words = inner.to_string();
        // Transparent wrappers repeat what they wrap.
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        cause = inner.source();
    }
    text
}

/// A failure of the sandbox, as the session sees it.
pub(crate) fn exec_failure(error: &ExecError) -> Failure {
    let (end, hint) = match error {
        ExecError::CannotConfine { hint, .. } => {
            let doctor = "`interpreter doctor` shows what the sandbox needs".to_owned();
            (TurnEnd::CannotConfine, Some(hint.clone().unwrap_or(doctor)))
        }
        ExecError::NoBackend { hint, .. } => {
            let doctor = "`interpreter doctor` shows what each sandbox needs".to_owned();
            (TurnEnd::CannotConfine, Some(hint.clone().unwrap_or(doctor)))
        }
        ExecError::Lacking { lacks, .. } => {
            let names: Vec<_> = lacks.iter().map(|lack| lack.promise.word()).collect();
            let hint = format!("`--allow-missing {}` accepts that, for once", names.join(","));
            (TurnEnd::CannotConfine, Some(hint))
        }
        ExecError::CannotStage { hint, .. } => (TurnEnd::CannotConfine, Some((*hint).to_owned())),
        ExecError::WorkFolder { .. } => (TurnEnd::CannotConfine, None),
        ExecError::NoInterpreter { hint, .. } => (TurnEnd::CodeFailed, Some(hint.clone())),
        ExecError::Kernel { .. } => (
            TurnEnd::CodeFailed,
            Some("`interpreter languages` shows which interpreter is used".into()),
        ),
        ExecError::SandboxEnded { .. } | ExecError::Stream(_) => (TurnEnd::CodeFailed, None),
        ExecError::Workspace(error) => (TurnEnd::CannotConfine, workspace_hint(error)),
    };
    Failure { message: chain(error), hint, end }
}

/// What helps with a change set, as a line.
fn workspace_hint(error: &WorkspaceError) -> Option<String> {
    match error {
        WorkspaceError::Conflict { .. } => Some(
            "they are still staged; look at them with `interpreter changes diff` and put them in \
             place with `interpreter changes apply --overwrite`"
                .into(),
        ),
        WorkspaceError::TooMuchToCopy { .. } | WorkspaceError::MountedInside { .. } => Some(
            "`--workspace read-only` shows the folder itself and refuses changes, `--workspace \
             direct` makes them at once; the native sandbox needs no copy"
                .into(),
        ),
        WorkspaceError::NoRoom { .. } => Some(
            "free some disk space, or forget what is staged with `interpreter changes discard`"
                .into(),
        ),
        WorkspaceError::ChangedSinceShown { .. }
        | WorkspaceError::NoSuchSet { .. }
        | WorkspaceError::ShortId { .. }
        | WorkspaceError::OtherFolder { .. }
        | WorkspaceError::InUse { .. }
        | WorkspaceError::NotAChange { .. }
        | WorkspaceError::NothingApplied { .. }
        | WorkspaceError::NothingUndone { .. }
        | WorkspaceError::WorkFolderGone { .. }
        | WorkspaceError::Files { .. } => None,
        WorkspaceError::Version { .. }
        | WorkspaceError::Damaged { .. }
        | WorkspaceError::Edited { .. }
        | WorkspaceError::Incomplete { .. } => {
            Some("`interpreter changes discard ID` removes a set that cannot be used".into())
        }
    }
}

/// Why a model cannot be talked to, as the session sees it.
pub(crate) fn choice_failure(error: &AgentError) -> Failure {
    Failure { message: chain(error), hint: error.hint(), end: TurnEnd::ModelFailed }
}

/// A failure of the model, as the session sees it.
pub(crate) fn model_failure(error: &ModelError) -> Failure {
    Failure { message: chain(error), hint: model_hint(error), end: TurnEnd::ModelFailed }
}

/// Environment variables in a sentence.
fn named(variables: &[String]) -> String {
    if variables.is_empty() {
        return "the environment variable that `key_variable` of the endpoint names".into();
    }
    format!("the environment variable {}", variables.join(" or "))
}

fn model_hint(error: &ModelError) -> Option<String> {
    let hint = match error {
        ModelError::BadAddress { .. } => "mend `base_url` in your config file",
        ModelError::BadKey { .. } => {
            "check the key in the environment variable that the endpoint names"
        }
        ModelError::KeyRefused { variables, .. } => {
            return Some(format!("check the key in {}", named(variables)));
        }
        ModelError::KeyMissing { variables, .. } => {
            return Some(format!("put the key into {}", named(variables)));
        }
        ModelError::Certificates { .. } => "mend `certificates` in your config file",
        ModelError::Offline { .. } => {
            "choose a model on this machine (`interpreter model list`), or go without `--offline`"
        }
        ModelError::Unreachable { .. } => {
            "check the network, a proxy in HTTPS_PROXY, that the server is up, and `certificates` in \
             your config file if its certificate is not known here"
        }
        ModelError::TimedOut { .. } => {
            "check the network and that the server is up, or name other models in `fallback`"
        }
        ModelError::UnknownModel { .. } => {
            "choose another with `--model`, or in a chat with `/model`; `interpreter model list` shows \
             providers and local models"
        }
        ModelError::RateLimited { .. } => "wait and ask again; nothing was lost",
        ModelError::OutOfCredit { .. } => {
            "add credit, or choose another model with `--model`, or in a chat with `/model`"
        }
        ModelError::ContextTooLong { .. } => "start a new session, or ask for less at once",
        ModelError::Redirected { .. } | ModelError::NotAStream { .. } => {
            "check `base_url`: it should end where the provider's version does, as in `/v1`"
        }
        ModelError::Client { .. } => {
            "install the system's certificates (`ca-certificates`), or name a file in `certificates`"
        }
        ModelError::Rejected { .. } => {
            "`interpreter model test` shows what the model can do; check `temperature` and \
             `max_tokens`, and `tools` of the endpoint"
        }
        ModelError::Server { .. } => "ask again later, or name other models in `fallback`",
        ModelError::Broken { .. } => "ask again; what came is on record",
        ModelError::Malformed { .. } => "check `base_url` and `format` of the endpoint",
        ModelError::TooLarge { .. } => "ask again; this was no reply that a model would mean",
        ModelError::NoEngine { .. } => {
            "build with the feature `embedded`, or choose another model with `--model`"
        }
        ModelError::Processor { .. } => "choose a hosted model or a local server with `--model`",
        ModelError::BadWeights { .. } => "fetch it again with `interpreter model pull`",
        ModelError::Memory { .. } => {
            "close other programs, or choose a smaller model; `interpreter model list` shows them"
        }
        ModelError::NoThread { .. } => "close other programs, or raise the limit of processes",
        ModelError::Engine { .. } => {
            "ask again; if it fails again, choose another, in a chat with `/model`"
        }
        ModelError::Script(_) => return None,
    };
    Some(hint.into())
}
