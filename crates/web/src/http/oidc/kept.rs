//! A document of the provider that counts for everybody, asked for by one at a time.
//!
//! # Threat
//! A provider that answers slowly, or with nothing of use, while a crowd begins logins: each of them
//! would wait for all before it, and each would make us ask again.
//!
//! # Mechanism
//! Whoever waits gets the answer of the one who asked, a failure too. After a failure the provider
//! is left alone for a while. A document that is known serves as long as it is young enough, however
//! often it couldn't be renewed.

use super::refusal::ProviderRefusal;
use interpreter_agent::DocumentError;
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};
use tokio::sync::Semaphore;

/// How long a provider that failed isn't asked again.
const PAUSE: Duration = Duration::from_secs(5);

/// Why there is no document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoDocument {
    Unreachable(DocumentError),
    /// It is there, and isn't one.
    Unreadable,
}

impl From<NoDocument> for ProviderRefusal {
    fn from(missing: NoDocument) -> Self {
        match missing {
            NoDocument::Unreachable(error) => Self::Unreachable(error),
            NoDocument::Unreadable => Self::Metadata,
        }
    }
}

/// The document, if it is known, and the last failure to get it.
#[derive(Debug)]
pub(super) struct KeptDocument<T> {
    state: Mutex<State<T>>,
    room: Semaphore,
}

#[derive(Debug)]
struct State<T> {
    known: Option<(Arc<T>, Instant)>,
    failed: Option<(NoDocument, Instant)>,
}

impl<T> Default for KeptDocument<T> {
    fn default() -> Self {
        let state = Mutex::new(State { known: None, failed: None });
        Self { state, room: Semaphore::new(1) }
    }
}

impl<T> KeptDocument<T> {
    /// The document, no older than `age` at the time `now`. Calls `ask` only if it has to.
    pub(super) async fn get(
        &self,
        age: Duration,
        now: Instant,
        ask: impl AsyncFnOnce() -> Result<T, NoDocument>,
    ) -> Result<Arc<T>, ProviderRefusal> {
        if let Some(known) = self.known(age, now) {
            return Ok(known?);
        }
        let _permit = self.room.acquire().await.map_err(|_| ProviderRefusal::Failed)?;
        if let Some(known) = self.known(age, now) {
            return Ok(known?);
        }
        let asked = ask().await;
        let (mut state, then) = (self.lock(), Instant::now());
        match asked {
            Ok(read) => {
                let read = Arc::new(read);
                *state = State { known: Some((Arc::clone(&read), then)), failed: None };
                Ok(read)
            }
            Err(missing) => {
                state.failed = Some((missing, then));
                Err(missing.into())
            }
        }
    }

    /// What is known without asking, if that is enough.
    fn known(&self, age: Duration, now: Instant) -> Option<Result<Arc<T>, NoDocument>> {
        let state = self.lock();
        let since = |at: &Instant| now.saturating_duration_since(*at);
        if let Some((known, _)) = state.known.as_ref().filter(|(_, at)| since(at) < age) {
            return Some(Ok(Arc::clone(known)));
        }
        let failed = state.failed.as_ref().filter(|(_, at)| since(at) < PAUSE);
        failed.map(|(missing, _)| Err(*missing))
    }

    /// A poisoned lock is harmless: every change is one step.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        cell::Cell,
        future::{pending, poll_fn},
        task::Poll,
    };

    const HOUR: Duration = Duration::from_hours(1);
    const SILENT: NoDocument = NoDocument::Unreachable(DocumentError::Silent);

    /// Asks a document that is the number of times it was asked for.
    async fn ask(
        kept: &KeptDocument<u32>,
        age: Duration,
        now: Instant,
        asked: &Cell<u32>,
        answer: Result<(), NoDocument>,
    ) -> Result<u32, ProviderRefusal> {
        let ask = async || {
            asked.set(asked.get() + 1);
            answer.map(|()| asked.get())
        };
        kept.get(age, now, ask).await.map(|read| *read)
    }

    #[tokio::test]
    async fn a_document_is_asked_for_once_while_it_is_young() {
        let (kept, asked, now) = (KeptDocument::default(), Cell::new(0), Instant::now());
        for _ in 0..100 {
            assert_eq!(ask(&kept, HOUR, now, &asked, Ok(())).await, Ok(1));
        }
        let later = Instant::now() + HOUR;
        assert_eq!(ask(&kept, HOUR, later, &asked, Ok(())).await, Ok(2));
    }

    #[tokio::test]
    async fn a_provider_that_fails_is_left_alone_for_a_while() {
        let (kept, asked, now) = (KeptDocument::default(), Cell::new(0), Instant::now());
        for missing in [SILENT, NoDocument::Unreadable] {
            let later = Instant::now() + PAUSE * asked.get();
            for _ in 0..100 {
                let refused = ask(&kept, HOUR, later, &asked, Err(missing)).await;
                assert_eq!(refused, Err(missing.into()));
            }
        }
        assert_eq!(asked.get(), 2);
        // The control: then it is asked again, and a document ends the failure.
        let later = Instant::now() + PAUSE;
        assert_eq!(ask(&kept, HOUR, later, &asked, Ok(())).await, Ok(3));
        assert_eq!(ask(&kept, HOUR, now, &asked, Err(SILENT)).await, Ok(3));
    }

    #[tokio::test]
    async fn a_known_document_outlives_failures_to_renew_it() {
        let (kept, asked, now) = (KeptDocument::default(), Cell::new(0), Instant::now());
        assert_eq!(ask(&kept, HOUR, now, &asked, Ok(())).await, Ok(1));
        // Keys that are not known make somebody want it fresh: once, and not for each.
        let later = Instant::now() + Duration::from_mins(1);
        for _ in 0..100 {
            let fresh = ask(&kept, Duration::from_mins(1), later, &asked, Err(SILENT)).await;
            assert_eq!(fresh, Err(SILENT.into()));
            assert_eq!(ask(&kept, HOUR, later, &asked, Err(SILENT)).await, Ok(1));
            // The clock of the failure is the real one.
            kept.lock().failed.as_mut().unwrap().1 = later;
        }
        assert_eq!(asked.get(), 2);
    }

    #[tokio::test]
    async fn whoever_waits_gets_the_failure_of_the_one_who_asked() {
        let (kept, asked, now) = (KeptDocument::default(), Cell::new(0), Instant::now());
        let (answer, answered) = tokio::sync::oneshot::channel();
        let first = kept.get(HOUR, now, async || {
            asked.set(asked.get() + 1);
            answered.await.unwrap_or(Err(SILENT)).map(|()| 1)
        });
        let crowd = (0..100).map(|_| ask(&kept, HOUR, now, &asked, Ok(())));
        let mut crowd: Vec<_> = crowd.map(Box::pin).collect();
        let mut first = Box::pin(first);
        // All are begun before the first is answered.
        poll_fn(|context| {
            assert!(first.as_mut().poll(context).is_pending());
            assert!(crowd.iter_mut().all(|one| one.as_mut().poll(context).is_pending()));
            Poll::Ready(())
        })
        .await;
        answer.send(Err(SILENT)).unwrap();
        assert_eq!(first.await, Err(SILENT.into()));
        for one in crowd {
            assert_eq!(one.await, Err(SILENT.into()));
        }
        assert_eq!(asked.get(), 1);
    }

    #[tokio::test]
    async fn whoever_goes_away_while_asking_leaves_the_place_to_the_next() {
        let (kept, asked, now) = (KeptDocument::default(), Cell::new(0), Instant::now());
        let gone = kept.get(HOUR, now, async || pending().await);
        assert!(tokio::time::timeout(Duration::ZERO, gone).await.is_err());
        assert_eq!(ask(&kept, HOUR, now, &asked, Ok(())).await, Ok(1));
    }
}
