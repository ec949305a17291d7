//! The chat: `interpreter`, `interpreter PROMPT`.

use self::{complete::Shared, next::Next};
use crate::{
    args::Args,
    commands::{input::read_text, trust},
    exit::Exit,
    report::{self, Error, misuse},
    start::{self, at_terminal, context, screen, wait_for},
    terminal::{
        answer::FinalAnswer,
        ask::{Asker, Left},
        chat::Chat,
        confined,
        first_start::{self, Sources, Start},
        frontend::{Frontend, Turn, Unasked},
        ours::{ours, word},
        person::{Console, Person, Questions},
        repl_editor,
        screen::Screen,
        signals::Signals,
        view::View,
    },
};
use interpreter_agent::{AgentError, ChooseError, Context, Mode, Session};
use interpreter_core::{
    Untrusted,
    record::TurnEnd,
    schema::Schema,
    session::{Approval, Earlier, Event, PastCell, Replay},
};
use interpreter_store::Overrides;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{FileType, fstat},
    io::Errno,
};
use std::{io, path::Path, process::ExitCode, sync::Arc};

mod act;
mod complete;
mod files;
mod line;
mod look;
mod mentions;
mod next;
mod past;
mod rewind;
mod rules;
mod table;
mod talk;

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
    if args.session.yes || !at_terminal {
        context.bound_unattended();
    }
    let schema = args.output_schema.as_deref().map(read_schema).transpose()?;
    let first = match (args.prompt(), at_terminal) {
        (Some(prompt), _) => Some(prompt),
        (None, true) => None,
        (None, false) => Some(piped_prompt()?),
    };
    let shown = args.image.iter().map(|path| Ok(context.attach(path)?.0));
    let mut events = shown.collect::<Result<Vec<_>, Error>>()?;
    if let Some(earlier) = args.earlier() {
        let mut earlier = context.earlier(earlier, args.before.as_deref())?;
        // Where something else comes first, or nobody can be asked, it can be resumed later.
        if args.replay || first.is_some() || !at_terminal {
            earlier.leave_question();
        }
        let mut first = vec![];
        if args.replay {
            first.push(replay(context.cells_before(&earlier)?));
        }
        first.insert(0, Event::Resumed(Box::new(earlier)));
        events.splice(0..0, first);
    }
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
        Box::pin(converse(context, approval, args, at_terminal, events, schema)).await
    })?
}

/// The wish to run cells again.
fn replay(cells: Vec<PastCell>) -> Event {
    Event::ReplayWanted(Box::new(Replay::of(cells, None)))
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
    let mut context = context;
    let mut screen = screen(&context);
    let shared = Shared::default();
    let mut person = if at_terminal {
        person(&context, &shared)?
    } else if args.session.json || args.is_quiet() {
        Person::Nobody(Signals::new()?)
    } else {
        Person::called(&context, Questions::WithTheRest)?
    };
    if let Person::Present(console) = &mut person {
        console.use_theme(&mut screen).await;
        let sources = if args.local { Sources::ThisMachine } else { Sources::All };
        let asker = &mut console.asker;
        let start = first_start::settle(&mut context, sources, asker, &mut screen).await?;
        if start == Start::Interrupted {
            return Ok(Exit::CodeFailed.into());
        }
    }
    context.has_person = !matches!(person, Person::Nobody(_)) && !args.session.yes;
    let context = Arc::new(context);
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
        session.keep_checkpoints();
        greet(&mut screen, &context)?;
        if let Some(Event::Resumed(earlier)) = first.first() {
            resumed(&mut screen, earlier)?;
        }
    }
    let view = if args.session.json {
        View::Json
    } else if args.is_quiet() {
        View::Quiet(Box::new(FinalAnswer::new(&context.environment)))
    } else {
        View::Chat(Box::new(Chat::new(screen, context.confinement()).folding()))
    };
    let mut frontend = Frontend::new(&context, session, view, person, Unasked::Later)
        .timed(context.settings.turn_limit.value.seconds());
    if !at_terminal {
        return one_turn(frontend, first, schema.as_ref()).await;
    }
    let (mut context, mut first) = (context, first);
    loop {
        shared.update(|known| *known = talk::known(&context));
        let exit = match converse_once(&mut frontend, &context, &shared, first).await? {
            After::New { profile, earlier } => {
                (frontend, context) = another(frontend, context, approval, args, profile).await?;
                if let (Some(earlier), Some(screen)) = (&earlier, frontend.view.screen()) {
                    resumed(screen, earlier)?;
                }
                first = earlier.map(Event::Resumed).into_iter().collect();
                continue;
            }
            After::Last(end) => Exit::from(end),
            After::Left(left) => {
                frontend.finish().await?;
                if left == Left::Terminated { Exit::CodeFailed } else { Exit::Done }
            }
        };
        if let Some(screen) = frontend.view.screen() {
            files::remind(screen, &context, true)?;
        }
        return Ok(exit.into());
    }
}

/// Why a conversation is over.
enum After {
    /// The session has ended by itself.
    Last(TurnEnd),
    Left(Left),
    /// The person wants a new one, with this profile, and perhaps with this conversation.
    New {
        profile: Option<String>,
        earlier: Option<Box<Earlier>>,
    },
}

/// Takes turns until the person wants something else.
async fn converse_once(
    frontend: &mut Frontend,
    context: &Context,
    shared: &Shared,
    first: Vec<Event>,
) -> Result<After, Error> {
    let mut first = first.into_iter();
    loop {
        let event = match first.next() {
            Some(Event::Resumed(earlier)) if earlier.begins_a_turn() => Event::Resumed(earlier),
            Some(attached @ (Event::Attached(_) | Event::Piped(_) | Event::Resumed(_))) => {
                frontend.session.send(attached);
                continue;
            }
            Some(event) => event,
            None => match talk::next(frontend, context, shared).await? {
                Next::Turn(event) => event,
                Next::New(profile) => return Ok(After::New { profile, earlier: None }),
                Next::Fork(earlier) => {
                    return Ok(After::New { profile: None, earlier: Some(earlier) });
                }
                Next::Leave(left) => return Ok(After::Left(left)),
            },
        };
        if let Turn::Last(end) = frontend.turn(event).await? {
            return Ok(After::Last(end));
        }
    }
}

/// A single turn, for a script: it needs the exit code.
async fn one_turn(
    mut frontend: Frontend,
    first: Vec<Event>,
    schema: Option<&Schema>,
) -> Result<ExitCode, Error> {
    let mut end = TurnEnd::Done;
    for event in first {
        if let Event::Attached(_) | Event::Piped(_) | Event::Resumed(_) = event {
            frontend.session.send(event);
            continue;
        }
        let is_replay = matches!(event, Event::ReplayWanted(_));
        match frontend.turn(event).await? {
            Turn::Over(over) => end = over,
            Turn::Last(last) => return Ok(Exit::from(last).into()),
        }
        if is_replay && end != TurnEnd::Done {
            // The prompt counts on variables that are not there.
            break;
        }
    }
    if let View::Quiet(_) = &frontend.view {
        end = answered(&mut frontend, schema, end).await?;
    }
    frontend.end().await?;
    Ok(Exit::from(end).into())
}

/// Ends a session and begins another in its place, for the same person. If the settings of the
/// profile cannot be used, the session of now goes on.
async fn another(
    mut frontend: Frontend,
    context: Arc<Context>,
    approval: Approval,
    args: &Args,
    profile: Option<String>,
) -> Result<(Frontend, Arc<Context>), Error> {
    let mut screen = screen(&context);
    let mut context = context;
    let is_other = profile.is_some();
    if is_other {
        let overrides = Overrides { profile, ..args.session.overrides() };
        match start::context(&overrides) {
            Ok(mut found) => {
                if approval == Approval::Yes {
                    found.bound_unattended();
                }
                context = Arc::new(found);
            }
            Err(error) => {
                report::tell(&error, &mut screen)?;
                return Ok((frontend, context));
            }
        }
        screen = start::screen(&context);
    }
    // Before the next one begins: there may be no room for two models.
    frontend.finish().await?;
    let is_verbose = frontend.is_verbose;
    let Frontend { mut person, .. } = frontend;
    let confinement = context.confinement();
    if let Person::Present(console) = &mut person {
        console.asker.mark_for(&confinement);
        if is_other {
            console.choose_colours(&context);
        }
        console.use_theme(&mut screen).await;
    }
    let session = Session::start(&context, Mode::Chat, approval)?;
    session.keep_checkpoints();
    screen.blank()?;
    greet(&mut screen, &context)?;
    let view = View::Chat(Box::new(Chat::new(screen, confinement).folding()));
    let mut frontend = Frontend::new(&context, session, view, person, Unasked::Later)
        .timed(context.settings.turn_limit.value.seconds());
    frontend.be_verbose(is_verbose);
    Ok((frontend, context))
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
        if end == TurnEnd::TimedOut {
            // Half an answer is none.
            return Ok(end);
        }
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
        end = match frontend.go_on(Event::Asked(again)).await? {
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

/// The person at the terminal.
fn person(context: &Context, shared: &Shared) -> Result<Person, Error> {
    let history = context.folders.make_history_file()?;
    let shared = shared.clone();
    let offers = move |line: &str, cursor| shared.offers(line, cursor);
    let redactor = context.redactor();
    let editor = || repl_editor::prompts(history, redactor, offers);
    let asker = Asker::start(&context.environment, editor)?;
    Ok(Person::Present(Box::new(Console::new(asker, context))))
}

/// Says which conversation goes on, and where it was.
fn resumed(screen: &mut Screen, earlier: &Earlier) -> Result<(), Error> {
    let id = word(&earlier.session);
    let from = match &earlier.before {
        Some(cell) => ours(", as it was before ") + word(cell) + ",",
        None => ours(""),
    };
    screen.say(
        ours("The conversation of session ")
            + id
            + from
            + " goes on. Variables are gone. /replay runs its cells again.",
    )?;
    if let Some(prompt) = earlier.last_prompt() {
        let prompt = Untrusted::new(prompt).for_terminal_line(200);
        screen.tell(&format!("Your last prompt: {prompt}"))?;
    }
    if earlier.question().is_some() {
        screen.say("Code was waiting for your answer; the question is asked again.")?;
    }
    Ok(screen.blank()?)
}

fn greet(screen: &mut Screen, context: &Context) -> Result<(), Error> {
    let confinement = context.confinement();
    screen.say(ours("Open Interpreter ") + env!("CARGO_PKG_VERSION"))?;
    screen.row(&format!("model   {}", context.model_name()?.unwrap_or_default()))?;
    screen.row(&format!("folder  {}", confinement.work_folder.display()))?;
    confined::bounded(screen, ours("Code runs"), &confinement)?;
    screen.say("Type a prompt. Ctrl-C interrupts, /help shows help, /quit quits.")?;
    files::remind(screen, context, false)?;
    Ok(screen.blank()?)
}
