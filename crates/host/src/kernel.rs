//! One kernel: a process with two pipes and a control socket, whose other ends are handed out.

use crate::message::KernelSpec;
use crate::processes::{self, send, send_group};
use command_fds::{CommandFdExt, FdMapping};
use nix::fcntl::{FcntlArg, fcntl};
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::{net::UnixStream, process::CommandExt};
use std::process::{Child, Command, ExitStatus, Stdio};

/// The descriptor on which a driver finds its control socket.
const CONTROL: i32 = 3;

/// Bytes that a pipe is to hold.
const ROOM: i32 = 1 << 20;

/// A process that runs cells.
#[derive(Debug)]
pub(crate) struct Kernel {
    /// How it was started, for one like it.
    spec: KernelSpec,
    child: Child,
}

/// The outside's ends of a kernel: of standard output, of standard error, of control.
pub(crate) type Ends = [OwnedFd; 3];

impl Kernel {
    /// Starts one, in a process group of its own.
    pub(crate) fn start(spec: &KernelSpec) -> io::Result<(Self, Ends)> {
        let (ours, theirs) = UnixStream::pair()?;
        #[expect(clippy::disallowed_methods, reason = "the outside spent a permit for this")]
        let mut command = Command::new(&spec.program);
        command
            .args(&spec.arguments)
            .env_clear()
            .envs(&spec.environment)
            .current_dir(&spec.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        command
            .fd_mappings(vec![FdMapping { parent_fd: theirs.into(), child_fd: CONTROL }])
            .expect("one mapping cannot collide");
        let mut child = command.spawn()?;
        let stdout = child.stdout.take().map(OwnedFd::from).expect("it was asked for");
        let stderr = child.stderr.take().map(OwnedFd::from).expect("it was asked for");
        for pipe in [&stdout, &stderr] {
            // Fewer and larger pieces. A user who has many large pipes already is refused, and
            // then the usual size does.
            fcntl(pipe, FcntlArg::F_SETPIPE_SZ(ROOM)).unwrap_or_default();
        }
        Ok((Self { spec: spec.clone(), child }, [stdout, stderr, ours.into()]))
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.id()).expect("the system's process ids are i32"))
    }

    /// The number of its process, as the outside has it.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn spec(&self) -> &KernelSpec {
        &self.spec
    }

    /// Interrupts the code and the programs it runs in the foreground.
    pub(crate) fn interrupt(&self) {
        send_group(self.pid(), Signal::SIGINT);
    }

    /// Kills the process and its group. By its own number too: it may have left its group.
    pub(crate) fn kill(&self) {
        send_group(self.pid(), Signal::SIGKILL);
        send(self.pid(), Signal::SIGKILL);
    }

    pub(crate) fn is_dead(&self) -> bool {
        processes::is_dead(self.pid())
    }

    /// Buries the dead process. Nothing if someone else did.
    pub(crate) fn bury(mut self) -> Option<ExitStatus> {
        self.child.wait().ok()
    }
}
