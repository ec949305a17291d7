//! Whether the person's folder is still what the program saw.
//!
//! A file counts as changed by the person if its change time is later than the set's beginning
//! and it is not what we left there ourselves. A file that the program changed but that is gone
//! counts too. Folders do not: what is in them does.

use super::{
    error::{During, WorkspaceError, is_gone},
    folder::{Folder, Intent, Walker},
    history::History,
    layer,
    plan::Planned,
    stat::{Kind, Moment, Stat},
};

/// What to do where the person changed what a program changed too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// Do nothing at all, and name the paths.
    Refuse,
    /// Go on. When changes are applied, what the person has is kept for undo; when they are
    /// undone, what the person has made of them since is not.
    Overwrite,
}

/// Refuses what the person changed since the set began.
pub(super) fn refuse(
    upper: &Folder,
    work: &Folder,
    began: Moment,
    history: &History<'_>,
    planned: &[Planned],
) -> Result<(), WorkspaceError> {
    let mut upper = Walker::new(upper, Intent::Look);
    let mut work = Walker::new(work, Intent::Look);
    let mut paths = Vec::new();
    for one in planned {
        let changed = match &one.before {
            Some(now) => is_newer(now, began) && !is_ours(&mut work, history, one)?,
            None => was_copied(&mut upper, one)? && !is_ours(&mut work, history, one)?,
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

/// Whether what the program made began as a copy of something that is not there now.
fn was_copied(upper: &mut Walker<'_>, one: &Planned) -> Result<bool, WorkspaceError> {
    match (&one.after, upper.at(one.path.parent())) {
        (Some(_), Ok(parent)) => Ok(layer::was_copied_up(parent, one.path.name())),
        (None, Ok(_)) => Ok(false),
        (_, Err(error)) if is_gone(&error) => Ok(false),
        (_, Err(error)) => Err(error).during("open", || one.path.text()),
    }
}
