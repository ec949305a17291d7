//! Puts the person's folder back to what it was before an application, or forth again.
//!
//! Every path is examined first: entries that are still as we left them change, entries that are
//! already right stay, and entries that somebody else touched are a conflict. Nothing changes until
//! that is settled and everything new is ready.
//!
//! Redo is undo with the two sides exchanged. Applied files are copied away when they are taken
//! out, so that they can return when the upper layer has changed long ago.

use crate::{
    error::{During, WorkspaceError, is_gone},
    journal::{
        changeover::{Care, Changeover, Move},
        conflict::Conflict,
        durability::Durability,
        log::{Copies, Entry, Journal, State},
        rename::Rename,
        scratch,
    },
    tree::{
        folder::{Folder, Intent, Walker},
        listing::{Applied, Difference, list},
        node::{Attributes, Node, Shape},
        relative::{Relative, bytes_of},
        stat::{Kind, Moment, Stat},
    },
};
use interpreter_core::{FileChange, LeftOut};
use std::{
    collections::HashSet,
    ffi::{OsStr, OsString},
    io,
};

/// Why a folder is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The person wants it back.
    Undo(Conflict),
    /// The person wants it once more.
    Redo(Conflict),
    /// An application, an undo or a redo was interrupted; the person's later changes stay.
    Recovery,
}

impl Reason {
    /// The entries with what the folder is to become as `before`.
    fn sides(self, entries: &[Entry]) -> Vec<Entry> {
        let mut entries = entries.to_vec();
        if matches!(self, Self::Redo(_)) {
            for entry in &mut entries {
                std::mem::swap(&mut entry.before, &mut entry.after);
            }
        }
        entries
    }

    fn conflict(self) -> Option<Conflict> {
        match self {
            Self::Undo(conflict) | Self::Redo(conflict) => Some(conflict),
            Self::Recovery => None,
        }
    }
}

/// Puts back what `journal` changed, or changes it once more, as the set's turn `turn`. The state
/// that it then has is the caller's to set and save.
pub(crate) fn restore(
    work: &Folder,
    journal: &mut Journal,
    reason: Reason,
    turn: u32,
) -> Result<Applied, WorkspaceError> {
    let Ready { moves, places, mut left_out, scratch, durability } =
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

    let done: Vec<_> = moves.iter().filter(|one| !left.contains(&one.path)).collect();
    let files = listing(&done, &journal.renames, reason);
    left_out.extend(left.iter().map(|path| path.left_out("its folder was changed")));
    left_out.sort();
    Ok(Applied { files, left_out })
}

fn listing(done: &[&Move], renames: &[Rename], reason: Reason) -> Vec<FileChange> {
    let has = |path: &Relative| done.binary_search_by(|one| one.path.cmp(path)).is_ok();
    let renames: Vec<_> = renames
        .iter()
        .map(|rename| match reason {
            Reason::Undo(_) | Reason::Recovery => rename.reversed(),
            Reason::Redo(_) => rename.clone(),
        })
        .filter(|rename| has(&rename.from) && has(&rename.to))
        .collect();
    let differences = done.iter().map(|one| {
        let (before, after) = (one.now.map(|now| now.kind), one.to.as_ref().map(Node::kind));
        Difference { path: &one.path, before, after }
    });
    list(differences, &renames)
}

/// Everything that it takes to put a folder back.
pub(crate) struct Ready {
    /// The moves to make.
    pub(crate) moves: Vec<Move>,
    /// Where in the journal each of it stands.
    places: Vec<usize>,
    left_out: Vec<LeftOut>,
    /// Where what comes back lies.
    pub(crate) scratch: Folder,
    durability: Durability,
}

/// Looks, refuses conflicts, writes the journal, and lays ready what comes back.
pub(crate) fn prepare(
    work: &Folder,
    journal: &mut Journal,
    reason: Reason,
    turn: u32,
) -> Result<Ready, WorkspaceError> {
    let sides = reason.sides(&journal.entries);
    let Restoration { moves, left_out, .. } = Restoration::plan(work, &sides, reason)?;
    let (moves, places): (Vec<_>, Vec<_>) = moves.into_iter().unzip();
    let durability = Durability::for_files(moves.len());
    let earlier = (journal.state, journal.turn, journal.at, journal.copies);
    let name = scratch::name();
    let mut ready = || -> Result<Folder, WorkspaceError> {
        if let Reason::Undo(_) = reason {
            journal.copies = keep_applied(work, journal, durability)?;
        }
        journal.scratch = Some(name.clone());
        (journal.turn, journal.at) = (turn, Some(Moment::now()));
        journal.state = match reason {
            // From here on the undo is finished, not forgotten, if it is interrupted.
            Reason::Undo(_) => State::Undoing,
            Reason::Redo(_) => State::Redoing,
            Reason::Recovery => journal.state,
        };
        lay_ready(work, journal, &name, &moves, reason, durability)
    };
    match ready() {
        Ok(scratch) => Ok(Ready { moves, places, left_out, scratch, durability }),
        Err(error) => {
            (journal.state, journal.turn, journal.at, journal.copies) = earlier;
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
    reason: Reason,
    durability: Durability,
) -> Result<Folder, WorkspaceError> {
    journal.save()?;
    let backups = match reason {
        Reason::Undo(_) | Reason::Recovery => journal.backups()?,
        Reason::Redo(_) => journal.applied()?,
    };
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

/// Copies what was applied, as it stands in the person's folder, so that it can be redone. If some
/// of it is not there any more it cannot, and nothing is kept of it.
fn keep_applied(
    work: &Folder,
    journal: &Journal,
    durability: Durability,
) -> Result<Copies, WorkspaceError> {
    let applied = journal.make_applied()?;
    let mut work = Walker::new(work, Intent::Look);
    for (place, entry) in journal.entries.iter().enumerate() {
        let Some(node) = entry.after.as_ref().filter(|node| node.kind() == Kind::File) else {
            continue;
        };
        let mut keep = || -> io::Result<bool> {
            let file = applied.create_file(OsStr::new(&place.to_string()))?;
            let parent = work.at(entry.path.parent())?;
            let (shape, _) = Shape::of_copy(parent, entry.path.name(), &file, &Attributes::Its)?;
            durability.file(&file)?;
            Ok(shape == node.shape)
        };
        match keep() {
            Ok(true) => {}
            Err(error) if !is_gone(&error) && error.kind() != io::ErrorKind::InvalidInput => {
                return Err(error).during("keep a copy of", || entry.path.text());
            }
            Ok(false) | Err(_) => {
                journal.make_applied()?;
                return Ok(Copies::Before);
            }
        }
    }
    durability.barrier(&applied).during("sync", String::new)?;
    Ok(Copies::Both)
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
            let file = scratch.create_file(name)?;
            let (shape, _) = Shape::of_copy(backups, name, &file, &Attributes::Its)?;
            if shape != node.shape {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "the saved copy is damaged",
                ));
            }
            node.dress(&file)?;
            durability.file(&file)
        }
    }
}

/// The steps to restore everything.
struct Restoration<'a> {
    entries: &'a [Entry],
    reason: Reason,
    /// The folders that come back.
    returning: HashSet<&'a Relative>,
    /// The paths that will be gone.
    leaving: HashSet<&'a Relative>,
    /// The moves, each with the place of its entry.
    moves: Vec<(Move, usize)>,
    left_out: Vec<LeftOut>,
    conflicts: Vec<String>,
}

/// The treatment of one entry.
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
            left_out: Vec::new(),
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
            verdict = Verdict::Touched("it contains something else now");
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
                self.left_out.push(entry.path.left_out(why));
            }
            Verdict::Touched(_) if self.reason.conflict() == Some(Conflict::Refuse) => {
                self.conflicts.push(entry.path.text());
            }
            Verdict::Touched(why) => self.left_out.push(entry.path.left_out(why)),
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
        Ok(match (self.reason.conflict(), now) {
            (Some(Conflict::Overwrite), Some(now)) if now.kind == Kind::Folder => {
                Verdict::Touched("it is a folder now")
            }
            // When it was interrupted, the one may be gone and the other not yet there.
            (Some(Conflict::Overwrite), _) | (None, None) => Verdict::Move,
            (None | Some(Conflict::Refuse), _) => Verdict::Touched("it has changed since"),
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
    use crate::{
        Conflict, Set, WorkspaceError,
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
            ["changed a", "deleted l/", "deleted n/", "created b", "created c/d/e", "created l"]
        );
        assert_eq!(undone.left_out, []);
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
    fn what_was_undone_can_be_redone_when_nothing_else_has_it() {
        let mut scene = Scene::new(&[("a", "1"), ("gone", "x"), ("d/e", "x"), ("l", "-> a")]);
        scene
            .writes("a", "2")
            .deletes("gone")
            .deletes("d")
            .writes("n/tool", "t")
            .writes("l", "-> n");
        scene.sets_mode("n/tool", 0o755);
        scene.apply();
        let applied = scene.holds();
        scene.writes("a", "3");
        scene.apply();
        for _ in 0..2 {
            scene.set.undo(Conflict::Refuse).unwrap();
        }
        let before = scene.holds();
        scene.set.discard(&[]).unwrap();
        let mut scene = scene.reopen();
        let redone = scene.set.redo(Conflict::Refuse).unwrap();
        let lines: Vec<_> = redone.files.iter().map(line).collect();
        assert_eq!(
            lines,
            ["created n/tool", "changed a", "deleted d/", "deleted gone", "changed l"]
        );
        assert_eq!(scene.holds(), applied);
        scene.set.redo(Conflict::Refuse).unwrap();
        assert_eq!(scene.reads("a"), "3");
        let nothing = scene.set.redo(Conflict::Refuse);
        assert!(matches!(nothing, Err(WorkspaceError::NothingUndone { .. })));
        assert_eq!(scene.lines(), Vec::<String>::new());
        // And back, as often as wanted.
        scene.set.undo(Conflict::Refuse).unwrap();
        assert_eq!(scene.holds(), applied);
        scene.set.undo(Conflict::Refuse).unwrap();
        assert_eq!(scene.holds(), before);
    }

    #[test]
    fn redoing_over_the_persons_change_is_a_conflict() {
        let mut scene = Scene::new(&[("a", "1"), ("b", "1")]);
        scene.writes("a", "2").writes("b", "2");
        scene.apply();
        scene.set.undo(Conflict::Refuse).unwrap();
        scene.person_writes("a", "mine");
        let Err(WorkspaceError::Conflict { paths }) = scene.set.redo(Conflict::Refuse) else {
            panic!("it overwrote")
        };
        assert_eq!(
            (paths, scene.reads("a"), scene.reads("b")),
            (vec!["a".into()], "mine".into(), "1".into())
        );
        scene.set.redo(Conflict::Overwrite).unwrap();
        assert_eq!(scene.reads("a") + &scene.reads("b"), "22");
    }

    #[test]
    fn what_is_not_all_there_any_more_cannot_be_redone() {
        let mut scene = Scene::new(&[("a", "1")]);
        scene.writes("a", "2").writes("b", "2");
        scene.apply();
        fs::remove_file(scene.work.join("b")).unwrap();
        scene.set.undo(Conflict::Refuse).unwrap();
        assert_eq!(scene.reads("a"), "1");
        let nothing = scene.set.redo(Conflict::Refuse);
        assert!(matches!(nothing, Err(WorkspaceError::NothingUndone { .. })));
        // It is still staged, though.
        assert_eq!(scene.apply(), ["changed a", "created b"]);
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
            undone.left_out.iter().map(|one| one.path.as_str()).collect::<Vec<_>>(),
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
        assert_eq!(undone.left_out.len(), 2);
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

    /// Attacks on a journal that code can write to, and the file that the error names.
    #[test]
    fn an_edited_journal_or_backup_is_refused_and_nothing_changes() {
        use interpreter_core::hash::sha256;
        for edited in ["backup", "backup and manifest", "description", "none"] {
            let mut scene = Scene::new(&[(".bashrc", "mine\n"), ("b", "x")]);
            scene.writes(".bashrc", "good\n").writes("b", "y");
            scene.apply();
            let folder = scene.set.folder.clone();
            let (changes, id) = (scene.changes.clone(), scene.set.id().to_owned());
            let (work, applied) = (scene.work.clone(), scene.holds());
            let (set, _room) = scene.without_set();
            drop(set);
            let journal = folder.join("applied/1");
            if edited.starts_with("backup") {
                fs::write(journal.join("before/0"), "evil\n").unwrap();
            }
            if edited == "backup and manifest" {
                let path = journal.join("manifest.json");
                let text = fs::read_to_string(&path).unwrap();
                let forged = text.replace(&sha256(b"mine\n"), &sha256(b"evil\n"));
                assert_ne!(text, forged);
                fs::write(&path, forged).unwrap();
            }
            if edited == "description" {
                let path = folder.join("set.json");
                let text = fs::read_to_string(&path).unwrap();
                fs::write(&path, text.replace("/work\"", "/elsewhere\"")).unwrap();
            }
            let undone = Set::open(&changes, &id).and_then(|mut set| set.undo(Conflict::Overwrite));
            let holds = crate::scene::snapshot(&work);
            if edited == "none" {
                undone.unwrap();
                assert_ne!(holds, applied);
                continue;
            }
            let said = undone.unwrap_err();
            let named = match edited {
                "backup" => ".bashrc",
                "description" => "set.json",
                _ => "applied/1/manifest.json",
            };
            assert!(said.to_string().contains(named), "{edited}: {said}");
            assert_eq!(holds, applied, "{edited}");
        }
    }
}
