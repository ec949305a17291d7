//! Performs a command of the chat, between two turns.
//!
//! Each verb of the table has one arm here. Whatever changes the session is an event of it; the rest
//! only looks.

use super::{
    files, look,
    mentions::words,
    next::Next,
    past, rewind, rules,
    table::{Row, TABLE, Verb, of_name},
};
use crate::{
    commands::{
        doctor, languages, model,
        save::{self, Form},
        trust,
    },
    report::{Error, misuse},
    terminal::{
        ask::Left,
        confined,
        frontend::Frontend,
        ours::{count, ours},
        outlet::Outlet,
        person::Person,
        screen::{Screen, Section},
        transcript,
    },
};
use interpreter_agent::{AgentError, Context};
use interpreter_core::{
    Language, Redactor, Untrusted,
    proposal::unfit,
    session::{ChangesWish, Event, Replay, TurnReach},
    similar::nearest,
};
use interpreter_store::Outputs;
use std::path::Path;

/// Performs a command. `None` means that the next line is read.
pub(super) async fn act(
    frontend: &mut Frontend,
    context: &Context,
    verb: Verb,
    argument: Option<&str>,
) -> Result<Option<Next>, Error> {
    let session = frontend.session.id.clone();
    let paths = || words(argument.unwrap_or_default());
    match verb {
        Verb::Diff => return files::diff(frontend, context, argument).await,
        Verb::Apply => return files::apply(frontend, context, &paths()).await,
        Verb::Discard => return files::decide(frontend, context, ChangesWish::Discard(paths())),
        Verb::Undo => return files::decide(frontend, context, ChangesWish::Undo(TurnReach::All)),
        Verb::Redo => return files::decide(frontend, context, ChangesWish::Redo(TurnReach::All)),
        Verb::Changes => return files::list(frontend, context),
        Verb::Rules => return rules::list(frontend, context),
        Verb::Allow => return rules::allow(frontend, context, argument.unwrap_or_default()).await,
        Verb::Deny => return rules::deny(frontend, context, argument.unwrap_or_default()),
        Verb::Output => {
            return match past::printed(context, &session, argument)? {
                Ok((_, text)) => files::page(frontend, Section::Printed, &text).await,
                Err(why) => tell(frontend, &why),
            };
        }
        Verb::Open => {
            frontend.open(argument, &context.environment).await?;
            return Ok(None);
        }
        Verb::Edit => return write_prompt(frontend, argument.unwrap_or_default()).await,
        Verb::Run => return run(frontend, context, argument.unwrap_or_default()).await,
        Verb::Model => return switch(frontend, context, argument).await,
        Verb::Theme => {
            look::theme(frontend, argument).await?;
            return Ok(None);
        }
        Verb::Verbose => {
            look::verbose(frontend, argument)?;
            return Ok(None);
        }
        Verb::Quit => return Ok(Some(Next::Leave(Left::Ended))),
        Verb::New => return Ok(Some(Next::New(None))),
        Verb::Fork => {
            frontend.session.written().await;
            let earlier = context.earlier(Some(&session), argument)?;
            return Ok(Some(Next::Fork(Box::new(earlier))));
        }
        Verb::Rewind => return rewind::rewind(frontend, context, argument).await,
        Verb::Replay => {
            let language = argument.map(|name| language(context, name)).transpose()?;
            frontend.session.written().await;
            let replay = Replay::of(context.cells(&session)?, language.as_ref());
            return Ok(Some(Next::Turn(Event::ReplayWanted(Box::new(replay)))));
        }
        Verb::Profile if argument.is_some() => {
            return Ok(Some(Next::New(argument.map(str::to_owned))));
        }
        Verb::Retry => return Ok(Some(Next::Turn(Event::Retried))),
        Verb::Forget => return Ok(Some(Next::Turn(Event::Forgotten))),
        Verb::Restart => {
            let language = argument.map(|name| language(context, name)).transpose()?;
            return Ok(Some(Next::Turn(Event::Restart(language))));
        }
        Verb::Models if argument.is_some() => {
            let names = model::names(context, argument.unwrap_or_default()).await?;
            let text = Untrusted::new(names.join("\n") + "\n");
            return files::page(frontend, Section::Output, &text).await;
        }
        Verb::Image => return attach(frontend, context, argument.unwrap_or_default()),
        Verb::Help
        | Verb::Models
        | Verb::Profile
        | Verb::Languages
        | Verb::Sandbox
        | Verb::Doctor
        | Verb::Tokens
        | Verb::Context
        | Verb::Save
        | Verb::Clear => {}
    }
    let Some(screen) = frontend.view.screen() else { return Ok(None) };
    show(screen, context, &session, verb, argument).await?;
    Ok(None)
}

/// Performs a command that only shows something, or writes a file.
#[expect(clippy::wildcard_enum_match_arm, reason = "the caller has performed the others")]
async fn show(
    screen: &mut Screen,
    context: &Context,
    session: &str,
    verb: Verb,
    argument: Option<&str>,
) -> Result<(), Error> {
    match verb {
        Verb::Help => help(screen, argument)?,
        Verb::Models => screen.lines(&model::summary(context).await?)?,
        Verb::Languages => screen.lines(&languages::summary(context)?)?,
        Verb::Doctor => {
            screen.say_in_passing("checking this machine …")?;
            let summary = doctor::summary(context).await;
            screen.lines(&summary)?;
        }
        Verb::Sandbox => sandbox(screen, context)?,
        Verb::Profile => profiles(screen, context)?,
        Verb::Tokens => {
            tokens(screen, &past::spent(context, session)?)?;
            let today = context.ledger().today().map_err(AgentError::from)?;
            screen.row(&format!("today, all sessions: {}", today.words()))?;
        }
        Verb::Context => fullness(screen, &past::spent(context, session)?)?,
        Verb::Save => keep(screen, context, session, argument.unwrap_or_default())?,
        Verb::Clear => screen.wipe()?,
        _ => {}
    }
    Ok(())
}

fn tell(frontend: &mut Frontend, text: &str) -> Result<Option<Next>, Error> {
    if let Some(screen) = frontend.view.screen() {
        screen.tell(text)?;
    }
    Ok(None)
}

const KEYS: &str = "\
Describe a task in your own words. The model replies, and asks before it runs code.
  y  run the code          n  reject it
  e  edit it first         w  reject it, and tell the model why
  d  show all of it        a  run it, and more like it without asking
Changes to your files are staged; at the end of each turn you decide whether to keep them.
  !COMMAND   run a shell command yourself; the model sees it
  @PATH      attach a file of this folder to the prompt; Tab completes";

const MARKS: &str = "\
Rows that begin with this mark come from the program. No model and no code can print it.
Keys pressed while the program is busy become the beginning of your next prompt.";

/// Columns of a command in the help.
const NAMES: usize = 22;

fn help(screen: &mut Screen, about: Option<&str>) -> Result<(), Error> {
    let Some(name) = about else {
        screen.say(KEYS)?;
        TABLE.iter().try_for_each(|row| explain(screen, row))?;
        return Ok(screen.say(MARKS)?);
    };
    let Some(row) = of_name(name) else {
        return Err(misuse(format!("there is no command `{name}`; /help lists all commands")));
    };
    explain(screen, row)?;
    if !row.aliases.is_empty() {
        let names = ours("also ") + row.aliases.iter().fold(ours(""), |all, one| all + *one + " ");
        screen.say(names)?;
    }
    Ok(())
}

/// A row of the table is all literals, so it is ours.
fn explain(screen: &mut Screen, row: &'static Row) -> Result<(), Error> {
    let mut words = ours("  ") + row.name;
    if !row.arguments.is_empty() {
        words = words + " " + row.arguments;
    }
    let width = words.as_str().chars().count();
    for _ in width..NAMES {
        words = words + " ";
    }
    Ok(screen.say(words + "  " + row.help)?)
}

fn sandbox(screen: &mut Screen, context: &Context) -> Result<(), Error> {
    let confinement = context.confinement();
    screen.row(&format!("folder  {}", confinement.work_folder.display()))?;
    confined::bounded(screen, ours("Code runs"), &confinement)?;
    Ok(screen.say("`interpreter run --explain` lists every step; /doctor attacks it.")?)
}

fn profiles(screen: &mut Screen, context: &Context) -> Result<(), Error> {
    let files = context.folders.profile_files();
    if files.is_empty() {
        screen.say("There are no profiles. Put NAME.toml into this folder to make one:")?;
        return Ok(screen.row(&context.folders.config.join("profiles").display().to_string())?);
    }
    for name in files.iter().filter_map(|file| file.file_stem()) {
        screen.row(&name.to_string_lossy())?;
    }
    Ok(screen.say("/profile NAME starts a new conversation with one.")?)
}

fn tokens(screen: &mut Screen, spent: &past::Spent) -> Result<(), Error> {
    if spent.replies == 0 {
        return Ok(screen.say("No tokens were counted in this session yet.")?);
    }
    let usage = transcript::usage(spent.input, spent.output, spent.cached, spent.cost, None);
    let calls = if spent.replies == 1 { " reply" } else { " replies" };
    screen.say(usage + ", in " + spent.replies + calls + ".")?;
    if spent.cost.is_none() {
        screen.say_quietly("The price of this model is not known.")?;
    }
    Ok(())
}

fn fullness(screen: &mut Screen, spent: &past::Spent) -> Result<(), Error> {
    let Some((used, most)) = spent.newest else {
        return Ok(screen.say("Nothing was sent to the model yet.")?);
    };
    let words = count(used, "token") + " in the last request and its reply";
    match most.filter(|most| *most > 0) {
        Some(most) => {
            let percent = used.saturating_mul(100) / most;
            screen.say(words + ": " + percent + " % of " + most + ".")?;
            screen.say_quietly("When it is nearly full, the oldest part is summed up.")?;
        }
        None => screen.say(words + "; how many the model takes is not known.")?,
    }
    Ok(())
}

/// Writes the session to a new file. The person's own command, so it is written at once.
fn keep(screen: &mut Screen, context: &Context, session: &str, name: &str) -> Result<(), Error> {
    let Some(form) = Form::of(name) else {
        return Err(misuse(save::FORMS));
    };
    let outputs = Outputs::new(&context.folders);
    let (mut records, redactor) = (Vec::new(), Redactor::of_shapes());
    past::each(context, session, |mut record| {
        // An output that is no longer stored is left out.
        outputs.restore(&mut record.body)?;
        record.body = redactor.exported(record.body);
        records.push(record);
        Ok(())
    })?;
    let text = save::render(form, &records);
    let mut outlet = Outlet::open(Some(&context.work_folder.join(name)))?;
    outlet.text(&text)?;
    outlet.finish()?;
    Ok(screen.tell(&format!("Saved {name}."))?)
}

/// The language of this name, or what was probably meant.
pub(super) fn language(context: &Context, name: &str) -> Result<Language, Error> {
    let table = context.interpreters().languages();
    table.find(name).ok_or_else(|| match (table.hint(name), nearest(name, table.names())) {
        (Some(hint), _) => misuse(format!("no interpreter for `{name}` is installed: {hint}")),
        (None, Some(near)) => misuse(format!("unknown language `{name}`; did you mean `{near}`?")),
        (None, None) => misuse(format!(
            "unknown language `{name}`; available: {}",
            table.names().collect::<Vec<_>>().join(", ")
        )),
    })
}

/// Code of the person's own, as an event.
pub(super) fn own_code(context: &Context, name: &str, code: &str) -> Result<Next, Error> {
    let language = language(context, name)?;
    match unfit(code) {
        Some(why) => Err(misuse(why)),
        None => {
            Ok(Next::Turn(Event::Submitted { language, code: code.to_owned(), invocation: None }))
        }
    }
}

/// `/run LANGUAGE [CODE]`.
async fn run(
    frontend: &mut Frontend,
    context: &Context,
    argument: &str,
) -> Result<Option<Next>, Error> {
    let (name, code) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
    if !code.trim().is_empty() {
        return own_code(context, name, code.trim_start_matches(['\n', ' '])).map(Some);
    }
    let language = language(context, name)?;
    let Some(code) = written(frontend, String::new(), "code").await else { return Ok(None) };
    own_code(context, language.name(), &code).map(Some)
}

/// `/edit`: the next prompt, from the person's editor.
async fn write_prompt(frontend: &mut Frontend, text: &str) -> Result<Option<Next>, Error> {
    let Some(prompt) = written(frontend, text.to_owned(), "prompt").await else { return Ok(None) };
    if let Some(screen) = frontend.view.screen() {
        screen.say_quietly("Your prompt:")?;
        prompt.trim_end().lines().try_for_each(|line| screen.row(line))?;
    }
    Ok(Some(Next::Turn(Event::Asked(prompt))))
}

/// A text from the person's editor, unless they saved nothing.
async fn written(frontend: &mut Frontend, text: String, what: &str) -> Option<String> {
    let (Person::Present(console), Some(screen)) = (&mut frontend.person, frontend.view.screen())
    else {
        return None;
    };
    let name = format!("{what}-{}.txt", std::process::id());
    let saved = console.written(screen, text, name).await.filter(|text| !text.trim().is_empty());
    if saved.is_none() {
        // If that cannot be said, the terminal is gone, and the next prompt notices.
        _ = screen.say("Nothing saved in the editor.").is_ok();
    }
    saved
}

fn attach(frontend: &mut Frontend, context: &Context, path: &str) -> Result<Option<Next>, Error> {
    let (event, words) = context.attach(Path::new(path))?;
    frontend.session.send(event);
    tell(frontend, &format!("Attached to your next prompt: {words}."))
}

/// `/model [NAME]`.
async fn switch(
    frontend: &mut Frontend,
    context: &Context,
    name: Option<&str>,
) -> Result<Option<Next>, Error> {
    let Frontend { person, view, session, .. } = frontend;
    let (Person::Present(console), Some(screen)) = (person, view.screen()) else { return Ok(None) };
    let Some(name) = name else {
        screen.tell(&format!("Model: {}", session.model.as_deref().unwrap_or_default()))?;
        screen.say("`/model NAME` switches and keeps the conversation.")?;
        return Ok(None);
    };
    for file in context.unasked_instructions(Some(name))? {
        // The model of the start may be one that is given no project instructions.
        let said = trust::ask(context, screen, &mut console.asker, &file).await?;
        if said == Err(Left::Terminated) {
            return Ok(Some(Next::Leave(Left::Terminated)));
        }
    }
    Ok(Some(Next::Turn(Event::ModelWanted(name.into()))))
}
