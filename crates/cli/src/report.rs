//! Shows an error: what failed, why, and the next step, and gives the exit code.
//!
//! Readable without colour; a command is in backticks; the hint is on its own line after a blank one.
//! The advice itself is in `agent::advice`, which all front ends share.

use crate::{exit::Exit, terminal::screen::Screen};
use interpreter_agent::{
    Advise, AgentError, ChooseError,
    changes::WorkspaceError,
    embedded::{PullError, ShelfError},
};
use interpreter_store::{Environment, StoreError};
use interpreter_web::http::HttpError;
use std::{error::Error as _, io, process::ExitCode};

/// Why a command could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Agent(#[from] AgentError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error("{0}")]
    Misuse(String),
    #[error("{what}")]
    Io { what: String, source: io::Error },
    #[error(transparent)]
    Hardening(#[from] interpreter_jail::JailFailure),
    #[error("the terminal cannot be written to")]
    Output(#[from] io::Error),
}

/// An error of usage that parsing cannot detect.
pub(crate) fn misuse(text: impl Into<String>) -> Error {
    Error::Misuse(text.into())
}

/// Tells an error and gives the exit code for it.
pub(crate) fn show(error: &Error) -> ExitCode {
    // Whoever reads our output may have enough of it, as `head` does: that is no error.
    if let Error::Output(source) = error
        && source.kind() == io::ErrorKind::BrokenPipe
    {
        return Exit::Done.into();
    }
    // Names of files and words of providers are in it. If even that fails there is nobody left to
    // tell.
    _ = tell(error, &mut Screen::stderr(&Environment::read())).is_ok();
    exit(error).into()
}

/// Tells an error, with its causes and the next step, where a session goes on.
pub(crate) fn tell(error: &Error, screen: &mut Screen) -> io::Result<()> {
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
    screen.error(&text, advice(error).as_deref())
}

/// Reports a bug in this program, with its location and how to report it.
pub(crate) fn bug(panic: &std::panic::PanicHookInfo<'_>) {
    let what = panic.payload_as_str().unwrap_or("no message");
    let place = panic.location().map_or_else(String::new, |place| format!(" ({place})"));
    let text = format!("this is a bug in the interpreter: {what}{place}");
    let hint = "please report it with these lines; the record shows what ran: see `interpreter \
                history show`";
    _ = Screen::stderr(&Environment::read()).error(&text, Some(hint)).is_ok();
}

/// The next step, in the terms of a command line.
fn advice(error: &Error) -> Option<String> {
    match error {
        Error::Agent(error) => error.advice(),
        Error::Store(error) => error.advice(),
        Error::Http(error) => error.advice().map(str::to_owned),
        Error::Misuse(_) => Some("`interpreter --help` lists the commands and options".into()),
        Error::Hardening(_) | Error::Io { .. } | Error::Output(_) => None,
    }
}

fn exit(error: &Error) -> Exit {
    match error {
        Error::Agent(AgentError::Choose(error)) => choice_exit(error),
        Error::Agent(AgentError::Exec(_) | AgentError::Program(_)) | Error::Hardening(_) => {
            Exit::CannotConfine
        }
        Error::Agent(AgentError::Model(_) | AgentError::PullOffline { .. }) => Exit::ModelFailed,
        Error::Agent(AgentError::Pull(error)) => pull_exit(error),
        Error::Agent(AgentError::Store(error)) | Error::Store(error) => store_exit(error),
        Error::Agent(AgentError::Workspace(WorkspaceError::Conflict { .. })) => Exit::Refused,
        Error::Agent(
            AgentError::Workspace(_)
            | AgentError::WorkFolder(_)
            | AgentError::NoIndex { .. }
            | AgentError::Rule { .. }
            | AgentError::AddedRule(_)
            | AgentError::Grant { .. }
            | AgentError::Image { .. }
            | AgentError::Resume { .. }
            | AgentError::Attachment { .. },
        )
        | Error::Http(_)
        | Error::Misuse(_)
        | Error::Io { .. }
        | Error::Output(_) => Exit::Misuse,
    }
}

fn choice_exit(error: &ChooseError) -> Exit {
    match error {
        ChooseError::Weights(_) | ChooseError::Model(_) => Exit::ModelFailed,
        ChooseError::None
        | ChooseError::NoneLocal
        | ChooseError::NoModel { .. }
        | ChooseError::UnknownEndpoint { .. }
        | ChooseError::NotOffered { .. }
        | ChooseError::UnknownEmbedded { .. }
        | ChooseError::Provider(_)
        | ChooseError::Certificates(_) => Exit::Misuse,
    }
}

fn pull_exit(error: &PullError) -> Exit {
    match error {
        PullError::Shelf(ShelfError::Missing { .. })
        | PullError::FromSize { .. }
        | PullError::From { .. }
        | PullError::Endpoint => Exit::Misuse,
        PullError::Shelf(_)
        | PullError::Server { .. }
        | PullError::Mismatch { .. }
        | PullError::NoRoom { .. }
        | PullError::Write { .. } => Exit::ModelFailed,
    }
}

/// Without a record nothing runs; a wrong setting or name is a mistake of the person.
#[expect(clippy::wildcard_enum_match_arm, reason = "every other failure is one of the record")]
fn store_exit(error: &StoreError) -> Exit {
    match error {
        StoreError::Config(_)
        | StoreError::Secrets { .. }
        | StoreError::Keyring { .. }
        | StoreError::StandardInput { .. }
        | StoreError::PipedTooLong { .. }
        | StoreError::NotASessionId { .. }
        | StoreError::NoSession { .. }
        | StoreError::AmbiguousSession { .. }
        | StoreError::NotRemovable { .. }
        | StoreError::UsersTaken { .. }
        | StoreError::NotAnAnchor { .. } => Exit::Misuse,
        _ => Exit::CannotConfine,
    }
}
