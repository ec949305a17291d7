//! How the chat looks: its colours, and whether long things are folded.

use crate::{
    report::{Error, misuse},
    terminal::{frontend::Frontend, ours::ours, person::Person, screen::Section, syntax::Syntax},
};
use interpreter_core::{Palette, Theme, Untrusted};

/// A few words in every colour of code, to see whether they can be read.
const SAMPLE: &str = "for name in [\"a\", \"b\"]:  # a comment\n    print(name, 12)";

/// `/theme [light|dark|auto|none]`.
pub(super) async fn theme(frontend: &mut Frontend, wanted: Option<&str>) -> Result<(), Error> {
    let Frontend { person, view, .. } = frontend;
    let (Person::Present(console), Some(screen)) = (person, view.screen()) else { return Ok(()) };
    if let Some(word) = wanted {
        let theme = Theme::named(word);
        console.colouring.theme =
            theme.ok_or_else(|| misuse("`/theme` takes `light`, `dark`, `auto` or `none`"))?;
        screen.close()?;
        console.use_theme(screen).await;
    }
    let theme = console.colouring.theme;
    let found = match (theme, console.colouring.palette()) {
        (Theme::Auto, None) => " (none, because of `NO_COLOR`)",
        (Theme::Auto, Some(Palette::Light)) => " (the terminal is light)",
        (Theme::Auto, Some(Palette::Dark)) => " (the terminal is dark)",
        (Theme::Auto | Theme::Light | Theme::Dark, Some(Palette::Own)) => {
            " (the terminal's own sixteen colours)"
        }
        (Theme::Light | Theme::Dark | Theme::None, _) => "",
    };
    screen.say(ours("Theme: ") + theme.word() + found + ".")?;
    if wanted.is_none() {
        screen.say(
            "`/theme light`, `dark`, `auto` or `none` changes it; `theme` in your config file \
             keeps it.",
        )?;
    }
    Ok(screen.quote(Section::Code(Syntax::of("python")), &Untrusted::new(SAMPLE))?)
}

/// `/verbose [on|off]`.
pub(super) fn verbose(frontend: &mut Frontend, argument: Option<&str>) -> Result<(), Error> {
    let wanted = match argument {
        None => !frontend.is_verbose,
        Some("on" | "true") => true,
        Some("off" | "false") => false,
        Some(_) => return Err(misuse("`/verbose` takes `on` or `off`")),
    };
    frontend.be_verbose(wanted);
    if let Some(screen) = frontend.view.screen() {
        screen.say(if wanted {
            "Verbose: output, thoughts and lists are shown in full, with verdicts, answers and \
             token counts. `/verbose off` folds them again."
        } else {
            "No longer verbose: long output, thoughts and long lists are folded."
        })?;
    }
    Ok(())
}
