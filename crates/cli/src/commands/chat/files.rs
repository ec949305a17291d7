//! Staged changes from inside a chat: of this session through the session, which holds its set, and
//! of earlier ones as `interpreter changes` does it.

use super::{mentions::words, next::Next};
use crate::{
    commands::changes::{absent, line, told},
    report::{Error, misuse},
    terminal::{
        ask::Left,
        frontend::Frontend,
        ours::{count, word},
        outline_question::{self, SeenYes},
        pager,
        person::Person,
        screen::{Screen, Section},
    },
};
use interpreter_agent::{
    Context, Looker,
    changes::{self, Catalog, Conflict, Wanted, Which},
};
use interpreter_core::{
    FileChange, Pick, Untrusted,
    outline::{ApplyOrder, NAMED},
    session::{ChangesWish, Event},
};
use std::io;

/// Whose changes a command is about.
enum Whose {
    /// This session's own.
    Ours(String),
    /// Those of a session that is over.
    Earlier(String),
}

/// The set that a command means: this session's if something of it is in the right state, and
/// otherwise the newest of the folder.
fn meant(frontend: &Frontend, context: &Context, wanted: Wanted) -> Result<Option<Whose>, Error> {
    if let (Wanted::Staged, Some(own), false) =
        (wanted, &frontend.staged, frontend.listed.is_empty())
    {
        return Ok(Some(Whose::Ours(own.clone())));
    }
    let Some(set) = changes::newest(context, wanted)? else { return Ok(None) };
    if frontend.staged.as_ref() == Some(&set.id) {
        return Ok(Some(Whose::Ours(set.id)));
    }
    if set.in_use {
        return Err(misuse(format!("the change set {} is in use by another session", set.id)));
    }
    Ok(Some(Whose::Earlier(set.id)))
}

/// The screen of a chat, which always has one.
fn screen(frontend: &mut Frontend) -> Result<&mut Screen, Error> {
    frontend.view.screen().ok_or_else(|| io::Error::other("no screen").into())
}

pub(super) async fn diff(
    frontend: &mut Frontend,
    context: &Context,
    paths: Option<&str>,
) -> Result<Option<Next>, Error> {
    let paths = words(paths.unwrap_or_default());
    let diff = match meant(frontend, context, Wanted::Staged)? {
        Some(Whose::Ours(id)) => Some(frontend.session.diff_now(&id, paths).await?),
        Some(Whose::Earlier(id)) => changes::diff(context, &Which::Named(id), &paths)?,
        None => None,
    };
    if let Some(diff) = diff {
        return page(frontend, Section::Diff, &diff).await;
    }
    screen(frontend)?.say(absent(Wanted::Staged))?;
    Ok(None)
}

/// Shows text a window at a time.
pub(super) async fn page(
    frontend: &mut Frontend,
    section: Section,
    text: &Untrusted,
) -> Result<Option<Next>, Error> {
    let (Person::Present(console), Some(screen)) = (&mut frontend.person, frontend.view.screen())
    else {
        return Ok(None);
    };
    match pager::text(&mut console.asker, screen, section, text).await? {
        Ok(_) => Ok(None),
        Err(left) => Ok(Next::after(left)),
    }
}

/// `/apply [PATH…]`.
pub(super) async fn apply(
    frontend: &mut Frontend,
    context: &Context,
    words: &[String],
) -> Result<Option<Next>, Error> {
    let (id, is_ours) = match meant(frontend, context, Wanted::Staged)? {
        Some(Whose::Ours(id)) => (id, true),
        Some(Whose::Earlier(id)) => (id, false),
        None => return decide(frontend, context, ChangesWish::Apply(Vec::new())),
    };
    let picks = changes::picks(context, &id, words)?;
    // Hunks are shown before they can be named.
    if picks.iter().any(Pick::is_of_hunks) {
        return decide(frontend, context, ChangesWish::Apply(picks));
    }
    if !is_ours {
        return apply_earlier(frontend, context, &id, &picks).await;
    }
    // It may be more than the last run has listed, so everything is looked at now.
    let by = Looker { who: None, decides: true, path: None };
    let look = frontend.session.look_at_changes(&id, by).await?;
    let files = Pick::meant(&picks, &look.changes.files);
    match confirmed(frontend, &files).await? {
        Ok(Some(SeenYes { seen })) => {
            let order = ApplyOrder { picks, seen };
            let wish = ChangesWish::ApplyShown { number: look.number, order };
            Ok(Some(Next::Turn(Event::ChangesWanted(wish))))
        }
        Ok(None) => Ok(None),
        Err(left) => Ok(Next::after(left)),
    }
}

/// The same for the changes of a session that is over.
async fn apply_earlier(
    frontend: &mut Frontend,
    context: &Context,
    id: &str,
    picks: &[Pick],
) -> Result<Option<Next>, Error> {
    let Some(review) = changes::review(context, &Which::Named(id.to_owned()), picks)? else {
        screen(frontend)?.say(absent(Wanted::Staged))?;
        return Ok(None);
    };
    let files: Vec<_> = review.files().iter().collect();
    match confirmed(frontend, &files).await? {
        Ok(Some(SeenYes { seen })) => {
            let order = ApplyOrder { picks: picks.to_vec(), seen };
            let applied = review.apply(&order, Conflict::Refuse)?;
            told(screen(frontend)?, "Applied", id, &applied)?;
            Ok(None)
        }
        Ok(None) => Ok(None),
        Err(left) => Ok(Next::after(left)),
    }
}

/// The yes to so many changes of somebody who has seen what stands out in them.
async fn confirmed(
    frontend: &mut Frontend,
    files: &[&FileChange],
) -> Result<Result<Option<SeenYes>, Left>, Error> {
    let (Person::Present(console), Some(screen)) = (&mut frontend.person, frontend.view.screen())
    else {
        return Ok(Ok((files.len() <= NAMED).then_some(SeenYes { seen: None })));
    };
    Ok(outline_question::all_of(&mut console.asker, screen, files).await)
}

pub(super) fn decide(
    frontend: &mut Frontend,
    context: &Context,
    wish: ChangesWish,
) -> Result<Option<Next>, Error> {
    let wanted = match wish {
        ChangesWish::Apply(_)
        | ChangesWish::ApplyShown { .. }
        | ChangesWish::Discard(_)
        | ChangesWish::DiscardShown { .. }
        | ChangesWish::Put(_) => Wanted::Staged,
        ChangesWish::Undo(_) => Wanted::Applied,
        ChangesWish::Redo(_) => Wanted::Undone,
    };
    let id = match meant(frontend, context, wanted)? {
        Some(Whose::Ours(_)) => return Ok(Some(Next::Turn(Event::ChangesWanted(wish)))),
        Some(Whose::Earlier(id)) => id,
        None => {
            screen(frontend)?.say(absent(wanted))?;
            return Ok(None);
        }
    };
    let which = Which::Named(id.clone());
    let done = match &wish {
        ChangesWish::Apply(picks) => match changes::review(context, &which, picks)? {
            Some(review) => {
                let order = ApplyOrder::of(picks.clone());
                Some((id, "Applied", review.apply(&order, Conflict::Refuse)?))
            }
            None => None,
        },
        // Snapshots have numbers, and files are put, only in a session that runs.
        ChangesWish::ApplyShown { .. } | ChangesWish::Put(_) => None,
        ChangesWish::Discard(paths) | ChangesWish::DiscardShown { paths, .. } => {
            changes::discard(context, &which, paths)?.map(|(id, files)| (id, "Discarded", files))
        }
        ChangesWish::Undo(_) => changes::undo(context, &which, Conflict::Refuse)?
            .map(|(id, files)| (id, "Undid", files)),
        ChangesWish::Redo(_) => changes::redo(context, &which, Conflict::Refuse)?
            .map(|(id, files)| (id, "Redid", files)),
    };
    let screen = screen(frontend)?;
    match done {
        Some((id, done, files)) => told(screen, done, &id, &files)?,
        None => screen.say(absent(wanted))?,
    }
    Ok(None)
}

pub(super) fn list(frontend: &mut Frontend, context: &Context) -> Result<Option<Next>, Error> {
    let Catalog { mut sets, .. } = changes::list(context)?;
    // That of a session that has staged nothing says nothing.
    sets.retain(|set| set.files + set.undoable + set.redoable > 0);
    let own = frontend.staged.clone();
    let screen = screen(frontend)?;
    if sets.is_empty() {
        screen.say("This folder has no change sets.")?;
    }
    for mut set in sets {
        let is_own = own.as_ref() == Some(&set.id);
        set.in_use &= !is_own;
        screen.row(&(line(&set) + if is_own { "  (this session)" } else { "" }))?;
    }
    Ok(None)
}

/// Reminds of changes that wait for a decision: where a session begins, and where one ends.
pub(super) fn remind(screen: &mut Screen, context: &Context, is_end: bool) -> Result<(), Error> {
    // Where nothing can be looked up there is nothing to remind of.
    let Ok(Some(set)) = changes::newest(context, Wanted::Staged) else { return Ok(()) };
    if set.in_use || set.files == 0 {
        return Ok(());
    }
    let verb = if set.files == 1 { " is" } else { " are" };
    let staged = count(set.files, "file") + verb + " still staged (set " + word(&set.id) + "). ";
    let how = if is_end {
        "Review: `interpreter changes diff`; keep: `interpreter changes apply`; drop: \
         `interpreter changes discard`."
    } else {
        "Review: /diff; keep: /apply; drop: /discard."
    };
    Ok(screen.say(staged + how)?)
}
