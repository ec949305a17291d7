//! The standard input of code: none, a stream that is passed on as it comes, or a file.
//!
//! A stream goes through a pipe of the sandbox's own and never in by its descriptor: through that,
//! code could open a file again, to write, that lies outside.

use interpreter_host::KernelInput;
use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
    process::getpgrp,
    termios::{isatty, tcgetpgrp},
};
use std::{
    fs::File,
    io::{self, Read, Write},
    mem,
    os::fd::{AsFd, OwnedFd},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

/// Bytes that a terminal gives at once.
const LINE: usize = 4096;

/// How many lines a person has typed at a terminal for the code. Each ends the row that the cursor
/// was on, which whoever draws on that terminal must know.
#[derive(Clone, Debug, Default)]
pub struct TypedLines(Arc<AtomicU64>);

impl TypedLines {
    /// The number of lines so far.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

/// The standard input of the code of a session.
#[derive(Clone, Debug, Default)]
pub enum StandardInput {
    /// There is none.
    #[default]
    Empty,
    /// The bytes that this gives, for the first code that runs.
    Stream(Arc<OwnedFd>, TypedLines),
    /// A file that code sees at this path, from its start for each interpreter.
    File(PathBuf),
}

impl StandardInput {
    /// The source for an interpreter that is about to start.
    pub(super) fn of_kernel(&self) -> KernelInput {
        match self {
            Self::Empty => KernelInput::Empty,
            Self::Stream(..) => KernelInput::Pipe,
            Self::File(path) => KernelInput::File(path.clone()),
        }
    }

    /// Passes the stream on to code that begins, on a thread of its own. It is passed on once; other
    /// code finds the end at once. Nothing waits for the thread: it ends with its source, with the
    /// code, or with this process.
    pub(super) fn feed(&mut self, end: OwnedFd) -> io::Result<()> {
        let Self::Stream(source, typed) = self else { return Ok(()) };
        let (source, typed) = (Arc::clone(source), typed.clone());
        *self = Self::Empty;
        let copy = move || {
            // A source that cannot be read any more, and code that reads no more, are both the end.
            _ = pass_on(&source, end, &typed).is_ok();
        };
        thread::Builder::new().name("standard input".into()).spawn(copy).map(mem::drop)
    }
}

fn pass_on(source: &OwnedFd, end: OwnedFd, typed: &TypedLines) -> io::Result<()> {
    let mut end = File::from(end);
    let mut from = File::from(source.try_clone()?);
    if !isatty(source) {
        return io::copy(&mut from, &mut end).map(mem::drop);
    }
    let mut line = [0; LINE];
    while may_read(source)? {
        match from.read(&mut line)? {
            0 => break,
            count => {
                // Before the code can answer to it.
                if line[..count].ends_with(b"\n") {
                    typed.0.fetch_add(1, Ordering::Release);
                }
                end.write_all(&line[..count])?;
            }
        }
    }
    Ok(())
}

/// Waits until a terminal has something to read, and says whether that is ours. A program in the
/// background that reads is stopped by the system, so it does not try.
fn may_read(terminal: &OwnedFd) -> io::Result<bool> {
    loop {
        let terminal = terminal.as_fd();
        match poll(&mut [PollFd::new(&terminal, PollFlags::IN)], None) {
            Ok(_) => return Ok(tcgetpgrp(terminal)? == getpgrp()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
