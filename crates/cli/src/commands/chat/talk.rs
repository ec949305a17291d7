//! Between two turns: waits for a line, and says what it comes to.

use super::{
    act,
    complete::{Known, Shared},
    line::Line,
    mentions::{mentions, without_marks},
    next::Next,
};
use crate::{
    report::{self, Error},
    terminal::{ask::Left, frontend::Frontend, person::Person},
};
use interpreter_agent::{Context, embedded};
use interpreter_core::session::Event;
use std::path::Path;

/// Waits for a prompt, or for a command that is a turn or an end.
pub(super) async fn next(
    frontend: &mut Frontend,
    context: &Context,
    shared: &Shared,
) -> Result<Next, Error> {
    loop {
        let staged = frontend.listed.iter().map(|file| file.path.clone()).collect();
        shared.update(|known| known.staged = staged);
        let Person::Present(console) = &mut frontend.person else {
            return Ok(Next::Leave(Left::Ended));
        };
        let line = match console.asker.prompt().await {
            Ok(line) => line,
            Err(Left::Interrupted) => continue,
            Err(left) => return Ok(Next::Leave(left)),
        };
        let outcome = meant(frontend, context, &line).await;
        let Some(screen) = frontend.view.screen() else { return Ok(Next::Leave(Left::Ended)) };
        match outcome {
            Ok(Some(next)) => return Ok(next),
            Ok(None) => {}
            // The chat goes on, unless its terminal is gone.
            Err(error @ Error::Output(_)) => return Err(error),
            Err(Error::Misuse(text)) => screen.tell(&format!("{text}."))?,
            Err(error) => report::tell(&error, screen)?,
        }
    }
}

/// The step that a line asks for. `None` means that the next one is read.
async fn meant(
    frontend: &mut Frontend,
    context: &Context,
    line: &str,
) -> Result<Option<Next>, Error> {
    let unknown = |word: &str, near: Option<&str>| match near {
        Some(near) => format!("unknown command `{word}`; did you mean `{near}`?"),
        None => format!("unknown command `{word}`; /help lists all commands"),
    };
    match Line::of(line) {
        Line::Nothing => Ok(None),
        Line::Prompt => attached(frontend, context, line),
        Line::Shell(code) => act::own_code(context, "shell", code).map(Some),
        Line::Packages(code) => act::own_code(context, "python", code).map(Some),
        Line::Command(row, argument) => act::act(frontend, context, row.verb, argument).await,
        Line::Misused(row) => Err(Error::Misuse(format!("usage: `{}`: {}", row.usage(), row.help))),
        Line::Instead(words) => {
            if let Some(screen) = frontend.view.screen() {
                screen.say(words)?;
            }
            Ok(None)
        }
        Line::Unknown(word, near) => Err(Error::Misuse(unknown(word, near))),
    }
}

/// A prompt, with the files that it names. If one of them cannot be sent, nothing is.
fn attached(
    frontend: &mut Frontend,
    context: &Context,
    prompt: &str,
) -> Result<Option<Next>, Error> {
    let mut files = Vec::new();
    for mention in mentions(prompt) {
        let is_there = |path: &&str| context.work_folder.join(path).symlink_metadata().is_ok();
        let typed = [mention.as_str(), without_marks(&mention)];
        let Some(path) = typed.into_iter().find(|path| !path.is_empty() && is_there(path)) else {
            // An `@` means many things.
            continue;
        };
        files.push(context.attach_file(Path::new(path))?);
    }
    for (event, words) in files {
        frontend.session.send(event);
        if let Some(screen) = frontend.view.screen() {
            screen.tell(&format!("Attached {words}."))?;
        }
    }
    Ok(Some(Next::Turn(Event::Asked(prompt.to_owned()))))
}

/// The names that can be completed with this context, without contacting anything.
pub(super) fn known(context: &Context) -> Known {
    let settings = &context.settings;
    let mut models: Vec<_> = settings.model.value.iter().cloned().collect();
    models.extend(settings.fallback.value.iter().cloned());
    models.extend(settings.endpoints.keys().map(|name| format!("{name}/")));
    let embedded = embedded::list(context).into_iter();
    models.extend(embedded.map(|(entry, _)| format!("embedded/{}", entry.name)));
    models.extend(context.providers.all().map(|provider| format!("{}/", provider.name)));
    let mut seen = std::collections::HashSet::new();
    models.retain(|name| seen.insert(name.clone()));
    let table = context.interpreters().languages();
    let profiles = context.folders.profile_files().into_iter();
    let profiles = profiles.filter_map(|file| Some(file.file_stem()?.to_str()?.to_owned()));
    Known {
        folder: context.work_folder.clone(),
        models,
        languages: table.names().map(str::to_owned).collect(),
        profiles: profiles.collect(),
        staged: Vec::new(),
    }
}
