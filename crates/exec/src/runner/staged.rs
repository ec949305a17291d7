//! What becomes of staged changes while their sandbox is up.

use super::{Happening, actor::Actor};
use crate::{ExecError, sandbox::native, workspace::Conflict};
use interpreter_core::{FileChange, record::ChangesState};
use interpreter_host::Inward;

impl Actor {
    pub(super) async fn review(&mut self) -> Result<(), ExecError> {
        let Some(set) = &self.set else { return Ok(()) };
        let shown = set.review()?;
        let (id, files) = (set.id().to_owned(), shown.files.clone());
        self.shown = Some(shown);
        self.report(Happening::Review { id, files }).await;
        Ok(())
    }

    pub(super) async fn apply(&mut self, conflict: Conflict) -> Result<(), ExecError> {
        let (Some(set), Some(shown)) = (&mut self.set, self.shown.take()) else { return Ok(()) };
        let applied = set.apply_shown(&shown, conflict)?;
        let id = set.id().to_owned();
        let state = ChangesState::Applied;
        let (files, left_out) = (applied.files, applied.left_out);
        self.report(Happening::Settled { id, state, files, left_out }).await;
        Ok(())
    }

    /// The overlay is mounted, so its layers must not be changed from outside: the host puts the
    /// files back from inside.
    pub(super) async fn discard(&mut self) -> Result<(), ExecError> {
        let Some(set) = &mut self.set else { return Ok(()) };
        let Some(live) = &mut self.live else {
            let files = set.discard(&[])?;
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
