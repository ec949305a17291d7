//! One file per command; its doc comment is its help.

use crate::{
    args::{Args, Command},
    report::Error,
    terminal::screen::Screen,
};
use clap::Parser;
use interpreter_store::Environment;
use std::{ffi::OsString, process::ExitCode};

pub(crate) mod audit;
pub(crate) mod changes;
pub(crate) mod chat;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod history;
mod input;
pub(crate) mod languages;
pub(crate) mod man;
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
        Some(Command::Config(args)) => config::config(&args),
        Some(Command::Completions(args)) => completions::completions(&args),
        Some(Command::Man(args)) => man::man(&args),
    }
}
