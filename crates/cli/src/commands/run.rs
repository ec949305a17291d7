//! `interpreter run`: run your own code, without a model.

use crate::{
    commands::input::read_text,
    exit::Exit,
    options::SessionArgs,
    report::{Error, misuse},
    start::{at_terminal, context, wait_for},
    terminal::{
        ask::Asker,
        chat::Chat,
        frontend::{Console, Frontend, Person, Turn, View},
        plain::Plain,
        repl,
        screen::Screen,
        signals::Signals,
    },
};
use interpreter_agent::{Context, Mode, Session};
use interpreter_core::{
    Language, Network,
    proposal::{MOST_CODE, unfit},
    session::{Approval, Event, Settle},
};
use reedline::Reedline;
use std::{
    io,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

/// Run your own code in the sandbox
///
/// Uses no model. The code gets the same analysis, sandbox, staging and record as a model's. It
/// runs without further approval, unless a rule says ask or deny. Exits with 1 if the code fails.
///
/// At a terminal, with a language and no code, it reads code cell by cell. Variables are kept, Tab
/// completes, Ctrl-C interrupts, Ctrl-D quits, /help shows help.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch that can be typed")]
pub(crate) struct RunArgs {
    /// File to run, or - for standard input
    #[arg(value_name = "FILE", conflicts_with = "code")]
    file: Option<PathBuf>,
    /// Code to run
    #[arg(short, long, value_name = "CODE", allow_hyphen_values = true)]
    code: Option<String>,
    /// Language of the code [default: from the file's ending]
    #[arg(short, long, value_name = "LANGUAGE")]
    language: Option<String>,
    /// Ask before running, even if the rules allow it
    #[arg(long, conflicts_with = "yes")]
    ask: bool,
    /// Print every step of the sandbox and run nothing
    #[arg(long)]
    explain: bool,
    /// Apply staged changes after the run
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
    let context = Arc::new(context(&args.session.overrides())?);
    let language = args.language(&context)?;
    if args.explain {
        Screen::stdout(&context.environment).lines(&context.explain()?)?;
        return Ok(Exit::Done.into());
    }
    if args.code.is_none() && args.file.is_none() {
        return wait_for(repl::interact(&context, language, args.approval()))?;
    }
    let code = args.read_code()?;
    wait_for(execute(context, args, language, code))?
}

impl RunArgs {
    /// Without code there must be a terminal to type it on.
    fn check(&self) -> Result<(), Error> {
        let is_given = self.file.is_some() || self.code.is_some() || self.explain;
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

    fn language(&self, context: &Context) -> Result<Language, Error> {
        let table = context.interpreters().languages();
        let ending = || self.file.as_ref()?.extension()?.to_str().map(str::to_owned);
        let (found, name) = match (&self.language, ending()) {
            (Some(name), _) => (table.find(name), name.clone()),
            (None, Some(ending)) => (table.of_ending(&ending), ending),
            (None, None) => return Err(misuse("unknown language: choose one with `-l LANGUAGE`")),
        };
        found.ok_or_else(|| match table.hint(&name) {
            Some(hint) => misuse(format!("no interpreter for `{name}` is installed: {hint}")),
            None => misuse(format!(
                "unknown language `{name}`; available: {}",
                table.names().collect::<Vec<_>>().join(", ")
            )),
        })
    }

    fn read_code(&self) -> Result<String, Error> {
        let next = "put data into a file and let the code read it";
        let code = match (&self.code, &self.file) {
            (Some(code), _) => code.clone(),
            (None, Some(file)) if file == Path::new("-") => {
                read_text(io::stdin(), "the code on standard input", MOST_CODE, next)?
            }
            (None, Some(file)) => {
                let what = format!("the code in {}", file.display());
                let failed = |source| Error::Io { what: format!("{what} cannot be read"), source };
                let open = fs_err::File::open(file).map_err(failed)?;
                read_text(open, &what, MOST_CODE, next)?
            }
            (None, None) => return Err(misuse("no code to run")),
        };
        match unfit(&code) {
            Some(why) => Err(misuse(why)),
            None => Ok(code),
        }
    }
}

async fn execute(
    context: Arc<Context>,
    args: &RunArgs,
    language: Language,
    code: String,
) -> Result<ExitCode, Error> {
    let approval = args.approval();
    let unasked = match (args.apply, args.discard) {
        (true, _) => Settle::Apply,
        (false, true) => Settle::Discard,
        (false, false) => Settle::Later,
    };
    // Only `--ask` and a rule lead to a question; then it is put as in a chat.
    let (view, person) = if args.session.json {
        (View::Json, Person::Nobody(Signals::new()?))
    } else if args.ask && at_terminal() {
        let asker = Asker::start(&context.environment, Reedline::create)?;
        let console = Console {
            asker: asker.marked_for(&context.confinement()),
            editor: context.environment.editor().map(Into::into),
            folders: context.folders.clone(),
        };
        let chat = Chat::new(Screen::stdout(&context.environment), context.confinement());
        (View::Chat(Box::new(chat)), Person::Present(Box::new(console)))
    } else {
        let plain = Plain::new(&context.environment);
        (View::Plain(Box::new(plain)), Person::Nobody(Signals::new()?))
    };
    warn(&context)?;
    let session = Session::start(&context, Mode::Run, approval)?;
    let mut frontend = Frontend::new(&context, session, view, person, unasked);
    match frontend.turn(Event::Submitted { language, code }).await? {
        Turn::Over(end) => {
            frontend.end().await?;
            Ok(Exit::from(end).into())
        }
        Turn::Last(end) => Ok(Exit::from(end).into()),
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
