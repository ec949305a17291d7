//! The part of a person's storage that a session is promised when it begins. See `quota.rs`.

use interpreter_store::Bytes;

/// The bytes that a session may stage. With `None`, only its settings limit it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Promise(Option<u64>);

impl Promise {
    pub(super) fn of(bytes: u64) -> Self {
        Self(Some(bytes))
    }

    pub(super) fn bytes(self) -> u64 {
        self.0.unwrap_or(0)
    }

    /// Bounds the staged files of a session by it. Returns what the session needs of it.
    pub(super) fn bound(self, staged: &mut Bytes) -> Self {
        let Some(part) = self.0 else { return self };
        *staged = (*staged).min(Bytes::new(part));
        Self(Some(staged.count()))
    }
}
