//! The outside's ends of one kernel: its two pipes and its control socket.
//!
//! The host starts a kernel and hands these out, so nothing stands between the code and whoever
//! shows what it prints. Knows how to move bytes without ever blocking; when they are moved, and
//! in which order they are passed on, is decided in [`super::link`]. Nothing that a kernel does can make
//! the buffers here grow past their bounds.

use crate::wire::{Buffer, Claim, LONGEST, claim};
use rustix::{
    fs::{FileType, OFlags, fcntl_getfl, fcntl_setfl, fstat},
    io::{Errno, read},
    net::{RecvFlags, SendFlags, recv, send},
};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Bytes read at once.
pub(crate) const PIECE: usize = 64 << 10;

/// Bytes read at once of much output. Whoever takes them in then has the last in its cache.
const MUCH: usize = 256 << 10;

/// The words by which code was called: its name, the path of its file inside, which is empty without
/// one, and its arguments. There are none where nobody called it by any.
pub type Called = [String];

/// Which pipe output came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Stdout,
    Stderr,
}

impl Stream {
    pub(crate) const BOTH: [Self; 2] = [Self::Stdout, Self::Stderr];
}

/// The result of reading from a descriptor.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Received {
    Bytes(Vec<u8>),
    /// Nothing has come yet.
    Nothing,
    /// Nothing will come any more.
    End,
}

/// A message of a driver.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NextClaim {
    /// A line, without its newline.
    Line(Vec<u8>),
    /// No whole line yet.
    None,
    /// A line that is longer than a claim may be.
    TooLong,
}

/// Whether a kernel can still be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    Kept,
    /// It cannot, and is of no use any more.
    Lost,
}

/// The ends of one kernel.
#[derive(Debug)]
pub(crate) struct Wires {
    /// The number of the kernel's process inside.
    pub(crate) process: u32,
    stdout: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
    control: Option<OwnedFd>,
    /// Standard input, until somebody takes it to write to.
    input: Option<OwnedFd>,
    /// The control socket of a driver that is not heard any more. It stays open, or the driver
    /// would complain.
    silenced: Option<OwnedFd>,
    /// Cells on their way to the driver; bounded in [`Wires::queue`].
    cells: Buffer,
    /// Claims that were not delivered yet; bounded in [`Wires::next_claim`], which is called until
    /// it is empty before more is read.
    claims: Buffer,
    /// How many bytes of `claims` are known to hold no newline.
    searched: usize,
    /// Whether the kernel has a cell to run, as far as its driver says.
    runs: bool,
    /// Which pipes are known to be closed.
    closed: Vec<Stream>,
    /// The pipe whose last piece was as long as a piece can be: there may be much more.
    much: Option<Stream>,
}

impl Wires {
    /// The ends from a host: standard output, standard error, control, and perhaps standard input.
    /// `None` if they are of another kind, which could block a reader.
    pub(crate) fn new(process: u32, ends: Vec<OwnedFd>, input: bool) -> Option<Self> {
        let mut ends = ends.into_iter();
        let (stdout, stderr, control) = (ends.next()?, ends.next()?, ends.next()?);
        let input = if input { Some(ends.next()?) } else { None };
        if let Some(input) = &input
            && FileType::from_raw_mode(fstat(input).ok()?.st_mode) != FileType::Fifo
        {
            return None;
        }
        let expected =
            [(&stdout, FileType::Fifo), (&stderr, FileType::Fifo), (&control, FileType::Socket)];
        for (wire, kind) in expected {
            let found = FileType::from_raw_mode(fstat(wire).ok()?.st_mode);
            if found != kind {
                return None;
            }
            fcntl_setfl(wire, fcntl_getfl(wire).ok()? | OFlags::NONBLOCK).ok()?;
        }
        Some(Self {
            process,
            stdout: Some(stdout),
            stderr: Some(stderr),
            control: Some(control),
            input,
            silenced: None,
            cells: Buffer::default(),
            claims: Buffer::default(),
            searched: 0,
            runs: false,
            closed: Vec::new(),
            much: None,
        })
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

    /// The end of its standard input, for somebody to write to.
    pub(crate) fn take_input(&mut self) -> Option<OwnedFd> {
        self.input.take()
    }

    pub(crate) fn has_cells_to_send(&self) -> bool {
        self.control.is_some() && !self.cells.is_empty()
    }

    /// Reads a piece of output. At its end the pipe is closed.
    pub(crate) fn receive(&mut self, stream: Stream, scratch: &mut [u8]) -> Received {
        let Some(pipe) = self.output(stream) else { return Received::End };
        let much = self.much == Some(stream);
        let received = if much {
            // Into where it stays.
            let mut bytes = Vec::with_capacity(MUCH);
            match retried(|| read(pipe, rustix::buffer::spare_capacity(&mut bytes))) {
                Ok(0) => Received::End,
                Ok(_) => Received::Bytes(bytes),
                Err(error) => failed(error),
            }
        } else {
            receive(pipe, scratch)
        };
        match &received {
            Received::Bytes(bytes) if bytes.len() >= PIECE => self.much = Some(stream),
            Received::Bytes(_) | Received::Nothing if much => self.much = None,
            Received::Bytes(_) | Received::Nothing => {}
            Received::End => match stream {
                Stream::Stdout => self.stdout = None,
                Stream::Stderr => self.stderr = None,
            },
        }
        received
    }

    /// Queues a cell for the driver. The words by which it was called come before it, each ended by
    /// a NUL, with an `@` before their length and their number after
    /// it.
    pub(crate) fn execute(&mut self, code: &[u8], called: &Called) -> Reach {
        self.runs = true;
        if !called.is_empty() {
            let words: String = called.iter().flat_map(|word| [word.as_str(), "\0"]).collect();
            let head = format!("@{} {}\n", words.len(), called.len());
            if self.queue(&head, words.as_bytes()) == Reach::Lost {
                return Reach::Lost;
            }
        }
        // A leading zero says that every character is a byte, which spares bash its locale.
        let ascii = if code.is_ascii() { "0" } else { "" };
        self.queue(&format!("{ascii}{}\n", code.len()), code)
    }

    /// Queues an answer to what the code asked, in the form of a cell with a sign before its length:
    /// one that comes too late is then not taken for a cell. Its end has no length.
    pub(crate) fn answer(&mut self, text: Option<&[u8]>) -> Reach {
        match text {
            Some(text) => self.queue(&format!("+{}\n", text.len()), text),
            None => self.queue("-1\n", b""),
        }
    }

    /// Queues code to be completed, in the form of a cell with a `?` before its length and the
    /// cursor after it.
    pub(crate) fn complete(&mut self, code: &[u8], cursor: u32) -> Reach {
        self.queue(&format!("?{} {cursor}\n", code.len()), code)
    }

    /// Queues the wish for a checkpoint, in the form of an empty cell with a `!` before its length and
    /// the number after it.
    pub(crate) fn checkpoint(&mut self, number: u32) -> Reach {
        self.queue(&format!("!0 {number}\n"), b"")
    }

    /// A driver that leaves more than the longest two unread is beyond help.
    fn queue(&mut self, head: &str, bytes: &[u8]) -> Reach {
        if self.cells.len() + bytes.len() > 2 * LONGEST {
            return Reach::Lost;
        }
        self.cells.push(head.as_bytes());
        self.cells.push(bytes);
        self.send_cells();
        Reach::Kept
    }

    /// Sends as much of the queued cells as the socket takes.
    pub(crate) fn send_cells(&mut self) {
        while let (Some(control), false) = (&self.control, self.cells.is_empty()) {
            match send(control, self.cells.unused(), SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
                Ok(count) => self.cells.consume(count),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                // The other end is closed; reading will tell.
                Err(_) => self.cells.clear(),
            }
        }
    }

    /// Reads a piece of what the driver says: how many bytes.
    ///
    /// A driver may close its socket. In the middle of a cell that is what `exec` in a shell does,
    /// and the program that took the kernel's place ends it by ending. Otherwise the kernel cannot
    /// be reached any more.
    pub(crate) fn receive_claims(&mut self, scratch: &mut [u8]) -> (usize, Reach) {
        let Some(control) = &self.control else { return (0, Reach::Kept) };
        let flags = RecvFlags::DONTWAIT;
        match retried(|| recv(control, &mut *scratch, flags).map(|(_, count)| count)) {
            Ok(count) if count > 0 => {
                self.claims.push(&scratch[..count]);
                (count, Reach::Kept)
            }
            Err(Errno::AGAIN) => (0, Reach::Kept),
            // A reset socket, say: nothing will come.
            Ok(_) | Err(_) => {
                self.control = None;
                (0, if self.runs { Reach::Kept } else { Reach::Lost })
            }
        }
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

    /// Hears nothing more of a driver that says too much at once.
    pub(crate) fn silence(&mut self) {
        self.claims.clear();
        self.searched = 0;
        self.silenced = self.control.take();
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
        self.runs = false;
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

/// Reads by way of `scratch`: what is little then takes little room.
fn receive(from: BorrowedFd<'_>, scratch: &mut [u8]) -> Received {
    match retried(|| read(from, &mut *scratch)) {
        Ok(0) => Received::End,
        Ok(count) => Received::Bytes(scratch[..count].to_vec()),
        Err(error) => failed(error),
    }
}

fn failed(error: Errno) -> Received {
    if error == Errno::AGAIN { Received::Nothing } else { Received::End }
}

fn retried(mut read: impl FnMut() -> Result<usize, Errno>) -> Result<usize, Errno> {
    loop {
        match read() {
            Err(Errno::INTR) => {}
            other => return other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{io::Write, os::unix::net::UnixStream};

    /// The ends of a kernel, and what its process would hold.
    fn wires() -> (Wires, [OwnedFd; 2], UnixStream) {
        let (out, into_out) = rustix::pipe::pipe().unwrap();
        let (err, into_err) = rustix::pipe::pipe().unwrap();
        let (ours, theirs) = UnixStream::pair().unwrap();
        (Wires::new(1, vec![out, err, ours.into()], false).unwrap(), [into_out, into_err], theirs)
    }

    #[test]
    fn what_could_block_is_no_wire() {
        let file = || OwnedFd::from(std::fs::File::open("/proc/self/status").unwrap());
        let (pipe, _write) = rustix::pipe::pipe().unwrap();
        let (socket, _other) = UnixStream::pair().unwrap();
        assert!(Wires::new(1, vec![pipe, file(), socket.into()], false).is_none());
    }

    #[test]
    fn nothing_waits_for_what_is_not_there() {
        let (mut wires, _pipes, mut driver) = wires();
        let scratch = &mut [0; 64];
        assert_eq!(wires.receive(Stream::Stdout, scratch), Received::Nothing);
        assert_eq!(wires.receive_claims(scratch), (0, Reach::Kept));
        driver.write_all(b"{}\nrest").unwrap();
        assert_eq!(wires.receive_claims(scratch), (7, Reach::Kept));
        assert_eq!(wires.next_claim(), NextClaim::Line(b"{}".to_vec()));
        assert_eq!(wires.next_claim(), NextClaim::None);
    }

    #[test]
    fn a_driver_may_go_only_in_the_middle_of_a_cell() {
        for (code, reach) in [(None, Reach::Lost), (Some(b"x"), Reach::Kept)] {
            let (mut wires, _pipes, driver) = wires();
            if let Some(code) = code {
                assert_eq!(wires.execute(code, &[]), Reach::Kept);
            }
            drop(driver);
            let scratch = &mut [0; 64];
            // Unread data resets the socket.
            assert_eq!(wires.receive_claims(scratch), (0, reach));
            assert!(wires.control().is_none());
        }
    }

    #[test]
    fn a_driver_that_reads_nothing_is_lost_in_the_end() {
        let (mut wires, _pipes, _driver) = wires();
        let code = vec![b' '; LONGEST];
        assert_eq!(wires.execute(&code, &[]), Reach::Kept);
        assert_eq!(wires.execute(&code, &[]), Reach::Kept);
        assert_eq!(wires.execute(&code, &[]), Reach::Lost);
        assert!(wires.has_cells_to_send());
    }

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
