//! `interpreter audit`: is the record whole?

use crate::{exit::Exit, report::Error};
use interpreter_store::{Environment, Folders, Log};
use std::{
    io::{self, Write},
    process::ExitCode,
};

/// Check the record
#[derive(Debug, clap::Args)]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    command: AuditCommand,
}

#[derive(Debug, clap::Subcommand)]
enum AuditCommand {
    /// Check that the record is whole
    ///
    /// Reads the record from its first line and recomputes every link. Names the first record
    /// that does not follow from the one before it, and exits with 1 if there is one.
    Verify,
}

pub(crate) fn audit(args: &AuditArgs) -> Result<ExitCode, Error> {
    match args.command {
        AuditCommand::Verify => verify(),
    }
}

fn verify() -> Result<ExitCode, Error> {
    let folders = Folders::find(&Environment::read())?;
    let log = Log::open(&folders)?;
    let verification = log.verify()?;
    let mut out = io::stdout().lock();
    match verification.first_break {
        None => {
            writeln!(out, "{} records, all linked.", verification.records)?;
            Ok(Exit::Done.into())
        }
        Some(found) => {
            writeln!(out, "Record {} is broken: {}.", found.seq, found.reason)?;
            writeln!(out, "The {} records before it are linked.", found.seq.saturating_sub(1))?;
            Ok(Exit::CodeFailed.into())
        }
    }
}
