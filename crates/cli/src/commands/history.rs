//! `interpreter history`: what happened in earlier sessions.

use crate::{exit::Exit, report::Error, terminal::story};
use interpreter_core::Untrusted;
use interpreter_store::{Environment, Folders, Log};
use std::{
    io::{self, Write},
    process::ExitCode,
};

/// Show earlier sessions
#[derive(Debug, clap::Args)]
pub(crate) struct HistoryArgs {
    #[command(subcommand)]
    command: HistoryCommand,
}

#[derive(Debug, clap::Subcommand)]
enum HistoryCommand {
    /// List sessions, newest first
    List {
        /// Print JSON, one session a line
        #[arg(long)]
        json: bool,
    },
    /// Show one session
    Show {
        /// Its id, or the beginning of it [default: the newest]
        session: Option<String>,
        /// Print the records as JSON, one a line
        #[arg(long)]
        json: bool,
    },
}

pub(crate) fn history(args: &HistoryArgs) -> Result<ExitCode, Error> {
    let folders = Folders::find(&Environment::read())?;
    let log = Log::open(&folders)?;
    match &args.command {
        HistoryCommand::List { json } => list(&log, *json)?,
        HistoryCommand::Show { session, json } => show(&log, session.as_deref(), *json)?,
    }
    Ok(Exit::Done.into())
}

fn list(log: &Log, json: bool) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    for session in log.sessions()? {
        if json {
            let line = serde_json::json!({
                "session": session.id,
                "started": session.started,
                "ended": session.ended,
                "prompt": session.first_prompt,
                "records": session.records,
                "work_folder": session.work_folder,
            });
            writeln!(out, "{line}")?;
        } else {
            let prompt = session.first_prompt.unwrap_or_default();
            writeln!(
                out,
                "{}  {}  {:>5} records  {}",
                session.id,
                session.started.get(..19).unwrap_or(&session.started),
                session.records,
                Untrusted::new(prompt).for_terminal_line(60),
            )?;
        }
    }
    Ok(())
}

fn show(log: &Log, session: Option<&str>, json: bool) -> Result<(), Error> {
    let id = match session {
        Some(prefix) => log.find_session(prefix)?,
        None => match log.sessions()?.into_iter().next() {
            Some(newest) => newest.id,
            None => return Ok(()),
        },
    };
    let mut out = io::stdout().lock();
    for record in log.records(&id) {
        let record = record?;
        if json {
            let line = serde_json::to_string(&record).map_err(io::Error::from)?;
            writeln!(out, "{line}")?;
        } else {
            write!(out, "{}", story::tell(&record))?;
        }
    }
    Ok(())
}
