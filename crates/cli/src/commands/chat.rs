//! The chat: `interpreter`, `interpreter PROMPT`.

use self::line::Line;
use crate::{
    args::Args,
    commands::{input::read_text, trust},
    exit::Exit,
    report::{Error, misuse},
    start::{at_terminal, context, screen, wait_for},
    terminal::{
        answer::FinalAnswer,
        ask::{Asker, Left},
        chat::Chat,
        first_start::{self, Start},
        frontend::{Console, Frontend, Person, Turn, View},
        ours::ours,
        repl_editor,
        screen::Screen,
        signals::Signals,
        transcript,
    },
};
use interpreter_agent::{AgentError, ChooseError, Context, Mode, Session};
use interpreter_core::{
    Untrusted,
    record::TurnEnd,
    schema::Schema,
    session::{Approval, Event, Settle},
};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{FileType, fstat},
    io::Errno,
};
use std::{io, path::Path, process::ExitCode, sync::Arc};

mod line;

/// The longest prompt that is read from a pipe.
const LONGEST: usize = 4 << 20;

/// The longest schema.
const LONGEST_SCHEMA: usize = 1 << 20;

/// How often a model is asked again for an answer that fits.
const RETRIES: u32 = 2;

pub(crate) fn chat(args: &Args) -> Result<ExitCode, Error> {
    let mut context = context(&args.session.overrides())?;
    let approval = if args.session.yes { Approval::Yes } else { Approval::AsRulesSay };
    let at_terminal = at_terminal() && !args.session.json && !args.is_quiet();
    let schema = args.output_schema.as_deref().map(read_schema).transpose()?;
    let first = match (args.prompt(), at_terminal) {
        (Some(prompt), _) => Some(prompt),
        (None, true) => None,
        (None, false) => Some(piped_prompt()?),
    };
    let shown = args.image.iter().map(|path| Ok(context.attach(path)?.0));
    let mut events = shown.collect::<Result<Vec<_>, Error>>()?;
    if args.prompt().is_some() && !at_terminal {
        events.extend(piped_data(&mut context)?);
    }
    let first = first.map(|prompt| match &schema {
        Some(schema) => format!("{prompt}\n\n{}", schema.request()),
        None => prompt,
    });
    events.extend(first.map(Event::Asked));
    wait_for(async {
        if args.local {
            context.use_local_model().await?;
        }
        converse(context, approval, args, at_terminal, events, schema).await
    })?
}

fn piped_prompt() -> Result<String, Error> {
    let next = "put it into a file in this folder and ask about that file";
    let text = read_text(io::stdin(), "the prompt", LONGEST, next)?;
    if text.trim().is_empty() {
        return Err(misuse("no prompt: give one as an argument, or use a terminal"));
    }
    Ok(text)
}

/// Saves what is piped in beside a prompt, for the model's code.
fn piped_data(context: &mut Context) -> Result<Option<Event>, Error> {
    let stdin = io::stdin();
    if !is_redirected(&stdin)? {
        return Ok(None);
    }
    if is_late(&stdin)? {
        let words = "Reading data from standard input; `< /dev/null` gives none.";
        Screen::stderr(&context.environment).named_elsewhere("interpreter: ").say(words)?;
    }
    Ok(context.save_piped(stdin)?)
}

/// Whether standard input is a pipe, a file or the like; a terminal or `/dev/null` gives no data.
fn is_redirected(stdin: &io::Stdin) -> Result<bool, Error> {
    let found = FileType::from_raw_mode(fstat(stdin).map_err(io::Error::from)?.st_mode);
    Ok(found != FileType::CharacterDevice)
}

/// Whether nothing has come within a second: a program that waits without a word looks broken.
fn is_late(stdin: &io::Stdin) -> Result<bool, Error> {
    let second = Timespec { tv_sec: 1, tv_nsec: 0 };
    match poll(&mut [PollFd::new(stdin, PollFlags::IN)], Some(&second)) {
        Ok(ready) => Ok(ready == 0),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(io::Error::from(error).into()),
    }
}

async fn converse(
    context: Context,
    approval: Approval,
    args: &Args,
    at_terminal: bool,
    first: Vec<Event>,
    schema: Option<Schema>,
) -> Result<ExitCode, Error> {
    let context = Arc::new(context);
    let mut screen = screen(&context);
    let mut person = person(&context, at_terminal)?;
    if let Person::Present(console) = &mut person
        && first_start::settle(&context, &mut console.asker, &mut screen).await?
            == Start::Interrupted
    {
        return Ok(Exit::CodeFailed.into());
    }
    if args.local && context.model_name()?.is_none() {
        return Err(AgentError::from(ChooseError::NoneLocal).into());
    }
    if let Person::Present(console) = &mut person {
        for file in context.unasked_instructions(None)? {
            let said = trust::ask(&context, &mut screen, &mut console.asker, &file).await?;
            if said == Err(Left::Terminated) {
                return Ok(Exit::CodeFailed.into());
            }
        }
    }
    let session = Session::start(&context, Mode::Chat, approval)?;
    if at_terminal {
        greet(&mut screen, &context)?;
    }
    let view = if args.session.json {
        View::Json
    } else if args.is_quiet() {
        View::Quiet(Box::new(FinalAnswer::new(&context.environment)))
    } else {
        View::Chat(Box::new(Chat::new(screen, context.confinement()).folding()))
    };
    let mut frontend = Frontend::new(&context, session, view, person, Settle::Later);
    let mut first = first.into_iter();
    let mut end = TurnEnd::Done;
    loop {
        let event = match first.next() {
            Some(attached @ (Event::Attached(_) | Event::Piped(_))) => {
                frontend.session.send(attached);
                continue;
            }
            Some(event) => event,
            None => match ask_what_next(&mut frontend, &context).await? {
                Ok(event) => event,
                Err(Left::Terminated) => {
                    frontend.end().await?;
                    return Ok(Exit::CodeFailed.into());
                }
                Err(Left::Interrupted | Left::Ended) => break,
            },
        };
        match frontend.turn(event).await? {
            Turn::Over(over) => end = over,
            Turn::Last(last) => return Ok(Exit::from(last).into()),
        }
        if !at_terminal {
            break;
        }
    }
    if let View::Quiet(_) = &frontend.view {
        end = answered(&mut frontend, schema.as_ref(), end).await?;
    }
    frontend.end().await?;
    // At a terminal the person has seen the result; a script needs the exit code.
    Ok(if at_terminal { Exit::Done } else { Exit::from(end) }.into())
}

/// Prints the answer of a turn. One that does not fit the schema is asked for again; one that still
/// does not is a failure of the model.
async fn answered(
    frontend: &mut Frontend,
    schema: Option<&Schema>,
    mut end: TurnEnd,
) -> Result<TurnEnd, Error> {
    for attempt in 0..=RETRIES {
        let View::Quiet(answer) = &mut frontend.view else { return Ok(end) };
        let Some(schema) = schema.filter(|_| end == TurnEnd::Done) else {
            answer.print()?;
            return Ok(end);
        };
        let why = match schema.check(answer.text().raw()) {
            Ok(json) => {
                answer.print_text(&Untrusted::new(format!("{json}\n")))?;
                return Ok(end);
            }
            Err(why) => why,
        };
        if attempt == RETRIES {
            let words = "the answer does not fit the schema, after several attempts";
            answer.screen().error(words, Some(&why))?;
            return Ok(TurnEnd::ModelFailed);
        }
        let again = format!("[The answer does not fit the JSON Schema: {why}. Answer again.]");
        end = match frontend.turn(Event::Asked(again)).await? {
            Turn::Over(end) => end,
            Turn::Last(end) => return Ok(end),
        };
    }
    Ok(end)
}

fn read_schema(path: &Path) -> Result<Schema, Error> {
    let what = format!("the schema in {}", path.display());
    let failed = |source| Error::Io { what: format!("{what} cannot be read"), source };
    let file = fs_err::File::open(path).map_err(failed)?;
    let text = read_text(file, &what, LONGEST_SCHEMA, "shorten it")?;
    Schema::parse(&text).map_err(|why| misuse(format!("{what} cannot be used: {why}")))
}

/// The person at the terminal, if there is one.
fn person(context: &Context, at_terminal: bool) -> Result<Person, Error> {
    if !at_terminal {
        return Ok(Person::Nobody(Signals::new()?));
    }
    let history = context.folders.make_history_file()?;
    let asker = Asker::start(&context.environment, || repl_editor::prompts(history))?;
    Ok(Person::Present(Box::new(Console {
        asker: asker.marked_for(&context.confinement()),
        editor: context.environment.editor().map(Into::into),
        folders: context.folders.clone(),
    })))
}

fn greet(screen: &mut Screen, context: &Context) -> Result<(), Error> {
    let confinement = context.confinement();
    screen.say(ours("Open Interpreter ") + env!("CARGO_PKG_VERSION"))?;
    screen.row(&format!("model   {}", context.model_name()?.unwrap_or_default()))?;
    screen.row(&format!("folder  {}", confinement.work_folder.display()))?;
    let words = ours("Code runs ")
        + transcript::within(&confinement)
        + ": "
        + transcript::bounds(&confinement)
        + ".";
    screen.announce(words, transcript::is_alarming(&confinement))?;
    transcript::granted(&confinement).iter().try_for_each(|row| screen.row(row))?;
    screen.say("Type a prompt. Ctrl-C interrupts, /help shows help, /quit quits.")?;
    Ok(screen.blank()?)
}

const HELP: &str = "\
Describe a task in your own words. The model replies, and asks before it runs code.
  y        run the code        n           reject it
  e        edit it first       w           reject it, and tell the model why
  d        show all of it      q           quit
Changes to your files are staged; at the end of each turn you decide whether to keep them.
  /help    show this text      /quit       quit (also Ctrl-D); Ctrl-Z suspends
  /image PATH                  attach an image to your next prompt
  /open [NAME]                 open a picture, table or page in your viewer
  /model [NAME]                show the current model, or switch to another one
  /restart [LANGUAGE]          restart its interpreter, or all of them; variables are lost
Rows that begin with this mark come from the program. No model and no code can print it.
Keys pressed while the program is busy become the beginning of your next prompt.";

/// Waits for a prompt, or for a command that is a turn.
async fn ask_what_next(
    frontend: &mut Frontend,
    context: &Context,
) -> Result<Result<Event, Left>, Error> {
    loop {
        let Person::Present(console) = &mut frontend.person else { return Ok(Err(Left::Ended)) };
        let line = match console.asker.prompt().await {
            Ok(line) => line,
            Err(Left::Interrupted) => continue,
            Err(left) => return Ok(Err(left)),
        };
        let Some(screen) = frontend.view.screen() else { return Ok(Err(Left::Ended)) };
        match Line::of(&line) {
            Line::Nothing => {}
            Line::Quit => return Ok(Err(Left::Ended)),
            Line::Help => screen.say(HELP)?,
            Line::Image(path) => attach(&frontend.session, screen, context, path)?,
            Line::Open(name) => frontend.open(name, &context.environment).await?,
            Line::Restart(None) => return Ok(Ok(Event::Restart(None))),
            Line::Restart(Some(name)) => {
                let table = context.interpreters().languages();
                if let Some(language) = table.find(name) {
                    return Ok(Ok(Event::Restart(Some(language))));
                }
                let names = table.names().collect::<Vec<_>>().join(", ");
                screen.tell(&format!("`{name}` is not available; these are: {names}."))?;
            }
            Line::Model(None) => {
                let model = frontend.session.model.as_deref().unwrap_or_default();
                screen.tell(&format!("Model: {model}"))?;
                screen.say("`/model NAME` switches and keeps the conversation.")?;
            }
            Line::Model(Some(name)) => {
                for file in context.unasked_instructions(Some(name))? {
                    // The model of the start may be one that is given no project instructions.
                    let said = trust::ask(context, screen, &mut console.asker, &file).await?;
                    if said == Err(Left::Terminated) {
                        return Ok(Err(Left::Terminated));
                    }
                }
                return Ok(Ok(Event::ModelWanted(name.into())));
            }
            Line::Unknown(command) => {
                screen.tell(&format!("Unknown command `{command}`; /help lists all commands."))?;
            }
            Line::Prompt => return Ok(Ok(Event::Asked(line))),
        }
    }
}

fn attach(
    session: &Session,
    screen: &mut Screen,
    context: &Context,
    path: &str,
) -> Result<(), Error> {
    match context.attach(Path::new(path)) {
        Ok((event, words)) => {
            session.send(event);
            screen.tell(&format!("Attached to your next prompt: {words}."))?;
        }
        Err(error) => screen.tell(&format!("{error}."))?,
    }
    Ok(())
}
