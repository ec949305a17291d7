//! Keeps the record within bounds: the oldest sessions go when there is too much, or when they are
//! too old.
//!
//! Looks at one row and two numbers first, which is all there is to do at most ends of a session.
//! Removed sessions leave tombstones (`remove.rs`). A session that must stay is passed over. Nobody
//! listens any more when this fails, so the reason is kept for the next session until it succeeds.

use super::{Freed, Log, failure::failure};
use crate::{Folders, StoreError, private};
use interpreter_core::record::RemovalReason;
use jiff::{SignedDuration, Timestamp};
use std::{
    fs::{self, File},
    io::{self, Read},
};

/// Bytes of a reason that are kept.
const MOST_REASON: usize = 1_000;

/// The bounds of the record. Without one, everything is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Bytes of the database.
    pub space: Option<u64>,
    /// Seconds that a session is kept after its last record.
    pub seconds: Option<u64>,
}

impl Retention {
    /// Keeps the reason why old sessions could not be removed, or forgets it if they could.
    pub fn note(folders: &Folders, reason: Option<&str>) -> Result<(), StoreError> {
        let path = folders.unremoved_file();
        let done = match reason {
            Some(reason) => {
                let end = reason.floor_char_boundary(MOST_REASON);
                private::write(&path, &reason.as_bytes()[..end])
            }
            None => match fs::remove_file(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                removed => removed,
            },
        };
        done.map_err(|source| StoreError::Keep { path, source })
    }

    /// Why old sessions could not be removed at the end of the last session, if so.
    pub fn failed(folders: &Folders) -> Option<String> {
        let path = folders.unremoved_file();
        private::check_file(&path).ok().filter(|is_there| *is_there)?;
        let (mut text, most) = (Vec::new(), MOST_REASON as u64);
        File::open(path).ok()?.take(most).read_to_end(&mut text).ok()?;
        Some(String::from_utf8_lossy(&text).into_owned())
    }
}

impl Log {
    /// Removes the oldest sessions, as far as the bounds want it.
    pub fn retain(
        &mut self,
        folders: &Folders,
        retention: Retention,
    ) -> Result<Option<Freed>, StoreError> {
        let mut all: Option<Freed> = None;
        let mut add = |freed: Freed| {
            let all = all.get_or_insert_default();
            all.sessions += freed.sessions;
            all.records += freed.records;
            all.bytes += freed.bytes;
            all.outputs += freed.outputs;
            all.output_bytes += freed.output_bytes;
        };
        if let Some(seconds) = retention.seconds {
            let age = SignedDuration::from_secs(i64::try_from(seconds).unwrap_or(i64::MAX));
            if let Ok(before) = Timestamp::now().checked_sub(age) {
                let sessions = self.older_than(folders, &format!("{before:.6}"))?;
                if !sessions.is_empty() {
                    add(self.remove(folders, &sessions, RemovalReason::Age)?);
                }
            }
        }
        if let Some(space) = retention.space {
            let sessions = self.beyond(folders, space)?;
            if !sessions.is_empty() {
                add(self.remove(folders, &sessions, RemovalReason::Space)?);
            }
        }
        Ok(all)
    }

    /// The sessions whose last record is older than a time.
    fn older_than(&self, folders: &Folders, before: &str) -> Result<Vec<String>, StoreError> {
        let mut old = Vec::new();
        self.oldest_first(before, |session, last, _| {
            if last < before && self.not_removable(folders, session)?.is_none() {
                old.push(session.to_owned());
            }
            Ok(true)
        })?;
        Ok(old)
    }

    /// The oldest sessions, until a tenth of the space would be free without them.
    fn beyond(&self, folders: &Folders, space: u64) -> Result<Vec<String>, StoreError> {
        let failed = |error| failure(&self.path, error);
        let used = self.used_bytes().map_err(failed)?;
        if used <= space {
            return Ok(Vec::new());
        }
        let count = "SELECT count(*) FROM record";
        let records: i64 =
            self.connection.query_row(count, [], |row| row.get(0)).map_err(failed)?;
        let each = (used / records.unsigned_abs().max(1)).max(1);
        let mut too_many = (used - space / 10 * 9) / each;
        let mut going = Vec::new();
        self.oldest_first("~", |session, _, records| {
            if self.not_removable(folders, session)?.is_none() {
                too_many = too_many.saturating_sub(records);
                going.push(session.to_owned());
            }
            Ok(too_many > 0)
        })?;
        Ok(going)
    }

    /// Calls `take` with each session that began before a time, the time of its last record and the
    /// number of its records, from the oldest on, as long as it wants more.
    fn oldest_first(
        &self,
        before: &str,
        mut take: impl FnMut(&str, &str, u64) -> Result<bool, StoreError>,
    ) -> Result<(), StoreError> {
        let failed = |error| failure(&self.path, error);
        let mut place = i64::MIN;
        loop {
            // The first record after the last session that was looked at is the next one's.
            let next = self.connection.prepare_cached(
                "SELECT record.session, head.place, head.seq, record.time,
                     (SELECT time FROM record WHERE place = head.place)
                 FROM record JOIN head ON head.session = record.session
                 WHERE record.place > ?1 ORDER BY record.place LIMIT 1",
            );
            let mut statement = next.map_err(failed)?;
            let mut rows = statement.query([place]).map_err(failed)?;
            let Some(row) = rows.next().map_err(failed)? else { return Ok(()) };
            let read = || -> rusqlite::Result<(String, i64, i64, String, Option<String>)> {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
            };
            let (session, last, seq, began, ended) = read().map_err(failed)?;
            place = last.max(place.saturating_add(1));
            if began.as_str() >= before {
                return Ok(());
            }
            // Without its end it is damaged, and stays.
            let Some(ended) = ended else { continue };
            if !take(&session, &ended, seq.unsigned_abs())? {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
#[path = "retain_tests.rs"]
mod tests;
