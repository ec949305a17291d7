//! Shows a session, and has a person answer its questions.

use super::{
    ask::{Asker, Left, choice},
    chat::{Chat, finding},
    editor, json,
    keyboard::Typing,
    listing,
    ours::{count, ours, word},
    pager,
    plain::Plain,
    screen::{Screen, Section},
    signals::{Asked, Signals},
    story,
};
use crate::report::Error;
use interpreter_agent::{Session, Update};
use interpreter_core::{
    Body, FileChange, Grantor, LeftOut, Record, Secret,
    record::{ChangesState, TurnEnd},
    session::{Answer, Echo, Event, InputWanted, Question, Settle, Typed},
};
use interpreter_store::Folders;

/// One way of showing a session.
pub(crate) enum Face {
    /// JSON lines for scripts.
    Json,
    /// A chat.
    Chat(Box<Chat>),
    /// A program's output.
    Plain(Box<Plain>),
}

impl Face {
    /// The screen for rows of ours, if there is one.
    pub(crate) fn screen(&mut self) -> Option<&mut Screen> {
        match self {
            Self::Json => None,
            Self::Chat(chat) => Some(chat.screen()),
            Self::Plain(plain) => plain.screen().ok(),
        }
    }
}

/// A person at a terminal, or nobody.
pub(crate) enum Person {
    Nobody(Signals),
    There(Box<There>),
}

/// A person at a terminal.
pub(crate) struct There {
    pub(crate) asker: Asker,
    pub(crate) editor: Option<String>,
    pub(crate) folders: Folders,
}

impl Person {
    fn signals(&mut self) -> &mut Signals {
        match self {
            Self::Nobody(signals) => signals,
            Self::There(there) => &mut there.asker.signals,
        }
    }
}

/// What becomes of staged changes when nobody is asked.
pub(crate) type Unasked = Settle;

/// A session, its face and its person.
pub(crate) struct Talk {
    pub(crate) session: Session,
    pub(crate) face: Face,
    pub(crate) person: Person,
    unasked: Unasked,
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
    /// When they leave. Then a run that went well is not reported either.
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
    Signal(Asked),
}

impl Talk {
    pub(crate) fn new(session: Session, face: Face, person: Person, unasked: Unasked) -> Self {
        let (pressed, listed, staged) = (0, Vec::new(), None);
        let reviews = Reviews::EachTurn;
        Self { session, face, person, unasked, pressed, listed, staged, reviews }
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
                asked = self.person.signals().next() => Woken::Signal(asked),
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
                Woken::Signal(asked) => {
                    end = TurnEnd::Interrupted;
                    self.signalled(asked).await;
                }
            }
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
                if let Person::There(there) = &mut self.person {
                    there.asker.suspend().await;
                }
            }
            Asked::Continue => {
                if let Person::There(there) = &self.person {
                    there.asker.take_terminal();
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
            Update::Review { id, files, left_out } => self.review(&id, &files, &left_out).await,
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
            // The question at the end of the turn lists them.
            if let (Person::There(_), Reviews::EachTurn) = (&self.person, self.reviews)
                && let Some(screen) = self.face.screen()
            {
                let words = count(files.len(), "file") + " staged (set " + word(id) + ")";
                return Ok(screen.say_quietly(words)?);
            }
        }
        let shown = match &mut self.face {
            // All of them together.
            Face::Json => Ok(()),
            Face::Chat(chat) => chat.record(record),
            Face::Plain(plain) => plain.record(record),
        };
        Ok(shown?)
    }

    /// Whether a record is nothing new: a run that went well, changes that have been listed.
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
        let (Person::There(there), Some(screen)) = (&mut self.person, self.face.screen()) else {
            if let Some(screen) = self.face.screen() {
                screen.say("Not run: no terminal to ask on. Use `--yes` to approve in advance.")?;
            }
            let answer = Answer::Reject { reason: None };
            self.session.send(Event::Answered { proposal, answer, by: Grantor::Nobody });
            return Ok(());
        };
        let answer = match there.about_code(screen, question).await {
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
        let (Person::There(there), Some(screen)) = (&mut self.person, self.face.screen()) else {
            self.session.send(Event::InputGiven(Typed::End));
            return Ok(());
        };
        let (typing, words) = match wanted.echo {
            Echo::Shown => (Typing::Shown, " asks you for a line, which goes to the code:"),
            Echo::Hidden => {
                (Typing::Hidden, " asks you for a secret, which goes to the code (hidden):")
            }
        };
        let draw = |screen: &mut Screen| {
            screen.say(word(&wanted.proposal) + words)?;
            screen.quote(Section::Output, &wanted.prompt)
        };
        let event = match (there.asker.line(screen, draw, typing).await, wanted.echo) {
            (Ok(line), Echo::Shown) => Event::InputGiven(Typed::Line(line)),
            (Ok(line), Echo::Hidden) => Event::InputGiven(Typed::Hidden(Secret::new(line))),
            (Err(Left::Interrupted), _) => Event::Interrupted,
            (Err(Left::Ended), _) => Event::InputGiven(Typed::End),
            (Err(Left::Terminated), _) => Event::Quit,
        };
        self.session.send(event);
        Ok(())
    }

    async fn review(
        &mut self,
        id: &str,
        files: &[FileChange],
        left_out: &[LeftOut],
    ) -> Result<(), Error> {
        if self.reviews == Reviews::AtTheEnd {
            self.session.send(Event::Decided(Settle::Later));
            return Ok(());
        }
        let Self { person, face, session, unasked, .. } = self;
        let (Person::There(there), Some(screen)) = (person, face.screen()) else {
            if let (Settle::Later, Some(screen)) = (&*unasked, face.screen()) {
                screen.say(
                    "Not in your folder yet. Review: `interpreter changes diff`; \
                     keep: `interpreter changes apply`; drop: `interpreter changes discard`.",
                )?;
            }
            session.send(Event::Decided(unasked.clone()));
            return Ok(());
        };
        let decision = loop {
            match there.about_changes(screen, id, files, left_out).await {
                Ok(Keep::Settle(decision)) => break Ok(decision),
                Ok(Keep::Show) => {
                    let diff = session.diff().await?;
                    if let Err(left) = pager::text(&mut there.asker, screen, &diff).await? {
                        break Err(left);
                    }
                }
                Ok(Keep::Names) => {
                    let rows = listing::whole(files).rows;
                    if let Err(left) = pager::rows(&mut there.asker, screen, &rows).await? {
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

impl There {
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
                    let draw = |screen: &mut Screen| screen.say("Why not? The model reads it.");
                    let why = self.asker.line(screen, draw, Typing::Shown).await?;
                    let reason = Some(why.trim().to_owned()).filter(|why| !why.is_empty());
                    return Ok(Some(Answer::Reject { reason }));
                }
                Said::Edit => match self.edited(screen, question).await {
                    Some(code) => return Ok(Some(Answer::Edit(code))),
                    None => gone(screen.say("The editor saved nothing, so nothing has changed."))?,
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
            code: proposal.code().raw().to_owned(),
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
        pager::code(&mut self.asker, screen, code).await.unwrap_or(Err(Left::Ended))?;
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
        gone(story::left_out(screen, left_out))?;
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
