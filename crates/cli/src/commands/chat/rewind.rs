//! `/rewind`: back to before an earlier cell. Says before anything happens what is lost, how each
//! interpreter comes back and what does not, and asks.

use super::next::Next;
use crate::{
    report::{Error, misuse},
    terminal::{
        ask::{Left, choice},
        frontend::Frontend,
        ours::{count, ours, word},
        person::Person,
        replay_question::first_line,
        screen::Screen,
        transcript,
    },
};
use interpreter_agent::Context;
use interpreter_core::{
    Checkpoint, FilesCheckpoint, KernelCheckpoint, MemoryCheckpoint, Untrusted,
    session::{Event, PastCell, Rewind},
};
use interpreter_store::local_time;
use std::io;

/// Cells that are listed, the newest; any other can be named all the same.
const LISTED: usize = 30;

/// Files of a cell that are named.
const FILES: usize = 3;

/// `/rewind [CELL]`.
pub(super) async fn rewind(
    frontend: &mut Frontend,
    context: &Context,
    argument: Option<&str>,
) -> Result<Option<Next>, Error> {
    frontend.session.written().await;
    let session = frontend.session.id.clone();
    let cells = context.own_cells(&session)?;
    let (Person::Present(console), Some(screen)) = (&mut frontend.person, frontend.view.screen())
    else {
        return Ok(None);
    };
    if cells.is_empty() {
        screen.say("Nothing has run in this session.")?;
        return Ok(None);
    }
    let chosen = if let Some(named) = argument {
        Some(PastCell::named(named))
    } else {
        let draw = |screen: &mut Screen| list(screen, &cells);
        match console.asker.shown_line(screen, draw).await {
            Ok(line) => Some(line.trim()).filter(|line| !line.is_empty()).map(PastCell::named),
            Err(left) => return Ok(Next::after(left)),
        }
    };
    let Some(cell) = chosen else { return Ok(None) };
    let Some(mut rewind) = context.rewind(&session, &cell)? else {
        return Err(misuse(format!("no cell `{cell}` ran in this session; /rewind lists them")));
    };
    let held = frontend.session.checkpoint(rewind.number()).await;
    draw(screen, &rewind, held.as_ref())?;
    let choices = [choice('y', "go back", true), choice('n', "stay", false)];
    let question = ours("Go back to before ") + word(&rewind.to) + "?";
    match console.asker.choose(screen, &question, &choices).await {
        Ok(true) => {}
        Ok(false) | Err(Left::Interrupted | Left::Ended | Left::Nobody(_)) => {
            screen.say("Nothing has changed.")?;
            return Ok(None);
        }
        Err(left) => return Ok(Next::after(left)),
    }
    if !rewind.applied.is_empty() {
        let files: Vec<_> = rewind.applied.concat();
        screen.say(count(files.len(), "file") + " applied to your folder since then:")?;
        transcript::files(screen, &files)?;
        let choices = [choice('u', "undo", true), choice('k', "keep in your folder", false)];
        let question = ours("Undo that in your folder too?");
        rewind.undo = match console.asker.choose(screen, &question, &choices).await {
            Ok(undo) => undo,
            Err(left) => {
                screen.say("Nothing has changed.")?;
                return Ok(Next::after(left));
            }
        };
    }
    Ok(Some(Next::Turn(Event::RewindWanted(Box::new(rewind)))))
}

/// Lists cells, and asks for one.
fn list(screen: &mut Screen, cells: &[PastCell]) -> io::Result<()> {
    let more = cells.len().saturating_sub(LISTED);
    if more > 0 {
        screen.say(count(more, "older cell") + " not listed")?;
    }
    for cell in &cells[more..] {
        let time = local_time(&cell.time);
        let time = time.get(11..16).unwrap_or_default();
        let mut row =
            format!("{:<4} {time}  {:<8} {}", cell.id, cell.language, first_line(&cell.code));
        let mut files: Vec<_> =
            cell.files.iter().take(FILES).map(|file| file.path.as_str()).collect();
        if cell.files.len() > FILES {
            files.push("…");
        }
        if !files.is_empty() {
            row = format!("{row}  (staged {})", files.join(", "));
        }
        screen.row(&row)?;
    }
    screen.say("Go back to before which cell? Type its number, or press Enter to stay.")
}

/// Says what going back means.
fn draw(screen: &mut Screen, rewind: &Rewind, held: Option<&Checkpoint>) -> io::Result<()> {
    let cells = &rewind.undone;
    screen.say(count(cells.len(), "cell") + " and everything said since will no longer count:")?;
    for cell in cells.iter().take(LISTED) {
        screen.row(&format!("{:<4} {:<8} {}", cell.id, cell.language, first_line(&cell.code)))?;
    }
    if cells.len() > LISTED {
        screen.say(ours("and ") + (cells.len() - LISTED) + " more")?;
    }
    if let Some(prompt) = &rewind.prompt {
        let prompt = Untrusted::new(prompt.as_str()).for_terminal_line(200);
        screen.row_of_words(&format!("your prompt: {prompt}"))?;
    }
    screen.say("How it comes back:")?;
    for language in rewind.languages() {
        screen.row_of_words(&format!("{language}: {}", comes_back(language, rewind, held)))?;
    }
    let files = match held.map(|held| &held.files) {
        Some(FilesCheckpoint::Kept) => "as they were then".to_owned(),
        Some(FilesCheckpoint::NotStaged) => "not staged here, so they stay as they are".to_owned(),
        Some(FilesCheckpoint::NotKept { reason }) => format!("stay as they are: {reason}"),
        None => "stay as they are: they were not kept".to_owned(),
    };
    screen.row_of_words(&format!("staged files: {files}"))?;
    screen.say_quietly("Open files, sockets and running programs do not come back.")?;
    if !rewind.hosts.is_empty() {
        screen.row_of_words(&format!("not undone: it reached {}", rewind.hosts.join(", ")))?;
    }
    Ok(())
}

/// How the memory of an interpreter comes back.
fn comes_back(language: &str, rewind: &Rewind, held: Option<&Checkpoint>) -> String {
    let is_it = |one: &&KernelCheckpoint| one.language.name() == language;
    let kernel = held.and_then(|held| held.kernels.iter().find(is_it));
    if let Some(KernelCheckpoint { memory: MemoryCheckpoint::Kept { beside }, .. }) = kernel {
        return if beside.is_empty() {
            "from memory".into()
        } else {
            format!("from memory, without {beside}")
        };
    }
    match rewind.memory.iter().filter(|cell| cell.language == language).count() {
        0 => "starts afresh".into(),
        1 => "by running 1 cell again".into(),
        cells => format!("by running {cells} cells again"),
    }
}
