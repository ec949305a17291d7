//! A clock that runs backwards: how much time a turn has left, or a run until it is asked about. It
//! stands still while something is being shown or asked.

use std::time::{Duration, Instant};

/// How much of a time is used up.
#[derive(Debug, Default)]
pub(super) struct Countdown {
    /// The seconds that it begins with.
    limit: Option<u64>,
    used: Duration,
    /// Since when it runs.
    since: Option<Instant>,
    is_over: bool,
}

impl Countdown {
    pub(super) fn new(limit: Option<u64>) -> Self {
        Self { limit, ..Self::default() }
    }

    /// The seconds that it begins with; 0 without a limit.
    pub(super) fn seconds(&self) -> u64 {
        self.limit.unwrap_or_default()
    }

    /// The time begins.
    pub(super) fn begin(&mut self) {
        *self = Self { since: Some(Instant::now()), ..Self::new(self.limit) };
    }

    /// When the time will be over, if it runs out.
    pub(super) fn due(&self) -> Option<Instant> {
        let left = Duration::from_secs(self.limit?).saturating_sub(self.used);
        // A moment that cannot be counted never comes.
        self.since.filter(|_| !self.is_over)?.checked_add(left)
    }

    /// The time is over; returns how many seconds that were.
    pub(super) fn stop(&mut self) -> u64 {
        self.is_over = true;
        self.seconds()
    }

    pub(super) fn pause(&mut self) {
        if let Some(since) = self.since.take() {
            self.used += since.elapsed();
        }
    }

    pub(super) fn resume(&mut self) {
        self.since = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_runs_only_within_a_turn_and_only_with_a_limit() {
        let mut clock = Countdown::new(Some(60));
        assert_eq!((clock.due(), clock.seconds()), (None, 60));
        clock.begin();
        assert!(clock.due().is_some_and(|due| due > Instant::now()));
        clock.pause();
        assert_eq!(clock.due(), None);
        clock.resume();
        assert!(clock.due().is_some());
        // It is over once.
        assert_eq!(clock.stop(), 60);
        assert_eq!(clock.due(), None);
        clock.begin();
        assert!(clock.due().is_some());
        let mut endless = Countdown::new(None);
        endless.begin();
        assert_eq!((endless.due(), endless.seconds()), (None, 0));
    }

    #[test]
    fn time_that_was_used_before_a_pause_counts() {
        let mut clock = Countdown::new(Some(60));
        clock.begin();
        clock.used = Duration::from_secs(59);
        assert!(clock.due().is_some_and(|due| due <= Instant::now() + Duration::from_secs(1)));
        clock.used = Duration::from_secs(100);
        assert!(clock.due().is_some_and(|due| due <= Instant::now()));
    }
}
