//! `interpreter trust`: may this folder's instructions be told to models?

use crate::{
    args::misuse,
    commands::{scene, wait_for},
    exit::Exit,
    report::Error,
    terminal::{
        chat::Chat,
        keys::{Heard, Keys, Wanted},
        style::Style,
    },
};
use interpreter_agent::Scene;
use interpreter_core::Untrusted;
use interpreter_store::{Instructions, Overrides, Standing};
use std::{
    io::{self, IsTerminal},
    process::ExitCode,
};

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
    let mut screen = Chat::new(Style::of_stdout(&scene.environment), &scene.confinement());
    if files.is_empty() {
        screen.say(
            "There are no instructions here: neither AGENTS.md nor .interpreter/instructions.md \
             can be used.",
        )?;
        return Ok(Exit::Done.into());
    }
    let somebody = io::stdin().is_terminal() && io::stdout().is_terminal();
    if !args.yes && !args.forget && !somebody {
        return Err(misuse("there is nobody to ask; `interpreter trust --yes` trusts them"));
    }
    let keys = Keys::start(None)?;
    for file in &files {
        if args.forget {
            scene.keep_trust(file, Standing::Unknown)?;
            screen.say(&format!("{} is not trusted any more.", file.name))?;
        } else if args.yes {
            scene.keep_trust(file, Standing::Trusted)?;
            screen.say(&format!("{} is trusted as it is now.", file.name))?;
        } else {
            wait_for(ask(&scene, &mut screen, &keys, file))??;
        }
    }
    Ok(Exit::Done.into())
}

/// Shows a file and keeps what the person says to it. Whoever does not answer is asked again
/// another time.
pub(crate) async fn ask(
    scene: &Scene,
    screen: &mut Chat,
    keys: &Keys,
    file: &Instructions,
) -> Result<(), Error> {
    screen.say(&format!("This folder has instructions for models, {}:", file.name))?;
    screen.quote(&Untrusted::new(file.text.as_str()))?;
    screen.say("Are models to be told this?  y yes, until it changes · n no")?;
    loop {
        let said = match keys.line(Wanted::Answer).await {
            Heard::Line(line) => line,
            Heard::Interrupted | Heard::Ended => return Ok(()),
        };
        match said.trim() {
            "y" | "yes" => return Ok(scene.keep_trust(file, Standing::Trusted)?),
            "n" | "no" => return Ok(scene.keep_trust(file, Standing::Refused)?),
            _ => screen.say("Please answer y or n.")?,
        }
    }
}
