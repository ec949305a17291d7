//! `interpreter changes`: list, show, apply, discard, undo and redo staged changes.

use crate::{
    exit::Exit,
    report::{Error, misuse},
    start::{at_terminal, context, screen, wait_for},
    terminal::{
        ask::Asker,
        json,
        ours::{count, ours, word},
        outline_question::{self, SeenYes},
        screen::Screen,
        transcript,
    },
};
use interpreter_agent::{
    AgentError, Context,
    changes::{
        self, Applied, Catalog, ChangeReview, Conflict, Summary, Unreadable, Wanted, Which,
        WorkspaceError,
    },
};
use interpreter_core::{Pick, Untrusted, outline::ApplyOrder};
use interpreter_store::{Environment, Overrides, local_time};
use reedline::Reedline;
use std::{io, process::ExitCode};

/// Review, apply, discard, undo or redo staged changes
///
/// Changes that code makes to the work folder are staged as a set. The default is the newest staged
/// set of this folder; for undo the set applied last, and for redo the set undone last. Each
/// command prints the set it uses.
#[derive(Debug, clap::Args)]
pub(crate) struct ChangesArgs {
    #[command(subcommand)]
    command: Option<ChangesCommand>,
}

#[derive(Debug, clap::Subcommand)]
enum ChangesCommand {
    /// List the sets of this folder, newest first
    List {
        /// Print JSON, one set per line
        #[arg(long)]
        json: bool,
    },
    /// Show the changes of a set
    Diff(Chosen),
    /// Apply a set to the folder
    ///
    /// Replaces each file atomically and keeps the old one for undo. Changes nothing if a file in
    /// the folder has changed since the set began. Leaves out secrets and the folders of version
    /// control systems, such as .git, unless you name them. PATH:2,4-5 applies only these hunks of
    /// a changed text file, by the numbers that `diff` shows; the others stay staged. Of more than
    /// 50 changes, those that stand out are listed first. A terminal then asks; in a script,
    /// nothing is applied without --yes.
    Apply {
        #[command(flatten)]
        chosen: Chosen,
        /// Apply more than 50 changes without asking, once those that stand out are listed
        #[arg(long)]
        yes: bool,
        /// Replace files even if they have changed in the meantime
        #[arg(long)]
        overwrite: bool,
    },
    /// Discard a set
    ///
    /// Also removes a damaged set.
    Discard(Chosen),
    /// Undo an applied set
    Undo {
        #[command(flatten)]
        one: One,
        /// Restore files even if they have changed in the meantime
        #[arg(long)]
        overwrite: bool,
    },
    /// Redo the set undone last
    Redo {
        #[command(flatten)]
        one: One,
        /// Replace files even if they have changed in the meantime
        #[arg(long)]
        overwrite: bool,
    },
}

/// A set, or some paths of it.
#[derive(Debug, clap::Args)]
struct Chosen {
    /// Id of the set (all eight characters), and paths in it [default: all of the newest set]
    #[arg(value_name = "ID|PATH")]
    names: Vec<String>,
    /// Use the set with this id, and treat all names as paths
    #[arg(long = "set", value_name = "ID")]
    set: Option<String>,
}

/// A set.
#[derive(Debug, clap::Args)]
struct One {
    /// Id of the set (all eight characters)
    #[arg(conflicts_with = "set")]
    id: Option<String>,
    /// Use the set with this id
    #[arg(long = "set", value_name = "ID")]
    set: Option<String>,
}

pub(crate) fn changes(args: &ChangesArgs) -> Result<ExitCode, Error> {
    let context = context(&Overrides::default())?;
    match args.command.as_ref().unwrap_or(&ChangesCommand::List { json: false }) {
        ChangesCommand::List { json } => list(&context, *json),
        ChangesCommand::Diff(chosen) => chosen.act(&context, |id, paths| {
            let which = Which::Named(id.to_owned());
            let Some(diff) = changes::diff(&context, &which, paths)? else { return Ok(None) };
            screen(&context).diff(&diff)?;
            Ok(Some(Exit::Done.into()))
        }),
        ChangesCommand::Apply { chosen, yes, overwrite } => chosen.act(&context, |id, words| {
            let picks = changes::picks(&context, id, words)?;
            if *overwrite && picks.iter().any(Pick::is_of_hunks) {
                return Err(misuse("`--overwrite` is for whole files: name them without hunks"));
            }
            let which = Which::Named(id.to_owned());
            let Some(review) = changes::review(&context, &which, &picks)? else { return Ok(None) };
            let Some(SeenYes { seen }) = confirmed(&context, &review, *yes)? else {
                return Ok(Some(Exit::Refused.into()));
            };
            let applied = review.apply(&ApplyOrder { picks, seen }, conflict(*overwrite))?;
            finished("Applied", id, &applied).map(Some)
        }),
        ChangesCommand::Discard(chosen) => chosen.act(&context, |id, paths| {
            let discarded = changes::discard(&context, &Which::Named(id.to_owned()), paths)?;
            discarded.map(|(id, files)| finished("Discarded", &id, &files)).transpose()
        }),
        ChangesCommand::Undo { one, overwrite } => one.act(&context, Wanted::Applied, |which| {
            let undone = changes::undo(&context, which, conflict(*overwrite))?;
            undone.map(|(id, files)| finished("Undid", &id, &files)).transpose()
        }),
        ChangesCommand::Redo { one, overwrite } => one.act(&context, Wanted::Undone, |which| {
            let redone = changes::redo(&context, which, conflict(*overwrite))?;
            redone.map(|(id, files)| finished("Redid", &id, &files)).transpose()
        }),
    }
}

impl Chosen {
    /// Acts on the chosen set, or reports that there is none.
    fn act(
        &self,
        context: &Context,
        act: impl FnOnce(&str, &[String]) -> Result<Option<ExitCode>, Error>,
    ) -> Result<ExitCode, Error> {
        let Some((id, paths)) = self.meant(context)? else { return nothing(Wanted::Staged) };
        let done = act(&id, &paths).map_err(|error| mistaken(context, error))?;
        done.map_or_else(|| nothing(Wanted::Staged), Ok)
    }

    /// The chosen set and paths, or `None` if nothing is staged and nothing named.
    ///
    /// The first name is a set's id if it is all of one, and everything else is a path: a file called
    /// `1` must not stand for every set that begins so.
    fn meant(&self, context: &Context) -> Result<Option<(String, Vec<String>)>, Error> {
        if let Some(id) = &self.set {
            return Ok(Some((id.clone(), self.names.clone())));
        }
        if let Some((first, rest)) = self.names.split_first()
            && changes::is_set(context, first)?
        {
            let newest = changes::newest(context, Wanted::Staged)?.map(|set| set.id);
            for id in newest.iter().chain([first]) {
                if changes::has_name(context, id, first)? {
                    return Err(Error::Misuse(format!(
                        "`{first}` is both a change set and a file in the set {id}: use `--set \
                         {first}` for the set, or `./{first}` for the file"
                    )));
                }
            }
            return Ok(Some((first.clone(), rest.to_vec())));
        }
        match (newest_named(context, Wanted::Staged)?, self.names.first()) {
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
        context: &Context,
        wanted: Wanted,
        act: impl FnOnce(&Which) -> Result<Option<ExitCode>, Error>,
    ) -> Result<ExitCode, Error> {
        let named = self.set.as_ref().or(self.id.as_ref()).cloned();
        let id = match named {
            Some(id) => Some(id),
            None => newest_named(context, wanted)?,
        };
        let Some(id) = id else { return nothing(wanted) };
        act(&Which::Named(id))?.map_or_else(|| nothing(wanted), Ok)
    }
}

/// The default set, whose id is printed.
fn newest_named(context: &Context, wanted: Wanted) -> Result<Option<String>, Error> {
    let Some(set) = changes::newest(context, wanted)? else { return Ok(None) };
    let time = local_time(&set.created);
    let (day, hour) = time.split_once(' ').unwrap_or((&time, ""));
    let mut words = ours("Set ") + word(&set.id) + " of " + word(day) + " " + word(hour);
    if wanted == Wanted::Staged {
        words = words + ", " + count(set.files, "file");
    }
    Screen::stderr(&context.environment).say(words + ".")?;
    Ok(Some(set.id))
}

/// Explains the error if a path is the beginning of an id.
fn mistaken(context: &Context, error: Error) -> Error {
    let Error::Agent(AgentError::Workspace(WorkspaceError::NotAChange { paths })) = &error else {
        return error;
    };
    let sets = changes::list(context).map(|all| all.sets).unwrap_or_default();
    let begins = |path: &String| sets.iter().find(|set| set.id.starts_with(path.as_str()));
    match paths.iter().find_map(|path| Some((path, begins(path)?))) {
        Some((path, set)) => Error::Misuse(format!(
            "no staged change at `{path}`; type the whole id to name the set {0}",
            set.id
        )),
        None => error,
    }
}

/// The yes of somebody who has seen what stands out in many changes, or who has said beforehand that
/// to print it is enough. Without a terminal nobody can be asked, so that is a no.
fn confirmed(
    context: &Context,
    review: &ChangeReview<'_>,
    is_decided: bool,
) -> Result<Option<SeenYes>, Error> {
    let files: Vec<_> = review.files().iter().collect();
    if is_decided || !at_terminal() {
        let mut screen = Screen::stderr(&context.environment);
        let yes = outline_question::print(&mut screen, &files)?;
        if is_decided || yes.seen.is_none() {
            return Ok(Some(yes));
        }
        screen.say(
            ours("Not applied: these are ")
                + count(files.len(), "change")
                + ", and there is no terminal to ask on. `interpreter changes apply --yes` applies \
                   them once this list is printed; with paths, it applies only those.",
        )?;
        return Ok(None);
    }
    let mut screen = screen(context);
    wait_for(async {
        let mut asker = Asker::start(&context.environment, Reedline::create)?;
        // Whoever leaves has not said yes.
        Ok(outline_question::all_of(&mut asker, &mut screen, &files).await.unwrap_or(None))
    })?
}

fn conflict(overwrite: bool) -> Conflict {
    if overwrite { Conflict::Overwrite } else { Conflict::Refuse }
}

fn list(context: &Context, as_json: bool) -> Result<ExitCode, Error> {
    let mut screen = Screen::stdout(&context.environment);
    let Catalog { sets, unreadable } = changes::list(context)?;
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
            screen.tell(&line(&set))?;
        }
    }
    for Unreadable { id, why } in unreadable {
        if as_json {
            let value = serde_json::json!({ "id": id, "state": "unreadable", "why": why });
            json::print_value(&value)?;
        } else {
            Screen::stderr(&context.environment).tell(&format!(
                "Set {id} cannot be used: {why}. `interpreter changes discard {id}` removes it."
            ))?;
        }
    }
    Ok(Exit::Done.into())
}

/// A set as a line of the list.
pub(crate) fn line(set: &Summary) -> String {
    let (state, time) = (set.state.word(), local_time(&set.created));
    // Those that wait for a decision.
    let staged = count(set.files, "file");
    let files = if set.files == 0 { "" } else { staged.as_str() };
    format!("{}  {state:<9}  {files:>10}  {time}{}", set.id, notes(set))
}

/// Whether a set can be undone or redone, or is in use.
fn notes(set: &Summary) -> String {
    let times = |count: usize, what: &str| match count {
        0 => String::new(),
        1 => format!("  {what}"),
        _ => format!("  {what} × {count}"),
    };
    let used = if set.in_use { "  in use by a running session" } else { "" };
    times(set.undoable, "undo") + &times(set.redoable, "redo") + used
}

fn nothing(wanted: Wanted) -> Result<ExitCode, Error> {
    Screen::stderr(&Environment::read()).say(absent(wanted))?;
    Ok(Exit::Done.into())
}

/// Says that no set is in the state that a command needs.
pub(crate) fn absent(wanted: Wanted) -> &'static str {
    match wanted {
        Wanted::Staged => "Nothing is staged in this folder.",
        Wanted::Applied => "Nothing to undo in this folder.",
        Wanted::Undone => "Nothing to redo in this folder.",
    }
}

fn finished(done: &'static str, id: &str, applied: &Applied) -> Result<ExitCode, Error> {
    told(&mut Screen::stdout(&Environment::read()), done, id, applied)?;
    Ok(Exit::Done.into())
}

/// Says what was done with a set.
pub(crate) fn told(
    screen: &mut Screen,
    done: &'static str,
    id: &str,
    applied: &Applied,
) -> io::Result<()> {
    let changes = count(applied.files.len(), "change");
    screen.say(ours(done) + " " + changes + " (set " + word(id) + ").")?;
    transcript::files(screen, &applied.files)?;
    transcript::left_out(screen, &applied.left_out)
}
