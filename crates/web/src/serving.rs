//! The sessions of a server as listeners see them.

use crate::{
    Caller, Lines, Right, Service, SessionHub,
    client::{AtEnd, serve},
    files::{FilesDownload, FilesWish},
    hub::files::FileUpload,
    protocol::{ProtocolError, error_line, ok_line, read},
    service::SessionCount,
};
use interpreter_store::Folders;
use std::sync::Arc;

impl Service for SessionHub {
    type Upload = FileUpload;

    async fn serve<L: Lines + 'static>(&self, caller: Caller, lines: L) {
        // Whether it left or was cut off is all the same: it takes up its place when it is back.
        _ = serve(self, caller, lines, AtEnd::Leave).await.is_ok();
    }

    async fn perform(&self, caller: Caller, request: String) -> String {
        let request = match read(&request) {
            Ok(request) => request,
            Err((id, error)) => return error_line(id.as_ref(), &error),
        };
        match self.perform_verb(&caller, request.verb).await {
            Ok(ok) => ok_line(&request.id, &ok),
            Err(error) => error_line(Some(&request.id), &error),
        }
    }

    async fn begin_upload(
        &self,
        caller: &Caller,
        session: &str,
        path: &str,
        bytes: u64,
    ) -> Result<FileUpload, ProtocolError> {
        let received = self.receive_file(caller, session, path, bytes).await;
        received.map_err(|error| self.shared.told(error))
    }

    async fn open_files(
        &self,
        caller: &Caller,
        session: &str,
        wish: FilesWish,
    ) -> Result<FilesDownload, ProtocolError> {
        self.send_files(caller, session, wish).await.map_err(|error| self.shared.told(error))
    }

    fn folders_of(&self, caller: &Caller, _session: &str) -> Option<Arc<Folders>> {
        // All sessions of this server are one person's.
        caller.rights.has(Right::Watch).then(|| Arc::clone(&self.shared.folders))
    }

    fn session_count(&self) -> SessionCount {
        let running = self.count();
        SessionCount { running, of_one: running }
    }

    async fn wanted_to_end(&self) {
        Self::wanted_to_end(self).await;
    }

    async fn shut(&self) {
        Self::shut(self).await;
    }
}
