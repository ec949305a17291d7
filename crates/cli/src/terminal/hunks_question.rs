//! Goes through staged changes one by one: which of them, and which of their hunks, are kept.
//!
//! The keys are those of `git add -p`. Everything shown here is of one snapshot, and is applied from
//! it. Nothing is picked that was not shown, a window at a time.

use super::{
    ask::{Choice, Left, choice},
    ours::{Ours, count, ours},
    pager,
    person::Console,
    questions::gone,
    screen::{Screen, Section},
};
use interpreter_core::{Extent, Pick, ShownChange, Untrusted};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    Yes,
    No,
    RestOfFile,
    NoneOfFile,
    Stop,
    Help,
}

const HUNK: &[Choice<Key>] = &[
    choice('y', "yes", Key::Yes),
    choice('n', "no", Key::No),
    choice('a', "it and the rest of this file", Key::RestOfFile),
    choice('d', "nothing more of this file", Key::NoneOfFile),
    choice('q', "stop", Key::Stop),
    choice('?', "help", Key::Help),
];

const WHOLE: &[Choice<Key>] = &[
    choice('y', "yes", Key::Yes),
    choice('n', "no", Key::No),
    choice('q', "stop", Key::Stop),
    choice('?', "help", Key::Help),
];

const HELP: &str = "\
y  keep this one
n  leave it staged
a  keep this one and all that follow in this file
d  leave this one and all that follow in this file staged
q  stop; everything that was not asked about stays staged
You confirm before anything is written to your folder.";

impl Console {
    /// Asks about each change, hunk by hunk. Nothing picked, or no confirmation, is `None`.
    pub(super) async fn picked(
        &mut self,
        screen: &mut Screen,
        changes: &[ShownChange],
    ) -> Result<Option<Vec<Pick>>, Left> {
        let mut picks = Vec::new();
        for (change, number) in changes.iter().zip(1..) {
            let (extent, goes_on) =
                self.about_change(screen, change, number, changes.len()).await?;
            picks.extend(extent.map(|extent| Pick { path: change.path.clone(), extent }));
            if !goes_on {
                break;
            }
        }
        if picks.is_empty() {
            gone(screen.say("Nothing chosen; everything stays staged."))?;
            return Ok(None);
        }
        for pick in &picks {
            gone(screen.row(&listed(pick, changes)))?;
        }
        let question = ours("Apply this to your folder? The rest stays staged.");
        let choices = [choice('y', "yes", true), choice('b', "back", false)];
        Ok(self.asker.choose(screen, &question, &choices).await?.then_some(picks))
    }

    /// How much of one change is kept, and whether to go on.
    async fn about_change(
        &mut self,
        screen: &mut Screen,
        change: &ShownChange,
        number: usize,
        of: usize,
    ) -> Result<(Option<Extent>, bool), Left> {
        let hunks = change.hunks.len();
        if hunks < 2 {
            let mut all = change.head.clone();
            change.hunks.iter().for_each(|hunk| all.push(hunk));
            self.show(screen, &all).await?;
            let question = ours("Keep this change (") + number + " of " + of + ")?";
            let key = self.key(screen, &question, WHOLE).await?;
            return Ok(((key == Key::Yes).then_some(Extent::Itself), key != Key::Stop));
        }
        self.show(screen, &change.head).await?;
        let mut kept: Vec<usize> = Vec::new();
        let mut goes_on = true;
        for (hunk, at) in change.hunks.iter().zip(1..) {
            self.show(screen, hunk).await?;
            let question = ours("Keep this hunk (") + at + " of " + hunks + ")?";
            match self.key(screen, &question, HUNK).await? {
                Key::Yes => kept.push(at),
                Key::No | Key::Help => {}
                Key::RestOfFile => {
                    kept.push(at);
                    // They are kept, so they are shown.
                    for (hunk, at) in change.hunks.iter().zip(1..).skip(at) {
                        if self.show(screen, hunk).await? == pager::Viewed::Part {
                            gone(screen.say("Hunks that were not shown stay staged."))?;
                            break;
                        }
                        kept.push(at);
                    }
                    break;
                }
                Key::NoneOfFile => break,
                Key::Stop => {
                    goes_on = false;
                    break;
                }
            }
        }
        let extent = match kept.len() {
            0 => None,
            all if all == hunks => Some(Extent::Itself),
            _ => Some(Extent::Hunks(kept.into_iter().collect())),
        };
        Ok((extent, goes_on))
    }

    /// Shows a part of a diff, a window at a time.
    async fn show(&mut self, screen: &mut Screen, diff: &Untrusted) -> Result<pager::Viewed, Left> {
        let shown = pager::text(&mut self.asker, screen, Section::Diff, diff).await;
        shown.unwrap_or(Err(Left::Ended))
    }

    /// Asks until one of the keys is pressed; `?` shows the help and asks again.
    async fn key(
        &mut self,
        screen: &mut Screen,
        question: &Ours,
        choices: &[Choice<Key>],
    ) -> Result<Key, Left> {
        loop {
            let key = self.asker.choose(screen, question, choices).await?;
            if key != Key::Help {
                return Ok(key);
            }
            gone(screen.say(HELP))?;
        }
    }
}

/// A pick as a row of a list.
fn listed(pick: &Pick, changes: &[ShownChange]) -> String {
    let path = Untrusted::new(pick.path.as_str()).for_terminal_line(usize::MAX);
    let of = changes.iter().find(|change| change.path == pick.path);
    match (&pick.extent, of.map(|change| change.hunks.len())) {
        (Extent::Hunks(hunks), Some(of)) => {
            let numbers: Vec<_> = hunks.iter().map(usize::to_string).collect();
            let noun = count(hunks.len(), "hunk");
            format!("{path}: {} of {of} ({})", noun.as_str(), numbers.join(", "))
        }
        (Extent::Hunks(_) | Extent::Itself | Extent::Below, _) => path,
    }
}
