//! The standard input of code: none, a stream that is passed on as it comes, or a file.
//!
//! A stream goes through a pipe of the sandbox's own and never in by its descriptor: through that,
//! code could open a file again, to write, that lies outside.

use super::typed_lines::TypedLines;
use interpreter_host::KernelInput;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::getpgrp,
    termios::{isatty, tcgetpgrp},
};
use std::{
    fs::File,
    io::{self, Read, Write},
    mem,
    os::fd::OwnedFd,
    path::PathBuf,
    sync::Arc,
    thread,
};

/// Bytes that a terminal gives at once.
const LINE: usize = 4096;

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
    /// Whether code that runs again finds what it found the first time, or a person to type it.
    pub fn can_be_read_again(&self) -> bool {
        match self {
            Self::Empty | Self::File(_) => true,
            Self::Stream(source, _) => isatty(source),
        }
    }

    /// The source for an interpreter that is about to start.
    pub(super) fn of_kernel(&self) -> KernelInput {
        match self {
            Self::Empty => KernelInput::Empty,
            Self::Stream(..) => KernelInput::Pipe,
            Self::File(path) => KernelInput::File(path.clone()),
        }
    }

    /// Passes the stream on to code that begins, on a thread of its own. It is passed on once; other
    /// code finds the end at once. A terminal does not end: it goes on with the next code. Nothing
    /// waits for the thread: it ends with its source, with the code, or with this process.
    pub(super) fn feed(&mut self, end: OwnedFd) -> io::Result<()> {
        let Self::Stream(source, typed) = self else { return Ok(()) };
        let (source, typed) = (Arc::clone(source), typed.clone());
        if !isatty(&source) {
            *self = Self::Empty;
        }
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
    while wait_for(source, &end, None)? != Waited::Over {
        // Nobody is asked at the terminal from here on, until it has been read.
        let turn = typed.turn();
        match wait_for(source, &end, Some(&Timespec::default()))? {
            Waited::Ready => {}
            // It was an answer.
            Waited::Late => continue,
            Waited::Over => break,
        }
        // A program in the background that reads is stopped by the system, so it does not try.
        if tcgetpgrp(source)? != getpgrp() {
            break;
        }
        let count = from.read(&mut line)?;
        drop(turn);
        if count == 0 {
            break;
        }
        // Before the code can answer to it.
        if line[..count].ends_with(b"\n") {
            typed.add();
        }
        end.write_all(&line[..count])?;
    }
    Ok(())
}

/// The result of waiting for a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waited {
    /// It has something to read.
    Ready,
    /// The time is over.
    Late,
    /// The code reads no more.
    Over,
}

/// Waits until a terminal has something to read, until whatever is typed has no reader any more, or
/// for this long.
fn wait_for(terminal: &OwnedFd, end: &File, time: Option<&Timespec>) -> io::Result<Waited> {
    loop {
        let reader = PollFd::new(end, PollFlags::empty());
        let mut watched = [PollFd::new(terminal, PollFlags::IN), reader];
        match poll(&mut watched, time) {
            Ok(0) => return Ok(Waited::Late),
            Ok(_) if watched[1].revents().contains(PollFlags::ERR) => return Ok(Waited::Over),
            Ok(_) => return Ok(Waited::Ready),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
