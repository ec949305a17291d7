//! Files up and down: what a client sends is staged, what it wants is opened for it.
//!
//! # Threat
//! A body without end, one that is cut, a name that leads elsewhere, and a reader with few rights who
//! wants to see what code may not.
//!
//! # Mechanism
//! Rights and names are checked before the first byte. Bytes go to an unnamed file on the disk and
//! never to memory. The session's loop records a file and has it staged; its runner judges the path,
//! and opens what is read.

use super::{
    SessionHub,
    allowed::check,
    held::HeldSession,
    opening::unknown,
    outcome::{begun, settled},
    reading::{elsewhere, failed},
};
use crate::{
    caller::{Caller, Right},
    files::{FilesDownload, FilesForm, FilesWish, LastingRight, ZipPlan},
    protocol::{ErrorCode, ProtocolError},
    service::ServiceUpload,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use interpreter_agent::{Advise, AgentError, OpenedFile, Upload, chain};
use interpreter_core::put::unfit_name;
use serde_json::{Value, json};
use std::{
    io::{Read, Seek, SeekFrom},
    sync::Arc,
};

/// Bytes of a file that comes with a request of the protocol.
const SMALL: usize = 1 << 20;

/// A file that is being received for a session.
pub struct FileUpload {
    held: Arc<HeldSession>,
    shared: Arc<super::Shared>,
    path: String,
    who: String,
    bytes: u64,
    received: u64,
    upload: Upload,
    right: LastingRight,
}

fn refused(error: &AgentError) -> ProtocolError {
    let hint = error.advice();
    ProtocolError { hint, ..ProtocolError::new(ErrorCode::Refused, chain(error)) }
}

impl SessionHub {
    /// Begins to receive a file of `bytes` bytes for a session.
    pub(crate) async fn receive_file(
        &self,
        caller: &Caller,
        session: &str,
        path: &str,
        bytes: u64,
    ) -> Result<FileUpload, ProtocolError> {
        check(caller, &[Right::Change])?;
        let held = self.running(session).await?;
        if let Some(why) = unfit_name(path) {
            return Err(ProtocolError::new(ErrorCode::Malformed, format!("put: {why}")));
        }
        self.check_storage(bytes).await?;
        let context = Arc::clone(&held.context);
        let upload = elsewhere(move || context.receive(bytes).map_err(|error| refused(&error)));
        let (upload, shared) = (upload.await?, Arc::clone(&self.shared));
        let (path, who) = (path.to_owned(), caller.name.clone());
        let right = LastingRight::of_owner();
        Ok(FileUpload { held, shared, path, who, bytes, received: 0, upload, right })
    }

    /// Stages a small file.
    pub(super) async fn put_small(
        &self,
        caller: &Caller,
        session: &str,
        path: &str,
        base64: String,
    ) -> Result<Value, ProtocolError> {
        if base64.len() > SMALL.div_ceil(3) * 4 {
            let text = "put: the file has more than 1 MiB";
            return Err(ProtocolError::new(ErrorCode::TooMany, text)
                .hint("`PUT /v1/sessions/{session}/files/{path}` takes larger ones"));
        }
        let bytes = STANDARD.decode(base64);
        let bytes = bytes
            .map_err(|_| ProtocolError::new(ErrorCode::Malformed, "put: `base64` is not base64"))?;
        let mut upload = self.receive_file(caller, session, path, bytes.len() as u64).await?;
        if !bytes.is_empty() {
            upload = upload.take(bytes.into()).await?;
        }
        upload.finish().await
    }

    /// Opens files of a session for reading.
    pub(crate) async fn send_files(
        &self,
        caller: &Caller,
        session: &str,
        wish: FilesWish,
    ) -> Result<FilesDownload, ProtocolError> {
        check(caller, &[Right::Watch])?;
        let held = self.running(session).await?;
        let missing = |error: AgentError| match wish {
            FilesWish::Many { .. } if !error.is_nothing_staged() => failed(&error),
            FilesWish::One(_) | FilesWish::Many { .. } => {
                ProtocolError::new(ErrorCode::NoSuchFile, chain(&error))
            }
        };
        match &wish {
            FilesWish::One(path) => {
                let opened = held.session.open_file(path.clone()).await.map_err(missing)?;
                Ok(FilesDownload::file(path, opened))
            }
            FilesWish::Many { of, form: FilesForm::Patch } => {
                let opened = held.session.patch(*of).await.map_err(missing)?;
                Ok(FilesDownload::patch(&held.id, opened))
            }
            FilesWish::Many { of, form: FilesForm::Zip } => {
                let export = held.session.export(*of).await.map_err(missing)?;
                Ok(FilesDownload::zip(&held.id, ZipPlan::of(export)))
            }
        }
    }
}

impl HeldSession {
    /// Reads a piece of a file as code sees it, from this byte on.
    pub(super) async fn read_part(&self, path: String, from: u64) -> Result<Value, ProtocolError> {
        let opened = self.session.open_file(path.clone()).await;
        let missing = |error: AgentError| ProtocolError::new(ErrorCode::NoSuchFile, chain(&error));
        let OpenedFile { file, bytes } = opened.map_err(missing)?;
        let piece = elsewhere(move || {
            let mut piece = Vec::new();
            let mut file = file;
            let read = file.seek(SeekFrom::Start(from));
            let read = read.and_then(|_| file.take(SMALL as u64).read_to_end(&mut piece));
            let broken = |_| ProtocolError::new(ErrorCode::Failed, "the file cannot be read");
            read.map(|_| piece).map_err(broken)
        });
        let base64 = STANDARD.encode(piece.await?);
        Ok(json!({ "path": path, "from": from, "bytes": bytes, "base64": base64 }))
    }
}

impl FileUpload {
    /// The same, which is refused as soon as this right does not hold.
    pub(crate) fn while_allowed(self, right: LastingRight) -> Self {
        Self { right, ..self }
    }

    fn check_right(&self) -> Result<(), ProtocolError> {
        if self.right.holds() { Ok(()) } else { Err(unknown(&self.held.id)) }
    }
}

impl ServiceUpload for FileUpload {
    async fn take(mut self, piece: Bytes) -> Result<Self, ProtocolError> {
        self.check_right()?;
        elsewhere(move || {
            self.received += piece.len() as u64;
            self.upload.write(&piece).map_err(|error| refused(&error))?;
            Ok(self)
        })
        .await
    }

    /// One that is shorter than it was to be is dropped.
    async fn finish(self) -> Result<Value, ProtocolError> {
        self.check_right()?;
        let Self { held, shared, path, who, bytes, received, upload, right: _ } = self;
        if received != bytes {
            let text = format!("the file ended after {received} of {bytes} bytes");
            return Err(ProtocolError::new(ErrorCode::Malformed, text));
        }
        let file = upload.finish();
        let content = file.content.clone();
        let after = begun(&held, held.session.put(path, file, who).await).await?;
        let mut done = settled(&shared, &held, after).await?;
        done["bytes"] = content.bytes.into();
        done["sha256"] = content.sha256.into();
        Ok(done)
    }
}
