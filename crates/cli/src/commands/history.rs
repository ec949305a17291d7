//! `interpreter history`: list, search, show, export and delete earlier sessions.

use crate::{
    exit::Exit,
    report::{Error, misuse},
    start,
    terminal::{json, ours::count, plain::Plain, screen::Screen, transcript},
};
use interpreter_core::{
    Body, Output, Record, Untrusted,
    forms::{self, Names},
};
use interpreter_store::{
    Environment, Folders, Log, Outputs, RecordState, Restored, StoreError, results,
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::ExitCode,
};

mod delete;
mod export;
mod list;
mod search;

/// Show, search, export or delete earlier sessions
#[derive(Debug, clap::Args)]
pub(crate) struct HistoryArgs {
    #[command(subcommand)]
    command: HistoryCommand,
}

#[derive(Debug, clap::Subcommand)]
enum HistoryCommand {
    /// List the sessions of this folder, newest first
    ///
    /// Lists the newest 100. Commands that take an ID accept its beginning or its end.
    List {
        /// List every session of every folder
        #[arg(long)]
        all: bool,
        /// Print JSON, one session per line
        #[arg(long)]
        json: bool,
    },
    /// Search prompts, replies, code and output, newest first
    ///
    /// Finds records of all folders that have all of the words. Words in quotes must stand together,
    /// and `*` stands for the end of a word: 'plot*'. Of an output, the first 4,096 bytes are
    /// searched. Exits with 1 if nothing is found.
    Search {
        /// Words to search for
        #[arg(value_name = "WORD", required = true)]
        words: Vec<String>,
        /// Show at most this many records
        #[arg(long, value_name = "COUNT", default_value_t = 20)]
        limit: usize,
        /// Print JSON, one record per line
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
        /// Show the secrets that are masked in code
        #[arg(long, conflicts_with_all = ["json", "output", "save"])]
        unseal: bool,
    },
    /// Write one session as Markdown, as a Jupyter notebook, as a script, or as its records
    ///
    /// A script has the code that ran, of the language that its ending stands for: .py, .sh, .js or
    /// .r.
    Export {
        /// Id of the session, its beginning or its end [default: the newest chat or run]
        session: Option<String>,
        /// Choose the form: md, ipynb, py, sh, js, r or jsonl [default: by the ending of FILE]
        #[arg(long, value_name = "FORM")]
        format: Option<String>,
        /// Write a new file [default: standard output]
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Delete sessions for good, with their outputs
    ///
    /// The record keeps their ids, the number of their records and a hash, so that it can still be
    /// verified.
    Delete {
        /// Ids of the sessions, or their beginnings or ends
        #[arg(value_name = "ID", required = true)]
        sessions: Vec<String>,
        /// Delete without asking
        #[arg(short, long)]
        yes: bool,
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
        HistoryCommand::List { all, json } => list::list(&log, screen, *all, *json)?,
        HistoryCommand::Search { words, limit, json } => {
            return search::search(&log, &folders, screen, words, *limit, *json);
        }
        HistoryCommand::Show { session, json, output, save, unseal } => {
            let Some(id) = find(&log, session.as_deref())? else { return Ok(Exit::Done.into()) };
            return match (output, save) {
                (Some(run), _) => show_output(&log, &outputs, &id, run),
                (None, Some(folder)) => save_results(&log, &outputs, &id, folder, screen),
                (None, None) => {
                    let seals = unseal.then_some(&folders);
                    show(&log, (&outputs, seals), &id, *json, screen)
                }
            };
        }
        HistoryCommand::Export { session, format, output } => {
            let Some(id) = find(&log, session.as_deref())? else {
                return Err(misuse("there is no session yet"));
            };
            return export::export(&log, &outputs, &id, format.as_deref(), output.as_deref());
        }
        HistoryCommand::Delete { sessions, yes } => {
            return delete::delete(log, &folders, screen, sessions, *yes);
        }
    }
    Ok(Exit::Done.into())
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
    (outputs, seals): (&Outputs, Option<&Folders>),
    id: &str,
    as_json: bool,
    mut screen: Screen,
) -> Result<ExitCode, Error> {
    let mut exit = Exit::Done;
    for record in log.records(id) {
        let mut record = record?;
        if let Some(folders) = seals {
            unseal(folders, &mut record)?;
        }
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

/// Puts back what was masked in code.
fn unseal(folders: &Folders, record: &mut Record) -> Result<(), Error> {
    let opened = interpreter_store::unsealed(folders, &record.body)?;
    let (Body::Proposal { code, sealed: Some(_), .. }
    | Body::Answer { code: Some(code), sealed: Some(_), .. }) = &mut record.body
    else {
        return Ok(());
    };
    match opened {
        Some(whole) => *code = whole,
        None => warn(&format!(
            "record {}: its code cannot be unsealed; the key is missing or another",
            record.seq
        ))?,
    }
    Ok(())
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
