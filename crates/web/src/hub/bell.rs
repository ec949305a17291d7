//! Wakes a client, and says which sessions have news for it.
//!
//! Nothing but names is kept here, each once, so it does not grow while a client does not read.

use std::{
    collections::BTreeSet,
    mem,
    sync::{Mutex, MutexGuard, PoisonError},
};
use tokio::sync::Notify;

/// Rows that are named one by one; beyond that a client looks at all of them.
const MOST_ROWS: usize = 1_000;

/// One client's bell.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    news: Mutex<News>,
    notify: Notify,
}

/// The sessions that have something new.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct News {
    /// Those with records or live text.
    pub(crate) sessions: BTreeSet<String>,
    /// Those whose row has changed.
    pub(crate) rows: BTreeSet<String>,
    /// Whether more rows have changed than are named.
    pub(crate) all_rows: bool,
    /// Whether a download of a model has got further.
    pub(crate) weights: bool,
}

impl Bell {
    /// A session that the client is subscribed to has news.
    pub(crate) fn ring(&self, session: &str) {
        let mut news = self.news();
        if !news.sessions.contains(session) {
            news.sessions.insert(session.to_owned());
        }
        drop(news);
        self.notify.notify_one();
    }

    /// The row of a session has changed.
    pub(crate) fn ring_for_row(&self, session: &str) {
        let mut news = self.news();
        if news.rows.len() >= MOST_ROWS {
            news.all_rows = true;
        } else if !news.rows.contains(session) {
            news.rows.insert(session.to_owned());
        }
        drop(news);
        self.notify.notify_one();
    }

    /// A download of a model has got further.
    pub(crate) fn ring_for_weights(&self) {
        self.news().weights = true;
        self.notify.notify_one();
    }

    /// Waits for news. May be dropped at any time without losing any.
    pub(crate) async fn rung(&self) {
        self.notify.notified().await;
    }

    /// The news so far.
    pub(crate) fn take(&self) -> News {
        mem::take(&mut *self.news())
    }

    fn news(&self) -> MutexGuard<'_, News> {
        self.news.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
