//! `interpreter languages`: what runs here.

use crate::{commands::scene, exit::Exit, report::Error};
use interpreter_store::Overrides;
use std::{
    io::{self, Write},
    process::ExitCode,
};

/// List the languages that run here
///
/// Shows each language, the interpreter that runs it and the names that models may use for it,
/// or how to get an interpreter where there is none.
#[derive(Debug, clap::Args)]
pub(crate) struct LanguagesArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn languages(args: &LanguagesArgs) -> Result<ExitCode, Error> {
    let scene = scene(&Overrides::default())?;
    let table = scene.interpreters().languages();
    let mut out = io::stdout().lock();
    let mut list = Vec::new();
    for (name, interpreter) in scene.interpreters().all() {
        let aliases = table.iter().find(|info| info.name == name).map(|info| &info.aliases);
        let aliases = aliases.map_or_else(String::new, |aliases| aliases.join(", "));
        let program = interpreter.map(|found| found.program.display().to_string());
        list.push(serde_json::json!({
            "name": name,
            "aliases": aliases,
            "program": program.as_ref().ok(),
            "hint": program.as_ref().err(),
        }));
        if !args.json {
            match program {
                Ok(program) => writeln!(out, "{name:<12} {program}  ({aliases})")?,
                Err(hint) => writeln!(out, "{name:<12} not found: {hint}")?,
            }
        }
    }
    if args.json {
        writeln!(out, "{}", serde_json::Value::from(list))?;
    }
    Ok(Exit::Done.into())
}
