//! A file of the person's own joins what is staged: by way of the host, or from outside.

use super::Actor;
use crate::{
    ExecError,
    runner::{command::PutOrder, puts::check_place},
};
use interpreter_core::{Changes, ChangesState, Workspace, session::Event};

const RUNNING: &str = "code is running";
const CHANGED: &str = "code that still runs has changed it meanwhile";

impl Actor {
    /// Stages a file. It is in its place once [`Actor::has_put`] has reported that.
    pub(super) async fn put(&mut self, order: PutOrder) -> Result<(), ExecError> {
        let confinement = &order.confinement;
        if confinement.workspace != Workspace::Stage {
            return Err(ExecError::StagesNothing { how: confinement.workspace.word() });
        }
        if self.state.is_busy() || self.stage.is_putting() {
            return Err(ExecError::OutOfReach { path: order.path, why: RUNNING.into() });
        }
        check_place(confinement, &order.path).await?;
        self.stage.begin_set(confinement, &self.setup).await?;
        self.stage.check_room(&order).await?;
        self.stage.forget_review();
        let work = self.live.as_ref().map(|live| live.confinement.work_folder.clone());
        let work = work.filter(|_| !self.stage.is_copy());
        let Some(work) = work else {
            return self.put_outside(order).await;
        };
        let request = self.stage.begin_put(order, work).await?;
        if let Some(live) = &mut self.live
            && live.send(&request).await.is_ok()
        {
            return Ok(());
        }
        self.has_put().await
    }

    async fn put_outside(&mut self, order: PutOrder) -> Result<(), ExecError> {
        let order = self.stage.put(order).await?;
        self.report_put(&order).await
    }

    /// The outside view counts, not the claim from inside.
    pub(super) async fn has_put(&mut self) -> Result<(), ExecError> {
        let Some(order) = self.stage.putting.take() else { return Ok(()) };
        let (order, is_there) = self.stage.end_put(order).await?;
        if is_there {
            return self.report_put(&order).await;
        }
        if self.live.is_none() {
            return self.put_outside(order).await;
        }
        Err(ExecError::OutOfReach { path: order.path, why: CHANGED.into() })
    }

    async fn report_put(&mut self, order: &PutOrder) -> Result<(), ExecError> {
        let path = order.path.clone();
        let listed = self.stage.elsewhere(move |set| {
            // The same bytes as the person's own file are no change.
            let files = set.changes_at(&[])?;
            let files = files.into_iter().filter(|file| file.path == path).collect();
            Ok((set.id().to_owned(), files))
        });
        if let Some((id, files)) = listed.await? {
            let state = ChangesState::Staged;
            let changes = Changes { id, state, files, left_out: Vec::new() };
            self.report(Ok(Event::Settled(changes))).await;
        }
        Ok(())
    }
}
