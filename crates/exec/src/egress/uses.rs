//! Uses of secrets, each on record before its request goes out.
//!
//! # Threat
//! A use that nobody learns of; code that fills the record; code left running that uses a secret
//! when nothing that was approved runs any more.
//!
//! # Mechanism
//! A use is handed to the session and waits for its word, which comes after the record was written.
//! Between runs no use is passed on, and the number of uses in one run is limited.
//!
//! # Limits
//! A program that an earlier run left behind can use a secret while later code runs.

use interpreter_core::{Admission, SecretUse};
use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};
use tokio::sync::{mpsc, oneshot};

/// Uses that one run may have.
const MOST: u64 = 10_000;

/// The most different ones listed for one run. All of them are on record.
const MOST_LISTED: usize = 200;

/// A use that waits to be on record.
#[derive(Debug)]
pub(crate) struct WaitingUse {
    pub(crate) of: SecretUse,
    /// Whether its request may go out.
    pub(crate) answer: oneshot::Sender<bool>,
}

/// The uses of one sandbox.
#[derive(Debug)]
pub(super) struct Uses {
    session: mpsc::UnboundedSender<WaitingUse>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// How many the run under way has had.
    run: Option<u64>,
    /// Since the last report, with how often.
    listed: BTreeMap<SecretUse, u64>,
}

impl Uses {
    pub(super) fn new(session: mpsc::UnboundedSender<WaitingUse>) -> Self {
        Self { session, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing in here panics between two changes that belong together.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a use is on record. Otherwise says why its request does not go out.
    pub(super) async fn record(&self, of: SecretUse) -> Result<(), &'static str> {
        let waiting = {
            let mut state = self.state();
            let had = state.run;
            let why = match had {
                None => Some("no code that you approved is running"),
                Some(had) if had >= MOST => Some("this run has used secrets too often"),
                Some(_) => None,
            };
            if let Some(why) = why {
                let refused =
                    SecretUse { verdict: Admission::Refused, why: Some(why.into()), ..of };
                state.list(refused);
                return Err(why);
            }
            state.run = had.map(|had| had + 1);
            state.list(of.clone());
            let (answer, answered) = oneshot::channel();
            if self.session.send(WaitingUse { of, answer }).is_err() {
                return Err("the session is over");
            }
            answered
        };
        // Dropped without a word means no, or that the run is over.
        match waiting.await {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => Err("the run is over"),
        }
    }

    pub(super) fn begin_run(&self) {
        self.state().run = Some(0);
    }

    /// Ends the run and returns its uses.
    pub(super) fn end_run(&self) -> Vec<SecretUse> {
        let mut state = self.state();
        state.run = None;
        let listed = std::mem::take(&mut state.listed);
        listed.into_iter().map(|(of, count)| SecretUse { count, ..of }).collect()
    }
}

impl State {
    fn list(&mut self, of: SecretUse) {
        if self.listed.contains_key(&of) || self.listed.len() < MOST_LISTED {
            *self.listed.entry(of).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used() -> SecretUse {
        SecretUse {
            name: "T".into(),
            method: "GET".into(),
            host: "h.org".parse().unwrap(),
            port: 443,
            path: "/".into(),
            verdict: Admission::Allowed,
            why: None,
            count: 1,
        }
    }

    #[tokio::test]
    async fn a_use_waits_for_the_record_and_needs_a_run() {
        let (session, mut waiting) = mpsc::unbounded_channel();
        let uses = Uses::new(session);
        assert!(uses.record(used()).await.is_err());
        assert!(waiting.try_recv().is_err());
        uses.begin_run();
        let (recorded, ()) = tokio::join!(uses.record(used()), async {
            waiting.recv().await.unwrap().answer.send(true).unwrap();
        });
        assert_eq!(recorded, Ok(()));
        let (recorded, ()) =
            tokio::join!(uses.record(used()), async { drop(waiting.recv().await.unwrap()) });
        assert_eq!(recorded, Err("the run is over"));
        let listed: Vec<_> = uses.end_run().iter().map(SecretUse::line).collect();
        assert_eq!(
            listed,
            [
                "used T for GET h.org/ (2 times)",
                "did not use T for GET h.org/: no code that you approved is running"
            ]
        );
    }

    #[tokio::test]
    async fn a_run_has_so_many_and_no_more() {
        let (session, mut waiting) = mpsc::unbounded_channel();
        let uses = Uses::new(session);
        uses.begin_run();
        uses.state().run = Some(MOST - 1);
        let (last, ()) = tokio::join!(uses.record(used()), async {
            waiting.recv().await.unwrap().answer.send(true).unwrap();
        });
        assert!(last.is_ok() && uses.record(used()).await.is_err());
        uses.begin_run();
        for number in 0..1_000 {
            uses.state().list(SecretUse { path: number.to_string(), ..used() });
        }
        assert_eq!(uses.end_run().len(), MOST_LISTED);
    }
}
