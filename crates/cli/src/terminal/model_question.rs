//! The question which of a provider's models is to be used.
//!
//! Shows a few, and takes a number, a name or a part of one. All names come from the provider.

use super::{
    ask::{Asker, Left},
    keyboard::Typing,
    ours::{count, ours},
    screen::Screen,
};
use interpreter_core::roster::{Meant, Roster};

/// How many are shown at once.
const SHOWN: usize = 12;

/// The model that the person chooses. `title` is the provider.
pub(super) async fn ask(
    asker: &mut Asker,
    screen: &mut Screen,
    title: &str,
    roster: &Roster,
) -> Result<String, Left> {
    let all = roster.names();
    let mut fitting = all.clone();
    let mut missed = None;
    loop {
        let shown = &fitting[..fitting.len().min(SHOWN)];
        let draw = |screen: &mut Screen| {
            if let Some(missed) = &missed {
                screen.tell(&format!("No model of {title} has `{missed}` in its name."))?;
            }
            let models = count(all.len(), "model");
            screen.tell(&match fitting.len() {
                fit if fit == all.len() => format!("{title} has {}.", models.as_str()),
                fit => format!("{title} has {}; {fit} of them fit.", models.as_str()),
            })?;
            for (name, number) in shown.iter().zip(1..) {
                screen.row(&format!("{number:2}  {name}"))?;
            }
            let more = fitting.len() - shown.len();
            let more = if more > 0 { ours("… and ") + more + " more. " } else { ours("") };
            screen.say(more + "Type a number, a name or part of one. Enter takes the first.")
        };
        let typed = asker.line(screen, draw, Typing::Shown).await?;
        missed = None;
        fitting = match roster.meant(&typed, shown) {
            Meant::One(name) => return Ok(name.to_owned()),
            Meant::Several(found) => found,
            Meant::Nothing => {
                missed = Some(typed);
                all.clone()
            }
        };
    }
}

/// The name of a model of a provider that lists none; `None` if nothing was typed.
pub(super) async fn ask_for_name(
    asker: &mut Asker,
    screen: &mut Screen,
) -> Result<Option<String>, Left> {
    let draw = |screen: &mut Screen| screen.say("Type the name of the model.");
    let typed = asker.line(screen, draw, Typing::Shown).await?;
    Ok(Some(typed.trim().to_owned()).filter(|name| !name.is_empty()))
}
