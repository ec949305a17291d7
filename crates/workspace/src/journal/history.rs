//! The effect of earlier applications of a set on each path.
//!
//! Distinguishes three cases that look alike: already in the person's folder, taken out again, and
//! changed by the person.

use crate::{
    journal::log::{Entry, Journal, State},
    tree::{
        folder::Folder,
        node::Node,
        relative::Relative,
        stat::{Kind, Moment, Stat},
    },
};
use std::{collections::HashMap, io};

/// The last word on each path.
#[derive(Debug)]
pub(crate) struct History<'a>(HashMap<&'a Relative, (Last, &'a Entry)>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    Applied,
    Undone,
    RolledBack,
}

impl<'a> History<'a> {
    /// The history that `journals` tell.
    pub(crate) fn of(journals: &'a [Journal]) -> Self {
        let mut latest = HashMap::new();
        let mut journals: Vec<&Journal> = journals.iter().collect();
        journals.sort_by_key(|journal| journal.turn);
        for journal in journals {
            let last = match journal.state {
                State::Applied => Last::Applied,
                State::Undone => Last::Undone,
                State::RolledBack | State::PartlyRolledBack => Last::RolledBack,
                State::Preparing | State::Applying | State::Undoing | State::Redoing => continue,
            };
            latest.extend(journal.entries.iter().map(|entry| (&entry.path, (last, entry))));
        }
        Self(latest)
    }

    /// Whether what the program staged at that moment was applied, and the person has then made
    /// something else of it, which is `now`: that is their change, and nothing waits for a
    /// decision. While it is as we left it the content tells, because a program can write to a
    /// file that it has mapped without the file's times changing.
    pub(crate) fn is_settled(&self, path: &Relative, staged: Moment, now: Option<&Stat>) -> bool {
        let touched = |entry: &Entry| entry.left != now.map(Stat::stamp);
        self.says(Last::Applied, path, staged)
            && self.0.get(path).is_some_and(|(_, entry)| touched(entry))
    }

    /// Whether there is a folder since something was applied.
    pub(crate) fn is_new_folder(&self, path: &Relative) -> bool {
        let is_folder =
            |node: &Option<Node>| node.as_ref().is_some_and(|node| node.kind() == Kind::Folder);
        self.0.get(path).is_some_and(|(last, entry)| {
            *last == Last::Applied && is_folder(&entry.after) && !is_folder(&entry.before)
        })
    }

    /// Whether what the program staged at that moment was applied and taken out again.
    pub(crate) fn is_undone(&self, path: &Relative, staged: Moment) -> bool {
        self.says(Last::Undone, path, staged)
    }

    fn says(&self, expected: Last, path: &Relative, staged: Moment) -> bool {
        // Of what was applied in part, the rest waits whatever became of that part.
        let is_it =
            |last: Last, entry: &Entry| last == expected && entry.staged == staged && !entry.partly;
        self.0.get(path).is_some_and(|(last, entry)| is_it(*last, entry))
    }

    /// Whether what is at `path` now is what we left there.
    pub(crate) fn is_ours(
        &self,
        parent: &Folder,
        path: &Relative,
        now: Option<&Stat>,
    ) -> io::Result<bool> {
        let Some((last, entry)) = self.0.get(path) else { return Ok(false) };
        let expected = match last {
            Last::Applied => &entry.after,
            Last::Undone | Last::RolledBack => &entry.before,
        };
        match (expected, now) {
            (None, None) => Ok(true),
            (Some(_), Some(now)) if entry.left == Some(now.stamp()) => Ok(true),
            (Some(expected), Some(now)) => expected.is(parent, path.name(), now),
            (None, Some(_)) | (Some(_), None) => Ok(false),
        }
    }
}
