//! The key that change sets and the record's list of sessions are sealed with.
//!
//! # Threat
//! Someone who can write to a change set, and edits what undo would put into the person's files; or
//! who can write to the record, and removes a part of it.
//!
//! # Mechanism
//! Thirty-two random bytes in a private file of the data folder, which no sandbox shows. Sets may be
//! elsewhere; the key never is.
//!
//! # Order
//! It is written in full under another name and then renamed, under a lock: of several processes that
//! make it at once all use the first, and nobody reads a part.
//!
//! # Limits
//! Without it every set is taken for an edited one, which can be removed and nothing else, and the
//! record for a changed one, until the person accepts that.

use crate::{Folders, StoreError, private};
use interpreter_core::hash::SealKey;
use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

/// Bytes of the key.
const LENGTH: usize = 32;

impl Folders {
    /// The key, made if need be.
    pub fn make_key(&self) -> Result<SealKey, StoreError> {
        private::make_folder(&self.data)?;
        let path = self.key_file();
        if let Some(key) = read(&path).map_err(|source| at(&path, source))? {
            return Ok(key);
        }
        make(&path).map_err(|source| StoreError::Make { path: path.clone(), source })?;
        let made = read(&path).map_err(|source| at(&path, source))?;
        made.ok_or_else(|| at(&path, io::ErrorKind::InvalidData.into()))
    }

    /// The key, or one that nothing was ever sealed with. Makes no file.
    pub(crate) fn find_key(&self) -> Result<SealKey, StoreError> {
        let path = self.key_file();
        let found = read(&path)
            .and_then(|found| found.map_or_else(|| random().map(|key| SealKey::new(&key)), Ok));
        found.map_err(|source| at(&path, source))
    }

    fn key_file(&self) -> PathBuf {
        self.data.join("seal.key")
    }
}

fn at(path: &Path, source: io::Error) -> StoreError {
    StoreError::Read { path: path.into(), source }
}

/// The key, or `None` if it is missing or damaged.
fn read(path: &Path) -> io::Result<Option<SealKey>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    let mut bytes = Vec::new();
    file.take(LENGTH as u64 + 1).read_to_end(&mut bytes)?;
    let key: Option<[u8; LENGTH]> = bytes.try_into().ok();
    Ok(key.map(|key| SealKey::new(&key)))
}

fn random() -> io::Result<[u8; LENGTH]> {
    let mut key = [0; LENGTH];
    File::open("/dev/urandom")?.read_exact(&mut key)?;
    Ok(key)
}

fn make(path: &Path) -> io::Result<()> {
    let key = random()?;
    if fs::symlink_metadata(path).is_ok_and(|there| there.len() != LENGTH as u64) {
        // A damaged one seals nothing.
        return private::write(path, &key);
    }
    private::write_new(path, &key, private::Flush::Wait)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn everybody_gets_the_same_key_and_nobody_else_reads_it() {
        let home = tempfile::tempdir().unwrap();
        let folders = Folders::under(home.path());
        let keys: Vec<_> = std::thread::scope(|scope| {
            let ask = || scope.spawn(|| folders.make_key().unwrap().seal(&[b"x"]));
            let asked: Vec<_> = (0..4).map(|_| ask()).collect();
            asked.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0]));
        assert_eq!(folders.find_key().unwrap().seal(&[b"x"]), keys[0]);
        let path = folders.key_file();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(&folders.data).unwrap().count(), 1);
        fs_err::write(&path, b"short").unwrap();
        // A damaged one is no key: nobody's seals fit until there is another.
        let found = [(); 2].map(|()| folders.find_key().unwrap().seal(&[b"x"]));
        assert!(found[0] != found[1] && !found.contains(&keys[0]));
        assert_ne!(folders.make_key().unwrap().seal(&[b"x"]), keys[0]);
    }
}
