//! The one way to ask.
//!
//! Draws the question, has the [keyboard](super::keyboard) wait until it is on the screen and
//! until nobody is typing any more, and only then takes an answer. There is no other way to one:
//! whether code runs, a host is reached, changes are kept, a file is trusted or a model is
//! downloaded is decided by a key that was pressed at the question.

use super::{
    device::{Device, is_controlling},
    keyboard::{Heard, Keyboard, Typing},
    line_editor::suspend,
    ours::{Ours, ours},
    own_rows::own_mark,
    person::Questions,
    picture::Graphics,
    screen::Screen,
    signals::{Asked, Signals},
    style::Style,
    terminal_lock::{LockHandle, LockPlace, TerminalLock},
};
use crate::report::Error;
use interpreter_core::{Background, Confinement};
use interpreter_store::Environment;
use reedline::Reedline;
use tokio::sync::watch;

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D, or the terminal is gone.
    Ended,
    /// The program received a signal to end.
    Terminated,
    /// Nobody can be asked.
    Nobody(Absence),
}

/// Why nobody can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absence {
    /// There is no terminal, or this program is in its background.
    NoTerminal,
    /// Another program reads its keys.
    TerminalTaken,
}

impl Absence {
    /// Why code did not run, and what to do.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::NoTerminal => {
                "Not run: no terminal to ask on. Use `--yes` to approve in advance."
            }
            Self::TerminalTaken => {
                "Not run: another program reads this terminal. Redirect the output to a file, or \
                 use `--yes` to approve in advance."
            }
        }
    }
}

/// One answer that can be given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice<T> {
    /// The key that gives it.
    pub(crate) key: char,
    /// The words beside the key, unless a row above has them.
    pub(crate) label: &'static str,
    pub(crate) means: T,
}

/// An answer that can be given.
pub(crate) const fn choice<T>(key: char, label: &'static str, means: T) -> Choice<T> {
    Choice { key, label, means }
}

/// A person at a terminal, and the ways to ask them.
#[derive(Debug)]
pub(crate) struct Asker {
    board: Board,
    pub(super) signals: Signals,
    /// Before the mark that a person types behind.
    warning: &'static str,
}

/// How the keyboard is held.
#[derive(Debug)]
enum Board {
    /// All the time: what is typed between questions is the draft of a prompt.
    Kept(Keyboard),
    /// Only while a question waits. Otherwise the terminal is somebody else's: the code's, or that of
    /// the programs before and behind us in a pipe.
    /// One of us at a time.
    Taken { device: Device, is_smart: bool, place: LockPlace, lock: LockHandle },
}

impl Board {
    /// The keyboard for one question; the terminal is let go of when it is dropped.
    fn take(&self) -> Result<Taken<'_>, Left> {
        match self {
            Self::Kept(keyboard) => Ok(Taken::Kept(keyboard)),
            Self::Taken { device, is_smart, .. } => {
                reach(device)?;
                let keyboard = Keyboard::start(device, *is_smart, Reedline::create);
                Ok(Taken::ForNow(Box::new(keyboard.map_err(|_| Left::Ended)?)))
            }
        }
    }
}

/// Whether a question can be put at a terminal that is not ours all the time.
fn reach(device: &Device) -> Result<(), Left> {
    if !device.is_ours() {
        return Err(Left::Nobody(Absence::NoTerminal));
    }
    if !device.is_free() {
        return Err(Left::Nobody(Absence::TerminalTaken));
    }
    Ok(())
}

/// Waits for a lock or for a signal.
async fn wait_for<T>(lock: impl Future<Output = T>, signals: &mut Signals) -> Result<T, Left> {
    tokio::pin!(lock);
    loop {
        tokio::select! {
            taken = &mut lock => return Ok(taken),
            asked = signals.next() => match asked {
                Asked::Interrupt => return Err(Left::Interrupted),
                Asked::End => return Err(Left::Terminated),
                Asked::Gone => return Err(Left::Ended),
                Asked::Suspend => suspend(),
                Asked::Continue => {}
            },
        }
    }
}

/// A keyboard that is held for a question.
enum Taken<'a> {
    Kept(&'a Keyboard),
    ForNow(Box<Keyboard>),
}

impl std::ops::Deref for Taken<'_> {
    type Target = Keyboard;

    fn deref(&self) -> &Keyboard {
        match self {
            Self::Kept(keyboard) => keyboard,
            Self::ForNow(keyboard) => keyboard,
        }
    }
}

/// Marks behind which a person types.
const PROMPT: &str = "> ";
const ANSWER: &str = "? ";

impl Asker {
    /// Takes the terminal. The editor is for prompts.
    pub(crate) fn start(
        environment: &Environment,
        editor: impl FnOnce() -> Reedline + Send + 'static,
    ) -> Result<Self, Error> {
        // Another of us may be asking here: its question comes first, and its modes are not usual.
        let asked = (!Device::Standard.is_free()).then(|| LockPlace::find(environment).take_now());
        // Before the terminal is quiet, so that it is set back whatever comes.
        let signals = Signals::at_terminal()?;
        let is_smart = environment.text("TERM") != Some("dumb");
        let keyboard = Keyboard::start(&Device::Standard, is_smart, editor)?;
        drop(asked);
        keyboard.use_colours(Style::new(true, environment).has_colour());
        Ok(Self { board: Board::Kept(keyboard), signals, warning: "" })
    }

    /// Has the person called to the controlling terminal for each question, where standard input or
    /// output is no terminal or is the code's. `None` if there is no such terminal.
    pub(crate) fn calling(environment: &Environment) -> Result<Option<Self>, Error> {
        let Some(device) = Device::controlling() else { return Ok(None) };
        let is_smart = environment.text("TERM") != Some("dumb");
        let (place, lock) = (LockPlace::find(environment), LockHandle::default());
        let board = Board::Taken { device, is_smart, place, lock };
        Ok(Some(Self { board, signals: Signals::that_may_stop()?, warning: "" }))
    }

    /// Waits until nobody else of us asks at the terminal, which is then kept for questions as long as
    /// the lock lives. Nothing may be drawn for a question before.
    pub(crate) async fn lock(&mut self) -> Result<TerminalLock, Left> {
        let Self { board: Board::Taken { device, place, lock, .. }, signals, .. } = self else {
            return Ok(TerminalLock::default());
        };
        // In the background nothing is waited for.
        if !device.is_ours() {
            return Err(Left::Nobody(Absence::NoTerminal));
        }
        let taken = match place.try_take() {
            Some(taken) => taken,
            None => wait_for(place.take(), signals).await?,
        };
        reach(device)?;
        *lock = taken.handle();
        Ok(taken)
    }

    /// The same, unless it would have to be waited for.
    pub(super) fn try_lock(&self) -> Option<TerminalLock> {
        match &self.board {
            Board::Kept(_) => Some(TerminalLock::default()),
            Board::Taken { device, place, .. } => {
                let taken = place.try_take()?;
                reach(device).is_ok().then_some(taken)
            }
        }
    }

    /// The terminal that a person is called to, if questions are drawn there apart from the rest.
    pub(super) fn device(&self, questions: Questions) -> Option<Device> {
        match &self.board {
            Board::Taken { device, .. }
                if questions == Questions::Apart || !self.is_at_output() =>
            {
                Some(device.clone())
            }
            Board::Taken { .. } | Board::Kept(_) => None,
        }
    }

    /// Whether the terminal is the one that standard output leads to.
    #[expect(clippy::disallowed_methods, reason = "nothing is written")]
    pub(super) fn is_at_output(&self) -> bool {
        match &self.board {
            Board::Kept(_) => true,
            Board::Taken { .. } => is_controlling(std::io::stdout()),
        }
    }

    /// The terminal for a program that is started and wants one, if standard input and output are
    /// none.
    pub(super) fn lent_device(&self) -> Option<Device> {
        match &self.board {
            Board::Taken { device, .. } => Some(device.clone()),
            Board::Kept(_) => None,
        }
    }

    /// The line that is being typed for the next prompt, whenever it changes.
    pub(super) fn drafts(&self) -> Option<watch::Receiver<String>> {
        match &self.board {
            Board::Kept(keyboard) => Some(keyboard.drafts()),
            Board::Taken { .. } => None,
        }
    }

    /// The same, with a mark that says so where there is no sandbox.
    pub(crate) fn marked_for(mut self, confinement: &Confinement) -> Self {
        self.mark_for(confinement);
        self
    }

    /// Marks questions for another confinement from now on.
    pub(crate) fn mark_for(&mut self, confinement: &Confinement) {
        self.warning = if confinement.sandbox.is_none() { "NO SANDBOX " } else { "" };
    }

    fn mark(&self, mark: &'static str) -> String {
        own_mark(&(ours(self.warning) + mark))
    }

    /// Asks a question and waits for one of the keys.
    pub(crate) async fn choose<T: Copy>(
        &mut self,
        screen: &mut Screen,
        question: &Ours,
        choices: &[Choice<T>],
    ) -> Result<T, Left> {
        let words = |one: &Choice<T>| match one.label {
            "" => ours(one.key),
            label => ours(one.key) + " " + label,
        };
        let labels = choices.iter().map(|one| words(one).unbroken());
        let row = question.clone() + "  " + Ours::joined(labels, "\u{a0}· ");
        let keys: Vec<char> = choices.iter().map(|one| one.key).collect();
        loop {
            if screen.say(row.clone()).is_err() {
                return Err(Left::Ended);
            }
            let mark = self.mark(ANSWER);
            let keys = keys.clone();
            let heard = self.wait(Editing::Strokes, async |board| board.key(mark, keys).await);
            let Some(key) = heard.await? else { continue };
            if let Some(one) = choices.iter().find(|one| key.starts_with(one.key)) {
                return Ok(one.means);
            }
        }
    }

    /// Waits for a line that answers what `draw` draws.
    pub(crate) async fn line(
        &mut self,
        screen: &mut Screen,
        draw: impl Fn(&mut Screen) -> std::io::Result<()>,
        typing: Typing,
    ) -> Result<String, Left> {
        loop {
            if draw(screen).is_err() {
                return Err(Left::Ended);
            }
            let mark = self.mark(ANSWER);
            let editing = match (typing, &self.board) {
                (Typing::Shown, Board::Kept(_)) => Editing::Line,
                (Typing::Hidden, _) | (_, Board::Taken { .. }) => Editing::Strokes,
            };
            let heard = self.wait(editing, async |board| board.line(mark, typing).await);
            if let Some(line) = heard.await? {
                return Ok(line);
            }
        }
    }

    /// Waits for a line that is shown, and answers what `draw` draws.
    pub(crate) async fn shown_line(
        &mut self,
        screen: &mut Screen,
        draw: impl Fn(&mut Screen) -> std::io::Result<()>,
    ) -> Result<String, Left> {
        self.line(screen, draw, Typing::Shown).await
    }

    /// Waits for a line that is not shown.
    pub(crate) async fn hidden_line(
        &mut self,
        screen: &mut Screen,
        question: &str,
    ) -> Result<String, Left> {
        self.line(screen, |screen| screen.tell(question), Typing::Hidden).await
    }

    /// Waits for a prompt.
    pub(crate) async fn prompt(&mut self) -> Result<String, Left> {
        loop {
            let mark = self.mark(PROMPT);
            let heard = self.wait(Editing::Line, async |board| board.prompt(mark).await);
            if let Some(line) = heard.await? {
                return Ok(line);
            }
        }
    }

    /// Asks the terminal how bright its background is. The cursor must be at the beginning of an
    /// empty row.
    pub(super) async fn background(&self) -> Option<Background> {
        match &self.board {
            Board::Kept(keyboard) => keyboard.background().await,
            // Between questions it is somebody else's.
            Board::Taken { .. } => None,
        }
    }

    /// Has typed lines drawn with colours, or without.
    pub(super) fn use_colours(&self, wanted: bool) {
        if let Board::Kept(keyboard) = &self.board {
            keyboard.use_colours(wanted);
        }
    }

    /// Asks the terminal how it can show pictures. The cursor must be at the beginning of an empty
    /// row.
    pub(super) async fn graphics(&self) -> Graphics {
        match self.board.take() {
            Ok(keyboard) => keyboard.graphics().await,
            Err(_) => Graphics::default(),
        }
    }

    /// Nothing is asked any more.
    pub(super) fn rest(&self) {
        if let Board::Kept(keyboard) = &self.board {
            keyboard.rest();
        }
    }

    /// Gives the terminal to another program while `act` runs.
    pub(crate) async fn lend<T: Send + 'static>(
        &self,
        act: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        match self.board.take() {
            Ok(keyboard) => keyboard.lend(act).await,
            Err(_) => None,
        }
    }

    /// Stops the program until somebody lets it go on.
    pub(crate) async fn suspend(&mut self) {
        match &self.board {
            Board::Kept(keyboard) => _ = keyboard.lend(suspend).await,
            Board::Taken { .. } => suspend(),
        }
    }

    /// Makes the terminal what it has to be, after the program was stopped from outside.
    pub(crate) fn take_terminal(&self) {
        if let Board::Kept(keyboard) = &self.board {
            keyboard.hush();
        }
    }

    /// Waits for the keyboard or for a signal. `None` means that the program was stopped
    /// meanwhile, and that the question has to be put again.
    async fn wait(
        &mut self,
        editing: Editing,
        ask: impl AsyncFnOnce(&Keyboard) -> Heard,
    ) -> Result<Option<String>, Left> {
        let Self { board, signals, .. } = self;
        let keyboard = board.take()?;
        let mut interrupted = false;
        let mut answer = Box::pin(ask(&keyboard));
        let heard = loop {
            tokio::select! {
                heard = &mut answer => break heard,
                asked = signals.next() => match (asked, editing) {
                    (Asked::Interrupt, Editing::Strokes) => break Heard::Interrupted,
                    // An editor has Ctrl-C as a key. It came before the editor had the terminal.
                    (Asked::Interrupt, Editing::Line) => {
                        interrupted = true;
                        keyboard.withdraw();
                    }
                    // Nobody types any more: an editor that would set the terminal back later than we
                    // do is left alone.
                    (Asked::End, _) => {
                        keyboard.rest();
                        return Err(Left::Terminated);
                    }
                    (Asked::Gone, _) => break Heard::Ended,
                    (Asked::Suspend, Editing::Strokes) => break Heard::Suspended,
                    (Asked::Continue, Editing::Strokes) => keyboard.hush(),
                    // An editor has Ctrl-Z as a key, and the terminal to itself.
                    (Asked::Suspend | Asked::Continue, Editing::Line) => {}
                },
            }
        };
        drop(answer);
        match heard {
            Heard::Text(_) | Heard::Withdrawn if interrupted => Err(Left::Interrupted),
            Heard::Text(text) => Ok(Some(text)),
            Heard::Interrupted => {
                keyboard.rest();
                Err(Left::Interrupted)
            }
            Heard::Ended => Err(Left::Ended),
            Heard::Taken => Err(Left::Nobody(Absence::TerminalTaken)),
            Heard::Suspended => {
                match keyboard {
                    Taken::Kept(keyboard) => _ = keyboard.lend(suspend).await,
                    Taken::ForNow(keyboard) => drop(keyboard),
                }
                if let Board::Taken { lock, .. } = board {
                    lock.let_go();
                    suspend();
                    wait_for(lock.take_again(), signals).await?;
                }
                Ok(None)
            }
            Heard::Withdrawn => Ok(None),
        }
    }
}

/// Who reads the keyboard while a question waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Editing {
    /// A line editor.
    Line,
    /// Our own reading, key by key.
    Strokes,
}
