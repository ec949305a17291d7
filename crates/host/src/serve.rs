//! The host's one loop: waits for the stream, the kernels and their deaths, and acts.
//!
//! One thread sleeps in `poll` until something can be done; there are no timers. No read or write
//! blocks. When the outside is slow to read, the kernels are read less, so the pressure reaches
//! the programs that write; requests from the outside are always read, so that it can stop them.
//!
//! Order is the promise here: output that was written before a claim, or before a death, is sent
//! before it.

use crate::buffer::Buffer;
use crate::claim::Claim;
use crate::error::HostError;
use crate::frame::{Decoder, encode};
use crate::kernel::{Kernel, NextClaim, PIECE, Received, Stream, receive, set_nonblocking};
use crate::message::{Inward, KernelSpec, Outward};
use crate::processes::{Buried, Dead, Role, bury, find_dead};
use crate::restore::restore;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::write;
use std::collections::{BTreeMap, btree_map::Entry};
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitCode;

/// Kernels are read only while less than this waits to be sent. One claim and what the pipes
/// hold may come on top of it.
const ENOUGH: usize = 1 << 20;

/// The most that is read of a dead kernel's socket, which a child of it may still write to.
const LAST_WORDS: usize = 1 << 20;

/// Is the host, on stdin and stdout. Called first thing by the binary, before any thread exists.
pub fn run() -> ExitCode {
    // Code inside shares this process's user and must not look into it. Where that cannot be
    // had, the process namespace and the filter still stand.
    nix::sys::prctl::set_dumpable(false).unwrap_or_default();
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

/// Whether the stream to the outside goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Connection {
    Open,
    Ended,
}

struct Host {
    input: OwnedFd,
    output: OwnedFd,
    deaths: SignalFd,
    role: Role,
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
        Ok(Self {
            input,
            output,
            deaths,
            role: Role::assume()?,
            requests: Decoder::default(),
            kernels: BTreeMap::new(),
            outgoing: Outgoing { frames: Buffer::default(), scratch: vec![0; PIECE] },
        })
    }

    fn serve(&mut self) -> Result<(), HostError> {
        loop {
            for (&number, kernel) in &mut self.kernels {
                self.outgoing.forward_claims(number, kernel);
            }
            for ready in self.wait()? {
                if self.act(ready)? == Connection::Ended {
                    return Ok(());
                }
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
        if !self.outgoing.frames.is_empty() {
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
            Inward::Start { kernel, spec } => self.start(kernel, &spec),
            // A kernel that is gone has said so, or is about to.
            Inward::Execute { kernel, code } => {
                if let Some(kernel) = self.kernels.get_mut(&kernel) {
                    kernel.execute(&code);
                }
            }
            Inward::Answer { kernel, text } => {
                if let Some(kernel) = self.kernels.get_mut(&kernel) {
                    kernel.answer(text.as_deref());
                }
            }
            Inward::Interrupt { kernel } => {
                if let Some(kernel) = self.kernels.get(&kernel) {
                    kernel.interrupt();
                }
            }
            Inward::Stop { kernel } => match self.kernels.get(&kernel) {
                None => {}
                Some(_) if self.kernels.len() == 1 => self.role.kill_all(),
                Some(kernel) => kernel.kill_descendants(),
            },
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
        let mut left = LAST_WORDS;
        while let Received::Bytes(count) = kernel.receive_claims(&mut self.outgoing.scratch) {
            left = left.saturating_sub(count);
            if left == 0 {
                break;
            }
        }
        // Before the claims and not for each: nothing is written any more.
        self.outgoing.drain(number, &mut kernel);
        while let NextClaim::Line(claim) = kernel.next_claim() {
            self.outgoing.push(&Outward::Claim { kernel: number, claim });
        }
        let status = kernel.bury();
        self.outgoing.push(&Outward::Exited {
            kernel: number,
            status: status.and_then(|status| status.code()),
            signal: status.and_then(|status| status.signal()),
        });
    }
}

/// What waits to be sent.
struct Outgoing {
    frames: Buffer,
    scratch: Vec<u8>,
}

impl Outgoing {
    fn has_room(&self) -> bool {
        self.frames.len() < ENOUGH
    }

    fn push(&mut self, message: &Outward) {
        encode(message, self.frames.end()).expect("what the host says is bounded where it arises");
    }

    /// Sends as much as the stream takes.
    fn send(&mut self, output: &OwnedFd) -> Connection {
        while !self.frames.is_empty() {
            match write(output, self.frames.unused()) {
                Ok(count) => self.frames.consume(count),
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => break,
                // Nobody reads any more.
                Err(_) => return Connection::Ended,
            }
        }
        Connection::Open
    }

    /// Passes on what a driver said, each line after all output that was written before it.
    fn forward_claims(&mut self, number: u32, kernel: &mut Kernel) {
        while self.has_room() {
            match kernel.next_claim() {
                NextClaim::Line(claim) => {
                    if let Ok(Claim::Finished { .. }) = Claim::parse(&claim) {
                        kernel.finish_cell();
                    }
                    self.drain(number, kernel);
                    self.push(&Outward::Claim { kernel: number, claim });
                }
                NextClaim::None => return,
                NextClaim::TooLong => return kernel.silence(),
            }
        }
    }

    /// Passes on what is in the pipes now, and not what comes after it.
    fn drain(&mut self, number: u32, kernel: &mut Kernel) {
        for stream in Stream::BOTH {
            let mut left = kernel.capacity(stream);
            while left > 0 {
                match self.forward_output(number, kernel, stream, left) {
                    Received::Bytes(count) => left = left.saturating_sub(count),
                    Received::Nothing | Received::End => break,
                }
            }
        }
    }

    /// Passes on one piece of output.
    fn forward_output(
        &mut self,
        number: u32,
        kernel: &mut Kernel,
        stream: Stream,
        most: usize,
    ) -> Received {
        let most = most.min(self.scratch.len());
        let received = kernel.receive(stream, &mut self.scratch[..most]);
        if let Received::Bytes(count) = received {
            let bytes = self.scratch[..count].to_vec();
            self.push(&match stream {
                Stream::Stdout => Outward::Stdout { kernel: number, bytes },
                Stream::Stderr => Outward::Stderr { kernel: number, bytes },
            });
        }
        received
    }
}
