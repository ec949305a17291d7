//! Questions of a session and where their answers come from. Whatever nobody can be asked is refused.

use super::{
    ask::Left,
    changes_question::Keep,
    frontend::{Frontend, View},
    keyboard::Typing,
    listing,
    ours::word,
    pager,
    person::{Console, Person},
    screen::{Screen, Section},
};
use crate::report::Error;
use interpreter_core::{
    Changes, Grantor, InputWanted, Secret, Typed,
    session::{Answer, Event, Question, Settle},
};

impl Frontend {
    /// The person who can be asked at this moment, and the screen for the question.
    pub(super) fn asked(&mut self) -> Option<(&mut Console, &mut Screen)> {
        match &mut self.person {
            Person::Nobody(_) => None,
            Person::Called(console, _) if !console.asker.is_reachable() => None,
            Person::Present(console) | Person::Called(console, None) => {
                Some((console, self.view.screen()?))
            }
            Person::Called(console, Some(desk)) => {
                self.view.leave_terminal()?;
                Some((console, desk.screen()))
            }
        }
    }

    /// Draws a question about code: where it is answered, if that is possible.
    fn draw(&mut self, question: &Question) -> Result<(), Error> {
        match (&mut self.person, &mut self.view) {
            (Person::Called(console, Some(desk)), view) if console.asker.is_reachable() => {
                match view.leave_terminal() {
                    Some(()) => Ok(desk.question(question)?),
                    None => Ok(()),
                }
            }
            (_, View::Chat(chat)) => Ok(chat.question(question)?),
            (_, View::Plain(_) | View::Json | View::Quiet(_)) => Ok(()),
        }
    }

    pub(super) async fn ask(&mut self, question: &Question) -> Result<(), Error> {
        let proposal = question.proposal.id.clone();
        let _held = self.view.hold_input();
        self.draw(question)?;
        let Some((console, screen)) = self.asked() else {
            if let Some(screen) = self.view.screen() {
                screen.say("Not run: no terminal to ask on. Use `--yes` to approve in advance.")?;
            }
            let answer = Answer::Reject { reason: None };
            self.session.send(Event::Answered { proposal, answer, by: Grantor::Nobody });
            return Ok(());
        };
        let answer = match console.about_code(screen, question).await {
            Ok(answer) => answer,
            Err(Left::Interrupted) => Some(Answer::Reject { reason: None }),
            Err(Left::Ended | Left::Terminated) => None,
        };
        self.session.send(match answer {
            Some(answer) => Event::Answered { proposal, answer, by: Grantor::Person },
            None => Event::Quit,
        });
        Ok(())
    }

    /// The code asks for a line. Nobody to ask means that there is no input.
    pub(super) async fn input(&mut self, wanted: &InputWanted) -> Result<(), Error> {
        let _held = self.view.hold_input();
        let Some((console, screen)) = self.asked() else {
            self.session.send(Event::InputGiven(Typed::End));
            return Ok(());
        };
        let (typing, words) = if wanted.secret {
            (Typing::Hidden, " asks for a secret, which goes to the code (hidden):")
        } else {
            (Typing::Shown, " asks for input, which goes to the code:")
        };
        let draw = |screen: &mut Screen| {
            screen.say(word(&wanted.proposal) + words)?;
            screen.quote(Section::Output, &wanted.prompt)
        };
        let event = match console.asker.line(screen, draw, typing).await {
            Ok(line) if wanted.secret => Event::InputGiven(Typed::Hidden(Secret::new(line))),
            Ok(line) => Event::InputGiven(Typed::Line(line)),
            Err(Left::Interrupted) => Event::Interrupted,
            Err(Left::Ended) => Event::InputGiven(Typed::End),
            Err(Left::Terminated) => Event::Quit,
        };
        self.session.send(event);
        Ok(())
    }

    pub(super) async fn review(&mut self, changes: &Changes) -> Result<(), Error> {
        let Changes { id, files, left_out, .. } = changes;
        if self.reviews_at_end {
            self.session.send(Event::Decided(Settle::Later));
            return Ok(());
        }
        let Self { person, view, session, unasked, .. } = self;
        let (Person::Present(console), Some(screen)) = (person, view.screen()) else {
            if let (Settle::Later, Some(screen)) = (&*unasked, view.screen()) {
                screen.say(
                    "Not in your folder yet. Review: `interpreter changes diff`; \
                     keep: `interpreter changes apply`; drop: `interpreter changes discard`.",
                )?;
            }
            session.send(Event::Decided(unasked.clone()));
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
                        Ok(Some(picks)) => break Ok(Settle::ApplySome(picks)),
                        Ok(None) => {}
                        Err(left) => break Err(left),
                    }
                }
                Ok(Keep::Names) => {
                    let rows = listing::whole(files).rows;
                    if let Err(left) = pager::rows(&mut console.asker, screen, &rows).await? {
                        break Err(left);
                    }
                }
                Err(left) => break Err(left),
            }
        };
        session.send(match decision {
            Ok(decision) => Event::Decided(decision),
            Err(Left::Interrupted | Left::Ended) => Event::Decided(Settle::Later),
            Err(Left::Terminated) => Event::Quit,
        });
        Ok(())
    }
}

/// A terminal that cannot be written to is gone.
pub(super) fn gone(written: std::io::Result<()>) -> Result<(), Left> {
    written.map_err(|_| Left::Ended)
}
