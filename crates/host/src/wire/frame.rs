//! How messages are cut out of the byte stream between the outside and the host.
//!
//! A frame is the length of what follows (u32, little endian), its kind (u8), a kernel's number
//! (u32, little endian) and a payload. Pure: any bytes may come in any pieces, and the same bytes
//! give the same frames. [`super::message`] knows what a payload means.
//!
//! A length is checked before anything is kept for it. The outside reads with this too, and
//! its input comes out of a sandbox: a frame that breaks the rules ends the connection, and nothing
//! after it is read.

use super::buffer::Buffer;
use std::borrow::Cow;
use std::marker::PhantomData;

/// Bytes of kind and kernel number, which the length counts.
const HEAD: usize = 5;

/// A message that travels as a frame: [`crate::Inward`] or [`crate::Outward`].
pub trait Frame: Sized {
    /// The most bytes of a payload of this kind, or `None` for an unknown kind.
    fn longest(kind: u8) -> Option<usize>;

    /// The kind, the kernel's number and the payload.
    fn parts(&self) -> Result<(u8, u32, Cow<'_, [u8]>), FrameError>;

    /// The message of these parts.
    fn from_parts(kind: u8, kernel: u32, payload: Vec<u8>) -> Result<Self, FrameError>;
}

/// An error in a frame.
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
        /// The kind that the frame names.
        kind: u8,
        /// How long its payload is.
        length: usize,
        /// How long it may be.
        most: usize,
    },
    /// The first bytes are no frame: something else writes on the stream.
    #[error("it begins with something that is no frame of the host's")]
    Foreign {
        /// The first bytes that came.
        said: Vec<u8>,
        /// Why it is none.
        source: Box<FrameError>,
    },
    /// There is no such kind in this direction.
    #[error("a frame is of the unknown kind {kind}")]
    Unknown {
        /// The kind that the frame names.
        kind: u8,
    },
    /// A kernel was started, and its wires did not come with the word, or are none.
    #[error("a kernel comes without its pipes and its socket")]
    NoWires,
    /// Its payload does not say what its kind promises, or cannot be said as text.
    #[error("the payload of a frame of kind {kind} is not understood")]
    Payload {
        /// The kind that the frame names.
        kind: u8,
        /// The error in the text.
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
    check(F::longest(kind), kind, payload.len())?;
    let length = u32::try_from(HEAD + payload.len()).expect("no kind may be so long");
    to.extend_from_slice(&length.to_le_bytes());
    to.push(kind);
    to.extend_from_slice(&kernel.to_le_bytes());
    to.extend_from_slice(&payload);
    Ok(())
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
    state: State,
    message: PhantomData<fn() -> F>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No frame has come yet.
    Fresh,
    Reading,
    Broken,
}

/// Bytes that are kept of a stream that begins with something else.
const KEPT: usize = 512;

impl<F> Default for Decoder<F> {
    fn default() -> Self {
        Self { buffer: Buffer::default(), state: State::Fresh, message: PhantomData }
    }
}

impl<F: Frame> Decoder<F> {
    /// Takes the next piece. To stay within one frame of memory, call [`Decoder::next`] until
    /// it gives nothing before the next piece.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.state != State::Broken {
            self.buffer.push(bytes);
        }
    }

    /// The next frame, if a whole one has come. After an error there is nothing any more.
    #[expect(clippy::should_implement_trait, reason = "more may come after a `None`")]
    pub fn next(&mut self) -> Option<Result<F, FrameError>> {
        let frame = self.cut().transpose()?;
        let before = std::mem::replace(&mut self.state, State::Reading);
        let error = match frame {
            Ok(frame) => return Some(Ok(frame)),
            Err(error) => error,
        };
        let said: Vec<u8> = self.buffer.unused().iter().take(KEPT).copied().collect();
        self.state = State::Broken;
        self.buffer.clear();
        Some(Err(match before {
            State::Fresh => FrameError::Foreign { said, source: Box::new(error) },
            State::Reading | State::Broken => error,
        }))
    }

    /// Whether the stream could end here without a frame being cut off.
    pub fn is_between_frames(&self) -> bool {
        self.state != State::Broken && self.buffer.is_empty()
    }

    fn cut(&mut self) -> Result<Option<F>, FrameError> {
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
        let Some(bytes) = rest.get(..payload) else { return Ok(None) };
        let frame = F::from_parts(kind, kernel, bytes.to_vec())?;
        self.buffer.consume(4 + length);
        Ok(Some(frame))
    }
}

#[cfg(test)]
mod tests {
    use super::super::message::{Inward, Outward};
    use super::*;

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
        let errors = vec!["é".repeat(50_000), String::new()];
        let frames = vec![
            Outward::Started { kernel: 7, process: 8, input: false },
            Outward::Failed { kernel: u32::MAX, message: "no\nway".into() },
            Outward::Restored { errors },
            Outward::Used { milliseconds: 258 },
            Outward::Exited { kernel: 7, status: None, signal: Some(11) },
        ];
        let bytes = encoded(&frames);
        for piece in [1, 2, 3, 5, 8, 1_000, 64 << 10, bytes.len()] {
            assert_eq!(decoded(&bytes, piece), frames);
        }
    }

    #[test]
    fn the_wire_is_little_endian_with_the_length_of_the_rest_first() {
        let mut bytes = Vec::new();
        encode(&Inward::Interrupt { kernel: 258 }, &mut bytes).unwrap();
        assert_eq!(bytes, [5, 0, 0, 0, 3, 2, 1, 0, 0]);
    }

    #[test]
    fn a_frame_that_is_too_long_is_refused_by_its_head_alone() {
        let mut decoder = Decoder::<Outward>::default();
        let length = u32::try_from(super::super::message::LONGEST + HEAD + 1).unwrap();
        decoder.push(&length.to_le_bytes());
        let restored = encoded(&[Outward::Restored { errors: Vec::new() }])[4];
        decoder.push(&[restored]);
        let Some(Err(FrameError::Foreign { source, .. })) = decoder.next() else { panic!() };
        assert!(matches!(*source, FrameError::TooLong { .. }));
    }

    #[test]
    fn what_something_else_writes_first_of_all_is_kept() {
        let mut decoder = Decoder::<Outward>::default();
        decoder.push(b"This account is currently not available.\n");
        let Some(Err(FrameError::Foreign { said, .. })) = decoder.next() else { panic!() };
        assert_eq!(said, b"This account is currently not available.\n");
        // After a frame of the host's it is the host that breaks the rules.
        let mut decoder = Decoder::<Outward>::default();
        decoder.push(&encoded(&[Outward::Started { kernel: 1, process: 2, input: false }]));
        decoder.push(b"This account");
        assert!(decoder.next().unwrap().is_ok());
        assert!(matches!(decoder.next(), Some(Err(FrameError::Unknown { kind: b' ' }))));
    }

    #[test]
    fn after_a_broken_frame_nothing_more_is_read() {
        for broken in
            [&[4, 0, 0, 0, 0][..], &[5, 0, 0, 0, 250], &[6, 0, 0, 0, 81, 0, 0, 0, 0, b'!']]
        {
            let mut decoder = Decoder::<Outward>::default();
            decoder.push(broken);
            assert!(decoder.next().unwrap().is_err());
            decoder.push(&encoded(&[Outward::Started { kernel: 1, process: 2, input: false }]));
            assert!(decoder.next().is_none() && !decoder.is_between_frames());
        }
    }

    #[test]
    fn what_is_too_long_is_not_sent_either() {
        let mut bytes = Vec::new();
        let message = " ".repeat(super::super::message::LONGEST + 1);
        assert!(encode(&Outward::Failed { kernel: 1, message }, &mut bytes).is_err());
        assert!(bytes.is_empty());
    }
}
