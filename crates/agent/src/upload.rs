//! A file that a client sends, until it can be staged.
//!
//! It has no name while it comes, so one that is cut leaves nothing. Must not stage it: that is the
//! session's own loop, which records it first.

use crate::{AgentError, Context, changes};
use interpreter_workspace::{IncomingFile, Place, ReceivedFile};

/// A file that is being received.
#[derive(Debug)]
pub struct Upload {
    place: Place,
    file: IncomingFile,
}

impl Context {
    /// Begins to receive a file of `bytes` bytes. Refuses one that is larger than may be staged, or
    /// than the disk has room for.
    pub fn receive(&self, bytes: u64) -> Result<Upload, AgentError> {
        let place = changes::place(self)?;
        let limits = self.confinement().limits;
        let most = limits.staged_bytes.min(limits.file_bytes);
        let file = IncomingFile::begin(&place, bytes, most)?;
        Ok(Upload { place, file })
    }
}

impl Upload {
    /// Takes in the next piece.
    pub fn write(&mut self, piece: &[u8]) -> Result<(), AgentError> {
        Ok(self.file.write(&self.place, piece)?)
    }

    /// It is whole.
    pub fn finish(self) -> ReceivedFile {
        self.file.finish()
    }
}
