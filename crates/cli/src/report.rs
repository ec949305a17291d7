//! How an error is told: what failed, why, and what to do next.
//!
//! The one place that knows advice and exit codes. Readable without colour; a command stands in
//! backticks; the hint stands on its own line after a blank one.

use crate::{exit::Exit, terminal::screen::Screen};
use interpreter_agent::{
    AgentError, ChooseError,
    changes::WorkspaceError,
    embedded::{PullError, ShelfError},
    models,
};
use interpreter_store::{Environment, StoreError};
use std::{error::Error as _, io, process::ExitCode};

/// Why a command could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Agent(#[from] AgentError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}")]
    Misuse(String),
    #[error("{what}")]
    Io { what: String, source: io::Error },
    #[error(transparent)]
    Hardening(#[from] interpreter_jail::Failure),
    #[error("the terminal cannot be written to")]
    Output(#[from] io::Error),
}

/// Tells an error and gives the exit code for it.
pub(crate) fn show(error: &Error) -> ExitCode {
    // Whoever reads our output may have enough of it, as `head` does: that is no error.
    if let Error::Output(source) = error
        && source.kind() == io::ErrorKind::BrokenPipe
    {
        return Exit::Done.into();
    }
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let words = inner.to_string();
        if !text.contains(&words) {
            text.push_str("\n  because: ");
            text.push_str(&words);
        }
        cause = inner.source();
    }
    let (exit, hint) = advice(error);
    // Names of files and words of providers are in it. If even that fails there is nobody left to
    // tell.
    _ = Screen::stderr(&Environment::read()).error(&text, hint.as_deref()).is_ok();
    exit.into()
}

/// Tells a bug of ours: what broke and where, and where to report it.
pub(crate) fn bug(panic: &std::panic::PanicHookInfo<'_>) {
    let what = panic.payload_as_str().unwrap_or("no message");
    let place = panic.location().map_or_else(String::new, |place| format!(" ({place})"));
    let text = format!("this is a bug in the interpreter: {what}{place}");
    let hint = "please report it with these lines; the record shows what ran: see `interpreter \
                history show`";
    _ = Screen::stderr(&Environment::read()).error(&text, Some(hint)).is_ok();
}

fn advice(error: &Error) -> (Exit, Option<String>) {
    match error {
        Error::Agent(AgentError::Choose(error)) => choice(error),
        Error::Agent(error @ AgentError::Exec(_)) => {
            let doctor = "`interpreter doctor` shows what the sandbox needs".to_owned();
            (Exit::CannotConfine, error.hint().or(Some(doctor)))
        }
        Error::Agent(AgentError::Model(error)) => (Exit::ModelFailed, models::told(error).1),
        Error::Agent(AgentError::Pull(error)) => pulled(error),
        Error::Agent(AgentError::PullOffline { .. }) => (
            Exit::ModelFailed,
            Some("go without `--offline`, or take it from a file with `--from FILE`".into()),
        ),
        Error::Agent(AgentError::Store(error)) | Error::Store(error) => kept(error),
        Error::Agent(AgentError::Workspace(error)) => workspace(error),
        Error::Agent(AgentError::WorkFolder(_)) => {
            (Exit::Misuse, Some("change to a folder that exists and that you may read".into()))
        }
        Error::Agent(AgentError::Program(_)) => {
            (Exit::CannotConfine, Some("start the program by its full path".into()))
        }
        Error::Hardening(_) => (Exit::CannotConfine, None),
        Error::Misuse(_) => (Exit::Misuse, Some("`interpreter --help` lists what there is".into())),
        Error::Agent(
            AgentError::NoIndex { .. } | AgentError::Grant { .. } | AgentError::Image { .. },
        )
        | Error::Io { .. }
        | Error::Output(_) => (Exit::Misuse, None),
    }
}

fn choice(error: &ChooseError) -> (Exit, Option<String>) {
    let exit = match error {
        ChooseError::Weights(_) | ChooseError::Model(_) => Exit::ModelFailed,
        ChooseError::None
        | ChooseError::NoneLocal
        | ChooseError::NoModel { .. }
        | ChooseError::UnknownEndpoint { .. }
        | ChooseError::UnknownEmbedded { .. }
        | ChooseError::Provider(_)
        | ChooseError::Certificates(_) => Exit::Misuse,
    };
    (exit, error.hint())
}

fn pulled(error: &PullError) -> (Exit, Option<String>) {
    let hint = match error {
        PullError::Shelf(error @ ShelfError::Missing { .. }) => {
            return (Exit::Misuse, Some(error.hint()));
        }
        PullError::Shelf(ShelfError::WrongSize { .. }) => {
            return (Exit::Misuse, Some("name the file that the catalogue has".into()));
        }
        PullError::Shelf(error) => return (Exit::ModelFailed, Some(error.hint())),
        PullError::NoSource { kept, .. } => {
            let kept = if *kept > 0 {
                "what came is kept, and the next `pull` goes on with it; "
            } else {
                ""
            };
            return (
                Exit::ModelFailed,
                Some(format!(
                    "{kept}check the network, a proxy in HTTPS_PROXY and the settings of your pip, or \
                     take it from a file with `interpreter model pull NAME --from FILE`"
                )),
            );
        }
        PullError::Mismatch { .. } => {
            "try again; if it comes again, what is in HF_ENDPOINT or in the settings of your pip does \
             not have the real file"
        }
        PullError::NoRoom { .. } => {
            "free some space, or take the tiny one: `interpreter model pull qwen2.5-coder-0.5b`"
        }
        PullError::Write { .. } => "check the folder and the disk it is on; what came is kept",
        PullError::From { .. } => return (Exit::Misuse, None),
    };
    (Exit::ModelFailed, Some(hint.into()))
}

/// Without a record nothing runs; a wrong setting is the person's to mend.
#[expect(clippy::wildcard_enum_match_arm, reason = "only what has advice of its own is listed")]
fn kept(error: &StoreError) -> (Exit, Option<String>) {
    match error {
        StoreError::Config(_) => (Exit::Misuse, None),
        StoreError::NoSession { .. } | StoreError::AmbiguousSession { .. } => {
            (Exit::Misuse, Some("`interpreter history list` shows the sessions".into()))
        }
        _ => (
            Exit::CannotConfine,
            Some("nothing more is run: everything must be on record first".into()),
        ),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "only what has advice of its own is listed")]
fn workspace(error: &WorkspaceError) -> (Exit, Option<String>) {
    let hint = match error {
        WorkspaceError::Conflict { .. } => {
            let hint = "nothing was changed. Look at `interpreter changes diff`; `--overwrite` puts \
                        the set in place all the same";
            return (Exit::Refused, Some(hint.into()));
        }
        WorkspaceError::Edited { .. }
        | WorkspaceError::Incomplete { .. }
        | WorkspaceError::Damaged { .. }
        | WorkspaceError::Version { .. } => {
            "nothing was changed. `interpreter changes discard ID` removes the set"
        }
        WorkspaceError::OtherFolder { .. } => "change to that folder first",
        WorkspaceError::InUse { .. } => "decide there, or end that session first",
        WorkspaceError::NoRoom { .. } => {
            "free some disk space; `interpreter changes discard` frees what is staged"
        }
        _ => "`interpreter changes list` shows the sets of this folder",
    };
    (Exit::Misuse, Some(hint.into()))
}
