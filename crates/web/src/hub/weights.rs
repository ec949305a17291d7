//! Follows downloads of embedded models, whoever makes them, and wakes those who watch the list.
//!
//! The system gives notice when a file of the models' folder grows. Nothing is asked again and again,
//! and nothing is downloaded here. Followed from the first time on that somebody looks at the models.

use super::{Shared, reading::elsewhere};
use interpreter_agent::embedded::{self, WeightsRow};
use rustix::{
    fs::inotify::{self, CreateFlags, WatchFlags},
    io::read,
};
use std::{
    io,
    os::fd::OwnedFd,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};
use tokio::io::{Interest, unix::AsyncFd};

/// Bytes of notices that are read at once. They are not looked at.
const NOTICES: usize = 4 << 10;

/// The embedded models as they were seen last.
#[derive(Default)]
pub(super) struct SeenWeights(Mutex<Seen>);

#[derive(Default)]
struct Seen {
    rows: Vec<WeightsRow>,
    is_followed: bool,
}

impl SeenWeights {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All of them.
    pub(super) fn rows(&self) -> Vec<WeightsRow> {
        self.seen().rows.clone()
    }

    /// Takes in how they are now. Returns whether a person would see the difference.
    fn take(&self, rows: Vec<WeightsRow>) -> bool {
        let mut seen = self.seen();
        let is_same = seen.rows.len() == rows.len()
            && seen.rows.iter().zip(&rows).all(|(old, new)| step(old) == step(new));
        if !is_same {
            seen.rows = rows;
        }
        !is_same
    }
}

/// How far a model is, in steps that are worth a line: hundredths.
fn step(row: &WeightsRow) -> (&str, bool, Option<u64>) {
    let hundredths = row.part.map(|part| part.saturating_mul(100) / row.bytes.max(1));
    (&row.name, row.here, hundredths)
}

/// Begins to follow the downloads of a server, unless that was done.
pub(super) fn follow_downloads(shared: &Arc<Shared>) {
    let mut seen = shared.weights.seen();
    if seen.is_followed {
        return;
    }
    // Without notices the models are as they were when somebody looked.
    if let Ok(notices) = notices(shared) {
        seen.is_followed = true;
        drop(seen);
        tokio::spawn(follow(Arc::downgrade(shared), notices));
    }
}

#[expect(deprecated, reason = "the new form is `unsafe`, for things whose descriptor may change")]
fn notices(shared: &Shared) -> io::Result<AsyncFd<OwnedFd>> {
    let folder = shared.folders.make_models_folder().map_err(io::Error::other)?;
    let notices = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
    let wanted = WatchFlags::MODIFY
        | WatchFlags::CREATE
        | WatchFlags::DELETE
        | WatchFlags::MOVED_FROM
        | WatchFlags::MOVED_TO
        | WatchFlags::ONLYDIR;
    inotify::add_watch(&notices, folder, wanted)?;
    AsyncFd::with_interest(notices, Interest::READABLE)
}

/// Follows until the server is gone.
async fn follow(shared: Weak<Shared>, notices: AsyncFd<OwnedFd>) {
    let mut buffer = [0; NOTICES];
    loop {
        let Some(hub) = shared.upgrade() else { return };
        let folders = Arc::clone(&hub.folders);
        let rows = elsewhere(move || Ok(embedded::rows(&folders))).await.unwrap_or_default();
        if hub.weights.take(rows) {
            hub.weights_changed();
        }
        drop(hub);
        let taken = |file: &OwnedFd| read(file, &mut buffer).map_err(io::Error::from);
        if notices.async_io(Interest::READABLE, taken).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(part: Option<u64>) -> WeightsRow {
        let text = String::from;
        WeightsRow {
            name: text("m"),
            title: text("M"),
            role: "default",
            bytes: 1_000,
            sha256: text(""),
            licence: text(""),
            context: 1,
            here: false,
            part,
        }
    }

    #[test]
    fn only_a_step_that_is_seen_counts() {
        let seen = SeenWeights::default();
        assert!(seen.take(vec![row(None)]));
        assert!(!seen.take(vec![row(None)]));
        assert!(seen.take(vec![row(Some(1))]));
        assert!(!seen.take(vec![row(Some(9))]));
        assert!(seen.take(vec![row(Some(10))]));
        assert!(seen.take(vec![WeightsRow { here: true, ..row(None) }]));
    }
}
