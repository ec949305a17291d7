//! The outside's end of a host: its stream of frames, and the wires of its kernels.
//!
//! Whoever holds it waits until its descriptor can be read, calls [`Link::take_in`], and asks
//! [`Link::next`] until there is nothing. Nothing here blocks, and there are no timers. Whoever does
//! not ask takes nothing in, so the pressure reaches the programs that write.
//!
//! Order is the promise here: output that was written before a claim, or before a death,
//! comes before it.
//!
//! Must not believe anything that comes: the host is ours, but it runs inside.

use super::{
    heard::{Heard, Queue, drain, push_claim, receive_piece, tell_of_closed_pipes},
    wires::{Called, NextClaim, PIECE, Reach, Stream, Wires, noise_before_claim},
};
use crate::wire::{Claim, Decoder, FrameError, Outward};
use rustix::{
    event::{Timespec, epoll},
    io::Errno,
    net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg},
};
use std::{
    collections::{BTreeMap, VecDeque},
    io::{self, IoSliceMut},
    mem::MaybeUninit,
    os::{
        fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd},
        unix::net::UnixStream,
    },
};

/// The most that is read of a dead kernel's socket, which a child of it may still write to.
const LAST_WORDS: usize = 1 << 20;

/// Most descriptors of one kernel.
const WIRES: usize = 4;

/// Kernels whose descriptors may have arrived before their message.
const AHEAD: usize = 16;

/// Said where the code's own errors go, because it is the code's doing.
const TOO_LONG: &[u8] =
    b"the code wrote too much to the kernel's control socket; the kernel ends\n";

/// The source of an event.
#[derive(Clone, Copy, Debug)]
enum Source {
    Output(u32, Stream),
    Control(u32),
    Host,
}

impl Source {
    /// It as the system remembers it. Of each kernel output is less than control, and the host is
    /// more than all.
    fn number(self) -> u64 {
        let of = |kernel: u32, wire: u64| u64::from(kernel) << 2 | wire;
        match self {
            Self::Output(kernel, Stream::Stdout) => of(kernel, 0),
            Self::Output(kernel, Stream::Stderr) => of(kernel, 1),
            Self::Control(kernel) => of(kernel, 2),
            Self::Host => u64::MAX,
        }
    }

    fn of(number: u64) -> Self {
        let Ok(kernel) = u32::try_from(number >> 2) else { return Self::Host };
        match number & 3 {
            0 => Self::Output(kernel, Stream::Stdout),
            1 => Self::Output(kernel, Stream::Stderr),
            _ => Self::Control(kernel),
        }
    }
}

/// The outside's end of a host.
#[derive(Debug)]
pub struct Link {
    watch: OwnedFd,
    stream: UnixStream,
    frames: Decoder<Outward>,
    /// Descriptors that have come, and that nothing was said of yet.
    handed: VecDeque<OwnedFd>,
    kernels: BTreeMap<u32, Wires>,
    /// Cells that wait until the host says that there is room for them.
    held: BTreeMap<u32, (Vec<u8>, Vec<String>)>,
    heard: Queue,
    scratch: Vec<u8>,
}

impl Link {
    /// The end of the host that says what it says through `stream`.
    ///
    /// # Errors
    /// If the system refuses its means.
    pub fn new(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        let watch = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let link = Self {
            watch,
            stream,
            frames: Decoder::default(),
            handed: VecDeque::new(),
            kernels: BTreeMap::new(),
            held: BTreeMap::new(),
            heard: Queue::default(),
            scratch: vec![0; PIECE],
        };
        link.watch(link.stream.as_fd(), Source::Host)?;
        Ok(link)
    }

    /// Gives a kernel the next cell, and the words by which it was called; answered by the claim
    /// `finished`, or by its exit. A kernel that is gone has said so, or is about to.
    pub fn execute(&mut self, kernel: u32, code: &[u8], called: &Called) {
        self.with(kernel, |wires| wires.execute(code, called));
    }

    /// The same, once the host has said that it is [`Outward::Tidied`].
    pub fn execute_when_tidied(&mut self, kernel: u32, code: Vec<u8>, called: Vec<String>) {
        self.held.insert(kernel, (code, called));
    }

    /// The end of a kernel's standard input, to be written to; once, and only if it is a pipe.
    pub fn take_input(&mut self, kernel: u32) -> Option<OwnedFd> {
        self.kernels.get_mut(&kernel)?.take_input()
    }

    /// Answers what the code asked the person; without a text, that nothing more comes.
    pub fn answer(&mut self, kernel: u32, text: Option<&[u8]>) {
        self.with(kernel, |wires| wires.answer(text));
    }

    /// Asks a kernel how code could go on, with the cursor in bytes; answered by the claim
    /// `completions`. It says nothing while a cell runs.
    pub fn complete(&mut self, kernel: u32, code: &[u8], cursor: u32) {
        self.with(kernel, |wires| wires.complete(code, cursor));
    }

    /// Asks a kernel for a copy of its memory, with a number; answered by the claim `checkpointed` or
    /// `not_checkpointed`. Only a kernel whose driver says that it can may be asked.
    pub fn checkpoint(&mut self, kernel: u32, number: u32) {
        self.with(kernel, |wires| wires.checkpoint(number));
    }

    /// Whether there is something that [`Link::next`] would give without more coming in.
    pub fn has_heard(&self) -> bool {
        !self.heard.is_empty()
    }

    /// Takes in what has come: a piece from each side. `false` means that the host is gone.
    ///
    /// # Errors
    /// If nothing has come ([`io::ErrorKind::WouldBlock`]), or watching is refused.
    pub fn take_in(&mut self) -> io::Result<bool> {
        let mut space = [MaybeUninit::<epoll::Event>::uninit(); 32];
        let (events, _) = epoll::wait(&self.watch, &mut space, Some(&Timespec::default()))?;
        let mut ready: Vec<_> = events.iter().map(|event| event.data.u64()).collect();
        if ready.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        // Of each kernel its output first, and the host last: it tells of their ends.
        ready.sort_unstable();
        for source in ready.into_iter().map(Source::of) {
            match source {
                Source::Output(kernel, stream) => self.receive_output(kernel, stream),
                Source::Control(kernel) => self.receive_claims(kernel),
                Source::Host => return Ok(self.receive_frames()),
            }
        }
        Ok(true)
    }

    /// The next thing that was heard.
    ///
    /// # Errors
    /// If the host breaks the rules. Nothing more comes then.
    #[expect(clippy::should_implement_trait, reason = "more may come after a `None`")]
    pub fn next(&mut self) -> Option<Result<Heard, FrameError>> {
        loop {
            if let Some(heard) = self.heard.pop() {
                return Some(Ok(heard));
            }
            // Claims that had no room before come before the next frame.
            let talking: Vec<_> = self.kernels.keys().copied().collect();
            for kernel in talking {
                self.forward_claims(kernel);
            }
            if self.heard.is_empty() {
                match self.frames.next()? {
                    Ok(told) => {
                        if let Err(error) = self.told(told) {
                            return Some(Err(error));
                        }
                    }
                    Err(error) => return Some(Err(error)),
                }
            }
        }
    }

    /// Does what a frame asks for before it is passed on.
    fn told(&mut self, told: Outward) -> Result<(), FrameError> {
        match &told {
            Outward::Started { kernel, process, input } => {
                let (kernel, process, input) = (*kernel, *process, *input);
                // One that takes the place of another.
                self.last_words(kernel);
                let wires = self.next_wires(process, input).ok_or(FrameError::NoWires)?;
                self.watch_all(kernel, &wires).map_err(|_| FrameError::NoWires)?;
                self.kernels.insert(kernel, wires);
            }
            Outward::Exited { kernel, .. } => {
                self.last_words(*kernel);
                self.held.remove(kernel);
            }
            Outward::Tidied { kernel } => {
                if let Some((code, called)) = self.held.remove(kernel) {
                    self.execute(*kernel, &code, &called);
                }
            }
            Outward::Rewound { kernel, process, .. } => {
                if let Some(wires) = self.kernels.get_mut(kernel).filter(|_| *process > 0) {
                    wires.process = *process;
                }
            }
            Outward::Failed { .. }
            | Outward::Held { .. }
            | Outward::Used { .. }
            | Outward::Programs { .. }
            | Outward::Crowded { .. }
            | Outward::Emptied { .. }
            | Outward::Restored { .. } => {}
        }
        self.heard.push(Heard::Told(told));
        Ok(())
    }

    fn next_wires(&mut self, process: u32, input: bool) -> Option<Wires> {
        let count = if input { WIRES } else { WIRES - 1 };
        let wires = (0..count).map_while(|_| self.handed.pop_front()).collect();
        Wires::new(process, wires, input)
    }

    /// Watches the wires of a kernel.
    fn watch_all(&self, kernel: u32, wires: &Wires) -> io::Result<()> {
        for stream in Stream::BOTH {
            if let Some(wire) = wires.output(stream) {
                self.watch(wire, Source::Output(kernel, stream))?;
            }
        }
        wires.control().map_or(Ok(()), |wire| self.watch(wire, Source::Control(kernel)))
    }

    fn watch(&self, wire: BorrowedFd<'_>, source: Source) -> io::Result<()> {
        let data = epoll::EventData::new_u64(source.number());
        Ok(epoll::add(&self.watch, wire, data, epoll::EventFlags::IN)?)
    }

    /// Sends something to a kernel. The rest follows when its socket has room.
    fn with(&mut self, kernel: u32, tell: impl FnOnce(&mut Wires) -> Reach) {
        let Some(wires) = self.kernels.get_mut(&kernel) else { return };
        let reach = tell(wires);
        self.look_after(kernel, reach);
    }

    /// Says that a kernel is lost if it is, and watches for what it can be sent if something waits.
    fn look_after(&mut self, kernel: u32, reach: Reach) {
        let Some(wires) = self.kernels.get(&kernel) else { return };
        if reach == Reach::Lost {
            self.heard.push(Heard::Lost { kernel, process: wires.process });
        }
        if wires.has_cells_to_send() {
            self.want(kernel, epoll::EventFlags::IN | epoll::EventFlags::OUT);
        }
    }

    /// Sets the events to watch a kernel's control socket for.
    fn want(&self, kernel: u32, flags: epoll::EventFlags) {
        if let Some(control) = self.kernels.get(&kernel).and_then(Wires::control) {
            let data = epoll::EventData::new_u64(Source::Control(kernel).number());
            // Where it is refused, the rest goes when the driver says something.
            _ = epoll::modify(&self.watch, control, data, flags).is_ok();
        }
    }

    /// Whether the host is there.
    fn receive_frames(&mut self) -> bool {
        let (count, handed) = match receive_handed(&self.stream, &mut self.scratch) {
            Ok(received) => received,
            Err(Errno::AGAIN | Errno::INTR) => return true,
            // A reset socket, say: nothing will come.
            Err(_) => return false,
        };
        self.handed.extend(handed);
        self.handed.truncate(AHEAD * WIRES);
        self.frames.push(&self.scratch[..count]);
        count > 0
    }

    fn receive_output(&mut self, kernel: u32, stream: Stream) {
        if let Some(wires) = self.kernels.get_mut(&kernel) {
            receive_piece(kernel, wires, stream, &mut self.scratch, &mut self.heard);
        }
    }

    fn receive_claims(&mut self, kernel: u32) {
        let Some(wires) = self.kernels.get_mut(&kernel) else { return };
        let waited = wires.has_cells_to_send();
        wires.send_cells();
        let (_, reach) = wires.receive_claims(&mut self.scratch);
        if waited {
            self.want(kernel, epoll::EventFlags::IN);
        }
        self.forward_claims(kernel);
        self.look_after(kernel, reach);
    }

    /// Passes on what a driver said, each line after all output that was written before it.
    fn forward_claims(&mut self, kernel: u32) {
        let Self { kernels, heard, scratch, watch, .. } = self;
        let Some(wires) = kernels.get_mut(&kernel) else { return };
        while heard.has_room() {
            match wires.next_claim() {
                NextClaim::Line(line) => {
                    let claim = &line[noise_before_claim(&line)..];
                    let finished = matches!(Claim::parse(claim), Ok(Claim::Finished { .. }));
                    drain(kernel, wires, scratch, heard);
                    if finished {
                        wires.finish_cell();
                        tell_of_closed_pipes(kernel, wires, heard);
                    }
                    push_claim(kernel, line, heard);
                }
                NextClaim::None => return,
                NextClaim::TooLong => {
                    drain(kernel, wires, scratch, heard);
                    heard.push(Heard::Stderr { kernel, bytes: TOO_LONG.to_vec() });
                    heard.push(Heard::Lost { kernel, process: wires.process });
                    if let Some(control) = wires.control() {
                        // A dead socket would wake us again and again.
                        _ = epoll::delete(&*watch, control).is_ok();
                    }
                    return wires.silence();
                }
            }
        }
    }

    /// Passes on what a dead kernel had still written, and lets go of it.
    fn last_words(&mut self, kernel: u32) {
        let Self { heard, scratch, .. } = self;
        let Some(mut wires) = self.kernels.remove(&kernel) else { return };
        let mut left = LAST_WORDS;
        while left > 0 {
            let (count, _) = wires.receive_claims(scratch);
            if count == 0 {
                break;
            }
            left = left.saturating_sub(count);
        }
        // Before the claims and not for each: nothing is written any more.
        drain(kernel, &mut wires, scratch, heard);
        while let NextClaim::Line(line) = wires.next_claim() {
            push_claim(kernel, line, heard);
        }
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.watch.as_fd()
    }
}

impl AsRawFd for Link {
    fn as_raw_fd(&self) -> RawFd {
        self.watch.as_raw_fd()
    }
}

/// Reads bytes of the stream, and the descriptors that come with them.
fn receive_handed(stream: &UnixStream, scratch: &mut [u8]) -> Result<(usize, Vec<OwnedFd>), Errno> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(WIRES))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut parts = [IoSliceMut::new(scratch)];
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
    let received = recvmsg(stream, &mut parts, &mut control, flags)?;
    let mut handed = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            handed.extend(descriptors);
        }
    }
    Ok((received.bytes, handed))
}

#[cfg(test)]
#[path = "link_tests.rs"]
mod tests;
