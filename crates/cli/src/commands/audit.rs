//! `interpreter audit`: is the record whole?

use crate::{
    exit::Exit,
    report::Error,
    terminal::{
        ours::{count, ours},
        screen::Screen,
    },
};
use interpreter_store::{Ending, Environment, Folders, Log, Outputs};
use std::process::ExitCode;

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
    /// before it, how many of the newest records are missing, and every output that was changed or
    /// removed. Exits with 1 if there is any of these.
    Verify,
    /// Go on with a record whose newest entries are missing
    ///
    /// Nothing runs while the record does not end where it should. This puts on record what is
    /// missing, and lets the record go on from there. Nothing is removed.
    Accept,
}

pub(crate) fn audit(args: &AuditArgs) -> Result<ExitCode, Error> {
    let folders = Folders::find(&Environment::read())?;
    match args.command {
        AuditCommand::Verify => verify(&folders),
        AuditCommand::Accept => accept(&folders),
    }
}

fn verify(folders: &Folders) -> Result<ExitCode, Error> {
    let log = Log::open_to_read(folders)?;
    let verification = log.verify()?;
    let mut screen = Screen::stdout(&Environment::read());
    if let Some(found) = &verification.first_break {
        screen.tell(&format!("Record {} is broken: {}.", found.seq, found.reason))?;
        let before = found.seq.saturating_sub(1);
        screen.say(ours("The ") + before + " records before it are linked.")?;
    } else {
        screen.say(ours(verification.records) + " records, all linked.")?;
    }
    for (seq, reason) in &verification.accepted {
        screen.tell(&format!("Record {seq} says that you accepted this: {reason}."))?;
    }
    if verification.ending != Ending::Whole {
        screen.tell(&format!("The record is not whole: {}.", verification.ending))?;
    }
    if verification.first_break.is_some() {
        return Ok(Exit::CodeFailed.into());
    }
    let outputs = log.verify_outputs(&Outputs::new(folders))?;
    if outputs.whole > 0 {
        screen.say(count(outputs.whole, "kept output") + ", all as recorded.")?;
    }
    if outputs.pruned > 0 {
        let pruned = count(outputs.pruned, "output");
        screen.say(pruned + " made room for newer ones and cannot be checked.")?;
    }
    for seq in &outputs.altered {
        screen
            .warn(ours("The output of record ") + *seq + " was changed after it was recorded.")?;
    }
    for seq in &outputs.removed {
        screen.warn(ours("The output of record ") + *seq + " was removed by something else.")?;
    }
    let is_whole =
        verification.is_whole() && outputs.altered.is_empty() && outputs.removed.is_empty();
    Ok(if is_whole { Exit::Done } else { Exit::CodeFailed }.into())
}

fn accept(folders: &Folders) -> Result<ExitCode, Error> {
    let mut screen = Screen::stdout(&Environment::read());
    match Log::accept(folders)? {
        Some(record) => {
            screen.say(ours("The record goes on. Record ") + record.seq + " says why.")?;
        }
        None => screen.say("The record ends where it should; there is nothing to accept.")?,
    }
    Ok(Exit::Done.into())
}
