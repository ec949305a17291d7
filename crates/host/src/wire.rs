//! Shared by both ends of the line: the framing of messages, and their kinds.
//!
//! Pure: reads and writes nothing. The outside parses with this what came out of a sandbox, so
//! every length has a bound that is checked before anything is kept for it.

pub use self::{
    claim::Claim,
    frame::{Decoder, Frame, FrameError, encode},
    message::{Inward, KernelInput, KernelSpec, Outward},
};

mod buffer;
pub mod claim;
mod frame;
mod message;

pub(crate) use self::{buffer::Buffer, message::LONGEST};
