//! Brings the person's folder from what it is to what it is to be.
//!
//! The same for applying and for taking back: everything new lies ready in the scratch folder, so
//! what remains are removals, new folders, renames and modes, in an order that works for every
//! mixture of them. Each step first looks whether the entry is still the one that was looked at
//! before.

use crate::{
    error::{During, WorkspaceError, is_gone},
    journal::durability::Durability,
    tree::{
        folder::{Folder, Intent, Walker},
        node::Node,
        relative::Relative,
        stat::{Kind, Stamp, Stat},
    },
};
use rustix::io::Errno;
use std::{
    collections::{BTreeSet, HashSet},
    ffi::OsString,
    io,
};

/// One entry to be changed.
#[derive(Debug)]
pub(crate) struct Move {
    pub(crate) path: Relative,
    pub(crate) now: Option<Stat>,
    pub(crate) to: Option<Node>,
    /// The name in the scratch folder, if it is to be a file or link.
    pub(crate) prepared: OsString,
}

impl Move {
    fn is_folder_now(&self) -> bool {
        self.now.is_some_and(|now| now.kind == Kind::Folder)
    }

    fn becomes_folder(&self) -> bool {
        self.to.as_ref().is_some_and(|to| to.kind() == Kind::Folder)
    }
}

/// How to treat a folder that somebody has changed in the meantime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Care {
    /// Stop: it is a conflict.
    Strict,
    /// Leave it, and go on with the rest.
    Tolerant,
}

/// One step; the number is the move's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Take away what is there.
    Remove(usize),
    Make(usize),
    /// Put a file or link in place.
    Place(usize),
    /// Give a folder its mode and time, after everything in it is done.
    Dress(usize),
}

/// The steps for `moves`, which are sorted by path, in the order they must be done.
pub(crate) fn steps(moves: &[Move]) -> Vec<Step> {
    let removed = |one: &Move| {
        one.now.is_some() && (one.to.is_none() || one.is_folder_now() != one.becomes_folder())
    };
    let all = || moves.iter().enumerate();
    let removals = all().rev().filter(|(_, one)| removed(one)).map(|(at, _)| Step::Remove(at));
    let makes = all()
        .filter(|(_, one)| one.becomes_folder() && !one.is_folder_now())
        .map(|(at, _)| Step::Make(at));
    let places = all()
        .filter(|(_, one)| one.to.is_some() && !one.becomes_folder())
        .map(|(at, _)| Step::Place(at));
    let dressings =
        all().rev().filter(|(_, one)| one.becomes_folder()).map(|(at, _)| Step::Dress(at));
    removals.chain(makes).chain(places).chain(dressings).collect()
}

#[derive(Debug)]
pub(crate) struct Changeover<'a> {
    work: Walker<'a>,
    scratch: &'a Folder,
    moves: &'a [Move],
    care: Care,
    /// Entries that had to be left as they are.
    pub(crate) left: BTreeSet<&'a Relative>,
    /// Files that lost a name through us, which changes the times of their other names.
    unlinked: HashSet<u64>,
}

impl<'a> Changeover<'a> {
    /// Begins to make `moves` in `work`.
    pub(crate) fn new(
        work: &'a Folder,
        scratch: &'a Folder,
        moves: &'a [Move],
        care: Care,
    ) -> Self {
        let work = Walker::new(work, Intent::Change);
        Self { work, scratch, moves, care, left: BTreeSet::new(), unlinked: HashSet::new() }
    }

    /// Makes all of them.
    pub(crate) fn perform_all(&mut self) -> Result<(), WorkspaceError> {
        steps(self.moves).into_iter().try_for_each(|step| self.perform(step))
    }

    pub(crate) fn perform(&mut self, step: Step) -> Result<(), WorkspaceError> {
        let (at, action) = match step {
            Step::Remove(at) => (at, "remove"),
            Step::Make(at) => (at, "create"),
            Step::Place(at) => (at, "write"),
            Step::Dress(at) => (at, "set the mode of"),
        };
        let one = &self.moves[at];
        let done = match step {
            Step::Remove(_) => self.remove(one),
            Step::Make(_) => self.make(one),
            Step::Place(_) => self.place(one),
            Step::Dress(_) => self.dress(one),
        };
        match done {
            Ok(Outcome::Done) => Ok(()),
            Ok(Outcome::Left) => {
                self.left.insert(&one.path);
                Ok(())
            }
            Ok(Outcome::Touched) => Err(WorkspaceError::Conflict { paths: vec![one.path.text()] }),
            Err(error) if self.care == Care::Tolerant && is_gone(&error) => {
                self.left.insert(&one.path);
                Ok(())
            }
            Err(error) => Err(error).during(action, || one.path.text()),
        }
    }

    fn remove(&mut self, one: &Move) -> io::Result<Outcome> {
        let care = self.care;
        let parent = self.work.at(one.path.parent())?;
        let name = one.path.name();
        let Some(now) = parent.stat(name)? else { return Ok(Outcome::Done) };
        if !is_still(one.now.as_ref(), &now, &self.unlinked) {
            return Ok(Outcome::Touched);
        }
        if now.kind != Kind::Folder {
            self.unlinked.insert(now.inode);
            return parent.unlink(name).map(|()| Outcome::Done);
        }
        match (parent.remove_folder(name), care) {
            (Ok(()), _) => Ok(Outcome::Done),
            (Err(error), Care::Strict) if is_full(&error) => Ok(Outcome::Touched),
            (Err(error), Care::Tolerant) if is_full(&error) => Ok(Outcome::Left),
            (Err(error), _) => Err(error),
        }
    }

    fn make(&mut self, one: &Move) -> io::Result<Outcome> {
        let parent = self.work.at(one.path.parent())?;
        let name = one.path.name();
        let made = parent.create_folder(name);
        let outcome = match made {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                match parent.stat(name)? {
                    Some(now) if now.kind == Kind::Folder => Ok(Outcome::Done),
                    Some(_) | None => Ok(Outcome::Touched),
                }
            }
            other => other.map(|()| Outcome::Done),
        };
        // A folder of this path that was open before was another one.
        self.work.forget();
        outcome
    }

    fn place(&mut self, one: &Move) -> io::Result<Outcome> {
        let parent = self.work.at(one.path.parent())?;
        let name = one.path.name();
        if one.now.is_none() || one.is_folder_now() {
            return match self.scratch.rename_new(&one.prepared, parent, name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(Outcome::Touched),
                other => other.map(|()| Outcome::Done),
            };
        }
        match parent.stat(name)? {
            Some(now) if !is_still(one.now.as_ref(), &now, &self.unlinked) => Ok(Outcome::Touched),
            now => {
                self.unlinked.extend(now.map(|now| now.inode));
                self.scratch.rename(&one.prepared, parent, name).map(|()| Outcome::Done)
            }
        }
    }

    fn dress(&mut self, one: &Move) -> io::Result<Outcome> {
        let node = one.to.as_ref().expect("only what is to be there is dressed");
        let handle = self.work.at(one.path.parent())?.handle(one.path.name())?;
        if Stat::of(&handle, c"")?.kind != Kind::Folder {
            return Ok(Outcome::Touched);
        }
        node.dress(&handle).map(|()| Outcome::Done)
    }

    /// Makes everything last, and says what stands at each path now.
    pub(crate) fn finish(
        mut self,
        durability: Durability,
    ) -> Result<Vec<Option<Stamp>>, WorkspaceError> {
        let mut folders = BTreeSet::new();
        let mut stamps = Vec::with_capacity(self.moves.len());
        for one in self.moves {
            let parent = one.path.parent();
            let new = folders.insert(parent.clone());
            let look = || match self.work.at(parent) {
                Ok(folder) => {
                    if new {
                        durability.names(folder)?;
                    }
                    folder.stat(one.path.name())
                }
                Err(error) if is_gone(&error) => Ok(None),
                Err(error) => Err(error),
            };
            let stat = look().during("sync", || one.path.text())?;
            stamps.push(stat.map(|stat| stat.stamp()));
        }
        durability.barrier(self.scratch).during("sync", String::new)?;
        Ok(stamps)
    }
}

enum Outcome {
    Done,
    Left,
    Touched,
}

/// Whether an entry is still the one that was looked at. A folder's own times change with what
/// is in it, so of a folder only that it is one. A file that has just lost another of its names to
/// us has a new change time, but the same content.
fn is_still(seen: Option<&Stat>, now: &Stat, unlinked: &HashSet<u64>) -> bool {
    let is_one = |seen: &Stat| {
        unlinked.contains(&now.inode)
            && (seen.inode, seen.size, seen.modified) == (now.inode, now.size, now.modified)
    };
    seen.is_some_and(|seen| {
        seen.kind == now.kind
            && (now.kind == Kind::Folder || seen.stamp() == now.stamp() || is_one(seen))
    })
}

fn is_full(error: &io::Error) -> bool {
    [Errno::NOTEMPTY, Errno::EXIST]
        .iter()
        .any(|full| error.raw_os_error() == Some(full.raw_os_error()))
}
