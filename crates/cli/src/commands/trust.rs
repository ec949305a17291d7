//! `interpreter trust`: may this folder's instructions be told to models?

use crate::{
    args::misuse,
    commands::{at_terminal, scene, wait_for},
    exit::Exit,
    report::Error,
    terminal::{
        ask::{Asker, Left, choice},
        ours::ours,
        screen::{Screen, Section},
    },
};
use interpreter_agent::Scene;
use interpreter_core::Untrusted;
use interpreter_store::{Instructions, Overrides, Standing};
use reedline::Reedline;
use std::process::ExitCode;

/// Let models be told this folder's own instructions
///
/// Shows AGENTS.md and .interpreter/instructions.md of the folder that you are in and asks whether
/// models are to be told what they say. The answer holds until the file changes. Such instructions
/// add to what a model is told; they change no rule and allow nothing.
#[derive(Debug, clap::Args)]
pub(crate) struct TrustArgs {
    /// Trust them without asking
    #[arg(short, long, conflicts_with = "forget")]
    yes: bool,
    /// Forget what you said; they are not used then, until you are asked again
    #[arg(long)]
    forget: bool,
}

pub(crate) fn trust(args: &TrustArgs) -> Result<ExitCode, Error> {
    let scene = scene(&Overrides::default())?;
    let files = scene.instructions()?;
    let mut screen = Screen::stdout(&scene.environment);
    if files.is_empty() {
        screen.say(
            "There are no instructions here: neither AGENTS.md nor .interpreter/instructions.md \
             can be used.",
        )?;
        return Ok(Exit::Done.into());
    }
    if !args.yes && !args.forget {
        if !at_terminal() {
            return Err(misuse(
                "there is no terminal to ask on; `interpreter trust --yes` trusts them",
            ));
        }
        return wait_for(ask_about_all(&scene, &mut screen, &files))?;
    }
    for file in &files {
        if args.forget {
            scene.keep_trust(file, Standing::Unknown)?;
            screen.tell(&format!("{} is not trusted any more.", file.name))?;
        } else {
            scene.keep_trust(file, Standing::Trusted)?;
            screen.tell(&format!("{} is trusted as it is now.", file.name))?;
        }
    }
    Ok(Exit::Done.into())
}

async fn ask_about_all(
    scene: &Scene,
    screen: &mut Screen,
    files: &[Instructions],
) -> Result<ExitCode, Error> {
    let mut asker = Asker::start(&scene.environment, Reedline::create)?;
    for file in files {
        if ask(scene, screen, &mut asker, file).await? == Err(Left::Terminated) {
            return Ok(Exit::CodeFailed.into());
        }
    }
    Ok(Exit::Done.into())
}

/// Shows a file and keeps the person's answer. Whoever does not answer is asked again another
/// time.
pub(crate) async fn ask(
    scene: &Scene,
    screen: &mut Screen,
    asker: &mut Asker,
    file: &Instructions,
) -> Result<Result<(), Left>, Error> {
    screen.say("This folder has instructions for models:")?;
    screen.row(file.name)?;
    screen.quote(Section::Output, &Untrusted::new(file.text.as_str()))?;
    let choices = [
        choice('y', "yes, until the file changes", Standing::Trusted),
        choice('n', "no", Standing::Refused),
    ];
    let question = ours("Share these instructions with the model?");
    match asker.choose(screen, &question, &choices).await {
        Ok(standing) => {
            scene.keep_trust(file, standing)?;
            Ok(Ok(()))
        }
        Err(left) => Ok(Err(left)),
    }
}
