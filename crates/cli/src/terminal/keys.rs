//! What the person types, on a thread of its own.
//!
//! The line editor waits for keys; nothing else in the program has to. It is asked for a line and
//! answers with one, or with what was pressed instead.

use interpreter_core::Confinement;
use reedline::{FileBackedHistory, Prompt, PromptEditMode, PromptHistorySearch, Reedline, Signal};
use std::{
    borrow::Cow,
    io::{self, BufRead, Write},
    path::PathBuf,
    sync::mpsc,
    thread,
};
use tokio::sync::oneshot;

/// Lines that are kept.
const KEPT: usize = 10_000;

/// What came of asking for a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    Line(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D, or the terminal is gone.
    Ended,
}

/// What kind of line is wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted {
    /// A prompt for the model; it is kept for the arrow keys.
    Prompt,
    /// An answer to a question.
    Answer,
    /// An answer that is not shown.
    Secret,
}

/// The keyboard.
#[derive(Debug)]
pub(crate) struct Keys {
    requests: mpsc::Sender<(Wanted, Marks, oneshot::Sender<Heard>)>,
    marks: Marks,
}

/// What stands before what is typed.
#[derive(Clone, Copy, Debug)]
struct Marks {
    prompt: &'static str,
    answer: &'static str,
}

const USUAL: Marks = Marks { prompt: "> ", answer: "? " };

const NO_SANDBOX: Marks = Marks { prompt: "NO SANDBOX > ", answer: "NO SANDBOX ? " };

impl Keys {
    /// Starts the thread. Prompts are kept in `history`.
    pub(crate) fn start(history: Option<PathBuf>) -> std::io::Result<Self> {
        Self::start_with(move || {
            let prompts = Reedline::create();
            match history.and_then(|file| FileBackedHistory::with_file(KEPT, file).ok()) {
                Some(history) => prompts.with_history(Box::new(history)),
                None => prompts,
            }
        })
    }

    /// Starts the thread, with an editor for prompts that is made on it.
    pub(crate) fn start_with(
        editor: impl FnOnce() -> Reedline + Send + 'static,
    ) -> std::io::Result<Self> {
        let (requests, inbox) = mpsc::channel::<(Wanted, Marks, oneshot::Sender<Heard>)>();
        thread::Builder::new().name("keys".into()).spawn(move || {
            let mut prompts = editor();
            let mut answers = Reedline::create();
            for (wanted, marks, reply) in inbox {
                let heard = match wanted {
                    Wanted::Prompt => read(&mut prompts, marks.prompt),
                    Wanted::Answer => read(&mut answers, marks.answer),
                    Wanted::Secret => read_hidden(marks.answer),
                };
                // Whoever asked has left, and with it the program.
                if reply.send(heard).is_err() {
                    break;
                }
            }
        })?;
        Ok(Self { requests, marks: USUAL })
    }

    /// The same, with a mark that says so where there is no sandbox.
    pub(crate) fn marked_for(self, confinement: &Confinement) -> Self {
        let marks = if confinement.sandbox.is_none() { NO_SANDBOX } else { USUAL };
        Self { marks, ..self }
    }

    /// Waits for a line.
    pub(crate) async fn line(&self, wanted: Wanted) -> Heard {
        let (reply, answer) = oneshot::channel();
        if self.requests.send((wanted, self.marks, reply)).is_err() {
            return Heard::Ended;
        }
        answer.await.unwrap_or(Heard::Ended)
    }
}

fn read(editor: &mut Reedline, mark: &'static str) -> Heard {
    match editor.read_line(&Mark(mark)) {
        Ok(Signal::Success(line)) => Heard::Line(line),
        Ok(Signal::CtrlC) => Heard::Interrupted,
        Ok(_) | Err(_) => Heard::Ended,
    }
}

/// Reads a line without showing it. Ctrl-C is a key here like any other, as it is in the editor.
fn read_hidden(mark: &str) -> Heard {
    use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
    let terminal = io::stdin();
    let Ok(usual) = tcgetattr(&terminal) else { return Heard::Ended };
    let mut hidden = usual.clone();
    hidden.local_modes -= LocalModes::ECHO | LocalModes::ISIG;
    if tcsetattr(&terminal, OptionalActions::Now, &hidden).is_err() {
        return Heard::Ended;
    }
    // The mark comes when nothing that is typed can be seen any more.
    let mut out = io::stdout();
    _ = write!(out, "{mark}").and_then(|()| out.flush()).is_ok();
    let mut line = String::new();
    let read = terminal.lock().read_line(&mut line);
    // If it cannot be set back, the terminal is gone.
    _ = tcsetattr(&terminal, OptionalActions::Now, &usual).is_ok();
    _ = writeln!(io::stdout()).is_ok();
    match read {
        Ok(0) | Err(_) => Heard::Ended,
        Ok(_) if line.contains('\u{3}') => Heard::Interrupted,
        Ok(_) => Heard::Line(line.trim_end_matches(['\r', '\n']).to_owned()),
    }
}

/// The few characters before what is typed.
struct Mark(&'static str);

impl Prompt for Mark {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        self.0.into()
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        "".into()
    }

    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        "".into()
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        "  ".into()
    }

    fn render_prompt_history_search_indicator(&self, _: PromptHistorySearch) -> Cow<'_, str> {
        "search: ".into()
    }
}
