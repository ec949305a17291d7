//! Puts right what a crash left behind.
//!
//! An application that was interrupted is taken back; an undo that was interrupted is finished.
//! Both mean the same: every path that we changed becomes what it was before. What the person has
//! changed since the crash is left, and then what was kept of it is too.

use super::{
    error::WorkspaceError,
    folder::Folder,
    journal::{Journal, State},
    scratch,
    undo::{Reason, restore},
};

/// Puts right every application that is not at rest.
pub(super) fn recover(work: &Folder, journals: &mut Vec<Journal>) -> Result<(), WorkspaceError> {
    let mut resting = Vec::with_capacity(journals.len());
    let mut failed = Ok(());
    for journal in std::mem::take(journals) {
        if failed.is_err() || is_resting(&journal) {
            resting.push(journal);
            continue;
        }
        match roll_back(work, journal) {
            Ok(kept) => resting.extend(kept),
            Err(error) => failed = Err(error),
        }
    }
    *journals = resting;
    failed
}

/// Whether nothing has to be put right.
pub(super) fn is_resting(journal: &Journal) -> bool {
    match journal.state {
        State::Applied | State::Undone | State::RolledBack => journal.scratch.is_none(),
        State::Preparing | State::Applying | State::Undoing => false,
    }
}

/// Takes one application back; none is left of it if nothing of it has to be remembered.
pub(super) fn roll_back(
    work: &Folder,
    mut journal: Journal,
) -> Result<Option<Journal>, WorkspaceError> {
    if let Some(name) = journal.scratch.take() {
        scratch::remove(work, &name)?;
    }
    let end = match journal.state {
        State::Preparing => {
            journal.remove()?;
            return Ok(None);
        }
        State::Applied | State::Undone | State::RolledBack => {
            journal.save()?;
            return Ok(Some(journal));
        }
        State::Applying => State::RolledBack,
        State::Undoing => State::Undone,
    };
    let restored = restore(work, &mut journal, Reason::Recovery)?;
    if end == State::RolledBack && restored.skipped.is_empty() {
        journal.remove()?;
        return Ok(None);
    }
    journal.state = end;
    journal.save()?;
    Ok(Some(journal))
}
