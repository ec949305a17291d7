//! `interpreter history`: what happened in earlier sessions.

use crate::{
    args::misuse,
    exit::Exit,
    report::Error,
    terminal::{plain::Plain, screen::Screen, story},
};
use interpreter_core::{Body, Untrusted};
use interpreter_store::{Environment, Folders, Log, Outputs, Restored};
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
        /// Print only what this run printed, such as p3, exactly and whole
        #[arg(long, value_name = "RUN", conflicts_with = "json")]
        output: Option<String>,
    },
}

pub(crate) fn history(args: &HistoryArgs) -> Result<ExitCode, Error> {
    let folders = Folders::find(&Environment::read())?;
    let log = Log::open(&folders)?;
    let outputs = Outputs::new(&folders);
    match &args.command {
        HistoryCommand::List { json } => list(&log, *json)?,
        HistoryCommand::Show { session, json, output } => {
            let Some(id) = find(&log, session.as_deref())? else { return Ok(Exit::Done.into()) };
            match output {
                Some(run) => return show_output(&log, &outputs, &id, run),
                None => show(&log, &outputs, &id, *json)?,
            }
        }
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

/// The session that is meant; none if there is none at all.
fn find(log: &Log, session: Option<&str>) -> Result<Option<String>, Error> {
    Ok(match session {
        Some(prefix) => Some(log.find_session(prefix)?),
        None => log.sessions()?.into_iter().next().map(|newest| newest.id),
    })
}

fn show(log: &Log, outputs: &Outputs, id: &str, json: bool) -> Result<(), Error> {
    let mut screen = Screen::stdout(&Environment::read());
    let mut out = io::stdout().lock();
    for record in log.records(id) {
        let mut record = record?;
        // What is not kept any more is told as such.
        _ = outputs.restore(&mut record.body)?;
        if json {
            let line = serde_json::to_string(&record).map_err(io::Error::from)?;
            writeln!(out, "{line}")?;
        } else {
            story::tell(&mut screen, &record)?;
        }
    }
    Ok(())
}

/// Prints what one run printed, each stream to where it went.
#[expect(clippy::wildcard_enum_match_arm, reason = "the rest is not what a run printed")]
fn show_output(log: &Log, outputs: &Outputs, id: &str, run: &str) -> Result<ExitCode, Error> {
    let mut plain = Plain::new(&Environment::read());
    let (mut found, mut exit) = (false, Exit::Done);
    for record in log.records(id) {
        let mut record = record?;
        match &record.body {
            Body::RunStarted { proposal, .. } if proposal == run => found = true,
            Body::Output { proposal, .. } if proposal == run => {
                if outputs.restore(&mut record.body)? == Restored::Gone {
                    story::tell(plain.screen()?, &record)?;
                    exit = Exit::CodeFailed;
                }
                plain.record(&record)?;
            }
            _ => {}
        }
    }
    if !found {
        let run = Untrusted::new(run).for_terminal_line(40);
        return Err(misuse(format!("nothing called `{run}` ran in session {id}")));
    }
    Ok(exit.into())
}
