//! The question whether code may reach a host, and what is shown of hosts that it tried.

use super::{
    face::{Face, Person, Talk},
    keys::{Heard, Wanted},
};
use crate::report::Error;
use interpreter_core::{
    Admission, Body, Grantor, HostContact, Untrusted,
    session::{Event, Grant, HostAnswer, HostWanted},
};
use std::{
    fmt::Write as _,
    io::{self, Write},
};

/// How many hosts are listed by name.
const LISTED: usize = 30;

impl Talk {
    /// The code waits to reach a host. Nobody to ask means no.
    pub(super) async fn host(&mut self, wanted: &HostWanted) -> Result<(), Error> {
        let HostWanted { proposal, host, port } = wanted;
        let answer = |grant, by| HostAnswer {
            proposal: proposal.clone(),
            host: host.clone(),
            port: *port,
            grant,
            by,
        };
        let Person::There { keys, .. } = &self.person else {
            self.session.send(Event::HostAnswered(answer(None, Grantor::Nobody)));
            return Ok(());
        };
        if let Face::Chat(chat) = &mut self.face {
            chat.say(&format!("{proposal} wants to reach {}.", host.with_port(*port)))?;
        }
        let grant = loop {
            writeln!(
                io::stdout(),
                "Allow it?  o for this run · s for this session · a always · n no"
            )?;
            match keys.line(Wanted::Answer).await {
                Heard::Line(line) => {
                    if let Some(said) = understood(&line) {
                        break said.grant();
                    }
                }
                Heard::Interrupted => {
                    self.session.send(Event::HostAnswered(answer(None, Grantor::Person)));
                    self.session.send(Event::Interrupted);
                    return Ok(());
                }
                Heard::Ended => break None,
            }
        };
        self.session.send(Event::HostAnswered(answer(grant, Grantor::Person)));
        Ok(())
    }
}

/// An answer, as it was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Yes(Grant),
    No,
}

impl Said {
    fn grant(self) -> Option<Grant> {
        match self {
            Self::Yes(grant) => Some(grant),
            Self::No => None,
        }
    }
}

/// What a line means; none if it means nothing, as an empty one does.
fn understood(line: &str) -> Option<Said> {
    match line.trim().to_lowercase().as_str() {
        "o" | "once" => Some(Said::Yes(Grant::Once)),
        "s" | "session" => Some(Said::Yes(Grant::Session)),
        "a" | "always" => Some(Said::Yes(Grant::Always)),
        "n" | "no" => Some(Said::No),
        _ => None,
    }
}

/// What a record says of a host; none if it is about something else.
#[expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is about something else")]
pub(crate) fn tell(body: &Body) -> Option<String> {
    let place =
        |host: &str, port: u16| format!("{}:{port}", Untrusted::new(host).for_terminal_line(300));
    match body {
        Body::HostWanted { proposal, host, port } => {
            Some(format!("{proposal} wants to reach {}", place(host, *port)))
        }
        Body::HostGranted { host, port, granted, by, .. } => {
            let granted = format!("{granted:?} by {by:?}").to_lowercase();
            Some(format!("{} granted: {granted}", place(host, *port)))
        }
        Body::HostRefused { host, port, by, .. } => {
            let by = format!("{by:?}").to_lowercase();
            Some(format!("{} refused by {by}", place(host, *port)))
        }
        _ => None,
    }
}

/// One line for each host that was tried, indented.
pub(crate) fn lines(contacts: &[HostContact]) -> String {
    let mut text = String::new();
    for contact in contacts.iter().take(LISTED) {
        // Writing to a string cannot fail.
        _ = writeln!(text, "  {}", contact.line());
    }
    if contacts.len() > LISTED {
        _ = writeln!(text, "  and {} more", contacts.len() - LISTED);
    }
    text
}

/// Those that were not let through.
pub(crate) fn refused(contacts: &[HostContact]) -> Vec<HostContact> {
    contacts.iter().filter(|one| one.verdict == Admission::Refused).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_word_grants() {
        assert_eq!(understood(" O "), Some(Said::Yes(Grant::Once)));
        assert_eq!(understood("session"), Some(Said::Yes(Grant::Session)));
        assert_eq!(understood("a"), Some(Said::Yes(Grant::Always)));
        assert_eq!(understood("n"), Some(Said::No));
        for line in ["", "y", "yes", "ok", "once more"] {
            assert_eq!(understood(line), None, "{line}");
        }
    }
}
