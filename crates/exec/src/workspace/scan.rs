//! Finds what differs between a set's upper layer and the person's folder.
//!
//! Walks the upper layer, and of the person's folder only what stands beside it, so the cost
//! follows what changed. Compares by content: what is the same is not a change, however it came
//! about. What vanishes while we look is left out.
//!
//! Must not fail because of what a program put there; what cannot be taken over is named in
//! [`Scan::skipped`].

use super::{
    content,
    error::{During, WorkspaceError, is_gone},
    folder::{Folder, Intent},
    history::History,
    layer,
    listing::{Difference, list},
    relative::Relative,
    stat::{Kind, Moment, PERMISSIONS, Stat},
};
use interpreter_core::FileChange;
use std::{
    collections::HashSet,
    ffi::{OsStr, OsString},
    io,
};

/// Folders in folders that are looked into. Trees of people and their tools are far flatter.
const DEEPEST: usize = 200;
/// Bytes of a path that the system's own calls take.
const LONGEST: usize = 4095;

/// One path that differs.
#[derive(Clone, Debug)]
pub(super) struct Delta {
    /// Where.
    pub(super) path: Relative,
    /// What the person has there.
    pub(super) before: Option<Stat>,
    /// What the program made of it; none if it is deleted.
    pub(super) after: Option<Stat>,
    /// When the program did so.
    pub(super) staged: Moment,
    /// Whether it is a new folder that was applied before, and only matters to what is in it.
    pub(super) settled: bool,
}

impl Delta {
    /// Whether it is a folder where none is.
    pub(super) fn is_new_folder(&self) -> bool {
        let is_folder = |stat: &Option<Stat>| stat.is_some_and(|stat| stat.kind == Kind::Folder);
        is_folder(&self.after) && !is_folder(&self.before)
    }

    /// It as a line of a listing.
    pub(super) fn difference(&self) -> Difference<'_> {
        let kind = |stat: Option<Stat>| stat.map(|stat| stat.kind);
        Difference { path: &self.path, before: kind(self.before), after: kind(self.after) }
    }
}

/// Everything that differs.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// What can be applied, sorted by path; every new folder is named, even if it has content.
    pub(super) deltas: Vec<Delta>,
    /// What cannot, and why.
    pub(super) skipped: Vec<(Relative, String)>,
}

impl Scan {
    /// What waits for a decision.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &Delta> {
        self.deltas.iter().filter(|delta| !delta.settled)
    }

    /// The lines of what waits for a decision.
    pub(super) fn listing(&self) -> Vec<FileChange> {
        list(self.waiting().map(Delta::difference))
    }
}

/// Compares `upper` with `work`, the person's folder, if it is there.
pub(super) fn scan(
    upper: &Folder,
    work: Option<&Folder>,
    history: &History<'_>,
) -> Result<Scan, WorkspaceError> {
    let mut scan = Scan::default();
    let mut pending = vec![(Relative::root(), work)];
    while let Some((path, work)) = pending.pop() {
        let Some(pair) = Pair::open(upper, work, path)? else { continue };
        for name in &pair.names {
            let path = pair.path.join(name);
            if path.parts().count() > DEEPEST || path.length() > LONGEST {
                scan.skipped.push((path, format!("nested deeper than {DEEPEST} folders")));
                continue;
            }
            let found = pair.compare(name, &path, history).during("read", || path.text())?;
            match found {
                Found::Nothing => {}
                Found::Skip(why) => scan.skipped.push((path, why)),
                Found::Delta(delta) => scan.deltas.push(delta),
                Found::Folder(delta, beside) => {
                    scan.deltas.extend(delta);
                    pending.push((path, work.filter(|_| beside == Beside::Folder)));
                }
            }
        }
        pair.hidden(history, &mut scan.deltas).during("read", || pair.path.text())?;
    }
    scan.deltas.sort_by(|one, other| one.path.cmp(&other.path));
    scan.skipped.sort();
    Ok(scan)
}

/// What one name in the upper layer comes to.
enum Found {
    Nothing,
    Skip(String),
    Delta(Delta),
    /// A folder to look into, which may be a change itself.
    Folder(Option<Delta>, Beside),
}

/// What stands beside a folder of the upper layer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    Folder,
    Nothing,
}

/// A folder of the upper layer and the person's folder of the same path.
struct Pair {
    path: Relative,
    above: Folder,
    below: Option<Folder>,
    names: Vec<OsString>,
}

impl Pair {
    fn open(
        upper: &Folder,
        work: Option<&Folder>,
        path: Relative,
    ) -> Result<Option<Self>, WorkspaceError> {
        let open = |root: &Folder| match root.walk(&path, Intent::Look) {
            Err(error) if is_gone(&error) => Ok(None),
            other => other.map(Some).during("open", || path.text()),
        };
        let Some(above) = open(upper)? else { return Ok(None) };
        let below = work.map(open).transpose()?.flatten();
        let names = above.names().during("read", || path.text())?;
        Ok(Some(Self { path, above, below, names }))
    }

    fn compare(&self, name: &OsStr, path: &Relative, history: &History<'_>) -> io::Result<Found> {
        let Some(stat) = self.above.stat(name)? else { return Ok(Found::Nothing) };
        let before = match &self.below {
            Some(below) => below.stat(name)?,
            None => None,
        };
        let staged = stat.changed;
        let settled = history.is_settled(path, staged);
        let delta = |after| Delta { path: path.clone(), before, after, staged, settled };
        Ok(match layer::meaning(&self.above, name, &stat) {
            Kind::Whiteout if before.is_none() || settled => Found::Nothing,
            Kind::Whiteout => Found::Delta(delta(None)),
            kind @ (Kind::Pipe | Kind::Socket | Kind::Device) => {
                Found::Skip(format!("it is {}", kind.noun()))
            }
            Kind::Folder => match before {
                Some(before) if before.kind == Kind::Folder => {
                    let same = settled || same_mode(&before, &stat);
                    Found::Folder((!same).then(|| delta(Some(stat))), Beside::Folder)
                }
                Some(_) | None => Found::Folder(Some(delta(Some(stat))), Beside::Nothing),
            },
            Kind::File | Kind::Symlink => {
                if settled || self.is_same(name, before.as_ref(), &stat)? {
                    Found::Nothing
                } else {
                    Found::Delta(delta(Some(stat)))
                }
            }
        })
    }

    /// Whether the file or link `name` is the same on both sides.
    fn is_same(&self, name: &OsStr, before: Option<&Stat>, after: &Stat) -> io::Result<bool> {
        let (Some(below), Some(before)) = (&self.below, before) else { return Ok(false) };
        if before.kind != after.kind || before.size != after.size {
            return Ok(false);
        }
        let compared = if before.kind == Kind::Symlink {
            (|| Ok(below.link_target(name)? == self.above.link_target(name)?))()
        } else if same_mode(before, after) {
            (|| {
                let ((mut one, _), (mut other, _)) =
                    (below.open_file(name)?, self.above.open_file(name)?);
                content::same(&mut one, &mut other, after.size)
            })()
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

    /// What the person has here and an opaque folder hides.
    fn hidden(&self, history: &History<'_>, deltas: &mut Vec<Delta>) -> io::Result<()> {
        let Some(below) = &self.below else { return Ok(()) };
        if self.path.is_root() || !layer::is_opaque(&self.above) {
            return Ok(());
        }
        let staged = Stat::of(&self.above, c"")?.changed;
        let seen: HashSet<&OsString> = self.names.iter().collect();
        for name in below.names()?.iter().filter(|name| !seen.contains(name)) {
            let path = self.path.join(name);
            let before = below.stat(name)?;
            if before.is_some() && !history.is_settled(&path, staged) {
                deltas.push(Delta { path, before, after: None, staged, settled: false });
            }
        }
        Ok(())
    }
}

fn same_mode(one: &Stat, other: &Stat) -> bool {
    one.mode & PERMISSIONS == other.mode & PERMISSIONS
}
