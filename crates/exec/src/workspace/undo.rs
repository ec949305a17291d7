//! Puts the person's folder back to what it was before an application.
//!
//! Every path is first looked at: what is still as we left it is put back, what is as it was
//! before is left, and what somebody else has touched is a conflict. Nothing changes until that
//! is settled and everything that comes back lies ready.

use super::{
    changeover::{Care, Changeover, Move},
    conflict::Conflict,
    durability::Durability,
    error::{During, WorkspaceError, is_gone},
    folder::{Folder, Intent, Walker},
    journal::{Entry, Journal, State},
    listing::{Applied, Difference, list},
    node::{Node, Shape},
    relative::{Relative, bytes_of},
    scratch,
    stat::{Kind, Stat},
};
use std::{
    collections::HashSet,
    ffi::{OsStr, OsString},
    io,
};

/// Why a folder is put back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// The person asked.
    Undo(Conflict),
    /// An application, or an undo, was interrupted; what the person did since then stands.
    Recovery,
}

/// Puts back what `journal` changed, as the set's turn `turn`. The state that it then has is the
/// caller's to set and save.
pub(super) fn restore(
    work: &Folder,
    journal: &mut Journal,
    reason: Reason,
    turn: u32,
) -> Result<Applied, WorkspaceError> {
    let Ready { moves, places, mut skipped, scratch, durability } =
        prepare(work, journal, reason, turn)?;
    let mut changeover = Changeover::new(work, &scratch, &moves, Care::Tolerant);
    changeover.perform_all()?;
    let left = std::mem::take(&mut changeover.left);
    let stamps = changeover.finish(durability)?;
    for (place, stamp) in places.into_iter().zip(stamps) {
        journal.entries[place].left = stamp;
    }
    if let Some(name) = journal.scratch.take() {
        scratch::remove(work, &name)?;
    }
    durability.barrier(work).during("sync", String::new)?;

    let files = list(moves.iter().filter(|one| !left.contains(&one.path)).map(|one| {
        let (before, after) = (one.now.map(|now| now.kind), one.to.as_ref().map(Node::kind));
        Difference { path: &one.path, before, after }
    }));
    skipped.extend(left.iter().map(|path| (path.text(), "its folder was changed".to_owned())));
    skipped.sort();
    Ok(Applied { files, skipped })
}

/// Everything that it takes to put a folder back.
pub(super) struct Ready {
    /// What is to be done.
    pub(super) moves: Vec<Move>,
    /// Where in the journal each of it stands.
    places: Vec<usize>,
    skipped: Vec<(String, String)>,
    /// Where what comes back lies.
    pub(super) scratch: Folder,
    durability: Durability,
}

/// Looks, refuses conflicts, writes the journal, and lays ready what comes back.
pub(super) fn prepare(
    work: &Folder,
    journal: &mut Journal,
    reason: Reason,
    turn: u32,
) -> Result<Ready, WorkspaceError> {
    let Restoration { moves, skipped, .. } = Restoration::plan(work, &journal.entries, reason)?;
    let (moves, places): (Vec<_>, Vec<_>) = moves.into_iter().unzip();
    let durability = Durability::for_files(moves.len());
    let earlier = (journal.state, journal.turn);
    let name = scratch::name();
    journal.scratch = Some(name.clone());
    journal.turn = turn;
    if journal.state == State::Applied {
        // From here on the undo is finished, not forgotten, if it is interrupted.
        journal.state = State::Undoing;
    }
    match lay_ready(work, journal, &name, &moves, durability) {
        Ok(scratch) => Ok(Ready { moves, places, skipped, scratch, durability }),
        Err(error) => {
            (journal.state, journal.turn) = earlier;
            // The first error is the one to report; a folder left behind is removed next time.
            if scratch::remove(work, &name).is_ok() {
                journal.scratch = None;
            }
            journal.save().ok();
            Err(error)
        }
    }
}

fn lay_ready(
    work: &Folder,
    journal: &mut Journal,
    name: &str,
    moves: &[Move],
    durability: Durability,
) -> Result<Folder, WorkspaceError> {
    journal.save()?;
    let backups = journal.backups()?;
    let scratch = scratch::create(work, name)?;
    for one in moves {
        if let Some(node) = &one.to {
            ready(&backups, &scratch, &one.prepared, node, durability)
                .during("bring back", || one.path.text())?;
        }
    }
    durability.barrier(&scratch).during("sync", String::new)?;
    Ok(scratch)
}

fn ready(
    backups: &Folder,
    scratch: &Folder,
    name: &OsStr,
    node: &Node,
    durability: Durability,
) -> io::Result<()> {
    match &node.shape {
        Shape::Folder => Ok(()),
        Shape::Symlink { target } => {
            scratch.create_link(name, &bytes_of(target))?;
            node.dress_link(scratch, name)
        }
        Shape::File { .. } => {
            let mut file = scratch.create_file(name)?;
            let (shape, _) = Shape::of_copy(backups, name, &mut file)?;
            if shape != node.shape {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "the copy that was kept is damaged",
                ));
            }
            node.dress(&file)?;
            durability.file(&file)
        }
    }
}

/// What has to be done to put everything back.
struct Restoration<'a> {
    entries: &'a [Entry],
    reason: Reason,
    /// The folders that come back.
    returning: HashSet<&'a Relative>,
    /// What will be gone.
    leaving: HashSet<&'a Relative>,
    /// The moves, each with the place of its entry.
    moves: Vec<(Move, usize)>,
    skipped: Vec<(String, String)>,
    conflicts: Vec<String>,
}

/// What to do about one entry.
enum Verdict {
    Nothing,
    Move,
    Touched(&'static str),
}

impl<'a> Restoration<'a> {
    fn plan(work: &Folder, entries: &'a [Entry], reason: Reason) -> Result<Self, WorkspaceError> {
        let is_folder = |entry: &&Entry| is_folder(entry.before.as_ref());
        let mut plan = Self {
            entries,
            reason,
            returning: entries.iter().filter(is_folder).map(|entry| &entry.path).collect(),
            leaving: HashSet::new(),
            moves: Vec::new(),
            skipped: Vec::new(),
            conflicts: Vec::new(),
        };
        let mut work = Walker::new(work, Intent::Look);
        // Backwards, so that what is in a folder is settled before the folder.
        for place in (0..entries.len()).rev() {
            plan.look(&mut work, place).during("read", || entries[place].path.text())?;
        }
        plan.moves.reverse();
        if plan.conflicts.is_empty() {
            Ok(plan)
        } else {
            plan.conflicts.reverse();
            Err(WorkspaceError::Conflict { paths: plan.conflicts })
        }
    }

    fn look(&mut self, work: &mut Walker<'_>, place: usize) -> io::Result<()> {
        let entry = &self.entries[place];
        let parent = match work.at(entry.path.parent()) {
            Ok(parent) => Some(parent),
            Err(error) if is_gone(&error) => None,
            Err(error) => return Err(error),
        };
        let look = || parent.map_or(Ok(None), |parent| parent.stat(entry.path.name()));
        let mut now = look()?;
        let mut verdict = self.judge(entry, parent, now.as_ref())?;
        if now.is_some_and(|now| now.mode & 0o400 == 0) {
            // Reading what is locked unlocks it for a moment, which changes its times.
            now = look()?;
        }
        if let (Verdict::Move, Some(parent), Some(Kind::Folder)) =
            (&verdict, parent, now.map(|now| now.kind))
            && !is_folder(entry.before.as_ref())
            && !self.can_go(&entry.path, &parent.child(entry.path.name(), Intent::Look)?)?
        {
            verdict = Verdict::Touched("there is something else in it now");
        }
        match verdict {
            Verdict::Nothing => {}
            Verdict::Move => {
                if entry.before.is_none() {
                    self.leaving.insert(&entry.path);
                }
                let path = entry.path.clone();
                let prepared = OsString::from(place.to_string());
                self.moves.push((Move { path, now, to: entry.before.clone(), prepared }, place));
            }
            // A folder of ours in which the person works now stays, and is theirs.
            Verdict::Touched(why) if entry.before.is_none() && is_folder(entry.after.as_ref()) => {
                self.skipped.push((entry.path.text(), why.to_owned()));
            }
            Verdict::Touched(_) if self.reason == Reason::Undo(Conflict::Refuse) => {
                self.conflicts.push(entry.path.text());
            }
            Verdict::Touched(why) => self.skipped.push((entry.path.text(), why.to_owned())),
        }
        Ok(())
    }

    fn judge(
        &self,
        entry: &Entry,
        parent: Option<&Folder>,
        now: Option<&Stat>,
    ) -> io::Result<Verdict> {
        let is = |node: Option<&Node>| match (node, parent, now) {
            (None, _, None) => Ok(true),
            (Some(node), Some(parent), Some(now)) => node.is(parent, entry.path.name(), now),
            (None, _, Some(_)) | (Some(_), _, _) => Ok(false),
        };
        let has_mode = |node: &Node| {
            node.kind() == Kind::Symlink || now.is_some_and(|now| now.mode == node.mode)
        };
        if entry.before.as_ref().is_none_or(has_mode) && is(entry.before.as_ref())? {
            return Ok(Verdict::Nothing);
        }
        if is_folder(entry.before.as_ref()) && now.is_some_and(|now| now.kind == Kind::Folder) {
            // Ours or not, it is there. It gets its mode back if we changed it, or may have been
            // stopped before we gave it back.
            let ours = is_folder(entry.after.as_ref()) || self.reason == Reason::Recovery;
            return Ok(if ours { Verdict::Move } else { Verdict::Nothing });
        }
        let comes_back = entry.before.is_some();
        if parent.is_none() && comes_back && !self.returning.contains(&entry.path.parent()) {
            return Ok(Verdict::Touched("the folder it was in is gone"));
        }
        let untouched = entry.left.is_some() && entry.left == now.map(Stat::stamp);
        if untouched || is(entry.after.as_ref())? {
            return Ok(Verdict::Move);
        }
        Ok(match (self.reason, now) {
            (Reason::Undo(Conflict::Overwrite), Some(now)) if now.kind == Kind::Folder => {
                Verdict::Touched("it is a folder now")
            }
            // When it was interrupted, the one may be gone and the other not yet there.
            (Reason::Undo(Conflict::Overwrite), _) | (Reason::Recovery, None) => Verdict::Move,
            (Reason::Recovery | Reason::Undo(Conflict::Refuse), _) => {
                Verdict::Touched("it was changed since")
            }
        })
    }

    /// Whether everything in a folder of ours goes.
    fn can_go(&self, path: &Relative, folder: &Folder) -> io::Result<bool> {
        let names = folder.names()?;
        Ok(names.iter().all(|name| self.leaving.contains(&path.join(name))))
    }
}

fn is_folder(node: Option<&Node>) -> bool {
    node.is_some_and(|node| node.kind() == Kind::Folder)
}

#[cfg(test)]
mod tests {
    use super::super::{
        Conflict, WorkspaceError,
        scene::{Scene, line, set_mode},
    };
    use fs_err as fs;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn undo_gives_back_what_was_there() {
        let mut scene = Scene::new(&[("a", "old"), ("b", "x"), ("c/d/e", "x"), ("l", "-> a")]);
        set_mode(&scene.work.join("b"), 0o640);
        set_mode(&scene.work.join("c/d"), 0o2750);
        let before = scene.holds();
        let time = fs::metadata(scene.work.join("b")).unwrap().mtime_nsec();
        scene.writes("a", "-> b").deletes("c").writes("l/in/side", "y").writes("n/m", "y");
        scene.deletes("b");
        scene.set.apply(&[], Conflict::Overwrite).unwrap();
        let undone = scene.set.undo(Conflict::Refuse).unwrap();
        let lines: Vec<_> = undone.files.iter().map(line).collect();
        assert_eq!(
            lines,
            ["changed a", "created b", "created c/d/e", "created l", "deleted l/", "deleted n/"]
        );
        assert_eq!(undone.skipped, []);
        assert_eq!(scene.holds(), before);
        assert_eq!(fs::metadata(scene.work.join("b")).unwrap().mtime_nsec(), time);
        assert!(matches!(
            scene.set.undo(Conflict::Refuse),
            Err(WorkspaceError::NothingApplied { .. })
        ));
    }

    #[test]
    fn applications_are_undone_newest_first_and_can_be_applied_again() {
        let mut scene = Scene::new(&[("a", "1")]);
        scene.writes("a", "2");
        scene.apply();
        scene.writes("a", "3").writes("b", "3");
        scene.apply();
        scene.set.undo(Conflict::Refuse).unwrap();
        assert_eq!(scene.reads("a"), "2");
        scene.set.undo(Conflict::Refuse).unwrap();
        assert_eq!(scene.reads("a"), "1");
        assert_eq!(scene.lines(), ["changed a", "created b"]);
        assert_eq!(scene.apply(), ["changed a", "created b"]);
        assert_eq!(scene.reads("a"), "3");
    }

    #[test]
    fn what_was_changed_since_is_a_conflict() {
        let mut scene = Scene::new(&[("a", "1"), ("b", "1"), ("c", "1")]);
        scene.writes("a", "2").deletes("b").writes("c", "2").writes("n", "2");
        scene.apply();
        scene.person_writes("a", "mine");
        scene.person_writes("b", "mine");
        fs::remove_file(scene.work.join("n")).unwrap();
        let before = scene.holds();
        let Err(WorkspaceError::Conflict { paths }) = scene.set.undo(Conflict::Refuse) else {
            panic!("it overwrote")
        };
        assert_eq!(paths, ["a", "b"]);
        assert_eq!(scene.holds(), before);
        scene.set.undo(Conflict::Overwrite).unwrap();
        assert_eq!(scene.reads("a") + &scene.reads("b") + &scene.reads("c"), "111");
    }

    #[test]
    fn a_folder_the_person_uses_now_stays() {
        let mut scene = Scene::new(&[("was-file", "1")]);
        scene.writes("n/sub/f", "2").writes("was-file/g", "2");
        scene.apply();
        scene.person_writes("n/sub/mine", "mine");
        let undone = scene.set.undo(Conflict::Refuse).unwrap();
        assert_eq!(
            undone.skipped.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(),
            ["n", "n/sub"]
        );
        assert_eq!(scene.reads("n/sub/mine"), "mine");
        assert_eq!((scene.holds().len(), scene.reads("was-file")), (4, "1".into()));
    }

    #[test]
    fn a_file_cannot_come_back_over_the_persons_folder() {
        let mut scene = Scene::new(&[("x", "1"), ("d/f", "1")]);
        scene.writes("x/g", "2").writes("d/f", "2");
        scene.apply();
        scene.person_writes("x/mine", "mine");
        fs::remove_dir_all(scene.work.join("d")).unwrap();
        let Err(WorkspaceError::Conflict { paths }) = scene.set.undo(Conflict::Refuse) else {
            panic!("it overwrote")
        };
        assert_eq!(paths, ["d/f", "x"]);
        let undone = scene.set.undo(Conflict::Overwrite).unwrap();
        assert_eq!(undone.skipped.len(), 2);
        assert_eq!(scene.reads("x/mine"), "mine");
        assert!(!scene.work.join("x/g").exists() && !scene.work.join("d").exists());
    }

    #[test]
    fn a_link_put_in_the_way_is_not_followed() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("f"), "theirs").unwrap();
        let mut scene = Scene::new(&[("d/f", "1")]);
        scene.writes("d/f", "2");
        scene.apply();
        fs::remove_dir_all(scene.work.join("d")).unwrap();
        std::os::unix::fs::symlink(outside.path(), scene.work.join("d")).unwrap();
        assert!(scene.set.undo(Conflict::Refuse).is_err());
        assert_eq!(scene.set.undo(Conflict::Overwrite).unwrap().files, []);
        assert_eq!(fs::read_to_string(outside.path().join("f")).unwrap(), "theirs");
    }

    #[test]
    fn a_damaged_copy_is_not_brought_back() {
        let mut scene = Scene::new(&[("a", "1")]);
        scene.writes("a", "2");
        scene.apply();
        fs::write(scene.set.folder.join("applied/1/before/0"), "forged").unwrap();
        assert!(scene.set.undo(Conflict::Refuse).is_err());
        assert_eq!(scene.reads("a"), "2");
        assert_eq!(scene.holds().len(), 1);
    }
}
