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
//! Everything inside counts, whichever kernel started it. Children of a process that ignores
//! SIGCHLD are not counted, because nobody inside counts them. Between runs, an idle sandbox is
//! checked more and more rarely, so renewed activity is noticed late.

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
    pub(super) kernel: u32,
    pub(super) seconds: u64,
    processors: u32,
    /// Usage at the start of the run.
    base: Option<Duration>,
    /// Usage since then.
    spent: Duration,
    /// The allowance; more than the limit once that was reached and the run is ending.
    allowance: Duration,
    /// How long something idle is left alone.
    pause: Duration,
    pub(super) next: Next,
}

/// When the host is asked, or must have answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Ask(Instant),
    Answer(Instant),
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

    /// The host is being asked.
    pub(super) fn asked(&mut self, now: Instant) {
        self.next = Next::Answer(now + PATIENCE);
    }

    /// Takes the host's answer. Returns whether the limit is reached.
    pub(super) fn measured(&mut self, milliseconds: u64, running: bool, now: Instant) -> bool {
        let used = Duration::from_millis(milliseconds);
        let spent = used.saturating_sub(*self.base.get_or_insert(used));
        let idle = !running && spent == self.spent;
        self.pause = if idle { (self.pause * 2).min(LONGEST) } else { SHORTEST };
        self.spent = spent;
        let beyond = spent >= self.allowance;
        if beyond {
            // Continued usage is noticed again.
            self.allowance = spent + (Duration::from_secs(self.seconds) / 10).max(SHORTEST);
        }
        let left = self.allowance.saturating_sub(spent);
        self.next = Next::Ask(now + (left / self.processors).max(self.pause));
        beyond
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
        // Usage before the run does not count.
        assert!(!budget.measured(100_000, true, now));
        assert_eq!(budget.alarm(), now + 2 * second);
        assert!(!budget.measured(104_000, true, now));
        assert_eq!(budget.alarm(), now + second);
        assert!(budget.measured(108_000, true, now));
        assert!(!budget.measured(108_000, true, now));
        assert!(budget.measured(109_000, false, now));
    }

    #[test]
    fn what_is_idle_between_runs_is_left_alone() {
        let now = Instant::now();
        let mut budget = budget(now);
        for _ in 0..20 {
            budget.measured(0, false, now);
        }
        assert_eq!(budget.alarm(), now + LONGEST);
        budget.measured(4_000, false, now);
        assert_eq!(budget.alarm(), now + Duration::from_secs(1));
    }
}
