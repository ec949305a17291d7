//! The question whether code may reach a host.

use super::{
    ask::{Left, choice},
    frontend::Frontend,
    ours::{ours, word},
};
use crate::report::Error;
use interpreter_core::{
    Grant, Grantor, HostWanted,
    session::{Event, HostAnswer},
};

impl Frontend {
    /// The code waits to reach a host. Nobody to ask means no.
    pub(super) async fn host(&mut self, wanted: &HostWanted) -> Result<(), Error> {
        let HostWanted { proposal, host, port } = wanted;
        let answer = |grant, by| {
            let (proposal, host, port) = (proposal.clone(), host.clone(), *port);
            Event::HostAnswered(HostAnswer { proposal, host, port, grant, by })
        };
        let _held = self.view.hold_input();
        let Some((console, screen)) = self.asked() else {
            self.session.send(answer(None, Grantor::Nobody));
            return Ok(());
        };
        let grant = loop {
            screen.say(word(proposal) + " wants to reach an unlisted host:")?;
            screen.row(&host.with_port(*port))?;
            let choices = [
                choice('o', "once, for this run", Some(Grant::Once)),
                choice('s', "for this session", Some(Grant::Session)),
                choice('a', "always", Some(Grant::Always)),
                choice('n', "no", None),
            ];
            let said = console.asker.choose(screen, &ours("Allow it?"), &choices).await;
            if said != Ok(Some(Grant::Always)) {
                break said;
            }
            // It holds for every later session, so it takes another key.
            let sure = ours("Add it to your settings for all future sessions?");
            let choices = [choice('w', "write it", true), choice('b', "go back", false)];
            match console.asker.choose(screen, &sure, &choices).await {
                Ok(true) => break said,
                Ok(false) => {}
                Err(left) => break Err(left),
            }
        };
        let (grant, then) = match grant {
            Ok(grant) => (grant, None),
            Err(Left::Interrupted) => (None, Some(Event::Interrupted)),
            Err(Left::Ended) => (None, None),
            Err(Left::Terminated) => (None, Some(Event::Quit)),
        };
        self.session.send(answer(grant, Grantor::Person));
        if let Some(event) = then {
            self.session.send(event);
        }
        Ok(())
    }
}
