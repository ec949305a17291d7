//! Bounds the disk space that undo and redo take.
//!
//! Replaced files are kept for undo, and undone ones for redo, until their total size exceeds the
//! limit. Then the oldest go first, from whichever folder. The newest application of each folder
//! stays whatever its size, or one that is too large could never be undone. Copies that a crash
//! left for the person to sort out stay too, and so does everything that a session holds.
//!
//! Only copies go: the person's folder and changes that wait for a decision are not touched.

use crate::{
    catalog,
    error::{During, WorkspaceError},
    journal::log::{self, Copies, Journal, State},
    lock::{self, DESCRIPTION},
    place::Place,
    set::{Description, Set},
    tree::stat::Moment,
};
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

/// The copies of one application.
struct Kept {
    set: String,
    number: u32,
    work_folder: PathBuf,
    at: Option<Moment>,
    bytes: u64,
    /// Whether they can bring something back.
    undoes: bool,
    /// Whether they must stay, whatever their age.
    fixed: bool,
}

impl Set {
    /// Forgets the oldest copies until all together take at most `most` bytes, as far as they may
    /// go, and says how many bytes were freed.
    pub fn prune(place: &Place, most: u64) -> Result<u64, WorkspaceError> {
        let mut all = find(place)?;
        let mut total: u64 = all.iter().map(|kept| kept.bytes).sum();
        if total <= most {
            return Ok(0);
        }
        all.sort_by_key(|kept| kept.at);
        let mut newest: HashMap<&Path, usize> = HashMap::new();
        for (at, kept) in all.iter().enumerate().filter(|(_, kept)| kept.undoes) {
            newest.insert(&kept.work_folder, at);
        }
        let mut freed = 0;
        for (at, kept) in all.iter().enumerate() {
            if total <= most {
                break;
            }
            let stays = kept.fixed || newest.get(&*kept.work_folder) == Some(&at);
            if !stays && forget(place, kept)? {
                total -= kept.bytes;
                freed += kept.bytes;
            }
        }
        Ok(freed)
    }
}

/// All copies of all sets. Unreadable ones are skipped; a list reports them.
fn find(place: &Place) -> Result<Vec<Kept>, WorkspaceError> {
    let mut all = Vec::new();
    for folder in catalog::folders(place.folder())? {
        // Of most sets nothing was applied, and one look tells.
        if !log::are_any(&folder) {
            continue;
        }
        let read = || -> Result<_, WorkspaceError> {
            let description = place.read::<Description>(&folder.join(DESCRIPTION))?;
            Ok(description.zip(Some(Journal::load_all(place, &folder)?)))
        };
        let (description, journals) = match read() {
            Ok(Some(read)) => read,
            Ok(None) => continue,
            Err(error) if error.is_damage() => continue,
            Err(error) => return Err(error),
        };
        let in_use = match lock::is_held(&folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            other => other.during_at("lock", &folder)?,
        };
        for journal in journals {
            let bytes = journal.kept_bytes()?;
            if bytes == 0 {
                continue;
            }
            all.push(Kept {
                set: description.id.clone(),
                number: journal.number,
                work_folder: description.work_folder(),
                at: journal.at,
                bytes,
                undoes: journal.can_be_undone(),
                fixed: in_use || is_fixed(journal.state),
            });
        }
    }
    Ok(all)
}

/// Whether copies may be all that is left of something: it is not at rest, or not as it was.
fn is_fixed(state: State) -> bool {
    match state {
        State::Applied | State::Undone | State::RolledBack => false,
        State::Preparing
        | State::Applying
        | State::Undoing
        | State::Redoing
        | State::PartlyRolledBack => true,
    }
}

/// Forgets some copies, and the set if nothing else is in it; not if somebody holds it by now.
fn forget(place: &Place, kept: &Kept) -> Result<bool, WorkspaceError> {
    let mut set = match Set::open(place, &kept.set) {
        Err(WorkspaceError::InUse { .. } | WorkspaceError::NoSuchSet { .. }) => return Ok(false),
        other => other?,
    };
    let Some(journal) = set.journals.iter_mut().find(|journal| journal.number == kept.number)
    else {
        return Ok(false);
    };
    // Said first: half removed, they are not relied on.
    journal.copies = Copies::Dropped;
    journal.save()?;
    journal.drop_copies()?;
    set.remove_if_empty()?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use crate::{
        Conflict, Set, WorkspaceError,
        scene::{Scene, texts},
    };
    use fs_err as fs;

    const PIECE: usize = 64 * 1024;

    /// Three applications, each of which replaced a file of some size.
    fn applied_three_times() -> Scene {
        let big = "x".repeat(PIECE);
        let mut scene = Scene::new(&[("a", &big), ("b", &big), ("c", &big)]);
        for name in ["a", "b", "c"] {
            scene.writes(name, "small");
            scene.apply();
        }
        scene
    }

    #[test]
    fn the_oldest_copies_go_first_and_the_newest_never() {
        let scene = applied_three_times();
        let (changes, id) = (scene.changes.clone(), scene.set.id().to_owned());
        // While a session holds it, all stay.
        assert_eq!(Set::prune(&changes, 0).unwrap(), 0);
        let (set, _folders) = scene.without_set();
        drop(set);
        assert_eq!(Set::prune(&changes, 3 * PIECE as u64).unwrap(), 0);
        assert_eq!(Set::prune(&changes, 2 * PIECE as u64).unwrap(), PIECE as u64);
        let mut set = Set::open(&changes, &id).unwrap();
        set.undo(Conflict::Refuse).unwrap();
        set.redo(Conflict::Refuse).unwrap();
        drop(set);
        assert_eq!(Set::prune(&changes, 0).unwrap(), PIECE as u64);
        let mut set = Set::open(&changes, &id).unwrap();
        set.undo(Conflict::Refuse).unwrap();
        let last = set.undo(Conflict::Refuse);
        assert!(matches!(last, Err(WorkspaceError::NothingApplied { .. })));
        assert_eq!(fs::read_to_string(set.work_folder().join("b")).unwrap(), "small");
    }

    #[test]
    fn a_set_of_which_nothing_is_left_goes_with_its_copies() {
        let big = "x".repeat(PIECE);
        let mut scene = Scene::new(&[("a", &big), ("b", &big)]);
        scene.writes("a", "small");
        scene.apply();
        let mut newer = Set::create(&scene.changes, &scene.work, "newer").unwrap();
        fs::write(newer.upper().join("b"), "small").unwrap();
        newer.apply(&texts(&["b"]), Conflict::Overwrite).unwrap();
        let changes = scene.changes.clone();
        let (set, _folders) = scene.without_set();
        drop(set);
        // Whoever holds the newest, it is the newest.
        assert_eq!(Set::prune(&changes, 0).unwrap(), PIECE as u64);
        let left = Set::list(&changes, None).unwrap().sets;
        assert_eq!(left.iter().map(|set| set.id.as_str()).collect::<Vec<_>>(), [newer.id()]);
        assert_eq!((left[0].undoable, left[0].redoable), (1, 0));
    }
}
