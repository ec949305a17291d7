//! The question what becomes of staged changes: all of them, or some. `hunks_question.rs` goes
//! through them one by one.

use super::{
    ask::{Left, choice},
    keyboard::Typing,
    listing,
    ours::{count, ours, word},
    outline_question::{self, SeenYes},
    pager,
    person::Console,
    questions::gone,
    screen::Screen,
    transcript,
};
use interpreter_core::{
    Extent, FileChange, LeftOut, Pick,
    outline::{ApplyOrder, NAMED},
    pick::numbers,
    session::Settle,
};

/// An answer to the question whether changes are kept.
#[derive(Clone, Debug)]
pub(super) enum Keep {
    Settle(Settle),
    /// Show the diff.
    Show,
    /// Go through the changes one by one.
    Hunks,
}

#[derive(Clone, Copy)]
enum KeepKey {
    Apply,
    Choose,
    Discard,
    Later,
    Show,
    Names,
    Hunks,
}

impl Console {
    /// Lists changes and asks whether they are kept.
    pub(super) async fn about_changes(
        &mut self,
        screen: &mut Screen,
        id: &str,
        files: &[FileChange],
        left_out: &[LeftOut],
    ) -> Result<Keep, Left> {
        let listing = if screen.folds() { listing::short(files) } else { listing::whole(files) };
        for row in &listing.rows {
            gone(screen.row(row))?;
        }
        if listing.folded > 0 {
            let folded = count(listing.folded, "file");
            gone(screen.say(folded + " not listed by name: press f."))?;
        }
        gone(transcript::left_out(screen, left_out))?;
        let noun = if files.len() == 1 { "this change" } else { "these changes" };
        let question = ours("Keep ") + noun + " (set " + word(id) + ")?";
        let mut choices = vec![
            choice('a', "apply to your folder", KeepKey::Apply),
            choice('h', "choose hunks", KeepKey::Hunks),
            choice('d', "discard", KeepKey::Discard),
            choice('l', "later", KeepKey::Later),
            choice('s', "show the diff", KeepKey::Show),
            choice('f', "list every file", KeepKey::Names),
        ];
        if files.len() > 1 {
            choices.insert(1, choice('c', "choose files", KeepKey::Choose));
        }
        loop {
            return Ok(match self.asker.choose(screen, &question, &choices).await? {
                KeepKey::Apply => {
                    let all: Vec<_> = files.iter().collect();
                    match outline_question::all_of(&mut self.asker, screen, &all).await? {
                        Some(SeenYes { seen }) => {
                            Keep::Settle(Settle::Apply(ApplyOrder { picks: Vec::new(), seen }))
                        }
                        None => continue,
                    }
                }
                KeepKey::Choose => match self.chosen(screen, files).await? {
                    Some(order) => Keep::Settle(Settle::Apply(order)),
                    None => continue,
                },
                KeepKey::Discard => Keep::Settle(Settle::Discard),
                KeepKey::Later => Keep::Settle(Settle::Later),
                KeepKey::Show => Keep::Show,
                KeepKey::Names => {
                    let rows = listing::whole(files).rows;
                    pager::rows(&mut self.asker, screen, &rows)
                        .await
                        .unwrap_or(Err(Left::Ended))?;
                    continue;
                }
                KeepKey::Hunks => Keep::Hunks,
            });
        }
    }

    /// Shows what was chosen and asks once more.
    async fn confirmed(
        &mut self,
        screen: &mut Screen,
        chosen: &[&FileChange],
    ) -> Result<Option<SeenYes>, Left> {
        if chosen.len() > NAMED {
            return outline_question::all_of(&mut self.asker, screen, chosen).await;
        }
        for file in chosen {
            gone(screen.row(&listing::row(file)))?;
        }
        let question = ours("Apply ") + count(chosen.len(), "change") + " to your folder?";
        let choices = [choice('y', "yes", true), choice('b', "back", false)];
        let is_wanted = self.asker.choose(screen, &question, &choices).await?;
        Ok(is_wanted.then_some(SeenYes { seen: None }))
    }

    /// Has the person choose some of the files by their numbers. The rest stays staged.
    async fn chosen(
        &mut self,
        screen: &mut Screen,
        files: &[FileChange],
    ) -> Result<Option<ApplyOrder>, Left> {
        let numbered: Vec<_> = files
            .iter()
            .zip(1..)
            .map(|(file, number)| format!("{number:>4}  {}", listing::row(file)))
            .collect();
        pager::rows(&mut self.asker, screen, &numbered).await.unwrap_or(Err(Left::Ended))?;
        loop {
            let draw = |screen: &mut Screen| {
                screen.say("Which files? Type numbers such as `1 3-5`, or press Enter to go back.")
            };
            let typed = self.asker.line(screen, draw, Typing::Shown).await?;
            if typed.trim().is_empty() {
                return Ok(None);
            }
            let Some(numbers) = numbers(&typed, files.len()) else {
                let most = files.len();
                gone(screen.say(ours("Type numbers from 1 to ") + most + "."))?;
                continue;
            };
            let chosen: Vec<_> = numbers.iter().map(|number| &files[number - 1]).collect();
            if let Some(SeenYes { seen }) = self.confirmed(screen, &chosen).await? {
                let pick =
                    |file: &&FileChange| Pick { path: file.path.clone(), extent: Extent::Itself };
                let picks = chosen.iter().map(pick).collect();
                return Ok(Some(ApplyOrder { picks, seen }));
            }
        }
    }
}
