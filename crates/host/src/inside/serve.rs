//! The host's one loop: waits for the stream and the kernels' deaths, and acts.
//!
//! One thread sleeps in `poll` until something can be done; there are no timers. No read or write
//! blocks. Output and claims of kernels do not pass through here: the outside has their wires.

use super::{
    census::{Census, Room, is_alive},
    copies::{WAKE, clear_away, hold, is_ours},
    egress::{ADDRESS, SOCKET, hand_out},
    empty::empty,
    error::ServeError,
    kernel::{ControlSlot, Kernel},
    outgoing::{Connection, Outgoing},
    processes::{Role, kill_all_but, send, send_group},
    restore::restore,
};
use crate::wire::{Decoder, Inward, KernelSpec, Outward};
use rustix::{
    event::{PollFd, PollFlags, poll},
    io::{Errno, fcntl_dupfd_cloexec, ioctl_fionbio, read},
    process::{
        DumpableBehavior, Pid, Signal, WaitOptions, WaitStatus, getpid, set_dumpable_behavior, wait,
    },
};
use std::{
    collections::{BTreeMap, btree_map::Entry},
    io::{self, Read, Write},
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::UnixStream,
    },
    path::Path,
    process::ExitCode,
};

/// Is the host, on stdin and stdout. Called first thing by the binary, before any thread exists.
/// Its arguments are how many processes and threads there may be inside, and how many files a
/// process of code may have open.
#[expect(clippy::disallowed_methods, reason = "the stream of a process inside, not a person's")]
pub fn run() -> ExitCode {
    // Code inside shares this process's user and must not look into it. Where the system refuses
    // that, the process namespace and the filter still stand.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).unwrap_or_default();
    // Before anything that could be in its way.
    if let Err(error) = hand_out(Path::new(SOCKET), ADDRESS) {
        drop(writeln!(io::stderr(), "the way out could not be handed out: {error}"));
        return ExitCode::from(70);
    }
    let number = |at| std::env::args().nth(at).and_then(|text| text.parse().ok());
    let (most, open_files) = (number(1), number(2));
    let input = io::stdin().as_fd().try_clone_to_owned();
    let output = io::stdout().as_fd().try_clone_to_owned();
    let served = input
        .and_then(|input| Ok((input, output?)))
        .map_err(|source| ServeError::Stream { source })
        .and_then(|(input, output)| serve_bounded(input, output, most, open_files));
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody may be listening; the exit code says that something went wrong.
            drop(writeln!(io::stderr(), "{error}: {:?}", std::error::Error::source(&error)));
            ExitCode::from(70)
        }
    }
}

/// Is the host, on the given stream, until the stream ends. Then all kernels are dead. `most` is how
/// many processes and threads there may be inside, where something else than the limit of this
/// process bounds them.
///
/// Takes the whole process: it waits for every child there is, gets all orphans, and needs descriptor
/// 3 for itself. Descriptors that this process was given and that are not closed on execution reach
/// the kernels: whoever starts it closes them.
///
/// # Errors
/// If the stream from the outside is broken, or the system refuses the host its means.
pub fn serve(input: OwnedFd, output: OwnedFd, most: Option<u64>) -> Result<(), ServeError> {
    serve_bounded(input, output, most, None)
}

fn serve_bounded(
    input: OwnedFd,
    output: OwnedFd,
    most: Option<u64>,
    open_files: Option<u64>,
) -> Result<(), ServeError> {
    let mut host =
        Host::new(input, output, most).map_err(|source| ServeError::Prepare { source })?;
    host.slot.open_files = open_files;
    let ended = host.serve();
    host.end_all();
    ended
}

/// Work that needs no waiting.
#[derive(Clone, Copy, Debug)]
enum Ready {
    Requests,
    Sending,
    Deaths,
}

struct Host {
    input: OwnedFd,
    output: OwnedFd,
    /// Readable after a death.
    deaths: UnixStream,
    slot: ControlSlot,
    role: Role,
    room: Room,
    requests: Decoder<Inward>,
    kernels: BTreeMap<u32, Kernel>,
    outgoing: Outgoing,
    scratch: Vec<u8>,
}

impl Host {
    fn new(input: OwnedFd, output: OwnedFd, most: Option<u64>) -> io::Result<Self> {
        // Out of the slot's way.
        let [input, output] = [fcntl_dupfd_cloexec(input, 4)?, fcntl_dupfd_cloexec(output, 4)?];
        for stream in [&input, &output] {
            ioctl_fionbio(stream, true)?;
        }
        let slot = ControlSlot::take()?;
        let (deaths, died) = UnixStream::pair()?;
        deaths.set_nonblocking(true)?;
        signal_hook::low_level::pipe::register(Signal::CHILD.as_raw(), died)?;
        let role = Role::assume()?;
        let room = match role {
            Role::First => Room::of_namespace(most),
            Role::Ordinary => Room::boundless(),
        };
        Ok(Self {
            input,
            output,
            deaths,
            slot,
            role,
            room,
            requests: Decoder::default(),
            kernels: BTreeMap::new(),
            outgoing: Outgoing::default(),
            scratch: vec![0; 64 << 10],
        })
    }

    fn serve(&mut self) -> Result<(), ServeError> {
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
    fn wait(&self) -> Result<Vec<Ready>, ServeError> {
        let mut ready = vec![Ready::Requests, Ready::Deaths];
        let mut polled =
            vec![PollFd::new(&self.input, PollFlags::IN), PollFd::new(&self.deaths, PollFlags::IN)];
        if !self.outgoing.is_empty() {
            ready.push(Ready::Sending);
            polled.push(PollFd::new(&self.output, PollFlags::OUT));
        }
        match poll(&mut polled, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(source) => return Err(ServeError::Wait { source }),
        }
        let woken = polled.iter().map(|one| !one.revents().is_empty());
        Ok(ready.into_iter().zip(woken).filter_map(|(what, woken)| woken.then_some(what)).collect())
    }

    fn act(&mut self, ready: Ready) -> Result<Connection, ServeError> {
        match ready {
            Ready::Requests => self.receive_requests(),
            Ready::Sending => Ok(self.outgoing.send(&self.output)),
            Ready::Deaths => {
                self.bury_the_dead();
                Ok(Connection::Open)
            }
        }
    }

    fn receive_requests(&mut self) -> Result<Connection, ServeError> {
        match read(&self.input, &mut self.scratch[..]) {
            Ok(count) if count > 0 => self.requests.push(&self.scratch[..count]),
            Err(Errno::AGAIN | Errno::INTR) => {}
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
                if let Some(stopped) = self.kernels.get_mut(&kernel) {
                    stopped.copies.release_all();
                }
                let others = self.kernels.iter().filter(|(number, _)| **number != kernel);
                let spared: Vec<_> = others.flat_map(|(_, other)| other.family()).collect();
                if spared.is_empty() {
                    return self.end_all();
                }
                for pid in kill_all_but(self.role, &spared) {
                    while is_alive(pid) && self.bury_one(WaitOptions::empty()) {}
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
            Inward::Hold { kernel, number, process, most } => {
                let held = hold(&mut self.kernels, kernel, number, process, most);
                self.outgoing.push(&Outward::Held { kernel, number, held });
            }
            Inward::Release { kernel, number } => {
                if let Some(kernel) = self.kernels.get_mut(&kernel) {
                    kernel.copies.release(number);
                }
            }
            Inward::Rewind { kernel, number } => {
                let process = self.rewind(kernel, number).unwrap_or(0);
                self.outgoing.push(&Outward::Rewound { kernel, number, process });
            }
            Inward::Measure => {
                self.outgoing.push(&Outward::Used { milliseconds: Census::take().used() });
            }
            Inward::Count => {
                let kernels: Vec<_> = self.kernels.values().flat_map(Kernel::family).collect();
                let all = Census::take().descendants(getpid(), &[]);
                let programs = all.iter().filter(|pid| !kernels.contains(pid)).count();
                let count = u32::try_from(programs).unwrap_or(u32::MAX);
                self.outgoing.push(&Outward::Programs { count });
            }
            Inward::Empty { folders, home } => {
                let clean = empty(&folders, &home);
                self.outgoing.push(&Outward::Emptied { clean });
            }
            Inward::Restore { work, lower, paths, scratch } => {
                let errors = restore(&work, &lower, &paths, &scratch);
                self.outgoing.push(&Outward::Restored { errors });
            }
        }
    }

    fn start(&mut self, number: u32, spec: &KernelSpec) {
        let failed = |message| Outward::Failed { kernel: number, message };
        let (answer, ends) = match self.kernels.entry(number) {
            Entry::Occupied(_) => (failed(format!("kernel {number} is running already")), None),
            Entry::Vacant(entry) => match Kernel::start(spec, &mut self.slot) {
                Ok((kernel, ends)) => (entry.insert(kernel).started(number), Some(ends)),
                Err(error) => {
                    let (program, folder) = (spec.program.display(), spec.folder.display());
                    (failed(format!("cannot start `{program}` in `{folder}`: {error}")), None)
                }
            },
        };
        self.outgoing.push_with(&answer, ends);
    }

    /// Lets a copy take the place of a kernel: its process, if there is such a copy.
    fn rewind(&mut self, kernel: u32, number: u32) -> Option<u32> {
        let rewound = self.kernels.get_mut(&kernel)?;
        let copy = rewound.copies.take(number)?;
        if !is_ours(copy) {
            send(copy, Signal::KILL);
            return None;
        }
        rewound.copies.release_from(number);
        let (before, process) = (rewound.become_copy(copy), rewound.process());
        clear_away(before);
        // And whatever earlier code left behind, wherever it hid: nothing of a later time may see a
        // copy awake.
        let spared: Vec<_> = self.kernels.values().flat_map(Kernel::family).collect();
        let left = kill_all_but(self.role, &spared);
        for pid in left.into_iter().chain([before]) {
            while is_alive(pid) && self.bury_one(WaitOptions::empty()) {}
        }
        // It may have died meanwhile, and was then buried as the kernel.
        if self.kernels.get(&kernel).is_some_and(|kernel| kernel.pid() == copy) {
            send(copy, WAKE);
        }
        Some(process)
    }

    /// Where earlier code has left so many processes that none can be started, everything is
    /// ended. The kernel that room is `wanted` for is started again if it was there.
    fn make_room(&mut self, wanted: u32) {
        if !self.room.is_crowded() || self.is_room_without_copies() {
            return;
        }
        let kernels = std::mem::take(&mut self.kernels);
        self.end_all();
        self.outgoing.push(&Outward::Crowded { kernel: wanted });
        for (number, kernel) in kernels {
            if number == wanted
                && let Ok((kernel, ends)) = Kernel::start(kernel.spec(), &mut self.slot)
            {
                let started = kernel.started(number);
                self.kernels.insert(number, kernel);
                self.outgoing.push_with(&started, Some(ends));
                continue;
            }
            let (status, signal) = (None, Some(Signal::KILL.as_raw()));
            self.outgoing.push(&Outward::Exited { kernel: number, status, signal });
        }
    }

    /// Ends all copies, if there are any. Whether that was enough.
    fn is_room_without_copies(&mut self) -> bool {
        let copies: Vec<_> =
            self.kernels.values().flat_map(|kernel| kernel.copies.pids()).collect();
        for (&kernel, of) in &mut self.kernels {
            for number in of.copies.release_all() {
                self.outgoing.push(&Outward::Held { kernel, number, held: false });
            }
        }
        for &copy in &copies {
            while is_alive(copy) && self.bury_one(WaitOptions::empty()) {}
        }
        !copies.is_empty() && !self.room.is_crowded()
    }

    fn bury_the_dead(&mut self) {
        // Before the dead are looked for: another may die meanwhile.
        while self.deaths.read(&mut self.scratch).is_ok_and(|count| count > 0) {}
        while self.bury_one(WaitOptions::NOHANG) {}
    }

    /// Kills everything and waits until it is dead. Children of the dead come to us and are killed
    /// in their turn.
    fn end_all(&mut self) {
        for kernel in self.kernels.values_mut() {
            kernel.copies.release_all();
        }
        loop {
            self.role.kill_all();
            if !self.bury_one(WaitOptions::empty()) {
                return;
            }
        }
    }

    /// Buries a child that is dead, or the next that dies. Says whether there may be another.
    fn bury_one(&mut self, options: WaitOptions) -> bool {
        match wait(options) {
            Ok(Some((pid, status))) => self.buried(pid, status),
            Err(Errno::INTR) => {}
            Ok(None) | Err(_) => return false,
        }
        true
    }

    /// Ends the group and the copies of a kernel and tells of it, if it was one that was buried.
    fn buried(&mut self, pid: Pid, status: WaitStatus) {
        let found = self.kernels.iter().find(|(_, kernel)| kernel.pid() == pid);
        let Some(kernel) = found.map(|(&number, _)| number) else {
            for (&kernel, of) in &mut self.kernels {
                if let Some(number) = of.copies.forget(pid) {
                    self.outgoing.push(&Outward::Held { kernel, number, held: false });
                }
            }
            return;
        };
        if let Some(mut dead) = self.kernels.remove(&kernel) {
            dead.copies.release_all();
        }
        // A group with members keeps its number. That of an empty one is given again only after all
        // others were, and nobody could be hit whom the code could not hit by itself.
        send_group(pid, Signal::KILL);
        let (status, signal) = (status.exit_status(), status.terminating_signal());
        self.outgoing.push(&Outward::Exited { kernel, status, signal });
    }
}
