//! A log of the changes to the person's folder, written before they are made.
//!
//! One journal for each application, in a folder of its own: `manifest.json` says what every path
//! was and is to be, `before/` has the bytes of what was replaced or removed, by the entry's
//! place in the manifest, and once it is undone `after/` has those of what was applied. Its state
//! tells after a crash what has to be put right. The manifest is sealed, see `place.rs`, and holds
//! the hashes of all those bytes.

use crate::{
    error::{During, WorkspaceError},
    journal::{crash, rename::Rename},
    place::{Lasting, Place, sync_folder},
    tree::{
        folder::{Folder, Intent},
        node::Node,
        relative::Relative,
        stat::{Moment, Stamp},
    },
};
use fs_err as fs;
use serde::{Deserialize, Serialize};
use std::{
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
};

const MANIFEST: &str = "manifest.json";
const BEFORE: &str = "before";
const AFTER: &str = "after";

/// How far an application is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    /// Copies are being made; nothing of the person's is touched.
    Preparing,
    /// The person's folder is being changed.
    Applying,
    Applied,
    /// It is being changed back.
    Undoing,
    /// It is changed back.
    Undone,
    /// It is being changed once more.
    Redoing,
    /// It was interrupted, and is changed back.
    RolledBack,
    /// The same, but for what the person has touched since, of which the copies are kept.
    PartlyRolledBack,
}

/// One path that an application changes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) path: Relative,
    pub(crate) before: Option<Node>,
    pub(crate) after: Option<Node>,
    /// When the program last touched what is applied.
    pub(crate) staged: Moment,
    /// Whether it is only a part of what the program made there, and the rest still waits.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) partly: bool,
    /// The state in which we left it.
    pub(crate) left: Option<Stamp>,
}

/// Which copies of an application are there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Copies {
    /// Those of what was there before: it can be undone.
    #[default]
    Before,
    /// Those of what was applied too: undone, it can be redone.
    Both,
    /// None any more, to save disk space: it stays as it is.
    Dropped,
}

#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    state: State,
    turn: u32,
    /// The folder of ours inside the work folder, while there is one.
    scratch: Option<String>,
    entries: Vec<Entry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    renames: Vec<Rename>,
    #[serde(default)]
    copies: Copies,
    #[serde(default)]
    at: Option<Moment>,
}

#[derive(Debug)]
pub(crate) struct Journal {
    place: Place,
    folder: PathBuf,
    /// Its place among the applications of the set.
    pub(crate) number: u32,
    /// When it came to rest, counted: an older application may be undone after a newer one.
    pub(crate) turn: u32,
    /// How far it is.
    pub(crate) state: State,
    /// The folder of ours inside the work folder, while there is one.
    pub(crate) scratch: Option<String>,
    /// Its changes, sorted by path.
    pub(crate) entries: Vec<Entry>,
    /// Which of it is a rename.
    pub(crate) renames: Vec<Rename>,
    /// Which copies are there.
    pub(crate) copies: Copies,
    /// When it was last begun, undone or redone.
    pub(crate) at: Option<Moment>,
}

impl Journal {
    /// Begins the next application of the set in `set_folder`.
    pub(crate) fn begin(
        place: &Place,
        set_folder: &Path,
        earlier: &[Self],
    ) -> Result<Self, WorkspaceError> {
        let mut number = earlier.last().map_or(1, |last| last.number + 1);
        let parent = set_folder.join("applied");
        let folder = loop {
            let folder = parent.join(number.to_string());
            match private_folder(&folder) {
                Ok(()) => break folder,
                // Left by a crash before its manifest was written: it says nothing.
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(error).during_at("create", &folder),
            }
        };
        let before = folder.join(BEFORE);
        private_folder(&before).during_at("create", &before)?;
        sync_folder(&parent)?;
        let state = State::Preparing;
        let turn = next_turn(earlier);
        Ok(Self {
            place: place.clone(),
            folder,
            number,
            turn,
            state,
            scratch: None,
            entries: Vec::new(),
            renames: Vec::new(),
            copies: Copies::Before,
            at: Some(Moment::now()),
        })
    }

    /// All applications of the set in `set_folder`, the oldest first.
    pub(crate) fn load_all(place: &Place, set_folder: &Path) -> Result<Vec<Self>, WorkspaceError> {
        let parent = set_folder.join("applied");
        let mut journals = Vec::new();
        for entry in fs::read_dir(&parent).during_at("read", &parent)? {
            let entry = entry.during_at("read", &parent)?;
            let Some(number) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            let folder = entry.path();
            let Some(manifest) = place.read::<Manifest>(&folder.join(MANIFEST))? else { continue };
            journals.push(Self {
                place: place.clone(),
                folder,
                number,
                turn: manifest.turn,
                state: manifest.state,
                scratch: manifest.scratch,
                entries: manifest.entries,
                renames: manifest.renames,
                copies: manifest.copies,
                at: manifest.at,
            });
        }
        journals.sort_by_key(|journal| journal.number);
        Ok(journals)
    }

    /// Writes the manifest, to last.
    pub(crate) fn save(&mut self) -> Result<(), WorkspaceError> {
        let manifest = Manifest {
            state: self.state,
            turn: self.turn,
            scratch: self.scratch.clone(),
            entries: std::mem::take(&mut self.entries),
            renames: std::mem::take(&mut self.renames),
            copies: self.copies,
            at: self.at,
        };
        let path = self.folder.join(MANIFEST);
        let written = self.place.write(&path, &manifest, Lasting::Synced);
        (self.entries, self.renames) = (manifest.entries, manifest.renames);
        written
    }

    /// Whether it can be taken out of the person's folder again.
    pub(crate) fn can_be_undone(&self) -> bool {
        self.state == State::Applied && self.copies != Copies::Dropped
    }

    /// Whether it can be put into the person's folder once more.
    pub(crate) fn can_be_redone(&self) -> bool {
        self.state == State::Undone && self.copies == Copies::Both
    }

    /// Whether it is of no use any more: rolled back in full, or nothing is kept of it.
    pub(crate) fn is_past(&self) -> bool {
        self.state == State::RolledBack || self.copies == Copies::Dropped
    }

    /// Where the bytes of what was replaced are.
    pub(crate) fn backups(&self) -> Result<Folder, WorkspaceError> {
        let path = self.folder.join(BEFORE);
        Folder::open(&path, Intent::Change).during_at("open", &path)
    }

    /// Where the bytes of what was applied are, once it is undone.
    pub(crate) fn applied(&self) -> Result<Folder, WorkspaceError> {
        let path = self.folder.join(AFTER);
        Folder::open(&path, Intent::Change).during_at("open", &path)
    }

    /// An empty place for the bytes of what was applied.
    pub(crate) fn make_applied(&self) -> Result<Folder, WorkspaceError> {
        remove_if_there(&self.folder.join(AFTER))?;
        let path = self.folder.join(AFTER);
        private_folder(&path).during_at("create", &path)?;
        self.applied()
    }

    /// Forgets the bytes of what was applied.
    pub(crate) fn drop_applied(&mut self) -> Result<(), WorkspaceError> {
        self.copies = Copies::Before;
        self.save()?;
        remove_if_there(&self.folder.join(AFTER))
    }

    /// Forgets all bytes that were kept.
    pub(crate) fn drop_copies(&self) -> Result<(), WorkspaceError> {
        remove_if_there(&self.folder.join(BEFORE))?;
        remove_if_there(&self.folder.join(AFTER))
    }

    /// The bytes on the disk that the copies take.
    pub(crate) fn kept_bytes(&self) -> Result<u64, WorkspaceError> {
        let mut bytes = 0;
        for name in [BEFORE, AFTER] {
            let path = self.folder.join(name);
            let entries = match fs::read_dir(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                other => other.during_at("read", &path)?,
            };
            for entry in entries {
                let entry = entry.during_at("read", &path)?;
                bytes += entry.metadata().during_at("read", &path)?.blocks() * 512;
            }
        }
        Ok(bytes)
    }

    pub(crate) fn remove(self) -> Result<(), WorkspaceError> {
        fs::remove_dir_all(&self.folder).during_at("remove", &self.folder)
    }
}

/// Whether the set in `set_folder` has any applications. Costs one look at a folder.
pub(crate) fn are_any(set_folder: &Path) -> bool {
    fs::read_dir(set_folder.join("applied")).is_ok_and(|mut all| all.next().is_some())
}

/// The turn of whatever comes to rest after all of `journals`.
pub(crate) fn next_turn(journals: &[Journal]) -> u32 {
    journals.iter().map(|journal| journal.turn).max().map_or(1, |last| last + 1)
}

fn remove_if_there(path: &Path) -> Result<(), WorkspaceError> {
    crash::point();
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        other => other.during_at("remove", path),
    }
}

/// Creates a folder that only we can enter.
pub(crate) fn private_folder(path: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new().mode(0o700).create(path)
}
