//! Wishes of the person about the changes of a session: to apply, to discard, to stage, to undo.

use crate::{Body, FilePut, Pick, outline::ApplyOrder};

/// A wish about the changes of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangesWish {
    /// Put what was picked, or all, into the person's folder. Numbers of hunks are those of the
    /// diff that was shown last.
    Apply(Vec<Pick>),
    /// Put what was picked of the snapshot of this number, or all of it, into the person's folder.
    /// Nothing if it is no longer the one that was shown last.
    ApplyShown {
        /// The number of the snapshot.
        number: u64,
        /// The changes of it, and the outline that was shown with them.
        order: ApplyOrder,
    },
    /// Forget those at and below these paths, or all.
    Discard(Vec<String>),
    /// Forget those of the snapshot of this number, or what it has at and below these paths.
    /// Nothing if it is no longer the one that was shown last.
    DiscardShown {
        /// The number of the snapshot.
        number: u64,
        /// Nothing means all of it.
        paths: Vec<String>,
    },
    /// Stage a file of the person's own, as if code had written it.
    Put(FilePut),
    /// Take what was applied last out of the person's folder.
    Undo(TurnReach),
    /// Put what was undone last into it once more.
    Redo(TurnReach),
}

/// The files that may be undone or redone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnReach {
    /// Any file.
    All,
    /// Data alone: if there is a file that may hold code, or that something runs or reads by
    /// itself, nothing is undone or redone.
    Data,
}

impl ChangesWish {
    pub(super) fn body(&self) -> Body {
        let (wish, paths) = match self {
            Self::Apply(picks) => ("apply", picks.iter().map(Pick::to_string).collect()),
            Self::ApplyShown { order: ApplyOrder { picks, seen }, .. } => {
                let (wish, paths) = ("apply".into(), picks.iter().map(Pick::to_string).collect());
                let seen = seen.as_ref().map(|seen| seen.hash.clone());
                return Body::ChangesWanted { wish, paths, seen, put: None };
            }
            Self::Discard(paths) | Self::DiscardShown { paths, .. } => ("discard", paths.clone()),
            Self::Put(put) => {
                let (wish, paths) = ("put".into(), vec![put.path.clone()]);
                let put = Some(put.content.clone());
                return Body::ChangesWanted { wish, paths, seen: None, put };
            }
            Self::Undo(_) => ("undo", Vec::new()),
            Self::Redo(_) => ("redo", Vec::new()),
        };
        Body::ChangesWanted { wish: wish.into(), paths, seen: None, put: None }
    }
}
