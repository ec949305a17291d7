//! The share of one person of a team: sessions at once, and room on the disk.
//!
//! # Threat
//! A person who leaves no session, or no room on the disk, for everybody else.
//!
//! # Mechanism
//! Before a session begins, and before a file comes, what the person keeps is measured on the disk
//! and held against `team.storage`. The staged files of a new session are bounded by what is left.
//! Places are counted behind one lock. Whoever runs the server is bounded by it alone.
//!
//! # Limits
//! Sessions that run at the same time are each bounded by what was left when they began.

use super::{
    MOST_SESSIONS, SessionHub, Shared,
    reading::{elsewhere, failed},
    whose::{MOST_OF_A_PERSON, Whose},
};
use crate::protocol::{ErrorCode, ProtocolError};
use interpreter_store::{Bytes, ConfigFiles, Settings, StoreError};
use std::sync::Arc;

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

    /// Bounds the staged files of a session by what is left.
    pub(super) fn bound(self, settings: &mut Settings) {
        if let Some(left) = self.left {
            let staged = &mut settings.staged_limit.value;
            *staged = (*staged).min(Bytes::new(left));
        }
    }
}

fn no_room(storage: Bytes) -> ProtocolError {
    let text = format!(
        "what you keep on this server takes up all of the {storage} that `team.storage` lets a \
         person have"
    );
    let hint = "discard staged changes; whoever keeps the server can remove old sessions or raise \
                the limit";
    ProtocolError::new(ErrorCode::TooMany, text).hint(hint)
}

/// The quota of the person whose hub it is; refused if it has no room for this many bytes.
pub(super) async fn quota(shared: &Arc<Shared>, bytes: u64) -> Result<Quota, ProtocolError> {
    let shared = Arc::clone(shared);
    elsewhere(move || Quota::measure(&shared).map_err(|error| failed(&error))?.with_room(bytes))
        .await
}

impl SessionHub {
    /// Refuses a file for which its owner has no room.
    pub(super) async fn check_storage(&self, bytes: u64) -> Result<(), ProtocolError> {
        quota(&self.shared, bytes).await.map(drop)
    }
}
