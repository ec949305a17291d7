//! One run, from outside: what it printed, how long it took, what ended it.

use interpreter_core::{Limits, session::Ran};
use std::time::{Duration, Instant};

/// How long an interrupted kernel may take to heed it before it is ended.
const GRACE: Duration = Duration::from_secs(2);

/// An interrupt can be lost at the moment a program is started, so it is sent once more.
const AGAIN: Duration = Duration::from_millis(300);

/// A run that is under way.
#[derive(Debug)]
pub(super) struct Cell {
    pub(super) kernel: u32,
    pub(super) proposal: String,
    started: Instant,
    limits: Limits,
    limit: Option<String>,
    /// What comes next, and when, once the run is to be over.
    ending: Option<(Due, Instant)>,
}

/// What is to be done about a run now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// Interrupt it.
    Interrupt,
    /// End its kernel.
    End,
    /// End the sandbox: the host inside does not do what it is told.
    Abandon,
}

impl Cell {
    pub(super) fn new(kernel: u32, proposal: String, limits: Limits, now: Instant) -> Self {
        Self { kernel, proposal, started: now, limits, limit: None, ending: None }
    }

    /// Notes that it printed too much, so that its kernel is being ended.
    pub(super) fn printed_too_much(&mut self, now: Instant) {
        self.limit = Some(format!("output ({} bytes)", self.limits.output_bytes));
        self.ending = Some((Due::Abandon, now + GRACE));
    }

    /// Notes that the run was interrupted.
    pub(super) fn interrupted(&mut self, now: Instant) {
        self.ending.get_or_insert((Due::Interrupt, now + AGAIN));
    }

    /// When to look at the clock again.
    pub(super) fn alarm(&self) -> Option<Instant> {
        match self.ending {
            Some((_, at)) => Some(at),
            None => self.started.checked_add(Duration::from_secs(self.limits.wall_seconds?)),
        }
    }

    /// What is to be done now that the alarm has gone off. Each is tried once.
    pub(super) fn due(&mut self, now: Instant) -> Option<Due> {
        if now < self.alarm()? {
            return None;
        }
        match self.ending {
            None => {
                let seconds = self.limits.wall_seconds.unwrap_or_default();
                self.limit = Some(format!("time ({seconds} s)"));
                self.interrupted(now);
                Some(Due::Interrupt)
            }
            Some((due, _)) => {
                let next = match due {
                    Due::Interrupt => Due::End,
                    Due::End | Due::Abandon => Due::Abandon,
                };
                self.ending = Some((next, now + GRACE));
                Some(due)
            }
        }
    }

    /// How it ended, but for its effects.
    pub(super) fn ended(self, now: Instant, status: Option<i32>, signal: Option<i32>) -> Ran {
        let ms = now.duration_since(self.started).as_millis();
        Ran {
            proposal: self.proposal,
            status,
            signal,
            limit: self.limit,
            ms: u64::try_from(ms).unwrap_or(u64::MAX),
            ..Ran::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_past_its_time_is_interrupted_and_then_ended() {
        let start = Instant::now();
        let limits = Limits { wall_seconds: Some(5), ..Limits::default() };
        let mut cell = Cell::new(1, "p1".into(), limits, start);
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(cell.due(at(4)), None);
        assert_eq!(cell.due(at(5)), Some(Due::Interrupt));
        assert_eq!(cell.due(at(6)), Some(Due::Interrupt));
        assert_eq!(cell.due(at(7)), None);
        assert_eq!(cell.due(at(8)), Some(Due::End));
        assert_eq!(cell.due(at(8)), None);
        assert_eq!(cell.due(at(10)), Some(Due::Abandon));
        assert_eq!(cell.ended(at(10), None, Some(9)).limit.as_deref(), Some("time (5 s)"));
    }

    #[test]
    fn without_a_limit_only_the_person_ends_it() {
        let start = Instant::now();
        let mut cell = Cell::new(1, "p1".into(), Limits::default(), start);
        assert_eq!(cell.alarm(), None);
        cell.interrupted(start);
        assert_eq!(cell.due(start + AGAIN), Some(Due::Interrupt));
        assert_eq!(cell.due(start + AGAIN + GRACE), Some(Due::End));
    }
}
