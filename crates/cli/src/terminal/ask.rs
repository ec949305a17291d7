//! The one way to ask.
//!
//! Draws the question, has the [keyboard](super::keyboard) wait until it is on the screen and
//! until nobody is typing any more, and only then takes an answer. There is no other way to one:
//! whether code runs, a host is reached, changes are kept, a file is trusted or a model is
//! downloaded is decided by a key that was pressed at the question.

use super::{
    keyboard::{Heard, Keyboard, Typing},
    line_editor::suspend,
    ours::{Ours, ours},
    picture::Graphics,
    screen::{Screen, own_mark},
    signals::{Asked, Signals},
};
use crate::report::Error;
use interpreter_core::Confinement;
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
}

/// One answer that can be given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice<T> {
    /// The key that gives it.
    pub(crate) key: char,
    /// The words beside the key.
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
    keyboard: Keyboard,
    pub(super) signals: Signals,
    /// Before the mark that a person types behind.
    warning: &'static str,
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
        // Before the terminal is quiet, so that it is set back whatever comes.
        let signals = Signals::at_terminal()?;
        let is_smart = environment.text("TERM") != Some("dumb");
        Ok(Self { keyboard: Keyboard::start(is_smart, editor)?, signals, warning: "" })
    }

    /// The line that is being typed for the next prompt, whenever it changes.
    pub(super) fn drafts(&self) -> watch::Receiver<String> {
        self.keyboard.drafts()
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
        let labels = choices.iter().map(|one| (ours(one.key) + " " + one.label).unbroken());
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
            let editing = match typing {
                Typing::Shown => Editing::Line,
                Typing::Hidden => Editing::Strokes,
            };
            let heard = self.wait(editing, async |board| board.line(mark, typing).await);
            if let Some(line) = heard.await? {
                return Ok(line);
            }
        }
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

    /// Asks the terminal how it can show pictures. The cursor must be at the beginning of an empty
    /// row.
    pub(super) async fn graphics(&self) -> Graphics {
        self.keyboard.graphics().await
    }

    /// Gives the terminal to another program while `act` runs.
    pub(crate) async fn lend<T: Send + 'static>(
        &self,
        act: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        self.keyboard.lend(act).await
    }

    /// Stops the program until somebody lets it go on.
    pub(crate) async fn suspend(&mut self) {
        self.keyboard.lend(suspend).await;
    }

    /// Makes the terminal what it has to be, after the program was stopped from outside.
    pub(crate) fn take_terminal(&self) {
        self.keyboard.hush();
    }

    /// Waits for the keyboard or for a signal. `None` means that the program was stopped
    /// meanwhile, and that the question has to be put again.
    async fn wait(
        &mut self,
        editing: Editing,
        ask: impl AsyncFnOnce(&Keyboard) -> Heard,
    ) -> Result<Option<String>, Left> {
        let Self { keyboard, signals, .. } = self;
        let answer = ask(keyboard);
        tokio::pin!(answer);
        let mut interrupted = false;
        let heard = loop {
            tokio::select! {
                heard = &mut answer => break heard,
                asked = signals.next() => match (asked, editing) {
                    (Asked::Interrupt, Editing::Strokes) => break Heard::Interrupted,
                    // An editor has Ctrl-C as a key. It came before the editor had the terminal.
                    (Asked::Interrupt, Editing::Line) => {
                        interrupted = true;
                        keyboard.rest();
                    }
                    (Asked::End, _) => {
                        keyboard.rest();
                        return Err(Left::Terminated);
                    }
                    (Asked::Suspend, Editing::Strokes) => break Heard::Suspended,
                    (Asked::Continue, Editing::Strokes) => keyboard.hush(),
                    // An editor has Ctrl-Z as a key, and the terminal to itself.
                    (Asked::Suspend | Asked::Continue, Editing::Line) => {}
                },
            }
        };
        match heard {
            Heard::Text(text) => Ok(Some(text)),
            Heard::Interrupted => {
                keyboard.rest();
                Err(Left::Interrupted)
            }
            Heard::Ended => Err(Left::Ended),
            Heard::Suspended => {
                keyboard.lend(suspend).await;
                Ok(None)
            }
            Heard::Withdrawn if interrupted => Err(Left::Interrupted),
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
