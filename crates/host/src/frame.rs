//! How messages are cut out of the byte stream between the outside and the host.
//!
//! A frame is the length of what follows (u32, little endian), its kind (u8), a kernel's number
//! (u32, little endian) and a payload. Pure: any bytes may come in any pieces, and the same bytes
//! give the same frames. What the bytes of a payload mean is in [`crate::message`].
//!
//! A length is checked before anything is kept for it. The outside reads with this too, and what
//! it reads came from a sandbox: a frame that breaks the rules ends the connection, and nothing
//! after it is looked at.

use crate::buffer::Buffer;
use std::borrow::Cow;
use std::marker::PhantomData;

/// Bytes of kind and kernel number, which the length counts.
const HEAD: usize = 5;

/// A message that travels as a frame: [`crate::Inward`] or [`crate::Outward`].
pub trait Frame: Sized {
    /// The most bytes a payload of this kind may have; none if there is no such kind.
    fn longest(kind: u8) -> Option<usize>;

    /// The kind, the kernel's number and the payload.
    fn parts(&self) -> Result<(u8, u32, Cow<'_, [u8]>), FrameError>;

    /// The message of these parts.
    fn from_parts(kind: u8, kernel: u32, payload: Vec<u8>) -> Result<Self, FrameError>;
}

/// What is wrong with a frame.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// Its length leaves no room for kind and kernel number.
    #[error("a frame of {length} bytes is too short to be one")]
    TooShort {
        /// The length it gives.
        length: usize,
    },
    /// Its payload is longer than its kind allows.
    #[error("a frame of kind {kind} with {length} bytes is longer than the {most} it may have")]
    TooLong {
        /// Its kind.
        kind: u8,
        /// How long its payload is.
        length: usize,
        /// How long it may be.
        most: usize,
    },
    /// There is no such kind in this direction.
    #[error("a frame is of the unknown kind {kind}")]
    Unknown {
        /// The kind.
        kind: u8,
    },
    /// Its payload does not say what its kind promises, or cannot be said as text.
    #[error("the payload of a frame of kind {kind} is not understood")]
    Payload {
        /// Its kind.
        kind: u8,
        /// What is wrong with the text.
        source: serde_json::Error,
    },
}

/// Appends `message` as a frame.
///
/// # Errors
/// If the payload is too long for its kind, or holds a path that is not Unicode. Nothing is
/// appended then.
pub fn encode<F: Frame>(message: &F, to: &mut Vec<u8>) -> Result<(), FrameError> {
    let (kind, kernel, payload) = message.parts()?;
    encode_parts::<F>(kind, kernel, &payload, to)
}

/// The same for what is not a message yet, so that a payload need not be copied for it.
pub(crate) fn encode_parts<F: Frame>(
    kind: u8,
    kernel: u32,
    payload: &[u8],
    to: &mut Vec<u8>,
) -> Result<(), FrameError> {
    check(F::longest(kind), kind, payload.len())?;
    to.extend_from_slice(&head(kind, kernel, payload.len()));
    to.extend_from_slice(payload);
    Ok(())
}

/// What stands before a payload of so many bytes, which its kind allows.
pub(crate) fn head(kind: u8, kernel: u32, payload: usize) -> [u8; 4 + HEAD] {
    let mut head = [0; 4 + HEAD];
    let length = u32::try_from(HEAD + payload).expect("no kind may be so long");
    head[..4].copy_from_slice(&length.to_le_bytes());
    head[4] = kind;
    head[5..].copy_from_slice(&kernel.to_le_bytes());
    head
}

fn check(most: Option<usize>, kind: u8, length: usize) -> Result<(), FrameError> {
    match most {
        None => Err(FrameError::Unknown { kind }),
        Some(most) if length > most => Err(FrameError::TooLong { kind, length, most }),
        Some(_) => Ok(()),
    }
}

/// Cuts frames out of pieces of the stream.
#[derive(Debug)]
pub struct Decoder<F> {
    buffer: Buffer,
    /// A long frame that has begun. Then nothing else has been kept.
    begun: Option<Begun>,
    state: State,
    message: PhantomData<fn() -> F>,
}

/// A frame whose head has come. Its payload is gathered where it stays.
#[derive(Debug)]
struct Begun {
    kind: u8,
    kernel: u32,
    length: usize,
    payload: Vec<u8>,
}

impl Begun {
    fn missing(&self) -> usize {
        self.length - self.payload.len()
    }
}

/// Payloads of which more than this is missing are read to where they stay.
const LONG: usize = 32 << 10;

#[derive(Debug, PartialEq, Eq)]
enum State {
    Reading,
    Broken,
}

impl<F> Default for Decoder<F> {
    fn default() -> Self {
        let (buffer, begun) = (Buffer::default(), None);
        Self { buffer, begun, state: State::Reading, message: PhantomData }
    }
}

impl<F: Frame> Decoder<F> {
    /// Takes the next piece. To stay within one frame of memory, call [`Decoder::next`] until
    /// it gives nothing before the next piece.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.state == State::Broken {
            return;
        }
        let mut rest = bytes;
        if let Some(begun) = &mut self.begun {
            let (more, after) = rest.split_at(begun.missing().min(rest.len()));
            begun.payload.extend_from_slice(more);
            rest = after;
        }
        self.buffer.push(rest);
    }

    /// Where the next piece is to be appended, for what reads straight into a vector, and how many
    /// bytes it may have: `usual` or as many as the frame that has begun still wants.
    pub fn space(&mut self, usual: usize) -> (&mut Vec<u8>, usize) {
        match &mut self.begun {
            Some(begun) if begun.missing() > 0 => {
                let missing = begun.missing();
                (&mut begun.payload, missing)
            }
            Some(_) | None => {
                let space = self.buffer.end();
                space.reserve(usual);
                (space, usual)
            }
        }
    }

    /// The next frame, if a whole one has come. After an error there is nothing any more.
    #[expect(clippy::should_implement_trait, reason = "more may come after a `None`")]
    pub fn next(&mut self) -> Option<Result<F, FrameError>> {
        let frame = self.cut().transpose()?;
        if frame.is_err() {
            self.state = State::Broken;
            self.buffer.clear();
            self.begun = None;
        }
        Some(frame)
    }

    /// Whether the stream could end here without a frame being cut off.
    pub fn is_between_frames(&self) -> bool {
        self.state == State::Reading && self.buffer.is_empty() && self.begun.is_none()
    }

    fn cut(&mut self) -> Result<Option<F>, FrameError> {
        if self.begun.is_some() {
            return self
                .begun
                .take_if(|begun| begun.missing() == 0)
                .map(|begun| F::from_parts(begun.kind, begun.kernel, begun.payload))
                .transpose();
        }
        let Some((head, rest)) = self.buffer.unused().split_first_chunk::<4>() else {
            return Ok(None);
        };
        let length = u32::from_le_bytes(*head) as usize;
        let Some(payload) = length.checked_sub(HEAD) else {
            return Err(FrameError::TooShort { length });
        };
        let Some(&kind) = rest.first() else { return Ok(None) };
        check(F::longest(kind), kind, payload)?;
        let Some((kernel, rest)) = rest[1..].split_first_chunk::<4>() else { return Ok(None) };
        let kernel = u32::from_le_bytes(*kernel);
        let Some(bytes) = rest.get(..payload) else {
            if payload - rest.len() > LONG {
                let mut begun = Vec::with_capacity(payload);
                begun.extend_from_slice(rest);
                self.begun = Some(Begun { kind, kernel, length: payload, payload: begun });
                self.buffer.clear();
            }
            return Ok(None);
        };
        let frame = F::from_parts(kind, kernel, bytes.to_vec())?;
        self.buffer.consume(4 + length);
        Ok(Some(frame))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Inward, Outward};

    fn encoded(frames: &[Outward]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for frame in frames {
            encode(frame, &mut bytes).unwrap();
        }
        bytes
    }

    fn decoded(bytes: &[u8], piece: usize) -> Vec<Outward> {
        let mut decoder = Decoder::default();
        let mut frames = Vec::new();
        for piece in bytes.chunks(piece) {
            decoder.push(piece);
            while let Some(frame) = decoder.next() {
                frames.push(frame.unwrap());
            }
        }
        assert!(decoder.is_between_frames());
        frames
    }

    #[test]
    fn frames_come_out_whole_whatever_pieces_they_come_in() {
        let frames = vec![
            Outward::Started { kernel: 7 },
            Outward::Stdout { kernel: 7, bytes: b"a\0\xff\n".to_vec() },
            Outward::Stderr { kernel: u32::MAX, bytes: Vec::new() },
            Outward::Claim { kernel: 7, claim: b"{}".to_vec() },
            Outward::Stdout { kernel: 8, bytes: vec![b'x'; 3 * LONG] },
            Outward::Stdout { kernel: 8, bytes: vec![b'y'; LONG + 1] },
            Outward::Exited { kernel: 7, status: None, signal: Some(11) },
        ];
        let bytes = encoded(&frames);
        for piece in [1, 2, 3, 5, 8, 1_000, LONG, 2 * LONG, bytes.len()] {
            assert_eq!(decoded(&bytes, piece), frames);
            assert_eq!(read_straight(&bytes, piece), frames);
        }
    }

    /// As [`decoded`], where each piece is put where the decoder wants it.
    fn read_straight(mut bytes: &[u8], usual: usize) -> Vec<Outward> {
        let mut decoder = Decoder::default();
        let mut frames = Vec::new();
        while !bytes.is_empty() {
            let (space, most) = decoder.space(usual);
            let (piece, rest) = bytes.split_at(most.min(bytes.len()));
            space.extend_from_slice(piece);
            bytes = rest;
            while let Some(frame) = decoder.next() {
                frames.push(frame.unwrap());
            }
        }
        assert!(decoder.is_between_frames());
        frames
    }

    #[test]
    fn the_wire_is_little_endian_with_the_length_of_the_rest_first() {
        let mut bytes = Vec::new();
        encode(&Inward::Execute { kernel: 258, code: b"x".to_vec() }, &mut bytes).unwrap();
        assert_eq!(bytes, [6, 0, 0, 0, 2, 2, 1, 0, 0, b'x']);
    }

    #[test]
    fn a_frame_that_is_too_long_is_refused_by_its_head_alone() {
        let mut decoder = Decoder::<Outward>::default();
        let length = u32::try_from(crate::message::LONGEST_OUTPUT + HEAD + 1).unwrap();
        decoder.push(&length.to_le_bytes());
        let stdout = encoded(&[Outward::Stdout { kernel: 0, bytes: Vec::new() }])[4];
        decoder.push(&[stdout]);
        assert!(matches!(decoder.next(), Some(Err(FrameError::TooLong { .. }))));
    }

    #[test]
    fn after_a_broken_frame_nothing_more_is_read() {
        for broken in
            [&[4, 0, 0, 0, 0][..], &[5, 0, 0, 0, 250], &[6, 0, 0, 0, 68, 0, 0, 0, 0, b'!']]
        {
            let mut decoder = Decoder::<Outward>::default();
            decoder.push(broken);
            assert!(decoder.next().unwrap().is_err());
            decoder.push(&encoded(&[Outward::Started { kernel: 1 }]));
            assert!(decoder.next().is_none() && !decoder.is_between_frames());
        }
    }

    #[test]
    fn what_is_too_long_is_not_sent_either() {
        let mut bytes = Vec::new();
        let code = vec![b' '; crate::message::LONGEST + 1];
        assert!(encode(&Inward::Execute { kernel: 1, code }, &mut bytes).is_err());
        assert!(bytes.is_empty());
    }
}
