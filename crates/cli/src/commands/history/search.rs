//! `interpreter history search`: where something was said, run or printed.

use super::list::time;
use crate::{
    exit::Exit,
    report::{Error, misuse},
    terminal::{
        json,
        ours::{Ours, ours, thousands, word},
        screen::Screen,
    },
};
use interpreter_core::{Body, Output};
use interpreter_store::{Environment, Folders, Log, SearchHit, short_id};
use std::process::ExitCode;

/// Records from which on a row says that they are being added to the index.
const MANY: u64 = 20_000;

/// Records that are shown at most.
const MOST: usize = 10_000;

pub(super) fn search(
    log: &Log,
    folders: &Folders,
    mut screen: Screen,
    words: &[String],
    limit: usize,
    as_json: bool,
) -> Result<ExitCode, Error> {
    if !words.iter().any(|word| word.chars().any(char::is_alphanumeric)) {
        return Err(misuse("there is no word to search for"));
    }
    let environment = Environment::read();
    let mut progress = Screen::stderr(&environment);
    let mut told = Ok(());
    let hits = log.search(folders, words, limit.min(MOST), |left| {
        if left >= MANY && told.is_ok() && progress.redraws() {
            let left = thousands(left);
            told = progress.say_in_passing(ours("Indexing ") + left + " records …");
        }
    })?;
    told?;
    progress.wipe()?;
    if as_json {
        for SearchHit { record, .. } in &hits {
            json::print(std::slice::from_ref(record))?;
        }
    } else {
        show(&mut screen, &hits)?;
        if hits.is_empty() {
            progress.say("Nothing was found.")?;
        } else if hits.len() >= limit {
            progress.say("There may be older ones; `--limit` shows more.")?;
        }
    }
    Ok(if hits.is_empty() { Exit::CodeFailed } else { Exit::Done }.into())
}

fn show(screen: &mut Screen, hits: &[SearchHit]) -> Result<(), Error> {
    for SearchHit { record, excerpt } in hits {
        let session = word(short_id(&record.session));
        screen.say(session + "  " + time(&record.time) + "  " + whose(&record.body))?;
        screen.row(excerpt.raw())?;
    }
    Ok(())
}

/// Whose words they are.
#[expect(clippy::wildcard_enum_match_arm, reason = "nothing else is searched")]
fn whose(body: &Body) -> Ours {
    match body {
        Body::Prompt { .. } => ours("you"),
        Body::Reply { .. } | Body::Summary { .. } => ours("model"),
        Body::Proposal { id, .. } => ours("code of ") + word(id),
        Body::Answer { proposal, .. } => ours("code of ") + word(proposal) + ", as you edited it",
        Body::Output(Output { proposal, .. }) => ours("output of ") + word(proposal),
        Body::File { .. } => ours("a file that you attached"),
        Body::Error { .. } => ours("error"),
        _ => ours("note"),
    }
}
