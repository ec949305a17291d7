//! One run, from outside: what it printed, how long it took, what ended it.

use interpreter_core::{Limits, session::Ran};
use std::time::{Duration, Instant};

/// How long an interrupted kernel may take to heed it before it is ended.
const GRACE: Duration = Duration::from_secs(2);

/// A run that is under way.
#[derive(Debug)]
pub(super) struct Cell {
    pub(super) kernel: u32,
    pub(super) proposal: String,
    started: Instant,
    printed: u64,
    limits: Limits,
    limit: Option<String>,
    /// When its kernel is ended, because it did not heed an interrupt.
    end_at: Option<Instant>,
}

/// What is to be done about a run now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    Interrupt,
    End,
}

impl Cell {
    pub(super) fn new(kernel: u32, proposal: String, limits: Limits, now: Instant) -> Self {
        Self { kernel, proposal, started: now, printed: 0, limits, limit: None, end_at: None }
    }

    /// Counts output. Returns what is to be done if it is too much.
    pub(super) fn printed(&mut self, bytes: usize) -> Option<Due> {
        self.printed += bytes as u64;
        if self.printed <= self.limits.output_bytes || self.limit.is_some() {
            return None;
        }
        self.limit = Some(format!("output ({} bytes)", self.limits.output_bytes));
        Some(Due::End)
    }

    /// Notes that the run was interrupted.
    pub(super) fn interrupted(&mut self, now: Instant) {
        self.end_at.get_or_insert(now + GRACE);
    }

    /// When to look at the clock again.
    pub(super) fn alarm(&self) -> Option<Instant> {
        self.end_at.or_else(|| {
            let seconds = self.limits.wall_seconds?;
            self.started.checked_add(Duration::from_secs(seconds))
        })
    }

    /// What is to be done now that the alarm has gone off.
    pub(super) fn due(&mut self, now: Instant) -> Option<Due> {
        let alarm = self.alarm()?;
        if now < alarm {
            return None;
        }
        if self.end_at.is_some() {
            return Some(Due::End);
        }
        let seconds = self.limits.wall_seconds.unwrap_or_default();
        self.limit = Some(format!("time ({seconds} s)"));
        self.interrupted(now);
        Some(Due::Interrupt)
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
        assert_eq!(cell.due(at(6)), None);
        assert_eq!(cell.due(at(7)), Some(Due::End));
        assert_eq!(cell.ended(at(7), None, Some(9)).limit.as_deref(), Some("time (5 s)"));
    }

    #[test]
    fn a_run_that_prints_too_much_is_ended_once() {
        let limits = Limits { output_bytes: 10, ..Limits::default() };
        let mut cell = Cell::new(1, "p1".into(), limits, Instant::now());
        assert_eq!(cell.printed(10), None);
        assert_eq!(cell.printed(1), Some(Due::End));
        assert_eq!(cell.printed(1), None);
    }
}
