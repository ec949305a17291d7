//! `interpreter run` on the outside: the program's output where a program's output goes.
//!
//! On a terminal everything is filtered. In a pipe or a file the bytes come out exactly.

use crate::terminal::{hosts, story};
use base64::{Engine, engine::general_purpose::STANDARD};
use interpreter_core::{Backend, Body, Record, Stream, Untrusted, untrusted::TerminalFilter};
use std::io::{self, IsTerminal, Write};

/// Prints what a run says.
#[derive(Debug, Default)]
pub(crate) struct Plain {
    stdout: TerminalFilter,
    stderr: TerminalFilter,
    /// Whether much was printed: see [`Plain::widen`].
    widened: bool,
}

/// Bytes of output that do not fit in a pipe as it is.
const MUCH: usize = 64 << 10;

/// Bytes that our pipe is to hold then.
const ROOM: usize = 1 << 20;

impl Plain {
    /// Prints what there is to say of a record.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is not shown")]
    pub(crate) fn record(&mut self, record: &Record) -> io::Result<()> {
        match &record.body {
            Body::Output { stream: Stream::Stdout, text, bytes, .. } => {
                self.widen(text.raw().len());
                print(&mut io::stdout().lock(), &mut self.stdout, text, bytes.as_deref())
            }
            Body::Output { stream: Stream::Stderr, text, bytes, .. } => {
                print(&mut io::stderr().lock(), &mut self.stderr, text, bytes.as_deref())
            }
            Body::Output { stream: Stream::Result, text, mime, .. } => {
                let mut out = io::stdout().lock();
                if mime == "text/plain" {
                    print(&mut out, &mut self.stdout, text, None)?;
                    writeln!(out)
                } else {
                    let mime = Untrusted::new(&**mime).for_terminal_line(80);
                    writeln!(out, "[{mime}, {} bytes]", text.raw().len())
                }
            }
            // That there is no sandbox was said before.
            Body::RunStarted { backend, missing, .. } if backend != Backend::None.word() => {
                match story::header(backend, missing) {
                    Some(words) => writeln!(io::stderr(), "interpreter: {words}"),
                    None => Ok(()),
                }
            }
            Body::Effects { network, denials, .. } => {
                let refused = hosts::lines(&hosts::refused(network));
                write!(io::stderr(), "{refused}{}", story::denial_lines(denials))
            }
            Body::RunFinished { status, signal, limit, .. } => {
                self.finish()?;
                let fine = *status == Some(0) && signal.is_none() && limit.is_none();
                if !fine {
                    // Whether the interpreter lives on matters only where there is a next run.
                    let how = story::ending(*status, *signal, limit.as_deref(), false);
                    writeln!(io::stderr(), "interpreter: {how}")?;
                }
                Ok(())
            }
            Body::Error { message, hint } => {
                let mut out = io::stderr().lock();
                writeln!(out, "error: {}", Untrusted::new(&**message).for_terminal())?;
                if let Some(hint) = hint {
                    writeln!(out, "\nhint: {}", Untrusted::new(&**hint).for_terminal())?;
                }
                Ok(())
            }
            Body::Note { text } => {
                writeln!(io::stderr(), "interpreter: {}", Untrusted::new(&**text).for_terminal())
            }
            Body::Changes { id, state, files, left_out } => {
                let mut out = io::stderr().lock();
                let files_word = story::count(files.len(), "file");
                writeln!(out, "{files_word} {} as set {id}:", state.word())?;
                write!(out, "{}{}", story::file_lines(files), story::left_out_lines(left_out))
            }
            _ => Ok(()),
        }
    }

    /// Makes room in the pipe that much is printed to, if it is one: whoever reads it and we then
    /// wait for each other less often.
    fn widen(&mut self, length: usize) {
        if length > MUCH && !self.widened {
            self.widened = true;
            // Where it is refused, or is no pipe, the usual size does.
            rustix::pipe::fcntl_setpipe_size(io::stdout(), ROOM).unwrap_or_default();
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        if io::stdout().is_terminal() {
            write!(io::stdout(), "{}", self.stdout.finish())?;
        }
        if io::stderr().is_terminal() {
            write!(io::stderr(), "{}", self.stderr.finish())?;
        }
        io::stdout().flush()
    }
}

fn print(
    out: &mut (impl Write + IsTerminal),
    filter: &mut TerminalFilter,
    text: &Untrusted,
    bytes: Option<&str>,
) -> io::Result<()> {
    if out.is_terminal() {
        write!(out, "{}", filter.feed(text.raw()))?;
    } else if let Some(exact) = bytes.and_then(|encoded| STANDARD.decode(encoded).ok()) {
        out.write_all(&exact)?;
    } else {
        out.write_all(text.raw().as_bytes())?;
    }
    out.flush()
}
