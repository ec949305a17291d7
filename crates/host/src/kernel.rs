//! One kernel: a process, its two pipes and its control socket.
//!
//! Knows how to start one and how to move bytes without ever blocking. When bytes are moved, and
//! where they go, is decided in [`crate::serve`]. Nothing that a kernel does can make the buffers
//! here grow past their bounds.

use crate::buffer::Buffer;
use crate::claim::{self, Claim};
use crate::message::{KernelSpec, LONGEST};
use crate::processes::{self, send, send_group};
use command_fds::{CommandFdExt, FdMapping};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::Signal;
use nix::unistd::{Pid, read, write};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::{net::UnixStream, process::CommandExt};
use std::process::{Child, Command, ExitStatus, Stdio};

/// The descriptor on which a driver finds its control socket.
const CONTROL: i32 = 3;

/// Bytes read at once.
pub(crate) const PIECE: usize = 64 << 10;

/// Bytes that a pipe is to hold.
pub(crate) const ROOM: i32 = 1 << 20;

/// The most that is read from a pipe at the end of a cell: what an unprivileged process can make
/// a pipe hold. Whatever writes on without end must not keep the end from being told.
const DRAINED: usize = 1 << 20;

/// Which pipe output came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Stdout,
    Stderr,
}

impl Stream {
    pub(crate) const BOTH: [Self; 2] = [Self::Stdout, Self::Stderr];
}

/// Whether a kernel has a cell to run, as far as its driver says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    None,
    Running,
}

/// What reading from a descriptor came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Received {
    Bytes(usize),
    /// Nothing now.
    Nothing,
    /// Nothing ever again.
    End,
}

/// What a driver said.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NextClaim {
    /// A line, without its newline.
    Line(Vec<u8>),
    /// No whole line yet.
    None,
    /// A line that is longer than a claim may be.
    TooLong,
}

/// A process that runs cells.
#[derive(Debug)]
pub(crate) struct Kernel {
    /// How it was started, for one like it.
    spec: KernelSpec,
    child: Child,
    stdout: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
    control: Option<UnixStream>,
    /// Cells on their way to the driver; bounded in [`Kernel::execute`].
    cells: Buffer,
    /// What the driver said and nobody was told yet; bounded in [`Kernel::next_claim`], which
    /// is asked until there is nothing before more is read.
    claims: Buffer,
    /// How many bytes of `claims` are known to hold no newline.
    searched: usize,
    cell: Cell,
    /// Which pipes are known to be closed.
    closed: Vec<Stream>,
}

impl Kernel {
    /// Starts one, in a process group of its own.
    pub(crate) fn start(spec: &KernelSpec) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
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
        let stdout = child.stdout.take().map(OwnedFd::from);
        let stderr = child.stderr.take().map(OwnedFd::from);
        for pipe in [&stdout, &stderr].into_iter().flatten() {
            set_nonblocking(pipe)?;
            // Fewer and larger pieces. A user who has many large pipes already is refused, and
            // then the usual size does.
            fcntl(pipe, FcntlArg::F_SETPIPE_SZ(ROOM)).unwrap_or_default();
        }
        Ok(Self {
            spec: spec.clone(),
            child,
            stdout,
            stderr,
            control: Some(ours),
            cells: Buffer::default(),
            claims: Buffer::default(),
            searched: 0,
            cell: Cell::None,
            closed: Vec::new(),
        })
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.id()).expect("the system's process ids are i32"))
    }

    pub(crate) fn spec(&self) -> &KernelSpec {
        &self.spec
    }

    pub(crate) fn output(&self, stream: Stream) -> Option<BorrowedFd<'_>> {
        match stream {
            Stream::Stdout => self.stdout.as_ref().map(AsFd::as_fd),
            Stream::Stderr => self.stderr.as_ref().map(AsFd::as_fd),
        }
    }

    pub(crate) fn control(&self) -> Option<BorrowedFd<'_>> {
        self.control.as_ref().map(AsFd::as_fd)
    }

    pub(crate) fn has_cells_to_send(&self) -> bool {
        !self.cells.is_empty()
    }

    /// Reads a piece of output. At its end the pipe is closed.
    pub(crate) fn receive(&mut self, stream: Stream, into: &mut [u8]) -> Received {
        self.take(stream, |pipe| read(pipe, &mut *into))
    }

    /// Takes output from its pipe by other means. At its end the pipe is closed.
    pub(crate) fn take(
        &mut self,
        stream: Stream,
        take: impl FnMut(BorrowedFd<'_>) -> Result<usize, Errno>,
    ) -> Received {
        let Some(pipe) = self.output(stream) else { return Received::End };
        let received = received(pipe, take);
        if received == Received::End {
            match stream {
                Stream::Stdout => self.stdout = None,
                Stream::Stderr => self.stderr = None,
            }
        }
        received
    }

    /// How much a pipe can hold at most: reading that much gets all that was in it.
    pub(crate) fn capacity(&self, stream: Stream) -> usize {
        let size = self.output(stream).and_then(|pipe| fcntl(pipe, FcntlArg::F_GETPIPE_SZ).ok());
        size.and_then(|size| usize::try_from(size).ok()).unwrap_or(0).min(DRAINED)
    }

    /// Queues a cell. A driver that leaves more than the longest two unread is beyond help.
    pub(crate) fn execute(&mut self, code: &[u8]) {
        if self.cells.len() + code.len() > 2 * LONGEST {
            return self.kill();
        }
        self.cells.push(format!("{}\n", code.len()).as_bytes());
        self.cells.push(code);
        self.cell = Cell::Running;
        self.send_cells();
    }

    /// Queues an answer to what the code asked, in the form of a cell with a sign before its length:
    /// one that comes too late is then not taken for a cell. Its end has no length.
    pub(crate) fn answer(&mut self, text: Option<&[u8]>) {
        match text {
            Some(text) if self.cells.len() + text.len() > 2 * LONGEST => return self.kill(),
            Some(text) => {
                self.cells.push(format!("+{}\n", text.len()).as_bytes());
                self.cells.push(text);
            }
            None => self.cells.push(b"-1\n"),
        }
        self.send_cells();
    }

    /// Queues code to be completed, in the form of a cell with a `?` before its length and the
    /// cursor after it.
    pub(crate) fn complete(&mut self, code: &[u8], cursor: u32) {
        if self.cells.len() + code.len() > 2 * LONGEST {
            return self.kill();
        }
        self.cells.push(format!("?{} {cursor}\n", code.len()).as_bytes());
        self.cells.push(code);
        self.send_cells();
    }

    /// Sends as much of the queued cells as the socket takes.
    pub(crate) fn send_cells(&mut self) {
        while let (Some(control), false) = (&self.control, self.cells.is_empty()) {
            match write(control, self.cells.unused()) {
                Ok(count) => self.cells.consume(count),
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => return,
                // The other end is closed; reading will tell.
                Err(_) => self.cells.clear(),
            }
        }
    }

    /// Reads a piece of what the driver says.
    pub(crate) fn receive_claims(&mut self, scratch: &mut [u8]) -> Received {
        let Some(control) = &self.control else { return Received::End };
        let received = receive(control.as_fd(), scratch);
        match received {
            Received::Bytes(count) => self.claims.push(&scratch[..count]),
            Received::Nothing => {}
            Received::End => self.lose_control(),
        }
        received
    }

    /// The next whole line that the driver said.
    pub(crate) fn next_claim(&mut self) -> NextClaim {
        let unused = self.claims.unused();
        let newline = unused[self.searched..].iter().position(|&byte| byte == b'\n');
        let length = newline.map_or(unused.len(), |at| self.searched + at);
        if length > claim::LONGEST {
            return NextClaim::TooLong;
        }
        if newline.is_none() {
            self.searched = length;
            return NextClaim::None;
        }
        let line = unused[..length].to_vec();
        self.claims.consume(length + 1);
        self.searched = 0;
        NextClaim::Line(line)
    }

    /// Ends a kernel whose driver says too much at once.
    pub(crate) fn silence(&mut self) {
        // Before its socket is closed, or it would complain about that.
        self.kill();
        self.claims.clear();
        self.searched = 0;
        self.control = None;
    }

    /// The pipes that were closed since this was last asked.
    pub(crate) fn newly_closed(&mut self) -> Vec<Stream> {
        let is_new =
            |&stream: &Stream| self.output(stream).is_none() && !self.closed.contains(&stream);
        let new: Vec<_> = Stream::BOTH.into_iter().filter(is_new).collect();
        self.closed.extend(&new);
        new
    }

    /// Takes the driver's word that its cell has ended.
    pub(crate) fn finish_cell(&mut self) {
        self.cell = Cell::None;
    }

    /// The driver closed its socket. In the middle of a cell that is what `exec` in a shell does,
    /// and the program that took the kernel's place ends it by ending. Otherwise the kernel
    /// cannot be reached any more.
    fn lose_control(&mut self) {
        self.control = None;
        if self.cell == Cell::None {
            self.kill();
        }
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

/// Takes a line apart where code wrote to the control socket without ending its line, so that the
/// driver's next claim stands behind it. A claim begins with its kind, and what stands in one as
/// text has its quotes escaped: so this beginning is one.
pub(crate) fn noise_before_claim(line: &[u8]) -> usize {
    const BEGINNING: &[u8] = br#"{"kind":"#;
    let at = line.windows(BEGINNING.len()).rposition(|part| part == BEGINNING);
    match at {
        Some(at) if at > 0 && Claim::parse(line).is_err() && Claim::parse(&line[at..]).is_ok() => {
            at
        }
        Some(_) | None => 0,
    }
}

/// Makes reads and writes return at once.
pub(crate) fn set_nonblocking(fd: impl AsFd) -> Result<(), Errno> {
    let fd = fd.as_fd();
    let flags = OFlag::from_bits_retain(fcntl(fd, FcntlArg::F_GETFL)?);
    fcntl(fd, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK)).map(drop)
}

/// Reads once, without waiting.
pub(crate) fn receive(from: BorrowedFd<'_>, into: &mut [u8]) -> Received {
    received(from, |from| read(from, &mut *into))
}

/// What came of taking something once.
fn received(
    from: BorrowedFd<'_>,
    mut take: impl FnMut(BorrowedFd<'_>) -> Result<usize, Errno>,
) -> Received {
    loop {
        match take(from) {
            Ok(0) => return Received::End,
            Ok(count) => return Received::Bytes(count),
            Err(Errno::EINTR) => {}
            Err(Errno::EAGAIN) => return Received::Nothing,
            // A reset socket, say: nothing will come.
            Err(_) => return Received::End,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_found_behind_what_was_not_ended() {
        let claim = r#"{"kind":"finished","status":0}"#;
        for noise in ["", "x", r#"{"kind":"finished","#, r#"{"kind":"finished","status":0}"#] {
            let line = format!("{noise}{claim}");
            assert_eq!(noise_before_claim(line.as_bytes()), noise.len(), "{line}");
        }
    }

    #[test]
    fn what_is_quoted_in_a_claim_is_none() {
        let line =
            r#"{"kind":"raised","name":"E","message":"{\"kind\":\"finished\",\"status\":0}"}"#;
        assert_eq!(noise_before_claim(line.as_bytes()), 0);
        assert_eq!(noise_before_claim(b"noise"), 0);
        assert_eq!(noise_before_claim(br#"noise{"kind":"granted"}"#), 0);
    }
}
