//! `interpreter audit`: verify the record, or accept its loss.

use crate::{
    exit::Exit,
    report::Error,
    terminal::{
        ours::{count, ours},
        screen::Screen,
    },
};
use interpreter_core::Untrusted;
use interpreter_store::{Environment, Folders, Log, Outputs, RecordState};
use std::process::ExitCode;

/// Verify the record
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
    Verify,
    /// Continue with a record that has lost entries
    ///
    /// Nothing runs while the newest records are missing. This logs the damage, signs the remaining
    /// sessions, and lets new records follow. It removes nothing.
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
    let sessions = count(verification.sessions, "session");
    screen.say(ours(verification.records) + " records in " + sessions + ", all linked.")?;
    for found in &verification.breaks {
        screen.tell(&format!("Broken: {found}."))?;
    }
    for (session, reason) in &verification.accepted {
        screen.tell(&format!("Accepted in session {session}: {reason}."))?;
    }
    if let Some(missing) = &verification.missing {
        screen.tell(&format!("The record is incomplete: {missing}."))?;
    }
    if verification.state != RecordState::Whole {
        screen.tell(&format!("The record is incomplete: {}.", verification.state))?;
    }
    let outputs = log.verify_outputs(&Outputs::new(folders))?;
    if outputs.whole > 0 {
        screen.say(count(outputs.whole, "stored output") + ", all as recorded.")?;
    }
    if outputs.pruned > 0 {
        let pruned = count(outputs.pruned, "output");
        screen.say(pruned + " removed to make room for newer ones, not checked.")?;
    }
    let of = |(session, seq): &(String, u64)| {
        let session = Untrusted::new(session.as_str()).for_terminal_line(64);
        format!("The output of record {seq} of session {session}")
    };
    for record in &outputs.altered {
        screen.tell(&format!("{} was changed after it was recorded.", of(record)))?;
    }
    for record in &outputs.removed {
        screen.tell(&format!("{} was removed, but not by this program.", of(record)))?;
    }
    let is_whole =
        verification.is_whole() && outputs.altered.is_empty() && outputs.removed.is_empty();
    Ok(if is_whole { Exit::Done } else { Exit::CodeFailed }.into())
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
