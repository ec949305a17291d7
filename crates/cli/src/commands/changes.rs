//! `interpreter changes`: what is staged, and what becomes of it.

use crate::{
    commands::scene,
    exit::Exit,
    report::Error,
    terminal::{
        ours::{count, ours, word},
        screen::Screen,
        story,
    },
};
use interpreter_agent::{
    Scene,
    changes::{self, Applied, Conflict, Summary, Which},
};
use interpreter_store::{Environment, Overrides};
use std::{
    io::{self, Write},
    process::ExitCode,
};

/// See, apply, discard, undo or redo staged changes
///
/// Code's changes to the work folder are staged as a set. Without an id, the newest staged set of
/// this folder is meant; for undo, the one applied last, and for redo the one undone last.
#[derive(Debug, clap::Args)]
pub(crate) struct ChangesArgs {
    #[command(subcommand)]
    command: Option<ChangesCommand>,
}

#[derive(Debug, clap::Subcommand)]
enum ChangesCommand {
    /// List the sets of this folder, newest first
    List {
        /// Print JSON, one set a line
        #[arg(long)]
        json: bool,
    },
    /// Show what a set would change
    Diff(Chosen),
    /// Put a set into the folder
    ///
    /// Each file is replaced in one step, and what it replaces is kept for undo. Refuses, and
    /// changes nothing, if a file was changed outside since the set began.
    Apply {
        #[command(flatten)]
        chosen: Chosen,
        /// Replace files even if they were changed outside meanwhile
        #[arg(long)]
        overwrite: bool,
    },
    /// Forget a set
    Discard(Chosen),
    /// Take an applied set out of the folder again
    Undo {
        /// The set's id, or the beginning of it
        id: Option<String>,
        /// Restore files even if they were changed meanwhile
        #[arg(long)]
        overwrite: bool,
    },
    /// Put what was undone last into the folder once more
    Redo {
        /// The set's id, or the beginning of it
        id: Option<String>,
        /// Replace files even if they were changed meanwhile
        #[arg(long)]
        overwrite: bool,
    },
}

/// A set, or some paths of it.
#[derive(Debug, clap::Args)]
struct Chosen {
    /// The set's id, and paths of it; all of the newest set if there are none
    #[arg(value_name = "ID|PATH")]
    names: Vec<String>,
}

pub(crate) fn changes(args: &ChangesArgs) -> Result<ExitCode, Error> {
    let scene = scene(&Overrides::default())?;
    match args.command.as_ref().unwrap_or(&ChangesCommand::List { json: false }) {
        ChangesCommand::List { json } => list(&scene, *json),
        ChangesCommand::Diff(chosen) => {
            let (which, paths) = chosen.meant(&scene)?;
            let Some(diff) = changes::diff(&scene, &which, &paths)? else { return nothing() };
            write!(io::stdout(), "{}", diff.for_terminal())?;
            Ok(Exit::Done.into())
        }
        ChangesCommand::Apply { chosen, overwrite } => {
            let (which, paths) = chosen.meant(&scene)?;
            match changes::apply(&scene, &which, &paths, conflict(*overwrite))? {
                Some((id, applied)) => told("Applied", &id, &applied),
                None => nothing(),
            }
        }
        ChangesCommand::Discard(chosen) => {
            let (which, paths) = chosen.meant(&scene)?;
            match changes::discard(&scene, &which, &paths)? {
                Some((id, discarded)) => told("Discarded", &id, &discarded),
                None => nothing(),
            }
        }
        ChangesCommand::Undo { id, overwrite } => {
            let which = id.clone().map_or(Which::Newest, Which::Named);
            match changes::undo(&scene, &which, conflict(*overwrite))? {
                Some((id, undone)) => told("Undid", &id, &undone),
                None => nothing(),
            }
        }
        ChangesCommand::Redo { id, overwrite } => {
            let which = id.clone().map_or(Which::Newest, Which::Named);
            match changes::redo(&scene, &which, conflict(*overwrite))? {
                Some((id, redone)) => told("Redid", &id, &redone),
                None => nothing(),
            }
        }
    }
}

impl Chosen {
    /// The first name is a set's id if there is such a set; everything else is a path.
    fn meant(&self, scene: &Scene) -> Result<(Which, Vec<String>), Error> {
        let Some((first, rest)) = self.names.split_first() else {
            return Ok((Which::Newest, vec![]));
        };
        let is_id = changes::list(scene)?.iter().any(|set| set.id.starts_with(first.as_str()));
        Ok(if is_id {
            (Which::Named(first.clone()), rest.to_vec())
        } else {
            (Which::Newest, self.names.clone())
        })
    }
}

fn conflict(overwrite: bool) -> Conflict {
    if overwrite { Conflict::Overwrite } else { Conflict::Refuse }
}

fn list(scene: &Scene, json: bool) -> Result<ExitCode, Error> {
    let mut out = io::stdout().lock();
    for set in changes::list(scene)? {
        let state = set.state.word();
        if json {
            let line = serde_json::json!({
                "id": set.id,
                "state": state,
                "files": set.files,
                "created": set.created,
                "undoable": set.undoable,
                "redoable": set.redoable,
                "kept_bytes": set.kept_bytes,
                "in_use": set.in_use,
            });
            writeln!(out, "{line}")?;
        } else {
            let files = count(set.files, "file");
            let files = files.as_str();
            let notes = notes(&set);
            writeln!(out, "{}  {state:<9}  {files:>10}  {}{notes}", set.id, set.created)?;
        }
    }
    Ok(Exit::Done.into())
}

/// What can still be done with a set, and what keeps it from being done.
fn notes(set: &Summary) -> String {
    let times = |count: usize, what: &str| match count {
        0 => String::new(),
        1 => format!("  {what}"),
        _ => format!("  {what} × {count}"),
    };
    let used = if set.in_use { "  in use by a running session" } else { "" };
    times(set.undoable, "undo") + &times(set.redoable, "redo") + used
}

fn nothing() -> Result<ExitCode, Error> {
    writeln!(io::stderr(), "There is no such set of changes for this folder.")?;
    Ok(Exit::Done.into())
}

fn told(done: &'static str, id: &str, applied: &Applied) -> Result<ExitCode, Error> {
    let mut screen = Screen::stdout(&Environment::read());
    let changes = count(applied.files.len(), "change");
    screen.say(ours(done) + " " + changes + " (set " + word(id) + ").")?;
    story::files(&mut screen, &applied.files)?;
    story::left_out(&mut screen, &applied.left_out)?;
    Ok(Exit::Done.into())
}
