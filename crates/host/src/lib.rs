//! The first process inside a sandbox: starts kernels, and hands their wires out.
//!
//! Our own binary, started again in this role, calls [`run`]. Its stdin and stdout are one stream
//! of frames to the outside: [`Inward`] frames ask, [`Outward`] frames tell. A kernel is a process
//! with a driver from [`drivers`] in it; what the driver says is a [`Claim`]. Its pipes and its
//! control socket go out with the word that it was started, so that code and output pass through no
//! process in between; the outside's end of all that is a [`Link`]. When the stream ends, everything
//! ends.
//!
//! This crate must not judge, limit or believe anything: it runs inside, beside untrusted code.
//! Only where no process can be started any more does it make room, by ending everything. It has
//! one thread, no async and no timers.

pub use crate::{
    claim::Claim,
    error::HostError,
    frame::{Decoder, Frame, FrameError, encode},
    heard::Heard,
    link::Link,
    message::{Inward, KernelSpec, Outward},
    serve::{run, serve},
};

pub mod attack;
mod buffer;
mod census;
pub mod claim;
pub mod drivers;
pub mod egress;
mod error;
pub mod frame;
mod heard;
mod kernel;
mod link;
pub mod message;
mod outgoing;
mod processes;
mod restore;
mod serve;
mod wires;

/// The name under which our binary is started to be a host.
pub const HOST: &str = "interpreter-host";
