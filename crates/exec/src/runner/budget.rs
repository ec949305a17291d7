//! The processor time of a run and of what it leaves behind.
//!
//! # Mechanism
//! The host inside adds up what all processes there have used. It is asked when the limit can have
//! been reached at the earliest, which is when what is left of it has passed on every processor at
//! once, and then again; nothing is asked where there is no limit. A run past its limit is
//! interrupted and, if it does not heed that, ended, as one past its time is.
//!
//! The account stays open until the next run: what was left in the background, or code that lies
//! about being done, goes on using it up, and loses its kernel when it has.
//!
//! # Limits
//! Everything inside counts, whichever kernel started it. What nobody inside counts, nobody
//! counts: children of a process that ignores SIGCHLD. Between runs, what has been idle for long is
//! asked more and more rarely, so what then begins to work is noticed late.

use super::{
    actor::Actor,
    live::{KernelState, Next as Follows},
};
use crate::ExecError;
use interpreter_core::Reached;
use interpreter_host::Inward;
use std::time::{Duration, Instant};

/// The shortest time between two questions.
const SHORTEST: Duration = Duration::from_millis(100);

/// The longest time between two questions about something that is idle between runs.
const LONGEST: Duration = Duration::from_mins(1);

/// How long the host may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// An account of processor time.
#[derive(Debug)]
pub(super) struct Budget {
    /// The kernel that the run was given to.
    kernel: u32,
    seconds: u64,
    processors: u32,
    /// What had been used when the run began.
    base: Option<Duration>,
    /// What has been used since.
    spent: Duration,
    /// What may be used; more than the limit once that was reached and the run is to be over.
    allowance: Duration,
    /// How long something idle is left alone.
    pause: Duration,
    next: Next,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Ask(Instant),
    Answer(Instant),
}

/// Whether a run is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Time {
    OfRun,
    BetweenRuns,
}

/// How an account stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Balance {
    Within,
    Beyond,
}

impl Budget {
    /// An account that is opened now; the host is being asked what has been used before.
    pub(super) fn open(kernel: u32, seconds: u64, now: Instant) -> Self {
        let processors = std::thread::available_parallelism()
            .map_or(1, |count| u32::try_from(count.get()).unwrap_or(u32::MAX));
        Self {
            kernel,
            seconds,
            processors,
            base: None,
            spent: Duration::ZERO,
            allowance: Duration::from_secs(seconds),
            pause: SHORTEST,
            next: Next::Answer(now + PATIENCE),
        }
    }

    pub(super) fn alarm(&self) -> Instant {
        match self.next {
            Next::Ask(at) | Next::Answer(at) => at,
        }
    }

    /// Takes the host's answer.
    pub(super) fn measured(&mut self, used: Duration, time: Time, now: Instant) -> Balance {
        let base = *self.base.get_or_insert(used);
        let spent = used.saturating_sub(base);
        self.pause = match time {
            Time::BetweenRuns if spent == self.spent => (self.pause * 2).min(LONGEST),
            Time::BetweenRuns | Time::OfRun => SHORTEST,
        };
        self.spent = spent;
        let balance = if spent < self.allowance { Balance::Within } else { Balance::Beyond };
        if balance == Balance::Beyond {
            // What goes on all the same is noticed again.
            self.allowance = spent + (Duration::from_secs(self.seconds) / 10).max(SHORTEST);
        }
        let left = self.allowance.saturating_sub(spent);
        self.next = Next::Ask(now + (left / self.processors).max(self.pause));
        balance
    }
}

impl Actor {
    /// Opens an account for a run, if there is a limit.
    pub(super) async fn open_budget(&mut self, kernel: u32) -> Result<(), ExecError> {
        let Some(live) = &mut self.live else { return Ok(()) };
        let seconds = live.confinement.limits.cpu_seconds;
        self.budget = seconds.map(|seconds| Budget::open(kernel, seconds, Instant::now()));
        match self.budget {
            Some(_) => live.send(&Inward::Measure).await,
            None => Ok(()),
        }
    }

    /// Asks the host, if it is time to. One that does not answer is no use any more.
    pub(super) async fn check_budget(&mut self, now: Instant) -> Result<(), ExecError> {
        let (Some(budget), Some(live)) = (&mut self.budget, &mut self.live) else { return Ok(()) };
        if now < budget.alarm() {
            return Ok(());
        }
        match budget.next {
            Next::Ask(_) => {
                budget.next = Next::Answer(now + PATIENCE);
                live.send(&Inward::Measure).await
            }
            Next::Answer(_) => self.abandon().await,
        }
    }

    /// The host has answered.
    pub(super) async fn measured(&mut self, milliseconds: u64) -> Result<(), ExecError> {
        let now = Instant::now();
        let time = if self.cell.is_some() { Time::OfRun } else { Time::BetweenRuns };
        let Some(budget) = &mut self.budget else { return Ok(()) };
        if budget.measured(Duration::from_millis(milliseconds), time, now) == Balance::Within {
            return Ok(());
        }
        let (kernel, reached) = (budget.kernel, Reached::Cpu(budget.seconds));
        if let Some(cell) = &mut self.cell {
            let due = cell.reached(reached, now);
            return self.act(due).await;
        }
        let Some(live) = &mut self.live else { return Ok(()) };
        if let Some(guilty) = live.kernels.get_mut(&kernel) {
            guilty.state = KernelState::Ending(Follows::Nothing);
            guilty.why = Some(format!(
                "was ended: what it went on with after its run reached the limit on {reached}"
            ));
        }
        live.send(&Inward::Stop { kernel }).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(now: Instant) -> Budget {
        Budget { processors: 4, ..Budget::open(1, 8, now) }
    }

    #[test]
    fn it_is_asked_when_the_limit_can_be_reached_at_the_earliest() {
        let now = Instant::now();
        let mut budget = budget(now);
        let second = Duration::from_secs(1);
        // What was used before the run does not count.
        assert_eq!(budget.measured(100 * second, Time::OfRun, now), Balance::Within);
        assert_eq!(budget.alarm(), now + 2 * second);
        assert_eq!(budget.measured(104 * second, Time::OfRun, now), Balance::Within);
        assert_eq!(budget.alarm(), now + second);
        assert_eq!(budget.measured(108 * second, Time::OfRun, now), Balance::Beyond);
        assert_eq!(budget.measured(108 * second, Time::OfRun, now), Balance::Within);
        assert_eq!(budget.measured(109 * second, Time::BetweenRuns, now), Balance::Beyond);
    }

    #[test]
    fn what_is_idle_between_runs_is_left_alone() {
        let now = Instant::now();
        let mut budget = budget(now);
        for _ in 0..20 {
            budget.measured(Duration::ZERO, Time::BetweenRuns, now);
        }
        assert_eq!(budget.alarm(), now + LONGEST);
        budget.measured(Duration::from_secs(4), Time::BetweenRuns, now);
        assert_eq!(budget.alarm(), now + Duration::from_secs(1));
    }
}
