//! `interpreter changes`: what is staged, and what becomes of it.

use crate::{
    commands::scene,
    exit::Exit,
    report::Error,
    terminal::{
        json,
        ours::{count, ours, word},
        screen::Screen,
        story,
    },
};
use interpreter_agent::{
    AgentError, Scene,
    changes::{
        self, Applied, Catalog, Conflict, Summary, Unreadable, Wanted, Which, WorkspaceError,
    },
};
use interpreter_core::Untrusted;
use interpreter_store::{Environment, Overrides};
use std::process::ExitCode;

/// See, apply, discard, undo or redo staged changes
///
/// Code's changes to the work folder are staged as a set. Without an id, the newest staged set of
/// this folder is meant; for undo, the one applied last, and for redo the one undone last. Which one
/// that is, is printed.
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
    /// changes nothing, if a file was changed outside since the set began. Names of secrets and the
    /// folders of version control systems, such as .git, are left out unless they are named.
    Apply {
        #[command(flatten)]
        chosen: Chosen,
        /// Replace files even if they were changed outside meanwhile
        #[arg(long)]
        overwrite: bool,
    },
    /// Forget a set
    ///
    /// Also removes a set that is damaged.
    Discard(Chosen),
    /// Take an applied set out of the folder again
    Undo {
        #[command(flatten)]
        one: One,
        /// Restore files even if they were changed meanwhile
        #[arg(long)]
        overwrite: bool,
    },
    /// Put what was undone last into the folder once more
    Redo {
        #[command(flatten)]
        one: One,
        /// Replace files even if they were changed meanwhile
        #[arg(long)]
        overwrite: bool,
    },
}

/// A set, or some paths of it.
#[derive(Debug, clap::Args)]
struct Chosen {
    /// The set's id, all eight characters, and paths of it; all of the newest set if there are none
    #[arg(value_name = "ID|PATH")]
    names: Vec<String>,
    /// Act on the set with this id; all names are then paths
    #[arg(long = "set", value_name = "ID")]
    set: Option<String>,
}

/// A set.
#[derive(Debug, clap::Args)]
struct One {
    /// The set's id, all eight characters
    #[arg(conflicts_with = "set")]
    id: Option<String>,
    /// Act on the set with this id
    #[arg(long = "set", value_name = "ID")]
    set: Option<String>,
}

pub(crate) fn changes(args: &ChangesArgs) -> Result<ExitCode, Error> {
    let scene = scene(&Overrides::default())?;
    match args.command.as_ref().unwrap_or(&ChangesCommand::List { json: false }) {
        ChangesCommand::List { json } => list(&scene, *json),
        ChangesCommand::Diff(chosen) => chosen.act(&scene, |which, paths| {
            let Some(diff) = changes::diff(&scene, which, paths)? else { return Ok(None) };
            Screen::stdout(&scene.environment).lines(diff.raw())?;
            Ok(Some(Exit::Done.into()))
        }),
        ChangesCommand::Apply { chosen, overwrite } => chosen.act(&scene, |which, paths| {
            let Some(review) = changes::review(&scene, which, paths)? else { return Ok(None) };
            let id = review.id().to_owned();
            told("Applied", &id, &review.apply(conflict(*overwrite))?).map(Some)
        }),
        ChangesCommand::Discard(chosen) => chosen.act(&scene, |which, paths| {
            let discarded = changes::discard(&scene, which, paths)?;
            discarded.map(|(id, files)| told("Discarded", &id, &files)).transpose()
        }),
        ChangesCommand::Undo { one, overwrite } => one.act(&scene, Wanted::Applied, |which| {
            let undone = changes::undo(&scene, which, conflict(*overwrite))?;
            undone.map(|(id, files)| told("Undid", &id, &files)).transpose()
        }),
        ChangesCommand::Redo { one, overwrite } => one.act(&scene, Wanted::Undone, |which| {
            let redone = changes::redo(&scene, which, conflict(*overwrite))?;
            redone.map(|(id, files)| told("Redid", &id, &files)).transpose()
        }),
    }
}

impl Chosen {
    /// Does something with the set that is meant; says so if there is none.
    fn act(
        &self,
        scene: &Scene,
        act: impl FnOnce(&Which, &[String]) -> Result<Option<ExitCode>, Error>,
    ) -> Result<ExitCode, Error> {
        let Some((id, paths)) = self.meant(scene)? else { return nothing() };
        let done = act(&Which::Named(id), &paths).map_err(|error| mistaken(scene, error))?;
        done.map_or_else(nothing, Ok)
    }

    /// The set and the paths that are meant; none if nothing is staged and nothing named.
    ///
    /// The first name is a set's id if it is all of one, and everything else is a path: a file called
    /// `1` must not stand for every set that begins so.
    fn meant(&self, scene: &Scene) -> Result<Option<(String, Vec<String>)>, Error> {
        if let Some(id) = &self.set {
            return Ok(Some((id.clone(), self.names.clone())));
        }
        if let Some((first, rest)) = self.names.split_first()
            && changes::is_set(scene, first)?
        {
            let newest = changes::newest(scene, Wanted::Staged)?.map(|set| set.id);
            for id in newest.iter().chain([first]) {
                if changes::has_name(scene, id, first)? {
                    return Err(Error::Misuse(format!(
                        "`{first}` is a change set and also a file in the set {id}: write \
                         `--set {first}` for the set, or `./{first}` for the file"
                    )));
                }
            }
            return Ok(Some((first.clone(), rest.to_vec())));
        }
        match (newest_named(scene, Wanted::Staged)?, self.names.first()) {
            (Some(id), _) => Ok(Some((id, self.names.clone()))),
            (None, None) => Ok(None),
            (None, Some(name)) => {
                let name = Untrusted::new(&**name).for_terminal_line(200);
                Err(Error::Misuse(format!(
                    "there is no change set `{name}`, and nothing is staged in this folder"
                )))
            }
        }
    }
}

impl One {
    fn act(
        &self,
        scene: &Scene,
        wanted: Wanted,
        act: impl FnOnce(&Which) -> Result<Option<ExitCode>, Error>,
    ) -> Result<ExitCode, Error> {
        let named = self.set.as_ref().or(self.id.as_ref()).cloned();
        let id = match named {
            Some(id) => Some(id),
            None => newest_named(scene, wanted)?,
        };
        let Some(id) = id else { return nothing() };
        act(&Which::Named(id))?.map_or_else(nothing, Ok)
    }
}

/// The set that is meant where none is named, which is said.
fn newest_named(scene: &Scene, wanted: Wanted) -> Result<Option<String>, Error> {
    let Some(set) = changes::newest(scene, wanted)? else { return Ok(None) };
    let time = word(set.created.get(..19).unwrap_or_default());
    let mut words = ours("Set ") + word(&set.id) + " of " + time;
    if wanted == Wanted::Staged {
        words = words + ", " + count(set.files, "file");
    }
    Screen::stderr(&scene.environment).say(words + ".")?;
    Ok(Some(set.id))
}

/// Where a path was meant for an id that was not typed in full, says so.
fn mistaken(scene: &Scene, error: Error) -> Error {
    let Error::Agent(AgentError::Workspace(WorkspaceError::NotAChange { paths })) = &error else {
        return error;
    };
    let sets = changes::list(scene).map(|all| all.sets).unwrap_or_default();
    let begins = |path: &String| sets.iter().find(|set| set.id.starts_with(path.as_str()));
    match paths.iter().find_map(|path| Some((path, begins(path)?))) {
        Some((path, set)) => Error::Misuse(format!(
            "no staged change at `{path}`; to name the set {0}, write all of its id: {0}",
            set.id
        )),
        None => error,
    }
}

fn conflict(overwrite: bool) -> Conflict {
    if overwrite { Conflict::Overwrite } else { Conflict::Refuse }
}

fn list(scene: &Scene, as_json: bool) -> Result<ExitCode, Error> {
    let mut screen = Screen::stdout(&scene.environment);
    let Catalog { sets, unreadable } = changes::list(scene)?;
    for set in sets {
        let state = set.state.word();
        if as_json {
            json::print_value(&serde_json::json!({
                "id": set.id,
                "state": state,
                "files": set.files,
                "created": set.created,
                "undoable": set.undoable,
                "redoable": set.redoable,
                "kept_bytes": set.kept_bytes,
                "in_use": set.in_use,
            }))?;
        } else {
            let files = count(set.files, "file");
            let (files, notes) = (files.as_str(), notes(&set));
            let line = format!("{}  {state:<9}  {files:>10}  {}{notes}", set.id, set.created);
            screen.tell(&line)?;
        }
    }
    for Unreadable { id, why } in unreadable {
        if as_json {
            let value = serde_json::json!({ "id": id, "state": "unreadable", "why": why });
            json::print_value(&value)?;
        } else {
            Screen::stderr(&scene.environment).tell(&format!(
                "Set {id} cannot be used: {why}. `interpreter changes discard {id}` removes it."
            ))?;
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
    let mut screen = Screen::stderr(&Environment::read());
    screen.say("There is no such set of changes for this folder.")?;
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
