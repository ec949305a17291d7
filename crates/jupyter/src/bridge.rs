//! The bridge at work: the host's requests to the kernel, the kernel's answers to the host.
//!
//! One thread sleeps in `poll`. Reading waits for nothing; writing waits for whoever does not read,
//! which presses back on whoever writes. A cell has ended when the kernel has replied and has
//! published that it is idle: by then all that the cell published has been passed on.

use crate::{
    channels::Channels,
    claims::Claims,
    error::{End, JupyterError},
    folder::Channel,
    kernel::Kernel,
    launch::Interrupt,
    message::Heard,
    raw::Output,
    requests::{Request, Requests},
    shown::{Shown, shown},
    start::Started,
    wait::{Signals, wait},
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::{
    collections::VecDeque,
    io::{ErrorKind, Read, Write},
    os::{
        fd::{AsFd, BorrowedFd},
        unix::net::UnixStream,
    },
    time::{Duration, Instant},
};

/// Bytes read of the host at once.
const PIECE: usize = 64 << 10;

/// Messages that are passed on before anything else is looked at.
const BATCH: usize = 64;

/// How long a kernel that has replied may be silent before it says that it is idle.
const SOON: Duration = Duration::from_secs(1);

/// How long a kernel that wants to end may take to by itself, and then how long once it was told.
const FAREWELL: Duration = Duration::from_secs(3);

/// Batches of a dead kernel's messages: a child of it may still publish.
const LAST_WORDS: usize = 4096;

/// Front ends send this where a person would press Ctrl-D.
const END_OF_INPUT: &str = "\u{4}";

/// A bridge, between a host and a kernel that is ready.
#[derive(Debug)]
pub(crate) struct Bridge {
    claims: Claims,
    requests: Requests,
    output: Output,
    kernel: Kernel,
    signals: Signals,
    channels: Channels,
    /// The cell that runs.
    cell: Option<Cell>,
    /// Cells that wait for it.
    waiting: VecDeque<Vec<u8>>,
    /// The question how code could go on, and that code.
    completing: Option<(String, String)>,
    /// The next step, and its time, for a kernel that should end and does not.
    leaving: Option<(Leave, Instant)>,
    _folder: crate::folder::Folder,
}

/// A step to end a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leave {
    /// Ask it to end.
    Tell,
    Kill,
    Killed,
}

/// A cell that runs.
#[derive(Debug)]
struct Cell {
    /// The id of its request.
    id: String,
    /// The result, once the kernel has replied.
    reply: Option<Reply>,
    idle: bool,
    interrupted: bool,
    /// Questions that its code has asked and nobody has answered: the headers of their requests.
    asked: VecDeque<Vec<u8>>,
    /// When to ask the kernel something else, to see whether it is idle after all.
    due: Option<Instant>,
    /// The id of that question.
    probe: Option<String>,
}

/// A reply of a kernel.
#[derive(Debug, Deserialize)]
struct Reply {
    #[serde(default)]
    status: String,
    #[serde(default)]
    ename: Option<String>,
    #[serde(default)]
    payload: Vec<Value>,
}

#[derive(Deserialize)]
struct Completed {
    #[serde(default)]
    matches: Vec<String>,
    cursor_start: usize,
    cursor_end: usize,
}

#[derive(Deserialize)]
struct InputRequest {
    #[serde(default)]
    prompt: String,
    #[serde(default)]
    password: bool,
}

impl Bridge {
    pub(crate) fn new(started: Started, host: UnixStream, output: Output) -> Result<Self, End> {
        let Started { kernel, signals, channels, version, folder } = started;
        let mut claims = Claims { host };
        claims.ready(&version)?;
        Ok(Self {
            claims,
            requests: Requests::default(),
            output,
            kernel,
            signals,
            channels,
            cell: None,
            waiting: VecDeque::new(),
            completing: None,
            leaving: None,
            _folder: folder,
        })
    }

    /// Passes everything on until there is nothing more to pass.
    pub(crate) fn serve(&mut self) -> End {
        loop {
            if let Err(end) = self.turn() {
                return end;
            }
        }
    }

    fn turn(&mut self) -> Result<(), End> {
        // First of all what was published: it was said before the rest.
        let more = self.hear_published()?;
        for channel in [Channel::Stdin, Channel::Shell, Channel::Control] {
            while let Some(heard) = self.channels.next(channel)? {
                self.hear(channel, &heard)?;
            }
        }
        self.finish()?;
        let woken = wait(&self.sources(), self.due(more))?;
        let [host, signals, stdout, stderr, channels @ ..] = woken.as_slice() else {
            return Ok(());
        };
        for (woken, channel) in channels.iter().zip(Channel::ALL) {
            if *woken {
                self.channels.socket(channel).receive();
            }
        }
        if *stdout || *stderr {
            self.kernel.raw.pass_on(&mut self.output)?;
        }
        if *signals {
            self.heed_signals()?;
        }
        if *host {
            self.obey_host()?;
        }
        self.heed_clock();
        Ok(())
    }

    /// Passes on some of what was published. Whether there is more.
    fn hear_published(&mut self) -> Result<bool, End> {
        for _ in 0..BATCH {
            self.channels.iopub.receive_all();
            match self.channels.next(Channel::Iopub)? {
                Some(heard) => self.hear(Channel::Iopub, &heard)?,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    fn sources(&self) -> [Option<BorrowedFd<'_>>; 8] {
        let [stdout, stderr] = self.kernel.raw.sources();
        let [shell, iopub, stdin, control] = self.channels.sources();
        let [host, signals] = [self.claims.host.as_fd(), self.signals.as_fd()].map(Some);
        [host, signals, stdout, stderr, shell, iopub, stdin, control]
    }

    /// When something is to be done even if nothing happens.
    fn due(&self, more: bool) -> Option<Instant> {
        let now = more.then(Instant::now);
        let cell = self.cell.as_ref().and_then(|cell| cell.due);
        let leaving = self.leaving.filter(|(leave, _)| *leave != Leave::Killed);
        now.into_iter().chain(cell).chain(leaving.map(|(_, due)| due)).min()
    }

    fn heed_signals(&mut self) -> Result<(), End> {
        let said = self.signals.read();
        if let Some(cell) = self.cell.as_mut().filter(|_| said.interrupt) {
            cell.interrupted = true;
            match self.kernel.interrupt {
                // The kernel is in the group that was signalled.
                Interrupt::Signal => {}
                Interrupt::Message => {
                    self.channels.ask(Channel::Control, "interrupt_request", &json!({}));
                }
            }
        }
        match self.kernel.ended() {
            None => Ok(()),
            Some(status) => {
                self.hear_last_words()?;
                self.kernel.raw.pass_on(&mut self.output)?;
                match self.leaving {
                    // Its code wanted it to end, and so it has.
                    Some((Leave::Killed, _)) => Err(End::HungUp),
                    Some((Leave::Tell | Leave::Kill, _)) | None => Err(End::Died(status)),
                }
            }
        }
    }

    /// Passes on what a dead kernel has published.
    fn hear_last_words(&mut self) -> Result<(), End> {
        for _ in 0..LAST_WORDS {
            if !self.hear_published()? {
                break;
            }
        }
        Ok(())
    }

    fn obey_host(&mut self) -> Result<(), End> {
        let mut piece = vec![0; PIECE];
        match self.claims.host.read(&mut piece) {
            Ok(0) => return Err(End::HungUp),
            Ok(count) => self.requests.push(&piece[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(JupyterError::Host(error).into()),
        }
        while let Some(request) = self.requests.next().map_err(JupyterError::Host)? {
            match request {
                Request::Execute(code) if self.cell.is_some() => self.waiting.push_back(code),
                Request::Execute(code) => self.execute(code)?,
                Request::Answer(text) => self.answer(text),
                Request::Complete { code, cursor } => self.complete(code, cursor)?,
            }
        }
        Ok(())
    }

    fn execute(&mut self, code: Vec<u8>) -> Result<(), End> {
        let Ok(code) = String::from_utf8(code) else {
            self.complain("the code is not UTF-8, and a kernel can be told nothing else\n")?;
            return Ok(self.claims.finished(1)?);
        };
        let request = json!({
            "code": code,
            "silent": false,
            "store_history": true,
            "user_expressions": {},
            "allow_stdin": true,
            "stop_on_error": true,
        });
        self.cell = Some(Cell {
            id: self.channels.ask(Channel::Shell, "execute_request", &request),
            reply: None,
            idle: false,
            interrupted: false,
            asked: VecDeque::new(),
            due: None,
            probe: None,
        });
        Ok(())
    }

    /// Hands over what the person typed. An answer that nobody waits for any more is dropped.
    fn answer(&mut self, text: Option<Vec<u8>>) {
        let Some(parent) = self.cell.as_mut().and_then(|cell| cell.asked.pop_front()) else {
            return;
        };
        let value = text.map(|text| String::from_utf8_lossy(&text).into_owned());
        let value = value.unwrap_or_else(|| END_OF_INPUT.into());
        self.channels.tell(
            Channel::Stdin,
            "input_reply",
            Some(&parent),
            &json!({ "value": value }),
        );
    }

    fn complete(&mut self, code: Vec<u8>, cursor: usize) -> Result<(), End> {
        if self.completing.take().is_some() {
            self.claims.completions(0, 0, Vec::new())?;
        }
        let before = std::str::from_utf8(&code[..cursor]).map(|before| before.chars().count());
        let (Ok(position), Ok(code)) = (before, String::from_utf8(code)) else {
            return Ok(self.claims.completions(0, 0, Vec::new())?);
        };
        let request = json!({ "code": code, "cursor_pos": position });
        let id = self.channels.ask(Channel::Shell, "complete_request", &request);
        self.completing = Some((id, code));
        Ok(())
    }

    fn hear(&mut self, channel: Channel, heard: &Heard) -> Result<(), End> {
        match channel {
            Channel::Iopub => self.published(heard),
            Channel::Shell => self.replied(heard),
            Channel::Stdin => self.asked(heard),
            // That it was interrupted, or will shut down, shows by itself.
            Channel::Control => Ok(()),
        }
    }

    fn published(&mut self, heard: &Heard) -> Result<(), End> {
        if let Some(due) = self.cell.as_mut().and_then(|cell| cell.due.as_mut()) {
            *due = Instant::now() + SOON;
        }
        match shown(heard) {
            Shown::Stdout(text) => {
                self.output.stdout.write_all(text.as_bytes()).map_err(JupyterError::Output)?;
            }
            Shown::Stderr(text) => self.complain(&text)?,
            Shown::Result { bundle, display } => self.claims.result(bundle, display)?,
            Shown::Raised { name, message, text } => {
                self.complain(&text)?;
                self.claims.raised(&name, &message)?;
            }
            Shown::Idle => {
                let Some(cell) = &mut self.cell else { return Ok(()) };
                if heard.comes_of(&cell.id) {
                    cell.idle = true;
                } else if !cell.idle
                    && cell.probe.as_deref().is_some_and(|probe| heard.comes_of(probe))
                {
                    // It publishes in order, so that it was idle before has been lost.
                    cell.idle = true;
                    self.complain("[the kernel has dropped some of what it published]\n")?;
                }
            }
            Shown::Nothing => {}
        }
        Ok(())
    }

    fn complain(&mut self, text: &str) -> Result<(), JupyterError> {
        self.output.stderr.write_all(text.as_bytes()).map_err(JupyterError::Output)
    }

    fn replied(&mut self, heard: &Heard) -> Result<(), End> {
        if let Some(cell) = self.cell.as_mut().filter(|cell| heard.comes_of(&cell.id)) {
            let unclear = Reply { status: "error".into(), ename: None, payload: Vec::new() };
            cell.reply = Some(heard.content().unwrap_or(unclear));
            cell.due = Some(Instant::now() + SOON);
        } else if let Some((_, code)) = self.completing.take_if(|(id, _)| heard.comes_of(id)) {
            let completed = heard.content::<Completed>();
            let (start, end, matches) = completed.map_or((0, 0, Vec::new()), |completed| {
                let at = |position| {
                    let found = code.char_indices().nth(position);
                    found.map_or(code.len(), |(at, _)| at)
                };
                let (start, end) = (at(completed.cursor_start), at(completed.cursor_end));
                (start.min(end), end, completed.matches)
            });
            self.claims.completions(start, end, matches)?;
        }
        Ok(())
    }

    fn asked(&mut self, heard: &Heard) -> Result<(), End> {
        let (Some(cell), "input_request") = (&mut self.cell, heard.kind.as_str()) else {
            return Ok(());
        };
        let Some(InputRequest { prompt, password }) = heard.content() else { return Ok(()) };
        cell.asked.push_back(heard.header.clone());
        Ok(self.claims.asks(&prompt, password)?)
    }

    /// Ends the cell if the kernel has both replied and published that it is idle.
    fn finish(&mut self) -> Result<(), End> {
        if self.leaving.is_some() || self.cell.as_ref().is_none_or(|cell| !cell.idle) {
            return Ok(());
        }
        let Some(cell) = self.cell.take_if(|cell| cell.reply.is_some()) else { return Ok(()) };
        let reply = cell.reply.expect("it was just seen");
        if reply.wants_to_end() {
            // How it ends is how the run ends: nothing is claimed. Most kernels end by themselves,
            // and some get stuck if they receive the request at the same time.
            self.leaving = Some((Leave::Tell, Instant::now() + FAREWELL));
            return Ok(());
        }
        self.kernel.raw.pass_on(&mut self.output)?;
        let interrupted = cell.interrupted || reply.ename.as_deref() == Some("KeyboardInterrupt");
        self.claims.finished(match reply.status.as_str() {
            "ok" => 0,
            _ if interrupted => 130,
            _ => 1,
        })?;
        match self.waiting.pop_front() {
            Some(code) => self.execute(code),
            None => Ok(()),
        }
    }

    fn heed_clock(&mut self) {
        let now = Instant::now();
        if let Some(cell) = &mut self.cell
            && cell.due.is_some_and(|due| due <= now)
        {
            cell.due = None;
            let probe = self.channels.ask(Channel::Shell, "kernel_info_request", &json!({}));
            if let Some(cell) = &mut self.cell {
                cell.probe = Some(probe);
            }
        }
        match self.leaving.filter(|(_, due)| *due <= now) {
            Some((Leave::Tell, _)) => {
                let content = json!({ "restart": false });
                self.channels.ask(Channel::Control, "shutdown_request", &content);
                self.leaving = Some((Leave::Kill, now + FAREWELL));
            }
            Some((Leave::Kill, _)) => {
                self.kernel.kill();
                self.leaving = Some((Leave::Killed, now));
            }
            Some((Leave::Killed, _)) | None => {}
        }
    }
}

impl Reply {
    /// Whether the code asked for the kernel to be ended, as `exit()` does.
    fn wants_to_end(&self) -> bool {
        self.payload.iter().any(|one| one["source"] == "ask_exit" && one["keepkernel"] != true)
    }
}
