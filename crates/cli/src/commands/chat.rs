//! The chat: `interpreter`, `interpreter PROMPT`.

use self::line::Line;
use crate::{
    args::{Args, misuse},
    commands::{scene, trust, wait_for},
    exit::Exit,
    report::Error,
    terminal::{
        chat::Chat,
        face::{Face, Person, Talk, Turn},
        first_start::{self, Start},
        keys::{Heard, Keys, Wanted},
        story,
        style::Style,
    },
};
use interpreter_agent::{AgentError, ChooseError, Mode, Scene, Session};
use interpreter_core::{
    Untrusted,
    record::TurnEnd,
    session::{Approval, Event, Settle},
};
use std::{
    io::{self, IsTerminal, Read, Write},
    path::Path,
    process::ExitCode,
    rc::Rc,
};

mod line;

/// The longest prompt that is read from a pipe.
const LONGEST: u64 = 4 << 20;

pub(crate) fn chat(args: &Args) -> Result<ExitCode, Error> {
    let mut scene = scene(&args.session.overrides())?;
    let approval = if args.session.yes { Approval::Yes } else { Approval::AsRulesSay };
    let at_terminal = io::stdin().is_terminal() && io::stdout().is_terminal() && !args.session.json;
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
    let mut text = String::new();
    io::stdin()
        .take(LONGEST)
        .read_to_string(&mut text)
        .map_err(|source| Error::Io { what: "the prompt cannot be read".into(), source })?;
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
    let style = Style::of_stdout(&scene.environment);
    let person = if at_terminal {
        Person::There {
            keys: Keys::start(Some(scene.folders.make_history_file()?))?
                .marked_for(&scene.confinement()),
            editor: scene.environment.editor().map(Into::into),
            folders: scene.folders.clone(),
        }
    } else {
        Person::Nobody
    };
    if let Person::There { keys, .. } = &person
        && first_start::settle(&scene, keys).await? == Start::Interrupted
    {
        return Ok(Exit::CodeFailed.into());
    }
    if args.local && scene.model_name()?.is_none() {
        return Err(AgentError::from(ChooseError::NoneLocal).into());
    }
    let mut screen = Chat::new(style, &scene.confinement());
    if let Person::There { keys, .. } = &person {
        for file in scene.unasked_instructions(None)? {
            trust::ask(&scene, &mut screen, keys, &file).await?;
        }
    }
    let face = if args.session.json { Face::Json } else { Face::Chat(screen) };
    let greeting = greeting(&scene, style)?;
    let session = Session::start(&scene, Mode::Chat, approval)?;
    if at_terminal {
        writeln!(io::stdout(), "{greeting}")?;
    }
    let mut talk = Talk::new(session, face, person, Settle::Later)?;
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
                Some(event) => event,
                None => break,
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

fn greeting(scene: &Scene, style: Style) -> Result<String, Error> {
    let model = scene.model_name()?.unwrap_or_default();
    let confinement = scene.confinement();
    let folder = confinement.work_folder.display().to_string();
    Ok(format!(
        "Open Interpreter {} with {}\nCode runs {} in {}: {}.\nSay what you want. Ctrl-C \
         interrupts, /help explains, /quit leaves.\n",
        env!("CARGO_PKG_VERSION"),
        Untrusted::new(model).for_terminal_line(80),
        story::within(&confinement, style),
        Untrusted::new(folder).for_terminal_line(200),
        story::bounds(&confinement, style),
    ))
}

const HELP: &str = "\
Say what you want in your own words; the model answers, and asks to run code where it needs to.
  y        run the code        n [REASON]  reject it, and tell the model why
  e        edit it first       q           leave
Changes to your files are staged; at the end of each turn you decide whether to keep them.
  /help    this text           /quit       leave (also Ctrl-D)
  /image PATH                  show the model a picture, with your next prompt
  /model [NAME]                say which model this is, or go on with another one
  /restart [LANGUAGE]          end its interpreter, or all, with all variables, and start afresh";

/// Waits for something to ask the model, or a command that is a turn of its own; none if the
/// person leaves.
async fn ask_what_next(talk: &mut Talk, scene: &Scene) -> Result<Option<Event>, Error> {
    loop {
        let Person::There { keys, .. } = &talk.person else { return Ok(None) };
        let line = match keys.line(Wanted::Prompt).await {
            Heard::Line(line) => line,
            Heard::Interrupted => continue,
            Heard::Ended => return Ok(None),
        };
        match Line::of(&line) {
            Line::Nothing => {}
            Line::Quit => return Ok(None),
            Line::Help => writeln!(io::stdout(), "{HELP}")?,
            Line::Image(path) => attach(talk, scene, path)?,
            Line::Restart(None) => return Ok(Some(Event::Restart(None))),
            Line::Restart(Some(name)) => {
                let table = scene.interpreters().languages();
                if let Some(language) = table.find(name) {
                    return Ok(Some(Event::Restart(Some(language))));
                }
                let names = table.names().collect::<Vec<_>>().join(", ");
                writeln!(io::stdout(), "`{name}` does not run here; these do: {names}.")?;
            }
            Line::Model(None) => writeln!(io::stdout(), "{}", which_model(&talk.session))?,
            Line::Model(Some(name)) => {
                ask_about_instructions(talk, scene, name).await?;
                return Ok(Some(Event::ModelWanted(name.into())));
            }
            Line::Unknown(command) => {
                writeln!(io::stdout(), "There is no command `{command}`; /help lists them.")?;
            }
            Line::Prompt => return Ok(Some(Event::Asked(line))),
        }
    }
}

fn attach(talk: &Talk, scene: &Scene, path: &str) -> Result<(), Error> {
    match scene.attach(Path::new(path)) {
        Ok((event, words)) => {
            talk.session.send(event);
            writeln!(io::stdout(), "With your next prompt: {words}.")?;
        }
        Err(error) => writeln!(io::stdout(), "{error}.")?,
    }
    Ok(())
}

fn which_model(session: &Session) -> String {
    let model = session.model.as_deref().unwrap_or_default();
    format!(
        "You are talking to {}. `/model NAME` goes on with another one, with all that was said; \
         `interpreter model list` shows what there is.",
        Untrusted::new(model).for_terminal_line(80)
    )
}

/// Asks what was not asked at the start: the model of the start may be one that is told no
/// instructions of a project.
async fn ask_about_instructions(talk: &mut Talk, scene: &Scene, name: &str) -> Result<(), Error> {
    let (Person::There { keys, .. }, Face::Chat(screen)) = (&talk.person, &mut talk.face) else {
        return Ok(());
    };
    for file in scene.unasked_instructions(Some(name))? {
        trust::ask(scene, screen, keys, &file).await?;
    }
    Ok(())
}
