//! The first process inside a sandbox: starts kernels, carries their output.
//!
//! Our own binary, started again in this role, calls [`run`]. Its stdin and stdout are one stream
//! of frames to the outside: [`Inward`] frames ask, [`Outward`] frames tell, and the outside uses
//! the same [`frame`] module to write and read them. A kernel is a process with a driver from
//! [`drivers`] in it; what the driver says is a [`Claim`]. When the stream ends, everything ends.
//!
//! This crate must not judge, limit or believe anything: it runs inside, beside untrusted code.
//! Only where no process can be started any more does it make room, by ending everything. It has
//! one thread, no async and no timers.

pub use crate::{
    claim::Claim,
    error::HostError,
    frame::{Decoder, Frame, FrameError, encode},
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
mod kernel;
pub mod message;
mod outgoing;
mod processes;
mod restore;
mod serve;

/// The name under which our binary is started to be a host.
pub const HOST: &str = "interpreter-host";
