//! `interpreter run`: run your own code, without a model.

use self::words::{Code, Source};
use crate::{
    commands::rules,
    exit::Exit,
    options::SessionArgs,
    report::{Error, misuse},
    start::{at_terminal, context, screen, wait_for},
    terminal::{
        ask::Asker,
        chat::Chat,
        frontend::{Frontend, Turn, Unasked},
        json,
        person::{Console, Person, Questions},
        plain::Plain,
        repl,
        screen::Screen,
        signals::Signals,
        view::View,
    },
};
use interpreter_agent::{Context, Explained, Mode, Session, TypedLines};
use interpreter_core::{
    Network, Origin,
    record::TurnEnd,
    session::{Approval, Event},
};
use reedline::Reedline;
use serde_json::json;
use std::{ffi::OsString, io, os::fd::AsFd, process::ExitCode, sync::Arc};

mod words;

/// Run your own code in the sandbox
///
/// Uses no model. The code gets the same analysis, sandbox, staging and record as a model's. It
/// runs without further approval, unless a rule says ask or deny.
///
/// A file runs as its own interpreter would run it: what follows it are its arguments, standard
/// input is its own, and its exit status is that of this command.
///
/// At a terminal, with a language and no code, it reads code cell by cell. Variables are kept, Tab
/// completes, Ctrl-C interrupts, Ctrl-D quits, /help shows help.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch that can be typed")]
pub(crate) struct RunArgs {
    /// File to run, or - for standard input, followed by the arguments of the code; with -c,
    /// arguments only
    #[arg(value_name = "FILE", trailing_var_arg = true, num_args = 0..)]
    words: Vec<OsString>,
    /// Code to run
    #[arg(short, long, value_name = "CODE", allow_hyphen_values = true)]
    code: Option<String>,
    /// Language of the code [default: from the file's ending or first line; python for -c and -]
    #[arg(short, long, value_name = "LANGUAGE")]
    language: Option<String>,
    /// Ask before running, even if the rules allow it
    #[arg(long, conflicts_with = "yes")]
    ask: bool,
    /// Print the findings, the decision, the confinement and its every step, and run nothing
    #[arg(long)]
    explain: bool,
    /// Apply staged changes after the run
    ///
    /// Of more than 50 changes, those that stand out are listed on standard error before they are
    /// applied.
    #[arg(long, conflicts_with = "discard")]
    apply: bool,
    /// Discard staged changes after the run
    #[arg(long)]
    discard: bool,
    #[command(flatten)]
    session: SessionArgs,
}

pub(crate) fn run(args: &RunArgs) -> Result<ExitCode, Error> {
    args.check()?;
    let mut context = context(&args.session.overrides())?;
    if args.session.yes || args.session.json || !at_terminal() {
        context.bound_unattended();
    }
    let Some(source) = args.source() else {
        let language = args.language(&context, None, None)?;
        if args.explain {
            return explain(&context, None, args.session.json);
        }
        context.has_person = true;
        return wait_for(repl::interact(&Arc::new(context), language, args.approval()))?;
    };
    let code = args.read(&context, source)?;
    if let Source::File(file) = source {
        context.show_script(file);
    }
    if args.explain {
        return explain(&context, Some(code), args.session.json);
    }
    let mut typed = TypedLines::default();
    if source != Source::Stdin && !args.is_asked_here() {
        typed = context.pass_on(io::stdin().as_fd().try_clone_to_owned()?);
    }
    context.has_person = at_terminal() && !args.session.json;
    wait_for(execute(Arc::new(context), args, code, typed))?
}

/// Tells what the code would do, what the rules decide, and how it would be confined. Code of a
/// language that has no interpreter here is explained too.
fn explain(context: &Context, code: Option<Code>, as_json: bool) -> Result<ExitCode, Error> {
    let Explained { bounds, steps } = context.explain()?;
    let languages = context.interpreters().languages();
    let missing = code.as_ref().and_then(|code| {
        let name = code.language.name();
        Some(format!("no interpreter for {name} is installed: {}", languages.hint(name)?))
    });
    let judge = |code: Code| wait_for(context.judge(Origin::Person, code.language, code.text));
    let judged = code.map(judge).transpose()?;
    if as_json {
        let mut told = judged.as_ref().map_or_else(|| json!({}), rules::told);
        told["confinement"] = json!(bounds);
        told["missing"] = json!(missing);
        told["steps"] = steps.lines().map(str::trim).collect();
        json::print_value(&told)?;
        return Ok(Exit::Done.into());
    }
    let mut screen = Screen::stdout(&context.environment);
    if let Some(judged) = &judged {
        rules::print(&mut screen, judged)?;
    }
    if let Some(missing) = missing {
        screen.say("This code cannot run here:")?;
        screen.row(&missing)?;
    }
    screen.say("Sandbox:")?;
    screen.row(&bounds.sandbox)?;
    for (what, words) in
        [("Files:", &bounds.files), ("Network:", &bounds.network), ("Limits:", &bounds.limits)]
    {
        screen.say(what)?;
        words.iter().try_for_each(|line| screen.row(line))?;
    }
    screen.say("Steps:")?;
    screen.lines(&steps)?;
    Ok(Exit::Done.into())
}

impl RunArgs {
    /// Without code there must be a terminal to type it on.
    fn check(&self) -> Result<(), Error> {
        let is_given = self.source().is_some() || self.explain;
        match (is_given, at_terminal() && !self.session.json && !self.apply && !self.discard) {
            (true, _) | (false, true) => Ok(()),
            (false, false) => {
                Err(misuse("no code to run: give a FILE, `-c CODE` or `-`, or use a terminal"))
            }
        }
    }

    fn approval(&self) -> Approval {
        match (self.ask, self.session.yes) {
            (true, _) => Approval::AlwaysAsk,
            (false, true) => Approval::Yes,
            (false, false) => Approval::AsRulesSay,
        }
    }

    /// Whether questions are asked on this terminal. Then what is typed here answers them, and is
    /// not the code's.
    fn is_asked_here(&self) -> bool {
        self.ask && !self.session.json && at_terminal()
    }
}

async fn execute(
    context: Arc<Context>,
    args: &RunArgs,
    code: Code,
    typed: TypedLines,
) -> Result<ExitCode, Error> {
    let approval = args.approval();
    let unasked = match (args.apply, args.discard) {
        (true, _) => Unasked::Apply,
        (false, true) => Unasked::Discard,
        (false, false) => Unasked::Later,
    };
    // With `--ask` all is as in a chat. Otherwise the terminal is the code's, but for a question of a
    // rule, about a host or about packages.
    let (view, person) = if args.session.json {
        (View::Json, Person::Nobody(Signals::new()?))
    } else if args.is_asked_here() {
        let asker = Asker::start(&context.environment, Reedline::create)?;
        let mut console = Console::new(asker, &context);
        let mut screen = screen(&context);
        console.use_theme(&mut screen).await;
        let chat = Chat::new(screen, context.confinement());
        (View::Chat(Box::new(chat)), Person::Present(Box::new(console)))
    } else {
        let plain = Plain::of(&context).after(typed);
        let person = if at_terminal() {
            Person::called(&context, Questions::Apart)?
        } else {
            Person::Nobody(Signals::new()?)
        };
        (View::Plain(Box::new(plain)), person)
    };
    warn(&context)?;
    let session = Session::start(&context, Mode::Run, approval)?;
    let mut frontend = Frontend::new(&context, session, view, person, unasked);
    let Code { language, text: code, invocation } = code;
    let turn = frontend.turn(Event::Submitted { language, code, invocation }).await?;
    let status = frontend.status;
    match turn {
        Turn::Over(end) => {
            frontend.end().await?;
            Ok(exit_code(end, status))
        }
        Turn::Last(end) => Ok(exit_code(end, status)),
    }
}

/// The exit status of code that ran and failed is its own; all else has a code of ours.
fn exit_code(end: TurnEnd, status: Option<u8>) -> ExitCode {
    match (end, status) {
        (TurnEnd::CodeFailed | TurnEnd::Interrupted, Some(status)) => ExitCode::from(status),
        (
            TurnEnd::Done
            | TurnEnd::CodeFailed
            | TurnEnd::Interrupted
            | TurnEnd::Refused
            | TurnEnd::CannotConfine
            | TurnEnd::ModelFailed
            | TurnEnd::TooManyCalls
            | TurnEnd::OverBudget
            | TurnEnd::TimedOut,
            _,
        ) => Exit::from(end).into(),
    }
}

/// Warns, in red and each time, if the sandbox or network is weaker than usual.
fn warn(context: &Context) -> Result<(), Error> {
    let confinement = context.confinement();
    let words = if confinement.sandbox.is_none() {
        "NO SANDBOX: the code has all your permissions"
    } else if let Network::Open(_) = confinement.network {
        "the network is open: code can reach every public host"
    } else {
        return Ok(());
    };
    Ok(Screen::stderr(&context.environment).named_elsewhere("interpreter: ").warn(words)?)
}
