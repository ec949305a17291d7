//! The client's end of ZMTP 3.0, the wire format of `ZeroMQ`, as far as kernels need it.
//!
//! A greeting and a READY command each way, without security: the sockets stand in a private
//! folder. Then frames: a byte of flags, a length, that many bytes; a message is one frame or
//! more. Pure: any bytes may come in any pieces, and the same bytes give the same messages.
//!
//! Version 3.0 is announced, so that a subscription is a message and nobody expects heartbeats.
//! A length is checked before anything is kept for it; after something that is no ZMTP, nothing
//! more is read.

/// Bytes of the longest message.
pub(crate) const LONGEST: usize = 256 << 20;

/// Frames of the longest message; Jupyter's have seven, and buffers after them.
const MOST_FRAMES: usize = 64;

/// Bytes of the longest command.
const LONGEST_COMMAND: usize = 64 << 10;

/// Room that is kept between messages; what a rare big one took is given back.
const KEPT: usize = 64 << 10;

const GREETING: usize = 64;

const MORE: u8 = 1;
const LONG: u8 = 2;
const COMMAND: u8 = 4;

/// The type of a client's socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Asks and is answered.
    Dealer,
    Subscriber,
}

/// A subscription to everything: the empty topic. A message like any other.
pub(crate) const SUBSCRIPTION: &[u8] = &[0, 1, 1];

/// The opening of a client. Messages must wait until the other end has agreed.
pub(crate) fn opening(kind: Kind, identity: &str) -> Vec<u8> {
    let mut bytes = vec![0; GREETING];
    bytes[0] = 0xff;
    bytes[9] = 0x7f;
    bytes[10] = 3;
    bytes[12..16].copy_from_slice(b"NULL");
    let mut ready = b"\x05READY".to_vec();
    let mut property = |name: &str, value: &str| {
        ready.push(u8::try_from(name.len()).expect("the names stand below"));
        ready.extend_from_slice(name.as_bytes());
        let length = u32::try_from(value.len()).expect("the values are short");
        ready.extend_from_slice(&length.to_be_bytes());
        ready.extend_from_slice(value.as_bytes());
    };
    match kind {
        Kind::Dealer => {
            property("Socket-Type", "DEALER");
            property("Identity", identity);
        }
        Kind::Subscriber => property("Socket-Type", "SUB"),
    }
    frame(COMMAND, &ready, &mut bytes);
    bytes
}

/// A message as bytes.
pub(crate) fn encode(parts: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        frame(if at + 1 < parts.len() { MORE } else { 0 }, part, &mut bytes);
    }
    bytes
}

fn frame(flags: u8, body: &[u8], to: &mut Vec<u8>) {
    if let Ok(length) = u8::try_from(body.len()) {
        to.extend_from_slice(&[flags, length]);
    } else {
        to.push(flags | LONG);
        to.extend_from_slice(&(body.len() as u64).to_be_bytes());
    }
    to.extend_from_slice(body);
}

/// Cuts messages out of what a kernel's socket says.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    bytes: Vec<u8>,
    used: usize,
    stage: Stage,
    frames: Vec<Vec<u8>>,
    /// Bytes that `frames` holds.
    held: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Greeting,
    Handshake,
    Messages,
    Broken,
}

/// The error in a stream.
pub(crate) type Reason = &'static str;

impl Decoder {
    /// Takes the next piece. To stay within one message of memory, call [`Decoder::next`] until it
    /// gives nothing before the next one.
    pub(crate) fn push(&mut self, piece: &[u8]) {
        if self.stage != Stage::Broken {
            if self.used == self.bytes.len() {
                self.bytes.clear();
                self.bytes.shrink_to(KEPT);
                self.used = 0;
            } else if self.used > KEPT && self.used > self.bytes.len() / 2 {
                self.bytes.drain(..self.used);
                self.used = 0;
            }
            self.bytes.extend_from_slice(piece);
        }
    }

    /// How many bytes have come that are part of no message yet.
    pub(crate) fn backlog(&self) -> usize {
        self.bytes.len() - self.used
    }

    /// Whether the other end has agreed to the connection.
    pub(crate) fn is_open(&self) -> bool {
        self.stage == Stage::Messages
    }

    /// The next message, if a whole one has come. After an error there is nothing any more.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<Vec<u8>>>, Reason> {
        let next = self.cut();
        if next.is_err() {
            *self = Self { stage: Stage::Broken, ..Self::default() };
        }
        next
    }

    fn cut(&mut self) -> Result<Option<Vec<Vec<u8>>>, Reason> {
        loop {
            match self.stage {
                Stage::Broken => return Ok(None),
                Stage::Greeting => {
                    let Some(greeting) = self.bytes[self.used..].get(..GREETING) else {
                        return Ok(None);
                    };
                    check_greeting(greeting)?;
                    self.used += GREETING;
                    self.stage = Stage::Handshake;
                }
                Stage::Handshake | Stage::Messages => {
                    let Some((flags, body)) = self.frame()? else { return Ok(None) };
                    if let Some(message) = self.take(flags, body)? {
                        return Ok(Some(message));
                    }
                }
            }
        }
    }

    /// The next frame, if it has come whole.
    fn frame(&mut self) -> Result<Option<(u8, Vec<u8>)>, Reason> {
        let unused = &self.bytes[self.used..];
        let Some((&flags, rest)) = unused.split_first() else { return Ok(None) };
        if flags & !(MORE | LONG | COMMAND) != 0 {
            return Err("a frame has flags that do not exist");
        }
        let (length, head) = if flags & LONG == 0 {
            let Some(&length) = rest.first() else { return Ok(None) };
            (u64::from(length), 2)
        } else {
            let Some(length) = rest.first_chunk::<8>() else { return Ok(None) };
            (u64::from_be_bytes(*length), 9)
        };
        let most = if flags & COMMAND == 0 { LONGEST - self.held } else { LONGEST_COMMAND };
        let length = usize::try_from(length).ok().filter(|length| *length <= most);
        let length = length.ok_or("a message is too long")?;
        let Some(body) = unused[head..].get(..length) else { return Ok(None) };
        let body = body.to_vec();
        self.used += head + length;
        Ok(Some((flags, body)))
    }

    /// Takes a frame. Gives a message if it was the last of one.
    fn take(&mut self, flags: u8, body: Vec<u8>) -> Result<Option<Vec<Vec<u8>>>, Reason> {
        if flags & COMMAND != 0 {
            match self.stage {
                Stage::Handshake if body.starts_with(b"\x05READY") => self.stage = Stage::Messages,
                Stage::Handshake => return Err("the other end refused the connection"),
                // Nothing that a server may say later needs an answer in version 3.0.
                Stage::Messages | Stage::Greeting | Stage::Broken => {}
            }
            return Ok(None);
        }
        if self.stage == Stage::Handshake {
            return Err("a message came before the connection was agreed upon");
        }
        self.held += body.len();
        self.frames.push(body);
        if flags & MORE == 0 {
            self.held = 0;
            return Ok(Some(std::mem::take(&mut self.frames)));
        }
        if self.frames.len() >= MOST_FRAMES {
            return Err("a message has too many frames");
        }
        Ok(None)
    }
}

fn check_greeting(greeting: &[u8]) -> Result<(), Reason> {
    if greeting[0] != 0xff || greeting[9] & 1 == 0 {
        return Err("it does not greet as ZeroMQ does");
    }
    if greeting[10] < 3 {
        return Err("it speaks a version of ZeroMQ before 3");
    }
    if &greeting[12..17] != b"NULL\0" {
        return Err("it wants a secured connection");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The opening of a server.
    fn greeted() -> Vec<u8> {
        let mut bytes = opening(Kind::Dealer, "");
        bytes[11] = 1;
        bytes
    }

    fn decoded(bytes: &[u8], piece: usize) -> Result<Vec<Vec<Vec<u8>>>, Reason> {
        let mut decoder = Decoder::default();
        let mut messages = Vec::new();
        for piece in bytes.chunks(piece.max(1)) {
            decoder.push(piece);
            while let Some(message) = decoder.next()? {
                messages.push(message);
            }
        }
        Ok(messages)
    }

    #[test]
    fn messages_come_out_whole_whatever_pieces_they_come_in() {
        let long = vec![7; 70_000];
        let mut bytes = greeted();
        bytes.extend(encode(&[b"a", b"", &long]));
        frame(COMMAND, b"\x04PING\0\0", &mut bytes);
        bytes.extend(encode(&[b"b"]));
        for piece in [1, 2, 63, 4096, bytes.len()] {
            let messages = decoded(&bytes, piece).unwrap();
            assert_eq!(messages, [vec![b"a".to_vec(), vec![], long.clone()], vec![b"b".to_vec()]]);
        }
    }

    #[test]
    fn what_is_no_zmtp_is_refused_and_nothing_after_it_is_read() {
        let with = |more: &[u8]| [greeted(), more.to_vec()].concat();
        let mut secured = greeted();
        secured[12..17].copy_from_slice(b"CURVE");
        let mut old = greeted();
        old[10] = 1;
        let no_ready = [&greeted()[..64], &[0, 1, b'x']].concat();
        let refused = [&greeted()[..64], b"\x04\x08\x05ERROR\x01x".as_slice()].concat();
        let too_long = with(&[[LONG].as_slice(), &u64::MAX.to_be_bytes()].concat());
        let many = with(&[MORE, 0].repeat(MOST_FRAMES));
        for bytes in [
            vec![b'x'; 64],
            secured,
            old,
            no_ready,
            refused,
            with(&[0xf0, 0]),
            with(&[COMMAND | LONG, 0, 0, 0, 0, 1, 0, 0, 0]),
            too_long,
            many,
        ] {
            let mut decoder = Decoder::default();
            decoder.push(&bytes);
            assert!(decoder.next().is_err(), "{bytes:?}");
            decoder.push(&encode(&[b"late"]));
            assert_eq!(decoder.next(), Ok(None));
        }
    }

    #[test]
    fn frames_together_may_be_no_longer_than_one() {
        let mut decoder = Decoder::default();
        decoder.push(&greeted());
        assert_eq!(decoder.next(), Ok(None));
        decoder.held = LONGEST - 1;
        decoder.push(&[MORE, 2]);
        assert_eq!(decoder.next(), Err("a message is too long"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
            greeting: bool,
            piece in 1_usize..64,
        ) {
            let bytes = if greeting { [greeted(), bytes].concat() } else { bytes };
            _ = decoded(&bytes, piece).is_ok();
        }
    }
}
