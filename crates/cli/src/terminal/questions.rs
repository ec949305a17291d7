//! Questions of a session and where their answers come from. Whatever nobody can be asked is refused.

use super::{
    ask::{Absence, Left},
    changes_question::Keep,
    frontend::{Frontend, Unasked},
    keyboard::Typing,
    ours::word,
    outline_question::{self, SeenYes},
    pager,
    person::{Console, Person},
    screen::{Screen, Section},
    terminal_lock::TerminalLock,
    view::View,
};
use crate::report::Error;
use interpreter_core::{
    Changes, FileChange, Grantor, InputWanted, Secret,
    outline::{ApplyOrder, SeenOutline},
    session::{Event, GivenAnswer, Posed, Question, Settle},
};

/// Waits until the person can be asked. The terminal is kept for that as long as the lock lives.
async fn lock_terminal(person: &mut Person) -> Result<TerminalLock, Left> {
    match person {
        Person::Nobody(_) => Err(Left::Nobody(Absence::NoTerminal)),
        Person::Present(console) | Person::Called(console, _) => console.asker.lock().await,
    }
}

/// The person, and the screen for the question.
fn console<'a>(
    person: &'a mut Person,
    view: &'a mut View,
) -> Result<(&'a mut Console, &'a mut Screen), Left> {
    let nobody = Left::Nobody(Absence::NoTerminal);
    match person {
        Person::Nobody(_) => Err(nobody),
        Person::Present(console) | Person::Called(console, None) => {
            Ok((console, view.screen().ok_or(nobody)?))
        }
        Person::Called(console, Some(desk)) => {
            view.leave_terminal().ok_or(nobody)?;
            Ok((console, desk.screen()))
        }
    }
}

/// The person who can be asked, the screen for the question, and the terminal's lock.
pub(super) async fn asked<'a>(
    person: &'a mut Person,
    view: &'a mut View,
) -> Result<(TerminalLock, &'a mut Console, &'a mut Screen), Left> {
    let lock = lock_terminal(person).await?;
    let (console, screen) = console(person, view)?;
    Ok((lock, console, screen))
}

impl Frontend {
    /// The person who can be asked, the screen for the question, and the terminal's lock.
    pub(super) async fn asked(
        &mut self,
    ) -> Result<(TerminalLock, &mut Console, &mut Screen), Left> {
        asked(&mut self.person, &mut self.view).await
    }

    /// Draws a question about code: where it is answered, if that is possible.
    fn draw(&mut self, question: &Question, can_answer: bool) -> Result<(), Error> {
        match (&mut self.person, &mut self.view) {
            (Person::Called(_, Some(desk)), view) if can_answer => match view.leave_terminal() {
                Some(()) => Ok(desk.question(question)?),
                None => Ok(()),
            },
            (_, View::Chat(chat)) => Ok(chat.question(question)?),
            (_, View::Plain(_) | View::Json | View::Quiet(_)) => Ok(()),
        }
    }

    pub(super) async fn ask(&mut self, posed: &Posed<Question>) -> Result<(), Error> {
        let question = &posed.about;
        let _held = self.view.hold_input();
        let lock = lock_terminal(&mut self.person).await;
        self.draw(question, lock.is_ok())?;
        let said = match (lock, console(&mut self.person, &mut self.view)) {
            (Ok(_lock), Ok((console, screen))) => console.about_code(screen, question).await,
            (Err(left), _) | (Ok(_), Err(left)) => Err(left),
        };
        let reject = GivenAnswer::Reject { reason: None };
        let (answer, by) = match said {
            Ok(answer) => (answer, Grantor::Person),
            Err(Left::Interrupted) => (Some(reject), Grantor::Person),
            Err(Left::Ended | Left::Terminated) => (None, Grantor::Person),
            Err(Left::Nobody(absence)) => {
                if let Some(screen) = self.view.screen() {
                    screen.say(absence.words())?;
                }
                (Some(reject), Grantor::Nobody)
            }
        };
        self.session.send(match answer {
            Some(answer) => posed.answer_by(answer, by),
            None => Event::Quit,
        });
        Ok(())
    }

    /// The code asks for a line. Nobody to ask means that there is no input.
    pub(super) async fn input(&mut self, posed: &Posed<InputWanted>) -> Result<(), Error> {
        let wanted = &posed.about;
        let _held = self.view.hold_input();
        let (typing, words) = if wanted.secret {
            (Typing::Hidden, " asks for a secret, which goes to the code (hidden):")
        } else {
            (Typing::Shown, " asks for input, which goes to the code:")
        };
        let draw = |screen: &mut Screen| {
            screen.say(word(&wanted.proposal) + words)?;
            screen.quote(Section::Output, &wanted.prompt)
        };
        let said = match self.asked().await {
            Ok((_lock, console, screen)) => console.asker.line(screen, draw, typing).await,
            Err(left) => Err(left),
        };
        let event = match said {
            Ok(line) => posed.answer(GivenAnswer::Give { text: Secret::new(line) }),
            Err(Left::Interrupted) => Event::Interrupted,
            Err(Left::Ended | Left::Nobody(_)) => posed.answer(GivenAnswer::End),
            Err(Left::Terminated) => Event::Quit,
        };
        self.session.send(event);
        Ok(())
    }

    /// The answer that was given on the command line. Of many changes, what stands out is printed
    /// before they are applied, away from output that a program reads.
    fn decided_beforehand(&mut self, files: &[FileChange]) -> Result<GivenAnswer, Error> {
        Ok(match self.unasked {
            Unasked::Apply => {
                let files: Vec<_> = files.iter().collect();
                let screen = match &mut self.view {
                    View::Plain(plain) => plain.screen()?,
                    View::Chat(_) | View::Json | View::Quiet(_) => &mut self.stderr,
                };
                let SeenYes { seen } = outline_question::print(screen, &files)?;
                GivenAnswer::Apply { picks: None, seen: seen.map(|seen| seen.hash) }
            }
            Unasked::Discard => GivenAnswer::Discard,
            Unasked::Later => {
                if let Some(screen) = self.view.screen() {
                    screen.say(
                        "Not in your folder yet. Review: `interpreter changes diff`; \
                         keep: `interpreter changes apply`; drop: `interpreter changes discard`.",
                    )?;
                }
                GivenAnswer::Later
            }
        })
    }

    pub(super) async fn review(&mut self, posed: &Posed<Changes>) -> Result<(), Error> {
        let Changes { id, files, left_out, .. } = &posed.about;
        if self.reviews_at_end {
            self.session.send(posed.answer(GivenAnswer::Later));
            return Ok(());
        }
        let Self { person, view, session, .. } = self;
        let (Person::Present(console), Some(screen)) = (person, view.screen()) else {
            let answer = self.decided_beforehand(files)?;
            self.session.send(posed.answer_by(answer, Grantor::Flag));
            return Ok(());
        };
        let decision = loop {
            match console.about_changes(screen, id, files, left_out).await {
                Ok(Keep::Settle(decision)) => break Ok(decision),
                Ok(Keep::Show) => {
                    let diff = session.diff(id).await?;
                    let shown = pager::text(&mut console.asker, screen, Section::Diff, &diff);
                    if let Err(left) = shown.await? {
                        break Err(left);
                    }
                }
                Ok(Keep::Hunks) => {
                    let changes = session.shown_changes(id).await?;
                    match console.picked(screen, &changes).await {
                        // Each of them was shown by itself.
                        Ok(Some(picks)) => {
                            let seen = SeenOutline::of(files.iter());
                            break Ok(Settle::Apply(ApplyOrder { picks, seen }));
                        }
                        Ok(None) => {}
                        Err(left) => break Err(left),
                    }
                }
                Err(left) => break Err(left),
            }
        };
        session.send(match decision {
            Ok(decision) => posed.answer(settled(decision)),
            Err(Left::Interrupted | Left::Ended | Left::Nobody(_)) => {
                posed.answer(GivenAnswer::Later)
            }
            Err(Left::Terminated) => Event::Quit,
        });
        Ok(())
    }
}

/// A decision on changes as an answer.
fn settled(decision: Settle) -> GivenAnswer {
    match decision {
        Settle::Apply(ApplyOrder { picks, seen }) => GivenAnswer::Apply {
            picks: (!picks.is_empty()).then_some(picks),
            seen: seen.map(|seen| seen.hash),
        },
        Settle::Discard => GivenAnswer::Discard,
        Settle::Later => GivenAnswer::Later,
    }
}

/// A terminal that cannot be written to is gone.
pub(super) fn gone(written: std::io::Result<()>) -> Result<(), Left> {
    written.map_err(|_| Left::Ended)
}
