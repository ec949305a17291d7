//! `interpreter run -l LANGUAGE` at a terminal: code, cell by cell.
//!
//! Each cell is submitted as `interpreter run` does it, with the same judgement, sandbox, staging
//! and record. What is staged is asked about once, when the person leaves.

use super::{
    ask::{Asker, Left},
    chat::Chat,
    face::{Face, Keep, Person, Reviews, Talk, There, Turn},
    listing,
    ours::{count, word},
    pager,
    repl_editor::{self, Question},
    screen::Screen,
    story,
};
use crate::{exit::Exit, report::Error};
use interpreter_agent::{
    Mode, Scene, Session,
    changes::{self, Conflict, Which},
};
use interpreter_core::{
    Language,
    session::{Approval, Event, Settle},
};
use std::{io, process::ExitCode, rc::Rc};
use tokio::sync::mpsc;

const HELP: &str = "\
Type code; Enter runs it, and makes a new line where it cannot be whole yet. Alt-Enter always does.
  Tab      complete             Ctrl-C   interrupt the running code, or clear the line
  /restart forget all variables and start afresh
  /help    this text            /quit    leave (also Ctrl-D); Ctrl-Z suspends
Changes to your files are staged; when you leave you decide whether to keep them.
Rows that begin with this mark are the program's own. No code can print it.";

/// Reads cells and runs them until the person leaves.
pub(crate) async fn talk(
    scene: &Rc<Scene>,
    language: Language,
    approval: Approval,
) -> Result<ExitCode, Error> {
    let (asks, mut questions) = mpsc::unbounded_channel();
    let indented = language.written_in() == "python";
    let asker = Asker::start(&scene.environment, move || repl_editor::editor(asks, indented))?
        .marked_for(&scene.confinement());
    let editor = scene.environment.editor().map(Into::into);
    let there = There { asker, editor, folders: scene.folders.clone() };
    let mut screen = Screen::stdout(&scene.environment);
    let session = Session::start(scene, Mode::Run, approval)?;
    session.prepare(&language);
    greet(&mut screen, scene, &language)?;
    let face = Face::Chat(Box::new(Chat::new(screen, scene.confinement())));
    let person = Person::There(Box::new(there));
    let mut talk = Talk::new(session, face, person, Settle::Later).reviewed(Reviews::AtTheEnd);
    loop {
        match next(&mut talk, &language, &mut questions).await? {
            Ok(event) => match talk.turn(event).await? {
                Turn::Over(_) => {}
                Turn::Last(end) => return Ok(Exit::from(end).into()),
            },
            Err(Left::Terminated) => {
                talk.finish().await?;
                return Ok(Exit::CodeFailed.into());
            }
            Err(Left::Interrupted | Left::Ended) => break,
        }
    }
    talk.finish().await?;
    settle(scene, &mut talk).await?;
    Ok(Exit::Done.into())
}

fn greet(screen: &mut Screen, scene: &Scene, language: &Language) -> io::Result<()> {
    let confinement = scene.confinement();
    let words = word(language.name())
        + " "
        + story::within(&confinement)
        + ": "
        + story::bounds(&confinement)
        + ".";
    screen.announce(words, story::is_alarming(&confinement))?;
    screen.row(&format!("folder  {}", confinement.work_folder.display()))?;
    story::granted(&confinement).iter().try_for_each(|row| screen.row(row))?;
    screen.say("Tab completes, Ctrl-C interrupts, Ctrl-D leaves, /help explains.")
}

/// Waits for the next cell, or for a command that is a turn of its own.
async fn next(
    talk: &mut Talk,
    language: &Language,
    questions: &mut mpsc::UnboundedReceiver<Question>,
) -> Result<Result<Event, Left>, Error> {
    loop {
        let line = match typed(talk, language, questions).await {
            Ok(line) => line,
            Err(Left::Interrupted) => continue,
            Err(left) => return Ok(Err(left)),
        };
        // Only these words: in a shell, a path is code.
        match line.trim() {
            "" => {}
            "/quit" | "/exit" => return Ok(Err(Left::Ended)),
            "/help" => {
                if let Some(screen) = talk.face.screen() {
                    screen.say(HELP)?;
                }
            }
            "/restart" => return Ok(Ok(Event::Restart(Some(language.clone())))),
            _ => {
                let language = language.clone();
                return Ok(Ok(Event::Submitted { language, code: line }));
            }
        }
    }
}

/// Waits for a line, and answers the editor's questions how it could go on.
async fn typed(
    talk: &mut Talk,
    language: &Language,
    questions: &mut mpsc::UnboundedReceiver<Question>,
) -> Result<String, Left> {
    let Talk { person: Person::There(there), session, .. } = talk else {
        return Err(Left::Ended);
    };
    let line = there.asker.prompt();
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
async fn settle(scene: &Scene, talk: &mut Talk) -> Result<(), Error> {
    let Some(id) = talk.staged.take() else { return Ok(()) };
    let Some(review) = changes::review(scene, &Which::Named(id.clone()), &[])? else {
        return Ok(());
    };
    let (Person::There(there), Some(screen)) = (&mut talk.person, talk.face.screen()) else {
        return Ok(());
    };
    if review.files().is_empty() {
        return Ok(());
    }
    let files = review.files().to_vec();
    let done = loop {
        let left = match there.about_changes(screen, &id, &files, review.left_out()).await {
            Ok(Keep::Settle(Settle::Apply)) => {
                review.apply(Conflict::Refuse)?;
                break "applied.";
            }
            Ok(Keep::Settle(Settle::Discard)) => {
                review.discard()?;
                break "discarded.";
            }
            Ok(Keep::Settle(Settle::Later)) => {
                break "still staged: see `interpreter changes`.";
            }
            Ok(Keep::Show) => pager::text(&mut there.asker, screen, &review.diff()?).await?,
            Ok(Keep::Names) => {
                let rows = listing::whole(&files).rows;
                pager::rows(&mut there.asker, screen, &rows).await?
            }
            Err(left) => Err(left),
        };
        if left.is_err() {
            return Ok(());
        }
    };
    Ok(screen.say(count(files.len(), "file") + " " + done)?)
}
