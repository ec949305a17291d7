//! The bridge inside a sandbox: a Jupyter kernel on one side, a driver on the other.
//!
//! Our own binary, started again in this role, calls [`run`] with a [`Launch`]. It starts the
//! kernel that the launch names and speaks the Jupyter protocol with it over Unix sockets in a
//! private folder, never over ports. To the host it is a driver like any other: cells come in,
//! output goes to descriptors 1 and 2, and what the kernel says becomes claims.
//!
//! Only what is needed of `ZeroMQ`'s wire format is here: the client's end of four sockets, without
//! threads, timers of its own or a runtime. One thread sleeps in `poll`.
//!
//! This crate must not judge or trust anything: it runs inside, and the kernel runs untrusted code.
//! A kernel's messages are bounded and passed on; a violation of the protocol ends the kernel.

pub use crate::{
    launch::{Interrupt, Launch},
    serve::run,
};

mod bridge;
mod channels;
mod claims;
mod error;
mod folder;
mod kernel;
mod launch;
mod message;
mod raw;
mod requests;
mod seal;
mod serve;
mod shown;
mod start;
mod wait;
mod zmtp;

/// The name under which our binary is started to be a bridge.
pub const JUPYTER: &str = "interpreter-jupyter";
