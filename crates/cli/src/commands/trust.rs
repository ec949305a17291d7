//! `interpreter trust`: decide whether models get this folder's instructions.

use crate::{
    exit::Exit,
    report::{Error, misuse},
    start::{at_terminal, context, wait_for},
    terminal::{
        ask::{Asker, Left, choice},
        ours::ours,
        screen::{Screen, Section},
    },
};
use interpreter_agent::Context;
use interpreter_core::Untrusted;
use interpreter_store::{Instructions, Overrides, Standing};
use reedline::Reedline;
use std::process::ExitCode;

/// Trust this folder's instructions for models
///
/// Shows AGENTS.md and .interpreter/instructions.md of the current folder and asks whether to send
/// them to models. The answer holds until the file changes. Instructions only add to the prompt;
/// they change no rule and allow nothing.
#[derive(Debug, clap::Args)]
pub(crate) struct TrustArgs {
    /// Trust them without asking
    #[arg(short, long, conflicts_with = "forget")]
    yes: bool,
    /// Forget your answer; the files are not used until you are asked again
    #[arg(long)]
    forget: bool,
}

pub(crate) fn trust(args: &TrustArgs) -> Result<ExitCode, Error> {
    let context = context(&Overrides::default())?;
    let files = context.instructions()?;
    let mut screen = Screen::stdout(&context.environment);
    if files.is_empty() {
        screen.say(
            "This folder has no instructions: there is no usable AGENTS.md or \
             .interpreter/instructions.md.",
        )?;
        return Ok(Exit::Done.into());
    }
    if !args.yes && !args.forget {
        if !at_terminal() {
            return Err(misuse(
                "no terminal to ask on; use `interpreter trust --yes` to trust them",
            ));
        }
        return wait_for(ask_about_all(&context, &mut screen, &files))?;
    }
    for file in &files {
        if args.forget {
            context.keep_trust(file, Standing::Unknown)?;
            screen.tell(&format!("{} is no longer trusted.", file.name))?;
        } else {
            context.keep_trust(file, Standing::Trusted)?;
            screen.tell(&format!("{} is trusted with its current content.", file.name))?;
        }
    }
    Ok(Exit::Done.into())
}

async fn ask_about_all(
    context: &Context,
    screen: &mut Screen,
    files: &[Instructions],
) -> Result<ExitCode, Error> {
    let mut asker = Asker::start(&context.environment, Reedline::create)?;
    for file in files {
        if ask(context, screen, &mut asker, file).await? == Err(Left::Terminated) {
            return Ok(Exit::CodeFailed.into());
        }
    }
    Ok(Exit::Done.into())
}

/// Shows a file and keeps the answer. Without an answer, the question comes again next time.
pub(crate) async fn ask(
    context: &Context,
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
            context.keep_trust(file, standing)?;
            Ok(Ok(()))
        }
        Err(left) => Ok(Err(left)),
    }
}
