//! One kernel: a process with two pipes and a control socket, whose other ends are handed out.

use super::{
    copies::Copies,
    processes::{send, send_group},
};
use crate::wire::{KernelInput, KernelSpec, Outward};
use rustix::{
    io::{DupFlags, Errno, dup2, dup3, fcntl_dupfd_cloexec},
    pipe::fcntl_setpipe_size,
    process::{Pid, Resource, Rlimit, Signal, prlimit},
};
use std::{
    fs::File,
    io,
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::{net::UnixStream, process::CommandExt},
    },
    process::{Child, Command, Stdio},
};

/// The descriptor on which a driver finds its control socket.
const CONTROL: i32 = 3;

/// Bytes that a pipe is to hold.
const ROOM: usize = 1 << 20;

/// A process that runs cells.
#[derive(Debug)]
pub(crate) struct Kernel {
    /// How it was started, for one like it.
    spec: KernelSpec,
    pid: Pid,
    /// Copies of its memory.
    pub(crate) copies: Copies,
}

/// The outside's ends of a kernel: of standard output, of standard error, of control, and of
/// standard input if that is a pipe.
pub(crate) type Ends = Vec<OwnedFd>;

impl Kernel {
    /// Starts one, in a process group of its own.
    pub(crate) fn start(spec: &KernelSpec, slot: &mut ControlSlot) -> io::Result<(Self, Ends)> {
        let (ours, theirs) = UnixStream::pair()?;
        #[expect(clippy::disallowed_methods, reason = "the outside spent a permit for this")]
        let mut command = Command::new(&spec.program);
        command
            .args(&spec.arguments)
            .env_clear()
            .envs(&spec.environment)
            .current_dir(&spec.folder)
            .stdin(input(&spec.input)?)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let mut child = slot.spawn(&mut command, theirs.into())?;
        let stdout = child.stdout.take().map(OwnedFd::from).expect("it was asked for");
        let stderr = child.stderr.take().map(OwnedFd::from).expect("it was asked for");
        for pipe in [&stdout, &stderr] {
            // Fewer and larger pieces. A user who has many large pipes already is refused, and
            // then the usual size does.
            fcntl_setpipe_size(pipe, ROOM).unwrap_or_default();
        }
        let stdin = child.stdin.take().map(OwnedFd::from);
        let ends = [stdout, stderr, ours.into()].into_iter().chain(stdin).collect();
        let pid = Pid::from_child(&child);
        Ok((Self { spec: spec.clone(), pid, copies: Copies::default() }, ends))
    }

    pub(crate) fn pid(&self) -> Pid {
        self.pid
    }

    /// Its process and those of its copies.
    pub(crate) fn family(&self) -> impl Iterator<Item = Pid> {
        self.copies.pids().chain([self.pid])
    }

    /// Lets a copy take its place. Gives the process that it was.
    pub(crate) fn become_copy(&mut self, copy: Pid) -> Pid {
        std::mem::replace(&mut self.pid, copy)
    }

    /// The number of its process, as the outside has it.
    pub(crate) fn process(&self) -> u32 {
        self.pid.as_raw_pid().cast_unsigned()
    }

    /// The news that it exists, with its ends.
    pub(crate) fn started(&self, kernel: u32) -> Outward {
        let input = self.spec.input == KernelInput::Pipe;
        Outward::Started { kernel, process: self.process(), input }
    }

    pub(crate) fn spec(&self) -> &KernelSpec {
        &self.spec
    }

    /// Interrupts the code and the programs it runs in the foreground.
    pub(crate) fn interrupt(&self) {
        send_group(self.pid, Signal::INT);
    }

    /// Kills the process and its group. By its own number too: it may have left its group.
    pub(crate) fn kill(&self) {
        send_group(self.pid, Signal::KILL);
        send(self.pid, Signal::KILL);
    }
}

/// The standard input of a new process.
fn input(wanted: &KernelInput) -> io::Result<Stdio> {
    Ok(match wanted {
        KernelInput::Empty => Stdio::null(),
        KernelInput::Pipe => Stdio::piped(),
        KernelInput::File(path) => File::open(path)?.into(),
    })
}

/// Descriptor 3 of the host itself, through which a new process gets its own.
///
/// Every other descriptor here is closed on execution. This one is not while a process is started,
/// and the host has one thread, so nothing else can inherit it meanwhile.
#[derive(Debug)]
pub(crate) struct ControlSlot {
    slot: OwnedFd,
    /// Stands in the slot while nothing is started.
    nothing: OwnedFd,
    /// Files that a new process may have open, if that is less than the host may. The kernel lets a
    /// process send descriptors only while fewer than that of its user are on the way: code can use
    /// up its own, and not the host's.
    pub(crate) open_files: Option<u64>,
}

impl ControlSlot {
    /// Takes the descriptor. Nothing else may have it.
    pub(crate) fn take() -> io::Result<Self> {
        let nothing = OwnedFd::from(File::open("/dev/null")?);
        let nothing = fcntl_dupfd_cloexec(nothing, CONTROL + 1)?;
        let slot = fcntl_dupfd_cloexec(&nothing, CONTROL)?;
        if slot.as_raw_fd() == CONTROL {
            Ok(Self { slot, nothing, open_files: None })
        } else {
            Err(Errno::BUSY.into())
        }
    }

    fn spawn(&mut self, command: &mut Command, control: OwnedFd) -> io::Result<Child> {
        dup2(control, &mut self.slot)?;
        let child = command.spawn();
        dup3(&self.nothing, &mut self.slot, DupFlags::CLOEXEC)?;
        let mut child = child?;
        if let Err(error) = self.bound(&child) {
            child.kill()?;
            child.wait()?;
            return Err(error.into());
        }
        Ok(child)
    }

    /// Before it is given any code.
    fn bound(&self, child: &Child) -> rustix::io::Result<()> {
        let Some(most) = self.open_files else { return Ok(()) };
        let limit = Rlimit { current: Some(most), maximum: Some(most) };
        prlimit(Some(Pid::from_child(child)), Resource::Nofile, limit)?;
        Ok(())
    }
}
