//! `interpreter run -l LANGUAGE` at a terminal: code, cell by cell.
//!
//! Each cell is submitted as `interpreter run` does it, with the same judgement, sandbox, staging
//! and record. What is staged is asked about once, when the person leaves.

use super::{
    chat::Chat,
    face::{Face, Person, Reviews, Talk, Turn},
    keys::{Heard, Keys, Wanted},
    repl_editor::{self, Question},
    story,
    style::Style,
};
use crate::{exit::Exit, report::Error};
use interpreter_agent::{
    Mode, Scene, Session,
    changes::{self, Conflict, Which},
};
use interpreter_core::{
    Language, Untrusted,
    session::{Approval, Event, Settle},
};
use std::{
    io::{self, Write},
    process::ExitCode,
    rc::Rc,
};
use tokio::sync::mpsc;

const HELP: &str = "\
Type code; Enter runs it, and makes a new line where it cannot be whole yet. Alt-Enter always does.
  Tab      complete             Ctrl-C   interrupt what runs, or clear the line
  /restart forget all variables and start afresh
  /help    this text            /quit    leave (also Ctrl-D)
Changes to your files are staged; when you leave you decide whether to keep them.";

/// Reads cells and runs them until the person leaves.
pub(crate) async fn talk(
    scene: &Rc<Scene>,
    language: Language,
    approval: Approval,
) -> Result<ExitCode, Error> {
    let (asks, mut questions) = mpsc::unbounded_channel();
    let indented = language.written_in() == "python";
    let keys = Keys::start_with(move || repl_editor::editor(asks, indented))?
        .marked_for(&scene.confinement());
    let editor = scene.environment.editor().map(Into::into);
    let person = Person::There { keys, editor, folders: scene.folders.clone() };
    let face = Face::Chat(Chat::new(Style::of_stdout(&scene.environment), &scene.confinement()));
    let session = Session::start(scene, Mode::Run, approval)?;
    session.prepare(&language);
    writeln!(io::stdout(), "{}", greeting(scene, &language))?;
    let mut talk = Talk::new(session, face, person, Settle::Later)?.reviewed(Reviews::AtTheEnd);
    while let Some(event) = next(&talk, &language, &mut questions).await? {
        match talk.turn(event).await? {
            Turn::Over(_) => {}
            Turn::Last(end) => return Ok(Exit::from(end).into()),
        }
    }
    talk.finish().await?;
    settle(scene, &mut talk).await?;
    Ok(Exit::Done.into())
}

fn greeting(scene: &Scene, language: &Language) -> String {
    let style = Style::of_stdout(&scene.environment);
    let confinement = scene.confinement();
    let folder = confinement.work_folder.display().to_string();
    format!(
        "{language} {} in {}: {}.\nTab completes, Ctrl-C interrupts, Ctrl-D leaves, \
         /help explains.\n",
        story::within(&confinement, style),
        Untrusted::new(folder).for_terminal_line(200),
        story::bounds(&confinement, style),
    )
}

/// Waits for the next cell, or a command that is a turn of its own; none if the person leaves.
async fn next(
    talk: &Talk,
    language: &Language,
    questions: &mut mpsc::UnboundedReceiver<Question>,
) -> Result<Option<Event>, Error> {
    loop {
        let line = match heard(talk, language, questions).await {
            Heard::Line(line) => line,
            Heard::Interrupted => continue,
            Heard::Ended => return Ok(None),
        };
        // Only these words: in a shell, a path is code.
        match line.trim() {
            "" => {}
            "/quit" | "/exit" => return Ok(None),
            "/help" => writeln!(io::stdout(), "{HELP}")?,
            "/restart" => return Ok(Some(Event::Restart(Some(language.clone())))),
            _ => return Ok(Some(Event::Submitted { language: language.clone(), code: line })),
        }
    }
}

/// What the person types, while their editor is told how it could go on.
async fn heard(
    talk: &Talk,
    language: &Language,
    questions: &mut mpsc::UnboundedReceiver<Question>,
) -> Heard {
    let Person::There { keys, .. } = &talk.person else { return Heard::Ended };
    let line = keys.line(Wanted::Prompt);
    tokio::pin!(line);
    loop {
        tokio::select! {
            heard = &mut line => return heard,
            Some(Question { code, cursor, reply }) = questions.recv() => {
                // Who asked waits, unless the terminal is gone.
                let found = talk.session.complete(language, code, cursor).await;
                _ = reply.send(found).is_ok();
            }
        }
    }
}

/// Asks what becomes of what is staged. The session is over, so nothing changes it any more.
async fn settle(scene: &Scene, talk: &mut Talk) -> Result<(), Error> {
    let Some(id) = talk.staged.take() else { return Ok(()) };
    let which = Which::Named(id.clone());
    let Some((_, files)) = changes::files(scene, &which)?.filter(|(_, files)| !files.is_empty())
    else {
        return Ok(());
    };
    let Person::There { keys, .. } = &talk.person else { return Ok(()) };
    write!(io::stdout(), "Staged:\n{}", story::file_lines(&files))?;
    loop {
        writeln!(
            io::stdout(),
            "Keep {} (set {id})?  a apply to your folder · d discard · l later · s show",
            if files.len() == 1 { "this change" } else { "these changes" },
        )?;
        let Heard::Line(line) = keys.line(Wanted::Answer).await else { return Ok(()) };
        let done = match line.trim().to_lowercase().as_str() {
            "a" | "apply" | "y" | "yes" => {
                changes::apply(scene, &which, &[], Conflict::Refuse)?;
                "applied"
            }
            "d" | "discard" => {
                changes::discard(scene, &which, &[])?;
                "discarded"
            }
            "l" | "later" => "still staged; `interpreter changes` has them",
            "s" | "show" | "diff" => {
                let diff = changes::diff(scene, &which, &[])?.unwrap_or_default();
                if let Face::Chat(chat) = &mut talk.face {
                    chat.quote(&diff)?;
                }
                continue;
            }
            _ => continue,
        };
        writeln!(io::stdout(), "{} {done}.", story::count(files.len(), "file"))?;
        return Ok(());
    }
}
