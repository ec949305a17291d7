//! `interpreter history`: list and show earlier sessions.

use crate::{
    exit::Exit,
    report::{Error, misuse},
    start,
    terminal::{json, ours::count, plain::Plain, screen::Screen, transcript},
};
use interpreter_core::{
    Body, Output, Untrusted,
    forms::{self, Names},
};
use interpreter_store::{
    Environment, Folders, HowMany, Log, Outputs, RecordState, Restored, StoreError, local_time,
    results,
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Number of sessions listed without `--all`.
const LISTED: usize = 100;

/// Show earlier sessions
#[derive(Debug, clap::Args)]
pub(crate) struct HistoryArgs {
    #[command(subcommand)]
    command: HistoryCommand,
}

#[derive(Debug, clap::Subcommand)]
enum HistoryCommand {
    /// List sessions, newest first
    ///
    /// Lists the newest 100 sessions, or all with `--all`.
    List {
        /// List every session
        #[arg(long)]
        all: bool,
        /// Print JSON, one session per line
        #[arg(long)]
        json: bool,
    },
    /// Show one session
    Show {
        /// Id of the session, its beginning or its end [default: the newest chat or run]
        session: Option<String>,
        /// Print JSON, one record per line
        #[arg(long)]
        json: bool,
        /// Print only the whole output of this run, such as p3, byte for byte
        #[arg(long, value_name = "RUN", conflicts_with = "json")]
        output: Option<String>,
        /// Write all pictures, tables and pages of the session as files into this folder, replacing
        /// none
        #[arg(long, value_name = "FOLDER", conflicts_with_all = ["json", "output"])]
        save: Option<PathBuf>,
    },
}

pub(crate) fn history(args: &HistoryArgs) -> Result<ExitCode, Error> {
    let folders = Folders::find(&Environment::read())?;
    let log = Log::open_to_read(&folders)?;
    let state = log.state()?;
    if state != RecordState::Whole {
        warn(&format!("{state}; see `interpreter audit verify`"))?;
    }
    let outputs = Outputs::new(&folders);
    let screen = start::screen_for_records(&folders);
    match &args.command {
        HistoryCommand::List { all, json } => list(&log, screen, *all, *json)?,
        HistoryCommand::Show { session, json, output, save } => {
            let Some(id) = find(&log, session.as_deref())? else { return Ok(Exit::Done.into()) };
            return match (output, save) {
                (Some(run), _) => show_output(&log, &outputs, &id, run),
                (None, Some(folder)) => save_results(&log, &outputs, &id, folder, screen),
                (None, None) => show(&log, &outputs, &id, *json, screen),
            };
        }
    }
    Ok(Exit::Done.into())
}

fn list(log: &Log, mut screen: Screen, all: bool, as_json: bool) -> Result<(), Error> {
    // One more than is listed, to know whether there are more.
    let how_many = if all { HowMany::All } else { HowMany::Newest(LISTED + 1) };
    let mut sessions = log.sessions(how_many)?;
    let has_older = !all && sessions.len() > LISTED;
    sessions.truncate(if all { usize::MAX } else { LISTED });
    for session in sessions {
        if as_json {
            json::print_value(&serde_json::json!({
                "session": session.id,
                "started": session.started,
                "ended": session.ended,
                "prompt": session.first_prompt,
                "records": session.records,
                "work_folder": session.work_folder,
            }))?;
        } else {
            let prompt = session.first_prompt.as_deref().unwrap_or_default();
            screen.tell(&format!(
                "{}  {}  {:>5} records  {}",
                session.short_id(),
                local_time(&session.started),
                session.records,
                Untrusted::new(prompt).for_terminal_line(60),
            ))?;
        }
    }
    if has_older {
        let mut screen = Screen::stderr(&Environment::read());
        screen.say("Older sessions are not listed; `--all` lists every session.")?;
    }
    Ok(())
}

/// Prints a warning to standard error.
fn warn(text: &str) -> Result<(), Error> {
    Ok(Screen::stderr(&Environment::read()).tell(&format!("warning: {text}"))?)
}

/// The chosen session, or `None` if there is no session yet.
fn find(log: &Log, session: Option<&str>) -> Result<Option<String>, Error> {
    Ok(match session {
        Some(prefix) => Some(log.find_session(prefix)?),
        None => log.newest_session()?,
    })
}

fn show(
    log: &Log,
    outputs: &Outputs,
    id: &str,
    as_json: bool,
    mut screen: Screen,
) -> Result<ExitCode, Error> {
    let mut exit = Exit::Done;
    for record in log.records(id) {
        let mut record = record?;
        // Outputs that are no longer kept are marked as such; a changed one costs itself alone.
        match outputs.restore(&mut record.body) {
            Err(error @ StoreError::AlteredOutput { .. }) => {
                warn(&format!("record {}: {error}", record.seq))?;
                exit = Exit::CodeFailed;
            }
            other => drop(other?),
        }
        if as_json {
            json::print(&[record])?;
        } else {
            transcript::tell(&mut screen, &record)?;
        }
    }
    Ok(exit.into())
}

/// Prints the output of one run, each stream to its own.
#[expect(clippy::wildcard_enum_match_arm, reason = "the rest is not what a run printed")]
fn show_output(log: &Log, outputs: &Outputs, id: &str, run: &str) -> Result<ExitCode, Error> {
    let mut plain = Plain::new(&Environment::read());
    let (mut found, mut exit) = (false, Exit::Done);
    for record in log.records(id) {
        let mut record = record?;
        match &record.body {
            Body::RunStarted { proposal, .. } if proposal == run => found = true,
            Body::Output(Output { proposal, .. }) if proposal == run => {
                if outputs.restore(&mut record.body)? == Restored::Gone {
                    transcript::tell(plain.screen()?, &record)?;
                    exit = Exit::CodeFailed;
                }
                plain.record(&record)?;
            }
            _ => {}
        }
    }
    if !found {
        let run = Untrusted::new(run).for_terminal_line(40);
        return Err(misuse(format!("session {id} has no run `{run}`")));
    }
    Ok(exit.into())
}

/// Writes every result that is more than text as a file.
fn save_results(
    log: &Log,
    outputs: &Outputs,
    id: &str,
    folder: &Path,
    mut screen: Screen,
) -> Result<ExitCode, Error> {
    let (mut names, mut files, mut exit) = (Names::default(), BTreeMap::new(), Exit::Done);
    for record in log.records(id) {
        let mut record = record?;
        if outputs.restore(&mut record.body)? == Restored::Gone {
            warn(&format!("record {}: its output is no longer stored", record.seq))?;
            exit = Exit::CodeFailed;
        }
        let Body::Output(output) = &record.body else { continue };
        let (fit, _) = forms::forms(output);
        if fit.is_empty() {
            continue;
        }
        let name = names.name(output);
        files.extend(
            fit.into_iter().map(|form| (format!("{name}.{}", form.kind.ending()), form.bytes)),
        );
    }
    let files: Vec<_> = files.into_iter().collect();
    if files.is_empty() {
        screen.say("This session has no pictures, tables or pages.")?;
        return Ok(exit.into());
    }
    results::export(folder, &files)?;
    files.iter().try_for_each(|(name, _)| screen.row(&folder.join(name).to_string_lossy()))?;
    screen.say(count(files.len(), "file") + ".")?;
    Ok(exit.into())
}
