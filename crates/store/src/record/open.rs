//! Opens the record: to append to it, or only to read it.
//!
//! To append, the record must end where the file beside it says, or nothing more happens. To read,
//! nothing is made and the folder may be read-only.

use super::{
    Log,
    end::{Access, EndFile, Ending, has_records},
    failure::failure,
    files::Files,
    log::Appending,
    reserve, schema,
};
use crate::{Folders, StoreError, private};
use interpreter_core::{Body, Record};
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
        // Before the database is looked at: the end may lag behind that, and never leads.
        let before = EndFile::open(&end_path, Access::Read)?.map(|end| end.read()).transpose()?;
        if let Some(Some(end)) = before
            && end.seq > 0
            && !exists(&folders.record_file())?
        {
            return Err(ended(&end_path, Ending::without_records(&end)));
        }
        let mut log = Self::open_unchecked(folders)?;
        let ending = log.ending()?;
        if ending != Ending::Whole {
            return Err(ended(&end_path, ending));
        }
        let Some(end) = EndFile::open(&end_path, Access::Write)? else {
            return Err(ended(&end_path, Ending::Unknown));
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
        let is_there = private::check_folder(&folders.data)? && private::check_file(&path)?;
        if is_there {
            let connection = connect(&path).map_err(|error| failure(&path, error))?;
            match schema::version(&connection) {
                Ok(schema::VERSION) => return Ok(Self::with(connection, folders)),
                Ok(0) if !has_records(&connection).map_err(|error| failure(&path, error))? => {}
                // Another format. It is brought up to date, or refused.
                Ok(_) => return Self::open_unchecked(folders),
                Err(error) => return Err(failure(&path, error)),
            }
        }
        let mut connection = Connection::open_in_memory().map_err(|error| failure(&path, error))?;
        schema::prepare(&mut connection, &path)?;
        let is_fresh = !private::check_file(&folders.end_file())?;
        Ok(Self { is_fresh, ..Self::with(connection, folders) })
    }

    /// Opens the record, makes it if there is none, and does not look where it ends.
    pub(super) fn open_unchecked(folders: &Folders) -> Result<Self, StoreError> {
        private::make_folder(&folders.data)?;
        let path = folders.record_file();
        // SQLite would make it, and the files beside it, by the umask; so it finds it made.
        private::make_file(&path)?;
        let failed = |error| failure(&path, error);
        let mut connection = connect(&path).map_err(failed)?;
        if schema::version(&connection).map_err(failed)? != schema::VERSION {
            // Before the format says that there is one.
            EndFile::make(&folders.end_file())?;
        }
        schema::prepare(&mut connection, &path)?;
        Ok(Self::with(connection, folders))
    }

    fn with(connection: Connection, folders: &Folders) -> Self {
        Self {
            connection,
            path: folders.record_file(),
            end_path: folders.end_file(),
            is_fresh: false,
            appending: None,
        }
    }

    /// Whether the record ends where the file beside it says.
    pub fn ending(&self) -> Result<Ending, StoreError> {
        if self.is_fresh {
            return Ok(Ending::Whole);
        }
        // First the file, then the database: the other way round others could append in between.
        let file = EndFile::open(&self.end_path, Access::Read)?;
        let end = file.map(|file| file.read()).transpose()?.flatten();
        Ending::compare(&self.connection, end.as_ref()).map_err(|error| failure(&self.path, error))
    }
}

fn ended(path: &Path, ending: Ending) -> StoreError {
    StoreError::End { path: path.into(), ending: Box::new(ending) }
}

fn exists(path: &Path) -> Result<bool, StoreError> {
    path.try_exists().map_err(|source| StoreError::Read { path: path.into(), source })
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    // What a file says of its own tables is not trusted further than we wrote it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    // Closing would copy the whole log into the main file and wait for the disk. The log is as good
    // where it is, and is copied when it has grown.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(connection)
}
