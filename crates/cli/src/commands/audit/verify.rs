//! `interpreter audit verify`: the record of this machine, or an export of one.

use crate::{
    exit::Exit,
    report::Error,
    terminal::{
        ours::{count, ours},
        screen::Screen,
    },
};
use interpreter_core::Untrusted;
use interpreter_store::{
    Anchor, AnchorCheck, Environment, ExportVerification, Folders, KeptOutputs, Log, Outputs,
    RecordState, StoreError,
};
use std::{fs::File, io::BufReader, path::Path, process::ExitCode};

pub(super) fn verify(folders: &Folders, anchor: Option<&str>) -> Result<ExitCode, Error> {
    let anchor = anchor.map(str::parse::<Anchor>).transpose()?;
    let log = Log::open_to_read(folders)?;
    let verification = log.verify()?;
    let mut screen = Screen::stdout(&Environment::read());
    let sessions = count(verification.sessions, "session");
    screen.say(count(verification.records, "record") + " in " + sessions + ", all linked.")?;
    for found in &verification.breaks {
        screen.tell(&format!("Broken: {found}."))?;
    }
    for (session, reason) in &verification.accepted {
        screen.tell(&format!("Accepted in session {session}: {reason}."))?;
    }
    if verification.removed > 0 {
        let were = if verification.removed == 1 { " was" } else { " were" };
        screen.say(count(verification.removed, "session") + were + " removed on purpose.")?;
    }
    if let Some(missing) = &verification.missing {
        screen.tell(&format!("The record is incomplete: {missing}."))?;
    }
    if verification.state != RecordState::Whole {
        screen.tell(&format!("The record is incomplete: {}.", verification.state))?;
    }
    if let Some(found) = &verification.foreign {
        screen.tell(&format!("The database was changed: {found}. Nothing is recorded in it."))?;
    }
    let outputs = log.verify_outputs(&Outputs::new(folders))?;
    tell_outputs(&mut screen, &outputs)?;
    let holds = match &anchor {
        Some(anchor) => tell_anchor(&mut screen, &log.check_anchor(anchor)?)?,
        None => true,
    };
    let is_whole = verification.is_whole()
        && outputs.altered.is_empty()
        && outputs.removed.is_empty()
        && holds;
    Ok(if is_whole { Exit::Done } else { Exit::CodeFailed }.into())
}

fn tell_outputs(screen: &mut Screen, outputs: &KeptOutputs) -> Result<(), Error> {
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
    Ok(())
}

/// Tells whether an anchor holds.
fn tell_anchor(screen: &mut Screen, check: &AnchorCheck) -> Result<bool, Error> {
    for fault in &check.faults {
        screen.tell(&format!("The anchor does not hold: {fault}."))?;
    }
    if !check.faults.is_empty() {
        return Ok(false);
    }
    let attested = count(check.records, "record") + " in " + count(check.sessions, "session");
    screen.say(ours("The anchor holds: ") + attested + ", as they were.")?;
    if check.removed > 0 {
        let removed = count(check.removed, "session");
        screen.say(removed + " of these removed on purpose since.")?;
    }
    Ok(true)
}

pub(super) fn verify_file(path: &Path, anchor: Option<&str>) -> Result<ExitCode, Error> {
    let anchor = anchor.map(str::parse::<Anchor>).transpose()?;
    let failed = |source| StoreError::Read { path: path.into(), source };
    let open = || File::open(path).map(BufReader::new).map_err(failed);
    let found = ExportVerification::of(open()?).map_err(failed)?;
    let mut screen = Screen::stdout(&Environment::read());
    let records = count(found.records, "record") + " in " + count(found.sessions, "session");
    screen.say(records + if found.is_whole() { ", all linked." } else { "." })?;
    if found.partial > 0 {
        let partial = count(found.partial, "session");
        screen.say(partial + " without older records, which were not exported.")?;
    }
    for one in &found.breaks {
        screen.tell(&format!("Broken: {one}."))?;
    }
    if let Some(line) = found.unreadable {
        screen.say(ours("Broken: line ") + line + " is not a line of an export.")?;
    }
    let holds = match &anchor {
        Some(anchor) => tell_anchor(&mut screen, &anchor.check_export(path, open)?)?,
        None => true,
    };
    Ok(if found.is_whole() && holds { Exit::Done } else { Exit::CodeFailed }.into())
}
