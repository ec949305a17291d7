//! Random programs for tests, run twice: on a plain copy of the work folder, which shows what they
//! mean, and in an upper layer, the way an overlay would record them.

use crate::{
    scene::{Scene, put, set_mode, snapshot},
    tree::{
        folder::{Folder, Intent},
        layer,
    },
};
use fs_err as fs;
use proptest::prelude::*;
use std::{
    os::unix::fs::{FileTypeExt, MetadataExt, symlink},
    path::{Path, PathBuf},
};
use tempfile::TempDir;

/// One thing a program does.
#[derive(Clone, Debug)]
pub(super) enum Deed {
    /// Writes a file, with whatever folders it takes.
    Write(PathBuf, String),
    Link(PathBuf, String),
    Make(PathBuf),
    /// Removes whatever is there.
    Remove(PathBuf),
    /// Sets the mode of a file or folder.
    Mode(PathBuf, u32),
    /// Gives a file another name.
    Move(PathBuf, PathBuf),
}

impl Deed {
    /// Does it in a plain folder.
    pub(super) fn perform(&self, root: &Path) {
        match self {
            Self::Write(path, text) => {
                make_way(root, path);
                fs::write(root.join(path), text).unwrap();
            }
            Self::Link(path, target) => {
                make_way(root, path);
                symlink(target, root.join(path)).unwrap();
            }
            Self::Make(path) => {
                make_way(root, path);
                fs::create_dir(root.join(path)).unwrap();
            }
            Self::Remove(path) => remove(root, path),
            Self::Mode(path, mode) => {
                if changeable(root, path) {
                    set_mode(&root.join(path), *mode);
                }
            }
            Self::Move(from, to) => {
                if is_movable(root, from, to) {
                    make_way(root, to);
                    fs::rename(root.join(from), root.join(to)).unwrap();
                }
            }
        }
    }
}

/// Whether `from` is a file that `to` is not in the way of.
fn is_movable(root: &Path, from: &Path, to: &Path) -> bool {
    let is_file = |path: PathBuf| fs::symlink_metadata(path).is_ok_and(|it| it.is_file());
    !from.starts_with(to)
        && !to.starts_with(from)
        && is_reachable(root, from)
        && is_file(root.join(from))
}

/// Clears `path` and makes the folders above it.
fn make_way(root: &Path, path: &Path) {
    remove(root, path);
    let mut at = root.to_owned();
    for part in path.parent().unwrap().components() {
        at.push(part);
        if !is_folder(&at) {
            fs::remove_file(&at).ok();
            fs::create_dir(&at).unwrap();
        }
    }
}

/// Whether everything above `path` is a folder, and no link.
fn is_reachable(root: &Path, path: &Path) -> bool {
    path.ancestors().skip(1).all(|parent| is_folder(&root.join(parent)))
}

fn remove(root: &Path, path: &Path) {
    if is_reachable(root, path) {
        let path = root.join(path);
        if is_folder(&path) {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).ok();
        }
    }
}

fn changeable(root: &Path, path: &Path) -> bool {
    let plain = |at: &Path| fs::symlink_metadata(root.join(at)).is_ok_and(|it| !it.is_symlink());
    path.ancestors().filter(|at| !at.as_os_str().is_empty()).all(plain)
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|it| it.is_dir())
}

/// A scene, and a plain copy of its work folder on which the same is done.
pub(super) struct Rehearsal {
    pub(super) scene: Scene,
    mirror: TempDir,
}

impl Rehearsal {
    /// The person has what `person` makes; then the program does `program`.
    pub(super) fn of(person: &[Deed], program: &[Deed]) -> Self {
        let mirror = tempfile::tempdir().unwrap();
        for deed in person {
            deed.perform(mirror.path());
        }
        let scene = Scene::new_with(|work| person.iter().for_each(|deed| deed.perform(work)));
        let rehearsal = Self { scene, mirror };
        for deed in program {
            rehearsal.and_then(deed);
        }
        rehearsal
    }

    /// The program does one thing more.
    pub(super) fn and_then(&self, deed: &Deed) {
        if let Deed::Move(from, to) = deed {
            // To the upper layer it is a new file and a removal.
            let mirror = self.mirror.path();
            if is_movable(mirror, from, to) {
                let text = fs::read_to_string(mirror.join(from)).unwrap();
                let mode = fs::metadata(mirror.join(from)).unwrap().mode() & 0o777;
                self.and_then(&Deed::Write(to.clone(), text));
                self.and_then(&Deed::Mode(to.clone(), mode));
                self.and_then(&Deed::Remove(from.clone()));
            }
            return;
        }
        self.record(deed);
        deed.perform(self.mirror.path());
    }

    /// The final state that the program saw.
    pub(super) fn merged(&self) -> std::collections::BTreeMap<String, String> {
        snapshot(self.mirror.path())
    }

    /// Leaves in the upper layer what an overlay would.
    fn record(&self, deed: &Deed) {
        match deed {
            Deed::Write(path, text) => {
                self.record_way(path);
                self.lift_whiteout(path);
                put(self.scene.set.upper(), path.to_str().unwrap(), text);
            }
            Deed::Link(path, target) => {
                self.record_way(path);
                self.lift_whiteout(path);
                symlink(target, self.upper(path)).unwrap();
            }
            Deed::Make(path) => {
                self.record_way(path);
                self.record_folder(path);
            }
            Deed::Remove(path) => self.record_removal(path),
            Deed::Mode(path, mode) => {
                if changeable(self.mirror.path(), path) {
                    self.copy_up(path);
                    set_mode(&self.upper(path), *mode);
                }
            }
            Deed::Move(..) => unreachable!("it is told as what it consists of"),
        }
    }

    fn upper(&self, path: &Path) -> PathBuf {
        self.scene.set.upper().join(path)
    }

    fn record_way(&self, path: &Path) {
        let mut above: Vec<_> = path.ancestors().skip(1).collect();
        above.pop();
        for folder in above.into_iter().rev() {
            if is_folder(&self.mirror.path().join(folder)) {
                self.copy_up(folder);
            } else {
                self.record_removal(folder);
                self.record_folder(folder);
            }
        }
        self.record_removal(path);
    }

    /// Takes a whiteout away, and says whether there was one.
    fn lift_whiteout(&self, path: &Path) -> bool {
        let there = is_whiteout(&self.upper(path));
        if there {
            fs::remove_file(self.upper(path)).unwrap();
        }
        there
    }

    /// A new folder; over a whiteout it is opaque.
    fn record_folder(&self, path: &Path) {
        let over = self.lift_whiteout(path);
        let path = self.upper(path);
        fs::create_dir(&path).unwrap();
        if over {
            layer::set_opaque(&Folder::open(&path, Intent::Change).unwrap()).unwrap();
        }
    }

    fn record_removal(&self, path: &Path) {
        let mirror = self.mirror.path();
        if !is_reachable(mirror, path) || fs::symlink_metadata(mirror.join(path)).is_err() {
            return;
        }
        let upper = self.upper(path);
        if is_folder(&upper) {
            fs::remove_dir_all(&upper).unwrap();
        } else {
            fs::remove_file(&upper).ok();
        }
        if self.shows_through(path) {
            self.copy_up(path.parent().unwrap());
            let parent = Folder::open(upper.parent().unwrap(), Intent::Change).unwrap();
            layer::create_whiteout(&parent, upper.file_name().unwrap()).unwrap();
        }
    }

    /// Whether the person's `path` would be seen if the upper layer had nothing there.
    fn shows_through(&self, path: &Path) -> bool {
        let hidden = path.ancestors().skip(1).filter(|at| !at.as_os_str().is_empty()).any(|at| {
            let upper = self.upper(at);
            let opaque = || layer::is_opaque(&Folder::open(&upper, Intent::Look).unwrap());
            !is_folder(&self.scene.work.join(at))
                || fs::symlink_metadata(&upper).is_ok_and(|it| !it.is_dir() || opaque())
        });
        !hidden && fs::symlink_metadata(self.scene.work.join(path)).is_ok()
    }

    fn copy_up(&self, path: &Path) {
        let mut parts: Vec<_> = path.ancestors().collect();
        parts.pop();
        for at in parts.into_iter().rev() {
            let (upper, shown) = (self.upper(at), self.mirror.path().join(at));
            if fs::symlink_metadata(&upper).is_err() {
                let mode = fs::metadata(&shown).unwrap().mode() & 0o7777;
                if is_folder(&shown) {
                    fs::create_dir(&upper).unwrap();
                } else {
                    fs::copy(&shown, &upper).unwrap();
                }
                set_mode(&upper, mode);
            }
        }
    }
}

fn is_whiteout(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|it| it.file_type().is_char_device())
}

/// Some deeds in a small folder, so that they often meet.
pub(super) fn deeds(most: usize) -> impl Strategy<Value = Vec<Deed>> {
    let part = prop_oneof!["[ab]", Just("a-".to_owned())];
    let path =
        prop::collection::vec(part, 1..4).prop_map(|parts| parts.iter().collect::<PathBuf>());
    let text = prop_oneof![Just("same".to_owned()), "[xy]{0,3}"];
    let mode = prop_oneof![Just(0o755), Just(0o700)];
    let deed = prop_oneof![
        4 => (path.clone(), text.clone()).prop_map(|(path, text)| Deed::Write(path, text)),
        1 => (path.clone(), "[ab]").prop_map(|(path, target)| Deed::Link(path, target)),
        2 => path.clone().prop_map(Deed::Make),
        3 => path.clone().prop_map(Deed::Remove),
        2 => (path.clone(), path.clone()).prop_map(|(from, to)| Deed::Move(from, to)),
        1 => (path, mode).prop_map(|(path, mode)| Deed::Mode(path, mode)),
    ];
    prop::collection::vec(deed, 0..most)
}
