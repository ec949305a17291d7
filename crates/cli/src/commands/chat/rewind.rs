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
    FilesCheckpoint,
    session::{ComesBack, Event, PastCell, PlannedInterpreter, RewindPlan},
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
    rewind.programs = frontend.session.programs().await;
    let held = frontend.session.checkpoint(rewind.number()).await;
    let plan = rewind.plan(held.as_ref());
    draw(screen, &rewind.undone, &plan)?;
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
    if !plan.applied.is_empty() {
        screen.say(count(plan.applied_count, "file") + " applied to your folder since then:")?;
        transcript::files(screen, &plan.applied)?;
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
fn draw(screen: &mut Screen, cells: &[PastCell], plan: &RewindPlan) -> io::Result<()> {
    screen.say(count(cells.len(), "cell") + " and everything said since will no longer count:")?;
    for cell in cells.iter().take(LISTED) {
        screen.row(&format!("{:<4} {:<8} {}", cell.id, cell.language, first_line(&cell.code)))?;
    }
    if cells.len() > LISTED {
        screen.say(ours("and ") + (cells.len() - LISTED) + " more")?;
    }
    if plan.prompts > 1 {
        screen.say(count(plan.prompts, "prompt") + " no longer count")?;
    }
    if let Some(prompt) = &plan.prompt {
        screen.row_of_words(&format!("your prompt: {}", prompt.for_terminal_line(200)))?;
    }
    screen.say("How it comes back:")?;
    for PlannedInterpreter { language, from } in &plan.interpreters {
        screen.row_of_words(&format!("{language}: {}", comes_back(*from)))?;
    }
    let files = match &plan.staged {
        FilesCheckpoint::Kept => "as they were then".to_owned(),
        FilesCheckpoint::NotStaged => "not staged here, so they stay as they are".to_owned(),
        FilesCheckpoint::NotKept { reason } => format!("stay as they are: {reason}"),
    };
    screen.row_of_words(&format!("staged files: {files}"))?;
    if !plan.sent.is_empty() {
        screen.row_of_words(&format!("no longer staged: {}", plan.sent.join(", ")))?;
    }
    screen.row_of_words("temporary files and the home inside: emptied")?;
    screen.say_quietly("Open files, sockets, pipes and running programs do not come back.")?;
    if plan.programs > 0 {
        let programs = usize::try_from(plan.programs).unwrap_or(usize::MAX);
        screen.say(count(programs, "program") + " left running by code will be ended")?;
    }
    if !plan.hosts.is_empty() {
        screen.row_of_words(&format!("not undone: it reached {}", plan.hosts.join(", ")))?;
    }
    Ok(())
}

/// How an interpreter comes back, in words.
fn comes_back(from: ComesBack) -> String {
    match from {
        ComesBack::Memory { without } if without.is_empty() => "from memory".into(),
        ComesBack::Memory { without } => format!("from memory, without {without}"),
        ComesBack::Cells { count: 1 } => "by running 1 cell again".into(),
        ComesBack::Cells { count } => format!("by running {count} cells again"),
        ComesBack::Nothing => "starts afresh".into(),
    }
}
