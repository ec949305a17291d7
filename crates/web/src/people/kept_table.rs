//! The table of shares and its file, which one at a time may change.
//!
//! Whoever looks something up waits for no disk. A new share is kept before anybody sees it.

use super::shares::ShareTable;
use crate::{hub::reading::failed, protocol::ProtocolError};
use interpreter_store::{KeptShares, StoreError};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The shares of a server.
pub(super) struct KeptTable {
    table: Mutex<ShareTable>,
    kept: KeptShares,
    /// Held by whoever changes the table, while it is written to the disk.
    changing: Mutex<()>,
}

impl KeptTable {
    /// The table as it was kept. Reads the disk.
    pub(super) fn of(kept: KeptShares) -> Result<Self, StoreError> {
        let table = Mutex::new(ShareTable::of_kept(kept.read()?));
        Ok(Self { table, kept, changing: Mutex::default() })
    }

    pub(super) fn look(&self) -> MutexGuard<'_, ShareTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the table, and keeps it before anybody sees the change. Writes to the disk.
    pub(super) fn change(
        &self,
        edit: impl FnOnce(&mut ShareTable) -> Result<(), ProtocolError>,
    ) -> Result<(), ProtocolError> {
        let _alone = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut changed = self.look().clone();
        edit(&mut changed)?;
        self.kept.write(&changed.to_keep()).map_err(|error| failed(&error))?;
        *self.look() = changed;
        Ok(())
    }

    /// Forgets the shares of everybody who is gone: at once, also if that cannot be kept. Writes to
    /// the disk if somebody is.
    pub(super) fn retain(&self, is_there: impl Fn(&str) -> bool) -> Result<(), StoreError> {
        let _alone = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut left = self.look().clone();
        if !left.retain(is_there) {
            return Ok(());
        }
        let kept = left.to_keep();
        *self.look() = left;
        self.kept.write(&kept)
    }
}
