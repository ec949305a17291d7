//! Lines in both directions, whatever carries them: a pipe, a socket, a WebSocket.
//!
//! The protocol is the same over all of them. Every carrier bounds the length of a line and the
//! time for which a reader may stall; the protocol does not look at bytes.

use std::{future::Future, io};

/// One client's lines. Dropping it closes the connection.
pub trait Lines: Send {
    /// The next line without its end, or nothing once the client is gone or broke a limit. May be
    /// dropped at any time without losing a line.
    fn next(&mut self) -> impl Future<Output = Option<String>> + Send;

    /// Sends lines, in order and together. Returns when they are on their way, and fails if the
    /// client is gone or has not read for too long. Must not be dropped half-way if more is to be
    /// sent.
    fn send(&mut self, lines: Vec<String>) -> impl Future<Output = io::Result<()>> + Send;
}
