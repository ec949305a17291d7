//! The second question before many changes are applied: what stands out is shown by name first.
//!
//! # Threat
//! A key for all of many changes, given to a list that counted most of them.
//!
//! # Mechanism
//! Of more changes than a list names, the outline is shown to its end, a window at a time, and only
//! then a key is taken, which is another one than the first. Going back before the end applies
//! nothing. The yes names the outline, and nothing is applied by a yes that does not. If somebody
//! has decided beforehand, the outline is printed before anything is written.

use super::{
    ask::{Asker, Left, choice},
    listing,
    ours::{count, ours},
    pager,
    questions::gone,
    screen::Screen,
};
use interpreter_core::{
    FileChange,
    outline::{Outline, SeenOutline},
};
use std::io;

/// A yes to all of some changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SeenYes {
    /// The outline that was shown before it, if they are many.
    pub(crate) seen: Option<SeenOutline>,
}

#[derive(Clone, Copy)]
enum Key {
    Apply,
    Names,
    Back,
}

/// Prints what stands out in `files` if they are many, for somebody who has decided on all of them
/// beforehand or is asked to.
pub(crate) fn print(screen: &mut Screen, files: &[&FileChange]) -> io::Result<SeenYes> {
    let Some(outline) = Outline::of_some(files.iter().copied()) else {
        return Ok(SeenYes { seen: None });
    };
    announce(screen, files.len())?;
    for row in &listing::outlined(files.iter().copied(), &outline).rows {
        screen.row(row)?;
    }
    Ok(SeenYes { seen: Some(SeenOutline::of_all(outline.hash)) })
}

fn announce(screen: &mut Screen, files: usize) -> io::Result<()> {
    screen.say(ours("Before ") + count(files, "change") + " are applied, what stands out by name:")
}

/// The yes to all of `files` of somebody who has seen all that stands out in them; `None` if they
/// said no.
pub(crate) async fn all_of(
    asker: &mut Asker,
    screen: &mut Screen,
    files: &[&FileChange],
) -> Result<Option<SeenYes>, Left> {
    let Some(outline) = Outline::of_some(files.iter().copied()) else {
        return Ok(Some(SeenYes { seen: None }));
    };
    let all = count(files.len(), "change");
    gone(announce(screen, files.len()))?;
    let mut rows = listing::outlined(files.iter().copied(), &outline).rows;
    loop {
        let shown = pager::rows(asker, screen, &rows).await.unwrap_or(Err(Left::Ended))?;
        if shown == pager::Viewed::Part {
            gone(screen.say("Nothing was applied: the list was not shown to its end."))?;
            return Ok(None);
        }
        let question = match outline.count() {
            0 => ours("Apply all ") + all.clone() + "?",
            counted => ours("Apply all ") + all.clone() + ", " + counted + " of them only counted?",
        };
        let choices = [
            choice('y', "yes", Key::Apply),
            choice('f', "list every file", Key::Names),
            choice('b', "back", Key::Back),
        ];
        match asker.choose(screen, &question, &choices).await? {
            Key::Apply => {
                return Ok(Some(SeenYes { seen: Some(SeenOutline::of_all(outline.hash)) }));
            }
            Key::Back => return Ok(None),
            Key::Names => rows = listing::whole(files.iter().copied()).rows,
        }
    }
}
