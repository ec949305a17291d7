//! The host's one loop: waits for the stream and the kernels' deaths, and acts.
//!
//! One thread sleeps in `poll` until something can be done; there are no timers. No read or write
//! blocks. What kernels print and say does not come through here: the outside has their wires.

use crate::census::{Census, Room};
use crate::egress::{ADDRESS, SOCKET, hand_out};
use crate::error::HostError;
use crate::frame::Decoder;
use crate::kernel::Kernel;
use crate::message::{Inward, KernelSpec, Outward};
use crate::outgoing::{Connection, Outgoing};
use crate::processes::{Buried, Dead, Role, bury, find_dead, kill_all_but};
use crate::restore::restore;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::read;
use std::collections::{BTreeMap, btree_map::Entry};
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitCode;

/// Is the host, on stdin and stdout. Called first thing by the binary, before any thread exists.
#[expect(clippy::disallowed_methods, reason = "the stream of a process inside, not a person's")]
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
    scratch: Vec<u8>,
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
            scratch: vec![0; 64 << 10],
        })
    }

    fn serve(&mut self) -> Result<(), HostError> {
        loop {
            if self.outgoing.send(&self.output) == Connection::Ended {
                return Ok(());
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
        if !self.outgoing.is_empty() {
            ready.push(Ready::Sending);
            polled.push(PollFd::new(self.output.as_fd(), PollFlags::POLLOUT));
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
            Ready::Requests => self.receive_requests(),
            Ready::Sending => Ok(self.outgoing.send(&self.output)),
            Ready::Deaths => {
                self.bury_the_dead();
                Ok(Connection::Open)
            }
        }
    }

    fn receive_requests(&mut self) -> Result<Connection, HostError> {
        match read(&self.input, &mut self.scratch) {
            Ok(count) if count > 0 => self.requests.push(&self.scratch[..count]),
            Err(Errno::EAGAIN | Errno::EINTR) => {}
            // A reset socket, say: nothing will come.
            Ok(_) | Err(_) => return Ok(Connection::Ended),
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
            // It may be another one by now, where room had to be made.
            Inward::Kill { kernel, process } => {
                let kernel = self.kernels.get(&kernel);
                if let Some(kernel) = kernel.filter(|kernel| kernel.process() == process) {
                    kernel.kill();
                }
            }
            Inward::Tidy { kernel } => {
                self.make_room(kernel);
                self.outgoing.push(&Outward::Tidied { kernel });
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
        let (answer, ends) = match self.kernels.entry(number) {
            Entry::Occupied(_) => (failed(format!("kernel {number} is running already")), None),
            Entry::Vacant(entry) => match Kernel::start(spec) {
                Ok((kernel, ends)) => {
                    let process = entry.insert(kernel).process();
                    (Outward::Started { kernel: number, process }, Some(ends))
                }
                Err(error) => {
                    let (program, folder) = (spec.program.display(), spec.folder.display());
                    (failed(format!("cannot start `{program}` in `{folder}`: {error}")), None)
                }
            },
        };
        self.outgoing.push_with(&answer, ends);
    }

    /// Where earlier code has left so many processes that none can be started, everything is
    /// ended. The kernel that room is `wanted` for is started again if it was there.
    fn make_room(&mut self, wanted: u32) {
        if !self.room.is_crowded() {
            return;
        }
        self.role.end_all();
        self.outgoing.push(&Outward::Crowded { kernel: wanted });
        for (number, kernel) in std::mem::take(&mut self.kernels) {
            if number == wanted
                && let Ok((kernel, ends)) = Kernel::start(kernel.spec())
            {
                let started = Outward::Started { kernel: number, process: kernel.process() };
                self.kernels.insert(number, kernel);
                self.outgoing.push_with(&started, Some(ends));
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
        let Some(kernel) = self.kernels.remove(&number) else { return };
        kernel.kill();
        let status = kernel.bury();
        self.outgoing.push(&Outward::Exited {
            kernel: number,
            status: status.and_then(|status| status.code()),
            signal: status.and_then(|status| status.signal()),
        });
    }
}

/// Makes reads and writes return at once.
fn set_nonblocking(fd: impl AsFd) -> Result<(), Errno> {
    let fd = fd.as_fd();
    let flags = OFlag::from_bits_retain(fcntl(fd, FcntlArg::F_GETFL)?);
    fcntl(fd, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK)).map(drop)
}
