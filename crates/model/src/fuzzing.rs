//! The readers of wire formats and of weights, open to the fuzz targets, which are a crate of
//! their own.
//!
//! Only with the feature `fuzzing`, which no other crate asks for.

use crate::{
    ReplyPiece,
    format::Reading,
    gguf::{self, sample::Sample},
};
use interpreter_core::{Reply, WireFormat};

/// The pieces of a stream, in whatever parts it comes, and the reply unless there is a fault.
pub fn read(format: WireFormat, parts: &[&[u8]]) -> (Vec<ReplyPiece>, Option<Reply>) {
    let (mut reading, mut pieces) = (Reading::new(format), Vec::new());
    for part in parts {
        let fed = reading.feed(part);
        pieces.extend(reading.take_pieces());
        if fed.is_err() {
            return (pieces, None);
        }
        if reading.is_done() {
            break;
        }
    }
    let (last, reply) = reading.finish();
    pieces.extend(last);
    (pieces, reply.ok())
}

/// A file of weights with changes: bytes of its head that are others, and a length.
pub fn changed_weights(changes: &[(u16, u8)], length: Option<u64>) -> (Vec<u8>, u64) {
    let mut bytes = Sample::default().bytes();
    for (place, byte) in changes {
        let place = usize::from(*place) % bytes.len();
        bytes[place] = *byte;
    }
    let length = length.unwrap_or(bytes.len() as u64);
    (bytes, length)
}

/// Why the engine doesn't get a file that begins with these bytes and has this length.
pub fn problem_of_weights(bytes: &[u8], length: u64) -> Option<&'static str> {
    gguf::check(bytes, length).err().map(gguf::GgufFault::problem)
}
