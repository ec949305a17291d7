//! What can go wrong with the host itself. What goes wrong with a kernel is a frame.

use crate::frame::FrameError;
use nix::errno::Errno;

/// Why the host ended before its stream did.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The process could not be made ready to look after others.
    #[error("cannot prepare to watch child processes and descriptors")]
    Prepare {
        /// The system's reason.
        source: Errno,
    },
    /// The stream or its end could not be had.
    #[error("cannot use stdin and stdout as the frame stream")]
    Stream {
        /// The system's reason.
        source: std::io::Error,
    },
    /// Waiting for something to happen failed.
    #[error("cannot wait for the stream and the kernels")]
    Wait {
        /// The system's reason.
        source: Errno,
    },
    /// The outside sent something that is no frame.
    #[error("the frame stream from the outside is broken")]
    Frame {
        /// What is wrong with it.
        #[from]
        source: FrameError,
    },
}
