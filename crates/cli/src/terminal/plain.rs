//! `interpreter run` on the outside: the program's output where a program's output goes.
//!
//! On a terminal everything is marked. In a pipe or a file the bytes come out exactly.

use super::{
    gallery::Exhibit,
    screen::{Screen, Section},
    theme::themed,
    transcript::{self, Ending},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use interpreter_agent::{Context, HeldLines, TypedLines};
use interpreter_core::{Backend, Body, Output, Record, Stream, Untrusted, forms};
use interpreter_store::Environment;
use std::io::{self, Write};

/// Prints the records of a run.
#[derive(Debug)]
pub(crate) struct Plain {
    stdout: Screen,
    stderr: Screen,
    /// Whether much was printed: see [`Plain::widen`].
    widened: bool,
    /// Lines that the person types for the code, and how many were there when we last drew.
    typed: TypedLines,
    drawn_after: u64,
}

/// Bytes of output that do not fit in a pipe as it is.
const MUCH: usize = 64 << 10;

/// Bytes that our pipe is to hold then.
const ROOM: usize = 1 << 20;

impl Plain {
    /// The two streams.
    pub(crate) fn new(environment: &Environment) -> Self {
        let stderr = Screen::stderr(environment).named_elsewhere("interpreter: ");
        let stdout = Screen::stdout(environment);
        let typed = TypedLines::default();
        Self { stdout, stderr, widened: false, typed, drawn_after: 0 }
    }

    /// The same, as the person's settings have them.
    pub(crate) fn of(context: &Context) -> Self {
        let plain = Self::new(&context.environment);
        let themed = |screen| themed(screen, &context.settings, &context.environment);
        let (stdout, stderr) = (themed(plain.stdout), themed(plain.stderr));
        Self { stdout, stderr, ..plain }
    }

    /// The same on a terminal where the person types these lines for the code.
    pub(crate) fn after(self, typed: TypedLines) -> Self {
        Self { typed, ..self }
    }

    /// Keeps lines that are typed from the code.
    pub(super) fn hold_input(&self) -> HeldLines {
        self.typed.hold()
    }

    /// The screen for rows of ours.
    pub(crate) fn screen(&mut self) -> io::Result<&mut Screen> {
        self.note_typed()?;
        self.stdout.close()?;
        Ok(&mut self.stderr)
    }

    /// Prints a record, if there is anything to say about it.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others are not shown")]
    pub(crate) fn record(&mut self, record: &Record) -> io::Result<()> {
        match &record.body {
            Body::Output(Output { stream: Stream::Stdout, text, bytes, .. }) => {
                self.widen(text.raw().len());
                self.print(Stream::Stdout, text, bytes.as_deref())
            }
            Body::Output(Output { stream: Stream::Stderr, text, bytes, .. }) => {
                self.print(Stream::Stderr, text, bytes.as_deref())
            }
            Body::Output(Output { stream: Stream::Result, text, mime, .. }) => {
                self.result(text, mime)
            }
            // That there is no sandbox was said before.
            Body::RunStarted { backend, .. } if backend == Backend::NONE.word() => Ok(()),
            Body::RunFinished { .. } => match Ending::of(&record.body) {
                // Whether the interpreter lives on matters only where there is a next run.
                Some((mut ending, _)) => {
                    ending.kernel_ended = false;
                    self.ended(&ending)
                }
                None => Ok(()),
            },
            Body::RunStarted { .. }
            | Body::Effects { .. }
            | Body::TriedLate { .. }
            | Body::Changes(_)
            | Body::PackagesGranted { .. }
            | Body::PackagesChanged { .. }
            | Body::PackagesFailed { .. }
            | Body::Restarted { .. }
            | Body::Error { .. }
            | Body::Note { .. } => transcript::show(self.screen()?, &record.body, false),
            _ => Ok(()),
        }
    }

    fn result(&mut self, text: &Untrusted, mime: &str) -> io::Result<()> {
        let Some(text) = forms::legible(mime, text) else { return Ok(()) };
        let shown = Untrusted::new(format!("{}\n", text.raw()));
        self.print(Stream::Stdout, &shown, None)
    }

    /// The screen that pictures are painted on.
    pub(super) fn canvas(&mut self) -> &mut Screen {
        &mut self.stdout
    }

    /// Shows the file of a result, and the picture where that is possible.
    pub(super) fn exhibit(&mut self, exhibit: &Exhibit) -> io::Result<()> {
        exhibit.paint(&mut self.stdout)?;
        exhibit.show(self.screen()?)
    }

    fn ended(&mut self, ending: &Ending<'_>) -> io::Result<()> {
        let screen = self.screen()?;
        screen.close()?;
        if ending.is_fine() {
            return Ok(());
        }
        match ending.limit() {
            Some(limit) => screen.tell(&format!("stopped: {limit}")),
            // A script learns it by the exit status, which is the code's own.
            None if ending.has_status() && !screen.is_terminal() => Ok(()),
            None => screen.warn(ending.words()),
        }
    }

    /// Makes room in the pipe that much is printed to, if it is one: whoever reads it and we then
    /// wait for each other less often.
    fn widen(&mut self, length: usize) {
        if length > MUCH && !self.widened {
            self.widened = true;
            // Where it is refused, or is no pipe, the usual size does.
            #[expect(clippy::disallowed_methods, reason = "nothing is written")]
            rustix::pipe::fcntl_setpipe_size(io::stdout(), ROOM).unwrap_or_default();
        }
    }

    /// Notes that the person has ended the row that was open, by a line for the code.
    fn note_typed(&mut self) -> io::Result<()> {
        let count = self.typed.count();
        if std::mem::replace(&mut self.drawn_after, count) != count {
            self.stdout.row_was_ended()?;
            self.stderr.row_was_ended()?;
        }
        Ok(())
    }

    /// Prints a piece of output where it belongs.
    fn print(&mut self, stream: Stream, text: &Untrusted, bytes: Option<&str>) -> io::Result<()> {
        self.note_typed()?;
        let Self { stdout, stderr, .. } = self;
        let (screen, other) = match stream {
            Stream::Stdout | Stream::Result => (stdout, stderr),
            Stream::Stderr => (stderr, stdout),
        };
        if !screen.is_terminal() {
            return exactly(stream, text, bytes);
        }
        // Both may be the same terminal.
        if other.is_terminal() {
            other.close()?;
        }
        screen.stream(Section::Printed, text)
    }
}

#[expect(clippy::disallowed_methods, reason = "another program reads it, byte for byte")]
pub(super) fn exactly(stream: Stream, text: &Untrusted, bytes: Option<&str>) -> io::Result<()> {
    let exact = bytes.and_then(|encoded| STANDARD.decode(encoded).ok());
    let exact = exact.as_deref().unwrap_or_else(|| text.raw().as_bytes());
    match stream {
        Stream::Stdout | Stream::Result => {
            let mut out = io::stdout().lock();
            out.write_all(exact)?;
            out.flush()
        }
        Stream::Stderr => io::stderr().lock().write_all(exact),
    }
}
