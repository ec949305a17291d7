//! A set: the changes of one session to one work folder, in a folder of its own.
//!
//! ```text
//! ID/set.json        whose changes, to which folder, since when
//! ID/lock            held by whoever works with the set
//! ID/upper  ID/work  the overlay's layers
//! ID/copy            where code works if there is no overlay, see `copied.rs`
//! ID/applied/N/      one journal for each application
//! ID/snapshots/      copies of the upper layer: one to decide on, and those of checkpoints
//! ID/back            what the host copies back into the overlay, see `kept.rs`
//! ID/discarding.json what is being discarded from inside the sandbox, see `intention.rs`
//! ID/numbered.json   hunks that a diff has shown, see `numbered.rs`
//! ```
//!
//! Holding a [`Set`] is holding its lock: one process at a time, and a session for as long as it
//! lives. Decisions about a set are in `decisions.rs`, the list of sets is in `catalog.rs`.

use crate::{
    catalog,
    copy::{
        copied::Copied,
        snapshot::{self, Snapshot},
    },
    error::{During, WorkspaceError, is_gone},
    journal::{
        log::{Journal, private_folder},
        recover,
    },
    lock::{self, DESCRIPTION, Lock},
    place::{Lasting, Place},
    tree::{
        folder::{Folder, Intent},
        relative::{bytes_of, text_of},
        stat::{Moment, PERMISSIONS, Stat},
        sweep,
        verdicts::Verdicts,
    },
};
use fs_err as fs;
use interpreter_core::hash::hex;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    io,
    os::unix::{
        ffi::{OsStrExt, OsStringExt},
        fs::{DirBuilderExt, PermissionsExt},
    },
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};
use uuid::Uuid;

/// The content of `set.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Description {
    pub(super) id: String,
    work_folder: String,
    /// When the set began, for people.
    pub(super) created: String,
    /// The session that made it.
    pub(super) session: String,
    /// The file system's own time at the beginning, to compare the times of files with.
    pub(super) began: Moment,
}

impl Description {
    /// The folder that the set changes.
    pub(super) fn work_folder(&self) -> PathBuf {
        OsString::from_vec(bytes_of(&self.work_folder)).into()
    }
}

/// The changes of one session to one work folder. Holds the set's lock.
#[derive(Debug)]
pub struct Set {
    pub(super) place: Place,
    /// Where the set is.
    pub(super) folder: PathBuf,
    upper: PathBuf,
    work: PathBuf,
    work_folder: PathBuf,
    pub(super) description: Description,
    /// Its applications, the oldest first.
    pub(super) journals: Vec<Journal>,
    verdicts: Mutex<Verdicts>,
    /// Where code works, if there is no overlay.
    pub(super) copied: Option<Copied>,
    /// Layers that were kept at checkpoints, by their numbers.
    pub(super) kept: BTreeMap<u32, Snapshot>,
    _lock: Lock,
}

impl Set {
    /// Begins an empty set for `work_folder`, and holds it.
    pub fn create(
        place: &Place,
        work_folder: &Path,
        session: &str,
    ) -> Result<Self, WorkspaceError> {
        let changes_folder = place.folder();
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(changes_folder)
            .during_at("create", changes_folder)?;
        let work_folder = fs::canonicalize(work_folder).during_at("find", work_folder)?;
        let mode = fs::metadata(&work_folder).during_at("read", &work_folder)?.permissions().mode();
        let (id, folder) = new_folder(changes_folder)?;
        let lock = Lock::create(&folder)?;
        for name in ["upper", "work", "applied"] {
            let path = folder.join(name);
            private_folder(&path).during_at("create", &path)?;
        }
        Self::make_back(&folder).during_at("create", &folder)?;
        // Inside, the upper layer's root stands for the work folder itself. Nobody else can
        // enter the set, so this opens nothing.
        let upper = folder.join("upper");
        let seen = std::fs::Permissions::from_mode(mode & PERMISSIONS | 0o700);
        fs::set_permissions(&upper, seen).during_at("set the mode of", &upper)?;
        let description = Description {
            id,
            work_folder: text_of(work_folder.as_os_str().as_bytes()),
            created: jiff::Timestamp::now().to_string(),
            session: session.to_owned(),
            began: Stat::of(&lock, c"").during_at("read", &folder)?.changed,
        };
        // Not synced: a set that is lost with the power has held nothing that was decided on, and
        // every session would have to wait for the disk before its first run.
        place.write(&folder.join(DESCRIPTION), &description, Lasting::Whole)?;
        Ok(Self::new(place, folder, description, Vec::new(), lock))
    }

    /// Opens and locks the set with this id. First puts right whatever a crash left half done, in
    /// the work folder and in the set.
    pub fn open(place: &Place, id: &str) -> Result<Self, WorkspaceError> {
        let mut set = Self::open_as_it_is(place, id)?;
        set.put_right()?;
        set.take_up_copy()?;
        set.finish_discard()?;
        Ok(set)
    }

    /// The same, without putting anything right, which may need more room than a full disk has: to be
    /// discarded.
    pub fn open_as_it_is(place: &Place, id: &str) -> Result<Self, WorkspaceError> {
        let folder = catalog::find(place.folder(), id)?;
        let unknown = || WorkspaceError::NoSuchSet { id: id.to_owned() };
        let Some(description) = place.read::<Description>(&folder.join(DESCRIPTION))? else {
            return Err(unknown());
        };
        let lock = match lock::take(&folder) {
            Ok(Some(lock)) => lock,
            Ok(None) => return Err(WorkspaceError::InUse { id: description.id }),
            // Removed by whoever held it, between the two looks.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(unknown()),
            Err(error) => return Err(error).during_at("lock", &folder),
        };
        check_parts(&folder)?;
        let journals = Journal::load_all(place, &folder)?;
        snapshot::sweep(&folder)?;
        Ok(Self::new(place, folder, description, journals, lock))
    }

    fn new(
        place: &Place,
        folder: PathBuf,
        description: Description,
        journals: Vec<Journal>,
        lock: Lock,
    ) -> Self {
        Self {
            place: place.clone(),
            upper: folder.join("upper"),
            work: folder.join("work"),
            work_folder: description.work_folder(),
            folder,
            description,
            journals,
            verdicts: Mutex::default(),
            copied: None,
            kept: BTreeMap::new(),
            _lock: lock,
        }
    }

    /// The set's id.
    pub fn id(&self) -> &str {
        &self.description.id
    }

    /// The overlay's upper layer.
    pub fn upper(&self) -> &Path {
        &self.upper
    }

    /// The overlay's own folder for work in progress.
    pub fn work(&self) -> &Path {
        &self.work
    }

    /// Gets ready to be mounted, after it may have been before: the kernel leaves a mark that it
    /// wrote nothing through, and does not mount what bears it again.
    pub fn clear_work(&self) -> Result<(), WorkspaceError> {
        let work = Folder::open(self.work(), Intent::Change).during_at("open", self.work())?;
        sweep::empty(&work).during_at("empty", self.work())
    }

    /// The person's folder, the overlay's lower layer.
    pub fn work_folder(&self) -> &Path {
        &self.work_folder
    }

    /// The session that made the set.
    pub fn session(&self) -> &str {
        &self.description.session
    }

    /// Whether anything of it was ever applied.
    pub fn was_applied(&self) -> bool {
        !self.journals.is_empty()
    }

    /// Whether nothing waits for a decision and nothing was applied that could matter again.
    pub fn is_empty(&self) -> Result<bool, WorkspaceError> {
        let untouched = self.journals.iter().all(Journal::is_past);
        Ok(untouched && !self.has_changes()?)
    }

    /// Removes the set if it is empty, and otherwise gives it back. Nothing may run any more that
    /// works in it: the overlay is not mounted, and a copy goes.
    pub fn remove_if_empty(mut self) -> Result<Option<Self>, WorkspaceError> {
        self.finish_copy()?;
        if !self.is_empty()? {
            return Ok(Some(self));
        }
        remove_folder(&self.folder)?;
        Ok(None)
    }

    /// The results of earlier listings. A panic leaves nothing there that matters.
    pub(super) fn verdicts(&self) -> MutexGuard<'_, Verdicts> {
        self.verdicts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The person's folder, if it is still there.
    pub(super) fn open_work_folder(
        &self,
        intent: Intent,
    ) -> Result<Option<Folder>, WorkspaceError> {
        open_if_there(&self.work_folder, intent)
    }

    /// The upper layer, as it is by now.
    pub(super) fn open_upper(&self, intent: Intent) -> Result<Folder, WorkspaceError> {
        self.derive()?;
        Folder::open(&self.upper, intent).during_at("open", &self.upper)
    }

    /// Puts right what was interrupted. Without the work folder there is nothing to put right.
    pub(super) fn put_right(&mut self) -> Result<(), WorkspaceError> {
        if self.journals.iter().all(recover::is_resting) {
            return Ok(());
        }
        let Some(work) = self.open_work_folder(Intent::Change)? else { return Ok(()) };
        let done = recover::recover(&work, &mut self.journals);
        if done.is_err() {
            self.journals = Journal::load_all(&self.place, &self.folder)?;
        }
        done
    }
}

/// Sees to it that a set has the folders that it needs.
pub(super) fn check_parts(folder: &Path) -> Result<(), WorkspaceError> {
    for part in ["upper", "work", "applied"].map(|name| folder.join(name)) {
        if !fs::symlink_metadata(&part).is_ok_and(|data| data.is_dir()) {
            return Err(WorkspaceError::Incomplete { path: part.to_string_lossy().into_owned() });
        }
    }
    Ok(())
}

/// Removes the folder of a set, whose lock the caller has.
pub(super) fn remove_folder(folder: &Path) -> Result<(), WorkspaceError> {
    // First what makes it a set: half removed, it is not listed.
    let description = folder.join(DESCRIPTION);
    match fs::remove_file(&description) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        other => other.during_at("remove", &description)?,
    }
    let parent = folder.parent().expect("a set is in the folder of sets");
    let name = folder.file_name().expect("a set has a name");
    let parent = Folder::open(parent, Intent::Change).during_at("open", parent)?;
    sweep::remove(&parent, name).during_at("remove", folder)
}

/// The person's folder, or `None` if it is gone, or is a link or file by now.
pub(super) fn open_if_there(path: &Path, intent: Intent) -> Result<Option<Folder>, WorkspaceError> {
    match Folder::open(path, intent) {
        Err(error) if is_gone(&error) => Ok(None),
        other => other.map(Some).during_at("open", path),
    }
}

/// Whether `name` could be the id of a set.
pub(super) fn is_id(name: &OsStr) -> bool {
    let digit = |byte: &u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte);
    name.len() == 8 && name.as_bytes().iter().all(digit)
}

fn new_folder(changes_folder: &Path) -> Result<(String, PathBuf), WorkspaceError> {
    loop {
        let id = hex(&Uuid::new_v4().as_bytes()[12..]);
        let folder = changes_folder.join(&id);
        match private_folder(&folder) {
            Ok(()) => return Ok((id, folder)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).during_at("create", &folder),
        }
    }
}
