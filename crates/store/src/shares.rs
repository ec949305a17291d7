//! The sessions that people of a team share with each other, in one file.
//!
//! People stand there by their ids, and kinds are words. Must not decide what a share allows.

use crate::{Folders, StoreError, private};
use interpreter_core::unquoted::unquoted;
use serde::{Deserialize, Serialize};
use std::{
    fs::File,
    io::{self, Read},
    path::PathBuf,
};

/// Bytes of the file that are read.
const MOST_BYTES: u64 = 16 << 20;

/// One session, shared with one person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptShare {
    /// The session.
    pub session: String,
    /// Whose it is.
    pub owner: String,
    /// With whom it is shared.
    pub with: String,
    /// As what, as a word.
    pub kind: String,
}

/// The shares of a server.
#[derive(Clone, Debug)]
pub struct KeptShares {
    file: PathBuf,
}

impl KeptShares {
    /// Those in these folders. Touches no disk.
    pub fn new(folders: &Folders) -> Self {
        Self { file: folders.server_data().join("shares.json") }
    }

    /// All of them.
    pub fn read(&self) -> Result<Vec<KeptShare>, StoreError> {
        let failed = |source| StoreError::Read { path: self.file.clone(), source };
        let file = match File::open(&self.file) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        private::check_file(&self.file)?;
        let mut text = Vec::new();
        file.take(MOST_BYTES).read_to_end(&mut text).map_err(failed)?;
        serde_json::from_slice(&text)
            .map_err(|error| failed(io::Error::other(unquoted(&error.to_string()))))
    }

    /// Keeps these and no others. As many as could not be read again are refused.
    pub fn write(&self, shares: &[KeptShare]) -> Result<(), StoreError> {
        if let Some(folder) = self.file.parent() {
            private::make_folder(folder)?;
        }
        let text =
            serde_json::to_vec(shares).map_err(|source| StoreError::Unwritable { source })?;
        let path = self.file.clone();
        if text.len() as u64 > MOST_BYTES {
            let source = io::Error::new(io::ErrorKind::FileTooLarge, "there are too many shares");
            return Err(StoreError::Keep { path, source });
        }
        private::write(&path, &text).map_err(|source| StoreError::Keep { path, source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let shares = KeptShares::new(&Folders::under(folder.path()));
        assert_eq!(shares.read().unwrap(), []);
        let text = |text: &str| text.to_owned();
        let one = KeptShare {
            session: text("s"),
            owner: text("o"),
            with: text("w"),
            kind: text("watch"),
        };
        shares.write(std::slice::from_ref(&one)).unwrap();
        assert_eq!(shares.read().unwrap(), std::slice::from_ref(&one));
        // More than are read leave the file as it is.
        let long = KeptShare { session: "s".repeat(1 << 20), ..one.clone() };
        assert!(shares.write(&vec![long; 17]).is_err());
        assert_eq!(shares.read().unwrap(), [one]);
        shares.write(&[]).unwrap();
        assert_eq!(shares.read().unwrap(), []);
    }
}
