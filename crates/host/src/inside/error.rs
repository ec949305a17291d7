//! Failures of the host itself. Those of a kernel travel as frames.

use crate::wire::FrameError;
use rustix::io::Errno;

/// Why the host ended before its stream did.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The process could not be made ready to look after others.
    #[error("cannot prepare to watch child processes and descriptors")]
    Prepare {
        /// The error that the system gave.
        source: std::io::Error,
    },
    /// The stream could not be opened.
    #[error("cannot use stdin and stdout as the frame stream")]
    Stream {
        /// The error that the system gave.
        source: std::io::Error,
    },
    /// Waiting for something to happen failed.
    #[error("cannot wait for the stream and the kernels")]
    Wait {
        /// The error that the system gave.
        source: Errno,
    },
    /// The outside sent something that is no frame.
    #[error("the frame stream from the outside is broken")]
    Frame {
        /// The cause.
        #[from]
        source: FrameError,
    },
}
