//! The link: our own process's end of a host and of its kernels' wires.
//!
//! Everything that arrives here comes out of a sandbox: it is bounded, put in order and passed on
//! as [`Heard`], and never believed.

pub use self::{heard::Heard, link::Link, wires::Called};

mod heard;
mod link;
mod wires;
