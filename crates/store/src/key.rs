//! The key that change sets are sealed with.
//!
//! # Threat
//! Whoever can write to a change set, and edits what undo would put into the person's files.
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
//! Without it every set is taken for an edited one: it can be removed and nothing else.

use crate::{Folders, StoreError, private};
use std::{
    fs::{self, File},
    io::{self, Read},
    path::Path,
};

/// Bytes of the key.
const LENGTH: usize = 32;

impl Folders {
    /// The key that change sets are sealed with, made if need be.
    pub fn make_changes_key(&self) -> Result<[u8; LENGTH], StoreError> {
        private::make_folder(&self.data)?;
        let path = self.data.join("changes.key");
        if let Some(key) = read(&path).map_err(|source| at(&path, source))? {
            return Ok(key);
        }
        make(&path).map_err(|source| StoreError::Make { path: path.clone(), source })?;
        let made = read(&path).map_err(|source| at(&path, source))?;
        made.ok_or_else(|| at(&path, io::ErrorKind::InvalidData.into()))
    }
}

fn at(path: &Path, source: io::Error) -> StoreError {
    StoreError::Read { path: path.into(), source }
}

/// The key; none if there is none, or if it is damaged.
fn read(path: &Path) -> io::Result<Option<[u8; LENGTH]>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    let mut bytes = Vec::new();
    file.take(LENGTH as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes.try_into().ok())
}

fn make(path: &Path) -> io::Result<()> {
    let mut key = [0; LENGTH];
    File::open("/dev/urandom")?.read_exact(&mut key)?;
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
            let ask = || scope.spawn(|| folders.make_changes_key().unwrap());
            let asked: Vec<_> = (0..4).map(|_| ask()).collect();
            asked.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0] && *key != [0; LENGTH]));
        let path = folders.data.join("changes.key");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(&folders.data).unwrap().count(), 1);
        fs_err::write(&path, b"short").unwrap();
        assert_ne!(folders.make_changes_key().unwrap(), keys[0]);
    }
}
