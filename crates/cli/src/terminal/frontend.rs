//! The front end of a session: shows it, and puts its questions to a person.

use super::{
    answer::FinalAnswer,
    ask::{Asker, Left, choice},
    chat::{Chat, finding},
    editor,
    gallery::{Exhibit, Gallery},
    json,
    keyboard::Typing,
    listing,
    ours::{count, ours, word},
    pager,
    plain::Plain,
    screen::{Screen, Section},
    signals::{Asked, Signals},
    syntax::Syntax,
    transcript,
};
use crate::report::Error;
use interpreter_agent::{Context, Session, Update};
use interpreter_core::{
    Body, Changes, ChangesState, FileChange, Grantor, InputWanted, LeftOut, Record, Secret, Typed,
    forms,
    record::TurnEnd,
    session::{Answer, Event, Question, Settle},
};
use interpreter_store::{Environment, Folders};
use std::{future::pending, time::Instant};

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
    /// The staged changes that were last listed.
    listed: Vec<FileChange>,
    /// The set that they are in.
    pub(crate) staged: Option<String>,
    /// The exit status of the last run that failed, as shells have it.
    pub(crate) status: Option<u8>,
    /// Whether changes are reviewed when the session ends, and not after each turn.
    reviews_at_end: bool,
    gallery: Gallery,
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
            };
            match woken {
                Woken::Due => {
                    if let View::Chat(chat) = &mut self.view {
                        chat.pulse()?;
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

/// An answer to the question whether code may run.
#[derive(Clone, Copy, Debug)]
enum Said {
    Run,
    Reject,
    Why,
    Edit,
    Details,
    Quit,
}

/// An answer to the question whether changes are kept.
#[derive(Clone, Debug)]
pub(super) enum Keep {
    Settle(Settle),
    /// Show the diff.
    Show,
    /// Show every name.
    Names,
}

#[derive(Clone, Copy)]
enum KeepKey {
    Apply,
    Discard,
    Later,
    Show,
    Names,
}

impl Console {
    /// Asks whether code may run, as often as it takes. `None` means that the person leaves.
    async fn about_code(
        &mut self,
        screen: &mut Screen,
        question: &Question,
    ) -> Result<Option<Answer>, Left> {
        let choices = [
            choice('y', "run", Said::Run),
            choice('n', "reject", Said::Reject),
            choice('w', "reject and say why", Said::Why),
            choice('e', "edit", Said::Edit),
            choice('d', "details", Said::Details),
            choice('q', "quit", Said::Quit),
        ];
        loop {
            match self.asker.choose(screen, &ours("Run it?"), &choices).await? {
                Said::Run => return Ok(Some(Answer::Run)),
                Said::Reject => return Ok(Some(Answer::Reject { reason: None })),
                Said::Why => {
                    let draw = |screen: &mut Screen| screen.say("Why not? (sent to the model)");
                    let why = self.asker.line(screen, draw, Typing::Shown).await?;
                    let reason = Some(why.trim().to_owned()).filter(|why| !why.is_empty());
                    return Ok(Some(Answer::Reject { reason }));
                }
                Said::Edit => match self.edited(screen, question).await {
                    Some(code) => return Ok(Some(Answer::Edit(code))),
                    None => {
                        gone(screen.say("Nothing saved in the editor; the code is unchanged."))?;
                    }
                },
                Said::Details => self.details(screen, question).await?,
                Said::Quit => return Ok(None),
            }
        }
    }

    /// The code as the person's editor saved it.
    async fn edited(&mut self, screen: &mut Screen, question: &Question) -> Option<String> {
        let proposal = &question.proposal;
        let copy = editor::Copy {
            text: proposal.code().raw().to_owned(),
            name: format!("edit-{}-{}.txt", std::process::id(), proposal.id),
            folder: self.folders.make_cache_folder().ok()?.to_owned(),
        };
        let editor = self.editor.clone();
        let saved = self.asker.lend(move || editor::edit(&copy, editor.as_deref())).await?;
        match saved {
            Ok(code) => code,
            Err(error) => {
                // If that cannot be said, the terminal is gone, and the next question notices.
                _ = screen.error(&error.to_string(), None).is_ok();
                None
            }
        }
    }

    /// Shows the whole code and every finding.
    async fn details(&mut self, screen: &mut Screen, question: &Question) -> Result<(), Left> {
        let code = question.proposal.code();
        let section = Section::Code(Syntax::of(question.proposal.language.written_in()));
        let shown = pager::text(&mut self.asker, screen, section, code);
        shown.await.unwrap_or(Err(Left::Ended))?;
        let found = question.findings.by_severity();
        let rows: Vec<_> = found
            .iter()
            .map(|one| format!("{:<7} {}", one.severity.word(), finding(one)))
            .collect();
        gone(screen.say(count(rows.len(), "finding") + ":"))?;
        pager::rows(&mut self.asker, screen, &rows).await.unwrap_or(Err(Left::Ended))
    }

    /// Lists changes and asks whether they are kept.
    pub(super) async fn about_changes(
        &mut self,
        screen: &mut Screen,
        id: &str,
        files: &[FileChange],
        left_out: &[LeftOut],
    ) -> Result<Keep, Left> {
        let listing = listing::short(files);
        for row in &listing.rows {
            gone(screen.row(row))?;
        }
        if listing.folded > 0 {
            let folded = count(listing.folded, "file");
            gone(screen.say(folded + " not listed by name: press f."))?;
        }
        gone(transcript::left_out(screen, left_out))?;
        let noun = if files.len() == 1 { "this change" } else { "these changes" };
        let question = ours("Keep ") + noun + " (set " + word(id) + ")?";
        let choices = [
            choice('a', "apply to your folder", KeepKey::Apply),
            choice('d', "discard", KeepKey::Discard),
            choice('l', "later", KeepKey::Later),
            choice('s', "show the diff", KeepKey::Show),
            choice('f', "list every file", KeepKey::Names),
        ];
        Ok(match self.asker.choose(screen, &question, &choices).await? {
            KeepKey::Apply => Keep::Settle(Settle::Apply),
            KeepKey::Discard => Keep::Settle(Settle::Discard),
            KeepKey::Later => Keep::Settle(Settle::Later),
            KeepKey::Show => Keep::Show,
            KeepKey::Names => Keep::Names,
        })
    }
}

/// A terminal that cannot be written to is gone.
fn gone(written: std::io::Result<()>) -> Result<(), Left> {
    written.map_err(|_| Left::Ended)
}
