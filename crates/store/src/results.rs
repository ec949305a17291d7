//! Results of a session as files that a person can open: `results/SESSION/p3-1.png`.
//!
//! They are copies: the record has the results themselves, and `history show --save` writes them
//! again. So the oldest sessions' files make room for new ones, and a session has its share.
//!
//! Must not write anything but plain names into its own folder, nor follow a link.

use crate::{Folders, StoreError, private};
use std::{
    collections::BTreeMap,
    fs,
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

/// Bytes of the files of one session, and of all of them.
const MOST_OF_SESSION: u64 = 256 << 20;
const MOST: u64 = 1 << 30;

/// Files of one session.
const MOST_FILES: usize = 2_000;

/// The files of one session's results.
#[derive(Debug)]
pub struct ResultFiles {
    folder: PathBuf,
    /// Bytes of each file that was written, by its name.
    sizes: BTreeMap<String, u64>,
    most_of_session: u64,
    most: u64,
}

impl ResultFiles {
    /// Those of this session. Touches no disk.
    pub fn new(folders: &Folders, session: &str) -> Self {
        Self::bounded(folders, session, MOST_OF_SESSION, MOST)
    }

    /// The same, with room for other numbers of bytes.
    pub fn bounded(folders: &Folders, session: &str, most_of_session: u64, most: u64) -> Self {
        let folder = folders.results_folder().join(session);
        Self { folder, sizes: BTreeMap::new(), most_of_session, most }
    }

    /// Writes a file, closed to others, and gives its path, or `None` if the session has used up
    /// its share. One of that name is replaced.
    pub fn save(&mut self, name: &str, content: &[u8]) -> Result<Option<PathBuf>, StoreError> {
        let path = self.folder.join(name);
        if !is_plain(name) {
            let source = io::Error::other("its name is not plain");
            return Err(StoreError::Keep { path, source });
        }
        let size = content.len() as u64;
        let others = self.sizes.iter().filter(|(other, _)| *other != name);
        let (count, used) = others.fold((0, 0), |(count, sum), (_, size)| (count + 1, sum + size));
        if count >= MOST_FILES || used + size > self.most_of_session {
            return Ok(None);
        }
        let is_first = self.sizes.is_empty();
        private::make_folder(&self.folder)?;
        private::write_copy(&path, content)
            .map_err(|source| StoreError::Keep { path: path.clone(), source })?;
        self.sizes.insert(name.to_owned(), size);
        if is_first {
            self.make_room();
        }
        Ok(Some(path))
    }

    /// The path of a file that was saved.
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        self.sizes.contains_key(name).then(|| self.folder.join(name))
    }

    /// Removes the files of the oldest sessions, if all of them take too much. Ids begin with their
    /// time. A folder that cannot be removed is left there; the next session tries again.
    fn make_room(&self) {
        let Some(above) = self.folder.parent() else { return };
        let mut sessions: Vec<_> = folders_in(above).map(|path| (size_of(&path), path)).collect();
        sessions.sort_by(|(_, one), (_, other)| one.cmp(other));
        let mut used: u64 = sessions.iter().map(|(size, _)| size).sum();
        // Room for all that this session may still write.
        let room = self.most.saturating_sub(self.most_of_session);
        for (size, path) in sessions {
            if used <= room || path == self.folder {
                break;
            }
            used -= size;
            _ = fs::remove_dir_all(path).is_ok();
        }
    }
}

/// The name as a person knows it: a letter or digit first, and then a few signs at most.
fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.len() <= 60
        && name.chars().all(plain)
}

fn folders_in(root: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| {
        // A link is none of ours.
        fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
    })
}

fn size_of(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some(entry.metadata().ok()?.len())).sum()
}

/// Writes copies of results into a folder of the person's own, which is made if need be. Nothing
/// that is there is replaced: if a name is taken by something else, nothing is written at all.
pub fn export(folder: &Path, files: &[(String, Vec<u8>)]) -> Result<(), StoreError> {
    let make = |source| StoreError::Make { path: folder.into(), source };
    fs::DirBuilder::new().recursive(true).create(folder).map_err(make)?;
    let mut missing = Vec::new();
    for (name, content) in files {
        let path = folder.join(name);
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => missing.push((path, content)),
            Ok(there) if is_file_of(&there, content.len()) && holds(&path, content) => {}
            Ok(_) | Err(_) => return Err(StoreError::Taken { path }),
        }
    }
    for (path, content) in missing {
        let keep = |source| StoreError::Keep { path: path.clone(), source };
        let mut file = fs::File::create_new(&path).map_err(keep)?;
        file.write_all(content).map_err(keep)?;
    }
    Ok(())
}

fn is_file_of(found: &fs::Metadata, length: usize) -> bool {
    found.is_file() && found.len() == length as u64
}

fn holds(path: &Path, content: &[u8]) -> bool {
    let mut there = Vec::with_capacity(content.len());
    let read = fs::File::open(path).and_then(|mut file| file.read_to_end(&mut there));
    read.is_ok() && there == content
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn folders() -> (tempfile::TempDir, Folders) {
        let home = tempfile::tempdir().unwrap();
        let folders = Folders::under(home.path());
        (home, folders)
    }

    #[test]
    fn a_result_is_a_private_file_that_can_be_replaced() {
        let (_home, folders) = folders();
        let mut results = ResultFiles::new(&folders, "s1");
        assert!(!folders.data.exists());
        let path = results.save("p1-1.png", b"one").unwrap().unwrap();
        assert_eq!(path, folders.results_folder().join("s1/p1-1.png"));
        assert_eq!(results.save("p1-1.png", b"two").unwrap(), Some(path.clone()));
        assert_eq!(fs_err::read(&path).unwrap(), b"two");
        let mode = |path: &Path| fs_err::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        assert_eq!(results.find("p1-1.png"), Some(path));
        assert_eq!(results.find("p1-2.png"), None);
    }

    #[test]
    fn no_name_leads_elsewhere() {
        let (_home, folders) = folders();
        let mut results = ResultFiles::new(&folders, "s1");
        for name in ["../x", "/etc/x", "a/b", "", ".", "..", ".x", "-x", "a\0b", "a\nb", "é"] {
            assert!(results.save(name, b"x").is_err(), "{name:?}");
        }
        // A link in its place is replaced and not followed.
        let other = folders.data.with_extension("other");
        results.save("p1-1.txt", b"x").unwrap();
        let path = results.find("p1-1.txt").unwrap();
        fs_err::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(&other, &path).unwrap();
        results.save("p1-1.txt", b"y").unwrap();
        assert!(!other.exists() && fs_err::symlink_metadata(&path).unwrap().is_file());
    }

    #[test]
    fn a_session_has_its_share_and_the_oldest_make_room() {
        let (_home, folders) = folders();
        let of = |session: &str| ResultFiles::bounded(&folders, session, 100, 250);
        for session in ["a", "b", "c"] {
            let mut results = of(session);
            assert!(results.save("p1-1.txt", &[0; 60]).unwrap().is_some());
            assert!(results.save("p1-2.txt", &[0; 60]).unwrap().is_none());
            // Replaced ones do not count twice.
            assert!(results.save("p1-1.txt", &[0; 90]).unwrap().is_some());
        }
        let there = |session: &str| folders.results_folder().join(session).exists();
        assert_eq!(["a", "b", "c"].map(there), [false, true, true]);
    }

    #[test]
    fn an_export_replaces_nothing() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("new/folder");
        let files =
            |one: &str| [("a.txt".to_owned(), one.into()), ("b.txt".to_owned(), b"b".to_vec())];
        export(&folder, &files("one")).unwrap();
        // The same again is nothing new.
        export(&folder, &files("one")).unwrap();
        fs_err::remove_file(folder.join("b.txt")).unwrap();
        let error = export(&folder, &files("two")).unwrap_err().to_string();
        assert!(error.contains("a.txt"), "{error}");
        assert_eq!(fs_err::read(folder.join("a.txt")).unwrap(), b"one");
        assert!(!folder.join("b.txt").exists());
    }
}
