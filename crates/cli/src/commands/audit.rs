//! `interpreter audit`: is the record whole?

use crate::{exit::Exit, report::Error, terminal::ours::count};
use interpreter_store::{Environment, Folders, Log, Outputs};
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
    /// Reads the record from its first line and recomputes every link, and the hash of every
    /// output that is kept beside it. Names the first record that does not follow from the one
    /// before it and every output that was changed, and exits with 1 if there is one.
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
    if let Some(found) = verification.first_break {
        writeln!(out, "Record {} is broken: {}.", found.seq, found.reason)?;
        writeln!(out, "The {} records before it are linked.", found.seq.saturating_sub(1))?;
        return Ok(Exit::CodeFailed.into());
    }
    writeln!(out, "{} records, all linked.", verification.records)?;
    let outputs = log.verify_outputs(&Outputs::new(&folders))?;
    if outputs.whole > 0 {
        writeln!(out, "{}, all as recorded.", count(outputs.whole, "kept output").as_str())?;
    }
    if outputs.gone > 0 {
        let gone = count(outputs.gone, "output");
        let gone = gone.as_str();
        writeln!(out, "{gone} made room for newer ones and cannot be checked.")?;
    }
    for seq in &outputs.altered {
        writeln!(out, "The output of record {seq} was changed after it was recorded.")?;
    }
    Ok(if outputs.altered.is_empty() { Exit::Done } else { Exit::CodeFailed }.into())
}
