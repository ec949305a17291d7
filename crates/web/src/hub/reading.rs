//! Reads the record on a thread for that, a page at a time.
//!
//! The lines are those that `--json` printed when they were new: an output that has a file of its
//! own is put back. Must not hold more than a page in memory.

use crate::protocol::{ErrorCode, ProtocolError};
use interpreter_agent::{Advise, chain};
use interpreter_store::{Folders, Log, Outputs, StoreError};
use std::sync::Arc;
use tokio::task::JoinError;

/// Records of a page, and bytes after which it ends.
const MOST_LINES: usize = 500;
const MOST_BYTES: usize = 512 << 10;

/// Records of the page with which a session begins: something is shown while the rest is read.
const FIRST_LINES: usize = 40;

/// Records of a session, in order.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) lines: Vec<Arc<str>>,
    /// The number of the last of them.
    pub(crate) last: u64,
}

/// The records of a session after number `after`, as many as fit a page. None at its end.
pub(crate) async fn page(
    folders: &Arc<Folders>,
    session: &str,
    after: u64,
) -> Result<Page, ProtocolError> {
    let session = session.to_owned();
    let most = if after == 0 { FIRST_LINES } else { MOST_LINES };
    on_record(folders, move |log, folders| {
        let outputs = Outputs::new(folders);
        let mut page = Page { lines: Vec::new(), last: after };
        let mut bytes = 0;
        for record in log.records_after(&session, after).take(most) {
            let mut record = record?;
            // One that is no longer stored, or was changed since, stays without its text.
            _ = outputs.restore(&mut record.body).is_ok();
            let line = serde_json::to_string(&record)
                .map_err(|source| StoreError::Unwritable { source })?;
            page.last = record.seq;
            bytes += line.len();
            page.lines.push(line.into());
            if bytes > MOST_BYTES {
                break;
            }
        }
        Ok(page)
    })
    .await
}

/// Does something with the record on a thread where it may take its time.
pub(crate) async fn on_record<T: Send + 'static>(
    folders: &Arc<Folders>,
    work: impl FnOnce(&Log, &Folders) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, ProtocolError> {
    let folders = Arc::clone(folders);
    elsewhere(move || {
        let log = Log::open_to_read(&folders).map_err(|error| failed(&error))?;
        work(&log, &folders).map_err(|error| failed(&error))
    })
    .await
}

/// Does something slow on another thread.
pub(crate) async fn elsewhere<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ProtocolError> + Send + 'static,
) -> Result<T, ProtocolError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error: JoinError| std::panic::resume_unwind(error.into_panic()))
}

/// A failure as a client sees it.
pub(crate) fn failed(error: &(impl std::error::Error + Advise)) -> ProtocolError {
    let hint = error.advice();
    ProtocolError { hint, ..ProtocolError::new(ErrorCode::Failed, chain(error)) }
}
