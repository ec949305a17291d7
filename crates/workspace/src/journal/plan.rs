//! The plan of an application, entry by entry, before it changes anything.
//!
//! A folder that goes is spelled out to its last file, so that each of them is checked, kept and
//! journalled. Only what can be brought back is taken away.

use crate::{
    error::{During, WorkspaceError},
    journal::rename::Rename,
    tree::{
        about::{self, Sides},
        delta::Delta,
        folder::{Folder, Intent, Walker},
        listing::{Difference, list},
        relative::Relative,
        selection::Chosen,
        stat::{Kind, Moment, Stat},
        verdicts::Verdicts,
    },
};
use interpreter_core::{FileChange, LeftOut};
use std::path::Path;

/// One entry that will change.
#[derive(Clone, Debug)]
pub(crate) struct Planned {
    pub(crate) path: Relative,
    pub(crate) before: Option<Stat>,
    pub(crate) after: Option<Stat>,
    /// When the program did so.
    pub(crate) staged: Moment,
    /// The content in place of what the program made: some of its hunks.
    pub(crate) content: Option<Vec<u8>>,
}

impl Planned {
    /// It with both its sides.
    pub(crate) fn sides(&self) -> Sides<'_> {
        Sides { path: &self.path, before: self.before.as_ref(), after: self.after.as_ref() }
    }

    /// It as a line of a listing.
    pub(crate) fn difference(&self) -> Difference<'_> {
        let kind = |stat: Option<Stat>| stat.map(|stat| stat.kind);
        Difference { path: &self.path, before: kind(self.before), after: kind(self.after) }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// The planned changes, sorted by path.
    pub(crate) entries: Vec<Planned>,
    /// Entries left out, with the reason.
    pub(crate) left_out: Vec<LeftOut>,
    /// Which of it is a rename.
    pub(crate) renames: Vec<Rename>,
}

impl Plan {
    /// Its lines, with all that there is to tell.
    pub(crate) fn told(&self, upper: &Folder, work: (&Path, &Folder)) -> Vec<FileChange> {
        let (place, work) = work;
        let mut files = list(self.entries.iter().map(Planned::difference), &self.renames);
        let sides: Vec<_> = self.entries.iter().map(Planned::sides).collect();
        let mut above = Walker::new(upper, Intent::Look);
        let mut below = Walker::new(work, Intent::Look);
        let mut verdicts = Verdicts::default();
        about::rank(place, &sides, &mut files);
        about::tell(&mut above, Some(&mut below), &sides, &mut verdicts, &mut files);
        files
    }

    fn has(&self, path: &Relative) -> bool {
        self.entries.binary_search_by(|entry| entry.path.cmp(path)).is_ok()
    }
}

/// The plan for what was chosen.
pub(crate) fn plan(work: &Folder, chosen: Chosen<'_>) -> Result<Plan, WorkspaceError> {
    let Chosen { deltas, left_out, renames } = chosen;
    let mut plan = Plan { entries: Vec::new(), left_out, renames: Vec::new() };
    let mut left: Option<&Relative> = None;
    for delta in deltas {
        if left.is_some_and(|folder| delta.path.is_within(folder)) {
            plan.left_out.push(delta.path.left_out("its folder cannot be created"));
            continue;
        }
        match expand(work, delta)? {
            Expanded::Entries(entries) => plan.entries.extend(entries),
            Expanded::Skip(why) => {
                plan.left_out.push(delta.path.left_out(why));
                left = Some(&delta.path);
            }
        }
    }
    plan.entries.sort_by(|one, other| one.path.cmp(&other.path));
    for rename in renames {
        if plan.has(&rename.to) {
            plan.renames.push(rename);
        } else {
            // It would not be anywhere any more.
            plan.entries.retain(|entry| !entry.path.is_within(&rename.from));
            plan.left_out.push(rename.from.left_out("its new place is left out"));
        }
    }
    Ok(plan)
}

enum Expanded {
    Entries(Vec<Planned>),
    Skip(String),
}

fn expand(work: &Folder, delta: &Delta) -> Result<Expanded, WorkspaceError> {
    let Delta { path, before, after, staged, .. } = delta;
    let of = |kind: Kind| move |stat: &Stat| stat.kind == kind;
    if let Some(stat) = before.filter(|stat| !stat.kind.is_ordinary()) {
        return Ok(Expanded::Skip(format!(
            "it would replace {}, which could not be restored",
            stat.kind.noun()
        )));
    }
    let planned = |path: &Relative, before, after| {
        let (path, staged) = (path.clone(), *staged);
        Planned { path, before, after, staged, content: None }
    };
    let mut entries = vec![planned(path, *before, *after)];
    if !before.as_ref().is_some_and(of(Kind::Folder))
        || after.as_ref().is_some_and(of(Kind::Folder))
    {
        return Ok(Expanded::Entries(entries));
    }
    let mut pending = vec![path.clone()];
    while let Some(path) = pending.pop() {
        let folder = work.walk(&path, Intent::Look).during("open", || path.text())?;
        for name in folder.names().during("read", || path.text())? {
            let path = path.join(&name);
            let before = folder.stat(&name).during("read", || path.text())?;
            let Some(stat) = before else { continue };
            if !stat.kind.is_ordinary() {
                return Ok(Expanded::Skip(format!(
                    "it contains {}, which could not be restored: {}",
                    stat.kind.noun(),
                    path.text()
                )));
            }
            if stat.kind == Kind::Folder {
                pending.push(path.clone());
            }
            entries.push(planned(&path, before, None));
        }
    }
    Ok(Expanded::Entries(entries))
}
