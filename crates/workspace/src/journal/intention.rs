//! A discard from inside a sandbox, noted before it begins.
//!
//! The host puts the files back one by one, and writes each under a name of ours first. If everything
//! is killed in the middle, the layer holds some of the old changes and perhaps that file. Whoever
//! opens the set next finds the note, and forgets the rest from outside.

use crate::{
    error::{During, WorkspaceError},
    place::{Lasting, Place},
};
use fs_err as fs;
use serde::{Deserialize, Serialize};
use std::{collections::HashSet, io, path::Path};

const FILE: &str = "discarding.json";

/// A discard that has begun.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Intention {
    /// The changes to be discarded; `None` is all of them.
    paths: Option<HashSet<String>>,
    /// The name under which the host writes what it puts back.
    scratch: String,
}

impl Intention {
    pub(crate) fn new(paths: Option<HashSet<String>>, scratch: String) -> Self {
        Self { paths, scratch }
    }

    /// Whether all that is staged goes.
    pub(crate) fn is_all(&self) -> bool {
        self.paths.is_none()
    }

    /// Whether a change at `path` is to be forgotten.
    pub(crate) fn means(&self, path: &str) -> bool {
        let name = path.rsplit('/').next();
        let is_meant = |paths: &HashSet<String>| is_at_or_below(path, |one| paths.contains(one));
        name == Some(&self.scratch) || self.paths.as_ref().is_none_or(is_meant)
    }

    /// Notes it in the set's folder.
    pub(crate) fn note(&self, place: &Place, folder: &Path) -> Result<(), WorkspaceError> {
        place.write(&folder.join(FILE), self, Lasting::Whole)
    }

    /// The one that is noted there.
    pub(crate) fn noted(place: &Place, folder: &Path) -> Result<Option<Self>, WorkspaceError> {
        place.read(&folder.join(FILE))
    }
}

/// Whether a path is meant, or is below one that is. A folder that was deleted is one change; once
/// some of its files have been put back, the others are changes of their own.
pub fn is_at_or_below(path: &str, is_meant: impl Fn(&str) -> bool) -> bool {
    let above = path.match_indices('/').flat_map(|(at, _)| [&path[..at], &path[..=at]]);
    above.chain([path]).any(is_meant)
}

/// Whether a discard was begun in a set and not ended.
pub(crate) fn is_left(folder: &Path) -> bool {
    fs::symlink_metadata(folder.join(FILE)).is_ok()
}

/// It is done, or was never begun.
pub(crate) fn forget(folder: &Path) -> Result<(), WorkspaceError> {
    let path = folder.join(FILE);
    match fs::remove_file(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other.during_at("remove", &path),
    }
}

#[cfg(test)]
mod tests {
    use crate::scene::{Scene, texts};

    #[test]
    fn what_was_begun_and_killed_is_finished_by_whoever_comes_next() {
        let scene = Scene::new(&[("a", "1"), ("d/b", "1")]);
        scene.writes("a", "2").writes("d/b", "2").writes("kept", "2");
        let name = scene.set.begin_discard(Some(&texts(&["a", "d/b"]))).unwrap();
        // The host has put one back, and was killed while it wrote the other.
        scene.writes("a", "1").writes(&format!("d/{name}"), "");
        let scene = scene.reopen();
        assert_eq!(scene.lines(), ["created kept"]);
        assert!(!super::is_left(&scene.set.folder));

        scene.set.begin_discard(None).unwrap();
        assert_eq!(scene.reopen().lines(), Vec::<String>::new());
    }

    #[test]
    fn the_rest_of_a_folder_that_comes_back_is_finished_too() {
        let files: Vec<_> = (0..20).map(|at| format!("c/d/{at}")).collect();
        let mut person = vec![("cc", "1"), ("e/f", "1")];
        person.extend(files.iter().map(|name| (name.as_str(), "1")));
        let scene = Scene::new(&person);
        scene.deletes("c").writes("cc", "2").writes("e/f", "2");
        assert_eq!(scene.lines(), ["deleted c/", "changed cc", "changed e/f"]);
        let name = scene.set.begin_discard(Some(&texts(&["c"]))).unwrap();
        // The host has made the folder again, and was killed after some of its files.
        fs_err::remove_file(scene.set.upper().join("c")).unwrap();
        scene.replaces_folder("c").replaces_folder("c/d").sets_mode("c", 0o700);
        scene.writes("c/d/0", "1").writes("c/d/1", "1").writes(&format!("c/d/{name}"), "");
        assert!(scene.lines().iter().any(|line| line == "deleted c/d/2"), "{:?}", scene.lines());
        let scene = scene.reopen();
        // The control: nothing else is forgotten.
        assert_eq!(scene.lines(), ["changed cc", "changed e/f"]);
    }

    #[test]
    fn a_path_is_below_folders_and_not_below_names_that_begin_alike() {
        let is_meant = |path: &str| ["c", "d/e/"].contains(&path);
        for path in ["c", "c/", "c/f", "c/f/g", "d/e/", "d/e/f"] {
            assert!(super::is_at_or_below(path, is_meant), "{path}");
        }
        for path in ["cc", "cc/f", "d/", "d/f", "b/c", ""] {
            assert!(!super::is_at_or_below(path, is_meant), "{path}");
        }
    }

    #[test]
    fn what_was_ended_is_not_begun_again() {
        let scene = Scene::new(&[("a", "1")]);
        scene.writes("a", "2");
        scene.set.begin_discard(None).unwrap();
        scene.set.end_discard().unwrap();
        assert_eq!(scene.reopen().lines(), ["changed a"]);
    }

    #[test]
    fn a_list_does_not_show_it() {
        let scene = Scene::new(&[]);
        scene.writes("new", "2");
        let name = scene.set.begin_discard(None).unwrap();
        scene.writes(&name, "");
        let place = scene.changes.clone();
        let (set, _room) = scene.without_set();
        drop(set);
        assert_eq!(crate::Set::list(&place, None).unwrap().sets, []);
    }
}
