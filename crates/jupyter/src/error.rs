//! Why a bridge cannot go on. What goes wrong in the kernel's code is not among it.

use nix::errno::Errno;
use std::io;

/// Why a bridge ended before its kernel did.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JupyterError {
    /// It was not started as a bridge is.
    #[error("the bridge wants one argument, which says what to start")]
    Launch,
    /// The means to watch the kernel could not be had.
    #[error("cannot prepare to watch the kernel")]
    Prepare(#[source] Errno),
    /// The private folder could not be made.
    #[error("cannot make a folder for the kernel's sockets")]
    Folder(#[source] io::Error),
    /// The kernel could not be started.
    #[error("cannot start `{program}`")]
    Start { program: String, source: io::Error },
    /// The kernel never opened its sockets, or never spoke.
    #[error(
        "the kernel {what} within {seconds} seconds; it may not know Unix sockets (`transport: \
         ipc`)"
    )]
    TooLate { what: &'static str, seconds: u64 },
    /// A socket of the kernel's could not be used.
    #[error("the kernel's {channel} socket broke")]
    Channel { channel: &'static str, source: io::Error },
    /// The kernel does not speak as kernels do.
    #[error("what came on the kernel's {channel} socket is not the Jupyter protocol: {reason}")]
    Garbage { channel: &'static str, reason: &'static str },
    /// Waiting failed.
    #[error("cannot wait for the kernel")]
    Wait(#[source] Errno),
    /// The host's socket broke, or something that is no request came on it.
    #[error("the socket to the host broke")]
    Host(#[source] io::Error),
    /// Output could not be passed on.
    #[error("the kernel's output cannot be passed on")]
    Output(#[source] io::Error),
}
