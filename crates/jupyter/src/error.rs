//! Why a bridge ends. Errors of the kernel's code are no reason.

use rustix::io::Errno;
use std::{io, process::ExitStatus};

/// Why a bridge ended before its kernel did.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JupyterError {
    /// It was not started as a bridge is.
    #[error("the bridge wants one argument, which says what to start")]
    Launch,
    /// The system refused the means to watch the kernel.
    #[error("cannot prepare to watch the kernel")]
    Prepare(#[source] io::Error),
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
    /// Waiting for the kernel failed.
    #[error("cannot wait for the kernel")]
    Wait(#[source] Errno),
    /// The host's socket broke, or something that is no request came on it.
    #[error("the socket to the host broke")]
    Host(#[source] io::Error),
    /// Output could not be passed on.
    #[error("the kernel's output cannot be passed on")]
    Output(#[source] io::Error),
}

/// Why a bridge ends.
#[derive(Debug)]
pub(crate) enum End {
    /// Its kernel has ended like this.
    Died(ExitStatus),
    /// The host has hung up, or the code wanted it to.
    HungUp,
    /// It cannot go on.
    Broken(JupyterError),
}

impl From<JupyterError> for End {
    fn from(error: JupyterError) -> Self {
        Self::Broken(error)
    }
}
