//! Which sets there are, and what became of them.

use crate::{
    copy::{copied, snapshot},
    error::{During, WorkspaceError, is_gone},
    journal::{
        history::History,
        intention,
        log::{self, Journal, State},
        recover,
    },
    lock::{self, DESCRIPTION},
    place::Place,
    set::{self, Description, Set, is_id, open_if_there},
    tree::{
        folder::{Folder, Intent},
        relative::Relative,
        scan::{Scan, scan},
        stat::Moment,
    },
};
use fs_err as fs;
use interpreter_core::ChangesState;
use std::{
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
    time::Duration,
};

/// A set in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The set's id.
    pub id: String,
    /// The folder that it changes.
    pub work_folder: PathBuf,
    /// When it began, as RFC 3339 in UTC.
    pub created: String,
    /// The session that made it.
    pub session: String,
    /// `Staged` if anything waits for a first decision, and otherwise the last decision.
    pub state: ChangesState,
    /// How many changes could be applied.
    pub files: usize,
    /// How many applications could be undone, one after the other.
    pub undoable: usize,
    /// How many could be redone, one after the other.
    pub redoable: usize,
    /// Bytes on the disk that are kept for that.
    pub kept_bytes: u64,
    /// Whether a process, such as its session, holds it.
    pub in_use: bool,
    /// When the newest that can be undone was applied or redone.
    undo_at: Option<Moment>,
    /// When the newest that can be redone was undone.
    redo_at: Option<Moment>,
}

/// A set that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Its id.
    pub id: String,
    /// Why.
    pub why: String,
}

/// Which sets there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    /// Those that can be used, the newest first.
    pub sets: Vec<Summary>,
    /// The others, of whatever folder.
    pub unreadable: Vec<Unreadable>,
}

/// A set that could be described.
struct Known {
    folder: PathBuf,
    description: Description,
}

impl Set {
    /// The sets, optionally of one work folder. Removes empty sets of killed sessions.
    pub fn list(place: &Place, work_folder: Option<&Path>) -> Result<Catalog, WorkspaceError> {
        let (known, mut unreadable) = describe(place, work_folder)?;
        let mut sets = Vec::new();
        for one in known {
            match summarize(place, &one) {
                Ok(summary) => sets.extend(summary),
                Err(error) => {
                    unreadable.push(Unreadable { id: one.description.id, why: told(&error) });
                }
            }
        }
        Ok(Catalog { sets, unreadable })
    }

    /// The newest set of a work folder in which something waits for a decision, whoever holds it.
    /// One that cannot be used is passed over; a list says so.
    pub fn newest_staged(
        place: &Place,
        work_folder: &Path,
    ) -> Result<Option<Summary>, WorkspaceError> {
        let (known, _) = describe(place, Some(work_folder))?;
        for one in known {
            let summary = summarize(place, &one).ok().flatten();
            if let Some(summary) = summary.filter(|one| one.state == ChangesState::Staged) {
                return Ok(Some(summary));
            }
        }
        Ok(None)
    }

    /// The set of a work folder of which something was applied last.
    pub fn newest_applied(
        place: &Place,
        work_folder: &Path,
    ) -> Result<Option<Summary>, WorkspaceError> {
        newest_by(place, work_folder, |summary| summary.undo_at)
    }

    /// The set of a work folder of which something was undone last.
    pub fn newest_undone(
        place: &Place,
        work_folder: &Path,
    ) -> Result<Option<Summary>, WorkspaceError> {
        newest_by(place, work_folder, |summary| summary.redo_at)
    }

    /// Whether there is a set with this id, be it one that cannot be used.
    pub fn exists(place: &Place, id: &str) -> Result<bool, WorkspaceError> {
        match find(place.folder(), id) {
            Ok(_) => Ok(true),
            Err(WorkspaceError::NoSuchSet { .. } | WorkspaceError::ShortId { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Whether code has left something called `name` in a set, at the top of the work folder. Says
    /// no of names that could lead elsewhere.
    pub fn has_name(place: &Place, id: &str, name: &str) -> Result<bool, WorkspaceError> {
        let upper = find(place.folder(), id)?.join("upper");
        let is_plain = !name.contains('/') && !matches!(name, "" | "." | "..");
        Ok(is_plain && fs::symlink_metadata(upper.join(name)).is_ok())
    }

    /// Whether code has left something at `path` in a set.
    pub fn has_path(place: &Place, id: &str, path: &str) -> Result<bool, WorkspaceError> {
        let Some(path) = Relative::parse(path) else { return Ok(false) };
        let upper = find(place.folder(), id)?.join("upper");
        let upper = Folder::open(&upper, Intent::Look).during_at("open", &upper)?;
        match upper.walk(&path.parent(), Intent::Look) {
            Err(error) if is_gone(&error) => Ok(false),
            Err(error) => Err(error).during("open", || path.text()),
            Ok(parent) => Ok(parent.stat(path.name()).during("read", || path.text())?.is_some()),
        }
    }

    /// Removes a set that cannot be used, with all that is kept in it.
    pub fn remove_unreadable(place: &Place, id: &str) -> Result<(), WorkspaceError> {
        let folder = find(place.folder(), id)?;
        if lock::is_held_anyhow(&folder).during_at("lock", &folder)? {
            return Err(WorkspaceError::InUse { id: id.to_owned() });
        }
        set::remove_folder(&folder)
    }
}

/// The set of which something came to rest last, by the moment that `at` gives.
fn newest_by(
    place: &Place,
    work_folder: &Path,
    at: impl Fn(&Summary) -> Option<Moment>,
) -> Result<Option<Summary>, WorkspaceError> {
    let (known, _) = describe(place, Some(work_folder))?;
    let mut newest: Option<Summary> = None;
    // Only those of which something was applied are looked at any closer.
    for one in known.into_iter().filter(|one| log::are_any(&one.folder)) {
        let summary = summarize(place, &one).ok().flatten();
        let is_newer = |one: &Summary| at(one).is_some() && at(one) > newest.as_ref().and_then(&at);
        if let Some(summary) = summary.filter(is_newer) {
            newest = Some(summary);
        }
    }
    Ok(newest)
}

/// The sets of a work folder, or all of them, the newest first, and those that cannot be read.
fn describe(
    place: &Place,
    work_folder: Option<&Path>,
) -> Result<(Vec<Known>, Vec<Unreadable>), WorkspaceError> {
    let wanted =
        work_folder.map(|path| fs::canonicalize(path).during_at("find", path)).transpose()?;
    let (mut known, mut unreadable) = (Vec::new(), Vec::new());
    for folder in folders(place.folder())? {
        match place.read::<Description>(&folder.join(DESCRIPTION)) {
            Ok(Some(description)) => {
                if wanted.as_ref().is_none_or(|wanted| *wanted == description.work_folder()) {
                    known.push(Known { folder, description });
                }
            }
            Ok(None) => sweep_stray(&folder),
            Err(error) => unreadable.push(Unreadable { id: name_of(&folder), why: told(&error) }),
        }
    }
    known.sort_by(|one, other| {
        let began = |known: &Known| known.description.began;
        began(other).cmp(&began(one)).then_with(|| one.folder.cmp(&other.folder))
    });
    Ok((known, unreadable))
}

/// How long a folder must have been left alone to be nobody's: one that is being made is no set for
/// a moment, and has no lock for another.
const ALONE: Duration = Duration::from_hours(1);

/// Removes a folder that a session left before it was a set, or after it was one.
fn sweep_stray(folder: &Path) {
    let is_old = || {
        let changed = fs::symlink_metadata(folder).and_then(|data| data.modified()).ok()?;
        Some(changed.elapsed().ok()? > ALONE)
    };
    // A leftover that cannot be removed does no harm.
    if is_old() == Some(true) && lock::is_held_anyhow(folder).is_ok_and(|held| !held) {
        set::remove_folder(folder).ok();
    }
}

fn told(error: &WorkspaceError) -> String {
    use std::error::Error;
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    format!("{error}{cause}")
}

fn name_of(folder: &Path) -> String {
    folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The folder of the set whose id is `id`.
pub(super) fn find(changes_folder: &Path, id: &str) -> Result<PathBuf, WorkspaceError> {
    let folder = changes_folder.join(id);
    if is_id(OsStr::new(id)) && folder.is_dir() {
        return Ok(folder);
    }
    let begins = |name: &String| !id.is_empty() && name.starts_with(id);
    let ids: Vec<_> =
        folders(changes_folder)?.iter().map(|folder| name_of(folder)).filter(begins).collect();
    let id = id.to_owned();
    if ids.is_empty() {
        Err(WorkspaceError::NoSuchSet { id })
    } else {
        Err(WorkspaceError::ShortId { id, ids })
    }
}

/// The folders that could be sets, sorted by id.
pub(super) fn folders(changes_folder: &Path) -> Result<Vec<PathBuf>, WorkspaceError> {
    let entries = match fs::read_dir(changes_folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.during_at("read", changes_folder)?,
    };
    let mut folders = Vec::new();
    for entry in entries {
        let entry = entry.during_at("read", changes_folder)?;
        if is_id(&entry.file_name()) {
            folders.push(entry.path());
        }
    }
    folders.sort();
    Ok(folders)
}

/// The summary of one set, or `None` if it has just been removed.
fn summarize(place: &Place, known: &Known) -> Result<Option<Summary>, WorkspaceError> {
    let Known { folder, description } = known;
    let in_use = match lock::is_held(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.during_at("lock", folder)?,
    };
    set::check_parts(folder)?;
    let mut journals = Journal::load_all(place, folder)?;
    let is_left =
        || copied::is_left(folder) || snapshot::is_left(folder) || intention::is_left(folder);
    if !in_use && (!journals.iter().all(recover::is_resting) || is_left()) {
        // Opening puts it right. If that fails, opening it by name says why; the list of the
        // others is worth having all the same.
        drop(Set::open(place, &description.id).ok());
        journals = Journal::load_all(place, folder)?;
    }
    let upper = folder.join("upper");
    let upper = Folder::open(&upper, Intent::Look).during_at("open", &upper)?;
    let work_folder = description.work_folder();
    let work = open_if_there(&work_folder, Intent::Look)?;
    let history = History::of(&journals);
    let scan = scan(&upper, work.as_ref(), &history)?;
    let undoable: Vec<_> = journals.iter().filter(|journal| journal.can_be_undone()).collect();
    let redoable: Vec<_> = journals.iter().filter(|journal| journal.can_be_redone()).collect();
    let latest = |journals: &[&Journal]| journals.iter().filter_map(|journal| journal.at).max();
    let kept = journals.iter().map(Journal::kept_bytes).sum::<Result<u64, _>>()?;
    if !in_use && journals.iter().all(Journal::is_past) && scan.waiting().next().is_none() {
        // Its session was killed, and nothing is left to decide. Where it cannot be removed it is
        // still nothing to list.
        drop(Set::open(place, &description.id).and_then(Set::remove_if_empty).ok());
        return Ok(None);
    }
    Ok(Some(Summary {
        state: state(&scan, &history, &journals),
        id: description.id.clone(),
        work_folder,
        created: description.created.clone(),
        session: description.session.clone(),
        files: scan.listing().len(),
        undo_at: latest(&undoable),
        redo_at: latest(&redoable),
        undoable: undoable.len(),
        redoable: redoable.len(),
        kept_bytes: kept,
        in_use,
    }))
}

fn count(journals: &[Journal], state: State) -> usize {
    journals.iter().filter(|journal| journal.state == state).count()
}

fn state(scan: &Scan, history: &History<'_>, journals: &[Journal]) -> ChangesState {
    let mut waiting = scan.waiting().peekable();
    let any = waiting.peek().is_some();
    if waiting.any(|delta| !history.is_undone(&delta.path, delta.staged)) {
        ChangesState::Staged
    } else if !any && count(journals, State::Applied) > 0 {
        ChangesState::Applied
    } else if any || count(journals, State::Undone) > 0 {
        ChangesState::Undone
    } else {
        ChangesState::Discarded
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        Catalog, Conflict, Place, Set, WorkspaceError,
        scene::{Scene, texts},
    };
    use fs_err as fs;
    use interpreter_core::ChangesState;
    use std::os::unix::fs::PermissionsExt;

    fn state(scene: &Scene) -> (ChangesState, usize) {
        let summary = &Set::list(&scene.changes, Some(&scene.work)).unwrap().sets[0];
        (summary.state, summary.files)
    }

    #[test]
    fn the_state_follows_the_decisions() {
        let mut scene = Scene::new(&[("a", "1")]);
        assert_eq!(state(&scene), (ChangesState::Discarded, 0));
        scene.writes("a", "2").writes("b", "2");
        assert_eq!(state(&scene), (ChangesState::Staged, 2));
        scene.apply_only(&["a"]).unwrap();
        assert_eq!(state(&scene), (ChangesState::Staged, 1));
        scene.apply();
        assert_eq!(state(&scene), (ChangesState::Applied, 0));
        scene.set.undo(Conflict::Refuse).unwrap();
        scene.set.undo(Conflict::Refuse).unwrap();
        assert_eq!(state(&scene), (ChangesState::Undone, 2));
        fs::remove_file(scene.set.upper().join("b")).unwrap();
        scene.writes("b", "newly staged");
        assert_eq!(state(&scene), (ChangesState::Staged, 2));
        scene.set.discard(&[]).unwrap();
        assert_eq!(state(&scene), (ChangesState::Undone, 0));
    }

    #[test]
    fn sets_are_listed_newest_first_and_found_by_what_they_hold() {
        let scene = Scene::new(&[("a", "1")]);
        scene.writes("a", "2");
        let other = tempfile::tempdir().unwrap();
        let second = Set::create(&scene.changes, &scene.work, "second").unwrap();
        let third = Set::create(&scene.changes, other.path(), "third").unwrap();
        let sessions =
            |sets: Vec<super::Summary>| sets.into_iter().map(|set| set.session).collect::<Vec<_>>();
        let all = Set::list(&scene.changes, None).unwrap().sets;
        assert_eq!(all.len(), 3);
        assert!(all.iter().all(|set| set.in_use));
        let here = Set::list(&scene.changes, Some(&scene.work)).unwrap().sets;
        assert_eq!(sessions(here).last().unwrap(), "session");
        let staged = Set::newest_staged(&scene.changes, &scene.work).unwrap().unwrap();
        assert_eq!(staged.id, scene.set.id());
        fs::write(second.upper().join("b"), "2").unwrap();
        let id = second.id().to_owned();
        drop(second);
        let staged = Set::newest_staged(&scene.changes, &scene.work).unwrap().unwrap();
        assert_eq!((staged.id.as_str(), staged.in_use), (id.as_str(), false));
        // Whoever holds it: the same is meant before and after a session ends.
        let held = Set::open(&scene.changes, &id).unwrap();
        let staged = Set::newest_staged(&scene.changes, &scene.work).unwrap().unwrap();
        assert_eq!((staged.id.as_str(), staged.in_use), (id.as_str(), true));
        drop(held);
        assert_eq!(Set::newest_applied(&scene.changes, &scene.work).unwrap(), None);
        let mut second = Set::open(&scene.changes, &id).unwrap();
        second.apply(&texts(&["b"]), Conflict::Refuse).unwrap();
        let applied = Set::newest_applied(&scene.changes, &scene.work).unwrap().unwrap();
        assert_eq!((applied.id, applied.undoable), (id, 1));
        assert!(third.remove_if_empty().unwrap().is_none());
        assert_eq!(Set::list(&scene.changes, None).unwrap().sets.len(), 2);
        let nowhere = Place::new(
            scene.changes.folder().join("nowhere"),
            interpreter_core::hash::SealKey::new(&[1; 32]),
        );
        assert_eq!(Set::list(&nowhere, None).unwrap(), Catalog::default());
    }

    #[test]
    fn a_set_is_opened_by_all_of_its_id_and_by_one_at_a_time() {
        let scene = Scene::new(&[]);
        let id = scene.set.id().to_owned();
        assert!(matches!(
            Set::open(&scene.changes, &id),
            Err(WorkspaceError::InUse { id: named }) if named == id
        ));
        for wrong in ["", "../changes", "zz", "0123456789"] {
            assert!(matches!(
                Set::open(&scene.changes, wrong),
                Err(WorkspaceError::NoSuchSet { .. })
            ));
        }
        let scene = scene.reopen();
        assert_eq!((scene.set.id(), scene.set.session()), (id.as_str(), "session"));
        for short in [1, 7] {
            assert!(matches!(
                Set::open(&scene.changes, &id[..short]),
                Err(WorkspaceError::ShortId { ids, .. }) if ids == [id.clone()]
            ));
        }
        let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(scene.changes.folder()), 0o700);
        assert_eq!(mode(scene.changes.folder().join(&id).as_path()), 0o700);
    }

    #[test]
    fn a_damaged_set_costs_itself_alone_and_can_be_removed() {
        let scene = Scene::new(&[("a", "1")]);
        scene.writes("a", "2");
        let damages: [(&str, &[u8]); 5] = [
            ("set.json", b""),
            ("set.json", b"{"),
            ("set.json", br#"{"version": 9, "anything": "else"}"#),
            ("set.json", br#"{"version": 2, "id": "forged"}"#),
            ("applied/1/manifest.json", b"{"),
        ];
        for (file, text) in damages.into_iter().chain([("upper", &b"gone"[..])]) {
            let mut other = Set::create(&scene.changes, &scene.work, "other").unwrap();
            fs::write(other.upper().join("b"), "2").unwrap();
            other.apply(&[], Conflict::Refuse).unwrap();
            let (id, folder) = (other.id().to_owned(), other.folder.clone());
            let held = || Set::remove_unreadable(&scene.changes, &id);
            assert!(matches!(held(), Err(WorkspaceError::InUse { .. })));
            drop(other);
            if file == "upper" {
                fs::remove_dir_all(folder.join(file)).unwrap();
            } else {
                fs::write(folder.join(file), text).unwrap();
            }
            let listed = Set::list(&scene.changes, None).unwrap();
            let ids: Vec<_> = listed.unreadable.iter().map(|one| one.id.as_str()).collect();
            assert_eq!((listed.sets.len(), ids), (1, vec![id.as_str()]), "{file}");
            assert!(Set::newest_staged(&scene.changes, &scene.work).unwrap().is_some());
            assert!(Set::newest_applied(&scene.changes, &scene.work).unwrap().is_none());
            assert_eq!(Set::prune(&scene.changes, 0).unwrap(), 0);
            assert!(Set::open(&scene.changes, &id).unwrap_err().is_damage());
            Set::remove_unreadable(&scene.changes, &id).unwrap();
            assert!(!folder.exists());
            fs::remove_file(scene.work.join("b")).unwrap();
        }
        assert_eq!(Set::list(&scene.changes, None).unwrap().unreadable, []);
    }

    #[test]
    fn what_killed_sessions_left_is_swept_and_what_is_in_use_is_not() {
        let scene = Scene::new(&[("a", "1")]);
        let changes = scene.changes.folder().to_owned();
        let empty = Set::create(&scene.changes, &scene.work, "killed").unwrap();
        let id = empty.id().to_owned();
        drop(empty);
        let being_made = changes.join("00000001");
        let stray = changes.join("00000002");
        let half_removed = changes.join("00000003");
        let in_use = changes.join("00000004");
        for folder in [&being_made, &stray, &half_removed, &in_use] {
            fs::create_dir(folder).unwrap();
        }
        fs::create_dir_all(half_removed.join("upper/d")).unwrap();
        let _lock = super::lock::Lock::create(&in_use).unwrap();
        let long_ago = std::time::SystemTime::UNIX_EPOCH;
        for folder in [&stray, &half_removed, &in_use] {
            fs::File::open(folder).unwrap().set_modified(long_ago).unwrap();
        }
        // This one is in use, and so it is listed, empty as it is.
        let listed = Set::list(&scene.changes, None).unwrap().sets;
        assert_eq!(listed.iter().map(|set| set.id.as_str()).collect::<Vec<_>>(), [scene.set.id()]);
        assert!(!changes.join(id).exists());
        let there = [&being_made, &stray, &half_removed, &in_use].map(|folder| folder.exists());
        assert_eq!(there, [true, false, false, true]);
    }

    #[test]
    fn listing_is_not_mistaken_for_use() {
        let scene = Scene::new(&[]).reopen();
        scene.writes("a", "1");
        let (changes, id) = (scene.changes.clone(), scene.set.id().to_owned());
        let (set, _folders) = scene.without_set();
        drop(set);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..50).for_each(|_| drop(Set::list(&changes, None).unwrap())));
            }
            for _ in 0..200 {
                drop(Set::open(&changes, &id).unwrap());
            }
        });
    }
}
