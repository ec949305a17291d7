//! Goes on with a record whose end does not fit, by the word of the person.
//!
//! What did not fit goes on record first, so that it stays known; then the end is moved to that
//! record. Must not change or remove a record that is there.

use super::{
    Log,
    end::{EndFile, Ending, hash_of},
    failure::failure,
    new_session_id,
};
use crate::{Folders, StoreError};
use interpreter_core::{Body, Record};

impl Log {
    /// Accepts the record as it is. Gives the record that says so, or `None` if nothing was wrong.
    pub fn accept(folders: &Folders) -> Result<Option<Record>, StoreError> {
        let mut log = Self::open_unchecked(folders)?;
        let ending = log.ending()?;
        let lost = match &ending {
            Ending::Whole => return Ok(None),
            Ending::Cut { hash, .. } | Ending::Another { hash, .. } => {
                format!("{ending} (the last one had the hash {hash})")
            }
            Ending::Unknown => ending.to_string(),
        };
        let session = new_session_id();
        let record = log.append(&session, &Body::RecordAccepted { reason: lost })?;
        let hash =
            hash_of(&log.connection, record.seq).map_err(|error| failure(&log.path, error))?;
        EndFile::replace(&log.end_path, record.seq, &hash.unwrap_or_default())?;
        Ok(Some(record))
    }
}
