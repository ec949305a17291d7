//! Forgets staged changes: takes them out of the upper layer, so that the person's own files show
//! again.
//!
//! Must not be used while the overlay is mounted; the kernel does not expect its layers to change
//! beneath it. Never touches the person's folder.

use crate::{
    error::{During, WorkspaceError, is_gone},
    tree::{
        delta::Delta,
        folder::{Folder, Intent, Walker},
        layer,
        relative::Relative,
        scan::Scan,
        stat::Kind,
        sweep,
        unlock::of_descriptor,
    },
};
use rustix::fs::{Mode, chmod};
use std::{collections::HashSet, ffi::OsStr, io};

/// Forgets `chosen`, which are of `scan` and sorted by path.
pub(crate) fn discard(
    upper: &Folder,
    work: Option<&Folder>,
    scan: &Scan,
    chosen: &[&Delta],
) -> Result<(), WorkspaceError> {
    let new = scan.deltas.iter().filter(|delta| delta.is_new_folder() && delta.before.is_none());
    let mut discarder = Discarder {
        upper: Walker::new(upper, Intent::Change),
        work: work.map(|work| Walker::new(work, Intent::Look)),
        new: new.map(|delta| &delta.path).collect(),
        uncovered: HashSet::new(),
    };
    // Backwards, so that a folder comes after what is in it.
    for delta in chosen.iter().rev() {
        discarder.uncover_above(&delta.path)?;
        discarder.forget(delta).during("discard", || delta.path.text())?;
        discarder.prune(&delta.path).during("discard", || delta.path.text())?;
    }
    Ok(())
}

struct Discarder<'a> {
    upper: Walker<'a>,
    work: Option<Walker<'a>>,
    /// Folders that only the program has.
    new: HashSet<&'a Relative>,
    /// Folders that hide nothing by being opaque.
    uncovered: HashSet<Relative>,
}

impl Discarder<'_> {
    /// Makes sure that what is removed at `path` shows what the person has there.
    fn uncover_above(&mut self, path: &Relative) -> Result<(), WorkspaceError> {
        let mut above: Vec<_> = path.ancestors().collect();
        above.reverse();
        for folder in above {
            if !self.uncovered.contains(&folder) {
                match self.uncover(&folder) {
                    Err(error) if !is_gone(&error) => {
                        return Err(error).during("discard", || folder.text());
                    }
                    Ok(()) | Err(_) => {}
                }
                self.uncovered.insert(folder);
            }
        }
        Ok(())
    }

    /// Turns an opaque folder into one that says the same name by name: whiteouts for what it
    /// has not, and opaque folders in it.
    fn uncover(&mut self, path: &Relative) -> io::Result<()> {
        let above = self.upper.at(path.clone())?;
        let Some(work) = &mut self.work else { return Ok(()) };
        if !layer::is_opaque(above) {
            return Ok(());
        }
        let below = work.at(path.clone())?;
        for name in below.names()? {
            match above.stat(&name)? {
                None => layer::create_whiteout(above, &name)?,
                Some(stat) if stat.kind == Kind::Folder => {
                    layer::set_opaque(&above.child(&name, Intent::Change)?)?;
                }
                Some(_) => {}
            }
        }
        layer::clear_opaque(above)
    }

    fn forget(&mut self, delta: &Delta) -> io::Result<()> {
        let parent = match self.upper.at(delta.path.parent()) {
            Err(error) if is_gone(&error) => return Ok(()),
            other => other?,
        };
        let name = delta.path.name();
        let Some(stat) = parent.stat(name)? else { return Ok(()) };
        if stat.kind != Kind::Folder {
            return parent.unlink(name);
        }
        match delta.before {
            Some(before) if before.kind == Kind::Folder => set_mode(parent, name, before.mode),
            Some(_) | None => sweep::remove(parent, name),
        }
    }

    /// Removes the new folders that held nothing but what was discarded.
    fn prune(&mut self, path: &Relative) -> io::Result<()> {
        for folder in path.ancestors() {
            if !self.new.contains(&folder) {
                break;
            }
            match self.upper.at(folder.clone()).and_then(Folder::names) {
                Ok(names) if names.is_empty() => {}
                // It went with something else that was in it.
                Err(error) if is_gone(&error) => continue,
                other => return other.map(|_| ()),
            }
            self.upper.forget();
            self.upper.at(folder.parent())?.remove_folder(folder.name())?;
        }
        Ok(())
    }
}

fn set_mode(parent: &Folder, name: &OsStr, mode: u32) -> io::Result<()> {
    let handle = parent.handle(name)?;
    Ok(chmod(of_descriptor(&handle), Mode::from_raw_mode(mode))?)
}

#[cfg(test)]
mod tests {
    use crate::scene::{Scene, line, snapshot, texts};
    use fs_err as fs;

    fn discard(scene: &mut Scene, paths: &[&str]) -> Vec<String> {
        scene.set.discard(&texts(paths)).unwrap().iter().map(line).collect()
    }

    #[test]
    fn all_of_it_is_forgotten_and_the_folder_untouched() {
        let mut scene = Scene::new(&[("a", "1"), ("d/e", "1")]);
        scene.writes("a", "2").deletes("d").writes("n/m", "2").sets_mode("n", 0o000);
        fs::create_dir(scene.set.work().join("work")).unwrap();
        crate::scene::set_mode(&scene.set.work().join("work"), 0o000);
        let before = scene.holds();
        assert_eq!(discard(&mut scene, &[]), ["changed a", "deleted d/", "created n/m"]);
        assert_eq!(scene.lines(), Vec::<String>::new());
        assert_eq!(scene.holds(), before);
        let Some(set) = fs::read_dir(scene.set.work()).unwrap().next() else {
            assert!(scene.set.remove_if_empty().unwrap().is_none());
            return;
        };
        panic!("{set:?} is left");
    }

    #[test]
    fn a_file_can_be_forgotten_with_the_folder_made_for_it() {
        let mut scene = Scene::new(&[("a", "1"), ("b", "1"), ("m/", "")]);
        scene.writes("a", "2").deletes("b").writes("n/x/y", "2").writes("m/", "");
        scene.sets_mode("m", 0o700);
        assert_eq!(discard(&mut scene, &["n/x/y", "b"]), ["deleted b", "created n/x/y"]);
        assert_eq!(scene.lines(), ["changed a", "changed m/"]);
        assert_eq!(discard(&mut scene, &["m"]), ["changed m/"]);
        assert_eq!(scene.lines(), ["changed a"]);
        assert!(scene.set.discard(&texts(&["b"])).is_err());
    }

    #[test]
    fn new_folders_in_new_folders_go_by_their_name() {
        let mut scene = Scene::new(&[]);
        scene.writes("n/m/a", "1").writes("n/m/o/b", "1").writes("n/p/", "").writes("z", "1");
        assert_eq!(
            discard(&mut scene, &["n"]),
            ["created n/m/a", "created n/m/o/b", "created n/p/"]
        );
        assert_eq!(scene.lines(), ["created z"]);
        assert_eq!(fs::read_dir(scene.set.upper()).unwrap().count(), 1);
    }

    #[test]
    fn one_file_of_a_replaced_folder_shows_again() {
        let mut scene = Scene::new(&[("d/a", "1"), ("d/b", "1"), ("d/s/x", "1"), ("d/s/y", "1")]);
        scene.replaces_folder("d").writes("d/a", "2").writes("d/s/x", "2");
        let told = ["changed d/a", "deleted d/b", "changed d/s/x", "deleted d/s/y"];
        assert_eq!(scene.lines(), told);
        assert_eq!(discard(&mut scene, &["d/s/y"]), ["deleted d/s/y"]);
        assert_eq!(scene.lines(), told[..3]);
        assert_eq!(discard(&mut scene, &["d/a", "d/b"]), told[..2]);
        assert_eq!(scene.apply(), ["changed d/s/x"]);
        assert_eq!(snapshot(&scene.work.join("d/s")).len(), 2);
    }

    #[test]
    fn what_is_applied_can_still_be_undone() {
        let mut scene = Scene::new(&[("a", "1")]);
        scene.writes("a", "2").writes("b", "2");
        scene.apply_only(&["a"]).unwrap();
        assert_eq!(discard(&mut scene, &[]), ["created b"]);
        scene.set.undo(crate::Conflict::Refuse).unwrap();
        assert_eq!(scene.reads("a"), "1");
        assert_eq!(scene.lines(), Vec::<String>::new());
    }
}
