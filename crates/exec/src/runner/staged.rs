//! What becomes of staged changes while their sandbox is up.

use super::{Happening, actor::Actor, live::Live};
use crate::{
    ExecError,
    sandbox::{covered, native, secrets},
    workspace::{Conflict, NotCopied, Review, Set, Usage},
};
use interpreter_core::{
    Backend, Confinement, FileChange, Untrusted, Workspace, record::ChangesState,
};
use interpreter_host::Inward;
use std::{io, path::Path};

/// What is left out of a copy is named up to here.
const NAMED: usize = 3;

fn take_copy(set: &mut Set, confinement: &Confinement) -> Result<NotCopied, ExecError> {
    let covered = covered(&secrets::cover(confinement)?);
    let limits = &confinement.limits;
    let most = Usage { bytes: limits.staged_bytes, files: limits.staged_files };
    Ok(set.take_copy(&covered, most)?)
}

/// What there is to say about a copy: where code sees it, if that is not at the folder's own path,
/// and what is not in it.
fn remark(backend: Backend, copy: Option<&Path>, left_out: &NotCopied) -> Option<String> {
    let line = |text: &str| Untrusted::new(text).for_terminal_line(200);
    let mut parts = Vec::new();
    if let (Backend::Landlock | Backend::Firejail, Some(copy)) = (backend, copy) {
        parts
            .push(format!("code works in a copy of the folder: {}", line(&copy.to_string_lossy())));
    }
    let NotCopied { named, count } = left_out;
    if *count > 0 {
        let shown =
            named.iter().take(NAMED).map(|one| format!("{} ({})", line(&one.path), one.why));
        let mut words: Vec<_> = shown.collect();
        let more = count - words.len();
        if more > 0 {
            words.push(format!("{more} more"));
        }
        parts.push(format!("not in the copy that code works in: {}", words.join(", ")));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

impl Actor {
    /// Takes a copy of the work folder, if changes are to be kept apart by a sandbox that has no
    /// overlay, and if there is none yet.
    pub(super) async fn copy_for(
        &mut self,
        backend: Backend,
        confinement: &Confinement,
    ) -> Result<(), ExecError> {
        let has_overlay = backend == Backend::Native || confinement.workspace != Workspace::Stage;
        let Some(mut set) = self.set.take_if(|set| !has_overlay && set.copy().is_none()) else {
            return Ok(());
        };
        let confinement = confinement.clone();
        let (set, taken) = tokio::task::spawn_blocking(move || {
            let taken = take_copy(&mut set, &confinement);
            (set, taken)
        })
        .await
        .map_err(io::Error::from)?;
        self.set = Some(set);
        self.remark = remark(backend, self.set.as_ref().and_then(Set::copy), &taken?);
        Ok(())
    }

    /// Takes a snapshot of what is staged, while everything inside stands still if it can be made
    /// to, and lists it. Diff and application are of this snapshot.
    pub(super) async fn review(&mut self) -> Result<(), ExecError> {
        let Some(set) = &self.set else { return Ok(()) };
        let id = set.id().to_owned();
        let (files, left_out) = match self.take_snapshot().await? {
            Some(review) => (review.files.clone(), review.left_out.clone()),
            None => (Vec::new(), Vec::new()),
        };
        self.report(Happening::Review { id, files, left_out }).await;
        Ok(())
    }

    async fn take_snapshot(&mut self) -> Result<Option<&Review>, ExecError> {
        self.shown = None;
        let Some(set) = self.set.take() else { return Ok(None) };
        let frozen = self.live.as_ref().and_then(Live::freeze);
        let taken = tokio::task::spawn_blocking(move || {
            let review = set.review_of(&[], frozen);
            (set, review)
        });
        let (set, review) = taken.await.map_err(io::Error::from)?;
        self.set = Some(set);
        Ok(Some(self.shown.insert(review?)))
    }

    /// The changes that were reviewed last, line by line; if none were, those that are staged now.
    pub(super) async fn diff(&mut self) -> Result<Untrusted, ExecError> {
        if self.shown.is_none() {
            self.take_snapshot().await?;
        }
        match (&self.set, &self.shown) {
            (Some(set), Some(review)) => Ok(set.diff_of(review)?),
            (None, _) | (_, None) => Ok(Untrusted::default()),
        }
    }

    /// Lets go of the snapshot: it was decided on, or is about to be out of date.
    pub(super) fn forget_review(&mut self) {
        self.shown = None;
    }

    pub(super) async fn apply(&mut self, conflict: Conflict) -> Result<(), ExecError> {
        let (Some(set), Some(review)) = (&mut self.set, self.shown.take()) else { return Ok(()) };
        let applied = set.apply_review(&review, conflict)?;
        let id = set.id().to_owned();
        let state = ChangesState::Applied;
        let (files, left_out) = (applied.files, applied.left_out);
        self.report(Happening::Settled { id, state, files, left_out }).await;
        Ok(())
    }

    /// Where an overlay is mounted its layers must not be changed from outside: the host puts the
    /// files back from inside. A copy is a folder like any other.
    pub(super) async fn discard(&mut self) -> Result<(), ExecError> {
        self.forget_review();
        let Some(set) = &mut self.set else { return Ok(()) };
        let Some(live) = self.live.as_mut().filter(|_| set.copy().is_none()) else {
            let files = set.discard(&[])?;
            if !set.changes()?.is_empty() {
                // Something that still runs in the copy has changed it again.
                if let Some(live) = self.live.take() {
                    live.stop().await;
                }
                set.discard(&[])?;
            }
            let (id, state) = (set.id().to_owned(), ChangesState::Discarded);
            self.forget_staging();
            self.report(Happening::Settled { id, state, files, left_out: vec![] }).await;
            return Ok(());
        };
        let files = set.changes()?;
        let paths = files.iter().flat_map(FileChange::paths).cloned().collect();
        let work = live.confinement.work_folder.clone();
        self.discarding = Some(files);
        if live.send(&Inward::Restore { work, lower: native::LOWER.into(), paths }).await.is_err() {
            // Too much to say, or nobody listens: it is forgotten from outside.
            return self.restored().await;
        }
        Ok(())
    }

    /// What counts is what can be seen from outside, not what the inside says. What it could not
    /// put back is forgotten by ending it.
    pub(super) async fn restored(&mut self) -> Result<(), ExecError> {
        let (Some(files), Some(set)) = (self.discarding.take(), &mut self.set) else {
            return Ok(());
        };
        if !set.changes()?.is_empty() {
            if let Some(live) = self.live.take() {
                live.stop().await;
            }
            set.discard(&[])?;
        }
        let (id, state) = (set.id().to_owned(), ChangesState::Discarded);
        self.forget_staging();
        self.report(Happening::Settled { id, state, files, left_out: vec![] }).await;
        Ok(())
    }
}
