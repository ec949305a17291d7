//! The host: the first process inside a sandbox, which starts kernels and hands their wires out.
//!
//! Its standard input and output are one stream of frames to the outside: [`Inward`] frames ask,
//! [`Outward`] frames answer. A kernel is a process with a driver from [`drivers`] in it. Its pipes
//! and its control socket go out with the message that it was started. When the stream ends,
//! everything ends.
//!
//! The host must not judge, limit or believe anything: it runs beside untrusted code. Only where no
//! process can be started any more does it make room, by ending everything.
//!
//! [`Inward`]: crate::Inward
//! [`Outward`]: crate::Outward

pub use self::{
    error::ServeError,
    serve::{run, serve},
};

mod census;
mod copies;
pub mod drivers;
pub mod egress;
mod empty;
mod error;
mod kernel;
mod outgoing;
mod processes;
mod restore;
mod serve;

#[cfg(test)]
pub(crate) use self::{kernel::Ends, outgoing::Outgoing};
