//! `interpreter history delete`: sessions go for good, and leave a tombstone.

use super::list::line;
use crate::{
    exit::Exit,
    report::{Error, misuse},
    start::{at_terminal, wait_for},
    terminal::{
        ask::{Asker, Left, choice},
        ours::{Ours, count, ours},
        screen::Screen,
    },
};
use interpreter_core::record::RemovalReason;
use interpreter_store::{Environment, Folders, Freed, Log, StoreError};
use reedline::Reedline;
use std::{collections::BTreeSet, process::ExitCode};

/// Sessions that are shown before they are deleted.
const SHOWN: usize = 30;

pub(super) fn delete(
    log: Log,
    folders: &Folders,
    mut screen: Screen,
    sessions: &[String],
    is_agreed: bool,
) -> Result<ExitCode, Error> {
    let found: Result<BTreeSet<_>, _> = sessions.iter().map(|id| log.find_session(id)).collect();
    let ids: Vec<String> = found?.into_iter().collect();
    for session in &ids {
        if let Some(reason) = log.not_removable(folders, session)? {
            return Err(StoreError::NotRemovable { session: session.clone(), reason }.into());
        }
    }
    let environment = Environment::read();
    if !is_agreed {
        if !at_terminal() {
            return Err(misuse("no terminal to ask on; use `--yes` to delete without asking"));
        }
        for id in ids.iter().take(SHOWN) {
            let summary = log.session(id)?;
            screen.tell(&summary.as_ref().map_or_else(|| id.clone(), line))?;
        }
        if ids.len() > SHOWN {
            screen.say(ours("and ") + (ids.len() - SHOWN) + " more")?;
        }
        if let Some(exit) = wait_for(ask(&environment, &mut screen, ids.len()))?? {
            return Ok(exit.into());
        }
    }
    drop(log);
    let freed = Log::open_on_full_disk(folders)?.remove(folders, &ids, RemovalReason::Asked)?;
    screen.say(words(&freed))?;
    Ok(Exit::Done.into())
}

/// Asks; `None` means yes.
async fn ask(
    environment: &Environment,
    screen: &mut Screen,
    number: usize,
) -> Result<Option<Exit>, Error> {
    let mut asker = Asker::start(environment, Reedline::create)?;
    let what = if number == 1 { ours("this session") } else { count(number, "session") };
    let question = ours("Delete ") + what + " for good?";
    let choices = [choice('y', "yes", true), choice('n', "no", false)];
    Ok(match asker.choose(screen, &question, &choices).await {
        Ok(true) => None,
        Ok(false) | Err(Left::Ended | Left::Interrupted | Left::Nobody(_)) => Some(Exit::Refused),
        Err(Left::Terminated) => Some(Exit::CodeFailed),
    })
}

/// The space that was freed, in words.
fn words(freed: &Freed) -> Ours {
    let deleted =
        count(freed.sessions, "session") + " deleted with " + count(freed.records, "record");
    let outputs = match freed.outputs {
        0 => ours(""),
        some => ours(" and ") + count(some, "stored output"),
    };
    deleted + outputs + ": " + size(freed.bytes + freed.output_bytes) + " freed."
}

fn size(bytes: u64) -> Ours {
    match bytes {
        0..1_000 => count(bytes, "byte"),
        1_000..1_000_000 => ours(bytes / 1_000) + " kB",
        _ => ours(bytes / 1_000_000) + "." + bytes % 1_000_000 / 100_000 + " MB",
    }
}
