//! The bridge's end of a kernel's sockets.

use crate::{
    error::JupyterError,
    folder::{Channel, Folder},
    message::{Heard, Speaker},
    zmtp::{Decoder, Kind, SUBSCRIPTION, opening},
};
use rustix::{
    io::Errno,
    net::{RecvFlags, recv},
};
use serde::Serialize;
use std::{
    io::{ErrorKind, Read, Write},
    os::{
        fd::{AsFd, BorrowedFd},
        unix::net::UnixStream,
    },
};

/// Bytes read at once.
const PIECE: usize = 64 << 10;

/// Bytes that are read ahead.
const BACKLOG: usize = 64 << 20;

#[derive(Debug)]
pub(crate) struct Socket {
    channel: Channel,
    /// None once the kernel has closed it: nothing more comes, and its death will tell.
    stream: Option<UnixStream>,
    decoder: Decoder,
    /// Messages that wait until the kernel has agreed to the connection.
    held: Vec<u8>,
}

/// How a try to connect went.
#[derive(Debug)]
pub(crate) enum Tried {
    Connected(Socket),
    /// It is there, and does not listen yet.
    Refused,
    /// It is not there.
    Absent,
}

impl Socket {
    /// Tries to connect, and says what a client says first.
    pub(crate) fn connect(
        folder: &Folder,
        channel: Channel,
        identity: &str,
    ) -> Result<Tried, JupyterError> {
        let failed = |source| JupyterError::Channel { channel: channel.name(), source };
        for path in folder.sockets(channel) {
            let mut stream = match UnixStream::connect(&path) {
                Ok(stream) => stream,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                    return Ok(Tried::Refused);
                }
                Err(source) => return Err(failed(source)),
            };
            let (kind, held) = match channel {
                Channel::Iopub => (Kind::Subscriber, SUBSCRIPTION.to_vec()),
                Channel::Shell | Channel::Stdin | Channel::Control => (Kind::Dealer, Vec::new()),
            };
            stream.write_all(&opening(kind, identity)).map_err(failed)?;
            let (stream, decoder) = (Some(stream), Decoder::default());
            return Ok(Tried::Connected(Self { channel, stream, decoder, held }));
        }
        Ok(Tried::Absent)
    }

    pub(crate) fn source(&self) -> Option<BorrowedFd<'_>> {
        self.stream.as_ref().map(AsFd::as_fd)
    }

    /// Reads a piece. To be called when there is one, or the end.
    pub(crate) fn receive(&mut self) {
        let mut piece = vec![0; PIECE];
        let Some(stream) = &mut self.stream else { return };
        match stream.read(&mut piece) {
            Ok(0) => self.stream = None,
            Ok(count) => self.decoder.push(&piece[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => self.stream = None,
        }
    }

    /// Reads all that is there, within reason. A kernel throws away what it cannot get rid of, so
    /// reading comes before making sense of what was read.
    pub(crate) fn receive_all(&mut self) {
        let mut piece = vec![0; PIECE];
        while let Some(stream) = self.stream.as_ref().filter(|_| self.decoder.backlog() < BACKLOG) {
            match recv(stream, &mut piece[..], RecvFlags::DONTWAIT) {
                Ok((0, _)) => self.stream = None,
                Ok((count, _)) => self.decoder.push(&piece[..count]),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => self.stream = None,
            }
        }
    }

    /// The next message that has come whole.
    pub(crate) fn next(&mut self, speaker: &Speaker) -> Result<Option<Heard>, JupyterError> {
        let channel = self.channel.name();
        let garbage = |reason| JupyterError::Garbage { channel, reason };
        let next = self.decoder.next().map_err(garbage)?;
        if self.decoder.is_open() && !self.held.is_empty() {
            let held = std::mem::take(&mut self.held);
            self.send(&held);
        }
        match next {
            Some(frames) => speaker.read(&frames).map(Some).map_err(garbage),
            None => Ok(None),
        }
    }

    /// Sends something. A message to a dead kernel is no loss.
    fn send(&mut self, bytes: &[u8]) {
        if !self.decoder.is_open() {
            self.held.extend_from_slice(bytes);
        } else if let Some(stream) = &mut self.stream
            && stream.write_all(bytes).is_err()
        {
            self.stream = None;
        }
    }
}

/// All sockets of a kernel, and how we speak.
#[derive(Debug)]
pub(crate) struct Channels {
    pub(crate) shell: Socket,
    pub(crate) iopub: Socket,
    pub(crate) stdin: Socket,
    pub(crate) control: Socket,
    pub(crate) speaker: Speaker,
}

impl Channels {
    pub(crate) fn socket(&mut self, channel: Channel) -> &mut Socket {
        match channel {
            Channel::Shell => &mut self.shell,
            Channel::Iopub => &mut self.iopub,
            Channel::Stdin => &mut self.stdin,
            Channel::Control => &mut self.control,
        }
    }

    /// The descriptors to wait for, in the order of [`Channel::ALL`].
    pub(crate) fn sources(&self) -> [Option<BorrowedFd<'_>>; 4] {
        [&self.shell, &self.iopub, &self.stdin, &self.control].map(Socket::source)
    }

    /// Asks the kernel something; the id is that of the question.
    pub(crate) fn ask(&mut self, channel: Channel, kind: &str, content: &impl Serialize) -> String {
        self.tell(channel, kind, None, content)
    }

    /// Says something that answers `parent`.
    pub(crate) fn tell(
        &mut self,
        channel: Channel,
        kind: &str,
        parent: Option<&[u8]>,
        content: &impl Serialize,
    ) -> String {
        let (id, bytes) = self.speaker.write(kind, parent, content);
        self.socket(channel).send(&bytes);
        id
    }

    /// The next message of a channel that has come whole.
    pub(crate) fn next(&mut self, channel: Channel) -> Result<Option<Heard>, JupyterError> {
        let Self { shell, iopub, stdin, control, speaker } = self;
        match channel {
            Channel::Shell => shell,
            Channel::Iopub => iopub,
            Channel::Stdin => stdin,
            Channel::Control => control,
        }
        .next(speaker)
    }
}
