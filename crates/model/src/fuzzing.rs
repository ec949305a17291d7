//! The reader of wire formats, open to the fuzz targets, which are a crate of their own.
//!
//! Only with the feature `fuzzing`, which no other crate asks for.

use crate::{ReplyPiece, format::Reading};
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
