//! The question whether code that has been running for long may continue.
//!
//! The code runs while the person thinks. So whatever else happens meanwhile is kept until they
//! have answered, and the question is withdrawn as soon as the run is over. Without an answer the
//! run ends: then no one is there.

use super::{
    ask::{Left, choice},
    frontend::Frontend,
    life::time,
    ours::{ours, word},
    person::Person,
    questions::asked,
    view::View,
};
use crate::report::Error;
use interpreter_agent::{Session, Update};
use interpreter_core::{
    Body, Grantor, LongRun,
    session::{Event, GivenAnswer, Posed},
};
use std::{collections::VecDeque, future::pending, time::Duration};

/// Updates that are kept while the question waits. After that the session waits, too.
const KEPT: usize = 4096;

/// How a question about a long run ended.
enum Said {
    Answered(Result<bool, Left>),
    /// It's no longer open.
    Closed,
    /// No one has answered in time.
    Late,
}

impl Frontend {
    /// The code has been running for long. No one to ask means that it ends.
    pub(super) async fn long_run(&mut self, posed: &Posed<LongRun>) -> Result<(), Error> {
        let held = self.view.hold_input();
        let Self { person, view, session, early, .. } = self;
        let late = tokio::time::sleep(Duration::from_secs(posed.about.ends_in));
        let said = tokio::select! {
            said = keep_running(person, view, &posed.about) => Said::Answered(said),
            () = closed(session, early, &posed.id) => Said::Closed,
            () = late => Said::Late,
        };
        let (answer, by) = match said {
            Said::Answered(Ok(answer)) => (answer, Grantor::Person),
            Said::Answered(Err(Left::Ended)) => (false, Grantor::Person),
            Said::Answered(Err(Left::Nobody(_))) => (false, Grantor::Nobody),
            Said::Answered(Err(left @ (Left::Interrupted | Left::Terminated))) => {
                let stops = left == Left::Interrupted;
                self.session.send(if stops { Event::Interrupted } else { Event::Quit });
                return Ok(());
            }
            Said::Closed => {
                self.person.withdraw_question();
                return Ok(());
            }
            Said::Late => {
                self.person.withdraw_question();
                if let Some(screen) = self.view.screen() {
                    screen.warn(word(&posed.about.proposal) + " is being stopped: no answer.")?;
                }
                (false, Grantor::Nobody)
            }
        };
        drop(held);
        let answer = if answer {
            self.run_clock.again();
            GivenAnswer::Run
        } else {
            GivenAnswer::Reject { reason: None }
        };
        self.session.send(posed.answer_by(answer, by));
        Ok(())
    }
}

/// Asks whether the code may continue.
async fn keep_running(person: &mut Person, view: &mut View, run: &LongRun) -> Result<bool, Left> {
    let (_lock, console, screen) = asked(person, view).await?;
    let words = word(&run.proposal) + " has been running for " + time(run.seconds);
    let bound = ours("Without an answer it's stopped in ") + time(run.ends_in) + ".";
    screen.say(words + " and is still running. " + bound).map_err(|_| Left::Ended)?;
    let choices = [choice('y', "yes", true), choice('n', "no, stop it", false)];
    console.asker.choose(screen, &ours("Keep it running?"), &choices).await
}

/// Keeps updates until one says that the question is closed.
async fn closed(session: &mut Session, early: &mut VecDeque<Update>, question: &str) {
    while early.len() < KEPT {
        let Some(update) = session.next().await else { return };
        let is_over = closes(&update, question);
        early.push_back(update);
        if is_over {
            return;
        }
    }
    pending::<()>().await;
}

fn closes(update: &Update, question: &str) -> bool {
    match update {
        Update::Records(records) => records.iter().any(
            |record| matches!(&record.body, Body::QuestionClosed { id, .. } if id == question),
        ),
        Update::TurnFinished(_) | Update::Ended(_) => true,
        Update::Live(_)
        | Update::Headway(_)
        | Update::Ask(_)
        | Update::Replay(_)
        | Update::Line(_)
        | Update::Input(_)
        | Update::LongRun(_)
        | Update::Host(_)
        | Update::Packages(_)
        | Update::Review(_) => false,
    }
}
