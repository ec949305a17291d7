//! The verbs that somebody may use on the session of another. Pure.
//!
//! Rights are checked where a verb is performed, as everywhere; this is a second fence before it. A
//! new verb has to be put on one side of it, or this does not compile.

use super::share_kind::ShareKind;
use crate::protocol::{LookWish, Verb};

/// The session that a verb is about.
pub(super) fn session_of(verb: &Verb) -> Option<&str> {
    match verb {
        Verb::Resume { session }
        | Verb::Fork { session, .. }
        | Verb::Close { session }
        | Verb::Prompt { session, .. }
        | Verb::Run { session, .. }
        | Verb::Answer { session, .. }
        | Verb::Interrupt { session }
        | Verb::Restart { session, .. }
        | Verb::Changes { session, .. }
        | Verb::Apply { session, .. }
        | Verb::Discard { session, .. }
        | Verb::Undo { session, .. }
        | Verb::Rewind { session, .. }
        | Verb::Put { session, .. }
        | Verb::Grant { session, .. } => Some(session),
        Verb::List { session, .. }
        | Verb::Subscribe { session, .. }
        | Verb::Look(LookWish { session, .. }) => session.as_deref(),
        Verb::Open { .. } | Verb::Shut {} => None,
    }
}

/// The share that a guest needs for a verb; nothing for what only the owner does.
pub(super) fn needed(verb: &Verb) -> Option<ShareKind> {
    match verb {
        Verb::List { .. }
        | Verb::Subscribe { .. }
        | Verb::Changes { from: None, sets: false, .. }
        | Verb::Rewind { hash: None, .. }
        | Verb::Look(LookWish { session: Some(_), .. })
        | Verb::Grant {
            allow: None,
            deny: None,
            revoke: None,
            close: None,
            share: None,
            unshare: None,
            ..
        } => Some(ShareKind::Watch),
        Verb::Prompt { text: Some(_), .. } => Some(ShareKind::Suggest),
        // The owner's conversation would go to a provider that has not heard it; and change sets tell
        // of their other sessions.
        Verb::Prompt { model: Some(_), .. } | Verb::Changes { sets: true, .. } => None,
        Verb::Prompt { .. }
        | Verb::Run { .. }
        | Verb::Answer { .. }
        // Tells of the whole folder.
        | Verb::Changes { .. }
        | Verb::Grant { revoke: None, share: None, unshare: None, .. }
        | Verb::Interrupt { .. }
        | Verb::Restart { .. }
        | Verb::Apply { .. }
        | Verb::Discard { .. }
        | Verb::Undo { .. }
        | Verb::Rewind { .. }
        | Verb::Put { .. } => Some(ShareKind::Drive),
        // Another session would begin, and belong to whom? Shares are the owner's to give.
        Verb::Resume { .. }
        | Verb::Fork { .. }
        | Verb::Close { .. }
        | Verb::Grant { .. }
        | Verb::Open { .. }
        | Verb::Look(_)
        | Verb::Shut {} => None,
    }
}
