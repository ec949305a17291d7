//! Shows staged changes, applies them, takes them back and discards them.

use super::Actor;
use crate::{ExecError, runner::live::Live};
use interpreter_core::{
    Changes, ChangesState, Pick, Untrusted,
    outline::ApplyOrder,
    session::{Event, TurnReach},
};

impl Actor {
    pub(super) async fn review(&mut self) -> Result<Changes, ExecError> {
        let frozen = self.live.as_ref().and_then(Live::freeze);
        self.stage.review(frozen).await
    }

    pub(super) async fn look(&mut self, anew: bool) -> Result<(), ExecError> {
        if anew || !self.stage.is_reviewed() {
            let frozen = self.live.as_ref().and_then(Live::freeze);
            self.stage.review_again(frozen).await?;
        }
        Ok(())
    }

    /// The changes that were reviewed last, line by line; if none were, those that are staged now.
    pub(super) async fn diff(&mut self) -> Result<Untrusted, ExecError> {
        if !self.stage.is_reviewed() {
            self.review().await?;
        }
        self.stage.diff(&[])
    }

    /// Applies what was picked of a new snapshot, or hunks of the one that was shown.
    pub(super) async fn apply_now(&mut self, picks: Vec<Pick>) -> Result<(), ExecError> {
        if picks.iter().any(Pick::is_of_hunks) {
            self.stage.check_shown(&picks)?;
        } else {
            self.review().await?;
        }
        self.apply(ApplyOrder::of(picks)).await
    }

    /// Applies what was picked of the snapshot of this number.
    pub(super) async fn apply_shown(
        &mut self,
        number: u64,
        order: ApplyOrder,
    ) -> Result<(), ExecError> {
        self.stage.check_number(number)?;
        self.stage.check_shown(&order.picks)?;
        self.apply(order).await
    }

    /// Applies what was picked, and says so if nothing is staged.
    async fn apply(&mut self, order: ApplyOrder) -> Result<(), ExecError> {
        let changes = self.stage.apply(order).await?;
        self.report(changes.map(Event::Settled).ok_or(ExecError::NothingStaged)).await;
        Ok(())
    }

    /// Takes back what was applied last, or applies it again.
    pub(super) async fn turn(
        &mut self,
        to: ChangesState,
        reach: TurnReach,
    ) -> Result<(), ExecError> {
        let changes = self.stage.turn(to, reach).await?;
        self.report(changes.map(Event::Settled).ok_or(ExecError::NothingStaged)).await;
        Ok(())
    }

    pub(super) async fn discard(&mut self, paths: &[String]) -> Result<(), ExecError> {
        let work = self.live.as_ref().map(|live| live.confinement.work_folder.clone());
        if self.stage.set().is_none() {
            return Err(ExecError::NothingStaged);
        }
        let restore = self.stage.begin_discard(work.as_deref(), paths)?;
        if let (Some(restore), Some(live)) = (restore, &mut self.live)
            && live.send(&restore).await.is_ok()
        {
            return Ok(());
        }
        // Too much to say, or nobody listens: it is forgotten from outside.
        self.discarded().await
    }

    /// The outside view counts, not the claim from inside. If the host could not restore something,
    /// or could not be asked to, the sandbox is ended, and the lost kernels are reported.
    pub(super) async fn discarded(&mut self) -> Result<(), ExecError> {
        if !self.stage.is_discarding() {
            return Ok(());
        }
        if self.live.is_none() || self.stage.is_copy() {
            self.stage.discard_files()?;
        }
        if self.stage.is_not_discarded()? {
            // Something that still runs has changed it again, or there was no room to begin.
            let lost = self.state.lose_kernels("was ended, so that changes could be discarded");
            self.end().await;
            self.stage.discard_files()?;
            for event in lost {
                self.report(Ok(event)).await;
            }
        }
        if let Some(changes) = self.stage.discarded()? {
            self.report(Ok(Event::Settled(changes))).await;
        }
        Ok(())
    }
}
