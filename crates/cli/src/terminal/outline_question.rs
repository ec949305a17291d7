//! The second question before many changes are applied: what stands out is shown by name first.
//!
//! # Threat
//! A key for all of many changes, given to a list that counted most of them.
//!
//! # Mechanism
//! Of more changes than a list names, the outline is shown to its end, a window at a time, and only
//! then a key is taken, which is another one than the first. Going back before the end applies
//! nothing.

use super::{
    ask::{Asker, Left, choice},
    listing,
    ours::{count, ours},
    pager,
    questions::gone,
    screen::Screen,
};
use interpreter_core::{FileChange, outline::Outline};

#[derive(Clone, Copy)]
enum Key {
    Apply,
    Names,
    Back,
}

/// Whether all of `files` are to be applied, by somebody who has seen all that stands out in them.
pub(crate) async fn all_of(
    asker: &mut Asker,
    screen: &mut Screen,
    files: &[&FileChange],
) -> Result<bool, Left> {
    let Some(outline) = Outline::of_some(files.iter().copied()) else { return Ok(true) };
    let all = count(files.len(), "change");
    gone(screen.say(ours("Before ") + all.clone() + " are applied, what stands out by name:"))?;
    let mut rows = listing::outlined(files.iter().copied(), &outline).rows;
    loop {
        let shown = pager::rows(asker, screen, &rows).await.unwrap_or(Err(Left::Ended))?;
        if shown == pager::Viewed::Part {
            gone(screen.say("Nothing was applied: the list was not shown to its end."))?;
            return Ok(false);
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
            Key::Apply => return Ok(true),
            Key::Back => return Ok(false),
            Key::Names => rows = listing::whole(files.iter().copied()).rows,
        }
    }
}
