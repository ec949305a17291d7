//! The time that a turn may take. It stands still while a question is open. Pure.

use super::row::Doing;
use std::time::{Duration, Instant};

/// How much of its time a turn has used up.
#[derive(Debug)]
pub(super) struct TurnTime {
    /// Seconds that a turn may take.
    limit: Option<u64>,
    used: Duration,
    since: Option<Instant>,
    is_over: bool,
}

impl TurnTime {
    pub(super) fn new(limit: Option<u64>) -> Self {
        Self { limit, used: Duration::ZERO, since: None, is_over: false }
    }

    /// The session is doing this now.
    pub(super) fn follow(&mut self, doing: Doing, now: Instant) {
        match doing {
            Doing::Idle | Doing::Ended => *self = Self::new(self.limit),
            Doing::Asking => {
                if let Some(since) = self.since.take() {
                    self.used += now.saturating_duration_since(since);
                }
            }
            Doing::Thinking | Doing::Running => _ = self.since.get_or_insert(now),
        }
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
        self.limit.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_runs_only_in_a_turn_and_stands_still_at_a_question() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut clock = TurnTime::new(Some(60));
        assert_eq!(clock.due(), None);
        clock.follow(Doing::Thinking, at(0));
        clock.follow(Doing::Running, at(10));
        assert_eq!(clock.due(), Some(at(60)));
        clock.follow(Doing::Asking, at(20));
        assert_eq!(clock.due(), None);
        clock.follow(Doing::Running, at(1_000));
        assert_eq!(clock.due(), Some(at(1_040)));
        assert_eq!(clock.stop(), 60);
        assert_eq!(clock.due(), None);
        clock.follow(Doing::Idle, at(1_041));
        clock.follow(Doing::Thinking, at(1_050));
        assert_eq!(clock.due(), Some(at(1_110)));
        let mut endless = TurnTime::new(None);
        endless.follow(Doing::Thinking, at(0));
        assert_eq!(endless.due(), None);
    }
}
