//! One file per command; its doc comment is its help.

use crate::{
    args::{Args, Command},
    report::Error,
    terminal::screen::Screen,
};
use clap::Parser;
use interpreter_agent::{AgentError, Scene};
use interpreter_store::{Environment, Overrides};
use std::{ffi::OsString, io::IsTerminal, process::ExitCode};

pub(crate) mod audit;
pub(crate) mod changes;
pub(crate) mod chat;
pub(crate) mod doctor;
pub(crate) mod history;
mod input;
pub(crate) mod languages;
pub(crate) mod model;
pub(crate) mod run;
pub(crate) mod trust;

/// Parses what was typed and does it.
pub(crate) fn run(typed: impl Iterator<Item = OsString>) -> Result<ExitCode, Error> {
    let args = match Args::try_parse_from(typed) {
        Ok(args) => args,
        Err(error) => {
            if error.use_stderr() {
                // It quotes the arguments, and a file's name can be one.
                Screen::stderr(&Environment::read()).lines(&error.render().to_string())?;
            } else {
                // Help and version are ours alone.
                error.print()?;
            }
            return Ok(ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2)));
        }
    };
    match args.command {
        None => chat::chat(&args),
        Some(Command::Run(args)) => run::run(&args),
        Some(Command::Changes(args)) => changes::changes(&args),
        Some(Command::History(args)) => history::history(&args),
        Some(Command::Audit(args)) => audit::audit(&args),
        Some(Command::Doctor(args)) => doctor::doctor(&args),
        Some(Command::Languages(args)) => languages::languages(&args),
        Some(Command::Model(args)) => model::model(&args),
        Some(Command::Trust(args)) => trust::trust(&args),
    }
}

/// The scene of the folder that the person is in.
fn scene(overrides: &Overrides) -> Result<Scene, Error> {
    let here = std::env::current_dir().map_err(AgentError::WorkFolder)?;
    let program = std::env::current_exe().map_err(AgentError::Program)?;
    Ok(Scene::open(Environment::read(), &here, program, overrides)?)
}

/// Whether a person can be asked: they see the question and can answer it.
#[expect(clippy::disallowed_methods, reason = "nothing is written")]
fn at_terminal() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Runs something that waits. One thread: what takes long happens in other processes.
fn wait_for<T>(future: impl Future<Output = T>) -> Result<T, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let local = tokio::task::LocalSet::new();
    Ok(local.block_on(&runtime, future))
}
