//! One file per command; its doc comment is its help.

use crate::{
    args::{Args, Command},
    original,
    report::{Error, misuse},
    terminal::screen::Screen,
};
use clap::{CommandFactory, FromArgMatches};
use interpreter_core::similar::slip_of;
use interpreter_store::Environment;
use std::{ffi::OsString, process::ExitCode};

pub(crate) mod audit;
pub(crate) mod changes;
pub(crate) mod chat;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod history;
pub(crate) mod import;
mod input;
pub(crate) mod languages;
pub(crate) mod man;
pub(crate) mod model;
pub(crate) mod packages;
pub(crate) mod rules;
pub(crate) mod run;
mod save;
pub(crate) mod secret;
pub(crate) mod serve;
pub(crate) mod trust;

/// Parses what was typed and does it.
pub(crate) fn run(typed: impl Iterator<Item = OsString>) -> Result<ExitCode, Error> {
    let mut command = Args::command();
    let names = command.get_subcommands().map(|one| one.get_name().to_owned());
    let names: Vec<_> = names.chain(["help".to_owned()]).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let words = original::translated(typed, &names)?;
    let matches = command.try_get_matches_from_mut(words);
    let args = match matches.and_then(|matches| Args::from_arg_matches(&matches)) {
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
    check_for_slip(&args.prompt, &names)?;
    match args.command {
        None => chat::chat(&args),
        Some(Command::Run(args)) => run::run(&args),
        Some(Command::Serve(args)) => serve::serve(&args),
        Some(Command::Changes(args)) => changes::changes(&args),
        Some(Command::History(args)) => history::history(&args),
        Some(Command::Audit(args)) => audit::audit(&args),
        Some(Command::Doctor(args)) => doctor::doctor(&args),
        Some(Command::Languages(args)) => languages::languages(&args),
        Some(Command::Model(args)) => model::model(&args),
        Some(Command::Packages(args)) => packages::packages(&args),
        Some(Command::Rules(args)) => rules::rules(&args),
        Some(Command::Trust(args)) => trust::trust(&args),
        Some(Command::Secret(args)) => secret::secret(&args),
        Some(Command::Config(args)) => config::config(&args),
        Some(Command::Import(args)) => import::import(&args),
        Some(Command::Completions(args)) => completions::completions(&args),
        Some(Command::Man(args)) => man::man(&args),
    }
}

/// Refuses a lone word that is nearly a command: it was meant as one, and is no prompt.
fn check_for_slip(prompt: &[String], commands: &[&str]) -> Result<(), Error> {
    const SHORTEST: usize = 4;
    let [word] = prompt else { return Ok(()) };
    let is_plain = word.len() >= SHORTEST && word.bytes().all(|byte| byte.is_ascii_lowercase());
    // Short names are near to too many words.
    let known = commands.iter().copied().filter(|name| name.len() > SHORTEST);
    match slip_of(word, known).filter(|_| is_plain) {
        Some(near) => Err(misuse(format!(
            "unknown command `{word}`; did you mean `interpreter {near}`? A prompt needs more than \
             one word"
        ))),
        None => Ok(()),
    }
}
