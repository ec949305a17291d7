//! The part behind every listener: performs the verbs of the protocol for a caller.
//!
//! Listeners know nothing of sessions, and a service knows nothing of connections.

use crate::{
    Caller, Lines,
    files::{FilesDownload, FilesWish},
    protocol::ProtocolError,
};
use bytes::Bytes;
use interpreter_store::Folders;
use serde_json::Value;
use std::{future::Future, sync::Arc};

/// A file that a service receives. Dropping it leaves nothing.
pub trait ServiceUpload: Send + Sized + 'static {
    /// Takes in the next piece.
    fn take(self, piece: Bytes) -> impl Future<Output = Result<Self, ProtocolError>> + Send;

    /// It is whole: stages it, and says what came of it.
    fn finish(self) -> impl Future<Output = Result<Value, ProtocolError>> + Send;
}

/// How many sessions run, of nobody by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionCount {
    /// Of everybody.
    pub running: usize,
    /// Of the one person who has the most.
    pub of_one: usize,
}

/// Performs requests. One exists per server; listeners share it.
pub trait Service: Send + Sync + 'static {
    /// A file that it receives.
    type Upload: ServiceUpload;

    /// Serves one client until it is gone. A listener drops the future to end a client at once.
    fn serve<L: Lines + 'static>(
        &self,
        caller: Caller,
        lines: L,
    ) -> impl Future<Output = ()> + Send;

    /// Performs one request and gives its reply, each as a line of the protocol.
    fn perform(&self, caller: Caller, request: String) -> impl Future<Output = String> + Send;

    /// Begins to receive a file of `bytes` bytes for a session. Rights, name and room are checked
    /// before the first byte.
    fn begin_upload(
        &self,
        caller: &Caller,
        session: &str,
        path: &str,
        bytes: u64,
    ) -> impl Future<Output = Result<Self::Upload, ProtocolError>> + Send;

    /// Opens files of a session for reading.
    fn open_files(
        &self,
        caller: &Caller,
        session: &str,
        wish: FilesWish,
    ) -> impl Future<Output = Result<FilesDownload, ProtocolError>> + Send;

    /// Where the record is that may have this session, if the caller may see it there. An unknown
    /// session and a hidden one are the same: the record does not have it.
    fn folders_of(&self, caller: &Caller, session: &str) -> Option<Arc<Folders>>;

    /// How many sessions run.
    fn session_count(&self) -> SessionCount {
        SessionCount::default()
    }

    /// Whether it serves several people, who log in by name and password.
    fn is_team(&self) -> bool {
        false
    }

    /// The people have changed, or may have. May read the disk.
    fn people_changed(&self) {}

    /// Waits until somebody wants the server to end.
    fn wanted_to_end(&self) -> impl Future<Output = ()> + Send;

    /// Ends every session in order, and waits until all are over.
    fn shut(&self) -> impl Future<Output = ()> + Send;
}
