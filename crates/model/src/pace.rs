//! How many calls a minute may have, by the person's own wish.

use std::{
    collections::VecDeque,
    num::NonZeroU32,
    sync::{Mutex, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

const MINUTE: Duration = Duration::from_mins(1);

/// Keeps calls within a number a minute.
#[derive(Debug)]
pub struct Pace {
    most: usize,
    /// When the calls of the last minute were made.
    calls: Mutex<VecDeque<Instant>>,
}

impl Pace {
    /// At most so many calls a minute.
    pub fn new(most: NonZeroU32) -> Self {
        Self { most: most.get() as usize, calls: Mutex::default() }
    }

    /// Takes the turn for a call that is made now; or says how long to wait before asking again.
    pub(crate) fn take(&self, now: Instant) -> Result<(), Duration> {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        while calls.front().is_some_and(|call| now.duration_since(*call) >= MINUTE) {
            calls.pop_front();
        }
        match calls.front() {
            Some(first) if calls.len() >= self.most => {
                Err(MINUTE.saturating_sub(now.duration_since(*first)))
            }
            Some(_) | None => {
                calls.push_back(now);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_has_so_many_calls_and_no_more() {
        let pace = Pace::new(NonZeroU32::new(2).unwrap());
        let start = Instant::now();
        let at = |seconds| pace.take(start + Duration::from_secs(seconds));
        assert_eq!(at(0), Ok(()));
        assert_eq!(at(10), Ok(()));
        assert_eq!(at(20), Err(Duration::from_secs(40)));
        assert_eq!(at(60), Ok(()));
        assert_eq!(at(61), Err(Duration::from_secs(9)));
        assert_eq!(at(500), Ok(()));
    }
}
