//! The files that a guest reads who may watch a session and not drive it.
//!
//! # Threat
//! One session is shown to somebody, and with it the whole work folder: notes, sources, whatever
//! lies there.
//!
//! # Mechanism
//! A path is looked up in the list of what the session staged or applied, and opened by that list. For
//! whoever asks, any other file is not there.

use super::{
    SessionHub,
    allowed::check,
    reading::{elsewhere, failed},
};
use crate::{
    caller::{Caller, Right},
    files::FilesDownload,
    protocol::{ErrorCode, ProtocolError},
};
use interpreter_agent::{ExportOf, OpenedFile};

impl SessionHub {
    /// Opens a file that the session staged or applied.
    pub(crate) async fn send_changed_file(
        &self,
        caller: &Caller,
        session: &str,
        path: String,
    ) -> Result<FilesDownload, ProtocolError> {
        check(caller, &[Right::Watch])?;
        let held = self.running(session).await?;
        for of in [ExportOf::Staged, ExportOf::Applied] {
            let export = match held.session.export(of).await {
                Ok(export) => export,
                Err(error) if error.is_nothing_staged() => continue,
                Err(error) => return Err(failed(&error)),
            };
            let wanted = path.clone();
            let opened = elsewhere(move || {
                let found = export.files.iter().find(|file| file.path == wanted);
                let opened = found.and_then(|file| Some((export.open(file).ok()?, file.bytes)));
                Ok(opened.map(|(file, bytes)| OpenedFile { file, bytes }))
            });
            if let Some(opened) = opened.await? {
                return Ok(FilesDownload::file(&path, opened));
            }
        }
        let text = "the session has neither staged nor applied such a file";
        Err(ProtocolError::new(ErrorCode::NoSuchFile, text)
            .hint("whoever drives the session also reads the other files of its folder"))
    }
}
