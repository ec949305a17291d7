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

/// Puts back what `journal` changed. Its state is the caller's to set and save afterwards.
pub(super) fn restore(
    work: &Folder,
    journal: &mut Journal,
    reason: Reason,
) -> Result<Applied, WorkspaceError> {
    let restoration = Restoration::plan(work, &journal.entries, reason)?;
    let mut skipped = restoration.skipped;
    let (moves, places): (Vec<_>, Vec<_>) = restoration.moves.into_iter().unzip();

    let earlier = journal.state;
    let name = scratch::name();
    journal.scratch = Some(name.clone());
    if earlier == State::Applied {
        // From here on the undo is finished, not forgotten, if it is interrupted.
        journal.state = State::Undoing;
    }
    let durability = Durability::for_files(moves.len());
    let prepared = prepare(work, journal, &name, &moves, durability);
    let scratch = match prepared {
        Ok(scratch) => scratch,
        Err(error) => {
            journal.state = earlier;
            // The first error is the one to report; a folder left behind is removed next time.
            scratch::remove(work, &name).and_then(|()| journal.save()).ok();
            return Err(error);
        }
    };
    let mut changeover = Changeover::new(work, &scratch, &moves, Care::Tolerant);
    changeover.perform_all()?;
    let left = std::mem::take(&mut changeover.left);
    let stamps = changeover.finish(durability)?;
    for (place, stamp) in places.into_iter().zip(stamps) {
        journal.entries[place].left = stamp;
    }
    scratch::remove(work, &name)?;
    journal.scratch = None;
    durability.barrier(work).during("sync", String::new)?;

    let files = list(moves.iter().filter(|one| !left.contains(&one.path)).map(|one| {
        let (before, after) = (one.now.map(|now| now.kind), one.to.as_ref().map(Node::kind));
        Difference { path: &one.path, before, after }
    }));
    skipped.extend(left.iter().map(|path| (path.text(), "its folder was changed".to_owned())));
    skipped.sort();
    Ok(Applied { files, skipped })
}

/// Writes the journal, and makes everything that comes back ready for its rename.
fn prepare(
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
    fn plan(
        work: &Folder,
        entries: &'a [Entry],
        reason: Reason,
    ) -> Result<Self, WorkspaceError> {
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
        let now = match parent {
            Some(parent) => parent.stat(entry.path.name())?,
            None => None,
        };
        let mut verdict = self.judge(entry, parent, now.as_ref())?;
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
            // A folder of ours in which the person works now stays theirs: nothing is lost.
            Verdict::Touched(why)
                if self.reason == Reason::Undo(Conflict::Refuse)
                    && !(entry.before.is_none() && is_folder(entry.after.as_ref())) =>
            {
                let _ = why;
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
        let comes_back = entry.before.is_some();
        if parent.is_none() && comes_back && !self.returning.contains(&entry.path.parent()) {
            return Ok(Verdict::Touched("the folder it was in is gone"));
        }
        let untouched = entry.left.is_some() && entry.left == now.map(Stat::stamp);
        if untouched || is(entry.after.as_ref())? {
            return Ok(Verdict::Move);
        }
        Ok(match (self.reason, now) {
            // Between the removal of the one and the coming of the other.
            (Reason::Recovery, None) => Verdict::Move,
            (Reason::Undo(Conflict::Overwrite), Some(now)) if now.kind == Kind::Folder => {
                Verdict::Touched("it is a folder now")
            }
            (Reason::Undo(Conflict::Overwrite), _) => Verdict::Move,
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
