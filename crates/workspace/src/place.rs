//! Where sets are kept, and the seal on what we write there.
//!
//! # Threat
//! Code, or another program of the person's, that edits a journal or a set's description: a later
//! undo would then write the attacker's bytes into the person's files, or into another folder.
//!
//! # Mechanism
//! Every description and every manifest ends in a keyed hash over its place and its text. The manifest
//! holds the hashes of all copies that undo and redo bring back, so they are sealed with it. The key
//! is outside of the folder of sets, among our own data, which no sandbox shows; the hash could also
//! be in the session's record, but then a record that is lost would take every undo with it.
//!
//! # Order
//! The version is looked at first, then the seal, and only then what the file says. A file is written
//! in full beside its place and renamed, so that it is never seen in part.
//!
//! # Limits
//! Whoever can read the key can seal. An old state of a file, kept and put back, has a valid seal;
//! undo is then bounded by that state of the same set.

use crate::{
    error::{During, WorkspaceError},
    journal::crash,
};
use fs_err as fs;
use interpreter_core::hash::SealKey;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{
    io::{BufWriter, Write},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The version of the files written here.
const VERSION: u32 = 2;

/// The folder of sets.
#[derive(Clone, Debug)]
pub struct Place(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    key: SealKey,
}

/// Whether something has to outlast a loss of power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lasting {
    /// It is on the disk before anything else is done.
    Synced,
    /// It is whole or not there, and may be lost.
    Whole,
}

/// The header of every file.
#[derive(Serialize)]
struct Versioned<'a, T> {
    version: u32,
    #[serde(flatten)]
    value: &'a T,
}

impl Place {
    /// Sets are in `folder`, and sealed with `key`.
    pub fn new(folder: PathBuf, key: SealKey) -> Self {
        Self(Arc::new(Inner { folder, key }))
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.0.folder
    }

    /// Writes `value` as sealed JSON, so that after a crash either it or what was there before is
    /// there.
    pub(super) fn write(
        &self,
        path: &Path,
        value: &impl Serialize,
        lasting: Lasting,
    ) -> Result<(), WorkspaceError> {
        let new = path.with_extension("new");
        let write = || -> std::io::Result<()> {
            let mut text = serde_json::to_vec(&Versioned { version: VERSION, value })?;
            let seal = self.seal(path, &text);
            text.extend_from_slice(format!("\n{seal}\n").as_bytes());
            let mut out = BufWriter::new(fs::File::create(&new)?);
            out.write_all(&text)?;
            out.flush()?;
            if lasting == Lasting::Synced {
                out.get_ref().sync_all()?;
            }
            crash::point();
            fs::rename(&new, path)?;
            crash::point();
            Ok(())
        };
        write().during_at("write", path)?;
        match lasting {
            Lasting::Synced => sync_folder(path.parent().expect("a file is in a folder")),
            Lasting::Whole => Ok(()),
        }
    }

    /// Reads a file written by [`Place::write`], if it exists.
    pub(super) fn read<T: DeserializeOwned>(
        &self,
        path: &Path,
    ) -> Result<Option<T>, WorkspaceError> {
        #[derive(Deserialize)]
        struct Version {
            version: u32,
        }

        let bytes = match fs::read(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            other => other.during_at("read", path)?,
        };
        let shown = || path.to_string_lossy().into_owned();
        let damaged = |source| WorkspaceError::Damaged { path: shown(), source };
        let (text, seal) = split(&bytes);
        // A newer file may well have another shape, and another seal.
        let Version { version } = serde_json::from_slice(text).map_err(damaged)?;
        if version != VERSION {
            return Err(WorkspaceError::Version { path: shown(), version });
        }
        if seal != Some(self.seal(path, text).as_bytes()) {
            return Err(WorkspaceError::Edited { path: shown() });
        }
        serde_json::from_slice(text).map(Some).map_err(damaged)
    }

    /// The seal of a file's place and text.
    fn seal(&self, path: &Path, text: &[u8]) -> String {
        let at = path.strip_prefix(self.folder()).unwrap_or(path).as_os_str().as_bytes();
        self.0.key.seal(&[at, &[0], text])
    }
}

/// The text of a file, and the seal in its last line.
fn split(bytes: &[u8]) -> (&[u8], Option<&[u8]>) {
    let Some(lines) = bytes.strip_suffix(b"\n") else { return (bytes, None) };
    match lines.iter().rposition(|&byte| byte == b'\n') {
        Some(end) => (&lines[..end], Some(&lines[end + 1..])),
        None => (bytes, None),
    }
}

/// Makes the names in a folder of ours last.
pub(super) fn sync_folder(path: &Path) -> Result<(), WorkspaceError> {
    let sync = || fs::File::open(path)?.sync_all();
    sync().during_at("sync", path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn value() -> BTreeMap<String, u32> {
        BTreeMap::from([("a".to_owned(), 1)])
    }

    #[test]
    fn what_was_written_is_read_and_what_was_edited_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::new(folder.path().to_owned(), SealKey::new(&[7; 32]));
        let path = folder.path().join("a.json");
        assert!(place.read::<BTreeMap<String, u32>>(&path).unwrap().is_none());
        place.write(&path, &value(), Lasting::Synced).unwrap();
        let read: BTreeMap<String, u32> = place.read(&path).unwrap().unwrap();
        assert_eq!(read["a"], 1);
        let whole = fs::read_to_string(&path).unwrap();
        let edited = |text: String| {
            fs::write(&path, text).unwrap();
            place.read::<BTreeMap<String, u32>>(&path).unwrap_err()
        };
        let is_edit = |error: &WorkspaceError| matches!(error, WorkspaceError::Edited { .. });
        assert!(is_edit(&edited(whole.replace("\"a\":1", "\"a\":2"))));
        assert!(is_edit(&edited(whole.lines().next().unwrap().to_owned())));
        let newer = edited(whole.replace("\"version\":2", "\"version\":9"));
        assert!(matches!(newer, WorkspaceError::Version { version: 9, .. }));
        for damaged in ["", "{", "\n", "\n\n"] {
            let error = edited(damaged.to_owned());
            assert!(matches!(error, WorkspaceError::Damaged { .. }), "{damaged:?}: {error}");
        }
        // Another place, or another key.
        let other = folder.path().join("b.json");
        fs::write(&other, &whole).unwrap();
        assert!(is_edit(&place.read::<BTreeMap<String, u32>>(&other).unwrap_err()));
        fs::write(&path, &whole).unwrap();
        let stranger = Place::new(folder.path().to_owned(), SealKey::new(&[8; 32]));
        assert!(is_edit(&stranger.read::<BTreeMap<String, u32>>(&path).unwrap_err()));
    }
}
