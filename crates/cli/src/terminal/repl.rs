//! `interpreter run -l LANGUAGE` at a terminal: code, cell by cell.
//!
//! Each cell is submitted as in `interpreter run`, with the same analysis, sandbox, staging and
//! record. Staged changes are reviewed once, when the person quits.

use super::{
    ask::{Asker, Left},
    changes_question::Keep,
    chat::Chat,
    confined,
    frontend::{Frontend, Turn, Unasked},
    ours::{count, word},
    pager,
    person::{Console, Person},
    repl_editor::{self, Question},
    screen::{Screen, Section},
    view::View,
};
use crate::{exit::Exit, report::Error, start::screen};
use interpreter_agent::{
    Context, Mode, Session,
    changes::{self, ChangeReview, Conflict, Which},
};
use interpreter_core::{
    Language,
    outline::{ApplyOrder, SeenOutline},
    session::{Approval, Event, Settle},
};
use std::{io, process::ExitCode, sync::Arc};
use tokio::sync::mpsc;

const HELP: &str = "\
Type code and press Enter to run it; incomplete code continues on a new line, as with Alt-Enter.
  Tab      complete             Ctrl-C   interrupt the running code, or clear the line
  /open    open the newest picture, table or page in your viewer
  /restart start a new interpreter; all variables are lost
  /help    show this text       /quit    quit (also Ctrl-D); Ctrl-Z suspends
Changes to your files are staged; when you quit, you decide whether to keep them.
Rows that begin with this mark come from the program. No code can print it.";

/// Reads cells and runs them until the person leaves.
pub(crate) async fn interact(
    context: &Arc<Context>,
    language: Language,
    approval: Approval,
) -> Result<ExitCode, Error> {
    let (asks, mut questions) = mpsc::unbounded_channel();
    let indented = language.written_in() == "python";
    let asker = Asker::start(&context.environment, move || repl_editor::editor(asks, indented))?;
    let mut console = Console::new(asker, context);
    let mut screen = screen(context);
    console.use_theme(&mut screen).await;
    let session = Session::start(context, Mode::Run, approval)?;
    session.prepare(&language);
    greet(&mut screen, context, &language)?;
    let view = View::Chat(Box::new(Chat::new(screen, context.confinement())));
    let person = Person::Present(Box::new(console));
    let mut frontend =
        Frontend::new(context, session, view, person, Unasked::Later).reviewed_at_end();
    loop {
        match next(&mut frontend, context, &language, &mut questions).await? {
            Ok(event) => match frontend.turn(event).await? {
                Turn::Over(_) => {}
                Turn::Last(end) => return Ok(Exit::from(end).into()),
            },
            Err(Left::Terminated) => {
                frontend.finish().await?;
                return Ok(Exit::CodeFailed.into());
            }
            Err(Left::Interrupted | Left::Ended | Left::Nobody(_)) => break,
        }
    }
    frontend.finish().await?;
    settle(context, &mut frontend).await?;
    Ok(Exit::Done.into())
}

fn greet(screen: &mut Screen, context: &Context, language: &Language) -> io::Result<()> {
    let confinement = context.confinement();
    screen.row(&format!("folder  {}", confinement.work_folder.display()))?;
    confined::bounded(screen, word(language.name()), &confinement)?;
    screen.say("Tab completes, Ctrl-C interrupts, Ctrl-D quits, /help shows help.")
}

/// Waits for the next cell, or for a command that is a turn of its own.
async fn next(
    frontend: &mut Frontend,
    context: &Context,
    language: &Language,
    questions: &mut mpsc::UnboundedReceiver<Question>,
) -> Result<Result<Event, Left>, Error> {
    loop {
        let line = match typed(frontend, language, questions).await {
            Ok(line) => line,
            Err(Left::Interrupted) => continue,
            Err(left) => return Ok(Err(left)),
        };
        // Only these words: in a shell, a path is code.
        match line.trim() {
            "" => {}
            "/quit" | "/exit" => return Ok(Err(Left::Ended)),
            "/help" => {
                if let Some(screen) = frontend.view.screen() {
                    screen.say(HELP)?;
                }
            }
            "/open" => frontend.open(None, &context.environment).await?,
            "/restart" => return Ok(Ok(Event::Restart(Some(language.clone())))),
            _ => {
                let language = language.clone();
                return Ok(Ok(Event::Submitted { language, code: line, invocation: None }));
            }
        }
    }
}

/// Waits for a line, and answers the editor's questions how it could go on.
async fn typed(
    frontend: &mut Frontend,
    language: &Language,
    questions: &mut mpsc::UnboundedReceiver<Question>,
) -> Result<String, Left> {
    let Frontend { person: Person::Present(console), session, .. } = frontend else {
        return Err(Left::Ended);
    };
    let line = console.asker.prompt();
    tokio::pin!(line);
    loop {
        tokio::select! {
            heard = &mut line => return heard,
            Some(Question { code, cursor, reply }) = questions.recv() => {
                // Who asked waits, unless the terminal is gone.
                let found = session.complete(language, code, cursor).await;
                _ = reply.send(found).is_ok();
            }
        }
    }
}

/// Asks what becomes of the staged changes. One copy of them is listed, shown and applied.
async fn settle(context: &Context, frontend: &mut Frontend) -> Result<(), Error> {
    let Some(id) = frontend.staged.take() else { return Ok(()) };
    let Some(review) = changes::review(context, &Which::Named(id.clone()), &[])? else {
        return Ok(());
    };
    let (Person::Present(console), Some(screen)) = (&mut frontend.person, frontend.view.screen())
    else {
        return Ok(());
    };
    if review.files().is_empty() {
        return Ok(());
    }
    let files = review.files().to_vec();
    let done = loop {
        let left = match console.about_changes(screen, &id, &files, review.left_out()).await {
            Ok(Keep::Settle(Settle::Apply(order))) if order.picks.is_empty() => {
                review.apply(&order, Conflict::Refuse)?;
                break "applied.";
            }
            Ok(Keep::Settle(Settle::Apply(order))) => return some(screen, review, &order),
            Ok(Keep::Hunks) => {
                let changes = review.shown_changes()?;
                match console.picked(screen, &changes).await {
                    // Each of them was shown by itself.
                    Ok(Some(picks)) => {
                        let seen = SeenOutline::of(files.iter());
                        return some(screen, review, &ApplyOrder { picks, seen });
                    }
                    Ok(None) => Ok(()),
                    Err(left) => Err(left),
                }
            }
            Ok(Keep::Settle(Settle::Discard)) => {
                review.discard()?;
                break "discarded.";
            }
            Ok(Keep::Settle(Settle::Later)) => {
                break "still staged; see `interpreter changes`.";
            }
            Ok(Keep::Show) => {
                let diff = review.diff()?;
                pager::text(&mut console.asker, screen, Section::Diff, &diff).await?.map(drop)
            }
            Err(left) => Err(left),
        };
        if left.is_err() {
            return Ok(());
        }
    };
    Ok(screen.say(count(files.len(), "file") + " " + done)?)
}

fn some(screen: &mut Screen, review: ChangeReview<'_>, order: &ApplyOrder) -> Result<(), Error> {
    let applied = review.apply(order, Conflict::Refuse)?;
    let words = count(applied.files.len(), "file") + " applied; the rest is still staged.";
    Ok(screen.say(words)?)
}
