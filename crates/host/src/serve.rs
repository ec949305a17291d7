//! The host's one loop: waits for the stream, the kernels and their deaths, and acts.
//!
//! One thread sleeps in `poll` until something can be done; there are no timers. No read or write
//! blocks. When the outside is slow to read, the kernels are read less, so the pressure reaches
//! the programs that write; requests from the outside are always read, so that it can stop them.
//!
//! Order is the promise here: output that was written before a claim, or before a death, is sent
//! before it.

use crate::census::{Census, Room};
use crate::egress::{ADDRESS, SOCKET, hand_out};
use crate::error::HostError;
use crate::frame::Decoder;
use crate::kernel::{Kernel, PIECE, Received, Stream, receive, set_nonblocking};
use crate::message::{Inward, KernelSpec, Outward};
use crate::outgoing::{Connection, Outgoing};
use crate::processes::{Buried, Dead, Role, bury, find_dead, kill_all_but};
use crate::restore::restore;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use std::collections::{BTreeMap, btree_map::Entry};
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitCode;

/// Is the host, on stdin and stdout. Called first thing by the binary, before any thread exists.
pub fn run() -> ExitCode {
    // Code inside shares this process's user and must not look into it. Where that cannot be
    // had, the process namespace and the filter still stand.
    nix::sys::prctl::set_dumpable(false).unwrap_or_default();
    // Before anything that could be in its way.
    if let Err(error) = hand_out(Path::new(SOCKET), ADDRESS) {
        drop(writeln!(io::stderr(), "the way out could not be handed out: {error}"));
        return ExitCode::from(70);
    }
    let input = io::stdin().as_fd().try_clone_to_owned();
    let output = io::stdout().as_fd().try_clone_to_owned();
    let served = input
        .and_then(|input| Ok((input, output?)))
        .map_err(|source| HostError::Stream { source })
        .and_then(|(input, output)| serve(input, output));
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody may be listening; the exit code says that something went wrong.
            drop(writeln!(io::stderr(), "{error}: {:?}", std::error::Error::source(&error)));
            ExitCode::from(70)
        }
    }
}

/// Is the host, on the given stream, until the stream ends. Then all kernels are dead.
///
/// Takes the whole process: it waits for every child there is and gets all orphans. Other threads,
/// if there are any, must block SIGCHLD, or one of them swallows it. Descriptors that this process
/// was given and that are not closed on execution reach the kernels: whoever starts it closes them.
///
/// # Errors
/// If the stream from the outside is broken, or the system refuses the host its means.
pub fn serve(input: OwnedFd, output: OwnedFd) -> Result<(), HostError> {
    let mut host = Host::new(input, output).map_err(|source| HostError::Prepare { source })?;
    let ended = host.serve();
    host.role.end_all();
    ended
}

/// What can be done without waiting.
#[derive(Clone, Copy, Debug)]
enum Ready {
    Requests,
    Sending,
    Deaths,
    Output(u32, Stream),
    Claims(u32),
    Cells(u32),
}

struct Host {
    input: OwnedFd,
    output: OwnedFd,
    deaths: SignalFd,
    role: Role,
    room: Room,
    requests: Decoder<Inward>,
    kernels: BTreeMap<u32, Kernel>,
    outgoing: Outgoing,
}

impl Host {
    fn new(input: OwnedFd, output: OwnedFd) -> Result<Self, Errno> {
        set_nonblocking(&input)?;
        set_nonblocking(&output)?;
        let mut mask = SigSet::empty();
        mask.add(Signal::SIGCHLD);
        mask.thread_block()?;
        let deaths = SignalFd::with_flags(&mask, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        let role = Role::assume()?;
        let room = match role {
            Role::First => Room::of_namespace(),
            Role::Ordinary => Room::boundless(),
        };
        Ok(Self {
            input,
            output,
            deaths,
            role,
            room,
            requests: Decoder::default(),
            kernels: BTreeMap::new(),
            outgoing: Outgoing::default(),
        })
    }

    fn serve(&mut self) -> Result<(), HostError> {
        loop {
            if self.pass_on() == Connection::Ended {
                return Ok(());
            }
            for ready in self.wait()? {
                if self.act(ready)? == Connection::Ended {
                    return Ok(());
                }
            }
        }
    }

    /// Passes on what the drivers said, as far as the outside takes it without waiting. What is
    /// left then is taken up again when it reads on: nothing else would wake us for it.
    fn pass_on(&mut self) -> Connection {
        loop {
            for (&number, kernel) in &mut self.kernels {
                self.outgoing.forward_claims(number, kernel);
            }
            if self.outgoing.is_empty() {
                return Connection::Open;
            }
            if self.outgoing.send(&self.output) == Connection::Ended {
                return Connection::Ended;
            }
            if !self.outgoing.is_empty() {
                return Connection::Open;
            }
        }
    }

    /// Sleeps until something can be done.
    fn wait(&self) -> Result<Vec<Ready>, HostError> {
        let mut ready = vec![Ready::Requests, Ready::Deaths];
        let mut polled = vec![
            PollFd::new(self.input.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.deaths.as_fd(), PollFlags::POLLIN),
        ];
        let mut watch = |what, fd, flags| {
            ready.push(what);
            polled.push(PollFd::new(fd, flags));
        };
        if !self.outgoing.is_empty() {
            watch(Ready::Sending, self.output.as_fd(), PollFlags::POLLOUT);
        }
        for (&number, kernel) in &self.kernels {
            if self.outgoing.has_room() {
                for stream in Stream::BOTH {
                    if let Some(pipe) = kernel.output(stream) {
                        watch(Ready::Output(number, stream), pipe, PollFlags::POLLIN);
                    }
                }
                if let Some(control) = kernel.control() {
                    watch(Ready::Claims(number), control, PollFlags::POLLIN);
                }
            }
            if let (Some(control), true) = (kernel.control(), kernel.has_cells_to_send()) {
                watch(Ready::Cells(number), control, PollFlags::POLLOUT);
            }
        }
        match poll(&mut polled, PollTimeout::NONE) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(source) => return Err(HostError::Wait { source }),
        }
        let woken = polled.iter().map(|one| one.any().unwrap_or(true));
        Ok(ready.into_iter().zip(woken).filter_map(|(what, woken)| woken.then_some(what)).collect())
    }

    fn act(&mut self, ready: Ready) -> Result<Connection, HostError> {
        match ready {
            Ready::Requests => return self.receive_requests(),
            Ready::Sending => return Ok(self.outgoing.send(&self.output)),
            Ready::Deaths => self.bury_the_dead(),
            // A kernel may have died of what was ready before.
            Ready::Output(number, stream) => {
                if let Some(kernel) = self.kernels.get_mut(&number) {
                    self.outgoing.forward_output(number, kernel, stream, PIECE);
                }
            }
            Ready::Claims(number) => {
                if let Some(kernel) = self.kernels.get_mut(&number) {
                    kernel.receive_claims(&mut self.outgoing.scratch);
                }
            }
            Ready::Cells(number) => {
                if let Some(kernel) = self.kernels.get_mut(&number) {
                    kernel.send_cells();
                }
            }
        }
        Ok(Connection::Open)
    }

    fn receive_requests(&mut self) -> Result<Connection, HostError> {
        match receive(self.input.as_fd(), &mut self.outgoing.scratch) {
            Received::Bytes(count) => self.requests.push(&self.outgoing.scratch[..count]),
            Received::Nothing => {}
            Received::End => return Ok(Connection::Ended),
        }
        while let Some(request) = self.requests.next() {
            self.obey(request?);
        }
        Ok(Connection::Open)
    }

    fn obey(&mut self, request: Inward) {
        match request {
            Inward::Start { kernel, spec } => {
                self.make_room(kernel);
                self.start(kernel, &spec);
            }
            // A kernel that is gone has said so, or is about to.
            Inward::Execute { kernel, code } => {
                self.make_room(kernel);
                if let Some(kernel) = self.kernels.get_mut(&kernel) {
                    kernel.execute(&code);
                }
            }
            Inward::Answer { kernel, text } => {
                if let Some(kernel) = self.kernels.get_mut(&kernel) {
                    kernel.answer(text.as_deref());
                }
            }
            Inward::Complete { kernel, code, cursor } => {
                if let Some(kernel) = self.kernels.get_mut(&kernel) {
                    kernel.complete(&code, cursor);
                }
            }
            Inward::Interrupt { kernel } => {
                if let Some(kernel) = self.kernels.get(&kernel) {
                    kernel.interrupt();
                }
            }
            // One that is gone may have left something behind.
            Inward::Stop { kernel } => {
                let others = self.kernels.iter().filter(|(number, _)| **number != kernel);
                let spared: Vec<_> = others.map(|(_, other)| other.pid()).collect();
                match spared.as_slice() {
                    [] => self.role.kill_all(),
                    spared => kill_all_but(self.role, spared),
                }
            }
            Inward::Measure => {
                self.outgoing.push(&Outward::Used { milliseconds: Census::take().used() });
            }
            Inward::Restore { work, lower, paths } => {
                let errors = restore(&work, &lower, &paths);
                self.outgoing.push(&Outward::Restored { errors });
            }
        }
    }

    fn start(&mut self, number: u32, spec: &KernelSpec) {
        let failed = |message| Outward::Failed { kernel: number, message };
        let answer = match self.kernels.entry(number) {
            Entry::Occupied(_) => failed(format!("kernel {number} is running already")),
            Entry::Vacant(entry) => match Kernel::start(spec) {
                Ok(kernel) => {
                    entry.insert(kernel);
                    Outward::Started { kernel: number }
                }
                Err(error) => {
                    let (program, folder) = (spec.program.display(), spec.folder.display());
                    failed(format!("cannot start `{program}` in `{folder}`: {error}"))
                }
            },
        };
        self.outgoing.push(&answer);
    }

    /// Where earlier code has left so many processes that none can be started, everything is
    /// ended. The kernel that room is `wanted` for is started again if it was there.
    fn make_room(&mut self, wanted: u32) {
        if !self.room.is_crowded() {
            return;
        }
        self.role.end_all();
        self.outgoing.push(&Outward::Crowded { kernel: wanted });
        for (number, mut kernel) in std::mem::take(&mut self.kernels) {
            self.outgoing.last_words(number, &mut kernel);
            if number == wanted
                && let Ok(kernel) = Kernel::start(kernel.spec())
            {
                self.kernels.insert(number, kernel);
                continue;
            }
            let (status, signal) = (None, Some(Signal::SIGKILL as i32));
            self.outgoing.push(&Outward::Exited { kernel: number, status, signal });
        }
    }

    fn bury_the_dead(&mut self) {
        // Signals are merged, so their number says nothing.
        while let Ok(Some(_)) = self.deaths.read_signal() {}
        loop {
            match find_dead() {
                Dead::None => return,
                Dead::One(pid) => {
                    match self.kernels.iter().find(|(_, kernel)| kernel.pid() == pid) {
                        Some((&number, _)) => self.end(number),
                        None => _ = bury(Some(pid)),
                    }
                }
                Dead::Unnamed => {
                    let dead = self.kernels.iter().find(|(_, kernel)| kernel.is_dead());
                    match dead.map(|(&number, _)| number) {
                        Some(number) => self.end(number),
                        None if bury(None) == Buried::None => return,
                        None => {}
                    }
                }
            }
        }
    }

    /// Tells the end of a kernel that is dead and not buried.
    fn end(&mut self, number: u32) {
        let Some(mut kernel) = self.kernels.remove(&number) else { return };
        kernel.kill();
        self.outgoing.last_words(number, &mut kernel);
        let status = kernel.bury();
        self.outgoing.push(&Outward::Exited {
            kernel: number,
            status: status.and_then(|status| status.code()),
            signal: status.and_then(|status| status.signal()),
        });
    }
}
