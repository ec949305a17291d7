//! The front end of a session: shows it, and puts its questions to a person.

use super::{
    countdown::Countdown,
    gallery::{Exhibit, Gallery},
    json,
    ours::{count, ours, word},
    person::Person,
    run_clock::RunClock,
    screen::Screen,
    signals::Asked,
    transcript,
    view::View,
};
use crate::report::Error;
use interpreter_agent::{Context, Session, Update};
use interpreter_core::{
    Body, Changes, ChangesState, FileChange, Record, forms, record::TurnEnd, session::Event,
};
use interpreter_store::Environment;
use std::{
    collections::{HashSet, VecDeque},
    future::pending,
    time::Instant,
};
use tokio::sync::watch;

/// The decision on staged changes if nobody is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unasked {
    Apply,
    Discard,
    /// They stay staged.
    Later,
}

/// A session, its view and the person at the terminal.
pub(crate) struct Frontend {
    pub(crate) session: Session,
    pub(crate) view: View,
    pub(crate) person: Person,
    pub(super) unasked: Unasked,
    pressed: u32,
    /// The staged changes that were last listed and not decided on.
    pub(crate) listed: Vec<FileChange>,
    /// The set that they are in.
    pub(crate) staged: Option<String>,
    /// The exit status of the last run that failed, as shells have it.
    pub(crate) status: Option<u8>,
    /// Whether changes are reviewed when the session ends, and not after each turn.
    pub(super) reviews_at_end: bool,
    /// The time that a turn may take.
    clock: Countdown,
    /// How long a run has been going on.
    pub(super) run_clock: RunClock,
    /// Updates that came while a question waited, to be shown first.
    pub(super) early: VecDeque<Update>,
    /// For a sentence that is not of the output, where that is read by a program.
    pub(super) stderr: Screen,
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
    /// The turn has used up its time.
    TimeUp,
    /// A run has been going on for long.
    RunsLong,
}

/// The next draft, if there ever is one.
async fn drafted(drafts: &mut Option<watch::Receiver<String>>) -> String {
    let Some(drafts) = drafts else { return pending().await };
    match drafts.changed().await {
        Ok(()) => drafts.borrow_and_update().clone(),
        Err(_) => pending().await,
    }
}

/// The next update: one that came early, or the session's.
async fn next_update(early: &mut VecDeque<Update>, session: &mut Session) -> Option<Update> {
    match early.pop_front() {
        Some(update) => Some(update),
        None => session.next().await,
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
            Person::Present(console) | Person::Called(console, _) => console.asker.drafts(),
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
            clock: Countdown::default(),
            run_clock: RunClock::new(context.settings.asks_after()),
            early: VecDeque::new(),
            stderr: Screen::stderr(&context.environment).named_elsewhere("interpreter: "),
            gallery,
            drafts,
            is_verbose: false,
        }
    }

    /// The same, with one review when the session ends.
    pub(crate) fn reviewed_at_end(self) -> Self {
        Self { reviews_at_end: true, ..self }
    }

    /// The same, with this many seconds for a turn.
    pub(crate) fn timed(self, seconds: Option<u64>) -> Self {
        Self { clock: Countdown::new(seconds), ..self }
    }

    /// Shows everything from now on and folds nothing, or folds what is long.
    pub(crate) fn be_verbose(&mut self, wanted: bool) {
        self.is_verbose = wanted;
        if let Some(screen) = self.view.screen() {
            screen.be_folding(!wanted);
        }
    }

    /// Sends an event and shows what comes of it, until the turn is over.
    pub(crate) async fn turn(&mut self, event: Event) -> Result<Turn, Error> {
        self.clock.begin();
        self.go_on(event).await
    }

    /// The same, in the time that is left of the turn before.
    pub(crate) async fn go_on(&mut self, event: Event) -> Result<Turn, Error> {
        self.pressed = 0;
        self.session.send(event);
        let mut end = TurnEnd::Interrupted;
        loop {
            let (due, time_up, long) = (self.due(), self.clock.due(), self.run_clock.due());
            let woken = tokio::select! {
                update = next_update(&mut self.early, &mut self.session) => Woken::Update(update),
                asked = self.person.signals().next() => Woken::Signal(asked),
                () = until(due) => Woken::Due,
                draft = drafted(&mut self.drafts) => Woken::Drafted(draft),
                () = until(time_up) => Woken::TimeUp,
                () = until(long) => Woken::RunsLong,
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
                Woken::TimeUp => {
                    let seconds = self.clock.stop();
                    self.session.send(Event::TimeUp(seconds));
                }
                Woken::RunsLong => {
                    let event = self.run_clock.ring();
                    self.session.send(event);
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
            Asked::End | Asked::Gone => self.session.send(Event::Quit),
            Asked::Suspend => {
                if let Person::Present(console) | Person::Called(console, _) = &mut self.person {
                    console.asker.suspend().await;
                }
            }
            Asked::Continue => {
                if let Person::Present(console) | Person::Called(console, _) = &self.person {
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
        while let Some(update) = next_update(&mut self.early, &mut self.session).await {
            match update {
                Update::Ended(result) => return Ok(result?),
                Update::Records(records) => self.records(&records).await?,
                Update::Live(_)
                | Update::Headway(_)
                | Update::Line(_)
                | Update::Ask(_)
                | Update::Input(_)
                | Update::LongRun(_)
                | Update::Host(_)
                | Update::Packages(_)
                | Update::Replay(_)
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
            question @ (Update::Input(_)
            | Update::Host(_)
            | Update::Packages(_)
            | Update::Replay(_)
            | Update::Ask(_)
            | Update::Review(_)) => {
                // Whoever thinks about it takes none of the turn's time.
                self.clock.pause();
                self.run_clock.pause();
                let put = self.put(question).await;
                self.clock.resume();
                self.run_clock.resume();
                put
            }
            // The code runs meanwhile, and its turn with it.
            Update::LongRun(run) => self.long_run(&run).await,
            // The caller's.
            Update::TurnFinished(_) | Update::Ended(_) => Ok(()),
        }
    }

    /// Puts a question.
    async fn put(&mut self, question: Update) -> Result<(), Error> {
        match question {
            Update::Input(wanted) => self.input(&wanted).await,
            Update::Host(wanted) => self.host(&wanted).await,
            Update::Packages(question) => self.packages(&question).await,
            Update::Replay(question) => self.replay(&question).await,
            Update::Ask(question) => self.ask(&question).await,
            Update::Review(changes) => self.review(&changes).await,
            Update::Records(_)
            | Update::Live(_)
            | Update::Headway(_)
            | Update::Line(_)
            | Update::LongRun(_)
            | Update::TurnFinished(_)
            | Update::Ended(_) => Ok(()),
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
        let held = self.view.hold_input();
        let canvas = match &mut self.view {
            View::Json | View::Quiet(_) => return Ok(None),
            View::Chat(chat) => chat.screen(),
            View::Plain(plain) => plain.canvas(),
        };
        let room = canvas.room();
        let (asker, opens) = match &self.person {
            Person::Present(console) => (Some(&console.asker), true),
            Person::Called(console, _) => (Some(&console.asker), false),
            Person::Nobody(_) => (None, false),
        };
        if let Some(asker) = asker.filter(|asker| asker.is_at_output())
            && room.is_some()
            && self.gallery.wants_graphics()
            && let Some(_lock) = asker.try_lock()
        {
            canvas.close()?;
            self.gallery.use_graphics(asker.graphics().await);
        }
        drop(held);
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
        self.run_clock.heed(&record.body);
        if let Body::TurnFinished { end: TurnEnd::TimedOut } = &record.body {
            self.tell_time()?;
        }
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
                if files.is_empty() {
                    return Ok(());
                }
                let words = count(files.len(), "file") + " staged (set " + word(id) + ")";
                return Ok(screen.say_quietly(words)?);
            }
        }
        if let Body::Changes(Changes { state, files: decided, .. }) = &record.body
            && *state != ChangesState::Staged
        {
            // Of those applied in part, the rest is still there.
            let decided = decided.iter().filter(|file| file.about.hunks.is_none());
            let decided: HashSet<_> = decided.map(|file| file.path.as_str()).collect();
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

    /// Tells that the time was over, apart from output that a program reads.
    fn tell_time(&mut self) -> Result<(), Error> {
        let mut words = ours("Stopped at the time limit of the turn (")
            + self.clock.seconds()
            + " s; `--time-limit` raises it).";
        if !self.listed.is_empty() {
            words = words + " Changes so far are staged; see `interpreter changes`.";
        }
        let screen = match &mut self.view {
            View::Chat(chat) if chat.is_at_terminal() => chat.screen(),
            View::Quiet(answer) => answer.screen(),
            View::Chat(_) | View::Plain(_) | View::Json => &mut self.stderr,
        };
        Ok(screen.warn(words)?)
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
}
