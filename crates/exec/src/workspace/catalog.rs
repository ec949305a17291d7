//! Which sets there are, and what became of them.

use super::{
    copied,
    error::{During, WorkspaceError},
    folder::{Folder, Intent},
    history::History,
    journal::{Journal, State, read_json},
    lock, recover,
    scan::{Scan, scan},
    set::{DESCRIPTION, Description, Set, is_id, open_if_there},
    snapshot,
    stat::Moment,
};
use fs_err as fs;
use interpreter_core::record::ChangesState;
use std::{
    cmp::Reverse,
    io,
    path::{Path, PathBuf},
};

/// What a list says about a set.
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

impl Set {
    /// The sets, the newest first; of one work folder, if one is given.
    pub fn list(
        changes_folder: &Path,
        work_folder: Option<&Path>,
    ) -> Result<Vec<Summary>, WorkspaceError> {
        let wanted =
            work_folder.map(|path| fs::canonicalize(path).during_at("find", path)).transpose()?;
        let mut found: Vec<(Moment, Summary)> = Vec::new();
        for folder in folders(changes_folder)? {
            let Some(description) = read_json::<Description>(&folder.join(DESCRIPTION))? else {
                continue;
            };
            if wanted.as_ref().is_none_or(|wanted| *wanted == description.work_folder()) {
                let began = description.began;
                found.extend(summarize(changes_folder, &folder, description)?.map(|s| (began, s)));
            }
        }
        found.sort_by(|(one, a), (other, b)| other.cmp(one).then_with(|| a.id.cmp(&b.id)));
        Ok(found.into_iter().map(|(_, summary)| summary).collect())
    }

    /// The newest set of a work folder in which something waits for a decision. One that a
    /// session still holds comes only after all others.
    pub fn newest_staged(
        changes_folder: &Path,
        work_folder: &Path,
    ) -> Result<Option<Summary>, WorkspaceError> {
        let fitting = Self::list(changes_folder, Some(work_folder))?;
        Ok(first(fitting, |summary| summary.state == ChangesState::Staged))
    }

    /// The set of a work folder of which something was applied last, by the same rule.
    pub fn newest_applied(
        changes_folder: &Path,
        work_folder: &Path,
    ) -> Result<Option<Summary>, WorkspaceError> {
        let mut sets = Self::list(changes_folder, Some(work_folder))?;
        sets.sort_by_key(|summary| Reverse(summary.undo_at));
        Ok(first(sets, |summary| summary.undoable > 0))
    }

    /// The set of a work folder of which something was undone last, by the same rule.
    pub fn newest_undone(
        changes_folder: &Path,
        work_folder: &Path,
    ) -> Result<Option<Summary>, WorkspaceError> {
        let mut sets = Self::list(changes_folder, Some(work_folder))?;
        sets.sort_by_key(|summary| Reverse(summary.redo_at));
        Ok(first(sets, |summary| summary.redoable > 0))
    }
}

/// The first that fits and that nobody holds, or else the first that fits.
fn first(mut fitting: Vec<Summary>, fits: impl Fn(&Summary) -> bool) -> Option<Summary> {
    fitting.retain(fits);
    let free = fitting.iter().position(|summary| !summary.in_use).unwrap_or(0);
    (!fitting.is_empty()).then(|| fitting.swap_remove(free))
}

/// The folder of the set whose id is, or alone begins with, `id`.
pub(super) fn find(changes_folder: &Path, id: &str) -> Result<PathBuf, WorkspaceError> {
    let name = |folder: &PathBuf| {
        folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let mut fitting = folders(changes_folder)?;
    fitting.retain(|folder| !id.is_empty() && name(folder).starts_with(id));
    match fitting.len() {
        0 => Err(WorkspaceError::NoSuchSet { id: id.to_owned() }),
        1 => Ok(fitting.remove(0)),
        _ => {
            let ids = fitting.iter().map(name).collect();
            Err(WorkspaceError::AmbiguousId { prefix: id.to_owned(), ids })
        }
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

/// What there is to say about one set; nothing if it has just been removed.
fn summarize(
    changes_folder: &Path,
    folder: &Path,
    description: Description,
) -> Result<Option<Summary>, WorkspaceError> {
    let in_use = match lock::is_held(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.during_at("lock", folder)?,
    };
    let mut journals = Journal::load_all(folder)?;
    let is_left = || copied::is_left(folder) || snapshot::is_left(folder);
    if !in_use && (!journals.iter().all(recover::is_resting) || is_left()) {
        // Opening puts it right. If that fails, opening it by name says why; the list of the
        // others is worth having all the same.
        drop(Set::open(changes_folder, &description.id).ok());
        journals = Journal::load_all(folder)?;
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
    Ok(Some(Summary {
        state: state(&scan, &history, &journals),
        id: description.id,
        work_folder,
        created: description.created,
        session: description.session,
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
    use super::super::{
        Conflict, Set, WorkspaceError,
        scene::{Scene, texts},
    };
    use fs_err as fs;
    use interpreter_core::record::ChangesState;
    use std::os::unix::fs::PermissionsExt;

    fn state(scene: &Scene) -> (ChangesState, usize) {
        let summary = &Set::list(&scene.changes, Some(&scene.work)).unwrap()[0];
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
        let all = Set::list(&scene.changes, None).unwrap();
        assert_eq!(all.len(), 3);
        assert!(all.iter().all(|set| set.in_use));
        let here = Set::list(&scene.changes, Some(&scene.work)).unwrap();
        assert_eq!(sessions(here).last().unwrap(), "session");
        let staged = Set::newest_staged(&scene.changes, &scene.work).unwrap().unwrap();
        assert_eq!(staged.id, scene.set.id());
        fs::write(second.upper().join("b"), "2").unwrap();
        let id = second.id().to_owned();
        drop(second);
        // The one that no session holds comes first.
        let staged = Set::newest_staged(&scene.changes, &scene.work).unwrap().unwrap();
        assert_eq!((staged.id.as_str(), staged.in_use), (id.as_str(), false));
        assert_eq!(Set::newest_applied(&scene.changes, &scene.work).unwrap(), None);
        let mut second = Set::open(&scene.changes, &id).unwrap();
        second.apply(&texts(&["b"]), Conflict::Refuse).unwrap();
        let applied = Set::newest_applied(&scene.changes, &scene.work).unwrap().unwrap();
        assert_eq!((applied.id, applied.undoable), (id, 1));
        assert!(third.remove_if_empty().unwrap().is_none());
        assert_eq!(Set::list(&scene.changes, None).unwrap().len(), 2);
        assert_eq!(Set::list(&scene.changes.join("nowhere"), None).unwrap(), []);
    }

    #[test]
    fn a_set_is_opened_by_its_beginning_and_by_one_at_a_time() {
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
        // Two that begin alike.
        let twin = format!("{}{}", &id[..7], if id.ends_with('0') { '1' } else { '0' });
        fs::create_dir(scene.changes.join(twin)).unwrap();
        assert!(matches!(
            Set::open(&scene.changes, &id[..7]),
            Err(WorkspaceError::AmbiguousId { ids, .. }) if ids.len() == 2
        ));
        let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(scene.changes.as_path()), 0o700);
        assert_eq!(mode(scene.changes.join(&id).as_path()), 0o700);
    }

    #[test]
    fn what_a_newer_program_wrote_is_not_guessed_at() {
        let scene = Scene::new(&[]);
        let path = scene.set.folder.join("set.json");
        fs::write(&path, r#"{"version": 2, "anything": "else"}"#).unwrap();
        assert!(matches!(
            Set::list(&scene.changes, None),
            Err(WorkspaceError::Version { version: 2, .. })
        ));
        fs::write(&path, "{").unwrap();
        assert!(matches!(
            Set::open(&scene.changes, scene.set.id()),
            Err(WorkspaceError::Damaged { .. })
        ));
    }

    #[test]
    fn listing_is_not_mistaken_for_use() {
        let scene = Scene::new(&[]).reopen();
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
