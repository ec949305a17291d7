//! The front end of a session: shows it, and puts its questions to a person.

use super::{
    answer::FinalAnswer,
    ask::{Asker, Left},
    changes_question::Keep,
    chat::Chat,
    gallery::{Exhibit, Gallery},
    json,
    keyboard::Typing,
    listing,
    ours::{count, word},
    pager,
    plain::Plain,
    screen::{Screen, Section},
    signals::{Asked, Signals},
    transcript,
};
use crate::report::Error;
use interpreter_agent::{Context, Session, Update};
use interpreter_core::{
    Body, Changes, ChangesState, FileChange, Grantor, InputWanted, Record, Secret, Typed, forms,
    record::TurnEnd,
    session::{Answer, Event, Question, Settle},
};
use interpreter_store::{Environment, Folders};
use std::{collections::HashSet, future::pending, time::Instant};
use tokio::sync::watch;

/// One way of showing a session.
pub(crate) enum View {
    /// JSON lines for scripts.
    Json,
    /// A chat.
    Chat(Box<Chat>),
    /// A program's output.
    Plain(Box<Plain>),
    /// The answer alone.
    Quiet(Box<FinalAnswer>),
}

impl View {
    /// The screen for rows of ours, if there is one.
    pub(crate) fn screen(&mut self) -> Option<&mut Screen> {
        match self {
            Self::Json => None,
            Self::Chat(chat) => Some(chat.screen()),
            Self::Plain(plain) => plain.screen().ok(),
            Self::Quiet(answer) => Some(answer.screen()),
        }
    }
}

/// Whether a person is there to answer.
pub(crate) enum Person {
    Nobody(Signals),
    Present(Box<Console>),
}

/// The means to ask a person at a terminal.
pub(crate) struct Console {
    pub(crate) asker: Asker,
    pub(crate) editor: Option<String>,
    pub(crate) folders: Folders,
}

impl Person {
    fn signals(&mut self) -> &mut Signals {
        match self {
            Self::Nobody(signals) => signals,
            Self::Present(console) => &mut console.asker.signals,
        }
    }
}

/// The decision on staged changes if nobody is asked.
pub(crate) type Unasked = Settle;

/// A session, its view and the person at the terminal.
pub(crate) struct Frontend {
    pub(crate) session: Session,
    pub(crate) view: View,
    pub(crate) person: Person,
    unasked: Unasked,
    pressed: u32,
    /// The staged changes that were last listed and not decided on.
    pub(crate) listed: Vec<FileChange>,
    /// The set that they are in.
    pub(crate) staged: Option<String>,
    /// The exit status of the last run that failed, as shells have it.
    pub(crate) status: Option<u8>,
    /// Whether changes are reviewed when the session ends, and not after each turn.
    reviews_at_end: bool,
    gallery: Gallery,
    /// The line that the person is typing while something else is going on.
    drafts: Option<watch::Receiver<String>>,
    /// Whether records are shown that are usually not.
    pub(crate) is_verbose: bool,
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
    Signal(Asked),
    /// Something takes long enough to tell of it.
    Due,
    /// The person types their next prompt.
    Drafted(String),
}

/// The next draft, if there ever is one.
async fn drafted(drafts: &mut Option<watch::Receiver<String>>) -> String {
    let Some(drafts) = drafts else { return pending().await };
    match drafts.changed().await {
        Ok(()) => drafts.borrow_and_update().clone(),
        Err(_) => pending().await,
    }
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due.into()).await,
        None => pending().await,
    }
}

impl Frontend {
    pub(crate) fn new(
        context: &Context,
        session: Session,
        view: View,
        person: Person,
        unasked: Unasked,
    ) -> Self {
        let drafts = match &person {
            Person::Present(console) => Some(console.asker.drafts()),
            Person::Nobody(_) => None,
        };
        let gallery = Gallery::new(&context.folders, &context.environment, &session.id);
        Self {
            session,
            view,
            person,
            unasked,
            pressed: 0,
            listed: Vec::new(),
            staged: None,
            status: None,
            reviews_at_end: false,
            gallery,
            drafts,
            is_verbose: false,
        }
    }

    /// The same, with one review when the session ends.
    pub(crate) fn reviewed_at_end(self) -> Self {
        Self { reviews_at_end: true, ..self }
    }

    /// Sends an event and shows what comes of it, until the turn is over.
    pub(crate) async fn turn(&mut self, event: Event) -> Result<Turn, Error> {
        self.pressed = 0;
        self.session.send(event);
        let mut end = TurnEnd::Interrupted;
        loop {
            let due = self.due();
            let woken = tokio::select! {
                update = self.session.next() => Woken::Update(update),
                asked = self.person.signals().next() => Woken::Signal(asked),
                () = until(due) => Woken::Due,
                draft = drafted(&mut self.drafts) => Woken::Drafted(draft),
            };
            match woken {
                Woken::Due => {
                    if let View::Chat(chat) = &mut self.view {
                        chat.pulse()?;
                    }
                }
                Woken::Drafted(draft) => {
                    if let View::Chat(chat) = &mut self.view {
                        chat.typed(draft)?;
                    }
                }
                Woken::Update(None) => return Ok(Turn::Last(end)),
                Woken::Update(Some(Update::TurnFinished(finished))) => {
                    return Ok(Turn::Over(finished));
                }
                Woken::Update(Some(Update::Ended(result))) => {
                    result?;
                    return Ok(Turn::Last(end));
                }
                Woken::Update(Some(update)) => self.show(update).await?,
                Woken::Signal(asked) => {
                    end = TurnEnd::Interrupted;
                    self.signalled(asked).await;
                }
            }
        }
    }

    /// When there is something to tell although nothing happens.
    fn due(&self) -> Option<Instant> {
        match &self.view {
            View::Chat(chat) => chat.due(),
            View::Json | View::Plain(_) | View::Quiet(_) => None,
        }
    }

    async fn signalled(&mut self, asked: Asked) {
        match asked {
            Asked::Interrupt => {
                self.pressed += 1;
                // The first one stops what is under way, the second one everything.
                let event = if self.pressed == 1 { Event::Interrupted } else { Event::Quit };
                self.session.send(event);
            }
            Asked::End => self.session.send(Event::Quit),
            Asked::Suspend => {
                if let Person::Present(console) = &mut self.person {
                    console.asker.suspend().await;
                }
            }
            Asked::Continue => {
                if let Person::Present(console) = &self.person {
                    console.asker.take_terminal();
                }
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
                Update::Records(records) => self.records(&records).await?,
                Update::Live(_)
                | Update::Headway(_)
                | Update::Line(_)
                | Update::Ask(_)
                | Update::Input(_)
                | Update::Host(_)
                | Update::Packages(_)
                | Update::Review(_)
                | Update::TurnFinished(_) => {}
            }
        }
        Ok(())
    }

    async fn show(&mut self, update: Update) -> Result<(), Error> {
        match update {
            Update::Records(records) => self.records(&records).await,
            Update::Live(live) => match &mut self.view {
                View::Chat(chat) => Ok(chat.live(&live)?),
                View::Json | View::Plain(_) | View::Quiet(_) => Ok(()),
            },
            Update::Headway(headway) => match &mut self.view {
                View::Chat(chat) => Ok(chat.headway(headway)?),
                View::Json | View::Plain(_) | View::Quiet(_) => Ok(()),
            },
            Update::Line(line) => match &mut self.view {
                View::Chat(chat) => Ok(chat.line(line)?),
                View::Json | View::Plain(_) | View::Quiet(_) => Ok(()),
            },
            Update::Input(wanted) => self.input(&wanted).await,
            Update::Host(wanted) => self.host(&wanted).await,
            Update::Packages(question) => self.packages(&question).await,
            Update::Ask(question) => self.ask(&question).await,
            Update::Review(changes) => self.review(&changes).await,
            // The caller's.
            Update::TurnFinished(_) | Update::Ended(_) => Ok(()),
        }
    }

    async fn records(&mut self, records: &[Record]) -> Result<(), Error> {
        for record in records {
            let exhibit = self.exhibit(&record.body).await?;
            self.record(record)?;
            match (&mut self.view, exhibit) {
                (View::Chat(chat), Some(exhibit)) => chat.exhibit(&exhibit)?,
                (View::Plain(plain), Some(exhibit)) => plain.exhibit(&exhibit)?,
                (View::Chat(_) | View::Plain(_), None) | (View::Json | View::Quiet(_), _) => {}
            }
        }
        if matches!(self.view, View::Json) {
            json::print(records)?;
        }
        Ok(())
    }

    /// A result that is more than text, as files and perhaps a picture. The terminal is asked once
    /// how it can show one, while the code runs that made the first.
    async fn exhibit(&mut self, body: &Body) -> Result<Option<Exhibit>, Error> {
        let Body::Output(output) = body else { return Ok(None) };
        if !forms::has_forms(output) {
            return Ok(None);
        }
        let canvas = match &mut self.view {
            View::Json | View::Quiet(_) => return Ok(None),
            View::Chat(chat) => chat.screen(),
            View::Plain(plain) => plain.canvas(),
        };
        let room = canvas.room();
        let opens = match &self.person {
            Person::Present(console) => {
                if room.is_some() && self.gallery.wants_graphics() {
                    canvas.close()?;
                    self.gallery.use_graphics(console.asker.graphics().await);
                }
                true
            }
            Person::Nobody(_) => false,
        };
        Ok(Some(self.gallery.take(output, room, opens).await))
    }

    /// Opens a result in the person's own viewer.
    pub(crate) async fn open(
        &mut self,
        name: Option<&str>,
        environment: &Environment,
    ) -> Result<(), Error> {
        let Some(screen) = self.view.screen() else { return Ok(()) };
        Ok(self.gallery.open(name, environment, screen).await?)
    }

    fn record(&mut self, record: &Record) -> Result<(), Error> {
        if let Some((ending, _)) = transcript::Ending::of(&record.body) {
            self.status = ending.failed_with();
        }
        if let View::Chat(chat) = &mut self.view {
            chat.notice(&record.body);
        }
        if self.reviews_at_end && self.goes_without_saying(&record.body) {
            return Ok(());
        }
        if let Body::Changes(Changes { state: ChangesState::Staged, files, id, .. }) = &record.body
        {
            self.listed.clone_from(files);
            self.staged = Some(id.clone());
            // The question at the end of the turn lists them.
            if let (Person::Present(_), false) = (&self.person, self.reviews_at_end)
                && let Some(screen) = self.view.screen()
            {
                let words = count(files.len(), "file") + " staged (set " + word(id) + ")";
                return Ok(screen.say_quietly(words)?);
            }
        }
        if let Body::Changes(Changes { state, files: decided, .. }) = &record.body
            && *state != ChangesState::Staged
        {
            let decided: HashSet<_> = decided.iter().map(|file| file.path.as_str()).collect();
            self.listed.retain(|file| !decided.contains(file.path.as_str()));
        }
        if self.is_verbose
            && let Some(screen) = self.view.screen()
            && transcript::is_behind_the_scenes(&record.body)
        {
            return Ok(transcript::tell(screen, record)?);
        }
        let shown = match &mut self.view {
            // All of them together.
            View::Json => Ok(()),
            View::Chat(chat) => chat.record(record),
            View::Plain(plain) => plain.record(record),
            View::Quiet(answer) => answer.record(record),
        };
        Ok(shown?)
    }

    /// Whether a record is nothing new: a run that went well, changes that have been listed.
    #[expect(clippy::wildcard_enum_match_arm, reason = "all others are shown")]
    fn goes_without_saying(&self, body: &Body) -> bool {
        match body {
            Body::RunFinished { status: Some(0), signal: None, limit: None, .. } => true,
            Body::Changes(Changes { state: ChangesState::Staged, files, .. }) => {
                *files == self.listed
            }
            _ => false,
        }
    }

    async fn ask(&mut self, question: &Question) -> Result<(), Error> {
        let proposal = question.proposal.id.clone();
        if let View::Chat(chat) = &mut self.view {
            chat.question(question)?;
        }
        let (Person::Present(console), Some(screen)) = (&mut self.person, self.view.screen())
        else {
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
    async fn input(&mut self, wanted: &InputWanted) -> Result<(), Error> {
        let (Person::Present(console), Some(screen)) = (&mut self.person, self.view.screen())
        else {
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

    async fn review(&mut self, changes: &Changes) -> Result<(), Error> {
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
