//! Standard input that came with a prompt, saved as a file for as long as its session lasts.
//!
//! Saved because a model may read it several times, and because it may be larger than memory. Saved
//! whole or not at all: data that was cut would give a wrong answer and no error.

use crate::{Folders, StoreError, private};
use interpreter_core::{hash::hex, piped::HEAD};
use sha2::{Digest, Sha256};
use std::{
    fs::{self, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

/// Bytes that are saved at most.
pub const MOST_PIPED: u64 = 16 << 30;

/// Bytes that are read at once.
const PIECE: usize = 1 << 20;

/// A file of piped data. It is removed when this is dropped.
#[derive(Debug)]
pub struct PipedFile {
    /// Where it is.
    pub path: PathBuf,
    /// How many bytes it has.
    pub bytes: u64,
    /// How many lines.
    pub lines: u64,
    /// The SHA-256 of it.
    pub hash: String,
    /// Its first bytes.
    pub first: Vec<u8>,
    folder: PathBuf,
}

impl PipedFile {
    /// Saves all that `source` gives, outside of `work_folder`. Leftovers of programs that were
    /// killed are removed.
    pub fn save(
        folders: &Folders,
        work_folder: &Path,
        source: impl Read,
    ) -> Result<Self, StoreError> {
        Self::save_up_to(MOST_PIPED, folders, work_folder, source)
    }

    fn save_up_to(
        most: u64,
        folders: &Folders,
        work_folder: &Path,
        mut source: impl Read,
    ) -> Result<Self, StoreError> {
        let all = folders.make_piped_folder_for(work_folder)?;
        sweep(&all);
        let folder = all.join(std::process::id().to_string());
        private::make_folder(&folder)?;
        let path = folder.join("stdin");
        let (bytes, lines, hash, first) = (0, 0, String::new(), Vec::new());
        // From here on it is removed, whatever happens.
        let mut saved = Self { path, bytes, lines, hash, first, folder };
        let keep = |path: &Path| {
            let path = path.to_owned();
            move |source| StoreError::Keep { path, source }
        };
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        let mut file = options.open(&saved.path).map_err(keep(&saved.path))?;
        let (mut piece, mut digest) = (vec![0; PIECE], Sha256::new());
        loop {
            let count = match source.read(&mut piece) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(source) => return Err(StoreError::StandardInput { source }),
            };
            let piece = &piece[..count];
            saved.bytes += count as u64;
            if saved.bytes > most {
                return Err(StoreError::PipedTooLong { most });
            }
            let wanted = HEAD.saturating_sub(saved.first.len()).min(count);
            saved.first.extend_from_slice(&piece[..wanted]);
            let ends = |count: u64, byte: &u8| count + u64::from(*byte == b'\n');
            saved.lines = piece.iter().fold(saved.lines, ends);
            digest.update(piece);
            file.write_all(piece).map_err(keep(&saved.path))?;
        }
        saved.hash = hex(&digest.finalize());
        Ok(saved)
    }
}

impl Drop for PipedFile {
    fn drop(&mut self) {
        // A later session removes leftovers.
        _ = fs::remove_dir_all(&self.folder).is_ok();
    }
}

/// Takes away what programs left that are gone. Each folder is named by its process.
fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if !Path::new("/proc").join(entry.file_name()).exists() {
            _ = fs::remove_dir_all(entry.path()).is_ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders() -> (tempfile::TempDir, Folders) {
        let home = tempfile::tempdir().unwrap();
        let folders = Folders::under(&home.path().join("interpreter"));
        (home, folders)
    }

    #[test]
    fn data_is_saved_whole_or_refused_and_gone_afterwards() {
        let (_home, folders) = folders();
        let data = [b"a,b\n".as_slice(), &[0xff; 5000], b"\n"].concat();
        let save = |most| PipedFile::save_up_to(most, &folders, Path::new("/work"), &data[..]);
        let saved = save(data.len() as u64).unwrap();
        assert_eq!(fs_err::read(&saved.path).unwrap(), data);
        assert_eq!((saved.bytes, saved.lines), (data.len() as u64, 2));
        assert_eq!(saved.hash, interpreter_core::hash::sha256(&data));
        assert_eq!(saved.first, data[..HEAD]);
        let path = saved.path.clone();
        drop(saved);
        assert!(!path.exists());
        let error = save(data.len() as u64 - 1).unwrap_err();
        assert!(matches!(error, StoreError::PipedTooLong { .. }));
        assert!(!path.exists());
    }

    #[test]
    fn leftovers_of_killed_programs_are_removed() {
        let (_home, folders) = folders();
        let all = folders.make_piped_folder_for(Path::new("/work")).unwrap();
        // No process has this number.
        let left = all.join("4194305");
        fs::create_dir(&left).unwrap();
        drop(PipedFile::save(&folders, Path::new("/work"), &b""[..]).unwrap());
        assert!(!left.exists());
    }
}
