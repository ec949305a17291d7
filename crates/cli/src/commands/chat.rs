//! The chat: `interpreter`, `interpreter PROMPT`.

use self::line::Line;
use crate::{
    args::{Args, misuse},
    commands::{at_terminal, input::read_text, scene, trust, wait_for},
    exit::Exit,
    report::Error,
    terminal::{
        ask::{Asker, Left},
        chat::Chat,
        face::{Face, Person, Talk, There, Turn},
        first_start::{self, Start},
        ours::ours,
        repl_editor,
        screen::Screen,
        signals::Signals,
        story,
    },
};
use interpreter_agent::{AgentError, ChooseError, Mode, Scene, Session};
use interpreter_core::{
    record::TurnEnd,
    session::{Approval, Event, Settle},
};
use std::{io, path::Path, process::ExitCode, rc::Rc};

mod line;

/// The longest prompt that is read from a pipe.
const LONGEST: usize = 4 << 20;

pub(crate) fn chat(args: &Args) -> Result<ExitCode, Error> {
    let mut scene = scene(&args.session.overrides())?;
    let approval = if args.session.yes { Approval::Yes } else { Approval::AsRulesSay };
    let at_terminal = at_terminal() && !args.session.json;
    let first = match (args.prompt(), at_terminal) {
        (Some(prompt), _) => Some(prompt),
        (None, true) => None,
        (None, false) => Some(piped_prompt()?),
    };
    let shown = args.image.iter().map(|path| Ok(scene.attach(path)?.0));
    let mut events = shown.collect::<Result<Vec<_>, Error>>()?;
    events.extend(first.map(Event::Asked));
    wait_for(async {
        if args.local {
            scene.use_local_model().await?;
        }
        converse(scene, approval, args, at_terminal, events).await
    })?
}

fn piped_prompt() -> Result<String, Error> {
    let next = "put it into a file of this folder and ask about that file";
    let text = read_text(io::stdin(), "the prompt", LONGEST, next)?;
    if text.trim().is_empty() {
        return Err(misuse("there is no prompt: say what you want, or start it in a terminal"));
    }
    Ok(text)
}

async fn converse(
    scene: Scene,
    approval: Approval,
    args: &Args,
    at_terminal: bool,
    first: Vec<Event>,
) -> Result<ExitCode, Error> {
    let scene = Rc::new(scene);
    let mut screen = Screen::stdout(&scene.environment);
    let mut person = person(&scene, at_terminal)?;
    if let Person::There(there) = &mut person
        && first_start::settle(&scene, &mut there.asker, &mut screen).await? == Start::Interrupted
    {
        return Ok(Exit::CodeFailed.into());
    }
    if args.local && scene.model_name()?.is_none() {
        return Err(AgentError::from(ChooseError::NoneLocal).into());
    }
    if let Person::There(there) = &mut person {
        for file in scene.unasked_instructions(None)? {
            let said = trust::ask(&scene, &mut screen, &mut there.asker, &file).await?;
            if said == Err(Left::Terminated) {
                return Ok(Exit::CodeFailed.into());
            }
        }
    }
    let session = Session::start(&scene, Mode::Chat, approval)?;
    if at_terminal {
        greet(&mut screen, &scene)?;
    }
    let face = if args.session.json {
        Face::Json
    } else {
        Face::Chat(Box::new(Chat::new(screen, scene.confinement())))
    };
    let mut talk = Talk::new(session, face, person, Settle::Later);
    let mut first = first.into_iter();
    let mut end = TurnEnd::Done;
    loop {
        let event = match first.next() {
            Some(attached @ Event::Attached(_)) => {
                talk.session.send(attached);
                continue;
            }
            Some(event) => event,
            None => match ask_what_next(&mut talk, &scene).await? {
                Ok(event) => event,
                Err(Left::Terminated) => {
                    talk.end().await?;
                    return Ok(Exit::CodeFailed.into());
                }
                Err(Left::Interrupted | Left::Ended) => break,
            },
        };
        match talk.turn(event).await? {
            Turn::Over(over) => end = over,
            Turn::Last(last) => return Ok(Exit::from(last).into()),
        }
        if !at_terminal {
            break;
        }
    }
    talk.end().await?;
    // A person who leaves a chat has seen how it went; a script is told.
    Ok(if at_terminal { Exit::Done } else { Exit::from(end) }.into())
}

/// The person at the terminal, if there is one.
fn person(scene: &Scene, at_terminal: bool) -> Result<Person, Error> {
    if !at_terminal {
        return Ok(Person::Nobody(Signals::new()?));
    }
    let history = scene.folders.make_history_file()?;
    let asker = Asker::start(&scene.environment, || repl_editor::prompts(history))?;
    Ok(Person::There(Box::new(There {
        asker: asker.marked_for(&scene.confinement()),
        editor: scene.environment.editor().map(Into::into),
        folders: scene.folders.clone(),
    })))
}

fn greet(screen: &mut Screen, scene: &Scene) -> Result<(), Error> {
    let confinement = scene.confinement();
    screen.say(ours("Open Interpreter ") + env!("CARGO_PKG_VERSION"))?;
    screen.row(&format!("model   {}", scene.model_name()?.unwrap_or_default()))?;
    screen.row(&format!("folder  {}", confinement.work_folder.display()))?;
    let words =
        ours("Code runs ") + story::within(&confinement) + ": " + story::bounds(&confinement) + ".";
    screen.announce(words, story::is_alarming(&confinement))?;
    story::granted(&confinement).iter().try_for_each(|row| screen.row(row))?;
    screen.say("Say what you want. Ctrl-C interrupts, /help explains, /quit leaves.")?;
    Ok(screen.blank()?)
}

const HELP: &str = "\
Say what you want in your own words; the model answers, and asks to run code where it needs to.
  y        run the code        n           reject it
  e        edit it first       w           reject it, and tell the model why
  d        show all of it      q           leave
Changes to your files are staged; at the end of each turn you decide whether to keep them.
  /help    this text           /quit       leave (also Ctrl-D); Ctrl-Z suspends
  /image PATH                  show the model a picture, with your next prompt
  /model [NAME]                show the current model, or switch to another one
  /restart [LANGUAGE]          restart its interpreter, or all of them; variables are lost
Rows that begin with this mark are the program's own. No model and no code can print it.
Keys that you type while something is going on become the beginning of your next prompt.";

/// Waits for something to ask the model, or for a command that is a turn of its own.
async fn ask_what_next(talk: &mut Talk, scene: &Scene) -> Result<Result<Event, Left>, Error> {
    loop {
        let Person::There(there) = &mut talk.person else { return Ok(Err(Left::Ended)) };
        let line = match there.asker.prompt().await {
            Ok(line) => line,
            Err(Left::Interrupted) => continue,
            Err(left) => return Ok(Err(left)),
        };
        let Some(screen) = talk.face.screen() else { return Ok(Err(Left::Ended)) };
        match Line::of(&line) {
            Line::Nothing => {}
            Line::Quit => return Ok(Err(Left::Ended)),
            Line::Help => screen.say(HELP)?,
            Line::Image(path) => attach(&talk.session, screen, scene, path)?,
            Line::Restart(None) => return Ok(Ok(Event::Restart(None))),
            Line::Restart(Some(name)) => {
                let table = scene.interpreters().languages();
                if let Some(language) = table.find(name) {
                    return Ok(Ok(Event::Restart(Some(language))));
                }
                let names = table.names().collect::<Vec<_>>().join(", ");
                screen.tell(&format!("`{name}` is not available; these are: {names}."))?;
            }
            Line::Model(None) => {
                let model = talk.session.model.as_deref().unwrap_or_default();
                screen.tell(&format!("Model: {model}"))?;
                screen.say("`/model NAME` switches and keeps the conversation.")?;
            }
            Line::Model(Some(name)) => {
                for file in scene.unasked_instructions(Some(name))? {
                    // The model of the start may be one that is given no project instructions.
                    let said = trust::ask(scene, screen, &mut there.asker, &file).await?;
                    if said == Err(Left::Terminated) {
                        return Ok(Err(Left::Terminated));
                    }
                }
                return Ok(Ok(Event::ModelWanted(name.into())));
            }
            Line::Unknown(command) => {
                screen.tell(&format!("There is no command `{command}`; /help lists them."))?;
            }
            Line::Prompt => return Ok(Ok(Event::Asked(line))),
        }
    }
}

fn attach(session: &Session, screen: &mut Screen, scene: &Scene, path: &str) -> Result<(), Error> {
    match scene.attach(Path::new(path)) {
        Ok((event, words)) => {
            session.send(event);
            screen.tell(&format!("With your next prompt: {words}."))?;
        }
        Err(error) => screen.tell(&format!("{error}."))?,
    }
    Ok(())
}
