//! Opens the record: to append to it, or only to read it.
//!
//! To append, the record must end where the file beside it says, or nothing more happens. To read,
//! nothing is made and the folder may be read-only.

use super::{
    Log, RecordState,
    end::{Access, EndFile},
    failure::failure,
    files::Files,
    log::Appending,
    reserve, schema,
};
use crate::{Folders, StoreError, private};
use interpreter_core::{Body, Record, hash::SealKey};
use rusqlite::{Connection, OpenFlags, config::DbConfig};
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

/// How long to wait for another process that is appending.
const PATIENCE: Duration = Duration::from_secs(5);

impl Log {
    /// Opens the record to append to it, and makes it if there is none.
    pub fn open(folders: &Folders) -> Result<Self, StoreError> {
        let end_path = folders.end_file();
        private::make_folder(&folders.data)?;
        if !exists(&folders.record_file())?
            && let Some(end) = EndFile::open(&end_path, Access::Read, &folders.find_key()?)?
            && let Some(slot) = end.read()?.filter(|slot| slot.end.records > 0)
        {
            return Err(refused(&end_path, RecordState::cut(0, slot)));
        }
        let mut log = Self::open_unchecked(folders)?;
        if let Some(found) = log.foreign()? {
            return Err(StoreError::Foreign { path: log.path, found });
        }
        let state = log.state()?;
        if state != RecordState::Whole {
            return Err(refused(&end_path, state));
        }
        let Some(end) = EndFile::open(&end_path, Access::Write, &log.key)? else {
            return Err(refused(&end_path, RecordState::Unknown));
        };
        let beside = PathBuf::from(format!("{}-wal", log.path.display()));
        let files = Files::note([log.path.clone(), beside, end_path])?;
        log.appending = Some(Appending { end, files });
        reserve::keep(&folders.reserve_file());
        Ok(log)
    }

    /// Opens the record for something that frees space on a disk that may be full.
    pub fn open_on_full_disk(folders: &Folders) -> Result<Self, StoreError> {
        match Self::open(folders) {
            Err(StoreError::Full { .. }) if reserve::let_go(&folders.reserve_file()) => {
                Self::open(folders)
            }
            other => other,
        }
    }

    /// Appends on a disk that may be full, for something that frees space.
    pub fn append_on_full_disk(
        &mut self,
        folders: &Folders,
        session: &str,
        body: &Body,
    ) -> Result<Record, StoreError> {
        match self.append(session, body) {
            Err(StoreError::Full { .. }) if reserve::let_go(&folders.reserve_file()) => {
                self.append(session, body)
            }
            other => other,
        }
    }

    /// Opens the record to read it, wherever it ends. Makes nothing; without a record there is
    /// nothing to read.
    pub fn open_to_read(folders: &Folders) -> Result<Self, StoreError> {
        let path = folders.record_file();
        // The end before the key, and both before the database: another process may be making them
        // in the other order, and what it appends meanwhile is not missing here.
        let has_end = private::check_file(&folders.end_file())?;
        let key = folders.find_key()?;
        let end = EndFile::open(&folders.end_file(), Access::Read, &key)?;
        let slot = end.map(|end| end.read()).transpose()?.flatten();
        let is_fresh = !has_end || slot.is_some_and(|slot| slot.end.records == 0);
        let is_there = private::check_folder(&folders.data)? && private::check_file(&path)?;
        if is_there {
            let connection = connect(&path).map_err(|error| failure(&path, error))?;
            match schema::version(&connection) {
                Ok(schema::VERSION) => {
                    return Ok(Self::with(connection, folders, folders.find_key()?));
                }
                Ok(0)
                    if schema::is_empty(&connection).map_err(|error| failure(&path, error))? => {}
                // Not ours, so it is refused.
                Ok(_) => return Self::open_unchecked(folders),
                Err(error) => return Err(failure(&path, error)),
            }
        }
        let mut connection = Connection::open_in_memory().map_err(|error| failure(&path, error))?;
        schema::prepare(&mut connection, &path, &key)?;
        Ok(Self { is_fresh, ..Self::with(connection, folders, key) })
    }

    /// Opens the record, makes it if there is none, and does not look where it ends.
    pub(super) fn open_unchecked(folders: &Folders) -> Result<Self, StoreError> {
        let key = folders.make_key()?;
        let path = folders.record_file();
        // SQLite would make it, and the files beside it, by the umask; so it finds it made.
        private::make_file(&path)?;
        let failed = |error| failure(&path, error);
        let mut connection = connect(&path).map_err(failed)?;
        if schema::version(&connection).map_err(failed)? != schema::VERSION {
            // Before the format says that there is one.
            EndFile::make(&folders.end_file(), &key)?;
        }
        schema::prepare(&mut connection, &path, &key)?;
        Ok(Self::with(connection, folders, key))
    }

    fn with(connection: Connection, folders: &Folders, key: SealKey) -> Self {
        Self {
            connection,
            key,
            path: folders.record_file(),
            end_path: folders.end_file(),
            is_fresh: false,
            added: None,
            appending: None,
        }
    }

    /// An entry in the database that this program did not make, in words.
    pub(super) fn foreign(&self) -> Result<Option<String>, StoreError> {
        schema::foreign(&self.connection).map_err(|error| failure(&self.path, error))
    }

    /// Whether the record ends where the file beside it says.
    pub fn state(&self) -> Result<RecordState, StoreError> {
        if self.is_fresh {
            return Ok(RecordState::Whole);
        }
        // First the file, then the database: the other way round others could append in between.
        let file = EndFile::open(&self.end_path, Access::Read, &self.key)?;
        let slot = file.map(|file| file.read()).transpose()?.flatten();
        RecordState::compare(&self.connection, &self.key, slot)
            .map_err(|error| failure(&self.path, error))
    }
}

fn refused(path: &Path, state: RecordState) -> StoreError {
    StoreError::End { path: path.into(), state: Box::new(state) }
}

fn exists(path: &Path) -> Result<bool, StoreError> {
    path.try_exists().map_err(|source| StoreError::Read { path: path.into(), source })
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    // The schema in the file is not trusted beyond what we wrote.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // Nor does anything run that is planted while it is open.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    // Closing would copy the whole log into the main file and wait for the disk. The log is as good
    // where it is, and is copied when it has grown.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(connection)
}
