//! `interpreter run`: code of one's own, without a model.

use crate::{
    args::{SessionArgs, misuse},
    commands::{at_terminal, input::read_text, scene, wait_for},
    exit::Exit,
    report::Error,
    terminal::{
        ask::Asker,
        chat::Chat,
        face::{Face, Person, Talk, There, Turn},
        plain::Plain,
        repl,
        screen::Screen,
        signals::Signals,
    },
};
use interpreter_agent::{Mode, Scene, Session};
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
    rc::Rc,
};

/// Run code of your own in the sandbox
///
/// No model is asked. The code gets the same judgement, sandbox, staging and record as a model's.
/// Typing it counts as your yes, unless a rule says ask or deny. Its output goes to standard
/// output and standard error; exits with 1 if it fails.
///
/// With a language and no code, at a terminal, it reads code cell by cell: variables are kept, Tab
/// completes, Ctrl-C interrupts, Ctrl-D leaves, /help explains.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch that can be typed")]
pub(crate) struct RunArgs {
    /// File to run, or - for standard input
    #[arg(value_name = "FILE", conflicts_with = "code")]
    file: Option<PathBuf>,
    /// Code to run
    #[arg(short, long, value_name = "CODE", allow_hyphen_values = true)]
    code: Option<String>,
    /// Language of the code [default: by the file's ending]
    #[arg(short, long, value_name = "LANGUAGE")]
    language: Option<String>,
    /// Ask before running, even where the rules allow it
    #[arg(long, conflicts_with = "yes")]
    ask: bool,
    /// Show what would be enforced, step by step, and run nothing
    #[arg(long)]
    explain: bool,
    /// Put staged changes into the folder when the code has run
    #[arg(long, conflicts_with = "discard")]
    apply: bool,
    /// Forget staged changes when the code has run
    #[arg(long)]
    discard: bool,
    #[command(flatten)]
    session: SessionArgs,
}

pub(crate) fn run(args: &RunArgs) -> Result<ExitCode, Error> {
    args.check()?;
    let scene = Rc::new(scene(&args.session.overrides())?);
    let language = args.language(&scene)?;
    if args.explain {
        Screen::stdout(&scene.environment).lines(&scene.explain()?)?;
        return Ok(Exit::Done.into());
    }
    if args.code.is_none() && args.file.is_none() {
        return wait_for(repl::talk(&scene, language, args.approval()))?;
    }
    let code = args.read_code()?;
    wait_for(execute(scene, args, language, code))?
}

impl RunArgs {
    /// Without code there must be somebody to type it.
    fn check(&self) -> Result<(), Error> {
        let is_given = self.file.is_some() || self.code.is_some() || self.explain;
        match (is_given, at_terminal() && !self.session.json && !self.apply && !self.discard) {
            (true, _) | (false, true) => Ok(()),
            (false, false) => Err(misuse(
                "there is no code to run: give a FILE, `-c CODE` or `-`, or start it at a terminal",
            )),
        }
    }

    fn approval(&self) -> Approval {
        match (self.ask, self.session.yes) {
            (true, _) => Approval::AlwaysAsk,
            (false, true) => Approval::Yes,
            (false, false) => Approval::AsRulesSay,
        }
    }

    fn language(&self, scene: &Scene) -> Result<Language, Error> {
        let table = scene.interpreters().languages();
        let ending = || self.file.as_ref()?.extension()?.to_str().map(str::to_owned);
        let (found, name) = match (&self.language, ending()) {
            (Some(name), _) => (table.find(name), name.clone()),
            (None, Some(ending)) => (table.of_ending(&ending), ending),
            (None, None) => return Err(misuse("say which language it is with `-l LANGUAGE`")),
        };
        found.ok_or_else(|| match table.hint(&name) {
            Some(hint) => misuse(format!("there is no interpreter for `{name}` here: {hint}")),
            None => misuse(format!(
                "`{name}` is not a language that runs here; these are: {}",
                table.names().collect::<Vec<_>>().join(", ")
            )),
        })
    }

    fn read_code(&self) -> Result<String, Error> {
        let next = "put data into a file and read it from there";
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
            (None, None) => return Err(misuse("there is no code to run")),
        };
        match unfit(&code) {
            Some(why) => Err(misuse(why)),
            None => Ok(code),
        }
    }
}

async fn execute(
    scene: Rc<Scene>,
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
    let (face, person) = if args.session.json {
        (Face::Json, Person::Nobody(Signals::new()?))
    } else if args.ask && at_terminal() {
        let asker = Asker::start(&scene.environment, Reedline::create)?;
        let there = There {
            asker: asker.marked_for(&scene.confinement()),
            editor: scene.environment.editor().map(Into::into),
            folders: scene.folders.clone(),
        };
        let chat = Chat::new(Screen::stdout(&scene.environment), scene.confinement());
        (Face::Chat(Box::new(chat)), Person::There(Box::new(there)))
    } else {
        let plain = Plain::new(&scene.environment);
        (Face::Plain(Box::new(plain)), Person::Nobody(Signals::new()?))
    };
    warn(&scene)?;
    let session = Session::start(&scene, Mode::Run, approval)?;
    let mut talk = Talk::new(session, face, person, unasked);
    match talk.turn(Event::Submitted { language, code }).await? {
        Turn::Over(end) => {
            talk.end().await?;
            Ok(Exit::from(end).into())
        }
        Turn::Last(end) => Ok(Exit::from(end).into()),
    }
}

/// What confines less than usual is said so, in red, each time.
fn warn(scene: &Scene) -> Result<(), Error> {
    let confinement = scene.confinement();
    let words = if confinement.sandbox.is_none() {
        "NO SANDBOX: the code has all your rights"
    } else if let Network::Open(_) = confinement.network {
        "the network is open: code can reach every public host"
    } else {
        return Ok(());
    };
    Ok(Screen::stderr(&scene.environment).named_elsewhere("interpreter: ").warn(words)?)
}
