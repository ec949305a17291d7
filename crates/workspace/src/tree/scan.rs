//! Finds what differs between a set's upper layer and the person's folder.
//!
//! Walks the upper layer, and in the person's folder only the entries beside it, so the cost
//! depends on the changes. Compares by content: equal entries are not changes, whatever their
//! history. Entries that vanish during the walk are left out.
//!
//! Must not fail because of a program's files; entries that cannot be taken over are in
//! [`Scan::skipped`].

use crate::{
    copy::snapshot::Staged,
    error::{During, WorkspaceError, is_gone},
    journal::{
        history::History,
        rename::{self, Rename},
    },
    tree::{
        about, content,
        delta::Delta,
        folder::{Folder, Intent, Walker},
        layer,
        listing::list,
        relative::Relative,
        stat::{Kind, NEW_FOLDER, PERMISSIONS, Stat},
        verdicts::Verdicts,
    },
};
use interpreter_core::FileChange;
use std::{
    collections::HashSet,
    ffi::{OsStr, OsString},
    io,
    path::Path,
};

/// Folders in folders that are looked into. Trees of people and their tools are far flatter.
pub(crate) const DEEPEST: usize = 200;
/// Bytes of a path that the system's own calls take.
pub(crate) const LONGEST: usize = 4095;

#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// The applicable changes, sorted by path; every new folder is named, even if it has contents.
    pub(crate) deltas: Vec<Delta>,
    /// The others, with the reason.
    pub(crate) skipped: Vec<(Relative, String)>,
    /// Which of it is a rename, sorted by the new path.
    pub(crate) renames: Vec<Rename>,
}

impl Scan {
    /// The changes that wait for a decision.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &Delta> {
        self.deltas.iter().filter(|delta| !delta.settled)
    }

    /// The lines of what waits for a decision.
    pub(crate) fn listing(&self) -> Vec<FileChange> {
        list(self.waiting().map(Delta::difference), &self.renames)
    }

    /// The same, with all that there is to tell.
    pub(crate) fn told(
        &self,
        upper: &Folder,
        work: (&Path, Option<&Folder>),
        verdicts: &mut Verdicts,
    ) -> Vec<FileChange> {
        let mut files = self.listing();
        let sides: Vec<_> = self.waiting().map(Delta::sides).collect();
        let mut above = Walker::new(upper, Intent::Look);
        let mut below = work.1.map(|work| Walker::new(work, Intent::Look));
        about::rank(work.0, &sides, &mut files);
        about::tell(&mut above, below.as_mut(), &sides, verdicts, &mut files);
        files
    }
}

/// Compares `upper` with `work`, the person's folder, if it is there, reading every file that may
/// differ.
pub(crate) fn scan(
    upper: &Folder,
    work: Option<&Folder>,
    history: &History<'_>,
) -> Result<Scan, WorkspaceError> {
    scan_with(upper, Staged::AsItStands, work, history, &mut Verdicts::default(), usize::MAX)
}

/// The same, but what `verdicts` knows is not read, and looking ends once `most` differ.
pub(crate) fn scan_with(
    upper: &Folder,
    staged: Staged<'_>,
    work: Option<&Folder>,
    history: &History<'_>,
    verdicts: &mut Verdicts,
    most: usize,
) -> Result<Scan, WorkspaceError> {
    let mut scan = Scan::default();
    let mut pending = vec![(Relative::root(), Beside::Shown)];
    while let Some((path, beside)) = pending.pop().filter(|_| scan.deltas.len() < most) {
        let Some(pair) = Pair::open(upper, work, path, beside)? else { continue };
        for name in &pair.names {
            if scan.deltas.len() >= most {
                break;
            }
            let path = pair.path.join(name);
            if path.parts().count() > DEEPEST || path.length() > LONGEST {
                scan.skipped.push((path, format!("nested deeper than {DEEPEST} folders")));
                continue;
            }
            let found = pair
                .compare(name, &path, staged, history, verdicts)
                .during("read", || path.text())?;
            match found {
                Found::Nothing => {}
                Found::Skip(why) => scan.skipped.push((path, why)),
                Found::Delta(delta) => scan.deltas.push(delta),
                Found::Folder(delta, beside) => {
                    scan.deltas.extend(delta);
                    pending.push((path, beside));
                }
            }
        }
        pair.hidden(staged, history, &mut scan.deltas).during("read", || pair.path.text())?;
    }
    scan.deltas.sort_by(|one, other| one.path.cmp(&other.path));
    scan.skipped.sort();
    if let Some(work) = work {
        scan.renames = rename::find(upper, work, &scan.deltas, verdicts);
    }
    Ok(scan)
}

/// The result for one name in the upper layer.
enum Found {
    Nothing,
    Skip(String),
    Delta(Delta),
    /// A folder to look into, which may be a change itself.
    Folder(Option<Delta>, Beside),
}

/// The person's folder of the same path as a folder of the upper layer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    /// Its content shows through.
    Shown,
    /// It is there, but the program does not see it: this or a folder above is opaque.
    Hidden,
    Nothing,
}

/// A folder of the upper layer and the person's folder of the same path.
struct Pair {
    path: Relative,
    above: Folder,
    below: Option<Folder>,
    beside: Beside,
    names: Vec<OsString>,
}

impl Pair {
    fn open(
        upper: &Folder,
        work: Option<&Folder>,
        path: Relative,
        beside: Beside,
    ) -> Result<Option<Self>, WorkspaceError> {
        let open = |root: &Folder| match root.walk(&path, Intent::Look) {
            Err(error) if is_gone(&error) => Ok(None),
            other => other.map(Some).during("open", || path.text()),
        };
        let Some(above) = open(upper)? else { return Ok(None) };
        let work = work.filter(|_| beside != Beside::Nothing);
        let below = work.map(open).transpose()?.flatten();
        let names = above.names().during("read", || path.text())?;
        let opaque = !path.is_root() && layer::is_opaque(&above);
        let beside = if opaque && beside == Beside::Shown { Beside::Hidden } else { beside };
        Ok(Some(Self { path, above, below, beside, names }))
    }

    fn compare(
        &self,
        name: &OsStr,
        path: &Relative,
        staged: Staged<'_>,
        history: &History<'_>,
        verdicts: &mut Verdicts,
    ) -> io::Result<Found> {
        let Some(stat) = self.above.stat(name)? else { return Ok(Found::Nothing) };
        let before = match &self.below {
            Some(below) => below.stat(name)?,
            None => None,
        };
        let staged = staged.of(path, &stat);
        let settled = history.is_settled(path, staged, before.as_ref());
        let delta = |after| Delta { path: path.clone(), before, after, staged, settled };
        Ok(match layer::meaning(&self.above, name, &stat) {
            Kind::Whiteout if before.is_none() || settled => Found::Nothing,
            Kind::Whiteout => Found::Delta(delta(None)),
            kind @ (Kind::Pipe | Kind::Socket | Kind::Device) => {
                Found::Skip(format!("it is {}", kind.noun()))
            }
            Kind::Folder => match before {
                Some(before) if before.kind == Kind::Folder => {
                    // One that we made allows less than the program's.
                    let made = || {
                        history.is_new_folder(path)
                            && stat.mode & NEW_FOLDER == before.mode & PERMISSIONS
                    };
                    let same = settled || same_mode(&before, &stat) || made();
                    Found::Folder((!same).then(|| delta(Some(stat))), self.beside)
                }
                Some(_) | None => Found::Folder(Some(delta(Some(stat))), Beside::Nothing),
            },
            Kind::File | Kind::Symlink => {
                if settled || self.is_same(name, before.as_ref(), &stat, verdicts)? {
                    Found::Nothing
                } else {
                    Found::Delta(delta(Some(stat)))
                }
            }
        })
    }

    /// Whether the file or link `name` is the same on both sides.
    fn is_same(
        &self,
        name: &OsStr,
        before: Option<&Stat>,
        after: &Stat,
        verdicts: &mut Verdicts,
    ) -> io::Result<bool> {
        let (Some(below), Some(before)) = (&self.below, before) else { return Ok(false) };
        if before.kind != after.kind || before.size != after.size {
            return Ok(false);
        }
        let compared = if before.kind == Kind::Symlink {
            (|| Ok(below.link_target(name)? == self.above.link_target(name)?))()
        } else if same_mode(before, after) {
            verdicts.same(after, before, || {
                let ((one, _), (other, _)) = (below.open_file(name)?, self.above.open_file(name)?);
                content::same(&one, &other, after.size)
            })
        } else {
            Ok(false)
        };
        match compared {
            // Not to be told apart, so it is shown; applying it says why it cannot be read.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(false),
            // Another kind of thing by now: the next look tells.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(false),
            Err(error) if is_gone(&error) => Ok(true),
            other => other,
        }
    }

    /// The person's entries that the program does not see.
    fn hidden(
        &self,
        staged: Staged<'_>,
        history: &History<'_>,
        deltas: &mut Vec<Delta>,
    ) -> io::Result<()> {
        let Some(below) = &self.below else { return Ok(()) };
        if self.beside != Beside::Hidden {
            return Ok(());
        }
        let staged = staged.of(&self.path, &Stat::of(&self.above, c"")?);
        let seen: HashSet<&OsString> = self.names.iter().collect();
        for name in below.names()?.iter().filter(|name| !seen.contains(name)) {
            let path = self.path.join(name);
            let before = below.stat(name)?;
            if before.is_some() && !history.is_settled(&path, staged, before.as_ref()) {
                deltas.push(Delta { path, before, after: None, staged, settled: false });
            }
        }
        Ok(())
    }
}

fn same_mode(one: &Stat, other: &Stat) -> bool {
    one.mode & PERMISSIONS == other.mode & PERMISSIONS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Scene, put, set_mode};
    use fs_err as fs;
    use rustix::fs::{CWD, Mode, XattrFlags, mkfifoat, setxattr};
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn only_what_differs_is_listed() {
        let scene = Scene::new(&[("a", "one"), ("b", "two"), ("c", "three"), ("d/e", "four")]);
        scene.writes("a", "one").writes("b", "TWO").writes("new", "x").deletes("c");
        scene.deletes("never-was").writes("empty/", "").writes("full/of/it", "y");
        assert_eq!(
            scene.lines(),
            ["changed b", "deleted c", "created empty/", "created full/of/it", "created new"]
        );
    }

    #[test]
    fn kinds_modes_and_targets_count() {
        let files =
            [("f", "x"), ("g", "x"), ("l", "-> a"), ("m", "-> a"), ("d/in", ""), ("e/", "")];
        let scene = Scene::new(&files);
        scene.writes("f", "x").sets_mode("f", 0o755).writes("g", "-> x");
        scene.writes("l", "-> b").writes("m", "-> a");
        scene.writes("d", "now a file").writes("e/", "").sets_mode("e", 0o500);
        assert_eq!(
            scene.lines(),
            ["changed f", "deleted d/", "changed e/", "changed g", "changed l", "created d"]
        );
    }

    #[test]
    fn a_deleted_folder_is_one_line_and_an_opaque_one_hides() {
        let scene =
            Scene::new(&[("gone/a/b", ""), ("new/keep", "k"), ("new/drop", ""), ("new/sub/x", "")]);
        scene.deletes("gone").replaces_folder("new").writes("new/keep", "k").writes("new/more", "");
        assert_eq!(
            scene.lines(),
            ["deleted gone/", "deleted new/drop", "deleted new/sub/", "created new/more"]
        );
    }

    #[test]
    fn what_an_opaque_folder_hides_is_hidden_to_the_bottom() {
        let scene = Scene::new(&[("d/e/f", "x"), ("d/e/g", "x")]);
        scene.replaces_folder("d").writes("d/e/g", "x");
        assert_eq!(scene.lines(), ["deleted d/e/f"]);
    }

    #[test]
    fn a_whiteout_may_be_an_attribute() {
        let scene = Scene::new(&[("a", "x"), ("b", "x")]);
        scene.writes("a", "").writes("b", "");
        let path = scene.set.upper().join("a");
        setxattr(&path, "user.overlay.whiteout", b"", XattrFlags::empty()).unwrap();
        assert_eq!(scene.lines(), ["deleted a", "changed b"]);
    }

    #[test]
    fn names_are_told_exactly() {
        let scene = Scene::new(&[]);
        for name in ["a\nb", "\u{1b}[2J", "..b", "...", "-rf", r"c\x41", " "] {
            scene.writes(name, "x");
        }
        fs::write(scene.set.upper().join(OsStr::from_bytes(b"\xff")), "x").unwrap();
        let paths: Vec<_> =
            scene.set.changes().unwrap().into_iter().map(|file| file.path).collect();
        let told = ["\u{1b}[2J", " ", "-rf", "...", "..b", r"\xff", "a\nb", r"c\x5cx41"];
        assert_eq!(paths, told);
    }

    #[test]
    fn pipes_and_bottomless_folders_are_left_out() {
        let mut scene = Scene::new(&[("here", "x")]);
        scene.writes("plain", "x");
        mkfifoat(CWD, scene.set.upper().join("pipe"), Mode::RWXU).unwrap();
        mkfifoat(CWD, scene.set.upper().join("here"), Mode::RWXU).unwrap();
        let mut at = Folder::open(scene.set.upper(), Intent::Change).unwrap();
        let deep = OsString::from("deep");
        for _ in 0..400 {
            at.create_folder(&deep).unwrap();
            at = at.child(&deep, Intent::Change).unwrap();
        }
        assert_eq!(scene.lines().len(), 2);
        let applied = scene.set.apply(&[], crate::Conflict::Refuse).unwrap();
        assert_eq!(applied.files.len(), 2);
        let why: Vec<_> = applied.left_out.iter().map(|one| one.why.as_str()).collect();
        assert_eq!(why, ["nested deeper than 200 folders", "it is a pipe", "it is a pipe"]);
        assert_eq!(scene.reads("here"), "x");
        assert_eq!(scene.set.discard(&[]).unwrap(), []);
        assert_eq!(fs::read_dir(scene.set.upper()).unwrap().count(), 0);
    }

    #[test]
    fn locked_files_and_folders_are_seen_and_stay_locked() {
        let scene = Scene::new(&[("d/f", "x")]);
        scene.writes("d/f", "y").writes("n/g", "z");
        for path in ["d/f", "d", "n/g", "n"] {
            scene.sets_mode(path, 0o000);
        }
        assert_eq!(scene.lines(), ["changed d/", "changed d/f", "created n/g"]);
        let mode = |path: &str| {
            use std::os::unix::fs::MetadataExt;
            fs::symlink_metadata(scene.set.upper().join(path)).unwrap().mode() & 0o777
        };
        assert_eq!((mode("d"), mode("n")), (0, 0));
        set_mode(&scene.set.upper().join("d"), 0o700);
        assert_eq!(mode("d/f"), 0);
        put(scene.set.upper(), "d/h", "");
    }

    #[test]
    fn a_link_in_the_persons_folder_is_not_followed() {
        let scene = Scene::new(&[("outside/secret", "s"), ("dir", "-> outside")]);
        scene.writes("dir/", "").writes("dir/secret", "s");
        assert_eq!(scene.lines(), ["deleted dir", "created dir/secret"]);
    }
}
