//! Goes on with a record of which something is missing, by the person's decision.
//!
//! A record about the damage is written first, so that it stays known. In the same transaction
//! every session whose chain is whole in itself is signed as it is, in a new epoch; then the end is
//! moved to that record. Must not change or remove a record. A session whose chain is broken is
//! not signed again: the check goes on to report it. A trigger or a table that others have put into
//! the database is taken out before anything is written.

use super::{
    Log, LogEntry, RecordState,
    end::EndFile,
    failure::failure,
    heads::{Head, Heads, Total},
    log::{Added, check_session, stored},
    new_session_id, schema,
    verify::check,
};
use crate::{Folders, StoreError};
use interpreter_core::{Body, Record};
use rusqlite::TransactionBehavior;

impl Log {
    /// Accepts the record as it is. Gives the record about it, or `None` if nothing was missing.
    pub fn accept(folders: &Folders) -> Result<Option<Record>, StoreError> {
        let mut log = Self::open_unchecked(folders)?;
        let state = log.state()?;
        let failed = |error| failure(&log.path, error);
        let transaction = log
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(failed)?;
        let foreign = schema::foreign(&transaction).map_err(failed)?;
        if foreign.is_some() {
            schema::repair(&transaction).map_err(failed)?;
            if let Some(found) = schema::foreign(&transaction).map_err(failed)? {
                return Err(StoreError::Foreign { path: log.path.clone(), found });
            }
        }
        let heads = Heads { connection: &transaction, key: &log.key };
        let found = check(heads).map_err(failed)?;
        let reason = match (&state, found.missing) {
            (RecordState::Whole, None) => match foreign {
                Some(found) => found,
                None => return Ok(None),
            },
            (RecordState::Whole, Some(missing)) => missing.to_string(),
            (RecordState::Cut { hash, .. } | RecordState::Replaced { hash, .. }, _) => {
                format!("{state} (the last one had the hash {hash})")
            }
            (RecordState::Unknown | RecordState::Unsigned, _) => state.to_string(),
        };
        let session = new_session_id();
        let mut total = Total { records: 0, place: found.last_place, epoch: session.clone() };
        for (session, head) in &found.chains {
            if check_session(session).is_ok() {
                heads.set_head(&total.epoch, session, head).map_err(failed)?;
                total.records += head.seq;
            }
        }
        for (session, head) in &found.removed {
            heads.set_head(&total.epoch, session, head).map_err(failed)?;
            total.records += head.seq;
        }
        let entry = LogEntry::now(Body::RecordAccepted { reason });
        let new = stored(std::slice::from_ref(&entry))?;
        let head = Head::before(session.as_bytes(), total.free());
        let added = Added { total, head }.add(heads, &session, &new).map_err(failed)?;
        transaction.commit().map_err(failed)?;
        let record = entry.into_record(added.head.seq.unsigned_abs(), &session);
        EndFile::replace(&log.end_path, added.end(&session), &log.key)?;
        Ok(Some(record))
    }
}
