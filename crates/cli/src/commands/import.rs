//! `interpreter import`: take over profiles and conversations of the original.

use crate::{
    exit::Exit,
    report::{Error, misuse},
    start::context,
    terminal::{
        ours::{count, ours, word},
        screen::Screen,
    },
};
use interpreter_agent::import::{Imported, ImportedAs};
use interpreter_store::Overrides;
use std::{io, path::PathBuf, process::ExitCode};

/// Import profiles and conversations of the original Open Interpreter
///
/// Reads its YAML and Python profiles and its JSON conversations as data; nothing is run. Profiles
/// become profiles/NAME.toml, conversations become sessions of `interpreter history`. Settings that
/// have no equal are listed. Nothing is replaced.
#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// File or folder to import [default: ~/.config/open-interpreter]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
}

pub(crate) fn import(args: &ImportArgs) -> Result<ExitCode, Error> {
    let context = context(&Overrides::default())?;
    let mut paths = args.paths.clone();
    if paths.is_empty() {
        paths.extend(context.folder_of_original());
    }
    let mut screen = Screen::stdout(&context.environment);
    let mut all = Vec::new();
    for path in &paths {
        if !path.exists() {
            return Err(misuse(format!("nothing to import: `{}` does not exist", path.display())));
        }
        all.extend(context.import(path)?);
    }
    all.iter().try_for_each(|one| tell(&mut screen, one))?;
    let failed = all.iter().filter(|one| one.outcome.is_err()).count();
    screen
        .say(count(all.len() - failed, "file") + " imported, " + count(failed, "file") + " not")?;
    Ok(if failed == 0 { Exit::Done } else { Exit::Misuse }.into())
}

fn tell(screen: &mut Screen, imported: &Imported) -> io::Result<()> {
    let path = imported.path.display().to_string();
    match &imported.outcome {
        Ok(ImportedAs::Profile { name, left }) => {
            screen.say(
                ours("profile ") + word(name) + ": use it with `--profile " + word(name) + "`",
            )?;
            screen.row(&format!("from {path}"))?;
            left.iter().try_for_each(|line| screen.row(&format!("not imported: {line}")))
        }
        Ok(ImportedAs::Session { id, left, can_go_on }) => {
            let how = if *can_go_on {
                ": go on with `interpreter --resume="
            } else {
                ": read it with `interpreter history show "
            };
            screen.say(ours("session ") + word(id) + how + word(id) + "`")?;
            screen.row(&format!("from {path}"))?;
            if *left > 0 {
                screen.say(count(*left, "message") + " not imported: pictures, files or empty")?;
            }
            Ok(())
        }
        Err(why) => {
            screen.say("not imported:")?;
            screen.row(&format!("{path}: {why}"))
        }
    }
}
