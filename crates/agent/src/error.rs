//! The errors around a session. They state facts; [`advice`](crate::advice) has the next step.

use crate::{Advise, ChooseError};
use interpreter_analyze::AddedRuleError;
use interpreter_core::{Untrusted, outline::OutlineUnseen, record::TurnEnd, session::Failure};
use interpreter_exec::ExecError;
use interpreter_model::{ModelError, pull::PullError};
use interpreter_store::StoreError;
use interpreter_workspace::WorkspaceError;
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
    /// Installing or removing a model that runs in this program.
    #[error(transparent)]
    Pull(#[from] PullError),
    /// Nothing but this machine may be reached, and the model is elsewhere.
    #[error(
        "`embedded/{name}` cannot be downloaded: nothing but this machine may be reached (`offline`)"
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
    /// A kind of packages is allowed whose index is not known.
    #[error("`{preset}` is listed among the hosts, and {tool} names no index")]
    NoIndex {
        /// The preset in the list.
        preset: &'static str,
        /// The tool that was looked at.
        tool: &'static str,
    },
    /// A rule names a language that is not known.
    #[error("{place}: the rule `{rule}` names an unknown language")]
    Rule {
        /// Where it stands.
        place: String,
        /// The rule, in words.
        rule: String,
        /// The name that may be meant.
        near: Option<String>,
    },
    /// A rule for the analysis of code that does not hold.
    #[error(transparent)]
    AddedRule(#[from] AddedRuleError),
    /// A path that was to be shown to code.
    #[error("cannot grant `{}`: {reason}", path.display())]
    Grant {
        /// The path, as it was typed.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A picture cannot be shown to the model.
    #[error("cannot send the image `{}`: {reason}", shown(path))]
    Image {
        /// Its path, as it was typed.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// An earlier conversation cannot go on.
    #[error("cannot resume: {reason}")]
    Resume {
        /// Why.
        reason: String,
    },
    /// A file cannot be attached to a prompt.
    #[error("cannot attach `{}`: {reason}", shown(path))]
    Attachment {
        /// Its path, as it was typed.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The work folder.
    #[error("cannot find the work folder")]
    WorkFolder(#[source] std::io::Error),
    /// Our own binary.
    #[error("cannot find this program's own file, which starts the sandbox")]
    Program(#[source] std::io::Error),
}

impl AgentError {
    /// Whether the session has staged nothing, so that there is nothing to give.
    #[must_use]
    pub const fn is_nothing_staged(&self) -> bool {
        matches!(self, Self::Exec(ExecError::NothingStaged))
    }
}

/// A path as a message may hold it.
fn shown(path: &Path) -> String {
    Untrusted::new(path.to_string_lossy()).for_terminal_line(200)
}

/// An error and its causes, on one line.
pub fn chain(error: &dyn std::error::Error) -> String {
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

/// Whether a message says that a decision named a snapshot which is no longer held.
pub fn says_look_again(message: &str) -> bool {
    message == ExecError::LookAgain.to_string()
}

/// Whether a message says that many changes were to be applied without the outline of them.
pub fn says_outline_unseen(message: &str) -> bool {
    OutlineUnseen::is_said_by(message)
}

/// A failure as the session sees it.
fn failure(error: &(impl std::error::Error + Advise), end: TurnEnd) -> Failure {
    Failure { message: chain(error), hint: error.advice(), end }
}

/// A failure of the sandbox.
pub(crate) fn exec_failure(error: &ExecError) -> Failure {
    let end = match error {
        ExecError::CannotConfine { .. }
        | ExecError::NoBackend { .. }
        | ExecError::Lacking { .. }
        | ExecError::CannotStage { .. }
        | ExecError::WorkFolder { .. }
        | ExecError::Workspace(_) => TurnEnd::CannotConfine,
        ExecError::NoInterpreter { .. }
        | ExecError::Kernel { .. }
        | ExecError::SandboxEnded { .. }
        | ExecError::NothingStaged
        | ExecError::OutOfReach { .. }
        | ExecError::StagesNothing { .. }
        | ExecError::HunksNotShown { .. }
        | ExecError::LookAgain
        | ExecError::Stream(_) => TurnEnd::CodeFailed,
    };
    failure(error, end)
}

/// A failure to choose another model.
pub(crate) fn choice_failure(error: &AgentError) -> Failure {
    failure(error, TurnEnd::ModelFailed)
}

/// A failure of the model.
pub(crate) fn model_failure(error: &ModelError) -> Failure {
    failure(error, TurnEnd::ModelFailed)
}
