//! Whether the person's folder is still what the program saw.
//!
//! A file counts as changed by the person if its change time is later than the beginning of the set
//! and it is not the one that we left there. A missing file that the program changed counts too,
//! unless the program moved it there. Folders do not count; their contents do.

use crate::{
    error::{During, WorkspaceError, is_gone},
    journal::{history::History, plan::Planned},
    tree::{
        folder::{Folder, Intent, Walker},
        layer::Origin,
        scan::Scan,
        stat::{Kind, Moment, Stat},
    },
};
use std::collections::HashSet;

/// How to treat a file that both the person and the program changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// Do nothing at all, and name the paths.
    Refuse,
    /// Go on. When changes are applied, what the person has is kept for undo; when they are
    /// undone, what the person has made of them since is not.
    Overwrite,
}

/// Refuses what the person changed since the set began.
pub(crate) fn refuse(
    upper: &Folder,
    work: &Folder,
    began: Moment,
    history: &History<'_>,
    scan: &Scan,
    planned: &[Planned],
) -> Result<(), WorkspaceError> {
    let mut upper = Walker::new(upper, Intent::Look);
    let mut work = Walker::new(work, Intent::Look);
    let moved = scan.deltas.iter().filter_map(|delta| delta.before).map(|stat| stat.lower_inode());
    let moved: HashSet<[u8; 4]> = moved.collect();
    let mut paths = Vec::new();
    for one in planned {
        let changed = match &one.before {
            Some(now) => is_newer(now, began) && !is_ours(&mut work, history, one)?,
            None => {
                was_copied(&mut upper, &moved, one)?
                    && has_lost_names(&mut work, began, one)?
                    && !is_ours(&mut work, history, one)?
            }
        };
        if changed {
            paths.push(one.path.text());
        }
    }
    if paths.is_empty() { Ok(()) } else { Err(WorkspaceError::Conflict { paths }) }
}

fn is_newer(now: &Stat, began: Moment) -> bool {
    now.kind != Kind::Folder && now.changed > began
}

fn is_ours(
    work: &mut Walker<'_>,
    history: &History<'_>,
    one: &Planned,
) -> Result<bool, WorkspaceError> {
    match work.at(one.path.parent()) {
        Ok(parent) => history
            .is_ours(parent, &one.path, one.before.as_ref())
            .during("read", || one.path.text()),
        Err(error) if is_gone(&error) => Ok(false),
        Err(error) => Err(error).during("open", || one.path.text()),
    }
}

/// Whether what the program made began as a copy of something that is not there now, and is none
/// of what it has moved away.
fn was_copied(
    upper: &mut Walker<'_>,
    moved: &HashSet<[u8; 4]>,
    one: &Planned,
) -> Result<bool, WorkspaceError> {
    match (&one.after, upper.at(one.path.parent())) {
        (Some(after), Ok(parent)) if after.kind != Kind::Folder => {
            let origin = Origin::of(parent, one.path.name());
            Ok(origin.is_some_and(|origin| !origin.is_one_of(moved)))
        }
        (Some(_) | None, Ok(_)) => Ok(false),
        (_, Err(error)) if is_gone(&error) => Ok(false),
        (_, Err(error)) => Err(error).during("open", || one.path.text()),
    }
}

/// Whether the person's folder that it is in may have lost a name since the set began.
fn has_lost_names(
    work: &mut Walker<'_>,
    began: Moment,
    one: &Planned,
) -> Result<bool, WorkspaceError> {
    match work.at(one.path.parent()).and_then(|folder| Ok(Stat::of(folder, c"")?)) {
        Ok(folder) => Ok(folder.changed > began),
        Err(error) if is_gone(&error) => Ok(true),
        Err(error) => Err(error).during("open", || one.path.text()),
    }
}
