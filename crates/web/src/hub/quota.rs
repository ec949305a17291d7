//! The share of one person of a team: sessions at once, and room on the disk.
//!
//! # Threat
//! A person who leaves no session, or no room on the disk, for everybody else.
//!
//! # Mechanism
//! Before a session begins, and before a file comes, what the person keeps is measured on the disk
//! and held against `team.storage`. A session that begins is promised a part of what is left: at most
//! half of it, so that the next one has something, and never more than it may stage anyway. Others
//! do not get it until the session is over, so all of them together stage no more than there was
//! room for. A session that would get next to nothing does not begin.
//! Places and promises are counted behind one lock. Whoever runs the server is bounded by it alone.
//!
//! # Order
//! Promises are read before the disk is, so whatever a session stages meanwhile may count twice,
//! but is never missed.
//!
//! # Limits
//! The files that a running session has staged count twice, on the disk and as promised, until it is
//! over. Copies of them are not promised: those at its checkpoints, bounded by the same number once
//! more, and the one that somebody decides on. They are gone when it is over. Neither is anything
//! else that it keeps, such as its record. It counts when the next one asks.

use super::{
    MOST_SESSIONS, Seat, SessionHub, Shared,
    places::holder,
    promise::Promise,
    reading::{elsewhere, failed},
    whose::{MOST_OF_A_PERSON, Whose},
};
use crate::{
    caller::Caller,
    protocol::{ErrorCode, ProtocolError},
};
use interpreter_store::{Bytes, ConfigFiles, Settings, StoreError};
use std::sync::Arc;

/// The least that a session is promised, in bytes. With less it could do nothing.
const LEAST: u64 = 1 << 20;

/// The share of a person.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quota {
    /// Sessions at once.
    pub(super) sessions: usize,
    /// Bytes on the disk that are left; none means that only the disk ends.
    left: Option<u64>,
    storage: Bytes,
}

impl Quota {
    /// The quota of the person whose hub it is, as it is now. Reads the disk.
    fn measure(shared: &Shared) -> Result<Self, StoreError> {
        match &shared.whose {
            Whose::Operator => {
                Ok(Self { sessions: MOST_SESSIONS, left: None, storage: Bytes::new(u64::MAX) })
            }
            Whose::Person(_) => {
                let setup = &shared.setup;
                let overrides = shared.whose.overrides(&setup.overrides)?;
                let profile = overrides.profile.as_deref();
                let files = ConfigFiles::read(&shared.folders, &setup.work_folder, profile)?;
                let settings = Settings::resolve(&files, &shared.whose.environment(), &overrides)?;
                let sessions = usize::try_from(settings.team_sessions.value.get());
                let storage = settings.team_storage.value;
                let used = shared.folders.disk_usage(storage.count())?;
                Ok(Self {
                    sessions: sessions.unwrap_or(usize::MAX).min(MOST_OF_A_PERSON),
                    left: Some(storage.count().saturating_sub(used)),
                    storage,
                })
            }
        }
    }

    /// The same quota, if it has room for this many more bytes.
    fn with_room(self, bytes: u64) -> Result<Self, ProtocolError> {
        match self.left {
            Some(left) if left <= bytes => Err(no_room(self.storage)),
            Some(_) | None => Ok(self),
        }
    }

    /// The part of what is left that a session gets, where others have been promised so much.
    fn promise(self, to_others: u64) -> Result<Promise, ProtocolError> {
        let Some(left) = self.left else { return Ok(Promise::default()) };
        match left.saturating_sub(to_others) / 2 {
            part if part < LEAST => Err(no_room(self.storage)),
            part => Ok(Promise::of(part)),
        }
    }
}

fn no_room(storage: Bytes) -> ProtocolError {
    let text = format!(
        "what you keep on this server takes up all of the {storage} that `team.storage` lets a \
         person have"
    );
    let hint = "end a session or discard staged changes; whoever keeps the server can remove old \
                sessions or raise the limit";
    ProtocolError::new(ErrorCode::TooMany, text).hint(hint)
}

/// The quota of the person whose hub it is; refused if it has no room for this many bytes.
pub(super) async fn quota(shared: &Arc<Shared>, bytes: u64) -> Result<Quota, ProtocolError> {
    let shared = Arc::clone(shared);
    elsewhere(move || Quota::measure(&shared).map_err(|error| failed(&error))?.with_room(bytes))
        .await
}

impl Shared {
    /// Takes a place for a session that is about to begin, and promises it a part of the room.
    pub(super) async fn take_share(
        self: &Arc<Self>,
        caller: &Caller,
    ) -> Result<Seat, ProtocolError> {
        let _alone = self.sharing_out.lock().await;
        let to_others = self.promised();
        let quota = quota(self, 0).await?;
        let holder = match self.whose {
            Whose::Operator => holder(caller),
            // All of them are this person's own.
            Whose::Person(_) => None,
        };
        self.take_place(quota.sessions, quota.promise(to_others)?, holder)
    }
}

impl SessionHub {
    /// Refuses a file for which its owner has no room.
    pub(super) async fn check_storage(&self, bytes: u64) -> Result<(), ProtocolError> {
        quota(&self.shared, bytes).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_sessions_together_stage_no_more_than_there_is(
            left in 0u64..1 << 40,
            limits in proptest::collection::vec(1u64..1 << 34, 0..40),
        ) {
            let quota = Quota { sessions: 40, left: Some(left), storage: Bytes::new(left) };
            let mut promised = 0;
            for limit in limits {
                let Ok(promise) = quota.promise(promised) else {
                    prop_assert!(left - promised < 2 * LEAST);
                    break;
                };
                prop_assert!(promise.bytes() >= LEAST);
                let mut staged = Bytes::new(limit);
                let needed = promise.bound(&mut staged);
                prop_assert_eq!(needed.bytes(), staged.count());
                prop_assert!(needed.bytes() <= limit);
                promised += needed.bytes();
                prop_assert!(promised <= left);
            }
        }
    }

    #[test]
    fn whoever_runs_the_server_is_promised_nothing_and_bounded_by_nothing() {
        let quota = Quota { sessions: 1, left: None, storage: Bytes::new(u64::MAX) };
        let mut staged = Bytes::new(1 << 40);
        let promise = quota.promise(u64::MAX).unwrap().bound(&mut staged);
        assert_eq!((promise.bytes(), staged), (0, Bytes::new(1 << 40)));
    }
}
