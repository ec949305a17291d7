//! Uses of secrets, each on record before its request goes out.
//!
//! # Threat
//! A use that nobody learns of; code that fills the record; code left running that uses a secret
//! when nothing that was approved runs any more.
//!
//! # Mechanism
//! A use is handed to the session and waits for its word, which comes after the record was written.
//! It carries the number of its run, and goes out only while that run goes on: never between runs,
//! and never as a use of the next one. The number of uses in one run is limited.
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

/// The words for a use whose run ended before the record had it.
const OVER: &str = "the run is over";

/// A use that waits to be on record.
#[derive(Debug)]
pub(crate) struct WaitingUse {
    /// The run that it belongs to.
    pub(super) run: u64,
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
    /// The run under way.
    run: Option<Run>,
    /// How many runs have begun.
    begun: u64,
    /// Since the last report, with how often.
    listed: BTreeMap<SecretUse, u64>,
}

#[derive(Debug)]
struct Run {
    number: u64,
    /// How many uses it has had.
    had: u64,
    /// Those that wait for the record, by what `had` was.
    waiting: BTreeMap<u64, SecretUse>,
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
        let (run, at, answered) = self.state().wait(of, &self.session)?;
        // Dropped without a word means no, or that the run is over.
        let goes_out = answered.await.unwrap_or(false);
        self.state().answered(run, at, goes_out)
    }

    /// Begins a run. Whatever still waits from the one before goes nowhere.
    pub(super) fn begin_run(&self) {
        let mut state = self.state();
        state.end_run();
        state.begun += 1;
        state.run = Some(Run { number: state.begun, had: 0, waiting: BTreeMap::new() });
    }

    /// Ends the run. Whatever still waits goes nowhere.
    pub(super) fn end_run(&self) {
        self.state().end_run();
    }

    /// The uses since the last call.
    pub(super) fn take(&self) -> Vec<SecretUse> {
        let listed = std::mem::take(&mut self.state().listed);
        listed.into_iter().map(|(of, count)| SecretUse { count, ..of }).collect()
    }

    /// Whether this run is under way.
    pub(super) fn is_under_way(&self, number: u64) -> bool {
        self.state().run.as_ref().is_some_and(|run| run.number == number)
    }
}

impl State {
    /// Hands a use to the session: the run, its number there, and where the answer comes.
    fn wait(
        &mut self,
        of: SecretUse,
        session: &mpsc::UnboundedSender<WaitingUse>,
    ) -> Result<(u64, u64, oneshot::Receiver<bool>), &'static str> {
        let run = match &mut self.run {
            None => return Err(self.refuse(of, "no code that you approved is running")),
            Some(run) if run.had >= MOST => {
                return Err(self.refuse(of, "this run has used secrets too often"));
            }
            Some(run) => run,
        };
        let (answer, answered) = oneshot::channel();
        let waiting = WaitingUse { run: run.number, of: of.clone(), answer };
        if session.send(waiting).is_err() {
            return Err("the session is over");
        }
        run.had += 1;
        run.waiting.insert(run.had, of);
        Ok((run.number, run.had, answered))
    }

    /// Takes the answer about a use. It counts only while its own run goes on.
    fn answered(&mut self, number: u64, at: u64, goes_out: bool) -> Result<(), &'static str> {
        let run = self.run.as_mut().filter(|run| run.number == number);
        let Some(of) = run.and_then(|run| run.waiting.remove(&at)) else { return Err(OVER) };
        if !goes_out {
            return Err(self.refuse(of, OVER));
        }
        self.list(of);
        Ok(())
    }

    /// Ends the run. Its uses that still wait go nowhere.
    fn end_run(&mut self) {
        let waiting = self.run.take().map(|run| run.waiting).unwrap_or_default();
        for of in waiting.into_values() {
            self.refuse(of, OVER);
        }
    }

    /// Lists a use that does not take place. One that is refused already keeps its reason.
    fn refuse(&mut self, of: SecretUse, why: &'static str) -> &'static str {
        let why_not = of.why.clone().or_else(|| Some(why.into()));
        self.list(SecretUse { verdict: Admission::Refused, why: why_not, ..of });
        why
    }

    fn list(&mut self, of: SecretUse) {
        if self.listed.contains_key(&of) || self.listed.len() < MOST_LISTED {
            *self.listed.entry(of).or_default() += 1;
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::egress) fn used() -> SecretUse {
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

    fn ended(uses: &Uses) -> Vec<SecretUse> {
        uses.end_run();
        uses.take()
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
        let listed: Vec<_> = ended(&uses).iter().map(SecretUse::line).collect();
        assert_eq!(
            listed,
            [
                "used T for GET h.org/",
                "did not use T for GET h.org/: no code that you approved is running",
                "did not use T for GET h.org/: the run is over"
            ]
        );
    }

    #[tokio::test]
    async fn an_answer_that_comes_after_the_run_lets_nothing_out() {
        let (session, mut waiting) = mpsc::unbounded_channel();
        let uses = Uses::new(session);
        uses.begin_run();
        let (recorded, ()) = tokio::join!(uses.record(used()), async {
            let waiting = waiting.recv().await.unwrap();
            // It is on record, and the word comes too late.
            waiting.answer.send(true).unwrap();
            let listed: Vec<_> = ended(&uses).iter().map(SecretUse::line).collect();
            assert_eq!(listed, ["did not use T for GET h.org/: the run is over"]);
            uses.begin_run();
        });
        assert_eq!(recorded, Err("the run is over"));
        assert_eq!(ended(&uses), []);
    }

    #[tokio::test]
    async fn a_run_has_so_many_and_no_more() {
        let (session, mut waiting) = mpsc::unbounded_channel();
        let uses = Uses::new(session);
        uses.begin_run();
        uses.state().run.as_mut().unwrap().had = MOST - 1;
        let (last, ()) = tokio::join!(uses.record(used()), async {
            waiting.recv().await.unwrap().answer.send(true).unwrap();
        });
        assert!(last.is_ok() && uses.record(used()).await.is_err());
        uses.begin_run();
        for number in 0..1_000 {
            uses.state().list(SecretUse { path: number.to_string(), ..used() });
        }
        assert_eq!(ended(&uses).len(), MOST_LISTED);
    }
}
