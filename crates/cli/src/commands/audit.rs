//! `interpreter audit`: verify the record, export it, anchor it, or accept its loss.

use crate::{
    exit::Exit,
    report::{Error, misuse},
    terminal::{
        ours::{count, ours},
        screen::Screen,
    },
};
use interpreter_store::{Environment, Folders, Log};
use std::{path::PathBuf, process::ExitCode};

mod export;
mod verify;

/// Verify, export or anchor the record
#[derive(Debug, clap::Args)]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    command: AuditCommand,
}

#[derive(Debug, clap::Subcommand)]
enum AuditCommand {
    /// Check that the record is intact
    ///
    /// Recomputes every link of every session, the signatures of the list of sessions, and the hash
    /// of every stored output. Reports the first broken record of each session, how many records are
    /// missing, and every output that was changed or removed. Exits with 1 if it finds any.
    Verify {
        /// Check an export made by `audit export` instead of the record of this machine
        #[arg(long, value_name = "FILE")]
        file: Option<PathBuf>,
        /// Check that every record covered by this line of `audit anchor` is still there, unchanged
        #[arg(long, value_name = "LINE")]
        anchor: Option<String>,
    },
    /// Export the record as JSON, one record or event per line
    ///
    /// Each record has the hash of the one before it and its own, so that `audit verify --file` can
    /// check an export anywhere.
    Export {
        /// Export records, or events of the Open Cybersecurity Schema Framework: records or ocsf
        #[arg(long, value_name = "FORMAT", default_value = "records")]
        format: export::ExportFormat,
        /// Export only this session
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// Export only what was recorded at this time or later, such as 2026-11-17 or
        /// 2026-11-17T15:04
        #[arg(long, value_name = "TIME", value_parser = time)]
        since: Option<String>,
        /// Export only what was recorded before this time
        #[arg(long, value_name = "TIME", value_parser = time)]
        until: Option<String>,
        /// Write a new file [default: standard output]
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Print a line that proves later that nothing before it was changed
    ///
    /// Keep the line where nobody can change it, such as in a mail to yourself, and pass it to
    /// `audit verify --anchor`. That the anchor was made is logged.
    Anchor,
    /// Continue with a record that has lost entries
    ///
    /// Nothing runs while the newest records are missing. This logs the damage, signs the remaining
    /// sessions, and lets new records follow. It removes nothing.
    Accept,
}

/// A time as the record has it.
fn time(written: &str) -> Result<String, String> {
    let example = "it is neither a date such as 2026-11-17 nor a time such as 2026-11-17T15:04";
    interpreter_store::recorded_time(written).ok_or_else(|| example.into())
}

pub(crate) fn audit(args: &AuditArgs) -> Result<ExitCode, Error> {
    let folders = || Folders::find(&Environment::read());
    match &args.command {
        AuditCommand::Verify { file: Some(file), anchor } => {
            verify::verify_file(file, anchor.as_deref())
        }
        AuditCommand::Verify { file: None, anchor } => {
            verify::verify(&folders()?, anchor.as_deref())
        }
        AuditCommand::Export { format, session, since, until, output } => {
            let log = Log::open_to_read(&folders()?)?;
            let session = session.as_deref().map(|id| log.find_session(id)).transpose()?;
            let filter = interpreter_store::ExportFilter {
                session,
                since: since.clone(),
                until: until.clone(),
            };
            export::export(&log, *format, &filter, output.as_deref())
        }
        AuditCommand::Anchor => anchor(&folders()?),
        AuditCommand::Accept => accept(&folders()?),
    }
}

fn anchor(folders: &Folders) -> Result<ExitCode, Error> {
    // A record that nobody has written yet is not made for this.
    if Log::open_to_read(folders)?.is_empty()? {
        return Err(misuse("there is no record yet"));
    }
    let anchor = Log::open(folders)?.anchor()?;
    Screen::stdout(&Environment::read()).tell(&anchor.to_string())?;
    let mut screen = Screen::stderr(&Environment::read());
    if screen.is_terminal() {
        let attested = ours("It attests ") + count(anchor.records, "record");
        screen.say(attested + ". Keep the line where nobody can change it.")?;
    }
    Ok(Exit::Done.into())
}

fn accept(folders: &Folders) -> Result<ExitCode, Error> {
    let mut screen = Screen::stdout(&Environment::read());
    match Log::accept(folders)? {
        Some(record) => {
            screen.tell(&format!(
                "New records can follow. Session {} has the reason.",
                record.session
            ))?;
        }
        None => screen.say("The record is complete; there is nothing to accept.")?,
    }
    Ok(Exit::Done.into())
}
