//! Both ends of the line into a sandbox: the host, which is the first process inside, and the link
//! to it, which our own process holds.
//!
//! - [`wire`] holds what both ends share: frames, messages, and the [`Claim`]s of drivers. Pure.
//! - [`inside`] is the host. Our binary, started again in the sandbox, calls [`run`]: it starts
//!   kernels, hands their wires out, and ends everything when its stream ends.
//! - [`outside`] is the [`Link`]. It holds the wires, so that code and output pass through no
//!   process in between.
//!
//! `inside` and `outside` must not use each other; they meet in `wire` alone. Neither has threads,
//! async or timers.

pub use crate::{
    inside::{ServeError, drivers, egress, run, serve},
    outside::{Called, Heard, Link},
    wire::{
        Claim, Decoder, Frame, FrameError, Inward, KernelInput, KernelSpec, Outward, claim, encode,
    },
};

pub mod inside;
pub mod outside;
pub mod wire;

/// The name under which our binary is started to be a host.
pub const HOST: &str = "interpreter-host";
