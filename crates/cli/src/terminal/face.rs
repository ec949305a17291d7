//! What a session shows itself through, and who answers its questions.

use super::{
    chat::Chat,
    editor::edit,
    json,
    keys::{Heard, Keys, Wanted},
    plain::Plain,
    story,
};
use crate::report::Error;
use interpreter_agent::{Session, Update};
use interpreter_core::{
    Body, FileChange, Grantor, Record, Secret,
    record::{ChangesState, TurnEnd},
    session::{Answer, Echo, Event, InputWanted, Question, Settle, Typed},
};
use interpreter_store::Folders;
use std::io::{self, Write};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// One way of showing a session.
pub(crate) enum Face {
    /// JSON lines for scripts.
    Json,
    /// A chat.
    Chat(Chat),
    /// A program's output.
    Plain(Plain),
}

/// A person at a terminal, or nobody.
pub(crate) enum Person {
    Nobody,
    There { keys: Keys, editor: Option<String>, folders: Folders },
}

/// What becomes of staged changes when nobody is asked.
pub(crate) type Unasked = Settle;

/// A session, its face and its person.
pub(crate) struct Talk {
    pub(crate) session: Session,
    pub(crate) face: Face,
    pub(crate) person: Person,
    unasked: Unasked,
    interrupts: Signal,
    terminations: Signal,
    pressed: u32,
    /// The staged changes that were last listed.
    listed: Vec<FileChange>,
    /// The set that they are in.
    pub(crate) staged: Option<String>,
    reviews: Reviews,
}

/// When the person is asked what becomes of staged changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reviews {
    /// After each turn.
    EachTurn,
    /// When they leave. Then a run that went well is not told of either.
    AtTheEnd,
}

/// How a turn went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    Over(TurnEnd),
    /// The session is over with it.
    Last(TurnEnd),
}

enum Woken {
    Update(Option<Update>),
    Interrupt,
    Termination,
}

impl Talk {
    pub(crate) fn new(
        session: Session,
        face: Face,
        person: Person,
        unasked: Unasked,
    ) -> Result<Self, Error> {
        let interrupts = signal(SignalKind::interrupt())?;
        let terminations = signal(SignalKind::terminate())?;
        let (pressed, listed, staged) = (0, Vec::new(), None);
        let reviews = Reviews::EachTurn;
        Ok(Self {
            session,
            face,
            person,
            unasked,
            interrupts,
            terminations,
            pressed,
            listed,
            staged,
            reviews,
        })
    }

    /// The same, with reviews at another time.
    pub(crate) fn reviewed(self, reviews: Reviews) -> Self {
        Self { reviews, ..self }
    }

    /// Sends an event and shows what comes of it, until the turn is over.
    pub(crate) async fn turn(&mut self, event: Event) -> Result<Turn, Error> {
        self.pressed = 0;
        self.session.send(event);
        let mut end = TurnEnd::Interrupted;
        loop {
            let woken = tokio::select! {
                update = self.session.next() => Woken::Update(update),
                _ = self.interrupts.recv() => Woken::Interrupt,
                _ = self.terminations.recv() => Woken::Termination,
            };
            match woken {
                Woken::Update(None) => return Ok(Turn::Last(end)),
                Woken::Update(Some(Update::TurnFinished(finished))) => {
                    return Ok(Turn::Over(finished));
                }
                Woken::Update(Some(Update::Ended(result))) => {
                    result?;
                    return Ok(Turn::Last(end));
                }
                Woken::Update(Some(update)) => self.show(update).await?,
                Woken::Interrupt => {
                    self.pressed += 1;
                    // The first one stops what is under way, the second one everything.
                    let event = if self.pressed == 1 { Event::Interrupted } else { Event::Quit };
                    end = TurnEnd::Interrupted;
                    self.session.send(event);
                }
                Woken::Termination => self.session.send(Event::Quit),
            }
        }
    }

    /// Ends the session and waits until everything has stopped.
    pub(crate) async fn end(mut self) -> Result<(), Error> {
        self.finish().await
    }

    /// The same, and leaves the person there.
    pub(crate) async fn finish(&mut self) -> Result<(), Error> {
        self.session.send(Event::Quit);
        while let Some(update) = self.session.next().await {
            match update {
                Update::Ended(result) => return Ok(result?),
                Update::Records(records) => self.records(&records)?,
                Update::Live(_)
                | Update::Line(_)
                | Update::Ask(_)
                | Update::Input(_)
                | Update::Host(_)
                | Update::Review { .. }
                | Update::TurnFinished(_) => {}
            }
        }
        Ok(())
    }

    async fn show(&mut self, update: Update) -> Result<(), Error> {
        match update {
            Update::Records(records) => self.records(&records),
            Update::Live(live) => match &mut self.face {
                Face::Chat(chat) => Ok(chat.live(&live)?),
                Face::Json | Face::Plain(_) => Ok(()),
            },
            Update::Line(line) => match &mut self.face {
                Face::Chat(chat) => Ok(chat.line(line)?),
                Face::Json | Face::Plain(_) => Ok(()),
            },
            Update::Input(wanted) => self.input(&wanted).await,
            Update::Host(wanted) => self.host(&wanted).await,
            Update::Ask(question) => self.ask(&question).await,
            Update::Review { id, files } => self.review(&id, &files).await,
            // The caller's.
            Update::TurnFinished(_) | Update::Ended(_) => Ok(()),
        }
    }

    fn records(&mut self, records: &[Record]) -> Result<(), Error> {
        records.iter().try_for_each(|record| self.record(record))?;
        if matches!(self.face, Face::Json) {
            json::print(records)?;
        }
        Ok(())
    }

    fn record(&mut self, record: &Record) -> Result<(), Error> {
        if self.reviews == Reviews::AtTheEnd && self.goes_without_saying(&record.body) {
            return Ok(());
        }
        if let Body::Changes { state: ChangesState::Staged, files, id, .. } = &record.body {
            self.listed.clone_from(files);
            self.staged = Some(id.clone());
        }
        let shown = match &mut self.face {
            // All of them together.
            Face::Json => Ok(()),
            Face::Chat(chat) => chat.record(record),
            Face::Plain(plain) => plain.record(record),
        };
        Ok(shown?)
    }

    /// Whether a record is nothing new: that a run went well, what has been listed.
    #[expect(clippy::wildcard_enum_match_arm, reason = "all others are shown")]
    fn goes_without_saying(&self, body: &Body) -> bool {
        match body {
            Body::RunFinished { status: Some(0), signal: None, limit: None, .. } => true,
            Body::Changes { state: ChangesState::Staged, files, .. } => *files == self.listed,
            _ => false,
        }
    }

    async fn ask(&mut self, question: &Question) -> Result<(), Error> {
        let proposal = question.proposal.id.clone();
        if let Face::Chat(chat) = &mut self.face {
            chat.question(question)?;
        }
        let Person::There { keys, editor, folders } = &self.person else {
            if !matches!(self.face, Face::Json) {
                writeln!(
                    io::stderr(),
                    "Nobody is there to be asked, so it is not run. `--yes` answers beforehand."
                )?;
            }
            let answer = Answer::Reject { reason: None };
            self.session.send(Event::Answered { proposal, answer, by: Grantor::Nobody });
            return Ok(());
        };
        let answer = loop {
            writeln!(
                io::stdout(),
                "Run it?  y run · n reject · n REASON tell the model why · e edit · q quit"
            )?;
            let line = match keys.line(Wanted::Answer).await {
                Heard::Line(line) => line,
                Heard::Interrupted => break Answer::Reject { reason: None },
                Heard::Ended => {
                    self.session.send(Event::Quit);
                    return Ok(());
                }
            };
            match understood(&line) {
                Some(Said::Run) => break Answer::Run,
                Some(Said::Reject(reason)) => break Answer::Reject { reason },
                Some(Said::Edit) => {
                    if let Some(code) = edit(&question.proposal, editor.as_deref(), folders)? {
                        break Answer::Edit(code);
                    }
                    writeln!(io::stdout(), "The editor saved nothing, so nothing has changed.")?;
                }
                Some(Said::Quit) => {
                    self.session.send(Event::Quit);
                    return Ok(());
                }
                None => {}
            }
        };
        self.session.send(Event::Answered { proposal, answer, by: Grantor::Person });
        Ok(())
    }

    /// The code asks for a line. Nobody to ask means that there is no input.
    async fn input(&mut self, wanted: &InputWanted) -> Result<(), Error> {
        let Person::There { keys, .. } = &self.person else {
            self.session.send(Event::InputGiven(Typed::End));
            return Ok(());
        };
        if let Face::Chat(chat) = &mut self.face {
            let prompt = wanted.prompt.for_terminal_line(400);
            let proposal = &wanted.proposal;
            chat.say(&format!("{proposal} asks: {prompt}"))?;
        }
        let heard = match wanted.echo {
            Echo::Shown => keys.line(Wanted::Answer).await,
            Echo::Hidden => keys.line(Wanted::Secret).await,
        };
        let event = match (heard, wanted.echo) {
            (Heard::Line(line), Echo::Shown) => Event::InputGiven(Typed::Line(line)),
            (Heard::Line(line), Echo::Hidden) => {
                Event::InputGiven(Typed::Hidden(Secret::new(line)))
            }
            (Heard::Interrupted, _) => Event::Interrupted,
            (Heard::Ended, _) => Event::InputGiven(Typed::End),
        };
        self.session.send(event);
        Ok(())
    }

    async fn review(&mut self, id: &str, files: &[FileChange]) -> Result<(), Error> {
        if self.reviews == Reviews::AtTheEnd {
            self.session.send(Event::Decided(Settle::Later));
            return Ok(());
        }
        let Person::There { keys, .. } = &self.person else {
            if self.unasked == Settle::Later && !matches!(self.face, Face::Json) {
                writeln!(
                    io::stderr(),
                    "They are not in your folder yet. `interpreter changes diff` shows them, \
                     `interpreter changes apply` puts them there, `interpreter changes discard` \
                     forgets them."
                )?;
            }
            self.session.send(Event::Decided(self.unasked.clone()));
            return Ok(());
        };
        if files != self.listed {
            let lines = story::file_lines(files);
            write!(io::stdout(), "What would be applied now is not what was listed:\n{lines}")?;
        }
        let count = files.len();
        let noun = if count == 1 { "this change" } else { "these changes" };
        let decision = loop {
            writeln!(
                io::stdout(),
                "Keep {noun} (set {id})?  a apply to your folder · d discard · l later · s show"
            )?;
            let heard = keys.line(Wanted::Answer).await;
            let Heard::Line(line) = heard else { break Settle::Later };
            match line.trim().to_lowercase().as_str() {
                "a" | "apply" | "y" | "yes" => break Settle::Apply,
                "d" | "discard" => break Settle::Discard,
                "l" | "later" => break Settle::Later,
                "s" | "show" | "diff" => {
                    let diff = self.session.diff().await?;
                    if let Face::Chat(chat) = &mut self.face {
                        chat.quote(&diff)?;
                    }
                }
                _ => {}
            }
        };
        self.session.send(Event::Decided(decision));
        Ok(())
    }
}

/// An answer to a question, as it was typed.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    Run,
    Reject(Option<String>),
    Edit,
    Quit,
}

/// What a line means. An empty one means nothing: code does not run because Enter was pressed
/// once too often.
fn understood(line: &str) -> Option<Said> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    match (word.to_lowercase().as_str(), rest.trim()) {
        ("y" | "yes" | "run", "") => Some(Said::Run),
        ("n" | "no" | "reject", "") => Some(Said::Reject(None)),
        ("n" | "no" | "reject", reason) => Some(Said::Reject(Some(reason.to_owned()))),
        ("e" | "edit", "") => Some(Said::Edit),
        ("q" | "quit" | "exit", "") => Some(Said::Quit),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_runs_code() {
        assert_eq!(understood("y"), Some(Said::Run));
        assert_eq!(understood(" YES "), Some(Said::Run));
        for line in ["", "yes please", "ok", "r", "1"] {
            assert_eq!(understood(line), None, "{line}");
        }
    }

    #[test]
    fn a_no_can_carry_its_reason() {
        assert_eq!(understood("n"), Some(Said::Reject(None)));
        assert_eq!(understood("n use awk"), Some(Said::Reject(Some("use awk".into()))));
    }
}
