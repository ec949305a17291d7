//! Puts staged changes into the person's folder.
//!
//! In two halves. The first copies: what will be replaced into the journal, what is new into the
//! scratch folder; it can fail without a trace. The second, begun only when the journal is on the
//! disk, renames; if it fails, what it did is taken back.

use super::{
    changeover::{Care, Changeover, Move},
    durability::Durability,
    error::{During, WorkspaceError},
    folder::{Folder, Intent, Walker},
    journal::{Entry, Journal, State},
    node::{Node, Shape},
    plan::Planned,
    recover, scratch,
    stat::{Kind, Stat},
};
use std::{
    ffi::{OsStr, OsString},
    io,
};

/// An application that is ready to be performed.
#[derive(Debug)]
pub(super) struct Application<'a> {
    work: &'a Folder,
    scratch: Folder,
    journal: Journal,
    moves: Vec<Move>,
    durability: Durability,
}

impl<'a> Application<'a> {
    /// Copies everything that `planned` needs, and writes the journal.
    pub(super) fn prepare(
        upper: &Folder,
        work: &'a Folder,
        mut journal: Journal,
        planned: &[Planned],
    ) -> Result<Self, WorkspaceError> {
        let name = scratch::name();
        journal.scratch = Some(name.clone());
        let durability = Durability::for_files(planned.len());
        let mut prepare = || -> Result<(Folder, Vec<Move>), WorkspaceError> {
            journal.save()?;
            let scratch = scratch::create(work, &name)?;
            let backups = journal.backups()?;
            let mut copier = Copier {
                upper: Walker::new(upper, Intent::Look),
                work: Walker::new(work, Intent::Look),
                scratch: &scratch,
                backups: &backups,
                durability,
            };
            let mut moves = Vec::with_capacity(planned.len());
            for (at, one) in planned.iter().enumerate() {
                let (entry, one) = copier.copy(OsString::from(at.to_string()), one)?;
                journal.entries.push(entry);
                moves.push(one);
            }
            for folder in [&backups, &scratch] {
                durability.barrier(folder).during("sync", String::new)?;
            }
            journal.state = State::Applying;
            journal.save()?;
            Ok((scratch, moves))
        };
        match prepare() {
            Ok((scratch, moves)) => Ok(Self { work, scratch, journal, moves, durability }),
            Err(error) => {
                // The first error is the one to report; what cannot be removed now is removed
                // when the set is next opened.
                scratch::remove(work, &name).and_then(|()| journal.remove()).ok();
                Err(error)
            }
        }
    }

    /// Changes the person's folder.
    pub(super) fn perform(mut self) -> Result<Journal, WorkspaceError> {
        match self.change() {
            Ok(()) => Ok(self.journal),
            Err(error) => {
                // As above: the journal stays if this fails, and opening the set tries again.
                recover::roll_back(self.work, self.journal).ok();
                Err(error)
            }
        }
    }

    fn change(&mut self) -> Result<(), WorkspaceError> {
        let mut changeover =
            Changeover::new(self.work, &self.scratch, &self.moves, Care::Strict);
        changeover.perform_all()?;
        let stamps = changeover.finish(self.durability)?;
        for (entry, stamp) in self.journal.entries.iter_mut().zip(stamps) {
            entry.left = stamp;
        }
        if let Some(name) = self.journal.scratch.take() {
            scratch::remove(self.work, &name)?;
        }
        self.durability.barrier(self.work).during("sync", String::new)?;
        self.journal.state = State::Applied;
        self.journal.save()
    }

    /// As far as a crash after `steps` steps lets it come.
    #[cfg(test)]
    pub(super) fn perform_partly(self, steps: usize) {
        let mut changeover =
            Changeover::new(self.work, &self.scratch, &self.moves, Care::Strict);
        for step in super::changeover::steps(&self.moves).into_iter().take(steps) {
            changeover.perform(step).unwrap();
        }
    }
}

/// Makes the copies for one application.
struct Copier<'a> {
    upper: Walker<'a>,
    work: Walker<'a>,
    scratch: &'a Folder,
    backups: &'a Folder,
    durability: Durability,
}

impl Copier<'_> {
    fn copy(
        &mut self,
        prepared: OsString,
        planned: &Planned,
    ) -> Result<(Entry, Move), WorkspaceError> {
        let path = planned.path.clone();
        let (before, now) = match &planned.before {
            Some(stat) => {
                let kept = self.keep(&prepared, planned, stat);
                let (node, stat) = kept.during("keep a copy of", || path.text())?;
                (Some(node), Some(stat))
            }
            None => (None, None),
        };
        let (after, staged) = match &planned.after {
            Some(stat) => {
                let taken = self.take_over(&prepared, planned, stat);
                let (node, stat) = taken.during("copy", || path.text())?;
                // A link or folder has its own moment; so has a file, at the time it was read.
                (Some(node), stat.changed)
            }
            None => (None, planned.staged),
        };
        let to = after.clone();
        let entry = Entry { path: path.clone(), before, after, staged, left: None };
        Ok((entry, Move { path, now, to, prepared }))
    }

    /// Copies what the person has, to be brought back by undo.
    fn keep(&mut self, to: &OsStr, one: &Planned, stat: &Stat) -> io::Result<(Node, Stat)> {
        let parent = self.work.at(one.path.parent())?;
        let name = one.path.name();
        let (shape, stat) = match stat.kind {
            Kind::File => {
                let mut file = self.backups.create_file(to)?;
                let copied = Shape::of_copy(parent, name, &mut file)?;
                self.durability.file(&file)?;
                copied
            }
            Kind::Symlink => (Shape::of_link(parent, name)?, *stat),
            Kind::Folder => (Shape::Folder, *stat),
            Kind::Whiteout | Kind::Pipe | Kind::Socket | Kind::Device => return Err(special(stat)),
        };
        Ok((Node::kept(shape, &stat), stat))
    }

    /// Copies what the program made to where it can be renamed into place.
    fn take_over(&mut self, to: &OsStr, one: &Planned, stat: &Stat) -> io::Result<(Node, Stat)> {
        let parent = self.upper.at(one.path.parent())?;
        let name = one.path.name();
        match stat.kind {
            Kind::File => {
                let mut file = self.scratch.create_file(to)?;
                let (shape, stat) = Shape::of_copy(parent, name, &mut file)?;
                let node = Node::taken_over(shape, &stat, one.before.as_ref());
                node.dress(&file)?;
                self.durability.file(&file)?;
                Ok((node, stat))
            }
            Kind::Symlink => {
                self.scratch.create_link(to, &parent.link_target(name)?)?;
                let shape = Shape::of_link(self.scratch, to)?;
                let node = Node::taken_over(shape, stat, one.before.as_ref());
                node.dress_link(self.scratch, to)?;
                Ok((node, *stat))
            }
            Kind::Folder => {
                Ok((Node::taken_over(Shape::Folder, stat, one.before.as_ref()), *stat))
            }
            Kind::Whiteout | Kind::Pipe | Kind::Socket | Kind::Device => Err(special(stat)),
        }
    }
}

fn special(stat: &Stat) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("it is {}", stat.kind.noun()))
}
