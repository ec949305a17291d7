//! The question whether code may reach a host.

use super::{
    ask::{Left, choice},
    frontend::Frontend,
    ours::{ours, word},
    person::Console,
    screen::Screen,
};
use crate::report::Error;
use interpreter_core::{
    Grant, Grantor, HostWanted,
    session::{Event, GivenAnswer, Posed},
};

impl Frontend {
    /// The code waits to reach a host. Nobody to ask means no.
    pub(super) async fn host(&mut self, posed: &Posed<HostWanted>) -> Result<(), Error> {
        let _held = self.view.hold_input();
        let said = match self.asked().await {
            Ok((_lock, console, screen)) => allowed(console, screen, &posed.about).await?,
            Err(left) => Err(left),
        };
        let person = Grantor::Person;
        let (grant, by, then) = match said {
            Ok(grant) => (grant, person, None),
            Err(Left::Interrupted) => (None, person, Some(Event::Interrupted)),
            Err(Left::Ended) => (None, person, None),
            Err(Left::Terminated) => (None, person, Some(Event::Quit)),
            Err(Left::Nobody(_)) => (None, Grantor::Nobody, None),
        };
        let answer = match grant {
            Some(span) => GivenAnswer::Allow { span },
            None => GivenAnswer::Refuse,
        };
        self.session.send(posed.answer_by(answer, by));
        if let Some(event) = then {
            self.session.send(event);
        }
        Ok(())
    }
}

/// Asks for how long the host is allowed, if at all.
async fn allowed(
    console: &mut Console,
    screen: &mut Screen,
    wanted: &HostWanted,
) -> Result<Result<Option<Grant>, Left>, Error> {
    loop {
        let words = if wanted.listed {
            " ran without a question, and wants to reach a host that its findings don't name:"
        } else {
            " wants to reach an unlisted host:"
        };
        screen.say(word(&wanted.proposal) + words)?;
        screen.row(&wanted.host.with_port(wanted.port))?;
        let mut choices = vec![
            choice('o', "once, for this run", Some(Grant::Once)),
            choice('s', "for this session", Some(Grant::Session)),
            choice('a', "always", Some(Grant::Always)),
            choice('n', "no", None),
        ];
        // It is in the settings already.
        choices.retain(|one| !wanted.listed || one.means != Some(Grant::Always));
        let said = console.asker.choose(screen, &ours("Allow it?"), &choices).await;
        if said != Ok(Some(Grant::Always)) {
            return Ok(said);
        }
        // It holds for every later session, so it takes another key.
        let sure = ours("Add it to your settings for all future sessions?");
        let choices = [choice('w', "write it", true), choice('b', "go back", false)];
        match console.asker.choose(screen, &sure, &choices).await {
            Ok(true) => return Ok(said),
            Ok(false) => {}
            Err(left) => return Ok(Err(left)),
        }
    }
}
